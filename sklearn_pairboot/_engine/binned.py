"""Calibration errors: functions of sums of weights, predictions and outcomes in fixed bins."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_pairboot._engine.formulas import ratio
from sklearn_pairboot._engine.kernels import no_mask
from sklearn_pairboot._engine.lines import Cells, Lines
from sklearn_pairboot._engine.units import Units
from sklearn_pairboot._engine.weights import (
    FloatArray,
    IntArray,
    LeaveOneOut,
    Values,
    Weights,
)

NORMS = ("l1", "l2", "max")
# Sums of predictions and of outcomes that differ by less, as a share of the weight, are equal.
_ROUNDING = 1e-13
# One number of a dense product costs about this share of a row that is gathered into its bin.
_DENSE_SHARE = 1 / 16
# Two forecasts share lines of so many rows or more. Measured with two forecasts, ns per row and
# resample, shared against apart: 1.4 and 1.8 in lines of 32 rows, 3.2 and 3.6 in lines of 16, 4.6
# and 3.7 in lines of 8.
_LEAST_SHARED_LINE = 16
_NUMBERS_AT_ONCE = 2**20


@dataclass(frozen=True)
class Forecast:
    """Predicted probabilities of one event, whether it came about (0 or 1), and the bins."""

    predictions: FloatArray
    outcomes: FloatArray
    bins: IntArray


@dataclass(frozen=True, eq=False)
class BinSums:
    """Sums over the rows in each bin of each forecast.

    The sums of a block have shape (n_resamples, n_forecasts, n_terms, n_bins). Terms: weight,
    weight times prediction, weight times outcome and, if rows have weights, squared weight.
    """

    forecasts: tuple[Forecast, ...]
    units: Units
    row_weight: FloatArray | None = None

    @cached_property
    def shape(self) -> tuple[int, int, int]:
        """Numbers of forecasts, of terms and of the most bins that a forecast has."""
        n_bins = max(int(one.bins.max()) for one in self.forecasts) + 1
        return len(self.forecasts), 3 if self.row_weight is None else 4, n_bins

    def terms(self, forecast: Forecast) -> FloatArray:
        """Terms of the rows in their own bins, shape (n_terms, n_rows)."""
        weight = self.row_weight
        if weight is None:
            ones = np.ones(len(forecast.bins))
            return np.stack([ones, forecast.predictions, forecast.outcomes])
        return np.stack(
            [weight, weight * forecast.predictions, weight * forecast.outcomes, weight**2]
        )

    @cached_property
    def total(self) -> FloatArray:
        """Sums over all rows, each once."""
        sums = np.empty(self.shape)
        for of_forecast, forecast in zip(sums, self.forecasts, strict=True):
            for of_term, term in zip(of_forecast, self.terms(forecast), strict=True):
                of_term[:] = np.bincount(forecast.bins, term, self.shape[2])
        return sums

    def of(self, weights: Weights) -> FloatArray:
        """Give the sums in a block of resamples; kernels of one block share them."""
        if id(self) not in weights.shared:
            weights.shared[id(self)] = self._of(weights)
        found: FloatArray = weights.shared[id(self)]
        return found

    def _of(self, weights: Weights) -> FloatArray:
        n_resamples = len(weights.counts)
        if self._dense is not None:
            return weights.dot(self._dense).reshape(n_resamples, *self.shape)
        sums = np.empty((*self.shape, n_resamples))
        for numbers, lines in self._lines:
            of_groups = lines.sums_of_groups(weights)
            by_outcome = of_groups.reshape(len(numbers), self.shape[2], 2, -1, n_resamples)
            for place, (number, of_bins) in enumerate(zip(numbers, by_outcome, strict=True)):
                every = of_bins[:, 0] + of_bins[:, 1]
                sums[number, 0] = every[:, 0]
                sums[number, 1] = every[:, 1 + place]
                sums[number, 2] = of_bins[:, 1, 0]
                if self.row_weight is not None:
                    sums[number, 3] = every[:, -1]
        return np.moveaxis(sums, -1, 0)

    @cached_property
    def _dense(self) -> FloatArray | None:
        """Terms of every unit in every bin, where units are few."""
        n_rows, n_units = self.units.n_rows, self.units.n_units
        of_row, (_, n_terms, n_bins) = self.units.of_row, self.shape
        if of_row is None or n_units * n_terms * n_bins * _DENSE_SHARE > n_rows:
            return None
        parts = [
            np.bincount(of_row * n_bins + forecast.bins, term, n_units * n_bins)
            for forecast in self.forecasts
            for term in self.terms(forecast)
        ]
        return np.hstack([part.reshape(n_units, n_bins) for part in parts])

    @cached_property
    def _lines(self) -> list[tuple[tuple[int, ...], Lines]]:
        """Lines of rows alike in bin and outcome, for the forecasts of the numbers beside them.

        Two forecasts share lines where the cells they have in common are not too many. Those half
        of all apart are of the same event for two models.
        """
        half = len(self.forecasts) // 2
        found: list[tuple[tuple[int, ...], Lines]] = []
        for pair in [(first, first + half) for first in range(half)]:
            together = self._cells(*pair)
            if together.length >= _LEAST_SHARED_LINE:
                found.append((pair, self._lines_of(together, *pair)))
            else:
                found += [((n,), self._lines_of(self._cells(n), n)) for n in pair]
        last = range(2 * half, len(self.forecasts))
        return found + [((n,), self._lines_of(self._cells(n), n)) for n in last]

    def _groups(self, number: int) -> IntArray:
        """Give each row the number of its bin and outcome, of one forecast."""
        forecast = self.forecasts[number]
        return 2 * forecast.bins + (forecast.outcomes > 0)

    def _cells(self, *numbers: int) -> Cells:
        """Cells of rows that are alike in bin and outcome, of all forecasts of these numbers."""
        codes = np.zeros(self.units.n_rows, dtype=np.int64)
        for number in numbers:
            codes = 2 * self.shape[2] * codes + self._groups(number)
        return Cells.of(codes)

    def _lines_of(self, cells: Cells, *numbers: int) -> Lines:
        """Arrange rows in lines; the groups of each forecast are its bins, by outcome."""
        weight = self.row_weight
        weights = [np.ones(self.units.n_rows)] if weight is None else [weight, weight**2]
        terms = [weights[0] * self.forecasts[number].predictions for number in numbers]
        return Lines.of(
            cells,
            [*weights[:1], *terms, *weights[1:]],
            self.units,
            groups=[self._groups(number) for number in numbers],
            n_groups=2 * self.shape[2],
        )

    def without_each(self, units: slice) -> FloatArray:
        """Give sums that leave out each of some units in turn."""
        n_rows, of_row = self.units.n_rows, self.units.of_row
        codes = np.arange(n_rows) if of_row is None else of_row
        low, high = units.start, min(units.stop, self.units.n_units)
        rows = np.flatnonzero((codes >= low) & (codes < high))
        left = np.repeat(self.total[np.newaxis], high - low, axis=0)
        for number, forecast in enumerate(self.forecasts):
            for term, values in enumerate(self.terms(forecast)):
                of_term: FloatArray = left[:, number, term]
                places: Any = codes[rows] - low, forecast.bins[rows]
                np.subtract.at(of_term, places, values[rows])
        left[np.abs(left) <= _ROUNDING * self.total] = 0.0
        return left

    def take_rows(self, rows: IntArray) -> BinSums:
        """Keep some rows, each of which is a unit."""
        kept = tuple(
            Forecast(one.predictions[rows], one.outcomes[rows], one.bins[rows])
            for one in self.forecasts
        )
        weight = None if self.row_weight is None else self.row_weight[rows]
        return BinSums(kept, Units(len(rows), len(rows)), weight)


@dataclass(frozen=True)
class BinnedKernel:
    """A calibration error of every model, with the bins of the full data.

    Each model has as many forecasts as there are ``sums.forecasts`` a model: one, or one a class.
    """

    sums: BinSums
    n_models: int
    norm: str = "l1"
    debias: bool = False
    squared: bool = False
    scale: float = field(default=1.0, init=False)
    path: str = field(default="sums", init=False)

    def evaluate(self, weights: Weights) -> Values:
        """Evaluate the error of every model for a block of unit weights."""
        values = self._values(self.sums.of(weights))
        return Values(values, np.isnan(values), no_mask(values.shape))

    def _values(self, sums: FloatArray) -> FloatArray:
        by_model = sums.reshape(len(sums), self.n_models, -1, *sums.shape[2:])
        return calibration_error(by_model, self.norm, debias=self.debias, squared=self.squared)

    def influence(self, weights: Weights) -> None:
        """Give none: absolute values have no derivative where a bin is calibrated."""
        return None

    def leave_one_out(self) -> LeaveOneOut:
        """Evaluate the error without each unit: its sums are the total less its own."""
        n_units = self.sums.units.n_units
        n_at_once = max(1, _NUMBERS_AT_ONCE // self.sums.total.size)
        values = [
            self._values(self.sums.without_each(slice(start, start + n_at_once)))
            for start in range(0, n_units, n_at_once)
        ]
        return LeaveOneOut(np.concatenate(values))

    def unit_keys(self) -> Sequence[NDArray[Any]] | None:
        """Rows with equal predictions, outcomes and weights are equal; clusters are kept apart."""
        if self.sums.units.of_row is not None:
            return None
        keys = [array for one in self.sums.forecasts for array in (one.predictions, one.outcomes)]
        return keys if self.sums.row_weight is None else [*keys, self.sums.row_weight]

    def take_units(self, units: IntArray) -> BinnedKernel:
        """Keep representatives of merged rows."""
        return replace(self, sums=self.sums.take_rows(units))


def calibration_error(
    sums: FloatArray, norm: str, *, debias: bool = False, squared: bool = False
) -> FloatArray:
    """Turn sums of shape (..., n_classes, n_terms, n_bins) into errors, the mean over classes.

    The largest error is that of any class. NaN where nothing has weight.
    """
    weight, predicted, observed = (sums[..., term, :] for term in range(3))
    gap = np.abs(predicted - observed)
    gap = np.where(gap <= _ROUNDING * weight, 0.0, gap)
    total = weight.sum(axis=-1)
    if norm == "max":
        largest: FloatArray = ratio(gap, weight, 0.0).max(axis=(-2, -1))
        return np.where(total.min(axis=-1) > 0, largest, np.nan)
    if norm == "l1":
        mean: FloatArray = ratio(gap.sum(axis=-1), total, np.nan).mean(axis=-1)
        return mean
    squares = ratio(gap**2, weight, 0.0)
    if debias:
        squared_weight = sums[..., 3, :] if sums.shape[-2] > 3 else weight
        degrees = ratio(weight**2, squared_weight, 0.0) - 1  # rows in the bin, less one
        rate = ratio(observed, weight, 0.0)
        variance = ratio(rate * (1 - rate), np.where(degrees > 1e-9, degrees, 0.0), 0.0)
        # What a single row tells of its bin cannot be debiased: it is left out.
        squares = np.where(degrees > 1e-9, squares - weight * variance, 0.0)
    means: FloatArray = ratio(squares.sum(axis=-1), total, np.nan).mean(axis=-1)
    return means if squared else np.sqrt(np.maximum(means, 0.0))
