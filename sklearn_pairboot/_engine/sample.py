"""The sorted replicates of one statistic, and what intervals and p-values read off them."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

FloatArray = NDArray[np.float64]

# Replicates closer than this, relative to the statistic's scale, differ by rounding only.
RELATIVE_TOLERANCE = 1e-12

# Float weights stand for more sequences than float64 can count; this one is then the size.
LARGEST_COUNT = 2**53

# Smallest tail probability that is claimed of a distribution found by Fourier transforms.
LEAST_TAIL = 1e-12


@dataclass(frozen=True, eq=False)
class Sample:
    """Defined replicates of one statistic, in ascending order; at least one.

    Build it with `from_replicates` (Monte Carlo) or `from_exact`. ``multiplicities`` is ``None``
    for Monte Carlo replicates; otherwise it says how many sequences of draws give each of the
    (then distinct) values: int64 counts, or float64 weights where counts pass 2**53. ``noise``
    is the rounding of the values: 1e-12 x the scale of what they were computed from. Tails less
    probable than ``least_tail`` are not claimed to be right.
    """

    values: FloatArray
    multiplicities: NDArray[Any] | None = None
    noise: float = 0.0
    least_tail: float = 0.0

    @classmethod
    def from_replicates(cls, values: ArrayLike, *, scale: float = 0.0) -> Sample:
        """Sort Monte Carlo replicates and leave out the undefined (NaN) ones."""
        array = np.asarray(values, dtype=np.float64)
        # Adding 0.0 turns -0.0 into 0.0, which prints better.
        kept = np.sort(array[~np.isnan(array)]) + 0.0
        return cls(kept, noise=RELATIVE_TOLERANCE * scale)

    @classmethod
    def from_exact(
        cls, values: ArrayLike, multiplicities: ArrayLike, *, scale: float = 0.0
    ) -> Sample:
        """Sort the values of an enumeration and merge those that differ by rounding only.

        Two neighbours merge (into the lower one) when they lie within 1e-12 x ``scale``.
        """
        array = np.asarray(values, dtype=np.float64)
        weights = np.asarray(multiplicities)
        weights = weights.astype(np.float64 if weights.dtype.kind == "f" else np.int64)
        kept = ~np.isnan(array) & (weights > 0)
        array, weights = array[kept], weights[kept]
        noise = RELATIVE_TOLERANCE * scale
        if array.size == 0:
            return cls(array, weights, noise)
        order = np.argsort(array, kind="stable")
        array, weights = array[order] + 0.0, weights[order]
        starts_group = np.diff(array, prepend=-np.inf) > noise
        starts = np.flatnonzero(starts_group)
        return cls(array[starts], np.add.reduceat(weights, starts), noise)

    @property
    def _is_weighted_by_floats(self) -> bool:
        return self.multiplicities is not None and self.multiplicities.dtype.kind == "f"

    @cached_property
    def _cumulative(self) -> NDArray[Any]:
        """Weight of the first 0, 1, 2, ... distinct values (exact mode only)."""
        multiplicities = self.multiplicities
        if multiplicities is None:
            return np.arange(self.values.size + 1)
        return np.concatenate([np.zeros(1, multiplicities.dtype), np.cumsum(multiplicities)])

    def _weight_of_first(self, n_values: int) -> float:
        if self.multiplicities is None:
            return n_values
        weight: float = self._cumulative[n_values].item()
        return weight

    @cached_property
    def size(self) -> int:
        """Number of replicates, or of sequences (2**53 stands for "more than can be counted")."""
        if self._is_weighted_by_floats:
            return LARGEST_COUNT
        return int(self._weight_of_first(self.values.size))

    @property
    def minimum(self) -> float:
        """Smallest replicate."""
        return float(self.values[0])

    @property
    def maximum(self) -> float:
        """Largest replicate."""
        return float(self.values[-1])

    @property
    def is_constant(self) -> bool:
        """Whether the replicates differ by rounding only."""
        largest = max(abs(self.minimum), abs(self.maximum))
        return self.maximum - self.minimum <= RELATIVE_TOLERANCE * largest

    @property
    def p_floor(self) -> float:
        """Smallest tail probability that this many replicates can show."""
        if self.multiplicities is None:
            return 1 / (self.size + 1)
        return max(1 / self.size, self.least_tail)

    def mean(self) -> float:
        """Mean of the replicates."""
        if self.minimum == self.maximum:
            return self.minimum
        return float(np.average(self.values, weights=self.multiplicities))

    def std(self) -> float:
        """Compute the standard deviation: denominator B - 1, or D for an enumeration."""
        if self.minimum == self.maximum:
            return 0.0
        # Squares of very small or large values would leave float64.
        size = max(abs(self.minimum), abs(self.maximum))
        values = self.values / size if not 1e-100 < size < 1e100 else self.values
        if self.multiplicities is None:
            deviation = float(np.std(values, ddof=1))
        else:
            squares = (values - np.average(values, weights=self.multiplicities)) ** 2
            deviation = math.sqrt(float(np.average(squares, weights=self.multiplicities)))
        return deviation if values is self.values else deviation * size

    def quantile(self, q: float) -> float:
        """NumPy's ``linear`` quantile over all replicates or sequences.

        Bit for bit ``numpy.quantile``. With float weights the inverse of the distribution
        function, because positions beyond 2**53 cannot be told apart.
        """
        if self._is_weighted_by_floats:
            index = int(np.searchsorted(self._cumulative[1:], q * self._cumulative[-1]))
            return float(self.values[min(index, self.values.size - 1)])
        position = (self.size - 1) * float(q)
        below = math.floor(position)
        low, high = self._at(below), self._at(below + 1)
        if low == high:
            return low
        share = position - below
        # The two forms, and the switch between them, are NumPy's.
        if share < 0.5:
            return low + (high - low) * share
        return high - (high - low) * (1 - share)

    def _at(self, position: int) -> float:
        """Value at an integer position 0..size-1 of the implied sorted replicates."""
        index = min(position, self.size - 1)
        if self.multiplicities is not None:
            index = int(np.searchsorted(self._cumulative, index, side="right")) - 1
        return float(self.values[index])

    def share_below(self, x: float) -> float:
        """Share of replicates below ``x``, those equal to ``x`` counting half."""
        first = int(np.searchsorted(self.values, x, side="left"))
        last = int(np.searchsorted(self.values, x, side="right"))
        below, at_most = self._weight_of_first(first), self._weight_of_first(last)
        return (below + (at_most - below) / 2) / self._weight_of_first(self.values.size)

    def position_leaving_low(self, x: float) -> float:
        """Interpolated position 0..size-1 at which the sorted replicates leave ``<= x``.

        Minus one when none is ``<= x``, ``size - 1`` when all are. The quantile at any later
        position is above ``x``.
        """
        index = int(np.searchsorted(self.values, x, side="right"))
        return self._position(index, self._weight_of_first(index), x)

    def position_leaving_high(self, x: float) -> float:
        """Mirror image: position, counted from the top, at which they leave ``>= x``."""
        index = int(np.searchsorted(self.values, x, side="left"))
        total = self._weight_of_first(self.values.size)
        return self._position(index, total - self._weight_of_first(index), x, from_top=True)

    def _position(self, index: int, weight: float, x: float, *, from_top: bool = False) -> float:
        """Position of ``x`` between the values ``index - 1`` and ``index``.

        ``weight`` belongs to the values on the near side of ``x``.
        """
        n_near = self.values.size - index if from_top else index
        if n_near == 0:
            return -1.0
        if n_near == self.values.size:
            return float(self.size - 1)
        if self._is_weighted_by_floats:
            share: float = weight / self._cumulative[-1].item()
            return share * (self.size - 1)
        low, high = float(self.values[index - 1]), float(self.values[index])
        distance = high - x if from_top else x - low
        return weight - 1 + distance / (high - low)

    def shifted(self, by: float) -> Sample:
        """Replicates with a number added, those that differ from zero by rounding set to zero."""
        moved = self.values + by
        noise = max(self.noise, RELATIVE_TOLERANCE * abs(by))
        moved[np.abs(moved) <= noise] = 0.0
        return replace(self, values=moved)

    def reflected(self, about: float) -> Sample:
        """Replicates mirrored at ``about``, those that differ from zero by rounding set to zero."""
        mirrored = 2 * about - self.values[::-1]
        noise = max(self.noise, RELATIVE_TOLERANCE * abs(2 * about))
        mirrored[np.abs(mirrored) <= noise] = 0.0
        multiplicities = None if self.multiplicities is None else self.multiplicities[::-1]
        return replace(self, values=mirrored, multiplicities=multiplicities)
