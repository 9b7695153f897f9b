"""Curves of scores in resamples: rates of one class at fixed rates of another, or at thresholds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from sklearn_pairboot._engine.thresholds import Counts, Sweep
from sklearn_pairboot._engine.units import Units
from sklearn_pairboot._engine.weights import FloatArray, IntArray, Values, Weights

# Weights of rows that are gone through at once: what is made of them has to stay in cache.
_WEIGHTS_AT_ONCE = 2**17
# Sums of weights that are equal but for rounding count as equal.
_ROUNDING = 1e-12

# Gives the heights of a curve, shape (n_resamples, n_points), NaN where there are none.
Measure = Callable[[Counts], FloatArray]


@dataclass(frozen=True)
class CurveKernel:
    """Heights of every model's curves at fixed points, as a function of unit weights.

    What other kernels have a model for, this one has a model, a measure and a point for, in this
    order of nesting.
    """

    sweeps: Sequence[Sweep]
    measures: Sequence[Measure]
    n_points: int
    units: Units
    row_weight: FloatArray | None = None
    path: str = field(default="ranks", init=False)

    @property
    def shape(self) -> tuple[int, int, int]:
        """Numbers of models, measures and points."""
        return len(self.sweeps), len(self.measures), self.n_points

    @property
    def n_models(self) -> int:
        """Number of heights."""
        return int(np.prod(self.shape))

    def evaluate(self, weights: Weights) -> Values:
        """Evaluate all curves for a block of unit weights."""
        heights = np.empty((len(weights.counts), *self.shape))
        n_at_once = max(1, _WEIGHTS_AT_ONCE // self.units.n_rows)
        for start in range(0, len(heights), n_at_once):
            part = slice(start, start + n_at_once)
            of_rows = self._of_rows(weights.counts[part])
            for model, sweep in enumerate(self.sweeps):
                counts = sweep.counts(of_rows)
                for number, measure in enumerate(self.measures):
                    heights[part, model, number] = measure(counts)
        values = heights.reshape(len(heights), -1)
        return Values(values, np.isnan(values), np.zeros(values.shape, dtype=bool))

    def _of_rows(self, counts: NDArray[Any]) -> NDArray[Any]:
        of_rows = counts if self.units.of_row is None else counts[:, self.units.of_row]
        return of_rows if self.row_weight is None else of_rows * self.row_weight

    def influence(self, weights: Weights) -> None:
        """Give none: the heights jump where weights change a little."""
        return

    def leave_one_out(self) -> NoReturn:
        """Refuse: bands are percentiles."""
        raise NotImplementedError("there is no jackknife of a curve.")

    def unit_keys(self) -> None:
        """Give none: units differ by their scores, and are not merged."""
        return

    def take_units(self, units: IntArray) -> NoReturn:
        """Refuse, since units are never merged."""
        raise NotImplementedError("curves are made of all units; none are merged.")


@dataclass(frozen=True)
class HitRate:
    """The ROC curve: rate of true positives where that of false positives has given values.

    Straight lines join the points of the curve. Where it rises at one rate of false positives, its
    upper end counts.
    """

    rates: FloatArray

    def __call__(self, counts: Counts) -> FloatArray:
        """Interpolate the curve of each resample; NaN where a class is absent."""
        alarms, hits = counts.false_positives, counts.true_positives
        wanted = self.rates * counts.negatives
        after = _first(alarms, wanted + _ROUNDING * counts.negatives, inclusive=False)
        before = after - 1
        after = np.minimum(after, alarms.shape[1] - 1)
        low, high = (np.take_along_axis(alarms, at, axis=1) for at in (before, after))
        base, top = (np.take_along_axis(hits, at, axis=1) for at in (before, after))
        share = np.zeros(wanted.shape)
        np.divide(wanted - low, high - low, out=share, where=high > low)
        reached = base + np.clip(share, 0, 1) * (top - base)
        return _ratio(reached, np.where(counts.negatives > 0, counts.positives, 0))


@dataclass(frozen=True)
class PrecisionAtRecall:
    """The precision-recall curve: precision at the highest threshold that has a given recall.

    It is the step curve whose area is the average precision; at recall 0 it begins with the
    precision at the highest score of a positive row.
    """

    recalls: FloatArray

    def __call__(self, counts: Counts) -> FloatArray:
        """Read the curve of each resample; NaN where there are no positive rows."""
        hits = counts.true_positives
        wanted = self.recalls * counts.positives * (1 - _ROUNDING)
        least = np.where(hits > 0, hits, np.inf).min(axis=1, keepdims=True)
        at = _first(hits, np.maximum(wanted, least), inclusive=True)
        at = np.minimum(at, hits.shape[1] - 1)
        found = np.take_along_axis(hits, at, axis=1)
        called = found + np.take_along_axis(counts.false_positives, at, axis=1)
        return _ratio(found, np.where(counts.positives > 0, called, 0))


def _ratio(part: NDArray[Any], whole: NDArray[Any]) -> FloatArray:
    found = np.full(part.shape, np.nan)
    np.divide(part, whole, out=found, where=whole > 0)
    return found


def _first(ascending: NDArray[Any], wanted: FloatArray, *, inclusive: bool) -> IntArray:
    """Find in each row the first place that is above, or not below, each of the wanted values.

    It is `searchsorted` for all rows at once: each step halves what is left.
    """
    low = np.zeros(wanted.shape, dtype=np.int64)
    high = np.full(wanted.shape, ascending.shape[1])
    for _ in range(ascending.shape[1].bit_length()):
        middle = np.minimum((low + high) // 2, ascending.shape[1] - 1)
        values = np.take_along_axis(ascending, middle, axis=1)
        reached = values >= wanted if inclusive else values > wanted
        searching = low < high
        high = np.where(searching & reached, middle, high)
        low = np.where(searching & ~reached, middle + 1, low)
    return low
