"""Counts of rows that are drawn inside drawn clusters."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.random import SFC64, Generator, SeedSequence
from numpy.typing import NDArray

from sklearn_pairboot._engine.counts import (
    CountArray,
    choose_block_size,
    draw_counts_directly,
    narrowed,
)
from sklearn_pairboot._engine.units import Drawn, Units
from sklearn_pairboot._engine.weights import IntArray

_BYTES = 8  # of the numbers that a count takes while it is made


@dataclass(frozen=True, eq=False)
class TwoStageSource:
    """Draw clusters, then for every drawn copy of a cluster as many of its rows as it has.

    ``of_row`` numbers the cluster of each row. The rows of several copies of a cluster are drawn
    together: sums of independent multinomial counts of one law are multinomial.
    """

    of_row: IntArray

    name: str = field(default="two-stage", init=False)
    has_real_weights: bool = field(default=False, init=False)

    @property
    def n_units(self) -> int:
        """Number of rows, which have the weights."""
        return len(self.of_row)

    @property
    def block_size(self) -> int:
        """Number of resamples that are drawn together."""
        return choose_block_size(_BYTES * self.n_units)

    @cached_property
    def sizes(self) -> IntArray:
        """Number of rows of every cluster."""
        return np.bincount(self.of_row)

    @cached_property
    def _clusters_by_size(self) -> list[tuple[int, IntArray]]:
        """Every size with its clusters, which are drawn from in one go."""
        return [(int(size), np.flatnonzero(self.sizes == size)) for size in np.unique(self.sizes)]

    @cached_property
    def _place_of_row(self) -> IntArray:
        """Where each row stands in the order of the clusters."""
        places = np.empty(self.n_units, dtype=np.int64)
        places[np.argsort(self.of_row, kind="stable")] = np.arange(self.n_units)
        return places

    def draw(self, seed_sequence: SeedSequence) -> CountArray:
        """Draw the counts of the rows, shape (block_size, n_units)."""
        generator = Generator(SFC64(seed_sequence))
        n_resamples = self.block_size
        of_clusters = draw_counts_directly(generator, len(self.sizes), n_resamples)
        first = np.cumsum(self.sizes) - self.sizes
        positions = [
            self._draw_rows(generator, of_clusters[:, clusters], first[clusters], size)
            for size, clusters in self._clusters_by_size
        ]
        size = n_resamples * self.n_units
        counts = narrowed(np.bincount(np.concatenate(positions), minlength=size))
        return counts.reshape(n_resamples, self.n_units)[:, self._place_of_row]

    def _draw_rows(
        self, generator: Generator, of_clusters: CountArray, first: IntArray, size: int
    ) -> IntArray:
        """Draw rows of clusters of one size; places count row by row, resample by resample."""
        start = np.arange(len(of_clusters))[:, np.newaxis] * self.n_units + first
        places = np.repeat(start.ravel(), size * of_clusters.ravel().astype(np.int64))
        places += generator.integers(0, size, size=len(places))
        return places

    def drawn(self, units: Units) -> Drawn:
        """Name the clusters, of which a resample has as many as there are."""
        return Drawn("clusters", len(self.sizes), self.sizes)

    def part(self, rows: NDArray[np.intp], n_units: int) -> TwoStageSource:
        """Draw from some of the rows; clusters without any are left out."""
        return TwoStageSource(np.unique(self.of_row[rows], return_inverse=True)[1].reshape(-1))

    def exchangeable(self, units: Units) -> Units:
        """Whole clusters exchange the answers of two models."""
        return Units(self.n_units, len(self.sizes), self.of_row)
