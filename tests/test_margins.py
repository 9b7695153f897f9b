"""Equivalence and non-inferiority from the public functions: columns, verdicts, words, errors."""

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression

from sklearn_pairboot import (
    ComparisonResult,
    PairedBootstrapComparator,
    compare_estimators,
    compare_predictions,
    compare_scores,
)
from sklearn_pairboot._engine.intervals import METHODS
from sklearn_pairboot._tables import DifferenceRow, EquivalenceRow

COLUMNS = (
    "margin",
    "equivalence_low",
    "equivalence_high",
    "p_equivalence",
    "p_equivalence_adjusted",
    "p_not_worse",
    "p_not_worse_adjusted",
)


def scores(seed=0, n=200, shifts=(0.0, 0.02, -0.3)):
    rng = np.random.default_rng(seed)
    ease = rng.normal(2.0, 1.0, n)
    names = ["old", "new", "newest", "last"][: len(shifts)]
    return {
        name: ease + shift + rng.normal(0, 0.5, n)
        for name, shift in zip(names, shifts, strict=True)
    }


def compared(seed=0, shifts=(0.0, 0.02, -0.3), **options):
    options = {"n_resamples": 999, "random_state": 0, **options}
    return compare_scores(scores(seed, shifts=shifts), **options)


def test_columns_come_after_the_usual_ones_and_only_with_a_margin():
    pytest.importorskip("pandas")
    found = compared()
    assert found.to_frame().columns.tolist() == list(DifferenceRow.columns())
    with_margin = found.replace(margin=0.2)
    assert EquivalenceRow.columns() == (*DifferenceRow.columns(), *COLUMNS)
    assert with_margin.to_frame().columns.tolist() == list(EquivalenceRow.columns())
    for without, row in zip(found.differences, with_margin.differences, strict=True):
        for column in DifferenceRow.columns():
            if column != "verdict":
                assert without[column] == row[column] or column == "p_permutation"
    assert with_margin.replace(margin=None).to_frame().columns.tolist() == list(
        DifferenceRow.columns()
    )


def test_numbers_are_numpys_on_the_replicates_req_C20_req_E30():
    found = compared(margin=0.2, correction=None)
    for k, row in enumerate(found.differences, start=1):
        replicates = found.replicates[:, 0, k] - found.replicates[:, 0, 0]
        low, high = np.quantile(replicates, [0.05, 0.95])
        assert (row.equivalence_low, row.equivalence_high) == pytest.approx((low, high))
        assert row.margin == 0.2
        for p, beyond in (
            (row.p_not_worse, np.mean(replicates <= -0.2)),
            (row.p_equivalence, max(np.mean(replicates <= -0.2), np.mean(replicates >= 0.2))),
        ):
            assert p == pytest.approx(max(beyond, 0.001), abs=0.0015)
    assert [row.verdict for row in found.differences] == ["equivalent", "worse"]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("correction", [None, "holm", "bonferroni", "fdr", "max-t"])
@pytest.mark.parametrize("alternative", ["two-sided", "better", "worse"])
def test_adjusted_like_the_rest_and_the_verdict_follows(method, correction, alternative):
    found = compared(3, (0.0, 0.02, -0.05, 0.12), method=method, correction=correction,
                     alternative=alternative, margin=0.15)  # fmt: skip
    for row in found.differences:
        inside = -0.15 < row.equivalence_low and row.equivalence_high < 0.15
        assert inside == (row.p_equivalence <= 0.05)
        assert (row.verdict == "equivalent") == (row.p_equivalence_adjusted <= 0.05)
        assert row.p_equivalence <= row.p_equivalence_adjusted
        assert row.p_not_worse <= row.p_not_worse_adjusted
        assert row.p_not_worse <= row.p_equivalence
        assert math.isfinite(row.equivalence_low + row.equivalence_high)
        if alternative != "two-sided":
            assert math.isinf(row.ci_high - row.ci_low)
    raw = [row.p_equivalence for row in found.differences]
    adjusted = [row.p_equivalence_adjusted for row in found.differences]
    if correction in (None, "max-t"):
        assert raw == adjusted
    if correction == "bonferroni":
        assert adjusted == [min(1.0, 3 * p) for p in raw]


@given(
    seed=st.integers(0, 10**6),
    level=st.sampled_from([0.8, 0.9, 0.95, 0.98]),
    margin=st.sampled_from([0.05, 0.1, 0.2]),
    method=st.sampled_from(METHODS),
)
def test_equivalent_exactly_when_the_interval_lies_inside(seed, level, margin, method):
    rng = np.random.default_rng(seed)
    right = rng.random((40, 2)) < [0.8, 0.82]
    right[:25] = right[:25, :1]  # mostly the same answers, all on the lattice of 1/40
    found = compare_scores(
        {"a": right[:, 0].astype(int), "b": right[:, 1].astype(int)},
        n_resamples=199, random_state=seed, confidence_level=level, margin=margin, method=method,
    )  # fmt: skip
    (row,) = found.differences
    inside = -margin < row.equivalence_low and row.equivalence_high < margin
    if row.status == "degenerate":
        assert row.verdict == "inconclusive"
        return
    assert inside == (row.p_equivalence <= found._facts.settings.alpha)
    assert (row.verdict == "equivalent") == (inside and abs(row.difference) < margin)


def test_a_margin_beyond_everything_gives_equivalence():
    found = compared(margin=1e12)
    assert {row.verdict for row in found.differences} == {"equivalent"}
    assert {row.p_equivalence for row in found.differences} == {1 / 1000}


@pytest.mark.parametrize("greater_is_better", [True, False])
@pytest.mark.parametrize("correction", ["holm", "max-t"])
def test_not_worse_follows_the_direction_of_the_metric(greater_is_better, correction):
    found = compared(
        shifts=(0.0, -0.4), greater_is_better=greater_is_better, margin=0.2, correction=correction
    )
    (row,) = found.differences
    assert row.verdict == ("worse" if greater_is_better else "better")
    assert (row.p_not_worse > 0.9) == greater_is_better
    assert (row.p_not_worse == 1 / 1000) == (not greater_is_better)


@pytest.mark.parametrize("correction", ["holm", "max-t"])
@pytest.mark.parametrize("margin", [0.1, 0.25])
def test_swapping_the_models_mirrors(correction, margin):
    there = compared(shifts=(0.0, 0.05), margin=margin, correction=correction)
    back = there.replace(baseline="new")
    (row,), (image,) = there.differences, back.differences
    assert image.equivalence_low == pytest.approx(-row.equivalence_high)
    assert image.equivalence_high == pytest.approx(-row.equivalence_low)
    assert image.p_equivalence == pytest.approx(row.p_equivalence)
    mirrored = {"better": "worse", "equivalent": "equivalent"}
    assert image.verdict == mirrored[row.verdict]
    assert (row.verdict == "equivalent") == (margin == 0.25)
    # Not worse than the other by more than the margin: the other side of the same interval.
    assert max(row.p_not_worse, image.p_not_worse) == pytest.approx(row.p_equivalence)


@pytest.mark.parametrize("correction", ["holm", "max-t"])
def test_a_share_of_the_baseline_is_tested_on_its_own_replicates(correction):
    found = compared(shifts=(0.0, 0.02), margin_relative=0.05, correction=correction)
    (row,) = found.differences
    old, new = found.replicates[:, 0].T
    observed = {score.model: score.estimate for score in found.scores}
    assert row.margin == pytest.approx(0.05 * observed["old"])
    lower, upper = new - 0.95 * old, new - 1.05 * old
    if correction == "holm":
        p_above, p_below = np.mean(lower <= 0), np.mean(upper >= 0)
        low, high = np.quantile(lower, 0.05), np.quantile(upper, 0.95)
    else:
        above, below = observed["new"] - 0.95 * observed["old"], 1.05 * observed["old"]
        below = observed["new"] - below
        p_above = (1 + np.sum(lower - above >= above)) / 1000
        p_below = (1 + np.sum(upper - below <= below)) / 1000
        low = above - np.sort(lower - above)[949]
        high = below + np.sort(below - upper)[949]
    assert row.p_equivalence == pytest.approx(max(p_above, p_below, 0.001), abs=0.0015)
    assert row.p_not_worse == pytest.approx(max(p_above, 0.001), abs=0.0015)
    assert row.equivalence_low == pytest.approx(low - row.margin)
    assert row.equivalence_high == pytest.approx(high + row.margin)


def test_a_share_of_the_baseline_by_bca_uses_the_jackknife_of_what_is_tested():
    found = compared(shifts=(0.0, 0.02), margin_relative=0.05, method="bca")
    values = scores(shifts=(0.0, 0.02))
    lower = compare_scores(
        {"zero": np.zeros(200), "d": values["new"] - 0.95 * values["old"]},
        n_resamples=999, random_state=0, method="bca", alternative="better",
    )  # fmt: skip
    (row,), (expected,) = found.differences, lower.differences
    assert row.p_not_worse == pytest.approx(expected.p_value)
    assert row.equivalence_low + row.margin == pytest.approx(expected.ci_low)


def test_a_mapping_gives_each_metric_its_margin_and_some_may_have_none():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 300)
    answers = {name: np.where(rng.random(300) < 0.9, y, 1 - y) for name in ("old", "new", "newest")}
    found = compare_predictions(
        y, answers, scoring=["accuracy", "f1", "neg_mean_absolute_error"],
        margin={"accuracy": 0.1, "mean_absolute_error": 0.1}, n_resamples=999, random_state=0,
    )  # fmt: skip
    by_metric = {}
    for row in found.differences:
        by_metric.setdefault(row.metric, []).append(row)
    assert {row.margin for row in by_metric["accuracy"]} == {0.1}
    assert all(math.isnan(row[column]) for row in by_metric["f1"] for column in COLUMNS)
    assert {row.verdict for row in by_metric["f1"]} == {"inconclusive"}
    for accuracy, error in zip(
        by_metric["accuracy"], by_metric["mean_absolute_error"], strict=True
    ):  # one is the other's complement
        assert error.p_not_worse == pytest.approx(accuracy.p_not_worse, abs=1e-9)
        assert error.equivalence_low == pytest.approx(-accuracy.equivalence_high)
    text = found.summary()
    assert "  f1 (higher is better)" not in text.partition("Margins:")[2].partition("Scores")[0]


def test_three_rows_show_no_equivalence_and_constant_differences_none_either():
    few = compare_scores({"a": [0.1, 0.2, 0.3], "b": [0.1, 0.2, 0.31]}, margin=1.0, random_state=0)
    assert few.differences[0].verdict == "inconclusive"
    same = compare_scores({"a": np.arange(50.0), "b": np.arange(50.0)}, margin=1.0, random_state=0)
    (row,) = same.differences
    assert math.isnan(row.p_equivalence) and math.isnan(row.p_not_worse)
    assert (row.verdict, row.status) == ("inconclusive", "degenerate")
    assert "this says nothing about unseen rows" in " ".join(str(same).split())


def test_exact_enumeration_counts_sequences():
    a, b = [1, 0, 1, 0, 0, 1], [1, 0, 1, 0, 1, 1]
    found = compare_scores({"a": a, "b": b}, n_resamples="exact", margin=0.5, method="basic",
                           correction="max-t", confidence_level=0.9)  # fmt: skip
    (row,) = found.differences
    # One of six rows differs: the mean is a binomial count out of 6. It must come as high above
    # the estimate as that lies above the lower margin: 5 of 6, a tie that rounding must not break.
    assert row.p_equivalence == pytest.approx((math.comb(6, 5) * 5 + 1) / 6**6, rel=1e-12)


# --- words --------------------------------------------------------------------------------------


def test_the_sentence_of_equivalence_adds_the_direction():
    found = compared(margin=0.2)
    text = " ".join(found.summary().split())
    row = found.differences[0]
    assert "new and old are equivalent on mean_score (higher is better) within 0.2: " in text
    assert "at 90 %, p = 0.0027, adjusted p = 0.0054; these rows do not show " in text
    assert "whether new is better or worse: [" in text
    assert row.verdict == "equivalent"
    better = compared(shifts=(0.0, 0.25), margin=0.5)
    assert better.differences[0].verdict == "equivalent"
    assert better.replace(margin=None).differences[0].verdict == "better"
    assert "within the margin new is better: [" in " ".join(better.summary().split())


def test_sentences_say_whether_a_model_is_shown_not_worse():
    found = compared(4, (0.0, 0.04), margin=0.08)
    text = " ".join(found.summary().split())
    assert "these rows show that new is not worse by 0.08 or more (p = " in text
    worse = " ".join(compared(shifts=(0.0, -0.3), margin=0.2).summary().split())
    assert "these rows do not show that new is not worse by 0.2 or more (p = " in worse


def test_report_states_what_is_tested():
    found = compared(margin=0.2)
    text = " ".join(found.summary().split())
    assert "equivalent means that the 90 % interval lies within the margins" in text
    assert "A margin counts only if it was chosen before the data were seen" in text
    assert "| margin | 90 % interval | p equivalent | adj. | p not worse | adj. |" in (
        found.to_markdown()
    )
    shares = " ".join(compared(margin_relative=0.1).summary().split())
    assert "The margin is a share of the baseline's score" in shares


@pytest.mark.parametrize("margin", [0.2, {"mean_score": 0.2}])
@pytest.mark.parametrize("correction", ["holm", "max-t"])
@pytest.mark.parametrize("replicates", [True, False])
def test_json_round_trip(margin, correction, replicates):
    found = compared(margin=margin, correction=correction, pairs="all", family="all")
    text = found.to_json(replicates=replicates)
    again = ComparisonResult.from_json(text)
    assert again.summary() == found.summary()
    assert again.to_json(replicates=replicates) == text
    assert (again.margin, again.family, again.pairs) == (margin, "all", "all")
    assert json.loads(text)["differences"][0]["margin"] == 0.2
    if replicates:
        changed = {"margin": None, "margin_relative": 0.1}
        assert again.replace(**changed).summary() == found.replace(**changed).summary()


def test_json_keeps_the_accelerations_of_a_share_of_the_baseline():
    found = compared(margin_relative=0.05, method="bca", pairs="all")
    again = ComparisonResult.from_json(found.to_json(replicates=True))
    for changes in ({}, {"baseline": "new"}, {"confidence_level": 0.9}):
        assert again.replace(**changes).summary() == found.replace(**changes).summary()
    assert again.to_json(replicates=True) == found.to_json(replicates=True)
    # Another share would need the jackknife itself: a fall-back, which is named.
    (note,) = again.replace(margin_relative=0.06, pairs="baseline").notes
    assert note == (
        "Interval of mean_score (new - old, margin), mean_score (newest - old, margin): percentile "
        "(bca undefined), because a result read from JSON has no acceleration at this relative "
        "margin."
    )
    # No margin needs it, and one in units of the metric has what a difference has.
    for changes in ({"margin_relative": None}, {"margin": 0.1}):
        assert again.replace(**changes).summary() == found.replace(**changes).summary()


def test_replace_changes_one_kind_of_margin_for_the_other():
    found = compared(margin=0.2)
    relative = found.replace(margin_relative=0.1)
    assert (relative.margin, relative.margin_relative) == (None, 0.1)
    back = relative.replace(margin=0.2)
    assert back.summary() == found.summary()
    assert found.replace(confidence_level=0.9).margin == 0.2
    assert compared().replace(margin=0.2).summary() == found.summary()


# --- everywhere ---------------------------------------------------------------------------------


def test_fitted_estimators_and_the_comparator_take_margins():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((800, 3))
    y = (X[:, 0] + 0.5 * rng.standard_normal(800) > 0).astype(int)
    models = {f"C{c}": LogisticRegression(C=c).fit(X[:400], y[:400]) for c in (0.01, 1)}
    options = {"scoring": "accuracy", "margin": 0.1, "random_state": 0, "n_resamples": 999}
    found = compare_estimators(models, X[400:], y[400:], **options)
    assert found.differences[0].verdict == "equivalent"
    frozen = [(name, FrozenEstimator(model)) for name, model in models.items()]
    comparator = PairedBootstrapComparator(frozen, **options).fit(X[400:], y[400:])
    assert repr(comparator.result_.differences) == repr(found.differences)  # NaN equals NaN
    assert comparator.best_name_ == "C0.01"  # equivalence is no reason to leave the baseline
    with pytest.raises(ValueError, match="`margin` must name metrics of this comparison"):
        comparator.set_params(margin={"auc": 0.1}).fit(X, y)


@pytest.mark.parametrize("margin", [0, -0.1, math.nan, math.inf, True, "0.1", [0.1], {"f1": 0}])
def test_what_is_no_margin_is_refused(margin):
    value = margin["f1"] if isinstance(margin, dict) else margin
    with pytest.raises(ValueError) as caught:
        compared(margin=margin)
    assert str(caught.value) == (
        f"`margin` must be a positive number, got {value!r}. It is the smallest difference that "
        "would matter, in units of the metric."
    )


@pytest.mark.parametrize("share", [0, -0.1, 1, 5, math.nan, False, "5 %"])
def test_what_is_no_share_is_refused(share):
    with pytest.raises(ValueError) as caught:
        compared(margin_relative=share)
    assert str(caught.value) == (
        f"`margin_relative` must be a number between 0 and 1, got {share!r}. It is the smallest "
        "share of the baseline's score that would matter: 0.05 for 5 %."
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"margin": 0.1, "margin_relative": 0.1},
            "`margin` must be None where `margin_relative` is given, got 0.1 and 0.1. Give one of "
            "them.",
        ),
        ({"margin": {}}, "`margin` must name at least one metric, got {}."),
        (
            {"margin": {"accuracy": 0.1}},
            "`margin` must name metrics of this comparison, 'mean_score', got 'accuracy'.",
        ),
        (
            {"margin_relative": {"accuracy": 0.1}},
            "`margin_relative` must name metrics of this comparison, 'mean_score', got 'accuracy'.",
        ),
        (
            {"margin": 0.1, "confidence_level": 0.5},
            "`confidence_level` must be above 0.5 where a margin is given, got 0.5. Equivalence "
            "takes the interval at 1 - 2 alpha.",
        ),
    ],
)
def test_nonsense_is_refused_at_once_and_by_replace(options, message):
    for ask in (lambda: compared(**options), lambda: compared().replace(**options)):
        with pytest.raises(ValueError) as caught:
            ask()
        assert str(caught.value) == message


def test_a_single_model_several_metrics_and_negative_scores_are_told_apart():
    with pytest.raises(ValueError, match=r"^`margin` must be None for a single model, got 0\.1\."):
        compare_scores({"a": [0.1, 0.2, 0.3]}, margin=0.1)
    y = [0, 1] * 10
    with pytest.raises(ValueError) as caught:
        compare_predictions(y, {"a": y, "b": y}, scoring=["accuracy", "f1"], margin=0.1)
    assert str(caught.value) == (
        "`margin` must be a mapping from metric to margin where there are several, got 0.1. The "
        "metrics are 'accuracy', 'f1'."
    )
    with pytest.raises(ValueError) as caught:
        compared(shifts=(-9.0, -9.0), margin_relative=0.1)
    assert str(caught.value).startswith("`margin_relative` must be a share of a positive score, ")
    assert str(caught.value).endswith(
        " for 'old' on mean_score. Give `margin` in units of the metric."
    )
