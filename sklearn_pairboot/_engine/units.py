"""The resampling units: which rows are drawn together, and from which stratum."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Units:
    """Resampling units of a data set with ``n_rows`` rows.

    ``of_row`` numbers the unit of each row (``None``: every row is its own unit) and ``stratum``
    the stratum of each unit (``None``: one stratum), both from zero without gaps.
    """

    n_rows: int
    n_units: int
    of_row: NDArray[np.int64] | None = None
    stratum: NDArray[np.int64] | None = None

    @property
    def rows_per_unit(self) -> NDArray[np.int64]:
        """Number of rows of every unit."""
        if self.of_row is None:
            return np.ones(self.n_units, dtype=np.int64)
        return np.bincount(self.of_row, minlength=self.n_units)

    def sum_rows(self, terms: NDArray[np.float64]) -> NDArray[np.float64]:
        """Sum the rows of ``terms``, shape (n_rows, n_terms), within each unit."""
        if self.of_row is None:
            return terms
        sums = np.empty((self.n_units, terms.shape[1]))
        for column in range(terms.shape[1]):
            sums[:, column] = np.bincount(
                self.of_row, weights=terms[:, column], minlength=self.n_units
            )
        return sums


def part_of_units(units: Units, rows: NDArray[Any]) -> tuple[Units, NDArray[np.int64]]:
    """Units of some rows, numbered anew, and their numbers among all units."""
    codes = rows.astype(np.int64) if units.of_row is None else units.of_row[rows]
    kept, local = np.unique(codes, return_inverse=True)
    of_row: NDArray[np.int64] | None = local.reshape(-1).astype(np.int64)
    if units.of_row is None and len(kept) == len(rows):
        kept, of_row = codes, None  # rows are units, in their own order
    stratum = None
    if units.stratum is not None:
        _, stratum = np.unique(units.stratum[kept], return_inverse=True)
        stratum = stratum.reshape(-1).astype(np.int64)
    return Units(len(rows), len(kept), of_row, stratum), kept
