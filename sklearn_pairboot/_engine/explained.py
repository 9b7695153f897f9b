"""Shares of a loss that a model explains: explained variance and D2.

A model's loss is set against that of the best constant, which depends on what was drawn. Both are
functions of weighted sums. With a pivot c near the mean m, deviances d of the Tweedie family obey
``sum w d(y, m) = sum w d(y, c) - sum w d(m, c)``, as squares do; where the right-hand side cancels,
the left-hand side is formed from the rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

from sklearn_pairboot._engine.formulas import Formula, ratio
from sklearn_pairboot._engine.gradients import gradient
from sklearn_pairboot._engine.kernels import SumsKernel
from sklearn_pairboot._engine.units import Units
from sklearn_pairboot._engine.weights import (
    BoolArray,
    FloatArray,
    IntArray,
    LeaveOneOut,
    Values,
    Weights,
)

# A spread this much smaller than the one about the pivot has lost digits by cancellation.
_CANCELLED = 1e-3
# Gauss-Legendre nodes: exact to the last digit where a value is within half of its mean.
_NODES = 10
_NEAR = 0.5


def explained(
    losses: FloatArray, *, n_outputs: int = 1, weights: FloatArray | None = None
) -> Formula:
    """Share explained. Terms: by output the loss of the best constant, then of each model.

    ``weights`` average the shares of the outputs; without them each output counts by the loss of
    its best constant, and constant outputs do not count.
    """
    of_constant = losses[:, None, :n_outputs]
    of_models = losses[:, n_outputs:].reshape(len(losses), -1, n_outputs)
    if weights is None:
        counted = np.where(of_constant != 0, of_models, 0.0).sum(axis=2)
        values = 1 - ratio(counted, of_constant.sum(axis=2), np.nan)
    else:
        used = np.flatnonzero(weights)
        shares = 1 - ratio(of_models[..., used], of_constant[..., used], np.nan)
        values = shares @ weights[used]
    undefined = np.isnan(values)
    return Formula(values, undefined, np.zeros_like(undefined))


def d2_log_loss(sums: FloatArray, *, n_classes: int) -> Formula:
    """Share of the log loss explained. Terms: weights of the classes, then one loss a model."""
    by_class = sums[:, :n_classes]
    eps = np.finfo(np.float64).eps
    # scikit-learn clips the shares too.
    shares = np.clip(ratio(by_class, by_class.sum(axis=1, keepdims=True), 0.0), eps, 1 - eps)
    null = -(by_class * np.log(shares)).sum(axis=1)
    null[(by_class > 0).sum(axis=1) < 2] = 0.0
    return explained(np.column_stack([null, sums[:, n_classes:]]))


def d2_brier(sums: FloatArray, *, n_classes: int) -> Formula:
    """Share of the Brier score explained. Terms: weights of the classes, then one loss a model."""
    by_class = sums[:, :n_classes]
    # Sums of products of different classes alone: nothing cancels, and one class gives zero.
    before = np.cumsum(by_class[:, :-1], axis=1)
    null = 2 * (before * by_class[:, 1:]).sum(axis=1)
    weight = by_class.sum(axis=1)
    return explained(np.column_stack([ratio(null, weight, 0.0), sums[:, n_classes:]]))


def unit_deviance(
    to_mean: FloatArray, relative: FloatArray, mean: FloatArray | float, power: float
) -> FloatArray:
    """Tweedie deviance of values from a mean: their ratio to it, and that less one.

    Near the mean the deviance is an integral over its second derivative, since there its closed
    form is a difference of nearly equal numbers.
    """
    is_near = np.abs(relative) <= _NEAR
    near = np.where(is_near, relative, 0.0)
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    integral = np.zeros_like(near)
    for at, weight in zip((nodes + 1) / 2, weights / 2, strict=True):
        integral += weight * (1 - at) * (1 + near * at) ** -power
    if power == 1:
        far = xlogy(to_mean, to_mean) - relative
    elif power == 2:
        far = relative - np.log(to_mean)
    else:
        far = (to_mean ** (2 - power) - 1 - (2 - power) * relative) / ((1 - power) * (2 - power))
    return np.asarray(2 * mean ** (2 - power) * np.where(is_near, near**2 * integral, far))


def deviance_moved(
    pivot: FloatArray, mean: FloatArray, power: float
) -> tuple[FloatArray, FloatArray]:
    """Coefficients of the line in a value: its deviance from the mean less that from the pivot."""

    def integral(of: int, x: FloatArray) -> FloatArray:
        """Integrate x to the power ``of - 1 - power``."""
        return np.log(x) if power == of else x ** (of - power) / (of - power)

    constant = 2 * (integral(2, mean) - integral(2, pivot))
    slope = 2 * (integral(1, pivot) - integral(1, mean))
    return constant, slope


@dataclass(frozen=True)
class ExplainedKernel(SumsKernel):
    """Share of the truths' spread about their mean that each model explains.

    ``columns``, shape (n_rows, n_columns), are the truths of every output and, for explained
    variance, every model's errors by output, whose own spread is the loss; other losses are terms.
    The spread is the squared distance from the mean, or for truths of one output alone the Tweedie
    deviance of another ``power``.
    """

    columns: FloatArray = field(default_factory=lambda: np.empty((0, 1)))
    row_weight: FloatArray = field(default_factory=lambda: np.empty(0))
    unit_of_row: IntArray = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    pivot: FloatArray = field(default_factory=lambda: np.empty(1))
    power: float = 0.0
    n_outputs: int = 1

    @classmethod
    def from_columns(
        cls,
        columns: FloatArray,
        losses: FloatArray,
        row_weight: FloatArray,
        units: Units,
        *,
        power: float = 0.0,
        n_outputs: int = 1,
        weights: FloatArray | None = None,
    ) -> ExplainedKernel:
        """Build from the columns and from losses, shape (n_rows, n_models x n_outputs, or 0).

        ``weights`` of the outputs as in `explained`.
        """
        pivot = np.average(columns, axis=0, weights=row_weight)
        n_columns = columns.shape[1]
        n_terms = 1 + 2 * n_columns + (2 if power != 0 else 0) + losses.shape[1]
        # Filled in place: copies of so many columns would be most of a call's memory.
        terms = np.empty((len(columns), n_terms))
        terms[:, 0] = 1.0
        centred = terms[:, 1 : 1 + n_columns]
        np.subtract(columns, pivot, out=centred)
        np.square(centred, out=terms[:, 1 + n_columns : 1 + 2 * n_columns])
        if power != 0:
            deviances = unit_deviance(columns / pivot, centred / pivot, pivot, power)
            terms[:, 1 + 2 * n_columns : 3 + 2 * n_columns] = np.hstack([columns, deviances])
        terms[:, n_terms - losses.shape[1] :] = losses
        terms *= row_weight[:, None]
        terms = units.sum_rows(terms)
        of_row = np.arange(units.n_rows) if units.of_row is None else units.of_row
        # Rows in the order of their units, so that a unit of one row has its number.
        order = slice(None) if units.of_row is None else np.argsort(of_row, kind="stable")
        return cls(
            terms=np.ascontiguousarray(terms),
            formula=partial(explained, n_outputs=n_outputs, weights=weights),
            n_models=(losses.shape[1] or columns.shape[1] - n_outputs) // n_outputs,
            columns=columns[order],
            row_weight=row_weight[order],
            unit_of_row=of_row[order],
            pivot=pivot,
            power=power,
            n_outputs=n_outputs,
        )

    def finish(self, sums: FloatArray, weights: Weights) -> Values:
        """Form the spreads, again from the rows where they cancelled, and divide."""
        return Values(*self._explained(sums, lambda resample: weights.counts[resample]))

    def _gradient(self, sums: FloatArray, weights: Weights) -> FloatArray:
        """Differentiate through the spreads, whose mean needs no derivative: it is the best one."""
        n_columns = self.columns.shape[1]
        spread, rest = self._spreads(sums, lambda resample: weights.counts[resample])
        losses = np.hstack([spread, rest])
        by_loss = gradient(self.formula, losses, losses)
        found = np.zeros((*by_loss.shape[:2], sums.shape[1]))
        by_spread = by_loss[:, :, :n_columns]
        weight = sums[:, :1]
        with np.errstate(all="ignore"):  # without weight: not a number
            if self.power == 0:
                mean = sums[:, 1 : 1 + n_columns] / weight  # from the pivot
                found[:, :, 0] = (by_spread * (mean**2)[:, None]).sum(axis=2)
                found[:, :, 1 : 1 + n_columns] = by_spread * (-2 * mean)[:, None]
                found[:, :, 1 + n_columns : 1 + 2 * n_columns] = by_spread
            else:
                mean = sums[:, 1 + 2 * n_columns] / weight[:, 0]
                by_weight, by_total = deviance_moved(self.pivot, mean, self.power)
                found[:, :, 0] = by_spread[:, :, 0] * by_weight[:, None]
                found[:, :, 1 + 2 * n_columns] = by_spread[:, :, 0] * by_total[:, None]
                found[:, :, 2 + 2 * n_columns] = by_spread[:, :, 0]
        if rest.shape[1]:
            found[:, :, -rest.shape[1] :] = by_loss[:, :, n_columns:]
        return found

    def leave_one_out(self) -> LeaveOneOut:
        """Evaluate the metric without each unit."""

        def without(unit: int) -> FloatArray:
            weights = np.ones(len(self.terms))
            weights[unit] = 0.0
            return weights

        return LeaveOneOut(self._explained(self._sums_without(slice(None)), without).values)

    def _explained(self, sums: FloatArray, weights_of: Callable[[int], NDArray[Any]]) -> Formula:
        return self.formula(np.hstack(self._spreads(sums, weights_of)))

    def _spreads(
        self, sums: FloatArray, weights_of: Callable[[int], NDArray[Any]]
    ) -> tuple[FloatArray, FloatArray]:
        """Give the spread of every column about its mean, and the other losses."""
        n_columns, n_outputs = self.columns.shape[1], self.n_outputs
        weight, shift, squares, rest = np.split(sums, [1, 1 + n_columns, 1 + 2 * n_columns], axis=1)
        spread = squares - ratio(shift**2, weight, 0.0)
        cancelled = spread <= _CANCELLED * squares
        if self.power != 0:
            total, about_pivot, rest = np.split(rest, [1, 2], axis=1)
            to_pivot = ratio(total, weight * self.pivot, 1.0)
            relative = ratio(shift, weight * self.pivot, 0.0)
            with np.errstate(all="ignore"):  # what is not a number here is formed from the rows
                of_mean = unit_deviance(to_pivot, relative, self.pivot, self.power)
                spread = about_pivot - weight * of_mean
            cancelled |= ~(spread > _CANCELLED * about_pivot)
        self._refine(spread, cancelled[:, :n_outputs], weights_of)
        # Errors far smaller than the spread of the truths may lose digits: they do not count.
        matter = squares > np.tile(spread[:, :n_outputs], n_columns // n_outputs)
        matter[:, :n_outputs] = False
        self._refine(spread, cancelled & matter, weights_of)
        return spread, rest

    def _refine(
        self, spread: FloatArray, where: BoolArray, weights_of: Callable[[int], NDArray[Any]]
    ) -> None:
        for resample, column in np.argwhere(where):
            spread[resample, column] = self._spread_of(weights_of(resample), column)

    def _spread_of(self, unit_weights: NDArray[Any], column: int) -> float:
        weight = unit_weights[self.unit_of_row] * self.row_weight
        drawn = weight > 0
        values = self.columns[drawn, column]
        if not drawn.any() or np.ptp(values) == 0:
            return 0.0
        mean = np.average(values, weights=weight[drawn])
        if self.power == 0:
            return float(np.sum(weight[drawn] * (values - mean) ** 2))
        deviances = unit_deviance(values / mean, (values - mean) / mean, mean, self.power)
        return float(np.sum(weight[drawn] * deviances))

    def unit_keys(self) -> Sequence[NDArray[Any]]:
        """Units of one row are equal where terms and columns are; clusters are never merged."""
        if len(self.columns) == len(self.terms):
            return [*self.terms.T, *self.columns.T]
        return [np.arange(len(self.terms))]

    def take_units(self, units: IntArray) -> ExplainedKernel:
        """Keep representatives of merged units and their rows."""
        place = np.full(len(self.terms), -1)
        place[units] = np.arange(len(units))
        of_row = place[self.unit_of_row]
        kept = np.flatnonzero(of_row >= 0)
        kept = kept[np.argsort(of_row[kept], kind="stable")]
        return replace(
            self,
            terms=np.ascontiguousarray(self.terms[units]),
            columns=self.columns[kept],
            row_weight=self.row_weight[kept],
            unit_of_row=of_row[kept],
        )
