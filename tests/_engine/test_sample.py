"""Replicates, quantiles and positions, against NumPy and against literally repeated values."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from sklearn_pairboot._engine.sample import Sample

LEVELS = [0.0, 0.005, 0.025, 0.05, 0.1, 1 / 3, 0.5, 0.7, 0.9, 0.95, 0.975, 0.995, 1.0]

# Paired bootstrap of the mean of [1, 0, 1, 0, -1]: all 3125 sequences.
MEANS = np.arange(-5, 6) / 5
N_SEQUENCES = np.array([1, 10, 50, 160, 360, 592, 720, 640, 400, 160, 32])

lattice = st.integers(-4, 4).map(lambda k: k / 4)
finite = st.floats(-1e6, 1e6, allow_subnormal=False)
repeated = st.lists(st.tuples(lattice, st.integers(1, 30)), min_size=1, max_size=12)


def expand(pairs):
    values, multiplicities = map(np.array, zip(*pairs, strict=True))
    return values, multiplicities, np.repeat(values, multiplicities)


@given(st.lists(finite | lattice, min_size=1, max_size=60), st.floats(0, 1))
def test_quantile_is_numpys_bit_for_bit(values, level):
    sample = Sample.from_replicates(values)
    for q in [level, *LEVELS]:
        assert sample.quantile(q) == np.quantile(values, q)


@pytest.mark.parametrize("n_resamples", [39, 40, 999, 1000, 9999])
def test_quantile_of_many_replicates_is_numpys(n_resamples):
    values = np.random.default_rng(n_resamples).normal(size=n_resamples)
    sample = Sample.from_replicates(values)
    assert [sample.quantile(q) for q in LEVELS] == np.quantile(values, LEVELS).tolist()


@pytest.mark.parametrize(
    ("level", "expected"),
    [(1 / 40, 11 / 10), (1 / 4, 2), (1 / 2, 4), (9 / 10, 47 / 5), (39 / 40, 53 / 5)],
)
def test_quantile_rule_of_reference(level, expected):
    for sample in (
        Sample.from_replicates([7, 1, 11, 2, 4]),
        Sample.from_exact([7, 1, 11, 2, 4], [1, 1, 1, 1, 1]),
    ):
        assert sample.quantile(level) == pytest.approx(expected, rel=1e-15)


def test_case_C36_percentiles_of_a_95_percent_interval():
    sample = Sample.from_replicates(np.arange(1, 1001))
    assert sample.quantile(0.025) == pytest.approx(25.975, rel=1e-14)
    assert sample.quantile(0.975) == pytest.approx(975.025, rel=1e-14)
    assert sample.quantile(0.05) == pytest.approx(50.95, rel=1e-14)
    assert sample.quantile(0.95) == pytest.approx(950.05, rel=1e-14)


@given(repeated, st.floats(0, 1))
def test_exact_mode_equals_literal_repetition(pairs, level):
    values, multiplicities, literal = expand(pairs)
    exact = Sample.from_exact(values, multiplicities)
    monte_carlo = Sample.from_replicates(literal)

    assert exact.size == monte_carlo.size == literal.size
    assert exact.minimum == literal.min()
    assert exact.maximum == literal.max()
    for q in [level, *LEVELS]:
        assert exact.quantile(q) == np.quantile(literal, q)
    assert_allclose(exact.mean(), literal.mean(), rtol=1e-13, atol=1e-14)
    assert_allclose(exact.std(), literal.std(ddof=0), rtol=1e-13, atol=1e-14)
    for x in [-2, -1, -0.6, 0, 0.1, 0.25, 1, 2]:
        assert exact.share_below(x) == monte_carlo.share_below(x)
        assert exact.position_leaving_low(x) == monte_carlo.position_leaving_low(x)
        assert exact.position_leaving_high(x) == monte_carlo.position_leaving_high(x)


@given(st.lists(lattice, min_size=1, max_size=30), lattice)
def test_share_below_counts_ties_half(values, x):
    expected = np.mean([1.0 if v < x else 0.5 if v == x else 0.0 for v in values])
    assert Sample.from_replicates(values).share_below(x) == pytest.approx(expected, rel=1e-14)


@given(st.lists(lattice, min_size=2, max_size=30), lattice)
def test_position_is_where_the_quantile_function_passes(values, x):
    """Checked in rational numbers, so that nothing hangs on rounding."""
    sample = Sample.from_replicates(values)
    ordered = [Fraction(v) for v in sorted(values)]

    def at(position):
        below = min(math.floor(position), len(ordered) - 2)
        return ordered[below] + (ordered[below + 1] - ordered[below]) * (position - below)

    position = sample.position_leaving_low(x)
    if position == -1:
        assert ordered[0] > x
    elif position == len(ordered) - 1:
        assert ordered[-1] <= x
    else:
        exact = Fraction(position).limit_denominator(1000)
        assert float(exact) == position
        assert at(exact) == Fraction(x)
        assert at(exact + Fraction(1, 10**6)) > x


@given(st.lists(lattice, min_size=1, max_size=30), lattice)
def test_leaving_high_mirrors_leaving_low(values, x):
    sample, mirrored = Sample.from_replicates(values), Sample.from_replicates(np.negative(values))
    assert sample.position_leaving_high(x) == mirrored.position_leaving_low(-x)
    assert sample.position_leaving_low(x) == mirrored.position_leaving_high(-x)


def test_positions_by_hand():
    sample = Sample.from_replicates([3.0, -1.0, 0.0, 0.0])
    assert sample.position_leaving_low(0.0) == 2.0
    assert sample.position_leaving_high(0.0) == 2.0
    assert sample.position_leaving_low(1.0) == 2 + 1 / 3
    assert sample.position_leaving_high(-0.5) == 2.5
    assert sample.position_leaving_low(-2.0) == -1.0
    assert sample.position_leaving_high(4.0) == -1.0
    assert sample.position_leaving_low(3.0) == 3.0
    assert sample.position_leaving_high(-1.0) == 3.0


def test_undefined_replicates_are_left_out():
    sample = Sample.from_replicates([math.nan, 2.0, 1.0, math.nan])
    assert_array_equal(sample.values, [1.0, 2.0])
    assert sample.size == 2
    assert sample.p_floor == 1 / 3

    exact = Sample.from_exact([math.nan, 2.0, 1.0], [5, 2, 1])
    assert_array_equal(exact.values, [1.0, 2.0])
    assert exact.size == 3
    assert exact.p_floor == 1 / 3


def test_a_sample_can_be_empty():
    assert Sample.from_replicates([math.nan]).size == 0
    assert Sample.from_exact([math.nan], [3]).size == 0


def test_values_equal_up_to_rounding_merge():
    values = [0.3, 0.1 + 0.2, 0.3 + 1e-9, 0.0]
    assert_array_equal(Sample.from_exact(values, [1, 2, 4, 8]).multiplicities, [8, 1, 2, 4])
    merged = Sample.from_exact(values, [1, 2, 4, 8], scale=1.0)
    assert_array_equal(merged.values, [0.0, 0.3, 0.3 + 1e-9])
    assert_array_equal(merged.multiplicities, [8, 3, 4])


def test_small_integer_types_do_not_overflow():
    sample = Sample.from_exact([0.0, 1.0], np.array([200, 200], dtype=np.uint8))
    assert sample.size == 400


def test_positions_beyond_int32_are_exact():
    half = 2**51
    sample = Sample.from_exact([-1.0, 1.0], [half - 1, half + 1])
    assert sample.size == 2**52
    assert sample.position_leaving_low(0.0) == half - 2 + 0.5
    assert sample.share_below(0.0) == (half - 1) / 2**52
    assert sample.p_floor == 2.0**-52


def test_exact_distribution_of_reference():
    sample = Sample.from_exact(MEANS, N_SEQUENCES)
    assert sample.size == 3125
    assert sample.mean() == pytest.approx(0.2, rel=1e-14)
    assert sample.std() == pytest.approx(0.3346640106136302, rel=1e-14)
    assert sample.share_below(0.2) == 1533 / 3125
    for level, low, high in [(0.9, -0.4, 0.8), (0.95, -0.4, 0.8), (0.99, -0.6, 1.0)]:
        assert sample.quantile((1 - level) / 2) == low
        assert sample.quantile((1 + level) / 2) == high


def test_float_weights_use_the_inverse_distribution_function():
    weights = N_SEQUENCES / 3125
    sample = Sample.from_exact(MEANS, weights)
    literal = np.repeat(MEANS, N_SEQUENCES)
    for q in [0.001, 0.025, 0.1, 0.3, 0.5, 0.9, 0.975, 0.999]:
        assert sample.quantile(q) == np.quantile(literal, q, method="inverted_cdf")
    assert sample.quantile(0.0) == -1.0
    assert sample.quantile(1.0) == 1.0
    assert sample.mean() == pytest.approx(0.2, rel=1e-14)
    assert sample.std() == pytest.approx(0.3346640106136302, rel=1e-14)
    assert sample.share_below(0.2) == pytest.approx(1533 / 3125, rel=1e-14)
    size = sample.size
    assert size == 2**53
    assert sample.position_leaving_low(0.0) / (size - 1) == pytest.approx(1173 / 3125, rel=1e-14)
    assert sample.position_leaving_high(0.0) / (size - 1) == pytest.approx(2544 / 3125, rel=1e-14)
    assert sample.position_leaving_low(-1.5) == -1.0
    assert sample.position_leaving_low(1.0) == size - 1


def test_float_weights_are_renormalised_over_the_defined_values():
    sample = Sample.from_exact([0.0, 1.0, math.nan], [0.2, 0.2, 0.6])
    assert sample.share_below(0.5) == 0.5
    assert sample.quantile(0.45) == 0.0
    assert sample.quantile(0.55) == 1.0
    assert sample.mean() == 0.5


def test_monte_carlo_moments():
    values = np.random.default_rng(0).normal(size=100)
    sample = Sample.from_replicates(values)
    assert sample.mean() == pytest.approx(values.mean(), rel=1e-13)
    assert sample.std() == pytest.approx(values.std(ddof=1), rel=1e-13)


@pytest.mark.parametrize("value", [0.0, 0.1, -7.3e9])
def test_constant_replicates(value):
    for sample in (
        Sample.from_replicates([value] * 7),
        Sample.from_exact([value] * 7, [3] * 7),
    ):
        assert sample.is_constant
        assert sample.std() == 0.0
        assert sample.mean() == value
        assert sample.quantile(0.3) == value


def test_rounding_does_not_hide_a_constant():
    assert Sample.from_replicates([0.3, 0.1 + 0.2]).is_constant
    assert not Sample.from_replicates([0.3, 0.3 + 1e-9]).is_constant
    assert not Sample.from_replicates([0.0, 1e-300]).is_constant


@given(repeated, lattice)
def test_reflection(pairs, about):
    values, multiplicities, literal = expand(pairs)
    expected = np.sort(2 * about - literal)
    assert_array_equal(Sample.from_replicates(literal).reflected(about).values, expected)
    exact = Sample.from_exact(values, multiplicities).reflected(about)
    assert_array_equal(np.repeat(exact.values, exact.multiplicities), expected)


def test_reflection_snaps_rounding_to_zero():
    value = 0.1 + 0.2 + 0.3  # 0.6000000000000001, twice 0.3 up to rounding
    assert value != 0.6
    reflected = Sample.from_replicates([value, 0.5]).reflected(0.3)
    assert_array_equal(reflected.values, [0.0, 2 * 0.3 - 0.5])


def test_negative_zero_is_zero():
    assert math.copysign(1.0, Sample.from_replicates([-0.0]).minimum) == 1.0
    assert math.copysign(1.0, Sample.from_exact([-0.0], [1]).minimum) == 1.0
