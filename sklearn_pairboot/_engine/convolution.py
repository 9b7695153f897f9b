"""The law of a sum of independent draws of whole numbers: convolutions of what one draw gives.

Where all sequences of draws are few enough to be counted in integers, they are. Beyond, powers of
the discrete Fourier transform give probabilities with an absolute error below `LEAST_TAIL`, tail
sums included: the transform is not in error by more than rounding, and what lies outside of the
window that it covers has, by Bernstein's inequality, less than a hundredth of that probability.
Relative accuracy in tails below it is not claimed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import fft

from sklearn_pairboot._engine.exact import count_sequences
from sklearn_pairboot._engine.sample import LARGEST_COUNT, LEAST_TAIL
from sklearn_pairboot._engine.weights import FloatArray, IntArray

# Points of the window times strata: two seconds of work and half a gigabyte at most.
MOST_POINTS = 2**22
# Integers are counted on no more points than this.
_MOST_COUNTED = 2**20
_OUTSIDE = LEAST_TAIL / 100
# Powers up to this one multiply rounding too little to matter.
_FEW_DRAWS = 1000
# Smaller products of transforms count as zero.
_NOTHING = 1e-18
_MOST_TERMS, _TERMS_AT_ONCE = 2**27, 2**20


class Draws(NamedTuple):
    """As many draws as there are units: ``numbers`` of each distinct one, and how many are like it.

    Shapes (n_distinct, n_axes) and (n_distinct,). A draw gives whole numbers on every axis.
    """

    numbers: IntArray
    multiplicity: IntArray

    @property
    def n_draws(self) -> int:
        """Number of draws."""
        return int(self.multiplicity.sum())

    @property
    def mean(self) -> FloatArray:
        """Mean of one draw on each axis."""
        mean: FloatArray = self.multiplicity @ self.numbers / self.n_draws
        return mean


class Law(NamedTuple):
    """Weights of the sums, one axis of the array for each axis of the numbers.

    The first one is that of the sums ``lowest``. Weights are numbers of sequences of draws (int64),
    or probabilities (float64).
    """

    lowest: IntArray
    weights: NDArray[Any]


class TooManyPointsError(ValueError):
    """More points than a convolution may have."""


def law_of_sum(parts: Sequence[Draws]) -> Law:
    """Give the law of the sum of all draws, which are independent.

    Parameters
    ----------
    parts : sequence of Draws
        With equal numbers of axes: the strata, say.

    Returns
    -------
    Law
        Integers where all sequences together are at most 2**53, and points few.

    Raises
    ------
    TooManyPointsError
        If the sums that are not out of reach, times the number of parts, are more than
        `MOST_POINTS`, before anything is allocated.
    """
    low, high = np.zeros((2, parts[0].numbers.shape[1]), dtype=np.int64)
    for part in parts:
        low += part.n_draws * part.numbers.min(axis=0)
        high += part.n_draws * part.numbers.max(axis=0)
    n_points = _n_points(low, high)
    if n_points <= _MOST_COUNTED and _countable(parts):
        return Law(low, _by_counting(parts, tuple((high - low + 1).tolist())))
    low, high = _window(parts, low, high)
    n_points = _n_points(low, high)
    if n_points * len(parts) > MOST_POINTS:
        raise TooManyPointsError(
            f"a convolution would take {n_points * len(parts):,} points, and {MOST_POINTS:,} are "
            "the most"
        )
    return Law(low, _by_transform(parts, low, high))


def _n_points(low: IntArray, high: IntArray) -> int:
    return math.prod((high - low + 1).tolist())


def _countable(parts: Sequence[Draws]) -> bool:
    """Tell whether the number of all sequences is an integer that float64 knows."""
    log_total = sum(part.n_draws * math.log(part.n_draws) for part in parts)
    if log_total > math.log(2 * LARGEST_COUNT):
        return False
    return count_sequences([part.n_draws for part in parts]) <= LARGEST_COUNT


def _by_counting(parts: Sequence[Draws], shape: tuple[int, ...]) -> NDArray[np.int64]:
    """Count the sequences that lead to each sum, one draw after the other."""
    counts = np.zeros(shape, dtype=np.int64)
    counts.flat[0] = 1
    for part in parts:
        offsets = part.numbers - part.numbers.min(axis=0)
        for _ in range(part.n_draws):
            before, counts = counts, np.zeros_like(counts)
            for offset, times in zip(offsets.tolist(), part.multiplicity.tolist(), strict=True):
                to = tuple(slice(by, None) for by in offset)
                # What is cut off at the far end is zero.
                of = tuple(slice(size - by) for by, size in zip(offset, shape, strict=True))
                counts[to] += times * before[of]
    return counts


def _window(parts: Sequence[Draws], low: IntArray, high: IntArray) -> tuple[IntArray, IntArray]:
    """Leave out sums that are out of reach: together they are less probable than `_OUTSIDE`."""
    mean, variance, furthest = np.zeros((3, len(low)))
    for part in parts:
        mean += part.n_draws * part.mean
        deviations = part.numbers - part.mean
        variance += part.multiplicity @ deviations**2
        furthest = np.maximum(furthest, np.abs(deviations).max(axis=0))
    # Bernstein: P(|S - ES| >= t) <= 2 exp(-t^2 / 2 / (V + M t / 3)), on every axis.
    exponent = math.log(2 * len(low) / _OUTSIDE)
    third = furthest * exponent / 3
    reach = third + np.sqrt(third**2 + 2 * variance * exponent)
    lowest = np.maximum(low, np.floor(mean - reach).astype(np.int64))
    return lowest, np.minimum(high, np.ceil(mean + reach).astype(np.int64))


def _by_transform(parts: Sequence[Draws], low: IntArray, high: IntArray) -> FloatArray:
    """Multiply powers of Fourier transforms; sums outside of the window wrap around into it."""
    wanted = high - low + 1
    shape = tuple(fft.next_fast_len(size, real=True) for size in wanted.tolist())
    # About their mean the numbers turn a transform least.
    centres = [np.rint(part.mean).astype(np.int64) for part in parts]
    centred = [
        Draws(part.numbers - centre, part.multiplicity)
        for part, centre in zip(parts, centres, strict=True)
    ]
    few = sum(part.n_draws for part in parts) <= _FEW_DRAWS
    spectrum = (_powers if few else _precise_powers)(centred, shape)
    weights: FloatArray = fft.irfftn(spectrum, shape, overwrite_x=True)
    for axis, first in enumerate(low.tolist()):
        centre = sum(
            part.n_draws * int(of_part[axis]) for part, of_part in zip(parts, centres, strict=True)
        )
        weights = np.roll(weights, centre - first, axis=axis)
    weights = weights[tuple(slice(size) for size in wanted.tolist())]
    # Below this is rounding, of either sign, which would add up in the tails.
    weights[weights < LEAST_TAIL / 10 / weights.size] = 0.0
    weights /= weights.sum()
    return weights


def _transform(part: Draws, shape: tuple[int, ...]) -> NDArray[np.complex128]:
    """Transform the law of one draw."""
    one = np.zeros(shape)
    np.add.at(one, tuple((part.numbers % shape).T), part.multiplicity / part.n_draws)
    transformed: NDArray[np.complex128] = fft.rfftn(one, overwrite_x=True)
    return transformed


def _powers(parts: Sequence[Draws], shape: tuple[int, ...]) -> NDArray[np.complex128]:
    """Multiply powers of transforms."""
    spectrum = _transform(parts[0], shape) ** parts[0].n_draws
    for part in parts[1:]:
        spectrum *= _transform(part, shape) ** part.n_draws
    return spectrum


def _precise_powers(parts: Sequence[Draws], shape: tuple[int, ...]) -> NDArray[np.complex128]:
    """Multiply powers of transforms where a power makes much of an error.

    The transform tells at which frequencies a product is not zero. They are few, since the law of
    a sum of many is smooth. There the logarithms are computed once more, from the deviation from 1,
    which is small.
    """
    size = np.ones(1)
    for part in parts:
        size = size * np.abs(_transform(part, shape)) ** part.n_draws
    kept = np.nonzero(size > _NOTHING)
    n_terms = len(kept[0]) * sum(len(part.numbers) for part in parts)
    if n_terms > _MOST_TERMS:
        raise TooManyPointsError(
            f"a convolution would take {n_terms:,} terms of its transform, and {_MOST_TERMS:,} "
            "are the most"
        )
    frequencies = np.column_stack(kept)
    logarithm = np.zeros(len(frequencies), dtype=np.complex128)
    for part in parts:
        probabilities = part.multiplicity / part.n_draws
        n_at_once = max(1, _TERMS_AT_ONCE // len(part.numbers))
        for start in range(0, len(frequencies), n_at_once):
            here = slice(start, start + n_at_once)
            angles = _angles(frequencies[here], part.numbers, shape)
            # 1 - transform, whose terms are as small as their angles
            real = 2 * np.sin(angles / 2) ** 2 @ probabilities
            imaginary = np.sin(angles) @ probabilities
            logarithm.real[here] += part.n_draws * np.log1p(real * (real - 2) + imaginary**2) / 2
            logarithm.imag[here] -= part.n_draws * np.arctan2(imaginary, 1 - real)
    spectrum = np.zeros(size.shape, dtype=np.complex128)
    spectrum[kept] = np.exp(logarithm)
    return spectrum


def _angles(frequencies: IntArray, numbers: IntArray, shape: tuple[int, ...]) -> FloatArray:
    """Angles by which numbers turn at some frequencies, reduced exactly to the circle's halves."""
    angles = np.zeros((len(frequencies), len(numbers)))
    for frequency, of_axis, size in zip(frequencies.T, numbers.T, shape, strict=True):
        steps = np.multiply.outer(frequency, of_axis % size) % size
        angles += np.where(2 * steps > size, steps - size, steps) * (2 * np.pi / size)
    return angles
