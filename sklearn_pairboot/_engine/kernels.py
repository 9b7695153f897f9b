"""Metrics that are functions of weighted sums of per-row terms."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
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
    resample depends on the number of units only. With ``cells`` it has shape (n_cells, n_terms),
    and each unit has the terms of its cell: labels make few cells of many rows.
    """

    terms: FloatArray
    formula: Callable[[FloatArray], formulas.Formula]
    n_models: int
    scale: float = np.nan
    cells: IntArray | None = None
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

    @classmethod
    def from_cells(
        cls,
        terms: FloatArray,
        cells: IntArray,
        formula: Callable[[FloatArray], formulas.Formula],
        n_models: int,
        units: Units,
        scale: float = np.nan,
        row_weight: FloatArray | None = None,
    ) -> SumsKernel:
        """Take the terms of the cell of each row, times its weight, and sum them within units.

        The metric is undefined where the drawn rows have no weight.
        """
        terms = np.column_stack([np.ones(len(terms)), terms])
        formula = partial(formulas.where_weighted, formula=formula)
        if row_weight is None and units.of_row is None:
            return cls(terms, formula, n_models, scale, cells)
        n_cells = len(terms)
        if units.of_row is not None and units.n_units * n_cells <= units.n_rows:
            places = units.of_row * n_cells + cells
            in_cells = np.bincount(places, row_weight, units.n_units * n_cells)
            return cls(in_cells.reshape(-1, n_cells) @ terms, formula, n_models, scale)
        of_rows = terms[cells] if row_weight is None else row_weight[:, None] * terms[cells]
        return cls(np.ascontiguousarray(units.sum_rows(of_rows)), formula, n_models, scale)

    @cached_property
    def unit_terms(self) -> FloatArray:
        """Terms of every unit, shape (n_units, n_terms)."""
        return self.terms if self.cells is None else self.terms[self.cells]

    def evaluate(self, weights: Weights) -> Values:
        """Evaluate the metric of every model for a block of unit weights."""
        return self.finish(weights.dot(self.unit_terms), weights)

    def finish(self, sums: FloatArray, weights: Weights) -> Values:
        """Turn sums that were formed together with those of other kernels into values."""
        return Values(*self.formula(sums))

    def leave_one_out(self) -> LeaveOneOut:
        """Evaluate the metric without each unit: its sums are the total less its own."""
        return LeaveOneOut(self.formula(self._sums_without_each()).values)

    def _sums_without_each(self) -> FloatArray:
        terms = self.unit_terms
        remainder: FloatArray = terms.sum(axis=0) - terms
        size = np.abs(terms).sum(axis=0)
        remainder[np.abs(remainder) <= _RESIDUE * size] = 0.0
        return remainder

    def unit_keys(self) -> Sequence[NDArray[Any]]:
        """Units with equal terms, or of the same cell, are equal."""
        return list(self.terms.T) if self.cells is None else [self.cells]

    def take_units(self, units: IntArray) -> SumsKernel:
        """Keep the terms of representatives of merged units."""
        of_units = units if self.cells is None else self.cells[units]
        return replace(self, terms=np.ascontiguousarray(self.terms[of_units]), cells=None)


def item_means(
    scores: FloatArray, row_weight: FloatArray, units: Units, *, root: bool = False
) -> SumsKernel:
    """Mean of per-row scores, shape (n_rows, n_models)."""
    weight = row_weight[:, None]
    return SumsKernel.from_rows(
        np.hstack([weight, weight * scores]),
        partial(formulas.mean, root=root),
        scores.shape[1],
        units,
        scale=np.nan if root else float(np.abs(scores).max()),
    )


def fuse(kernels: Sequence[Any]) -> tuple[FloatArray, list[IntArray]]:
    """Stack the terms of several kernels, so that one matrix product serves them all.

    Terms that several of them share, such as the weight, are there once; also returned are the
    places of each kernel's terms.
    """
    columns: list[FloatArray] = []
    places_of_sum: dict[float, list[int]] = {}
    places = []
    for kernel in kernels:
        of_kernel = []
        for column in kernel.unit_terms.T:
            alike = places_of_sum.setdefault(float(column.sum()), [])
            same = [place for place in alike if np.array_equal(columns[place], column)]
            if not same:
                same = [len(columns)]
                alike += same
                columns.append(column)
            of_kernel += same
        places.append(np.array(of_kernel, dtype=np.int64))
    return np.column_stack(columns), places


def no_mask(shape: tuple[int, ...]) -> BoolArray:
    """Give a mask that marks nothing."""
    return np.zeros(shape, dtype=bool)
