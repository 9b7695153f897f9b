"""Random and all possible signs: each arrangement once, or as often as every other."""

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from sklearn_pairboot._engine.flips import (
    all_bits,
    all_counts,
    random_bits,
    random_counts,
    random_sums,
)
from sklearn_pairboot._engine.swapping import _n_arrangements


def drawn(values, n, entropy=0):
    return np.concatenate(list(random_sums(np.asarray(values, dtype=float), n, entropy)))


def test_every_sign_vector_is_as_likely_as_every_other():
    # The sum of powers of 2 tells all signs; ten numbers take two bytes.
    sums = drawn(2.0 ** np.arange(10), 40_000)
    found = np.bincount(((sums + 1023) / 2).astype(int), minlength=1024)
    assert len(found) == 1024
    assert stats.chisquare(found).pvalue > 1e-4


def test_signs_of_distant_numbers_are_independent():
    values = np.zeros(1000)
    values[[0, 700]] = 1, 2  # in different pieces of the work
    counts = np.bincount((drawn(values, 20_000).astype(int) + 3) // 2, minlength=4)
    assert stats.chisquare(counts).pvalue > 1e-4


def test_sums_have_the_moments_of_random_signs():
    values = np.random.default_rng(0).normal(size=777)
    sums = drawn(values, 20_000)
    deviation = math.sqrt(np.sum(values**2))
    assert abs(sums.mean()) < 5 * deviation / math.sqrt(20_000)
    assert sums.std() == pytest.approx(deviation, rel=0.03)


def test_longer_runs_extend_shorter_ones_and_seeds_differ():
    values = np.random.default_rng(0).normal(size=50)
    np.testing.assert_array_equal(drawn(values, 1500)[:900], drawn(values, 900))
    assert not np.any(drawn(values, 50) == drawn(values, 50, entropy=1))
    long, short = (np.concatenate(list(random_bits(9, n, 0, 64))) for n in (150, 70))
    np.testing.assert_array_equal(long[:70], short)
    assert long.shape == (150, 9)
    sizes = np.array([3, 5])
    long, short = (np.concatenate(list(random_counts(sizes, n, 0, 64))) for n in (150, 70))
    np.testing.assert_array_equal(long[:70], short)


def test_random_bits_are_fair():
    bits = np.concatenate(list(random_bits(20, 4000, 0, 256)))
    assert np.all(np.abs(bits.mean(axis=0) - 0.5) < 5 * 0.5 / math.sqrt(4000))
    assert np.all(np.abs(np.corrcoef(bits.T) - np.eye(20)) < 0.09)


@pytest.mark.parametrize("n", range(6))
def test_all_bits_are_all_arrangements_with_the_first_unit_in_place(n):
    found = np.concatenate(list(all_bits(n, 3)))
    expected = [bits for bits in itertools.product([0, 1], repeat=n) if not any(bits[:1])]
    assert [tuple(bits) for bits in found.tolist()] == expected


@pytest.mark.parametrize("sizes", [[], [1], [2, 3], [4, 1, 2]])
def test_all_counts_stand_for_all_arrangements(sizes):
    sizes = np.array(sizes, dtype=np.int64)
    found = np.concatenate(list(all_counts(sizes, 4)))
    ranges = [range(size + 1) for size in sizes.tolist()]
    assert [tuple(counts) for counts in found.tolist()] == list(itertools.product(*ranges))
    assert _n_arrangements(np.ones(len(found), dtype=bool), sizes) == 2 ** int(sizes.sum())
    for number, counts in enumerate(found.tolist()):
        marked = np.arange(len(found)) == number
        expected = math.prod(map(math.comb, sizes.tolist(), counts))
        assert _n_arrangements(marked, sizes) == expected
