"""The resampling units: which rows are drawn together, and from which stratum."""

from __future__ import annotations

from dataclasses import dataclass

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
