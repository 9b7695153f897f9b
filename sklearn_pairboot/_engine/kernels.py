"""Metrics that are functions of weighted sums of per-row terms."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from sklearn_pairboot._engine import formulas
from sklearn_pairboot._engine.gradients import gradient
from sklearn_pairboot._engine.units import Units
from sklearn_pairboot._engine.weights import (
    BoolArray,
    FloatArray,
    IntArray,
    LeaveOneOut,
    Values,
    Weights,
)

# Arrays of shape (n_units, n_terms): float64, small integers, or sparse.
Terms = Any

csr_array: Any = sparse.csr_array  # its stubs ask for more than is known here

_NUMBERS_AT_ONCE = 2**20
_MOST_DENSE = 2**21
# Below this share of a column's total a leave-one-out remainder is rounding, not data.
_RESIDUE = 1e-13


@dataclass(frozen=True)
class SumsKernel:
    """A metric that is ``formula(weights @ terms)``.

    ``terms`` has shape (n_units, n_terms): rows are summed within units once, so the cost of a
    resample depends on the number of units only. With ``cells`` it has shape (n_cells, n_terms),
    and each unit has the terms of its cell: labels make few cells of many rows. Terms may be
    small integers, or a sparse array where most of many are zero.
    """

    terms: Terms
    formula: Callable[[FloatArray], formulas.Formula]
    n_models: int
    scale: float = np.nan
    cells: IntArray | None = None
    path: str = field(default="sums", init=False)

    @classmethod
    def from_rows(
        cls,
        terms: Terms,
        formula: Callable[[FloatArray], formulas.Formula],
        n_models: int,
        units: Units,
        scale: float = np.nan,
        row_weight: NDArray[Any] | None = None,
    ) -> SumsKernel:
        """Sum the terms of the rows within each unit.

        With ``row_weight`` the metric is undefined where the drawn rows have no weight; formulas
        whose terms tell so themselves do without.
        """
        if row_weight is not None:
            terms = stack([row_weight[:, None], terms])
            formula = partial(formulas.where_weighted, formula=formula)
        return cls(_settled(_sum_rows(terms, units)), formula, n_models, scale)

    @classmethod
    def from_cells(
        cls,
        terms: Terms,
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
        n_cells = terms.shape[0]
        terms = stack([np.ones((n_cells, 1)), terms])
        formula = partial(formulas.where_weighted, formula=formula)
        if row_weight is None and units.of_row is None:
            return cls(terms, formula, n_models, scale, cells)
        if units.of_row is not None and units.n_units * n_cells <= units.n_rows:
            places = units.of_row * n_cells + cells
            in_cells = np.bincount(places, row_weight, units.n_units * n_cells)
            return cls(in_cells.reshape(-1, n_cells) @ terms, formula, n_models, scale)
        of_rows = terms[cells]
        if row_weight is not None:
            of_rows = of_rows * row_weight[:, None]
        return cls(_settled(_sum_rows(of_rows, units)), formula, n_models, scale)

    @cached_property
    def unit_terms(self) -> Terms:
        """Terms of every unit, shape (n_units, n_terms)."""
        return self.terms if self.cells is None else self.terms[self.cells]

    @property
    def is_sparse(self) -> bool:
        """Whether most terms are zero and are not stored."""
        return sparse.issparse(self.terms)

    def evaluate(self, weights: Weights) -> Values:
        """Evaluate the metric of every model for a block of unit weights."""
        return self.finish(weights.dot(self.unit_terms), weights)

    def finish(self, sums: FloatArray, weights: Weights) -> Values:
        """Turn sums that were formed together with those of other kernels into values."""
        return Values(*self.formula(sums))

    def influence(self, weights: Weights) -> FloatArray:
        """Differentiate by the sums, which change by a unit's terms with its weight."""
        return self._by_units(self._gradient(weights.dot(self.unit_terms), weights))

    def _gradient(self, sums: FloatArray, weights: Weights) -> FloatArray:
        return gradient(self.formula, sums, self._sizes(sums, weights))

    def _sizes(self, sums: FloatArray, weights: Weights) -> FloatArray:
        """Sum the absolute values of the terms."""
        return weights.dot(abs(self.unit_terms)) if self._has_signs else sums

    def _by_units(self, by_sum: FloatArray) -> FloatArray:
        by_unit = self.unit_terms @ by_sum.reshape(-1, by_sum.shape[2]).T
        return np.asarray(by_unit).T.reshape(*by_sum.shape[:2], -1)

    @cached_property
    def _has_signs(self) -> bool:
        return bool(self.terms.min() < 0)

    def leave_one_out(self) -> LeaveOneOut:
        """Evaluate the metric without each unit: its sums are the total less its own."""
        terms = self.unit_terms
        n_at_once = max(1, _NUMBERS_AT_ONCE // terms.shape[1])
        values = [
            self.formula(self._sums_without(slice(start, start + n_at_once))).values
            for start in range(0, terms.shape[0], n_at_once)
        ]
        return LeaveOneOut(np.concatenate(values))

    def _sums_without(self, units: slice) -> FloatArray:
        """Leave out each of some units in turn."""
        total, size = self._totals
        remainder: FloatArray = total - _dense(self.unit_terms[units])
        remainder[np.abs(remainder) <= _RESIDUE * size] = 0.0
        return remainder

    @cached_property
    def _totals(self) -> tuple[FloatArray, FloatArray]:
        terms = self.unit_terms
        total = np.asarray(terms.sum(axis=0), dtype=np.float64).ravel()
        return total, np.asarray(abs(terms).sum(axis=0), dtype=np.float64).ravel()

    def unit_keys(self) -> Sequence[NDArray[Any]] | None:
        """Units with equal terms, or of the same cell, are equal."""
        if self.cells is not None:
            return [self.cells]
        return None if self.is_sparse else list(self.terms.T)

    @property
    def mean_terms(self) -> FloatArray | None:
        """Weight, and weighted score of each model, of every unit; ``None`` if it is no mean."""
        formula, keywords, place = formulas.unwrapped(self.formula)
        if formula is not formulas.mean or keywords.get("root") or self.is_sparse:
            return None
        terms: FloatArray = self.unit_terms[:, place:].astype(np.float64)
        return terms

    def take_units(self, units: IntArray) -> SumsKernel:
        """Keep the terms of representatives of merged units."""
        of_units = units if self.cells is None else self.cells[units]
        return replace(self, terms=_settled(self.terms[of_units]), cells=None)


def stack(parts: Sequence[Terms]) -> Terms:
    """Put terms side by side, shape (n, n_terms); sparse where one of them is."""
    if any(sparse.issparse(part) for part in parts):
        return csr_array(sparse.hstack([csr_array(part) for part in parts]))
    return np.hstack(parts)


def _sum_rows(terms: Terms, units: Units) -> Terms:
    if not sparse.issparse(terms):
        return units.sum_rows(terms)
    if units.of_row is None:
        return terms
    ones, rows = np.ones(units.n_rows), np.arange(units.n_rows)
    members = csr_array((ones, (units.of_row, rows)), shape=(units.n_units, units.n_rows))
    return members @ csr_array(terms)


def _settled(terms: Terms) -> Terms:
    """Keep terms in the form that products are made with: dense unless they are many."""
    if not sparse.issparse(terms):
        return np.ascontiguousarray(terms)
    kept = csr_array(terms)
    return kept.toarray() if np.prod(kept.shape) <= _MOST_DENSE else kept


def _dense(terms: Terms) -> FloatArray:
    dense: Terms = terms
    if sparse.issparse(terms):
        dense = cast("Any", terms).toarray()
    floats: FloatArray = dense.astype(np.float64)
    return floats


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


def mean_of_one(terms: FloatArray, model: int, scale: float) -> SumsKernel:
    """Take one model out of `SumsKernel.mean_terms`."""
    return SumsKernel(np.ascontiguousarray(terms[:, [0, 1 + model]]), formulas.mean, 1, scale)


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
