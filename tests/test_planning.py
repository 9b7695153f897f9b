"""Clusters and planning against literal sums of squares, published tables, and simulation."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from sklearn_pairboot.planning import (
    intraclass_correlation,
    minimum_detectable_difference,
    required_units,
)

seeds = st.integers(0, 2**32 - 1)


def standardised(n: int) -> np.ndarray:
    """Numbers with mean 0 and standard deviation 1."""
    x = np.arange(n, dtype=float)
    return (x - x.mean()) / x.std(ddof=1)


# Clusters


@given(seeds, st.integers(2, 6))
def test_intraclass_correlation_is_that_of_the_sums_of_squares(seed, n_clusters):
    rng = np.random.default_rng(seed)
    groups = np.concatenate([np.arange(n_clusters), rng.integers(0, n_clusters, 12)])
    values = rng.normal(size=len(groups)) + groups
    found = intraclass_correlation(values, groups)
    parts = [values[groups == label] for label in range(n_clusters)]
    anova = stats.f_oneway(*parts)
    assert found.statistic == pytest.approx(anova.statistic, rel=1e-10)
    assert found.p_value == pytest.approx(anova.pvalue, rel=1e-8)
    within = sum(((part - part.mean()) ** 2).sum() for part in parts)
    mean_square = within / (len(values) - n_clusters)
    sizes = np.array([len(part) for part in parts])
    size = (sizes.sum() - (sizes**2).sum() / sizes.sum()) / (n_clusters - 1)
    variance = (anova.statistic * mean_square - mean_square) / size
    assert found.estimate == pytest.approx(variance / (variance + mean_square), rel=1e-8, abs=1e-12)
    assert found.ci_low <= found.estimate <= found.ci_high


def test_req_E23_design_effect_of_equal_clusters():
    """Three rows a cluster and F = 9: (9 - 1) / (9 + 2), one more than twice that."""
    right = [1, 1, 1, 0, 0, 0, 1, 1, 0, 0, 0, 0]
    found = intraclass_correlation(right, list("aaabbbcccddd"))
    assert found.statistic == pytest.approx(9)
    assert found.estimate == pytest.approx(8 / 11)
    assert found.design_effect == pytest.approx(1 + 2 * 8 / 11)
    assert found.effective_sample_size == pytest.approx(12 / (1 + 2 * 8 / 11))
    assert (found.n_rows, found.n_clusters, found.variant) == (12, 4, "one-way ANOVA")


def test_rows_alike_within_clusters_count_once():
    found = intraclass_correlation([3.0, 3.0, 1.0, 1.0, 2.0, 2.0], [0, 0, 1, 1, 2, 2])
    assert (found.estimate, found.ci_low, found.ci_high, found.p_value) == (1, 1, 1, 0)
    assert found.effective_sample_size == 3


def test_a_negative_correlation_costs_nothing():
    found = intraclass_correlation([0, 1, 0, 1, 0, 1], [0, 0, 1, 1, 2, 2])
    assert found.estimate == -1
    assert (found.design_effect, found.effective_sample_size) == (1, 6)


@pytest.mark.newest
def test_the_interval_covers_a_known_correlation():
    """Normal values, 20 clusters of 4, correlation 0.3: 400 data sets, exact interval."""
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(20), 4)
    covered = 0
    for _ in range(400):
        values = np.sqrt(0.3) * rng.normal(size=20)[groups] + np.sqrt(0.7) * rng.normal(size=80)
        found = intraclass_correlation(values, groups)
        covered += found.ci_low <= 0.3 <= found.ci_high
    assert stats.binomtest(covered, 400, 0.95).pvalue > 1e-3


@pytest.mark.parametrize(
    ("values", "groups", "message"),
    [
        ([1, 2, 3], [0, 1, 2], "`groups` must hold at least two clusters, and two rows"),
        ([1, 2, 3], [0, 0, 0], "`groups` must hold at least two clusters, and two rows"),
        ([1, 1, 1], [0, 0, 1], "`values` must differ somewhere, got 1 in all 3 rows"),
        ([[1], [2]], [0, 0], "`values` must hold a number for each"),
        ([1, np.nan, 1], [0, 0, 1], "`values` must be finite"),
    ],
)
def test_clusters_that_tell_nothing_are_refused(values, groups, message):
    with pytest.raises(ValueError, match=message):
        intraclass_correlation(values, groups)


# Planning


@pytest.mark.parametrize(
    ("effect", "alternative", "n"),
    # One-sample t test, power 0.8: tables of Cohen (1988) and G*Power.
    [(0.2, "two-sided", 199), (0.5, "two-sided", 34), (0.8, "two-sided", 15), (0.5, "greater", 27)],
)
def test_published_sample_sizes(effect, alternative, n):
    pilot = standardised(1001)
    assert required_units(pilot, difference=effect, alternative=alternative) == n
    assert required_units(pilot, difference=-effect, alternative=alternative) == n
    least = minimum_detectable_difference(pilot, n_units=n, alternative=alternative)
    more = minimum_detectable_difference(pilot, n_units=n - 1, alternative=alternative)
    assert least <= effect < more


@pytest.mark.parametrize("n_units", [2, 3, 8, 50])
def test_power_is_that_of_simulated_t_tests(n_units):
    pilot = standardised(101)
    least = minimum_detectable_difference(pilot, n_units=n_units, power=0.7)
    rng = np.random.default_rng(n_units)
    found = stats.ttest_1samp(rng.normal(least, 1, size=(4000, n_units)), 0, axis=1).pvalue <= 0.05
    assert stats.binomtest(int(found.sum()), 4000, 0.7).pvalue > 1e-3


def test_width_is_that_of_the_t_interval():
    pilot = standardised(101)
    n = required_units(pilot, width=0.3)
    widths = [2 * stats.t.isf(0.025, k - 1) / np.sqrt(k) for k in (n - 1, n)]
    assert widths[0] > 0.3 >= widths[1]


@given(seeds)
def test_clusters_of_one_row_are_rows(seed):
    pilot = np.random.default_rng(seed).normal(size=20)
    for function, keywords in (
        (minimum_detectable_difference, {}),
        (required_units, {"difference": 0.3}),
        (required_units, {"width": 0.3}),
    ):
        assert function(pilot, groups=np.arange(20), **keywords) == pytest.approx(
            function(pilot, **keywords), rel=1e-9
        )


@given(seeds)
def test_repeated_rows_in_their_clusters_change_nothing(seed):
    pilot = np.random.default_rng(seed).normal(size=20)
    repeated, groups = np.repeat(pilot, 3), np.repeat(np.arange(20), 3)
    assert minimum_detectable_difference(repeated, groups=groups) == pytest.approx(
        minimum_detectable_difference(pilot), rel=1e-9
    )
    # Taken for independent rows they promise too much.
    assert minimum_detectable_difference(repeated) < minimum_detectable_difference(pilot)


def test_the_default_is_the_pilot_itself():
    pilot = standardised(40)
    assert minimum_detectable_difference(pilot) == minimum_detectable_difference(pilot, n_units=40)


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({}, "Give one of `difference` and `width`"),
        ({"difference": 1, "width": 1}, "Give one of `difference` and `width`"),
        ({"difference": 0}, "`difference` must be a finite number other than 0, got 0"),
        ({"width": float("nan")}, "`width` must be a finite number other than 0, got nan"),
        ({"difference": 1, "power": 1.0}, "`power` must be a number between 0 and 1, got 1.0"),
        ({"difference": 1, "alternative": "better"}, "`alternative` must be one of"),
        ({"difference": 1e-9}, "More than 1,000,000,000 units would be needed"),
    ],
)
def test_plans_that_cannot_be_made_are_refused(keywords, message):
    with pytest.raises(ValueError, match=message):
        required_units(standardised(30), **keywords)


def test_pilots_that_tell_nothing_are_refused():
    with pytest.raises(ValueError, match="`differences` must vary between units"):
        minimum_detectable_difference([0.5] * 10)
    with pytest.raises(ValueError, match="`differences` must vary between units"):
        minimum_detectable_difference([0.0, 1.0] * 5, groups=np.repeat(np.arange(5), 2))
    with pytest.raises(ValueError, match="`groups` must hold at least 2 clusters, got 1"):
        minimum_detectable_difference([0.0, 1.0], groups=["a", "a"])
    with pytest.raises(ValueError, match="`n_units` must be a whole number of at least 2, got 1"):
        minimum_detectable_difference([0.0, 1.0, 1.0], n_units=1)
    with pytest.raises(ValueError, match="`power` must be above 1 - `confidence_level`"):
        minimum_detectable_difference([0.0, 1.0, 1.0], power=0.05)


def test_an_intraclass_correlation_is_printed_as_sentences():
    """The numbers of F = 9 above: 8 / 11, and 12 rows that are worth 132 / 27."""
    found = intraclass_correlation([1, 1, 1, 0, 0, 0, 1, 1, 0, 0, 0, 0], list("aaabbbcccddd"))
    low, high = (f"{end:.3f}" for end in (found.ci_low, found.ci_high))
    assert str(found) == (
        f"Intraclass correlation 0.727 [{low}, {high}] (one-way ANOVA).\n"
        "12 rows in 4 clusters tell as much of a mean as 4.9 independent rows (design effect 2.45)."
    )
