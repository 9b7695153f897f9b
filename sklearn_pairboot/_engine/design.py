"""How many units there are of which size: what decides the degrees of freedom of a variance."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from sklearn_pairboot._engine.inversion import Expansion
from sklearn_pairboot._engine.units import Units
from sklearn_pairboot._engine.weights import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Design:
    """Numbers of units by stratum and by rows per unit; the three arrays belong together."""

    stratum: IntArray
    size: IntArray
    count: IntArray

    @classmethod
    def of(cls, units: Units) -> Design:
        """Count the units of each kind; under a scheme all that it draws are of one kind."""
        if units.scheme is not None:
            one = np.zeros(1, dtype=np.int64)
            return cls(one, one + 1, one + units.drawn.number)
        sizes = units.rows_per_unit
        codes = sizes
        n_sizes = int(sizes.max()) + 1
        if units.stratum is not None:
            codes = units.stratum * n_sizes + sizes
        if int(codes.max()) <= 4 * units.n_rows:
            counts = np.bincount(codes)
            kinds = np.flatnonzero(counts)
            count = counts[kinds]
        else:  # many strata, and a unit of many rows: sorting takes less memory
            kinds, count = np.unique(codes, return_counts=True)
        return cls(kinds // n_sizes, kinds % n_sizes, count)

    def _by_stratum(self, values: FloatArray) -> FloatArray:
        """Sum over the units of each stratum that has two units or more: others do not vary."""
        n_units = np.bincount(self.stratum, self.count)
        sums = np.bincount(self.stratum, weights=self.count * values)
        return np.asarray(sums[n_units > 1], dtype=np.float64)

    @property
    def expansion(self) -> Expansion:
        """How far percentiles are to be moved out for so few units."""
        n_units = self._by_stratum(np.ones(len(self.size)))
        return Expansion(int(n_units.sum()), len(n_units))

    @property
    def is_balanced(self) -> bool:
        """Whether the units of each stratum have one size."""
        return len(np.unique(self.stratum)) == len(self.stratum)

    def df(self, correlation: float) -> float:
        """Degrees of freedom of a variance between units whose rows have this correlation.

        The total of a unit of n rows has a variance proportional to ``a = n (1 + (n - 1) rho)``,
        so that units count as ``(sum a)^2 / sum a^2`` of one size, less one for each stratum.
        """
        size = self.size.astype(np.float64)
        variance = size * (1 + (size - 1) * max(correlation, 0.0))
        n_effective = self._by_stratum(variance) ** 2 / self._by_stratum(variance**2)
        return float((n_effective - 1).sum())


class MeanSquares(NamedTuple):
    """One-way analysis of variance between and within clusters; ``size`` is their mean size.

    The mean squares are matrices over the columns of the values: of a contrast c of columns they
    are ``c' between c`` and ``c' within c``. The size is the mean less the variance of the sizes
    over the total (Donner 1986).
    """

    between: FloatArray
    within: FloatArray
    size: float

    @classmethod
    def of(cls, values: FloatArray, cluster: IntArray) -> MeanSquares:
        """Analyse columns, shape (n_rows, n_columns), by the cluster of each row."""
        sizes = np.bincount(cluster)
        n_rows, n_clusters = len(values), len(sizes)
        sums = np.column_stack([np.bincount(cluster, weights=column) for column in values.T])
        means = sums / sizes[:, None]
        rest, shift = values - means[cluster], means - values.mean(axis=0)
        return cls(
            (shift * sizes[:, None]).T @ shift / (n_clusters - 1),
            rest.T @ rest / (n_rows - n_clusters),
            (n_rows - float(sizes @ sizes) / n_rows) / (n_clusters - 1),
        )


def correlation_of(ratio: float, size: float) -> float:
    """Intraclass correlation from the ratio of mean squares between and within clusters."""
    return 1.0 if math.isinf(ratio) else float((ratio - 1) / (ratio - 1 + size))
