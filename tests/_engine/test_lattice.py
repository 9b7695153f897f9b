"""Common steps of numbers, and counts of their signed sums against literal enumeration."""

import itertools
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sklearn_pairboot._engine.flips import count_sums_at_least
from sklearn_pairboot._engine.lattice import MOST_WORK, _Packed, count_at_least, in_steps


def sums_of(sizes):
    """How often each signed sum occurs, one number after the other."""
    counts = Counter([0])
    for size in sizes:
        counts = Counter(
            {
                total: counts[total - size] + counts[total + size]
                for total in {t + s for t in counts for s in (size, -size)}
            }
        )
    return counts


@given(st.lists(st.integers(1, 9), min_size=1, max_size=11), st.integers(-100, 100))
def test_few_numbers_equal_the_enumeration_of_all_signs(sizes, least):
    signs = np.array(list(itertools.product([-1, 1], repeat=len(sizes))))
    expected = np.count_nonzero(signs @ sizes >= least)
    assert count_at_least(np.array(sizes), least) == expected
    assert count_sums_at_least(np.array(sizes, dtype=float), least - 0.5) == expected


# All equal, two values, a few, and too many for a recurrence.
@pytest.mark.parametrize("largest", [1, 2, 5, 30, 4000])
@pytest.mark.parametrize("n", [63, 90, 131])
def test_many_numbers_equal_counts_in_python_integers(n, largest):
    sizes = np.random.default_rng(n + largest).integers(1, largest + 1, n)
    expected = sums_of(sizes.tolist())
    total = int(sizes.sum())
    for least in (-total - 1, -total, -7, 0, 1, 12, total // 5, total - 2, total, total + 1):
        tail = sum(count for value, count in expected.items() if value >= least)
        assert count_at_least(sizes, least) == tail


def test_all_counts_add_up_to_all_signs():
    sizes = np.random.default_rng(0).integers(1, 4, 500)
    total = int(sizes.sum())
    assert count_at_least(sizes, -total) == 2**500
    assert count_at_least(sizes, total) == 1
    for least in (-20, 0, 5, total // 3):  # at least so much, or with all signs turned
        assert count_at_least(sizes, least) + count_at_least(sizes, 1 - least) == 2**500


@pytest.mark.parametrize("seed", range(6))
def test_counting_equals_enumeration_of_halves(seed):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, rng.choice([2, 4, 50]), rng.integers(21, 35))
    for least in (0, 1, 7, int(sizes.sum()) // 3):
        enumerated = count_sums_at_least(sizes.astype(float), least - 0.5)
        assert count_at_least(sizes, least) == enumerated


def test_packed_counts_are_coefficients():
    packed = _Packed(2, 5, [1, 3, 3], 9)
    product = np.poly1d([1])
    for size in (2, 2, 2, 2, 2, 1, 3, 3):
        product *= np.poly1d([1, *[0] * (size - 1), 1])
    expected = product.coeffs[::-1][:10].tolist()
    assert list(packed.counts()) == expected
    assert list(packed.counts(backwards=True)) == expected[::-1]


@given(st.lists(st.integers(1, 400), min_size=1, max_size=30), st.integers(1, 1000))
def test_step_of_decimal_numbers_is_found(multiples, parts):
    values = np.array(multiples) / parts
    found = in_steps(values, 1e-12 * float(values.sum()))
    assert found is not None
    divisor = np.gcd.reduce(multiples)
    np.testing.assert_array_equal(found[0], np.array(multiples) // divisor)
    assert found[1] == pytest.approx(divisor / parts, rel=1e-12)


def test_numbers_without_a_common_step_have_none():
    values = np.random.default_rng(0).random(30) + 0.1
    assert in_steps(values, 1e-12 * float(values.sum())) is None
    assert in_steps(np.array([1.0, np.pi, np.e]), 1e-12) is None
    # Nearly multiples, but further off than rounding.
    assert in_steps(np.array([1.0, 2.0, 3.0 + 1e-9]), 1e-12 * 6) is None


def test_step_that_takes_too_much_work_is_none():
    n = 1000
    assert n * n < MOST_WORK < 2 * n * n * 150
    values = np.arange(n) + 1.0
    assert in_steps(values, 1e-9) is None
    assert in_steps(np.ones(n), 1e-9) is not None


def test_large_whole_numbers_need_no_tolerance():
    values = np.array([3.0, 5.0, 7.0])
    assert in_steps(values, 1e6) is not None
    assert in_steps(values / 3, 1e6) is None
