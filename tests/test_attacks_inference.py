"""Attacks on the numbers of inference, where parts meet: methods, designs, subgroups, storage."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression

from sklearn_pairboot import (
    ComparisonResult,
    PairedBootstrapComparator,
    compare_estimators,
    compare_scores,
)
from sklearn_pairboot._engine.exact import count_vectors
from sklearn_pairboot.resampling import StratifiedBootstrap, TwoStageBootstrap

COLUMNS = ("difference", "std_error", "ci_low", "ci_high", "p_value")


def pair(n_rows, seed=0, shift=0.3):
    rng = np.random.default_rng(seed)
    old = rng.normal(size=n_rows)
    return {"old": old, "new": old + rng.normal(shift, 1, n_rows)}


def numbers(row):
    return [row[column] for column in COLUMNS]


def crossed(effect=1.0, **options):
    """Six users by five items, with effects of both."""
    rng = np.random.default_rng(1)
    user, item = np.repeat(np.arange(6), 5), np.tile(np.arange(5), 6)
    gain = rng.normal(size=30) + effect * (rng.normal(size=6)[user] + rng.normal(size=5)[item])
    scores = {"old": np.zeros(30), "new": gain}
    groups = np.column_stack([user, item])
    return compare_scores(
        scores, groups=groups, **{"n_resamples": 399, "random_state": 0, **options}
    )


def stored(result):
    return ComparisonResult.from_json(result.to_json(replicates=True))


# Automatic numbers of resamples


@pytest.mark.parametrize("correction", ["max-t", "max-t-step-down", "fdr", None])
def test_auto_equals_the_run_of_that_number_whatever_the_correction(correction):
    scores = {**pair(60), "other": np.random.default_rng(9).normal(size=60)}
    options = {"correction": correction, "random_state": 0}
    found = compare_scores(scores, n_resamples="auto", **options)
    again = compare_scores(scores, n_resamples=found.n_resamples, **options)
    assert repr(found.differences) == repr(again.differences)


# Studentized: what rounding leaves of a standard error is none


def test_studentized_intervals_do_not_hang_on_the_unit_of_the_scores():
    # 0.1 has no exact binary form: a resample of nothing else had a standard error of 1e-17.
    ten_times = {"old": [1] * 9 + [9] * 3, "new": [3] * 8 + [7] * 4}
    whole, tenths = (
        compare_scores(
            {name: np.array(values) * unit for name, values in ten_times.items()},
            n_resamples=1999,
            method="studentized",
            random_state=0,
        )
        for unit in (1.0, 0.1)
    )
    assert whole.notes == tenths.notes  # which count the resamples left out
    for a, b in zip(whole.differences, tenths.differences, strict=True):
        assert numbers(a)[:4] == pytest.approx([10 * x for x in numbers(b)[:4]], abs=1e-12)
        assert a.p_value == pytest.approx(b.p_value, rel=1e-9)
    for a, b in zip(whole.scores, tenths.scores, strict=True):
        assert (a.ci_low, a.ci_high) == pytest.approx((10 * b.ci_low, 10 * b.ci_high))


# Exact distributions by convolution


def unequal_clusters():
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(60), rng.integers(1, 12, 60))
    old = (rng.random(len(groups)) < 0.6 + 0.2 * rng.normal(size=60)[groups]).astype(int)
    new = np.where(rng.random(len(groups)) < 0.8, old, 1 - old)
    return {"old": old, "new": new}, groups


def test_t_is_the_same_with_drawn_resamples_and_by_convolution():
    # It takes nothing from the resamples: standard error and degrees of freedom are of the data.
    scores, groups = unequal_clusters()
    drawn, exact = (
        compare_scores(scores, groups=groups, method="t", n_resamples=n, random_state=0)
        for n in (99, "exact")
    )
    assert exact._facts.exact_by == "convolution"
    assert numbers(exact.differences[0]) == pytest.approx(numbers(drawn.differences[0]), rel=1e-9)
    gain = scores["new"] - scores["old"]
    sums = np.bincount(groups, weights=gain - gain.mean())
    assert exact.differences[0].std_error == pytest.approx(
        math.sqrt(60 / 59 * np.sum(sums**2)) / len(gain), rel=1e-9
    )


@pytest.mark.parametrize("method", ["t", "expanded", "bca"])
def test_convolutions_keep_their_units_in_json(method):
    scores, groups = unequal_clusters()
    result = compare_scores(scores, groups=groups, n_resamples="exact")
    now, later = (read.replace(method=method) for read in (result, stored(result)))
    assert repr(later.differences) == repr(now.differences)
    assert later.differences[0].status == "ok"


# Two crossed factors


@pytest.mark.parametrize("method", ["t", "expanded", "percentile", "normal"])
def test_crossed_factors_keep_their_levels_in_json(method):
    result = crossed()
    now, later = (
        read.replace(method=method, confidence_level=0.8) for read in (result, stored(result))
    )
    assert repr(later.differences) == repr(now.differences)
    assert later.differences[0].status == "ok"
    assert repr(later.monte_carlo) == repr(now.monte_carlo)


def test_expanded_intervals_of_few_levels_are_refused_by_replace_too():
    with pytest.raises(ValueError, match="`n_resamples` must be at least"):
        crossed().replace(method="expanded", confidence_level=0.99)


@pytest.mark.parametrize("method", ["percentile", "t"])
def test_monte_carlo_errors_of_crossed_factors_are_those_between_seeds(method):
    # V1, V2 and V12 have an error each: where the last is as large as the others, that of
    # V1 + V2 - V12 is a multiple of what it would be of as many replicates of one kind.
    runs = [crossed(0.2, method=method, random_state=seed) for seed in range(40)]
    between = np.std([run.differences[0].std_error for run in runs], ddof=1)
    told = np.mean([run.monte_carlo[-1].se_std_error for run in runs[:8]])
    assert 0.6 < told / between < 1.6
    ends = np.std([run.differences[0].ci_low for run in runs], ddof=1)
    told = np.mean([run.monte_carlo[-1].se_ci_low for run in runs[:8]])
    assert 0.6 < told / ends < 1.6


def test_t_of_a_nested_factor_is_students_test_of_the_outer_one():
    rng = np.random.default_rng(2)
    outer, inner = np.repeat(np.arange(5), 4), np.arange(20)
    gain = rng.normal(size=20) + rng.normal(size=5)[outer]
    result = compare_scores(
        {"old": np.zeros(20), "new": gain},
        groups=np.column_stack([outer, inner]),
        method="t",
        n_resamples=9999,
        random_state=0,
    )
    means = gain.reshape(5, 4).mean(axis=1)
    expected = stats.ttest_1samp(means, 0).confidence_interval()
    found = result.differences[0]
    width = expected.high - expected.low
    assert (found.ci_low, found.ci_high) == pytest.approx(tuple(expected), abs=0.02 * width)


# Subgroups have units of their own


def test_t_of_a_subgroup_is_students_test_of_its_rows():
    scores = pair(200)
    label = np.repeat(["big", "tiny"], [195, 5])
    result = compare_scores(
        scores, slices={"size": label}, method="t", n_resamples=199, random_state=0
    )
    for row in result.slices:
        gain = (scores["new"] - scores["old"])[label == row.label]
        expected = stats.ttest_1samp(gain, 0)
        interval = expected.confidence_interval()
        assert (row.ci_low, row.ci_high) == pytest.approx(tuple(interval), rel=1e-9)
        assert row.p_value == pytest.approx(expected.pvalue, rel=1e-9)
    assert repr(stored(result).replace(method="t").slices) == repr(result.slices)


def test_t_of_a_subgroup_in_strata_has_its_own_strata():
    scores, stratum = pair(40), np.repeat(["a", "b"], [10, 30])
    chosen = np.zeros(40, dtype=bool)
    chosen[[0, 1, 2, 12, 13, 14, 15, 16]] = True
    result = compare_scores(
        scores,
        resampling=StratifiedBootstrap(stratum),
        slices={"chosen": chosen},
        method="t",
        n_resamples=199,
        random_state=0,
    )
    row = next(row for row in result.slices if row.label == "True")
    gain = scores["new"] - scores["old"]
    parts = [gain[chosen & (stratum == name)] for name in "ab"]
    error = math.sqrt(sum(len(part) * part.var(ddof=1) for part in parts)) / 8
    assert row.std_error == pytest.approx(error)
    assert row.ci_high - row.difference == pytest.approx(stats.t.isf(0.025, 6) * error)


def test_studentized_of_a_subgroup_is_that_of_its_literally_drawn_rows():
    scores = pair(7, seed=4)
    chosen = np.array([1, 1, 0, 1, 1, 0, 1], dtype=bool)
    result = compare_scores(
        scores,
        slices={"chosen": chosen},
        method="studentized",
        n_resamples="exact",
        confidence_level=0.9,
    )
    row = next(row for row in result.slices if row.label == "True")
    gain = scores["new"] - scores["old"]
    own = gain[chosen]
    listed = count_vectors(np.ones(7, dtype=np.int64))
    deviations, times = [], []
    for counts, multiplicity in zip(listed.counts, listed.multiplicities, strict=True):
        drawn = np.repeat(own, counts[chosen])
        if len(set(drawn.tolist())) > 1:
            deviations.append((drawn.mean() - own.mean()) / stats.sem(drawn))
            times.append(multiplicity)
    high, low = np.quantile(np.repeat(deviations, times), [0.95, 0.05])
    error = stats.sem(own)
    assert row.status == "ok"
    assert row.ci_low == pytest.approx(own.mean() - high * error)
    assert row.ci_high == pytest.approx(own.mean() - low * error)


def test_expanded_in_a_subgroup_of_few_units_is_out_of_reach_and_says_so():
    # Three units: the share beyond an end at 95 % is 7e-8.
    label = np.repeat(["big", "three"], [97, 3])
    result = compare_scores(
        pair(100, shift=5), slices={"size": label}, method="expanded", random_state=0
    )
    row = result.slices[1]
    assert row.p_value > 0.05
    assert row.verdict == "inconclusive"
    assert any("Fewer resamples" in note and "three" in note for note in result.notes)
    assert result.slices[0].verdict == "better"


def test_subgroups_of_two_stages_count_clusters():
    groups = np.repeat(np.arange(10), 8)
    label = np.where(groups == 0, "one cluster", "rest")
    result = compare_scores(
        pair(80),
        groups=groups,
        resampling=TwoStageBootstrap(),
        slices={"part": label},
        n_resamples=199,
        random_state=0,
    )
    assert [row.n_units for row in result.slices] == [1, 9]
    assert result.slices[0].status == "undefined"
    assert any("fewer than 2 clusters" in note for note in result.notes)


def test_a_family_out_of_reach_of_expanded_percentiles_is_named():
    # Holm needs 1/12 of 5 %; eight units and 1,999 resamples reach 2 x 0.0071 with "expanded".
    rng = np.random.default_rng(0)
    scores = {f"model {k}": rng.normal(size=8) for k in range(5)}
    options = {"n_resamples": 1999, "random_state": 0, "pairs": "all"}
    plain, moved = (compare_scores(scores, method=m, **options) for m in ("percentile", "expanded"))
    floor = 2 * stats.t.cdf(stats.norm.ppf(1 / 2000) * math.sqrt(7 / 8), 7)
    assert 10 * 2 / 2000 < 0.05 < 10 * floor
    assert min(row.p_value for row in moved.differences) >= floor * (1 - 1e-9)
    said = [[note for note in r.notes if "comparisons" in note] for r in (plain, moved)]
    assert not said[0]
    assert said[1]


# Models that are fitted, and clusters that count alike


@pytest.mark.parametrize("estimand", ["rows", "clusters"])
def test_comparator_and_comparison_agree_where_clusters_count_alike(estimand):
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(25), rng.integers(1, 15, 25))
    X = rng.normal(size=(len(groups), 2))
    y = (X[:, 0] + rng.normal(size=len(groups)) + rng.normal(size=25)[groups] > 0).astype(int)
    models = {
        "both": LogisticRegression().fit(X, y),
        "few": LogisticRegression(C=1e-3).fit(X[:9], y[:9]),
    }
    options = {
        "scoring": ["roc_auc", "accuracy"],
        "method": "t",
        "estimand": estimand,
        "n_resamples": 99,
        "random_state": 0,
    }
    expected = compare_estimators(models, X, y, groups=groups, **options)
    frozen = [(name, FrozenEstimator(model)) for name, model in models.items()]
    comparator = PairedBootstrapComparator(frozen, refit=False, **options).fit(X, y, groups=groups)
    for a, b in zip(comparator.result_.differences, expected.differences, strict=True):
        assert numbers(a) == pytest.approx(numbers(b), rel=1e-12)
