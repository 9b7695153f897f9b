"""Metrics that are functions of weighted sums of per-row terms."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_pairboot._engine import formulas
from sklearn_pairboot._engine.units import Units
from sklearn_pairboot._engine.weights import (
    BoolArray,
    FloatArray,
    IntArray,
    LeaveOneOut,
    Values,
    Weights,
)

# A spread this much smaller than the sum of squares has lost digits by cancellation.
_CANCELLED = 1e-3
# Below this share of a column's total a leave-one-out remainder is rounding, not data.
_RESIDUE = 1e-13


@dataclass(frozen=True)
class SumsKernel:
    """A metric that is ``formula(weights @ terms)``.

    ``terms`` has shape (n_units, n_terms): rows are summed within units once, so the cost of a
    resample depends on the number of units only.
    """

    terms: FloatArray
    formula: Callable[[FloatArray], formulas.Formula]
    n_models: int
    scale: float = np.nan
    path: str = field(default="sums", init=False)

    @classmethod
    def from_rows(
        cls,
        terms: FloatArray,
        formula: Callable[[FloatArray], formulas.Formula],
        n_models: int,
        units: Units,
        scale: float = np.nan,
    ) -> SumsKernel:
        """Sum the terms of the rows within each unit."""
        return cls(np.ascontiguousarray(units.sum_rows(terms)), formula, n_models, scale)

    def evaluate(self, weights: Weights) -> Values:
        """Evaluate the metric of every model for a block of unit weights."""
        return self.finish(weights.floats @ self.terms, weights)

    def finish(self, sums: FloatArray, weights: Weights) -> Values:
        """Turn sums that were formed together with those of other kernels into values."""
        return Values(*self.formula(sums))

    def leave_one_out(self) -> LeaveOneOut:
        """Evaluate the metric without each unit: its sums are the total less its own."""
        return LeaveOneOut(self.formula(self._sums_without_each()).values)

    def _sums_without_each(self) -> FloatArray:
        remainder: FloatArray = self.terms.sum(axis=0) - self.terms
        size = np.abs(self.terms).sum(axis=0)
        remainder[np.abs(remainder) <= _RESIDUE * size] = 0.0
        return remainder

    def unit_keys(self) -> Sequence[NDArray[Any]]:
        """Units with equal terms are equal."""
        return list(self.terms.T)

    def take_units(self, units: IntArray) -> SumsKernel:
        """Keep the terms of representatives of merged units."""
        return replace(self, terms=np.ascontiguousarray(self.terms[units]))


@dataclass(frozen=True)
class R2Kernel(SumsKernel):
    """Coefficient of determination, exact where the drawn truths are nearly or quite constant.

    The one-pass spread of centred truths loses digits when the drawn truths lie close together
    but far from the mean of all; there the spread is formed again from the rows.
    """

    truth: FloatArray = field(default_factory=lambda: np.empty(0))
    row_weight: FloatArray = field(default_factory=lambda: np.empty(0))
    unit_of_row: IntArray = field(default_factory=lambda: np.empty(0, dtype=np.int64))

    @classmethod
    def from_truth(
        cls, truth: FloatArray, squared_errors: FloatArray, row_weight: FloatArray, units: Units
    ) -> R2Kernel:
        """Build from the truths, shape (n_rows,), and errors, shape (n_rows, n_models)."""
        mean = np.average(truth, weights=row_weight)
        centred = truth - mean
        columns = np.column_stack([np.ones_like(centred), centred, centred**2, squared_errors])
        terms = units.sum_rows(row_weight[:, None] * columns)
        of_row = np.arange(units.n_rows) if units.of_row is None else units.of_row
        return cls(
            terms=np.ascontiguousarray(terms),
            formula=formulas.mean,
            n_models=squared_errors.shape[1],
            truth=truth,
            row_weight=row_weight,
            unit_of_row=of_row,
        )

    def finish(self, sums: FloatArray, weights: Weights) -> Values:
        """Form the spread, again from the rows where it cancelled, and divide."""
        spread = formulas.centred_spread(sums)
        for resample in np.flatnonzero(spread <= _CANCELLED * sums[:, 2]):
            spread[resample] = self._spread_of(weights.counts[resample])
        return Values(*formulas.r2(sums, spread=spread))

    def _spread_of(self, unit_weights: NDArray[Any]) -> float:
        weight = unit_weights[self.unit_of_row] * self.row_weight
        drawn = weight > 0
        if not drawn.any() or np.ptp(self.truth[drawn]) == 0:
            return 0.0
        mean = np.average(self.truth[drawn], weights=weight[drawn])
        return float(np.sum(weight[drawn] * (self.truth[drawn] - mean) ** 2))

    def leave_one_out(self) -> LeaveOneOut:
        """Evaluate the metric without each unit."""
        sums = self._sums_without_each()
        spread = formulas.centred_spread(sums)
        for unit in np.flatnonzero(spread <= _CANCELLED * sums[:, 2]):
            weights = np.ones(len(self.terms))
            weights[unit] = 0.0
            spread[unit] = self._spread_of(weights)
        return LeaveOneOut(formulas.r2(sums, spread=spread).values)

    def unit_keys(self) -> Sequence[NDArray[Any]]:
        """Units with equal terms and an equal truth are equal; clusters are never merged."""
        if len(self.truth) == len(self.terms):
            return [*super().unit_keys(), self.truth]
        return [np.arange(len(self.terms))]

    def take_units(self, units: IntArray) -> R2Kernel:
        """Keep representatives of merged rows."""
        return replace(
            self,
            terms=np.ascontiguousarray(self.terms[units]),
            truth=self.truth[units],
            row_weight=self.row_weight[units],
            unit_of_row=np.arange(len(units)),
        )


def fuse(kernels: Sequence[Any]) -> tuple[FloatArray, list[slice]]:
    """Stack the terms of several kernels, so that one matrix product serves them all."""
    widths = [kernel.terms.shape[1] for kernel in kernels]
    ends = np.cumsum(widths)
    slices = [slice(int(end - width), int(end)) for end, width in zip(ends, widths, strict=True)]
    return np.ascontiguousarray(np.hstack([kernel.terms for kernel in kernels])), slices


def no_mask(shape: tuple[int, ...]) -> BoolArray:
    """Give a mask that marks nothing."""
    return np.zeros(shape, dtype=bool)
