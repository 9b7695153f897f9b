"""Sums over groups of rows that stand in lines of equal length.

All rows of a line are of one cell: they belong to the same groups. Sums within lines are work on
whole arrays, whatever the cells; what is left to put together are few lines.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from sklearn_pairboot._engine.units import Units
from sklearn_pairboot._engine.weights import FloatArray, IntArray, Weights

# Measured with 100,000 rows and 16 resamples, ns per row, resample and term: 0.25 in lines of 32
# rows, 0.20 in lines of 64. Longer lines have more places to fill up.
MOST_IN_LINE = 64
# Lines are shorter where the rows that fill up the last of a cell would be more than this share.
_MOST_FILLING = 0.25
# Counts become floats for matrix products in pieces. Measured as above, ns per row and resample
# with two forecasts: 1.56 in pieces of 2**15 floats, 1.54 of 2**16, 1.34 of 2**17 and 2**18.
_FLOATS_AT_ONCE = 2**17


class Cells(NamedTuple):
    """Rows in the order of their cells, how many each cell has, and how many go into a line."""

    order: IntArray
    sizes: IntArray
    length: int

    @classmethod
    def of(cls, codes: IntArray) -> Cells:
        """Find the cells of rows with equal codes."""
        codes = codes.astype(np.min_scalar_type(int(codes.max())))  # short codes sort faster
        order = np.argsort(codes, kind="stable")
        ends = np.flatnonzero(np.diff(codes[order])) + 1
        sizes = np.diff(ends, prepend=0, append=len(codes))
        length = MOST_IN_LINE
        while length > 1 and (-sizes % length).sum() > _MOST_FILLING * len(codes):
            length //= 2
        return cls(order, sizes, length)


@dataclass(frozen=True, eq=False)
class Lines:
    """Lines of rows, the last of each cell filled up with rows of no weight.

    ``units`` has the unit of each place, shape (n_lines, length); ``terms`` has shape
    (n_terms, n_lines, 1, length) and is zero where a place has no row. ``groups`` is a sparse
    array with a row for each group and a column for each line, 1 where the line belongs to it.
    """

    units: IntArray
    terms: FloatArray
    groups: Any

    @classmethod
    def of(
        cls,
        cells: Cells,
        terms: Sequence[FloatArray],
        units: Units,
        *,
        groups: Sequence[IntArray],
        n_groups: int,
    ) -> Lines:
        """Arrange the rows of cells in lines.

        Each of ``groups`` puts every row into one of ``n_groups``; those of the next come after.
        """
        length = cells.length
        n_places = cells.sizes + -cells.sizes % length
        before = np.cumsum(n_places) - n_places - (np.cumsum(cells.sizes) - cells.sizes)
        places = np.arange(len(cells.order)) + np.repeat(before, cells.sizes)
        rows = np.full(int(n_places.sum()), -1)
        rows[places] = cells.order
        of_places = np.stack([term[rows] for term in terms])
        of_places[:, rows < 0] = 0.0
        first = rows[::length]
        numbers = np.concatenate(
            [place * n_groups + of_rows[first] for place, of_rows in enumerate(groups)]
        )
        lines = np.tile(np.arange(len(first)), len(groups))
        return cls(
            units.of_each_row[rows].reshape(-1, length),
            of_places.reshape(len(terms), -1, 1, length),
            sparse.csr_array(
                (np.ones(len(lines)), (numbers, lines)),
                shape=(len(groups) * n_groups, len(first)),
            ),
        )

    def sums_of_groups(self, weights: Weights) -> FloatArray:
        """Sum within each group, shape (n_groups, n_terms, n_resamples)."""
        of_lines = self._sums_of_lines(weights)
        sums = self.groups @ of_lines.reshape(len(of_lines), -1)
        return np.asarray(sums).reshape(-1, *of_lines.shape[1:])

    def _sums_of_lines(self, weights: Weights) -> FloatArray:
        """Sum within each line, shape (n_lines, n_terms, n_resamples)."""
        by_unit, workspace = weights.by_unit, weights.workspace
        (n_lines, length), n_resamples = self.units.shape, by_unit.shape[1]
        sums = workspace.array("of lines", (n_lines, len(self.terms), n_resamples), np.float64)
        n_at_once = max(1, _FLOATS_AT_ONCE // (length * n_resamples))
        floats = workspace.array("in lines", (n_at_once, length, n_resamples), np.float64)
        for start in range(0, n_lines, n_at_once):
            piece = slice(start, min(start + n_at_once, n_lines))
            as_floats = floats[: piece.stop - start]
            as_floats[...] = by_unit.take(self.units[piece], axis=0)
            for number, term in enumerate(self.terms):
                np.matmul(term[piece], as_floats, out=sums[piece, number : number + 1])
        return sums
