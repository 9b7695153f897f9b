"""Intervals against NumPy, SciPy and exact enumeration; p-values against the intervals."""

from __future__ import annotations

import math
import warnings
from fractions import Fraction

import numpy as np
import pytest
from bases import basis_of
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import stats

from examples import max_examples
from sklearn_pairboot._engine.intervals import (
    METHODS,
    acceleration,
    alpha_of,
    check_alpha,
    excludes_zero,
    interval,
)
from sklearn_pairboot._engine.inversion import Basis, Expansion
from sklearn_pairboot._engine.sample import Sample

ALTERNATIVES = ["two-sided", "greater", "less"]
CONFIDENCE_LEVELS = [0.2, 0.5, 0.8, 0.9, 0.95, 0.975, 0.98, 0.99, 0.995, 0.999]

# Paired bootstrap of the mean of [1, 0, 1, 0, -1]: all 3125 sequences.
REFERENCE = Sample.from_exact(
    np.arange(-5, 6) / 5, [1, 10, 50, 160, 360, 592, 720, 640, 400, 160, 32]
)
REFERENCE_ACCELERATION = -0.02561204162859415


def n_tails(alternative):
    return 2 if alternative == "two-sided" else 1


def floor_of(sample, method, alternative, basis=None):
    """Smallest alpha that the replicates support."""
    tail = basis.expansion.tail(sample.p_floor) if method == "expanded" else sample.p_floor
    return n_tails(alternative) * tail


def ends(result):
    return result.low, result.high


def excludes(result):
    return result.low > 0 or result.high < 0


def assert_agrees(sample, estimate, **options):
    """Interval and p-value say the same at every admissible level."""
    for confidence_level in CONFIDENCE_LEVELS:
        alpha = alpha_of(confidence_level)
        if alpha < floor_of(sample, **options):
            continue
        result = interval(sample, estimate, confidence_level=confidence_level, **options)
        assert 0 < result.p_value <= 1
        assert excludes(result) == (result.p_value <= alpha), (confidence_level, result)
        assert excludes_zero(result.low, result.high) == excludes(result)


def assert_inverts(sample, estimate, **options):
    """The p-value, found at one level, predicts the interval at levels close to it."""
    first = interval(sample, estimate, confidence_level=0.37, **options)
    floor = floor_of(sample, **options)
    if first.method != options["method"] or not 1e-6 < first.p_value < 1:
        return
    for alpha, expected in [
        (first.p_value * (1 - 1e-7), False),
        (first.p_value * (1 + 1e-7), True),
    ]:
        if floor <= alpha < 1:
            result = interval(sample, estimate, confidence_level=1 - alpha, **options)
            if result.method == options["method"]:
                assert excludes(result) == expected


# --- strategies -------------------------------------------------------------------------------


@st.composite
def lattice_samples(draw):
    """Few distinct values, so that many replicates equal zero and ends touch it."""
    n_resamples = draw(st.sampled_from([39, 40, 41, 81, 100, 199, 401, 1001, 2001, 9999]))
    offset = draw(st.integers(-6, 6))
    step = draw(st.sampled_from([1.0, 0.1, 1 / 3, 1e-6]))
    n_items = draw(st.sampled_from([2, 5, 20]))
    seed = draw(st.integers(0, 2**32 - 1))
    draws = np.random.default_rng(seed).binomial(n_items, 0.5, n_resamples)
    estimate = (n_items // 2 + offset) * step
    return Sample.from_replicates((draws + offset) * step), estimate


@st.composite
def continuous_samples(draw):
    n_resamples = draw(st.sampled_from([39, 40, 57, 401, 999, 9999]))
    shift = draw(st.floats(-4, 4))
    generator = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    replicates = generator.gamma(draw(st.sampled_from([1.0, 5.0])), size=n_resamples)
    return Sample.from_replicates(replicates - shift), float(generator.gamma(5.0) - shift)


@st.composite
def exact_samples(draw):
    values = np.array(draw(st.lists(st.integers(-5, 5), min_size=2, max_size=9, unique=True)))
    multiplicities = draw(
        st.lists(st.integers(1, 10**6), min_size=values.size, max_size=values.size)
    )
    as_floats = draw(st.booleans())
    weights = np.array(multiplicities)
    return (
        Sample.from_exact(values / 5, weights / weights.sum() if as_floats else weights),
        float(draw(st.sampled_from(list(values)))) / 5,
    )


samples = lattice_samples() | continuous_samples() | exact_samples()
accelerations = st.floats(-0.6, 0.6) | st.sampled_from([0.0, -1.5, 1.5])


# --- interval and p-value are one -------------------------------------------------------------


@pytest.mark.parametrize("alternative", ALTERNATIVES)
@pytest.mark.parametrize("method", METHODS)
@given(drawn=samples, acceleration=accelerations)
@max_examples(60)
def test_interval_excludes_zero_exactly_when_p_is_at_most_alpha(
    method, alternative, drawn, acceleration
):
    sample, estimate = drawn
    assume(not sample.is_constant)
    basis = basis_of(sample, estimate, acceleration)
    options = {"method": method, "alternative": alternative, "basis": basis}
    assert_agrees(sample, estimate, **options)
    assert_inverts(sample, estimate, **options)


def touching_cases():
    """All cases in which (B - 1) alpha / 2, or (B - 1) alpha for one side, is an integer."""
    for n_resamples in [41, 81, 101, 201, 401, 1001, 2001, 4001, 9001]:
        for confidence_level in ["0.8", "0.9", "0.95", "0.98", "0.99"]:
            for alternative in ALTERNATIVES:
                tail = (1 - Fraction(confidence_level)) / n_tails(alternative)
                position = (n_resamples - 1) * tail
                if position.denominator == 1:
                    yield n_resamples, float(confidence_level), alternative, int(position)


@pytest.mark.parametrize("method", ["percentile", "basic"])
@pytest.mark.parametrize(
    ("n_resamples", "confidence_level", "alternative", "position"), list(touching_cases())
)
def test_an_end_that_touches_zero_does_not_exclude_it(
    n_resamples, confidence_level, alternative, position, method
):
    """The replicate at the position of the interval's end is zero."""
    sign = -1 if alternative == "less" else 1
    replicates = sign * (np.arange(n_resamples) - position) * 0.1
    estimate = 0.0
    if method == "basic":
        estimate = sign * 3.0
        replicates = 2 * estimate - replicates
    sample = Sample.from_replicates(replicates)
    options = {"method": method, "alternative": alternative}
    result = interval(sample, estimate, confidence_level=confidence_level, **options)
    assert (result.high if sign < 0 else result.low) == pytest.approx(0.0, abs=1e-10)
    tails = n_tails(alternative)
    assert result.p_value == pytest.approx(tails * position / (n_resamples - 1), rel=1e-9)
    assert_agrees(sample, estimate, **options)


@pytest.mark.parametrize("n_resamples", [41, 81, 401, 1001, 2001])
def test_touching_lower_end_is_exactly_zero_at_95_percent(n_resamples):
    """Here 1 - 0.95 in floating point would put the end above zero."""
    position = (n_resamples - 1) // 40
    sample = Sample.from_replicates(np.arange(n_resamples) - position)
    result = interval(sample, 1.0, method="percentile", confidence_level=0.95)
    assert result.low == 0.0
    assert result.p_value == math.nextafter(0.05, 1)


@pytest.mark.parametrize("n_resamples", [41, 81, 401, 1001, 2001])
def test_p_found_at_another_level_knows_that_touching_is_not_excluding(n_resamples):
    sample = Sample.from_replicates(np.arange(n_resamples) - (n_resamples - 1) // 40)
    p_value = interval(sample, 1.0, method="percentile", confidence_level=0.8).p_value
    assert p_value == math.nextafter(0.05, 1)


def test_the_interval_has_the_last_word_over_rounding():
    """The inverse distribution function reaches -1 at 0.975; summing the rest gives 0.025 + 2e-17.

    Either is right up to rounding, but interval and p-value must say the same.
    """
    sample = Sample.from_exact([-1.0, 1.0], [0.975, 0.025])
    assert 2 * sample.position_leaving_high(0.0) / (sample.size - 1) > 0.05
    result = interval(sample, -0.95, method="percentile", confidence_level=0.95)
    assert ends(result) == (-1.0, -1.0)
    assert result.p_value == 0.05


def literal_percentile_p(replicates, alternative):
    """Smallest alpha by bisection over rational levels, from quantiles in rational numbers."""
    ordered = sorted(Fraction(value) for value in replicates)

    def quantile(level):
        position = (len(ordered) - 1) * level
        below = min(math.floor(position), len(ordered) - 2)
        return ordered[below] + (ordered[below + 1] - ordered[below]) * (position - below)

    tails = n_tails(alternative)
    lowest, highest = Fraction(tails, len(ordered) + 1), Fraction(1)
    for _ in range(50):
        alpha = (lowest + highest) / 2
        above = alternative != "less" and quantile(alpha / tails) > 0
        below = alternative != "greater" and quantile(1 - alpha / tails) < 0
        lowest, highest = (lowest, alpha) if above or below else (alpha, highest)
    return float(highest)


@pytest.mark.parametrize("alternative", ALTERNATIVES)
@given(values=st.lists(st.integers(-3, 9), min_size=3, max_size=60))
@max_examples(40)
def test_percentile_p_against_bisection_in_rational_numbers(alternative, values):
    assume(len(set(values)) > 1)
    result = interval(
        Sample.from_replicates(values),
        0.0,
        method="percentile",
        confidence_level=0.5,
        alternative=alternative,
    )
    assert result.p_value == pytest.approx(literal_percentile_p(values, alternative), rel=1e-12)


def test_p_by_hand():
    """Of 100 replicates 3 are below zero and 1 is zero: zero is left at position 3."""
    replicates = np.concatenate([[-3, -2, -1, 0], np.arange(1, 97)])
    sample = Sample.from_replicates(replicates)
    p_values = [
        interval(
            sample, 50.0, method="percentile", confidence_level=0.95, alternative=alternative
        ).p_value
        for alternative in ALTERNATIVES
    ]
    assert p_values == pytest.approx([2 * 3 / 99, 3 / 99, 96 / 99], rel=1e-14)


@pytest.mark.parametrize("method", METHODS)
def test_p_is_never_zero(method):
    sample = Sample.from_replicates(np.linspace(1, 2, 99))
    for alternative, floor in [("two-sided", 2 / 100), ("greater", 1 / 100)]:
        result = interval(
            sample,
            1.5,
            method=method,
            confidence_level=0.95,
            alternative=alternative,
            basis=basis_of(sample, 1.5),
        )
        if method == "t":  # whose tails are those of a law
            assert 0 < result.p_value < 1e-3
        elif method == "expanded":
            share = Expansion(40).tail(1 / 100)
            assert result.p_value == pytest.approx(floor * 100 * share)
            assert 1 / 100 < share < 2 / 100
        elif method == "normal":
            assert floor <= result.p_value < floor + 1e-12
        else:
            assert result.p_value == floor
    exact = Sample.from_exact([1.0, 2.0, 3.0], [1, 2, 1])
    assert interval(exact, 2.0, method="percentile", confidence_level=0.4).p_value == 2 / 4


def test_below_the_least_number_of_replicates_p_stays_at_its_floor():
    result = interval(
        Sample.from_replicates(np.arange(1.0, 21.0)),
        10.0,
        method="percentile",
        confidence_level=0.95,
    )
    assert result.low > 0
    assert result.p_value == 2 / 21


# --- ends -------------------------------------------------------------------------------------


@pytest.mark.parametrize("confidence_level", [0.8, 0.9, 0.95, 0.99])
def test_ends_against_numpy_and_scipy(confidence_level):
    replicates = np.random.default_rng(3).gamma(3.0, size=999) - 1
    estimate = 1.7
    alpha = alpha_of(confidence_level)
    low, high = np.quantile(replicates, [alpha / 2, 1 - alpha / 2])
    sample = Sample.from_replicates(replicates)

    percentile = interval(sample, estimate, method="percentile", confidence_level=confidence_level)
    assert ends(percentile) == (low, high)
    basic = interval(sample, estimate, method="basic", confidence_level=confidence_level)
    assert_allclose(ends(basic), [2 * estimate - high, 2 * estimate - low], rtol=1e-12)
    normal = interval(sample, estimate, method="normal", confidence_level=confidence_level)
    assert_allclose(
        ends(normal),
        stats.norm.interval(confidence_level, estimate, replicates.std(ddof=1)),
        rtol=1e-12,
    )
    for result, method in [(percentile, "percentile"), (basic, "basic"), (normal, "normal")]:
        assert result.std_error == pytest.approx(replicates.std(ddof=1), rel=1e-13)
        assert (result.method, result.status, result.reason) == (method, "ok", "")


@pytest.mark.parametrize("estimate", [-0.3, 0.2, 0.5])
def test_normal_p_is_the_wald_test(estimate):
    replicates = np.random.default_rng(4).normal(estimate, 0.25, size=9999)
    sample, ratio = Sample.from_replicates(replicates), estimate / replicates.std(ddof=1)
    expected = {
        "two-sided": 2 * stats.norm.sf(abs(ratio)),
        "greater": stats.norm.sf(ratio),
        "less": stats.norm.cdf(ratio),
    }
    for alternative, p_value in expected.items():
        result = interval(
            sample, estimate, method="normal", confidence_level=0.9, alternative=alternative
        )
        floor = n_tails(alternative) / 10_000
        assert result.p_value == pytest.approx(max(p_value, floor), rel=1e-12)


@pytest.mark.parametrize("method", METHODS)
def test_one_sided_intervals_put_alpha_in_one_tail(method):
    replicates = np.random.default_rng(5).normal(0.3, size=399)
    sample = Sample.from_replicates(replicates)
    options = {"method": method, "basis": basis_of(sample, 0.3, 0.05)}
    two_sided = interval(sample, 0.3, confidence_level=0.9, **options)
    greater = interval(sample, 0.3, confidence_level=0.95, alternative="greater", **options)
    less = interval(sample, 0.3, confidence_level=0.95, alternative="less", **options)
    assert_allclose(ends(greater), (two_sided.low, math.inf), rtol=1e-12)
    assert_allclose(ends(less), (-math.inf, two_sided.high), rtol=1e-12)


def test_exact_percentile_and_basic_of_reference():
    for method in ("percentile", "basic"):
        result = interval(REFERENCE, 0.2, method=method, confidence_level=0.95)
        assert_allclose(ends(result), (-0.4, 0.8), rtol=1e-14)
        assert result.std_error == pytest.approx(0.3346640106136302, rel=1e-14)
    result = interval(REFERENCE, 0.2, method="percentile", confidence_level=0.99)
    assert_allclose(ends(result), (-0.6, 1.0), rtol=1e-14)
    assert result.p_value == pytest.approx(2 * 1172 / 3124, rel=1e-14)


def test_exact_bca_of_reference():
    result = interval(
        REFERENCE,
        0.2,
        method="bca",
        confidence_level=0.95,
        basis=Basis(acceleration=REFERENCE_ACCELERATION),
    )
    assert_allclose(ends(result), (-0.6, 0.8), rtol=1e-14)
    assert (result.method, result.status, result.reason) == ("bca", "ok", "")


def literal_bca_levels(share_below, acceleration, alpha):
    """SciPy's formula: levels of both ends."""
    z0 = stats.norm.ppf(share_below)
    sums = z0 + stats.norm.ppf([alpha / 2, 1 - alpha / 2])
    return stats.norm.cdf(z0 + sums / (1 - acceleration * sums))


def test_bca_levels_of_reference():
    levels = literal_bca_levels(1533 / 3125, REFERENCE_ACCELERATION, 0.05)
    assert_allclose(levels, [0.017280476289769364, 0.9657076310983783], rtol=1e-12)
    # Replicates on a fine grid show the levels themselves.
    grid = Sample.from_replicates(np.linspace(0, 1, 100_001))
    result = interval(
        grid,
        1533 / 3125,
        method="bca",
        confidence_level=0.95,
        basis=Basis(acceleration=REFERENCE_ACCELERATION),
    )
    assert_allclose(ends(result), levels, rtol=1e-4)


@pytest.mark.parametrize("confidence_level", [0.8, 0.95, 0.99])
@pytest.mark.parametrize("lattice", [False, True])
def test_bca_of_a_mean_is_scipys(confidence_level, lattice):
    generator = np.random.default_rng(11)
    data = generator.integers(0, 4, 30).astype(float) if lattice else generator.gamma(2, size=30)
    expected = stats.bootstrap(
        (data,),
        np.mean,
        n_resamples=1999,
        confidence_level=confidence_level,
        method="BCa",
        random_state=0,
    )
    leave_one_out = (data.sum() - data) / (data.size - 1)
    result = interval(
        Sample.from_replicates(expected.bootstrap_distribution),
        data.mean(),
        method="bca",
        confidence_level=confidence_level,
        basis=Basis(acceleration=acceleration(leave_one_out)),
    )
    assert_allclose(ends(result), tuple(expected.confidence_interval), rtol=1e-12)
    assert result.std_error == pytest.approx(expected.standard_error, rel=1e-12)


def test_bca_without_bias_and_acceleration_is_percentile():
    sample = Sample.from_replicates(np.arange(-50, 151) / 7)
    options = {"confidence_level": 0.95}
    bca = interval(sample, 50 / 7, method="bca", basis=Basis(acceleration=0.0), **options)
    percentile = interval(sample, 50 / 7, method="percentile", **options)
    assert_allclose(ends(bca), ends(percentile), rtol=1e-12)
    assert bca.p_value == pytest.approx(percentile.p_value, rel=1e-12)


# --- equivariance -----------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
@given(drawn=samples, acceleration=accelerations)
@max_examples(60)
def test_mirror_symmetry(method, drawn, acceleration):
    sample, estimate = drawn
    assume(not sample.is_constant and not sample._is_weighted_by_floats)
    mirrored = sample.reflected(0.0)
    for alternative, opposite in [("two-sided",) * 2, ("greater", "less"), ("less", "greater")]:
        options = {"method": method, "confidence_level": 0.9}
        result = interval(
            sample,
            estimate,
            alternative=alternative,
            basis=basis_of(sample, estimate, acceleration),
            **options,
        )
        mirror = interval(
            mirrored,
            -estimate,
            alternative=opposite,
            basis=basis_of(mirrored, -estimate, -acceleration),
            **options,
        )
        assert_allclose(ends(mirror), (-result.high, -result.low), rtol=1e-9, atol=1e-9)
        assert mirror.p_value == pytest.approx(result.p_value, rel=1e-9)
        assert (mirror.method, mirror.status) == (result.method, result.status)


@pytest.mark.parametrize("method", METHODS)
@given(drawn=continuous_samples(), shift=st.floats(-5, 5), scale=st.sampled_from([1e-3, 0.5, 8]))
@max_examples(40)
def test_shift_and_scale_equivariance(method, drawn, shift, scale):
    sample, estimate = drawn

    def found(values, estimate):
        sample = Sample.from_replicates(values)
        basis = basis_of(sample, estimate, 0.1)
        return interval(sample, estimate, method=method, confidence_level=0.95, basis=basis)

    result = found(sample.values, estimate)
    moved = found(sample.values * scale + shift, estimate * scale + shift)
    # An estimate among the replicates may tie with one of them before and not after.
    assume(moved.method == result.method)
    assert_allclose(
        ends(moved), np.array(ends(result)) * scale + shift, rtol=1e-9, atol=1e-9 * scale
    )
    scaled = found(sample.values * scale, estimate * scale)
    assert scaled.p_value == pytest.approx(result.p_value, rel=1e-9)


@pytest.mark.parametrize("alternative", ALTERNATIVES)
@pytest.mark.parametrize("method", METHODS)
@given(drawn=samples, acceleration=st.floats(-0.2, 0.2))
@max_examples(40)
def test_a_higher_level_gives_a_wider_interval(method, alternative, drawn, acceleration):
    sample, estimate = drawn
    assume(not sample.is_constant)
    basis = basis_of(sample, estimate, acceleration)
    options = {"method": method, "alternative": alternative, "basis": basis}
    previous = None
    for confidence_level in CONFIDENCE_LEVELS:
        result = interval(sample, estimate, confidence_level=confidence_level, **options)
        if result.method != method:
            break
        if previous is not None:
            assert result.low <= previous.low + 1e-12
            assert result.high >= previous.high - 1e-12
        previous = result


def test_case_C37_width_does_not_shrink_with_more_replicates():
    widths = []
    for n_resamples in (499, 1999, 9999):
        replicates = stats.norm.ppf((np.arange(n_resamples) + 0.5) / n_resamples) * 0.1
        for method in METHODS:
            basis = basis_of(Sample.from_replicates(replicates), 0.0)._replace(
                std_error=0.1,
                df=1e6,
                pivots=Sample.from_replicates(replicates),
                expansion=Expansion(10**6),
            )
            result = interval(
                Sample.from_replicates(replicates),
                0.0,
                method=method,
                confidence_level=0.95,
                basis=basis,
            )
            widths.append(result.high - result.low)
    assert_allclose(widths, 2 * 1.96 * 0.1, rtol=0.03)


# --- degenerate and undefined -----------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
def test_case_C29_constant_replicates(method):
    """The mean of ten ones."""
    result = interval(
        Sample.from_replicates(np.ones(999)),
        1.0,
        method=method,
        confidence_level=0.95,
        basis=Basis(acceleration=acceleration(np.ones(10))),
    )
    assert ends(result) == (1.0, 1.0)
    assert result.std_error == 0.0
    assert math.isnan(result.p_value)
    assert result.status == "degenerate"
    assert result.reason == "all replicates are equal"


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    "sample", [Sample.from_replicates(np.zeros(999)), Sample.from_exact([0.0], [6**6])]
)
def test_case_C44_two_perfect_models(method, sample):
    result = interval(
        sample, 0.0, method=method, confidence_level=0.95, basis=basis_of(sample, 0.0)
    )
    assert ends(result) == (0.0, 0.0)
    assert result.p_value == 1.0
    assert result.std_error == 0.0
    assert result.status == "degenerate"


def test_constant_replicates_one_sided():
    sample = Sample.from_replicates(np.full(99, 0.5))
    options = {"method": "percentile", "confidence_level": 0.95}
    assert ends(interval(sample, 0.5, alternative="greater", **options)) == (0.5, math.inf)
    assert ends(interval(sample, 0.5, alternative="less", **options)) == (-math.inf, 0.5)


@pytest.mark.parametrize("factor", [1e-200, 1e200])
def test_spread_too_small_or_large_to_square_is_an_ordinary_one(factor):
    values = np.array([1.0, 2.0] * 50)
    usual = interval(Sample.from_replicates(values), 1.0, method="normal", confidence_level=0.95)
    scaled = interval(
        Sample.from_replicates(values * factor), factor, method="normal", confidence_level=0.95
    )
    assert scaled.status == "ok"
    assert scaled.std_error / factor == pytest.approx(usual.std_error, rel=1e-12)
    assert scaled.p_value == pytest.approx(usual.p_value, rel=1e-12)


def test_case_C30_equal_leave_one_out_values_mean_no_acceleration():
    """The median of [1, 2, 3, 3, 4, 5]."""
    data = np.array([1.0, 2, 3, 3, 4, 5])
    leave_one_out = [np.median(np.delete(data, i)) for i in range(data.size)]
    assert leave_one_out == [3.0] * 6
    assert acceleration(leave_one_out) == 0.0

    rows = np.random.default_rng(0).integers(0, 6, (999, 6))
    replicates = np.median(data[rows], axis=1)
    result = interval(
        Sample.from_replicates(replicates),
        3.0,
        method="bca",
        confidence_level=0.95,
        basis=Basis(acceleration=0.0),
    )
    share = np.mean(replicates < 3) + np.mean(replicates == 3) / 2
    expected = np.quantile(replicates, literal_bca_levels(share, 0.0, 0.05))
    assert_allclose(ends(result), expected, rtol=1e-12)
    assert (result.method, result.status) == ("bca", "ok")
    assert result.reason == "the acceleration is zero: bias correction alone"


@pytest.mark.parametrize(
    ("estimate", "acceleration", "reason"),
    [
        (0.5, None, "there are no leave-one-out values of the resampling unit"),
        (0.5, math.nan, "a leave-one-out value is undefined"),
        (1.5, 0.0, "all replicates lie on one side of the estimate"),
        (-0.5, 0.0, "all replicates lie on one side of the estimate"),
        (0.5, 0.7, "the acceleration 0.7 is too large at this confidence level"),
        (0.5, -0.7, "the acceleration -0.7 is too large at this confidence level"),
    ],
)
def test_bca_falls_back_to_percentile_and_says_why(estimate, acceleration, reason):
    sample = Sample.from_replicates(np.linspace(0, 1, 101) - 0.02)
    options = {"confidence_level": 0.95}
    result = interval(
        sample, estimate, method="bca", basis=Basis(acceleration=acceleration), **options
    )
    percentile = interval(sample, estimate, method="percentile", **options)
    assert result[:5] == percentile[:5]
    assert result.method == "percentile"
    assert result.status == "percentile (bca undefined)"
    assert result.reason == reason


def test_bca_falls_back_for_the_end_in_use_alone():
    sample = Sample.from_replicates(np.linspace(0, 1, 101))
    options = {"method": "bca", "confidence_level": 0.95, "basis": Basis(acceleration=0.7)}
    assert interval(sample, 0.5, alternative="greater", **options).method == "bca"
    assert interval(sample, 0.5, alternative="less", **options).method == "percentile"


@pytest.mark.parametrize("shift", [0.02, 0.98])
@pytest.mark.parametrize("acceleration", [-0.45, 0.45])
def test_bca_p_where_a_level_is_out_of_reach(shift, acceleration):
    """Here 1 + a w <= 0 for one of the ends: it is always, or never, past zero."""
    w = stats.norm.ppf(shift)
    assert min(1 + acceleration * w, 1 - acceleration * w) < 0.1
    sample = Sample.from_replicates(np.linspace(0, 1, 2001) - shift)
    for alternative in ALTERNATIVES:
        basis = Basis(acceleration=acceleration)
        options = {"method": "bca", "basis": basis, "alternative": alternative}
        assert_agrees(sample, 0.5 - shift, **options)
        assert_inverts(sample, 0.5 - shift, **options)


def test_bca_treats_levels_next_to_zero_and_to_one_alike():
    """The smallest replicate is zero; BCa takes it as the end where its level is below 2**-53."""
    sample = Sample.from_replicates(np.repeat(np.arange(6.0), [1, 5, 13, 13, 5, 2]))
    bias = stats.norm.ppf(12.5 / 39)
    w = stats.norm.ppf(2.0**-53) - bias
    p_value = stats.norm.cdf(w / (1 - 0.5 * w) - bias)
    for confidence_level in (0.5, 0.8, 0.9):
        options = {"method": "bca", "confidence_level": confidence_level}
        result = interval(
            sample, 2.0, basis=Basis(acceleration=-0.5), alternative="greater", **options
        )
        mirror = interval(
            sample.reflected(0.0),
            -2.0,
            basis=Basis(acceleration=0.5),
            alternative="less",
            **options,
        )
        assert result.method == mirror.method == "bca"
        assert_allclose(mirror.high, -result.low, rtol=1e-12, atol=1e-14)
        assert result.p_value == pytest.approx(p_value, rel=1e-9)
        assert mirror.p_value == pytest.approx(p_value, rel=1e-9)


# --- acceleration -----------------------------------------------------------------------------


def test_acceleration_of_reference():
    assert acceleration([0, 1 / 4, 0, 1 / 4, 1 / 2]) == pytest.approx(
        REFERENCE_ACCELERATION, rel=1e-13
    )


def test_acceleration_of_a_mean_is_its_skewness():
    """For a mean a = skewness / (6 sqrt(n))."""
    data = np.random.default_rng(8).gamma(1.0, size=50)
    leave_one_out = (data.sum() - data) / 49
    assert acceleration(leave_one_out) == pytest.approx(
        stats.skew(data) / (6 * math.sqrt(50)), rel=1e-11
    )


def literal_acceleration(leave_one_out, stratum):
    cubes = squares = 0.0
    for h in set(stratum):
        values = [v for v, s in zip(leave_one_out, stratum, strict=True) if s == h]
        n_h = len(values)
        for value in values:
            influence = (n_h - 1) * (sum(values) / n_h - value)
            cubes += (influence / n_h) ** 3
            squares += (influence / n_h) ** 2
    return cubes / squares**1.5 / 6


@given(st.integers(2, 30), st.integers(1, 4), st.integers(0, 1000))
def test_acceleration_against_a_literal_loop(n_units, n_strata, seed):
    generator = np.random.default_rng(seed)
    stratum = generator.integers(0, n_strata, n_units)
    stratum[:2] = 0
    leave_one_out = generator.gamma(2.0, size=n_units)
    expected = literal_acceleration(leave_one_out.tolist(), stratum.tolist())
    assert acceleration(leave_one_out, stratum) == pytest.approx(expected, rel=1e-9, abs=1e-12)


@given(st.lists(st.floats(-1, 1), min_size=2, max_size=20), st.sampled_from([1e-200, 0.5, -3.0]))
def test_acceleration_depends_on_the_sign_of_the_scale_alone(values, scale):
    values = np.round(values, 3)
    expected = acceleration(values) * math.copysign(1, scale)
    assert acceleration(values * scale) == pytest.approx(expected, rel=1e-6, abs=1e-9)


def test_acceleration_of_values_equal_up_to_rounding_is_zero():
    assert acceleration([0.1 + 0.2, 0.3, 0.3]) == 0.0
    assert acceleration(np.full(7, 0.1)) == 0.0
    assert acceleration([0.0, 0.0]) == 0.0


def test_acceleration_with_an_undefined_value():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert math.isnan(acceleration([0.1, math.nan, 0.3]))
        assert math.isnan(acceleration([0.1, math.nan, 0.3, 0.2], np.array([0, 0, 1, 1])))


def test_acceleration_ignores_a_stratum_of_one_unit():
    values = [0.1, 0.5, 0.2, math.nan]
    assert acceleration(values, np.array([0, 0, 0, 1])) == acceleration(values[:3])
    assert acceleration([math.nan, 1.0], np.array([0, 1])) == 0.0


# --- levels and names -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("confidence_level", "alternative", "least"),
    [
        (0.95, "two-sided", 39),
        (0.95, "greater", 19),
        (0.95, "less", 19),
        (0.9, "two-sided", 19),
        (0.99, "two-sided", 199),
        (0.999, "two-sided", 1999),
        (0.975, "two-sided", 79),
        (0.5, "two-sided", 3),
    ],
)
def test_case_C41_least_number_of_resamples(confidence_level, alternative, least):
    check_alpha(least, confidence_level, alternative)
    message = (
        rf"^`n_resamples` must be at least {least} for `confidence_level`={confidence_level}, "
        rf"got {least - 1}\. Draw more resamples or lower the confidence level\.$"
    )
    with pytest.raises(ValueError, match=message):
        check_alpha(least - 1, confidence_level, alternative)
    # With the least number the smallest p-value is alpha itself.
    sample = Sample.from_replicates(np.arange(1.0, least + 1))
    result = interval(
        sample,
        1.0,
        method="percentile",
        confidence_level=confidence_level,
        alternative="greater" if alternative == "greater" else "two-sided",
    )
    if alternative != "less":
        assert result.p_value == alpha_of(confidence_level)


@pytest.mark.parametrize(
    ("confidence_level", "alpha"),
    [(0.95, 0.05), (0.9, 0.1), (0.99, 0.01), (0.999, 0.001), (np.float64(0.8), 0.2), (0.5, 0.5)],
)
def test_alpha_is_the_written_one(confidence_level, alpha):
    assert alpha_of(confidence_level) == alpha


def test_unknown_names():
    sample = Sample.from_replicates([0.0, 1.0])
    message = r"^`method` must be one of \('percentile', .*, 't', 'expanded'\), got 'student'\.$"
    with pytest.raises(ValueError, match=message):
        interval(sample, 0.0, method="student", confidence_level=0.9)
    message = r"^`alternative` must be one of \('two-sided', 'greater', 'less'\), got 'better'\.$"
    with pytest.raises(ValueError, match=message):
        interval(sample, 0.0, method="percentile", confidence_level=0.9, alternative="better")
    with pytest.raises(ValueError, match=message):
        check_alpha(99, 0.95, "better")
