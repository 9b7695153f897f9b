"""Max-T: p-values and bounds that hold for a whole family of comparisons at once.

Each comparison is studentised by the standard deviation of its own replicates. The largest of
the studentised deviations in each resample says how far the most extreme of all comparisons
strays by chance, with the dependence between them taken in.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sklearn_pairboot._engine.sample import LARGEST_COUNT
from sklearn_pairboot._engine.weights import BoolArray, FloatArray

# Replicates that differ by less, relative to the largest of them, do not vary.
_NOISE = 1e-12


class Family(NamedTuple):
    """Replicates of several comparisons on the same resamples, NaN where one is undefined.

    ``values`` has shape (n_replicates, n_comparisons); ``noise`` is the rounding of each column.
    ``weights`` says how many sequences of an enumeration each replicate stands for.
    """

    values: FloatArray
    estimates: FloatArray
    noise: FloatArray
    weights: NDArray[Any] | None = None

    def only(self, column: int) -> Family:
        """Return one comparison as a family of its own."""
        kept = slice(column, column + 1)
        return Family(self.values[:, kept], self.estimates[kept], self.noise[kept], self.weights)

    def joined(self, other: Family) -> Family:
        """Return the comparisons of both families."""
        return Family(
            np.hstack([self.values, other.values]),
            np.concatenate([self.estimates, other.estimates]),
            np.concatenate([self.noise, other.noise]),
            self.weights,
        )

    @property
    def lost(self) -> BoolArray:
        """Resamples in which some comparison is undefined."""
        lost: BoolArray = np.any(np.isnan(self.values), axis=1)
        return lost


class MaxT(NamedTuple):
    """Adjusted p-values and the half-width of each simultaneous interval.

    Both are NaN for a comparison whose replicates do not vary: it is no part of the family.
    """

    p_values: FloatArray
    half_widths: FloatArray


def max_t(
    family: Family, sides: Sequence[int], confidence_level: float, *, factor: int = 1
) -> MaxT:
    """Test every comparison of a family against zero, studentised, on its joint resamples.

    Parameters
    ----------
    family : Family
        Resamples that are undefined in any comparison are left out.
    sides : sequence of {0, 1, -1}
        For each comparison 0 for two-sided, 1 for "greater" and -1 for "less".
    confidence_level : float
        That of the half-widths.
    factor : int, default=1
        P-values are multiplied by it, and half-widths enlarged accordingly.

    Returns
    -------
    MaxT
        ``p <= alpha`` exactly when the bound ``estimate -+ half_width`` excludes zero.
    """
    p_values, half_widths = _all_nan(family), _all_nan(family)
    found = _studentised(family, sides)
    if found is None:
        return MaxT(p_values, half_widths)
    order = OrderedMaxima(found.deviations.max(axis=1), found.weights)
    cutoff = order.cutoff(confidence_level, factor)
    for number, column in enumerate(found.columns):
        noise, reached = family.noise[column], found.reached[number]
        # Ties with the estimate count as at least as extreme, whatever rounding made of them.
        p_values[column] = order.p_value(found.least[number], factor)
        half_width = cutoff * found.errors[number]
        if abs(half_width - reached) <= noise:
            half_width = reached
        half_widths[column] = half_width
    return MaxT(p_values, half_widths)


def max_t_step_down(family: Family, sides: Sequence[int]) -> FloatArray:
    """Adjust p-values by max-T, step by step from the most extreme comparison to the least.

    Each is held against the largest deviation among itself and the less extreme ones only, so
    p-values are never above those of `max_t`, and the probability of any false rejection stays
    controlled (Westfall and Young 1993; Romano and Wolf 2005).

    Parameters
    ----------
    family : Family
        Resamples that are undefined in any comparison are left out.
    sides : sequence of {0, 1, -1}
        For each comparison 0 for two-sided, 1 for "greater" and -1 for "less".

    Returns
    -------
    ndarray of shape (n_comparisons,)
        NaN for a comparison whose replicates do not vary: it is no part of the family.
    """
    p_values = _all_nan(family)
    found = _studentised(family, sides)
    if found is None:
        return p_values
    ascending = np.argsort(found.reached / found.errors, kind="stable")
    largest = np.full(len(found.deviations), -np.inf)
    for number in ascending:
        np.maximum(largest, found.deviations[:, number], out=largest)
        order = OrderedMaxima(largest, found.weights)
        p_values[found.columns[number]] = order.p_value(found.least[number])
    descending = found.columns[ascending[::-1]]
    p_values[descending] = np.maximum.accumulate(p_values[descending])
    return p_values


class _Studentised(NamedTuple):
    """The comparisons that vary, in units of their standard errors and directed by their sides.

    ``deviations`` of the replicates from the estimates are studentised. ``reached`` are the
    estimates, and ``least`` the smallest deviations that count as at least as extreme.
    """

    columns: NDArray[np.intp]
    deviations: FloatArray
    reached: FloatArray
    least: FloatArray
    errors: FloatArray
    weights: NDArray[Any] | None


def _studentised(family: Family, sides: Sequence[int]) -> _Studentised | None:
    """Studentise a family on the resamples that all of it shares; ``None`` if nothing varies."""
    kept = ~family.lost
    values = family.values[kept]
    weights = None if family.weights is None else family.weights[kept]
    errors = _standard_errors(values, weights)
    varying = np.flatnonzero(errors > 0)
    if varying.size == 0:
        return None
    errors = errors[varying]
    side = np.asarray(sides)[varying]
    directed = np.where(side == 0, 1, side)
    estimates = family.estimates[varying]
    deviations = (values[:, varying] - estimates) * (directed / errors)
    deviations[:, side == 0] = np.abs(deviations[:, side == 0])
    reached = estimates * directed
    reached[side == 0] = np.abs(reached[side == 0])
    least = (reached - family.noise[varying]) / errors
    return _Studentised(varying, deviations, reached, least, errors, weights)


def _all_nan(family: Family) -> FloatArray:
    return np.full(len(family.estimates), np.nan)


def _standard_errors(values: FloatArray, weights: NDArray[Any] | None) -> FloatArray:
    """Compute standard deviations of the columns: denominator B - 1, or D for an enumeration."""
    if len(values) < 2:
        return np.zeros(values.shape[1])
    size = np.abs(values).max(initial=0.0)
    if size > 0 and not 1e-100 < size < 1e100:  # squares would leave float64
        rescaled: FloatArray = size * _standard_errors(values / size, weights)
        return rescaled
    if weights is None:
        errors = values.std(axis=0, ddof=1)
    else:
        shares = weights / weights.sum()
        means = shares @ values
        errors = np.sqrt(shares @ (values - means) ** 2)
    constant = np.ptp(values, axis=0) <= _NOISE * np.abs(values).max(axis=0)
    found: FloatArray = np.where(constant, 0.0, errors)
    return found


class OrderedMaxima:
    """The largest deviations of all resamples in ascending order, with their weights."""

    def __init__(self, maxima: FloatArray, weights: NDArray[Any] | None) -> None:
        order = np.argsort(maxima, kind="stable")
        self.maxima = maxima[order]
        self.exact = weights is not None
        ones = np.ones(len(maxima), dtype=np.int64)
        self.cumulative = np.cumsum(ones if weights is None else weights[order])

    @property
    def _total(self) -> Any:
        """Denominator of p-values: B + 1, or the number of sequences."""
        return self.cumulative[-1].item() + (0 if self.exact else 1)

    def p_value(self, reached: float, factor: int = 1) -> float:
        """Share of maxima that are at least as large; the observed one counts as a resample."""
        first = int(np.searchsorted(self.maxima, reached, side="left"))
        below = self.cumulative[first - 1].item() if first else self.cumulative[0].item() * 0
        at_least = self._total - below
        if self.exact:
            at_least = max(at_least, 1 if isinstance(below, int) else self._total / LARGEST_COUNT)
        return float(min(1.0, factor * at_least / self._total))

    def cutoff(self, confidence_level: float, factor: int) -> float:
        """Smallest maximum whose p-value, were it reached, would just not be small enough."""
        alpha = (1 - Fraction(Decimal(str(float(confidence_level))))) / factor
        total = self._total
        if self.exact and isinstance(total, float):
            needed: Any = float(1 - alpha) * total
        elif alpha * total < 1:
            return math.inf
        else:
            needed = math.ceil((1 - alpha) * total)
        place = int(np.searchsorted(self.cumulative, needed, side="left"))
        return float(self.maxima[place]) if place < len(self.maxima) else math.inf
