"""Metrics that are functions of weighted sums of per-row terms."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
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
        row_weight: FloatArray | None = None,
    ) -> SumsKernel:
        """Sum the terms of the rows within each unit.

        With ``row_weight`` the metric is undefined where the drawn rows have no weight; formulas
        whose terms tell so themselves do without.
        """
        if row_weight is not None:
            terms = np.column_stack([row_weight, terms])
            formula = partial(formulas.where_weighted, formula=formula)
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


def fuse(kernels: Sequence[Any]) -> tuple[FloatArray, list[slice]]:
    """Stack the terms of several kernels, so that one matrix product serves them all."""
    widths = [kernel.terms.shape[1] for kernel in kernels]
    ends = np.cumsum(widths)
    slices = [slice(int(end - width), int(end)) for end, width in zip(ends, widths, strict=True)]
    return np.ascontiguousarray(np.hstack([kernel.terms for kernel in kernels])), slices


def no_mask(shape: tuple[int, ...]) -> BoolArray:
    """Give a mask that marks nothing."""
    return np.zeros(shape, dtype=bool)
