"""Every possible vector of counts and its weight: the bootstrap without drawing."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]

MOST_VECTORS = 2_000_000
_MOST_TO_MULTIPLY = 50_000
_LARGEST_EXACT = 2**53  # integers up to here are exact as float64 too


class TooManyResamplesError(ValueError):
    """More resamples than are enumerated."""

    def __init__(self, in_words: str, n_units: int, most: int, reason: str = "") -> None:
        self.in_words, self.n_units, self.most = in_words, n_units, most
        super().__init__(
            f"`n_resamples` must be an integer for these data, got 'exact'. There are {in_words} "
            f"different resamples of {n_units:,} units, and {most:,} are the most that are "
            f"enumerated{reason}. Pass an integer such as `n_resamples=9999`."
        )

    def because(self, reason: str) -> TooManyResamplesError:
        """Say also why their distribution is not found in another way."""
        return TooManyResamplesError(self.in_words, self.n_units, self.most, f"; {reason}")


@dataclass(frozen=True, eq=False)
class ExactCounts:
    """All vectors of counts over the distinct units.

    ``counts`` has shape (n_vectors, n_distinct) and the smallest unsigned type. ``multiplicities``
    says how many sequences of draws lead to each vector: int64 while their ``total`` is at most
    2**53; beyond, float64 probabilities that sum to 1. ``draws`` is the number of draws, which is
    the number of real units, of each stratum.
    """

    counts: NDArray[np.unsignedinteger[Any]]
    multiplicities: IntArray | FloatArray
    draws: tuple[int, ...]

    @property
    def total(self) -> int:
        """Number of sequences of draws."""
        return count_sequences(self.draws)


def count_sequences(draws: Sequence[int]) -> int:
    """Count the equally likely sequences of so many draws in each stratum, from as many units.

    Beyond 50,000 draws to about eight digits: the others would take minutes, and are never read.
    """
    if sum(draws) > _MOST_TO_MULTIPLY:
        log2 = _log_total(tuple(n_draws for n_draws in draws if n_draws)) / math.log(2.0)
        shift = int(log2) - 52
        return int(2.0 ** (log2 - shift)) << shift
    return math.prod(n_draws**n_draws for n_draws in draws if n_draws)


def count_vectors(
    multiplicity: IntArray, stratum: IntArray | None = None, max_vectors: int = MOST_VECTORS
) -> ExactCounts:
    """List every vector of counts that the bootstrap can draw, with its weight.

    Parameters
    ----------
    multiplicity : ndarray of shape (n_distinct,)
        Number of real units, at least 1, that each distinct unit stands for.
    stratum : ndarray of shape (n_distinct,), default=None
        Stratum number of each distinct unit, from zero. Every stratum has as many draws as real
        units. None: one stratum.
    max_vectors : int, default=2,000,000
        Number of vectors beyond which the enumeration is refused.

    Returns
    -------
    ExactCounts
        Vectors in lexicographic order within a stratum, the first stratum varying slowest.

    Raises
    ------
    TooManyResamplesError
        If there are more than ``max_vectors`` vectors, before anything is allocated.

    Notes
    -----
    A vector c has the weight: product over strata of n_h! / prod c_i! times prod m_i**c_i.
    """
    strata = _list_strata(multiplicity, stratum)
    draws = tuple(int(multiplicity[units].sum()) for units in strata)
    n_vectors = _count_vectors(strata, draws, max_vectors)
    integral = _log_total(draws) < math.log(2 * _LARGEST_EXACT) and (
        count_sequences(draws) <= _LARGEST_EXACT
    )

    counts = np.empty((n_vectors, multiplicity.size), dtype=np.min_scalar_type(max(draws)))
    weights = np.ones(n_vectors, dtype=np.int64) if integral else np.zeros(n_vectors)
    n_before, n_after = 1, n_vectors
    for units, n_draws in zip(strata, draws, strict=True):
        block = _compositions(n_draws, units.size, counts.dtype)
        n_after //= len(block)
        shape = (n_before, len(block), n_after)
        counts.reshape(*shape, -1)[..., units] = block[:, np.newaxis]
        if integral:
            sequences = _count_sequences(block, multiplicity[units], n_draws)
            weights.reshape(shape)[...] *= sequences[:, np.newaxis]
        else:
            log_probabilities = _log_probabilities(block, multiplicity[units], n_draws)
            weights.reshape(shape)[...] += log_probabilities[:, np.newaxis]
        n_before *= len(block)
    if not integral:
        weights = np.exp(weights)
        weights /= weights.sum()  # takes the rounding of log n! out, the largest one
    return ExactCounts(counts, weights, draws)


def _list_strata(multiplicity: IntArray, stratum: IntArray | None) -> list[IntArray]:
    """Give the numbers of the distinct units of each stratum."""
    if stratum is None:
        return [np.arange(multiplicity.size)]
    by_stratum = np.argsort(stratum, kind="stable")
    sizes = np.bincount(stratum)
    return [units for units in np.split(by_stratum, np.cumsum(sizes)[:-1]) if units.size]


def _count_vectors(strata: list[IntArray], draws: tuple[int, ...], max_vectors: int) -> int:
    """Count the vectors, n_h + k_h - 1 over k_h - 1 in each stratum; refuse too many."""
    # Logarithms first: the exact number may have millions of digits.
    log_number = sum(
        math.lgamma(n_draws + units.size) - math.lgamma(units.size) - math.lgamma(n_draws + 1)
        for units, n_draws in zip(strata, draws, strict=True)
    )
    if log_number < math.log(max_vectors) + 20.0:
        number = math.prod(
            math.comb(n_draws + units.size - 1, units.size - 1)
            for units, n_draws in zip(strata, draws, strict=True)
        )
        if number <= max_vectors:
            return number
        in_words = f"{number:,}"
    else:
        in_words = f"about 1e{log_number / math.log(10.0):.0f}"
    raise TooManyResamplesError(in_words, sum(draws), max_vectors)


def _log_total(draws: tuple[int, ...]) -> float:
    """Logarithm of the number of sequences of draws."""
    return sum(n_draws * math.log(n_draws) for n_draws in draws)


def _compositions(
    n_draws: int, n_distinct: int, dtype: np.dtype[Any]
) -> NDArray[np.unsignedinteger[Any]]:
    """List all ways to share ``n_draws`` among ``n_distinct`` units, in lexicographic order."""
    counts = np.empty((1, 0), dtype=dtype)
    left = np.array([n_draws])
    for _ in range(n_distinct - 1):
        n_children = left + 1  # this unit may get nothing, or anything up to what is left
        first_child = np.cumsum(n_children) - n_children
        child = np.arange(n_children.sum()) - np.repeat(first_child, n_children)
        counts = np.column_stack((np.repeat(counts, n_children, axis=0), child.astype(dtype)))
        left = np.repeat(left, n_children) - child
    return np.column_stack((counts, left.astype(dtype)))


def _count_sequences(
    counts: NDArray[np.unsignedinteger[Any]], multiplicity: IntArray, n_draws: int
) -> IntArray:
    """Count the sequences of draws that lead to each vector of one stratum, exactly."""
    choose = np.array(
        [[math.comb(left, count) for count in range(n_draws + 1)] for left in range(n_draws + 1)]
    )
    # Unit by unit, its places among those left: no partial product exceeds the result.
    sequences = np.ones(len(counts), dtype=np.int64)
    left = np.full(len(counts), n_draws)
    for column, stands_for in enumerate(multiplicity.tolist()):
        count = counts[:, column].astype(np.int64)
        sequences *= choose[left, count] * stands_for**count
        left -= count
    return sequences


def _log_probabilities(
    counts: NDArray[np.unsignedinteger[Any]], multiplicity: IntArray, n_draws: int
) -> FloatArray:
    """Logarithm of the probability of each vector of one stratum."""
    log_factorial = gammaln(np.arange(n_draws + 1) + 1.0)
    log_share = np.log(multiplicity / n_draws)
    log_probability = np.full(len(counts), log_factorial[n_draws])
    for column in range(multiplicity.size):
        count = counts[:, column]
        log_probability += count * log_share[column] - log_factorial[count]
    return log_probability
