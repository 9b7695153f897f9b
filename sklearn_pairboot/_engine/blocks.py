"""Counts of rows in time order that are drawn in blocks of neighbours."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.random import SFC64, Generator, SeedSequence
from numpy.typing import NDArray

from sklearn_pairboot._engine.counts import CountArray, choose_block_size, narrowed
from sklearn_pairboot._engine.units import Drawn, Units
from sklearn_pairboot._engine.weights import IntArray

KINDS = ("moving", "circular", "stationary")
_BYTES = 8  # of the numbers that a count takes while it is made


@dataclass(frozen=True)
class BlockSource:
    """Draw blocks of ``length`` rows until there are ``n_units`` rows; the last block is cut.

    ``kind`` is ``"moving"``, blocks inside the series (Künsch 1989); ``"circular"``, blocks that
    run on from the last row to the first (Politis and Romano 1992); or ``"stationary"``, such
    blocks of geometric length with mean ``length`` (Politis and Romano 1994).
    """

    n_units: int
    length: int
    kind: str = "moving"
    has_real_weights: bool = field(default=False, init=False)

    @property
    def name(self) -> str:
        """What is drawn, in words."""
        return f"{self.kind} blocks"

    @property
    def block_size(self) -> int:
        """Number of resamples that are drawn together."""
        return choose_block_size(_BYTES * self.n_units)

    def draw(self, seed_sequence: SeedSequence) -> CountArray:
        """Draw the counts of the rows, shape (block_size, n_units)."""
        generator = Generator(SFC64(seed_sequence))
        lengths, resample = self._draw_lengths(generator)
        last = self.n_units - self.length + 1 if self.kind == "moving" else self.n_units
        starts = generator.integers(0, last, size=len(lengths))
        return count_rows(starts, lengths, resample, self.n_units, self.block_size)

    def _draw_lengths(self, generator: Generator) -> tuple[IntArray, IntArray]:
        """Lengths of all blocks, and the resample that each is in."""
        n_rows, n_resamples = self.n_units, self.block_size
        if self.kind == "stationary":
            begins = generator.random((n_resamples, n_rows)) < 1 / self.length
            begins[:, 0] = True
            places = np.flatnonzero(begins)
            return np.diff(places, append=begins.size), places // n_rows
        n_blocks = -(-n_rows // self.length)
        lengths = np.full(n_blocks, self.length)
        lengths[-1] = n_rows - (n_blocks - 1) * self.length
        return np.tile(lengths, n_resamples), np.repeat(np.arange(n_resamples), n_blocks)

    def drawn(self, units: Units) -> Drawn:
        """Name the blocks, and tell how many make up a resample: of random length, on average."""
        rows = "row" if self.length == 1 else "rows"
        if self.kind == "stationary":
            n_blocks = max(1, round(self.n_units / self.length))
            sizes = np.full(n_blocks, self.length)
            return Drawn(f"blocks of {self.length} {rows} on average", n_blocks, sizes)
        n_blocks = -(-self.n_units // self.length)
        sizes = np.full(n_blocks, self.length)
        sizes[-1] = self.n_units - (n_blocks - 1) * self.length
        return Drawn(f"blocks of {self.length} {rows}", n_blocks, sizes)

    def part(self, rows: NDArray[np.intp], n_units: int) -> BlockSource:
        """Draw from some of the rows, still in their order."""
        return BlockSource(n_units, min(self.length, n_units // 2), self.kind)

    def exchangeable(self, units: Units) -> Units:
        """Single rows, though what neighbours share speaks against their exchange."""
        return Units(units.n_rows, units.n_units)


def count_rows(
    starts: IntArray, lengths: IntArray, resample: IntArray, n_rows: int, n_resamples: int
) -> NDArray[Any]:
    """Count how often blocks hold each row, shape (n_resamples, n_rows).

    Each block adds one to the count from its start on, and takes it away after its end. What goes
    beyond the last row goes on at the first.
    """
    # Resample by resample, with a place after the last row: all changes of a resample add to zero,
    # so that one running sum serves all.
    n_places = n_rows + 1
    first = resample * n_places
    over = np.maximum(starts + lengths - n_rows, 0)
    size = n_resamples * n_places
    changes = np.bincount(first + starts, minlength=size)
    changes -= np.bincount(first + starts + lengths - over, minlength=size)
    round_the_end = over > 0
    if round_the_end.any():
        first, over = first[round_the_end], over[round_the_end]
        changes += np.bincount(first, minlength=size)
        changes -= np.bincount(first + over, minlength=size)
    np.cumsum(changes, out=changes)
    return narrowed(changes.reshape(n_resamples, n_places)[:, :-1])
