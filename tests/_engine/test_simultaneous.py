"""Max-T against literal NumPy, the normal distribution, and its own definition."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from examples import max_examples
from sklearn_pairboot._engine.intervals import alpha_of
from sklearn_pairboot._engine.simultaneous import Family, max_t, max_t_step_down

SIDES = [0, 1, -1]


def family(values, estimates, weights=None, noise=1e-12):
    values = np.asarray(values, dtype=float)
    return Family(values, np.asarray(estimates, float), np.full(values.shape[1], noise), weights)


def correlated(seed, n_resamples=999, n_comparisons=4):
    rng = np.random.default_rng(seed)
    estimates = rng.normal(0, 1.5, n_comparisons)
    shared = rng.standard_normal((n_resamples, 1))
    scales = rng.uniform(0.1, 5, n_comparisons)
    noise = rng.standard_normal((n_resamples, n_comparisons))
    return (shared + noise) * scales + estimates * scales, estimates * scales


def literal(values, estimates, sides, level):
    """The formulas of the specification, a comparison at a time."""
    n_resamples = len(values)
    t, reached = [], []
    for k, side in enumerate(sides):
        error = np.std(values[:, k], ddof=1)
        deviation = (values[:, k] - estimates[k]) / error
        observed = estimates[k] / error
        t.append({0: np.abs(deviation), 1: deviation, -1: -deviation}[side])
        reached.append({0: abs(observed), 1: observed, -1: -observed}[side])
    largest = np.sort(np.max(t, axis=0))
    p = [(1 + np.sum(largest >= value)) / (n_resamples + 1) for value in reached]
    place = math.ceil((n_resamples + 1) * Fraction(str(level)))
    c = largest[place - 1]
    return np.array(p), c * np.std(values, axis=0, ddof=1)


@pytest.mark.parametrize("side", SIDES)
@given(seed=st.integers(0, 10**6), level=st.sampled_from([0.8, 0.9, 0.95, 0.99]))
def test_formulas_taken_literally(side, seed, level):
    values, estimates = correlated(seed)
    found = max_t(family(values, estimates), [side] * 4, level)
    p, widths = literal(values, estimates, [side] * 4, level)
    np.testing.assert_allclose(found.p_values, p, rtol=1e-14)
    np.testing.assert_allclose(found.half_widths, widths, rtol=1e-9)


@given(
    seed=st.integers(0, 10**6),
    sides=st.lists(st.sampled_from(SIDES), min_size=3, max_size=3),
    level=st.sampled_from([0.5, 0.8, 0.9, 0.95, 0.96, 0.98]),
    exact=st.sampled_from(["no", "counts", "shares"]),
    factor=st.integers(1, 3),
)
def test_p_is_at_most_alpha_exactly_when_the_bound_excludes_zero(seed, sides, level, exact, factor):
    """On a lattice, where ties with the estimate are the rule."""
    rng = np.random.default_rng(seed)
    n_resamples = int(rng.choice([49, 99, 199]))
    estimates = rng.integers(-4, 5, 3) / 10
    values = rng.integers(-5, 6, (n_resamples, 3)) / 10 + estimates
    weights = None
    if exact != "no":
        weights = rng.integers(1, 50, n_resamples)
        if exact == "shares":
            weights = weights / weights.sum()
    found = max_t(family(values, estimates, weights), sides, level, factor=factor)
    for side, estimate, p, width in zip(
        sides, estimates, found.p_values, found.half_widths, strict=True
    ):
        excluded = {0: abs(estimate), 1: estimate, -1: -estimate}[side] > width
        assert excluded == (p <= alpha_of(level) * (1 + 1e-12)), (p, width, estimate)


@pytest.mark.parametrize("side", SIDES)
@given(seed=st.integers(0, 10**6))
def test_a_larger_family_never_has_smaller_p_values_or_narrower_intervals(side, seed):
    values, estimates = correlated(seed)
    whole = max_t(family(values, estimates), [side] * 4, 0.9)
    for k in range(4):
        alone = max_t(family(values, estimates).only(k), [side], 0.9)
        assert alone.p_values[0] <= whole.p_values[k]
        assert alone.half_widths[0] <= whole.half_widths[k]


def test_one_comparison_is_the_studentised_absolute_test():
    values, estimates = correlated(5, 9999, 1)
    found = max_t(family(values, estimates), [0], 0.95)
    deviations = np.abs(values[:, 0] - estimates[0])
    expected = (1 + np.sum(deviations >= abs(estimates[0]))) / 10000
    assert found.p_values[0] == expected
    assert found.half_widths[0] == pytest.approx(np.sort(deviations)[9499], rel=1e-12)


def test_normal_replicates_give_dunnetts_bound():
    """Many-to-one comparisons of equal size have correlation 1/2."""
    rng = np.random.default_rng(0)
    models = rng.standard_normal((200_000, 4))
    values = models[:, 1:] - models[:, :1]
    found = max_t(family(values, np.zeros(3)), [0] * 3, 0.95)
    c = found.half_widths / values.std(axis=0, ddof=1)
    # Dunnett (1964), two-sided, 3 treatments against a control, infinite degrees of freedom.
    np.testing.assert_allclose(c, 2.35, atol=0.02)
    one_sided = max_t(family(values, np.zeros(3)), [1] * 3, 0.95)
    np.testing.assert_allclose(one_sided.half_widths / np.sqrt(2), 2.06, atol=0.02)
    alone = max_t(family(values, np.zeros(3)).only(0), [0], 0.95)
    assert alone.half_widths[0] / np.sqrt(2) == pytest.approx(stats.norm.ppf(0.975), abs=0.02)


def test_what_does_not_vary_leaves_the_family():
    values, estimates = correlated(1, n_comparisons=2)
    with_constant = np.column_stack([values, np.full(len(values), 0.3)])
    found = max_t(family(with_constant, [*estimates, 0.3]), [0] * 3, 0.9)
    without = max_t(family(values, estimates), [0] * 2, 0.9)
    np.testing.assert_array_equal(found.p_values[:2], without.p_values)
    assert np.isnan([found.p_values[2], found.half_widths[2]]).all()
    alone = max_t(family(with_constant, [*estimates, 0.3]).only(2), [0], 0.9)
    assert np.isnan(alone.p_values).all()


def test_undefined_resamples_leave_for_all():
    values, estimates = correlated(2)
    lost = values.copy()
    lost[:50, 0] = lost[40:80, 2] = np.nan
    found = max_t(family(lost, estimates), [0] * 4, 0.9)
    kept = max_t(family(values[80:], estimates), [0] * 4, 0.9)
    np.testing.assert_array_equal(found.p_values, kept.p_values)
    np.testing.assert_array_equal(found.half_widths, kept.half_widths)
    assert family(lost, estimates).lost.sum() == 80


def test_an_enumeration_counts_sequences():
    """Weights equal that many copies, with denominators D in place of B - 1 and B + 1."""
    rng = np.random.default_rng(3)
    values, weights = rng.standard_normal((60, 2)), rng.integers(1, 9, 60)
    estimates = np.array([0.9, -1.4])
    found = max_t(family(values, estimates, weights), [0, 0], 0.9)
    copies = np.repeat(values, weights, axis=0)
    t = np.abs(copies - estimates) / copies.std(axis=0)
    largest = np.sort(t.max(axis=1))
    reached = np.abs(estimates) / copies.std(axis=0)
    np.testing.assert_allclose(
        found.p_values, [np.mean(largest >= value) for value in reached], rtol=1e-12
    )
    c = largest[math.ceil(len(copies) * Fraction("0.9")) - 1]
    np.testing.assert_allclose(found.half_widths, c * copies.std(axis=0), rtol=1e-12)


@pytest.mark.parametrize("weights", [None, [3, 4, 5, 6], [0.25, 0.25, 0.25, 0.25]])
def test_p_is_never_zero(weights):
    values = np.array([[1.0], [1.1], [0.9], [1.05]])
    found = max_t(family(values, [100.0], weights and np.array(weights)), [0], 0.95)
    assert (
        found.p_values[0]
        == {
            None: 1 / 5,
            (3, 4, 5, 6): 1 / 18,
            (0.25, 0.25, 0.25, 0.25): 2.0**-53,
        }[weights and tuple(weights)]
    )
    if weights is None:  # and four resamples bound nothing at 95 %
        assert found.half_widths[0] == math.inf


# --- step-down --------------------------------------------------------------------------------


def literal_step_down(values, estimates, sides):
    """Westfall and Young's algorithm as they state it: successive maxima, then monotone."""
    n_resamples = len(values)
    errors = np.std(values, axis=0, ddof=1)
    t, reached = [], []
    for k, side in enumerate(sides):
        deviation, observed = (values[:, k] - estimates[k]) / errors[k], estimates[k] / errors[k]
        t.append({0: np.abs(deviation), 1: deviation, -1: -deviation}[side])
        reached.append({0: abs(observed), 1: observed, -1: -observed}[side])
    order = sorted(range(len(sides)), key=lambda k: -reached[k])
    p, before = np.empty(len(sides)), 0.0
    for place, k in enumerate(order):
        remaining = order[place:]
        count = sum(
            max(t[other][b] for other in remaining) >= reached[k] for b in range(n_resamples)
        )
        before = p[k] = max(before, (1 + count) / (n_resamples + 1))
    return p


@given(
    seed=st.integers(0, 10**6),
    sides=st.lists(st.sampled_from(SIDES), min_size=4, max_size=4),
)
@max_examples(30)
def test_step_down_taken_literally(seed, sides):
    values, estimates = correlated(seed, 199)
    found = max_t_step_down(family(values, estimates), sides)
    np.testing.assert_allclose(found, literal_step_down(values, estimates, sides), rtol=1e-14)
    single = max_t(family(values, estimates), sides, 0.95).p_values
    assert (found <= single).all()
    strongest = np.argmin(single)
    assert found[strongest] == single[strongest]


def test_step_down_of_one_comparison_is_the_single_step():
    values, estimates = correlated(3, 999, 1)
    one = family(values, estimates)
    assert max_t_step_down(one, [0]) == max_t(one, [0], 0.95).p_values


def test_step_down_finds_what_the_single_step_misses():
    """The second comparison is held against itself and the third alone."""
    rng = np.random.default_rng(0)
    values = rng.standard_normal((9999, 3)) * [1, 1, 1]
    estimates = np.array([9.0, 2.3, 0.1])
    found = max_t_step_down(family(values + estimates, estimates), [0] * 3)
    single = max_t(family(values + estimates, estimates), [0] * 3, 0.95).p_values
    # Of independent normal variables: P(max of two) and P(max of three) at least 2.3.
    tail = 2 * stats.norm.sf(2.3)
    assert found[1] == pytest.approx(1 - (1 - tail) ** 2, abs=0.006)
    assert single[1] == pytest.approx(1 - (1 - tail) ** 3, abs=0.006)
    assert found[1] < 0.05 < single[1]


def test_step_down_leaves_out_what_is_undefined_or_does_not_vary():
    values, estimates = correlated(2)
    lost = np.column_stack([values, np.full(len(values), 0.3)])
    lost[:50, 0] = np.nan
    found = max_t_step_down(family(lost, [*estimates, 0.3]), [0] * 5)
    kept = max_t_step_down(family(values[50:], estimates), [0] * 4)
    np.testing.assert_array_equal(found[:4], kept)
    assert np.isnan(found[4])
    assert np.isnan(max_t_step_down(family(lost * np.nan, [*estimates, 0.3]), [0] * 5)).all()


def test_step_down_counts_sequences_of_an_enumeration():
    rng = np.random.default_rng(3)
    values, weights = rng.standard_normal((60, 3)), rng.integers(1, 9, 60)
    estimates = np.array([0.9, -1.4, 0.2])
    found = max_t_step_down(family(values, estimates, weights), [0] * 3)
    copies = np.repeat(values, weights, axis=0)
    t = np.abs(copies - estimates) / copies.std(axis=0)
    reached = np.abs(estimates) / copies.std(axis=0)
    order = np.argsort(-reached)
    p = [np.mean(t[:, order[k:]].max(axis=1) >= reached[order[k]]) for k in range(3)]
    np.testing.assert_allclose(found[order], np.maximum.accumulate(p), rtol=1e-12)


@pytest.mark.slow
def test_step_down_controls_any_false_rejection_in_a_simulation():
    """Means of 100 rows of 5 correlated columns, one of which is far from zero."""
    rng, wrong, n_runs = np.random.default_rng(1), 0, 1000
    truth = np.array([1.0, 0, 0, 0, 0])
    for _ in range(n_runs):
        rows = rng.standard_normal((100, 5)) + rng.standard_normal((100, 1)) + truth
        weights = rng.multinomial(100, np.full(100, 0.01), 399) / 100
        p = max_t_step_down(family(weights @ rows, rows.mean(axis=0)), [0] * 5)
        wrong += p[1:].min() <= 0.05
    # At most 5 %, up to three standard errors of the simulation and the bootstrap's own bias.
    assert wrong / n_runs <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / n_runs) + 0.005
