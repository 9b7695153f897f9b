"""Real weights of the Bayesian bootstrap."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.random import SFC64, Generator, SeedSequence
from numpy.typing import NDArray

from sklearn_pairboot._engine.counts import choose_block_size
from sklearn_pairboot._engine.units import Drawn, Units
from sklearn_pairboot._engine.weights import FloatArray

_BYTES = 8  # of a weight


@dataclass(frozen=True)
class DirichletSource:
    """Draw Dirichlet(1, ..., 1) weights of the units, times the number of units."""

    n_units: int

    name: str = field(default="Bayesian", init=False)
    has_real_weights: bool = field(default=True, init=False)

    @property
    def block_size(self) -> int:
        """Number of draws that are made together."""
        return choose_block_size(_BYTES * self.n_units)

    def draw(self, seed_sequence: SeedSequence) -> FloatArray:
        """Draw the weights, shape (block_size, n_units): exponential ones over their mean."""
        generator = Generator(SFC64(seed_sequence))
        weights = generator.standard_exponential((self.n_units, self.block_size))
        weights /= weights.mean(axis=0)
        return weights.T

    def drawn(self, units: Units) -> Drawn:
        """Name the units that have weights."""
        return Drawn.whole(units)

    def part(self, rows: NDArray[np.intp], n_units: int) -> DirichletSource:
        """Weigh some of the units."""
        return DirichletSource(n_units)

    def exchangeable(self, units: Units) -> Units:
        """Rows or clusters, as they have weights."""
        return Units(units.n_rows, units.n_units, units.of_row)
