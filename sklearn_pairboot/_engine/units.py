"""The resampling units: which rows are drawn together, and from which stratum."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.random import SeedSequence
from numpy.typing import NDArray
from scipy import sparse


@dataclass(frozen=True)
class Units:
    """Resampling units of a data set with ``n_rows`` rows.

    ``of_row`` numbers the unit of each row (``None``: every row is its own unit) and ``stratum``
    the stratum of each unit (``None``: one stratum), both from zero without gaps. Their weights
    are counts of draws with replacement, or follow another ``scheme``.
    """

    n_rows: int
    n_units: int
    of_row: NDArray[np.int64] | None = None
    stratum: NDArray[np.int64] | None = None
    scheme: Scheme | None = None

    @property
    def drawn(self) -> Drawn:
        """What a resample draws."""
        return Drawn.whole(self) if self.scheme is None else self.scheme.drawn(self)

    @property
    def exchangeable(self) -> Units:
        """The units inside which two models exchange their answers, under no scheme."""
        return self if self.scheme is None else self.scheme.exchangeable(self)

    @property
    def of_each_row(self) -> NDArray[np.int64]:
        """Number of the unit of each row."""
        return np.arange(self.n_rows) if self.of_row is None else self.of_row

    def single_rows(self) -> Units:
        """Give the units of the same rows when each is its own."""
        return Units(self.n_rows, self.n_rows)

    @property
    def rows_per_unit(self) -> NDArray[np.int64]:
        """Number of rows of every unit."""
        if self.of_row is None:
            return np.ones(self.n_units, dtype=np.int64)
        return np.bincount(self.of_row, minlength=self.n_units)

    def sum_along_rows(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Sum ``values``, shape (n, n_rows), within each unit, shape (n, n_units)."""
        if self.of_row is None:
            return values
        rows = np.arange(self.n_rows)
        shape = self.n_units, self.n_rows
        members = sparse.csr_array((np.ones(self.n_rows), (self.of_row, rows)), shape=shape)
        return np.asarray(members @ values.T).T

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


class Drawn(NamedTuple):
    """What a resample draws: its name in words, how many, and their numbers of rows."""

    name: str
    number: int
    sizes: NDArray[np.int64]

    @classmethod
    def whole(cls, units: Units) -> Drawn:
        """Rows or clusters, each as a whole."""
        name = "rows" if units.of_row is None else "clusters"
        return cls(name, units.n_units, units.rows_per_unit)


class Scheme(Protocol):
    """A law of weights other than counts of units drawn with replacement.

    Like `CountSource` it draws block by block, each from its own seed. It leaves no unit out in
    turn, and units under it are not merged.
    """

    @property
    def name(self) -> str:
        """Name of the law."""
        ...

    @property
    def has_real_weights(self) -> bool:
        """Whether weights are real numbers, and no counts."""
        ...

    @property
    def n_units(self) -> int:
        """Number of units, which have the weights."""
        ...

    @property
    def block_size(self) -> int:
        """Number of resamples in a block; it depends on ``n_units`` alone."""
        ...

    def draw(self, seed_sequence: SeedSequence) -> NDArray[Any]:
        """Draw one block of weights, shape (block_size, n_units), from nothing but the seed."""
        ...

    def drawn(self, units: Units) -> Drawn:
        """Tell what a resample draws."""
        ...

    def part(self, rows: NDArray[np.intp], n_units: int) -> Scheme:
        """Restrict the scheme to some rows, which make up ``n_units`` units."""
        ...

    def exchangeable(self, units: Units) -> Units:
        """Give the units inside which two models exchange their answers."""
        ...
