"""Both tables against NumPy on the replicates, the verdict's words, one note per cause."""

import dataclasses
import importlib
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sklearn_pairboot._engine.distribution import BootstrapDistribution
from sklearn_pairboot._engine.intervals import acceleration, interval
from sklearn_pairboot._engine.inversion import Basis
from sklearn_pairboot._engine.sample import Sample
from sklearn_pairboot._engine.weights import LeaveOneOut
from sklearn_pairboot._tables import (
    DifferenceRow,
    MetricInfo,
    Row,
    ScoreRow,
    Settings,
    build_tables,
    check_settings,
    format_count,
    verdict_word,
)

ACCURACY = MetricInfo("accuracy", True, "sums")
LOG_LOSS = MetricInfo("log_loss", False, "sums")
MODELS = ("old", "new", "newest")


def distribution(replicates, observed=None, *, undefined=None, n_units=50, **other):
    """A distribution from replicates of shape (B, n_metrics, n_models)."""
    replicates = np.asarray(replicates, dtype=float)
    none = np.zeros(replicates.shape, dtype=bool)
    other.setdefault("n_sequences", len(replicates))
    other.setdefault("zero_division", none)
    return BootstrapDistribution(
        observed=np.asarray(replicates.mean(axis=0) if observed is None else observed, dtype=float),
        replicates=replicates,
        undefined=none if undefined is None else undefined,
        n_units=n_units,
        **other,
    )


@pytest.fixture
def noisy():
    """Three models on accuracy and log loss: "new" clearly better, "newest" barely."""
    rng = np.random.default_rng(3)
    means = np.array([[0.80, 0.90, 0.81], [0.50, 0.30, 0.49]])
    return distribution(means + 0.01 * rng.standard_normal((999, 2, 3)), means)


def test_columns_are_those_of_the_design_in_order():
    assert ScoreRow.columns() == (
        "metric",
        "model",
        "estimate",
        "std_error",
        "ci_low",
        "ci_high",
        "greater_is_better",
        "n_undefined",
        "n_zero_division",
        "status",
    )
    assert DifferenceRow.columns() == (
        "metric",
        "model",
        "baseline",
        "difference",
        "std_error",
        "ci_low",
        "ci_high",
        "greater_is_better",
        "p_value",
        "p_adjusted",
        "p_permutation",
        "verdict",
        "status",
    )


def test_rows_are_read_by_attribute_and_by_item_and_not_written(noisy):
    row = build_tables(noisy, MODELS, [ACCURACY, LOG_LOSS], Settings("old")).differences[0]
    assert row["p_value"] == row.p_value
    assert list(row.asdict()) == list(DifferenceRow.columns())
    assert row.asdict()["verdict"] == row.verdict
    with pytest.raises(KeyError, match="`column` must be one of .*'verdict'.*, got 'pvalue'"):
        row["pvalue"]
    with pytest.raises(AttributeError):
        row.verdict = "better"


def test_numbers_are_numpys_on_the_replicates_req_A09_req_A10(noisy):
    tables = build_tables(noisy, MODELS, [ACCURACY, LOG_LOSS], Settings("old"))
    assert [(row.metric, row.model) for row in tables.scores] == [
        (metric, model) for metric in ("accuracy", "log_loss") for model in MODELS
    ]
    assert [(row.metric, row.model, row.baseline) for row in tables.differences] == [
        (metric, model, "old") for metric in ("accuracy", "log_loss") for model in MODELS[1:]
    ]
    for row in tables.scores:
        metric, model = ("accuracy", "log_loss").index(row.metric), MODELS.index(row.model)
        values = noisy.replicates[:, metric, model]
        assert row.estimate == noisy.observed[metric, model]
        assert row.std_error == pytest.approx(np.std(values, ddof=1), rel=1e-12)
        assert (row.ci_low, row.ci_high) == pytest.approx(np.quantile(values, [0.025, 0.975]))
    for row in tables.differences:
        metric, model = ("accuracy", "log_loss").index(row.metric), MODELS.index(row.model)
        values = noisy.replicates[:, metric, model] - noisy.replicates[:, metric, 0]
        assert row.difference == noisy.observed[metric, model] - noisy.observed[metric, 0]
        assert row.std_error == pytest.approx(np.std(values, ddof=1), rel=1e-12)
        assert (row.ci_low, row.ci_high) == pytest.approx(np.quantile(values, [0.025, 0.975]))
        assert math.isnan(row.p_permutation)


def test_direction_is_the_metrics_and_the_difference_keeps_its_units_req_A02_req_B03(noisy):
    rows = build_tables(noisy, MODELS, [ACCURACY, LOG_LOSS], Settings("old")).differences
    accuracy, log_loss = (row for row in rows if row.model == "new")
    assert accuracy.difference > 0 > log_loss.difference
    assert (accuracy.verdict, log_loss.verdict) == ("better", "better")
    mirrored = build_tables(noisy, MODELS, [ACCURACY, LOG_LOSS], Settings("new")).differences
    old = [row for row in mirrored if row.model == "old"]
    assert [row.verdict for row in old] == ["worse", "worse"]
    for row, image in zip((accuracy, log_loss), old, strict=True):
        assert (image.difference, image.ci_low) == (-row.difference, pytest.approx(-row.ci_high))
        assert image.p_value == pytest.approx(row.p_value)


@pytest.mark.parametrize("alternative", ["better", "worse"])
def test_one_sided_alternatives_mean_better_or_worse_for_each_metric(noisy, alternative):
    settings = Settings("old", alternative=alternative)
    tables = build_tables(noisy, MODELS, [ACCURACY, LOG_LOSS], settings)
    for row in tables.differences:
        above = (alternative == "better") == row.greater_is_better
        assert math.isinf(row.ci_high if above else row.ci_low)
        assert math.isfinite(row.ci_low if above else row.ci_high)
        assert row.verdict in (alternative, "inconclusive")
    assert [row.verdict for row in tables.differences if row.model == "new"] == (
        ["better"] * 2 if alternative == "better" else ["inconclusive"] * 2
    )
    assert all(math.isfinite(row.ci_low + row.ci_high) for row in tables.scores)


def test_family_of_the_correction_is_the_comparisons_of_one_metric_req_A32_req_C21():
    rng = np.random.default_rng(0)
    replicates = rng.standard_normal((199, 2, 3))
    replicates[:, :, 1] += 2.0
    found = {
        correction: build_tables(
            distribution(replicates),
            MODELS,
            [ACCURACY, LOG_LOSS],
            Settings("old", 0.9, correction=correction),
        ).differences
        for correction in (None, "bonferroni", "holm")
    }
    for metric in ("accuracy", "log_loss"):
        p = [row.p_value for row in found[None] if row.metric == metric]
        assert [row.p_adjusted for row in found[None] if row.metric == metric] == p
        doubled = [min(1.0, 2 * value) for value in p]
        assert [r.p_adjusted for r in found["bonferroni"] if r.metric == metric] == doubled
        holm = [max(p[k], min(1.0, 2 * min(p))) for k in range(2)]
        assert [r.p_adjusted for r in found["holm"] if r.metric == metric] == holm


def row_of(difference=1.0, low=-1.0, high=2.0, p=0.5, greater_is_better=True):
    return DifferenceRow(
        "m", "new", "old", difference, 0.1, low, high, greater_is_better, p, p, math.nan, "", "ok"
    )


@pytest.mark.parametrize(
    ("row", "n_units", "word"),
    [
        (row_of(1, 0.5, 2, 0.05), 50, "better"),
        (row_of(-1, -2, -0.5, 0.05), 50, "worse"),
        (row_of(1, 0.5, 2, 0.05, False), 50, "worse"),
        (row_of(-1, -2, -0.5, 0.05, False), 50, "better"),
        (row_of(1, -1, 2, 0.051), 50, "inconclusive"),
        (row_of(1, 0.5, 2, 0.051), 50, "inconclusive"),  # the adjusted p decides
        (row_of(1, 1, 1, math.nan), 50, "inconclusive"),
        (row_of(-0.1, 0.5, 2, 0.01), 50, "inconclusive"),  # estimate against interval
        (row_of(1, 0.5, 2, 0.001), 6, "better"),  # 2**-5 < 0.05
        (row_of(1, 0.5, 2, 0.001), 5, "inconclusive"),  # 2**-4 > 0.05
    ],
)
def test_verdict_words_req_D12_req_A13(row, n_units, word):
    assert verdict_word(row, 0.05, n_units) == word


@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from(["percentile", "basic", "normal"]),
    st.sampled_from(["two-sided", "better", "worse"]),
    st.sampled_from([0.8, 0.9, 0.95]),
)
def test_verdict_of_one_comparison_follows_its_interval(seed, method, alternative, level):
    rng = np.random.default_rng(seed)
    shift = rng.normal(scale=0.2)
    values = np.round(rng.standard_normal((199, 1, 2)) * 0.1, 2) + [0.0, shift]
    settings = Settings("a", level, method, alternative)
    observed = [[0.0, shift]]
    (row,) = build_tables(
        distribution(values, observed), ("a", "b"), [ACCURACY], settings
    ).differences
    excludes = row.ci_low > 0 or row.ci_high < 0
    assert excludes == (row.p_adjusted <= settings.alpha)
    if row.verdict != "inconclusive":
        assert excludes
        assert row.verdict == ("better" if row.difference > 0 else "worse")


def test_undefined_resamples_are_dropped_and_counted_in_one_note_case_C01_req_E29():
    rng = np.random.default_rng(5)
    replicates = rng.standard_normal((100, 2, 2))
    undefined = np.zeros(replicates.shape, dtype=bool)
    undefined[:4, 0, 0] = undefined[4:9, 0, 1] = True  # 4 %, 5 %, and 9 % of the differences
    undefined[:5, 1] = True  # 5 %: no note
    found = distribution(replicates, undefined=undefined)
    tables = build_tables(found, ("a", "b"), [ACCURACY, LOG_LOSS], Settings("a", 0.9))
    assert [row.n_undefined for row in tables.scores] == [4, 5, 5, 5]
    kept = replicates[9:, 0, 1] - replicates[9:, 0, 0]
    assert tables.differences[0].std_error == pytest.approx(kept.std(ddof=1))
    assert tables.notes == (
        "More than 5 % of the resamples have no value of the metric: accuracy (4 to 5, by model, "
        "of 100). They are left out, and the interval is conditional on the rest.",
    )


def test_exact_mode_counts_sequences_case_C01():
    values = np.array([[[1.0]], [[np.nan]], [[0.5]]])
    found = distribution(
        values,
        [[1.0]],
        undefined=np.isnan(values),
        n_sequences=3125,
        multiplicities=np.array([2000, 1025, 100]),
    )
    tables = build_tables(found, ("a",), [MetricInfo("roc_auc", True, "ranks")], Settings("a"))
    assert tables.scores[0].n_undefined == 1025
    assert "roc_auc (1025 of 3125)" in tables.notes[0]
    assert tables.differences == ()


def test_nothing_defined_is_an_error_that_names_metric_and_model():
    undefined = np.zeros((40, 1, 2), dtype=bool)
    undefined[:, :, 1] = True
    found = distribution(np.ones((40, 1, 2)), undefined=undefined)
    with pytest.raises(ValueError, match="`accuracy` of 'b' is undefined in every resample"):
        build_tables(found, ("a", "b"), [ACCURACY], Settings("a"))
    undefined[:, 0, 0] = np.arange(40) < 20
    undefined[:, 0, 1] = np.arange(40) >= 20
    found = distribution(np.ones((40, 1, 2)), undefined=undefined)
    with pytest.raises(ValueError, match="difference of 'b' and 'a' on `accuracy` is undefined"):
        build_tables(found, ("a", "b"), [ACCURACY], Settings("a"))


def test_zero_division_is_named_as_convention_with_its_counts():
    rng = np.random.default_rng(1)
    replicates = rng.standard_normal((100, 1, 2))
    zero_division = np.zeros(replicates.shape, dtype=bool)
    zero_division[:3, 0, 1] = True
    found = distribution(replicates, zero_division=zero_division)
    tables = build_tables(found, ("a", "b"), [MetricInfo("f1", True, "sums")], Settings("a", 0.9))
    assert [row.n_zero_division for row in tables.scores] == [0, 3]
    assert tables.notes == (
        "0/0 got the metric's conventional value (zero_division) in some of the 100 resamples, "
        "which are kept: f1 (b, 3).",
    )


def test_constant_differences_are_degenerate_and_say_so_req_A31_req_B12_case_C29_case_C44():
    rng = np.random.default_rng(2)
    shared = rng.standard_normal((99, 1, 1))
    found = distribution(
        shared + [0.0, 0.0, 0.25], np.array([[0.0, 0.0, 0.25]]) + shared.mean(), n_units=30
    )
    tables = build_tables(found, MODELS, [ACCURACY], Settings("old"))
    equal, ahead = tables.differences
    assert (equal.difference, equal.ci_low, equal.ci_high, equal.p_value) == (0, 0, 0, 1)
    assert (equal.verdict, equal.status) == ("inconclusive", "degenerate")
    assert (ahead.ci_low, ahead.ci_high) == pytest.approx((0.25, 0.25))
    assert math.isnan(ahead.p_value) and math.isnan(ahead.p_adjusted)
    assert (ahead.verdict, ahead.status) == ("inconclusive", "degenerate")
    assert tables.notes == (
        "Zero-width interval of accuracy (new - old), accuracy (newest - old): every resample of "
        "these data gives one value. This says nothing about unseen rows.",
    )


def test_fall_back_of_bca_names_places_and_reason_once_req_A15():
    rng = np.random.default_rng(4)
    found = distribution(rng.standard_normal((999, 2, 2)), np.zeros((2, 2)))
    found.jackknives[0] = LeaveOneOut(rng.standard_normal((50, 2)))
    tables = build_tables(found, ("a", "b"), [ACCURACY, LOG_LOSS], Settings("a", method="bca"))
    status = {row.metric: row.status for row in tables.differences}
    assert status == {"accuracy": "ok", "log_loss": "percentile (bca undefined)"}
    assert tables.notes == (
        "Interval of log_loss (a), log_loss (b), log_loss (b - a): percentile (bca undefined), "
        "because there are no leave-one-out values of the resampling unit.",
    )
    found.jackknives.clear()
    (note,) = build_tables(
        found, ("a", "b"), [ACCURACY, LOG_LOSS], Settings("a", method="bca")
    ).notes
    assert note.startswith("Interval of all 6 estimates: percentile (bca undefined), because")


def test_acceleration_is_that_of_the_difference():
    """The BCa rows use the jackknife of the difference, recomputed here from scratch."""
    rng = np.random.default_rng(6)
    values = rng.gamma(1.0, size=(40, 2))
    draws = rng.integers(0, 40, size=(999, 40))
    replicates = values[draws].mean(axis=1)[:, None, :]
    jackknife = (values.sum(axis=0) - values) / 39
    found = distribution(
        replicates, values.mean(axis=0)[None], jackknives={0: LeaveOneOut(jackknife)}, n_units=40
    )
    (row,) = build_tables(found, ("a", "b"), [ACCURACY], Settings("a", method="bca")).differences
    expected = interval(
        Sample.from_replicates(replicates[:, 0, 1] - replicates[:, 0, 0]),
        row.difference,
        method="bca",
        confidence_level=0.95,
        basis=Basis(acceleration=acceleration(jackknife[:, 1] - jackknife[:, 0])),
    )
    assert (row.ci_low, row.ci_high) == pytest.approx((expected.low, expected.high), rel=1e-9)


def test_estimate_outside_its_interval_is_noted_and_never_a_verdict():
    rng = np.random.default_rng(7)
    replicates = np.stack([np.zeros(999), 1.0 + 0.1 * rng.standard_normal(999)], axis=1)[:, None]
    found = distribution(replicates, [[0.0, -0.5]])
    tables = build_tables(found, ("a", "b"), [ACCURACY], Settings("a"))
    (row,) = tables.differences
    assert row.ci_low > 0 > row.difference
    assert row.p_adjusted <= 0.05
    assert row.verdict == "inconclusive"
    assert tables.notes[1:] == (
        "The estimate lies outside its own interval for accuracy (b), accuracy (b - a): the "
        "resampling distribution is biased there. Compare the intervals of other methods.",
        "Estimate and interval of accuracy (b - a) lie on different sides of 0, so the verdict is "
        "inconclusive whatever the p-value.",
    )


def test_few_units_show_nothing_and_say_why_req_A30_req_C19(noisy):
    noisy.n_units = 5
    tables = build_tables(noisy, MODELS, [ACCURACY, LOG_LOSS], Settings("old"))
    assert {row.verdict for row in tables.differences} == {"inconclusive"}
    assert tables.notes == (
        "5 resampling units are too few for a verdict at this level: even if all of them agreed, "
        "chance alone would do that with probability 0.0625.",
    )
    noisy.n_units = 6
    tables = build_tables(noisy, MODELS, [ACCURACY, LOG_LOSS], Settings("old"))
    assert "better" in {row.verdict for row in tables.differences}
    assert tables.notes == ()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            Settings("oldest"),
            "`baseline` must be the name of a model, one of 'old', 'new', 'newest', got 'oldest'.",
        ),
        *(
            (
                Settings("old", level),
                "`confidence_level` must be a number between 0 and 1, got "
                f"{level!r}. For 95 % pass 0.95.",
            )
            for level in (95, 0, 1.0, math.nan, True, "0.95")
        ),
        (
            Settings("old", method="t-test"),
            "`method` must be one of 'percentile', 'basic', 'normal', 'bca', 'studentized', 't', "
            "'expanded', got 't-test'.",
        ),
        (
            Settings("old", alternative="greater"),
            "`alternative` must be one of 'two-sided', 'better', 'worse', got 'greater'.",
        ),
        (
            Settings("old", correction="sidak"),
            "`correction` must be one of 'holm', 'max-t', 'max-t-step-down', 'bonferroni', 'fdr', "
            "None, got 'sidak'.",
        ),
    ],
)
def test_bad_settings_are_refused_with_what_is_allowed(settings, message):
    with pytest.raises(ValueError) as caught:
        check_settings(settings, MODELS)
    assert str(caught.value) == message


def test_astronomical_counts_are_written_by_their_size():
    assert format_count(3125) == "3125"
    assert format_count(20**20) == "about 1e26"
    assert format_count(10000**10000) == "about 1e40000"


def test_rows_with_nan_in_the_same_places_are_equal_and_hash_alike(noisy):
    settings = Settings("old", margin=0.1)
    one, other = (
        build_tables(noisy, MODELS, [ACCURACY, LOG_LOSS], settings).differences for _ in range(2)
    )
    assert math.isnan(one[0].p_permutation)
    assert one == other
    assert list(map(hash, one)) == list(map(hash, other))
    assert len({*one, *other}) == len(one)
    row = one[0]
    assert row != dataclasses.replace(row, p_permutation=0.5)
    assert row != dataclasses.replace(row, p_value=math.nan)
    usual = DifferenceRow(**{name: row[name] for name in DifferenceRow.columns()})
    assert row != usual  # another kind of row
    assert usual != row
    assert row != tuple(row.asdict().values())


def test_no_table_has_rows_that_compare_as_dataclasses_do():
    importlib.import_module("sklearn_pairboot.result")
    importlib.import_module("sklearn_pairboot.plotting.forest")
    kinds = [Row]
    for kind in kinds:  # which grows
        kinds += kind.__subclasses__()
    assert {"EquivalenceRow", "SplitTestRow", "ForestRow"} <= {kind.__name__ for kind in kinds}
    for kind in kinds:
        assert kind.__eq__ is Row.__eq__
        assert kind.__hash__ is Row.__hash__
