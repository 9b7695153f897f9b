"""Monte Carlo errors against many seeds, and runs that stop by themselves against fixed ones."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sklearn_pairboot import (
    ClusterBootstrapScorer,
    ComparisonResult,
    PairedBootstrapComparator,
    compare_predictions,
    compare_scores,
)
from sklearn_pairboot._engine import formulas
from sklearn_pairboot._engine.bootstrap import bootstrap, bootstrap_further
from sklearn_pairboot._engine.kernels import SumsKernel
from sklearn_pairboot._engine.stopping import END_TOLERANCE, TOTALS
from sklearn_pairboot._engine.units import Units
from sklearn_pairboot._tables import build_tables, monte_carlo_rows
from sklearn_pairboot.comparison import _auto


def skewed(n: int = 60, shift: float = 0.3) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(1)
    old = rng.exponential(size=n)
    return {"old": old, "new": old + shift + rng.normal(size=n)}


# Standard errors


@pytest.mark.parametrize(
    "keywords",
    [{"method": m} for m in ("percentile", "normal", "bca")] + [{"correction": "max-t"}],
    ids=lambda keywords: str(*keywords.values()),
)
def test_errors_are_the_spread_over_seeds(keywords):
    """The parts of one long run are runs of their own."""
    n_parts, size = 90, 999
    whole = compare_scores(skewed(), n_resamples=n_parts * size, random_state=0, **keywords)
    facts, drawn = whole._facts, whole._distribution
    reading = (facts.models, facts.metrics, facts.settings)
    numbers: list[list[list[float]]] = []
    errors: list[list[list[float]]] = []
    for part in range(n_parts):
        chosen = np.arange(n_parts * size) // size == part
        tables = build_tables(drawn.only(chosen), *reading)
        rows = (tables.scores[1], tables.differences[0])
        numbers.append([[row.std_error, row.ci_low, row.ci_high] for row in rows])
        numbers[-1][0].append(0.0)
        numbers[-1][1].append(tables.differences[0].p_value)
        if part < 12:
            found = monte_carlo_rows(drawn.only(chosen), *reading, tables)
            errors.append(
                [
                    [row.se_std_error, row.se_ci_low, row.se_ci_high, np.nan_to_num(row.se_p_value)]
                    for row in found[1:]
                ]
            )
    # 90 runs know the spread to 8 %, 12 the mean error to about 7 %.
    np.testing.assert_allclose(np.mean(errors, axis=0), np.std(numbers, axis=0, ddof=1), rtol=0.3)


def test_error_of_a_percentile_p_value_is_binomial():
    result = compare_scores(skewed(), n_resamples=999, random_state=0)
    share = result.differences[0].p_value / 2
    assert result.monte_carlo[2].se_p_value == pytest.approx(
        2 * np.sqrt(share * (1 - share) / 999), rel=1e-12
    )


@pytest.mark.parametrize("method", ["percentile", "normal", "bca"])
def test_the_smallest_p_value_is_no_certainty(method):
    result = compare_scores(skewed(shift=3), n_resamples=999, random_state=0, method=method)
    row = result.differences[0]
    assert row.p_value == pytest.approx(0.002, rel=0.5)
    assert result.monte_carlo[2].se_p_value >= row.p_value * 0.99


def test_rows_are_those_of_both_tables():
    result = compare_scores({**skewed(), "third": skewed()["old"] + 1}, n_resamples=99)
    names = [(row.metric, row.model, row.baseline) for row in result.monte_carlo]
    assert names == [
        *((row.metric, row.model, "") for row in result.scores),
        *((row.metric, row.model, row.baseline) for row in result.differences),
    ]
    assert all(np.isnan(row.se_p_value) for row in result.monte_carlo[:3])


def test_an_enumeration_has_no_error_and_says_nothing_of_one():
    result = compare_scores({"a": [1, 0, 1, 0], "b": [0, 0, 1, 1]}, n_resamples="exact")
    difference = result.monte_carlo[-1]
    assert difference.se_ci_low == difference.se_ci_high == difference.se_p_value == 0
    assert difference.verdict_stable
    assert "interval ends are known" not in result.summary()


def test_equal_models_have_no_error():
    scores = skewed()["old"]
    result = compare_scores({"a": scores, "b": scores.copy()}, n_resamples=199, random_state=0)
    row = result.monte_carlo[-1]
    assert (row.se_std_error, row.se_ci_low, row.se_ci_high, row.se_p_value) == (0, 0, 0, 0)


@settings(max_examples=5)
@given(st.integers(0, 2**31), st.sampled_from(["percentile", "basic", "normal", "bca"]))
def test_swapping_models_mirrors_the_errors(seed, method):
    result = compare_scores(skewed(), n_resamples=199, random_state=seed, method=method)
    one, other = result.monte_carlo[-1], result.replace(baseline="new").monte_carlo[-1]
    assert one.se_ci_low == pytest.approx(other.se_ci_high, rel=1e-9)
    assert one.se_ci_high == pytest.approx(other.se_ci_low, rel=1e-9)
    assert one.se_p_value == pytest.approx(other.se_p_value, rel=1e-9)


def test_an_open_end_has_no_error():
    result = compare_scores(skewed(), n_resamples=199, random_state=0, alternative="better")
    assert result.differences[0].ci_high == np.inf
    assert result.monte_carlo[-1].se_ci_high == 0 < result.monte_carlo[-1].se_ci_low


def test_undefined_resamples_leave_the_errors_finite():
    y = np.array([0] * 17 + [1] * 3)
    rng = np.random.default_rng(0)
    predictions = {"a": y + rng.normal(size=20), "b": y + rng.normal(size=20)}
    result = compare_predictions(y, predictions, scoring="roc_auc", n_resamples=499, random_state=0)
    assert result.scores[0].n_undefined > 0
    row = result.monte_carlo[-1]
    assert 0 < row.se_ci_low < 1 and 0 < row.se_p_value < 1
    n_defined = 499 - result.scores[0].n_undefined
    share = result.differences[0].p_value / 2
    assert row.se_p_value == pytest.approx(2 * np.sqrt(share * (1 - share) / n_defined))


# What the report says


def test_req_c12_the_report_warns_of_choosing_among_seeds():
    text = " ".join(compare_scores(skewed(), n_resamples=999, random_state=0).summary().split())
    assert "interval ends are known to +-0.0" in text
    assert "other seeds differ by that much, so do not choose among them" in text


def test_a_verdict_that_hangs_on_the_monte_carlo_error_is_named():
    scores = skewed(shift=0.27)
    found = [compare_scores(scores, n_resamples=199, random_state=seed) for seed in range(8)]
    words = set()
    for result in found:
        row, error = result.differences[0], result.monte_carlo[-1]
        near = abs(row.p_adjusted - 0.05) < 2 * error.se_p_value
        assert error.verdict_stable != near
        text = " ".join(result.summary().split())
        named = "The verdict of mean_score (new - old) hangs on the Monte Carlo error" in text
        assert named == near
        words.add(near)
    assert True in words
    assert compare_scores(skewed(shift=3), n_resamples=199).monte_carlo[-1].verdict_stable


def test_errors_survive_json_and_follow_what_replace_changes():
    result = compare_scores(skewed(), n_resamples=199, random_state=0)
    read = ComparisonResult.from_json(result.to_json())
    assert read.summary() == result.summary() and read.to_markdown() == result.to_markdown()
    assert repr(read.monte_carlo) == repr(result.monte_carlo)
    again = ComparisonResult.from_json(result.to_json(replicates=True))
    for method in ("normal", "bca"):
        changed = result.replace(method=method)
        assert repr(again.replace(method=method).monte_carlo) == repr(changed.monte_carlo)
    assert result.replace(method="normal").monte_carlo != result.monte_carlo


# Drawing until known


def same(one: ComparisonResult, other: ComparisonResult) -> None:
    np.testing.assert_array_equal(one.replicates, other.replicates)
    assert repr(one.scores) == repr(other.scores)
    assert repr(one.differences) == repr(other.differences)
    assert repr(one.permutations) == repr(other.permutations)
    assert one.random_state_entropy == other.random_state_entropy
    assert one.notes[: len(other.notes)] == other.notes


@pytest.mark.parametrize(
    "keywords",
    [
        {},
        {"method": "bca"},
        {"correction": "max-t", "permutation": True},
        {"groups": np.arange(60) // 3, "margin": 1.0},
    ],
    ids=str,
)
def test_a_run_that_stops_by_itself_is_that_of_as_many_resamples(keywords):
    result = compare_scores(skewed(), n_resamples="auto", random_state=5, **keywords)
    assert result.n_resamples in TOTALS
    same(
        result,
        compare_scores(skewed(), n_resamples=result.n_resamples, random_state=5, **keywords),
    )
    assert f"stopped at {result.n_resamples} resamples" in result.notes[-1]


@pytest.mark.parametrize("n_units", [20, 700, 60_000])
def test_a_longer_run_extends_a_shorter_one(n_units):
    """Direct draws, the byte table, and blocks far smaller than the totals."""
    rng = np.random.default_rng(0)
    units = Units(n_units, n_units)
    terms = np.stack([np.ones(n_units), rng.normal(size=n_units)], axis=1)
    kernel = SumsKernel.from_rows(terms, formulas.mean, 1, units)
    observed = np.array([[terms[:, 1].mean()]])
    common = {"entropy": 7, "scales": np.array([np.nan])}
    totals = [3, 10, 41]
    further = bootstrap_further([kernel], units, observed, totals=totals, **common)
    for total, found in zip(totals, further, strict=True):
        direct = bootstrap([kernel], units, observed, n_resamples=total, **common)
        np.testing.assert_array_equal(found.replicates, direct.replicates)
        assert found.n_sequences == total
        assert found.messages == direct.messages


def test_stopping_needs_known_ends():
    clear = compare_scores(skewed(shift=2), n_resamples="auto", random_state=0)
    rows = (*clear.scores, *clear.differences)
    for row, error in zip(rows, clear.monte_carlo, strict=True):
        assert max(error.se_ci_low, error.se_ci_high) <= END_TOLERANCE * row.std_error
    assert clear.monte_carlo[-1].verdict_stable


def test_stopping_needs_decided_p_values(monkeypatch):
    monkeypatch.setattr(_auto, "ends_known", lambda errors, std_error: True)
    clear = compare_scores(skewed(shift=2), n_resamples="auto", random_state=0)
    close = compare_scores(skewed(shift=0.27), n_resamples="auto", random_state=0)
    assert clear.n_resamples == 1999 < close.n_resamples


def test_the_limit_is_named_with_what_is_left_open(monkeypatch):
    monkeypatch.setattr(_auto, "TOTALS", (99, 199))
    result = compare_scores(skewed(shift=0.27), n_resamples="auto", random_state=0)
    assert result.n_resamples == 199
    note = result.notes[-1]
    assert "stopped at 199 resamples, its limit, without having found" in note
    assert "on which side of 0.05 the p-value lies for mean_score (new - old)" in note
    assert "the interval ends of mean_score (old)" in note


def test_several_metrics_are_judged_in_their_families(monkeypatch):
    monkeypatch.setattr(_auto, "TOTALS", (999, 1999))
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 80)
    predictions = {name: (y + rng.normal(size=80) > 0.5).astype(int) for name in "abc"}
    for family in ("metric", "all"):
        result = compare_predictions(
            y,
            predictions,
            scoring=["accuracy", "f1"],
            family=family,
            n_resamples="auto",
            random_state=0,
        )
        assert "stopped at" in result.notes[-1]


def test_one_model_stops_at_known_ends():
    result = compare_scores({"only": skewed()["old"]}, n_resamples="auto", random_state=0)
    assert result.differences == () and result.n_resamples < TOTALS[-1]


def test_high_levels_need_more_and_too_high_ones_are_refused():
    result = compare_scores(
        skewed(), n_resamples="auto", random_state=0, confidence_level=0.999, method="normal"
    )
    assert result.n_resamples >= 1999
    assert _auto.totals_for(0.9999)[0] == 31_999
    with pytest.raises(
        ValueError, match="`n_resamples` must be at least .* for `confidence_level`"
    ):
        compare_scores(skewed(), n_resamples="auto", confidence_level=0.999999)


def test_the_comparator_takes_it_and_the_scorer_does_not(monkeypatch):
    from sklearn.frozen import FrozenEstimator
    from sklearn.linear_model import LogisticRegression

    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    y = (X[:, 0] + rng.normal(size=60) > 0).astype(int)
    models = [
        (name, FrozenEstimator(LogisticRegression(C=C).fit(X, y)))
        for name, C in (("loose", 1.0), ("strict", 1e-3))
    ]
    monkeypatch.setattr(_auto, "TOTALS", (999, 1999))
    comparator = PairedBootstrapComparator(models, n_resamples="auto", random_state=0).fit(X, y)
    assert comparator.result_.n_resamples in (999, 1999)
    with pytest.raises(ValueError, match="`n_resamples` must be an integer or 'exact' in a scorer"):
        ClusterBootstrapScorer("accuracy", n_resamples="auto", returns="lower")(models[0][1], X, y)
