"""Laws of sums by convolution: against Python integers, decimals, scipy and literal sequences."""

import itertools
import math
from collections import Counter
from decimal import Decimal, localcontext

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from examples import max_examples
from sklearn_pairboot._engine import convolution
from sklearn_pairboot._engine.convolution import (
    MOST_POINTS,
    Draws,
    TooManyPointsError,
    law_of_sum,
)
from sklearn_pairboot._engine.sample import LARGEST_COUNT, LEAST_TAIL


def draws(numbers, multiplicity):
    numbers = np.asarray(numbers)
    return Draws(numbers.reshape(len(numbers), -1), np.asarray(multiplicity))


def by_sequences(parts):
    """Count the sums of all sequences of draws, one by one."""
    units = [np.repeat(part.numbers, part.multiplicity, axis=0).tolist() for part in parts]
    of_parts = [itertools.product(of_part, repeat=len(of_part)) for of_part in units]
    return Counter(
        tuple(np.sum([drawn for sequence in one for drawn in sequence], axis=0).tolist())
        for one in itertools.product(*of_parts)
    )


def by_value(law):
    places = np.argwhere(law.weights)
    weights = law.weights[tuple(places.T)]
    sums = map(tuple, (places + law.lowest).tolist())
    return dict(zip(sums, weights.tolist(), strict=True))


def by_integers(values, times):
    """Coefficients of the power of a polynomial, packed into one Python integer (Kronecker)."""
    n = sum(times)
    bits = n * n.bit_length() + 1
    low = min(values)
    packed = sum(m << bits * (v - low) for v, m in zip(values, times, strict=True)) ** n
    size = n * (max(values) - low) + 1
    whole = (packed >> bits * k & (1 << bits) - 1 for k in range(size))
    return n * low, np.array([count / n**n for count in whole])


def check_against(law, low, expected):
    """No probability, and no tail from either end, is off by more than is claimed."""
    found = np.zeros(len(expected))
    start = int(law.lowest[0]) - low
    found[start : start + len(law.weights)] = law.weights
    for turn in (1, -1):
        off = np.abs(np.cumsum(found[::turn]) - np.cumsum(expected[::turn]))
        assert off.max() < LEAST_TAIL / 5
    assert np.abs(found - expected).max() < LEAST_TAIL / 5


@given(
    st.lists(
        st.lists(st.tuples(st.integers(-3, 3), st.integers(-2, 2)), min_size=1, max_size=3),
        min_size=1,
        max_size=2,
    ),
    st.booleans(),
)
@max_examples(40)
def test_counts_equal_all_sequences(strata, ratio):
    parts = [
        draws(units if ratio else [number for number, _ in units], np.ones(len(units), np.int64))
        for units in strata
    ]
    law = law_of_sum(parts)
    assert law.weights.dtype == np.int64
    assert by_value(law) == by_sequences(parts)


@given(st.lists(st.tuples(st.integers(-4, 4), st.integers(0, 2)), min_size=2, max_size=6))
@max_examples(40)
def test_transforms_equal_counts(units):
    numbers = np.array([number for number, _ in units])
    parts = [
        draws(numbers[members], np.ones(len(members), np.int64))
        for stratum in range(3)
        if len(members := [k for k, (_, of_it) in enumerate(units) if of_it == stratum])
    ]
    counted = law_of_sum(parts)
    low = counted.lowest
    high = low + np.array(counted.weights.shape) - 1
    expected = counted.weights / counted.weights.sum()
    for powers in (convolution._powers, convolution._precise_powers):
        shape = tuple(2 * size + 1 for size in counted.weights.shape)
        centred = [part._replace(numbers=part.numbers - part.numbers.min()) for part in parts]
        pmf = np.fft.irfft(powers(centred, shape), *shape)[: counted.weights.size]
        np.testing.assert_allclose(pmf, expected, rtol=0, atol=1e-14)
    found = convolution._by_transform(parts, low, high)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-14)


@pytest.mark.parametrize(
    ("values", "times"),
    [
        ([0, 1], [1, 299]),
        ([-1, 0, 1], [20, 140, 40]),
        ([0, 3, 7], [98, 1, 1]),  # gaps at both ends
        ([0, 1, 50], [40, 1, 2]),
        ([5, 6, 8, 11], [40, 30, 20, 10]),
        ([-9], [100]),
    ],
)
def test_probabilities_and_tails_equal_powers_of_integers(values, times):
    law = law_of_sum([draws(values, times)])
    assert law.weights.dtype == np.float64
    check_against(law, *by_integers(values, times))


def binomial(n, k, size, low):
    """Bin(n, k / n) to 40 digits from the ratio of neighbours, which scipy gives to 1e-11 only."""
    with localcontext() as context:
        context.prec = 40
        odds = Decimal(k) / (n - k)
        found = {k: Decimal(1)}
        for j in range(k, low + size - 1):
            found[j + 1] = found[j] * (n - j) / (j + 1) * odds
        for j in range(k, low, -1):
            found[j - 1] = found[j] * j / (n - j + 1) / odds
        total = sum(found.values())
        return np.array([float(found[j] / total) for j in range(low, low + size)])


@pytest.mark.parametrize(
    ("n", "k"),
    [(14, 3), (999, 614), (1001, 2), (10_000, 5005), (100_000, 90), (100_000, 49_876)],
)
def test_scores_of_0_and_1_are_binomial(n, k):
    law = law_of_sum([draws([0, 1], [n - k, k])])
    low, size = int(law.lowest[0]), len(law.weights)
    check_against(law, low, binomial(n, k, size, low))
    places = low + np.arange(size)
    np.testing.assert_allclose(law.weights, stats.binom.pmf(places, n, k / n), rtol=0, atol=1e-12)
    # What lies outside of the window is too improbable to matter.
    outside = stats.binom.cdf(low - 1, n, k / n) + stats.binom.sf(low + size - 1, n, k / n)
    assert outside < LEAST_TAIL / 50


def test_two_axes_are_multinomial():
    n = 60
    times = np.array([10, 20, 30])
    law = law_of_sum([draws([[0, 0], [1, 0], [0, 1]], times)])
    first, second = np.indices(law.weights.shape) + law.lowest[:, None, None]
    third = n - first - second
    expected = stats.multinomial.pmf(
        np.stack([np.maximum(third, 0), first, second], axis=-1), n, times / n
    )
    np.testing.assert_allclose(
        law.weights, np.where(third < 0, 0, expected), rtol=0, atol=LEAST_TAIL / 5
    )
    assert expected[third >= 0].sum() > 1 - LEAST_TAIL / 5


def test_strata_and_opposite_signs_are_convolved():
    # The difference of two binomials, and one of three strata, by scipy's sums of products.
    ways = [([0, 1], [30, 50]), ([0, -1], [60, 20]), ([2, 0], [11, 9])]
    law = law_of_sum([draws(*way) for way in ways])
    expected, low = np.ones(1), 0
    for values, times in ways:
        first, one = by_integers(values, times)
        expected, low = np.convolve(expected, one), low + first
    check_against(law, low, expected)


def test_precise_powers_are_needed_and_enough():
    n, k = 1_000_000, 300_000
    law = law_of_sum([draws([0, 1], [n - k, k])])
    size, low = len(law.weights), int(law.lowest[0])
    part = [draws([0, 1], [n - k, k])]
    plain = np.fft.irfft(convolution._powers(part, (size,)), size)
    plain = np.roll(plain, -(low % size))
    expected = np.cumsum(binomial(n, k, size, low))
    assert np.abs(np.cumsum(law.weights) - expected).max() < LEAST_TAIL / 5
    assert np.abs(np.cumsum(plain) - expected).max() > LEAST_TAIL


def test_integers_where_sequences_fit_into_2_to_the_53():
    for n in (13, 14):
        law = law_of_sum([draws(np.arange(n), np.ones(n, np.int64))])
        assert (law.weights.dtype == np.int64) == (n**n <= LARGEST_COUNT)
    assert law_of_sum([draws([0, 1], [1, 1])] * 26).weights.sum() == 2**52


def test_a_window_of_moderate_size_covers_many_draws():
    law = law_of_sum([draws([0, 1, 2], [30_000, 40_000, 30_000])])
    sd = math.sqrt(100_000 * 0.6)
    assert len(law.weights) < 18 * sd
    assert law.weights.sum() == pytest.approx(1, abs=1e-15)
    places = int(law.lowest[0]) + np.arange(len(law.weights))
    mean = law.weights @ places
    assert mean == pytest.approx(100_000, abs=1e-9)
    assert law.weights @ (places - mean) ** 2 == pytest.approx(sd**2, rel=1e-10)


def test_refused_before_any_allocation(monkeypatch):
    def refuse(*args, **kwargs):
        raise AssertionError("allocated before the check")

    part = draws([0, 1, 10**6], [500, 250, 250])
    monkeypatch.setattr(convolution, "_by_transform", refuse)
    with pytest.raises(TooManyPointsError, match=f"points, and {MOST_POINTS:,} are the most$"):
        law_of_sum([part])
    monkeypatch.undo()
    monkeypatch.setattr(convolution, "_MOST_TERMS", 10)
    with pytest.raises(TooManyPointsError, match="terms of its transform, and 10 are the most$"):
        law_of_sum([draws([0, 1], [1000, 1000])])
