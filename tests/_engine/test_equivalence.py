"""Tests at the margins against the interval itself, and against normal theory."""

from __future__ import annotations

import math

import numpy as np
import pytest
from bases import basis_of
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

from sklearn_pairboot._engine.equivalence import (
    Distance,
    margin_test,
    shift_for,
    simultaneous_margin_tests,
)
from sklearn_pairboot._engine.intervals import METHODS, alpha_of, interval
from sklearn_pairboot._engine.inversion import Expansion
from sklearn_pairboot._engine.sample import Sample
from sklearn_pairboot._engine.simultaneous import Family, max_t

LEVELS = [0.6, 0.8, 0.9, 0.95, 0.975, 0.99]


def test_at(sample, estimate, margin, level, method="percentile", acceleration=None):
    distance = Distance(sample, estimate, basis_of(sample, estimate, acceleration))
    shift = shift_for(sample, estimate, margin)
    return margin_test(
        distance.moved(shift), distance.moved(-shift), method=method, confidence_level=level
    )


test_at.__test__ = False


@pytest.mark.parametrize("method", METHODS)
@given(
    seed=st.integers(0, 10**6),
    margin=st.sampled_from([0.1, 0.2, 0.25, 0.3, 0.5, 1.0]),
    lattice=st.booleans(),
    acceleration=st.sampled_from([0.0, 0.05, -0.1]),
)
def test_p_is_at_most_alpha_exactly_when_the_interval_is_inside(
    method, seed, margin, lattice, acceleration
):
    rng = np.random.default_rng(seed)
    estimate = rng.integers(-3, 4) / 10
    values = rng.normal(estimate, 0.12, 199)
    if lattice:
        values = np.round(values, 1)
        assume(np.ptp(values) > 0)
    sample = Sample.from_replicates(values, scale=1.0)
    for level in LEVELS:
        found = test_at(sample, estimate, margin, level, method, acceleration)
        alpha = alpha_of(level)
        assert (found.low > 0) == (found.p_above <= alpha)
        assert (found.high < 0) == (found.p_below <= alpha)
        inside = found.low > 0 and found.high < 0
        assert inside == (found.p_equivalence <= alpha)
        assert found.p_not_worse(True) == found.p_above <= found.p_equivalence
        assert found.p_not_worse(False) == found.p_below <= found.p_equivalence


@pytest.mark.parametrize("method", METHODS)
@given(seed=st.integers(0, 10**6), margin=st.floats(0.01, 2))
def test_bounds_are_the_two_sided_interval_at_one_less_two_alpha(method, seed, margin):
    rng = np.random.default_rng(seed)
    estimate = rng.normal()
    sample = Sample.from_replicates(rng.normal(estimate, 1, 399))
    found = test_at(sample, estimate, margin, 0.95, method, 0.02)
    usual = interval(sample, estimate, method=method, confidence_level=0.9,
                     basis=basis_of(sample, estimate, 0.02))  # fmt: skip
    assert found.low - margin == pytest.approx(usual.low, abs=1e-9)
    assert found.high + margin == pytest.approx(usual.high, abs=1e-9)


def test_the_normal_method_is_the_textbook_pair_of_one_sided_tests():
    rng = np.random.default_rng(0)
    sample = Sample.from_replicates(rng.normal(0.3, 1.0, 999))
    error = sample.std()
    found = test_at(sample, 0.3, 1.5, 0.95, "normal")
    assert found.p_above == pytest.approx(stats.norm.sf((0.3 + 1.5) / error), rel=1e-6)
    assert found.p_below == pytest.approx(stats.norm.cdf((0.3 - 1.5) / error), rel=1e-6)
    assert found.p_equivalence == found.p_below


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("scale", [1e-14, 1.0, 1e9])
@pytest.mark.parametrize("margin", [1e6, 1e15, 1e300])
def test_any_difference_is_within_a_margin_that_is_large_enough(method, scale, margin):
    values = np.random.default_rng(1).standard_normal(199) * scale
    margin = margin * max(scale, 1.0)
    found = test_at(Sample.from_replicates(values, scale=scale * 1e-3), 0.0, margin, 0.95, method,
                    0.0)  # fmt: skip
    floor = {"t": 0.0, "expanded": Expansion(40).tail(1 / 200)}.get(method, 1 / 200)
    assert found.p_equivalence == pytest.approx(floor, rel=1e-9, abs=1e-30)


@given(seed=st.integers(0, 10**6), method=st.sampled_from(METHODS))
def test_swapping_the_models_mirrors(seed, method):
    rng = np.random.default_rng(seed)
    values, estimate = rng.gamma(2.0, size=199) - 1.5, 0.4
    there = test_at(Sample.from_replicates(values), estimate, 0.7, 0.9, method, 0.03)
    back = test_at(Sample.from_replicates(-values), -estimate, 0.7, 0.9, method, -0.03)
    assert back.p_above == pytest.approx(there.p_below, rel=1e-9)
    assert back.p_below == pytest.approx(there.p_above, rel=1e-9)
    assert back.p_equivalence == pytest.approx(there.p_equivalence, rel=1e-9)
    assert (back.low, back.high) == pytest.approx((-there.high, -there.low))


@given(seed=st.integers(0, 10**6))
def test_a_wider_margin_never_has_a_larger_p(seed):
    values = np.random.default_rng(seed).normal(0.1, 0.3, 199)
    sample = Sample.from_replicates(values)
    p_values = [test_at(sample, 0.1, m, 0.9).p_equivalence for m in (0.1, 0.3, 0.5, 0.9, 2.0)]
    assert p_values == sorted(p_values, reverse=True)


@pytest.mark.parametrize("value", [0.0, 0.1, -0.3, 0.5])
def test_without_variation_nothing_is_shown(value):
    found = test_at(Sample.from_replicates(np.full(99, value)), value, 0.3, 0.95)
    assert math.isnan(found.p_equivalence)
    assert math.isnan(found.p_above) and math.isnan(found.p_below)


def test_a_method_undefined_at_one_margin_is_replaced_at_both():
    sample = Sample.from_replicates(np.arange(1.0, 200.0))
    found = test_at(sample, 0.0, 300.0, 0.95, "bca", 0.0)  # all replicates above the estimate
    assert found.fallback is not None
    assert found.fallback.status == "percentile (bca undefined)"
    by_percentiles = test_at(sample, 0.0, 300.0, 0.95, "percentile")
    assert found._replace(fallback=None) == by_percentiles


# --- whole families -----------------------------------------------------------------------------


def families(values, estimates, margin):
    noise = np.full(len(estimates), 1e-12)
    return (
        Family(values + margin, estimates + margin, noise),
        Family(values - margin, estimates - margin, noise),
    )


@given(seed=st.integers(0, 10**6), greater=st.booleans())
def test_one_comparison_is_the_studentised_pair_of_one_sided_tests(seed, greater):
    rng = np.random.default_rng(seed)
    estimates = rng.normal(0, 0.3, 1)
    values = rng.normal(estimates, 0.5, (199, 1))
    found = simultaneous_margin_tests(
        *families(values, estimates, 1.0), [greater], confidence_level=0.95
    )
    above = (1 + np.sum(values - estimates >= estimates + 1.0)) / 200
    below = (1 + np.sum(values - estimates <= estimates - 1.0)) / 200
    assert found.p_equivalence[0] == max(above, below)
    assert found.p_not_worse[0] == (above if greater else below)
    upwards = np.sort((values - estimates)[:, 0])
    assert found.low[0] == pytest.approx(estimates[0] + 1.0 - upwards[189], abs=1e-12)
    assert found.high[0] == pytest.approx(estimates[0] - 1.0 - upwards[9], abs=1e-12)


@given(seed=st.integers(0, 10**6), level=st.sampled_from([0.9, 0.95]))
def test_families_agree_with_their_bounds_and_never_gain(seed, level):
    rng = np.random.default_rng(seed)
    estimates = np.round(rng.normal(0, 0.4, 3), 1)
    values = np.round(rng.normal(estimates, 0.3, (199, 3)), 1)
    lower, upper = families(values, estimates, 1.0)
    found = simultaneous_margin_tests(lower, upper, [True, False, True], confidence_level=level)
    inside = (found.low > 1e-9) & (found.high < -1e-9)
    np.testing.assert_array_equal(inside, found.p_equivalence <= alpha_of(level) + 1e-12)
    for k, greater in enumerate([True, False, True]):
        alone = simultaneous_margin_tests(
            lower.only(k), upper.only(k), [greater], confidence_level=level
        )
        assert (
            alone.p_equivalence[0] <= found.p_equivalence[k] <= 3.0000001 * alone.p_equivalence[0]
        )
        assert alone.p_not_worse[0] <= found.p_not_worse[k]


@pytest.mark.slow
def test_errors_of_families_stay_at_their_level():
    """Four comparisons with one baseline, two at each margin: no claim of equivalence is true."""
    rng = np.random.default_rng(0)
    truth = np.array([-1.0, 1.0, -1.0, 1.0])
    root = 0.25 * np.linalg.cholesky(0.5 + 0.5 * np.eye(4))
    n_studies, errors = 2000, np.zeros(3)
    for _ in range(n_studies):
        estimates = truth + root @ rng.standard_normal(4)
        values = estimates + rng.standard_normal((399, 4)) @ root.T
        found = simultaneous_margin_tests(
            *families(values, estimates, 1.0), [True] * 4, confidence_level=0.95
        )
        null = max_t(Family(values - truth, estimates - truth, np.zeros(4)), [0] * 4, 0.95)
        errors += [
            (found.p_equivalence <= 0.05).any(),
            (found.p_not_worse[truth < 0] <= 0.05).any(),
            (null.p_values <= 0.05).any(),
        ]
    assert (errors / n_studies < 0.05 + 3 * np.sqrt(0.05 * 0.95 / n_studies)).all()
    assert errors[2] / n_studies == pytest.approx(0.05, abs=0.015)
