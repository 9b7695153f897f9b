"""Draws of unit weights: exact multinomial counts, a block of resamples at a time."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.random import SFC64, BitGenerator, Generator, SeedSequence
from numpy.typing import NDArray
from scipy.special import gammaln

CountArray = NDArray[np.integer[Any]]
IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]

# Work on counts must stay in cache, yet what a block costs whatever its size, 0.1 ms, must not
# show. Larger blocks are drawn, and ranks evaluated, in slices of this size.
_MOST_COUNTS_OF_BLOCK = 200_000
_MOST_ROWS_OF_BLOCK = 4096
# Terms of sums are read once a block. Measured with 100,000 units and 6 terms, ns per count of
# the matrix product: 2.0 with 2 resamples in a block, 0.8 with 8, 0.8 with 16.
_LEAST_ROWS_OF_BLOCK = 8
_MOST_FLOATS_OF_BLOCK = 16_000_000

_TABLE_SIZE = 256
_MARKER = 255  # table entry for "not decided by this byte"; far above any Poisson count met here
_LOWEST_RATE, _HIGHEST_RATE = 0.01, 16.0
_DEVIATIONS_BELOW = 3.5  # of the Poisson total below n: a surplus, which costs more, is rare
_TAIL = 1e-30  # probability beyond which the Poisson law is cut, out of reach of any generator

# Measured, ns per count, one thread, direct draws against byte tables: 5.9 to 7.4 at n = 30,
# 6.0 to 5.1 at n = 50, 5.9 to 5.1 at n = 64, 6 to 4.0 at n = 100. Direct draws made in one piece
# of 100,000 took 14: arrays of that size are fetched from the system each time.
_DIRECT_BELOW = 64
_COUNTS_AT_ONCE_DIRECTLY = 32_768

# Measured, ns per real unit, merged draws with one sums kernel of four terms, units standing for
# r real ones each: 8.7 at r = 20, 5.8 at 30, 3.5 at 35, 3.0 at 40, 0.1 at 1000. Byte tables with
# the same kernel: 3.6 at n = 1,000, 3.1 at 10,000, 3.9 at 100,000.
_MERGE_RATIO = 35


def choose_block_size(n_units: int) -> int:
    """Give the resamples of a block: 100,000 to 200,000 counts, but 8 to 4096 resamples.

    Fewer than 8 only where their float64 weights would take more than 128 MB.
    """
    least = max(1, min(_LEAST_ROWS_OF_BLOCK, _MOST_FLOATS_OF_BLOCK // n_units))
    return min(_MOST_ROWS_OF_BLOCK, max(least, resamples_in_cache(n_units)))


def resamples_in_cache(n_units: int) -> int:
    """Give the number of resamples whose counts stay in cache together, at least one."""
    return max(1, _MOST_COUNTS_OF_BLOCK // n_units)


def should_merge(n_units: int, n_distinct: int) -> bool:
    """Tell whether drawing counts of ``n_distinct`` merged units beats drawing all units."""
    return n_distinct * _MERGE_RATIO <= n_units


def draw_counts(
    bit_generator: BitGenerator, n_units: int, n_resamples: int, *, rate: float | None = None
) -> CountArray:
    """Draw multinomial(n; 1/n, ..., 1/n) counts by the conditional Poisson method.

    Independent Poisson counts of one rate are, given their total, multinomial. They are brought
    to the total ``n_units`` by adding the missing draws uniformly, or by removing a surplus
    without replacement: both keep the law, whatever the rate.

    Parameters
    ----------
    bit_generator : numpy.random.BitGenerator
        Source of 64-bit words: SFC64 or PCG64.
    n_units : int
        Number of units and of draws in a resample, at least 1.
    n_resamples : int
        Number of resamples.
    rate : float, default=None
        Poisson rate, 0.01 to 16; a matter of speed alone. None: 1 - 3.5 / sqrt(n), so low that
        a surplus is rare.

    Returns
    -------
    ndarray of shape (n_resamples, n_units)
        uint8, or uint32 when a count does not fit.
    """
    if rate is None:
        rate = max(0.25, 1.0 - _DEVIATIONS_BELOW / n_units**0.5)
    n_at_once = resamples_in_cache(n_units)
    if n_resamples > n_at_once:
        parts = [
            draw_counts(bit_generator, n_units, min(n_at_once, n_resamples - start), rate=rate)
            for start in range(0, n_resamples, n_at_once)
        ]
        return np.concatenate(parts)
    generator = Generator(bit_generator)
    counts = _draw_poisson(bit_generator, n_resamples * n_units, rate).reshape(-1, n_units)
    totals = _sum_rows(counts)
    for row in np.flatnonzero(totals > n_units):
        surplus = generator.multivariate_hypergeometric(
            counts[row].astype(np.int64), totals[row] - n_units
        )
        counts[row] -= surplus.astype(counts.dtype)
    n_missing = np.maximum(n_units - totals, 0)
    positions = np.repeat(np.arange(n_resamples) * n_units, n_missing)
    positions += generator.integers(0, n_units, size=positions.size)
    return add_draws(counts, positions, most_of_row=int(n_missing.max(initial=0)))


def add_draws(counts: CountArray, positions: IntArray, *, most_of_row: int) -> CountArray:
    """Add one draw at each position of the ravelled ``counts``; positions may repeat.

    ``most_of_row`` is the largest number of positions in a row of ``counts``, which is changed in
    place, unless a count might not fit: then a wider copy is returned.
    """
    room = int(np.iinfo(counts.dtype).max) - int(counts.max(initial=0))
    # No count gets more draws than its row, or than the 64 neighbours that it is among.
    if most_of_row > room and int(np.bincount(positions >> 6).max()) > room:
        counts = counts.astype(np.uint32)
    np.add.at(counts.reshape(-1), positions, counts.dtype.type(1))
    return counts


def draw_counts_directly(generator: Generator, n_units: int, n_resamples: int) -> CountArray:
    """Draw multinomial counts by drawing the units one by one; the faster way for few units."""
    counts = np.empty((n_resamples, n_units), dtype=np.min_scalar_type(n_units))
    n_rows = max(1, _COUNTS_AT_ONCE_DIRECTLY // n_units)
    for start in range(0, n_resamples, n_rows):
        rows = counts[start : start + n_rows]
        positions = generator.integers(0, n_units, size=rows.shape)
        positions += (np.arange(len(rows)) * n_units)[:, np.newaxis]
        rows[...] = np.bincount(positions.reshape(-1), minlength=rows.size).reshape(rows.shape)
    return counts


def draw_merged_counts(
    generator: Generator, multiplicity: IntArray, n_resamples: int
) -> CountArray:
    """Draw counts of merged units, of which number i stands for ``multiplicity[i]`` real units.

    A resample has as many draws as there are real units. ``multiplicity`` of shape
    (n_strata, n_distinct) draws every stratum on its own. Shape (n_resamples, *multiplicity.shape).
    """
    n_draws = multiplicity.sum(axis=-1)
    shares = multiplicity / n_draws[..., np.newaxis]
    size = (n_resamples, *multiplicity.shape[:-1])
    return generator.multinomial(n_draws, shares, size=size)


@dataclass(frozen=True, eq=False)
class CountSource:
    """Where the engine takes its weights from: block by block, each from its own seed.

    Parameters
    ----------
    n_units : int
        Number of units; of distinct units, if merged.
    stratum : ndarray of shape (n_units,), default=None
        Stratum number of each unit, from zero. Every stratum has as many draws as real units.
        None: one stratum.
    multiplicity : ndarray of shape (n_units,), default=None
        Number of real units that each distinct unit stands for. None: not merged.
    """

    n_units: int
    stratum: IntArray | None = None
    multiplicity: IntArray | None = None

    @property
    def block_size(self) -> int:
        """Number of resamples in a block; it depends on ``n_units`` alone."""
        return choose_block_size(self.n_units)

    @property
    def multiplicities(self) -> IntArray:
        """Number of real units that each unit stands for."""
        if self.multiplicity is None:
            return np.ones(self.n_units, dtype=np.int64)
        return self.multiplicity

    def draw(self, seed_sequence: SeedSequence) -> CountArray:
        """Draw one block of counts, shape (block_size, n_units), from nothing but the seed."""
        generator = Generator(SFC64(seed_sequence))
        parts = [self._draw_strata(generator, units) for units in self._strata_by_size]
        if self._column_of_unit is None:
            return parts[0]
        return np.concatenate(parts, axis=1).take(self._column_of_unit, axis=1)

    def _draw_strata(self, generator: Generator, units: IntArray) -> CountArray:
        """Draw the counts of strata of one size, shape (block_size, units.size)."""
        n_strata, size = units.shape
        if self.multiplicity is not None:
            counts = draw_merged_counts(generator, self.multiplicity[units], self.block_size)
        elif size == 1:
            counts = np.ones((self.block_size, n_strata), dtype=np.uint8)
        elif size < _DIRECT_BELOW:
            counts = draw_counts_directly(generator, size, self.block_size * n_strata)
        else:
            counts = draw_counts(generator.bit_generator, size, self.block_size * n_strata)
        return counts.reshape(self.block_size, units.size)

    @cached_property
    def _strata_by_size(self) -> list[IntArray]:
        """Unit numbers of all strata of one size, shape (n_strata, size), by ascending size.

        Strata of one size are drawn in one go, so that thousands of pairs cost no more than rows.
        """
        if self.stratum is None:
            return [np.arange(self.n_units)[np.newaxis]]
        by_stratum = np.argsort(self.stratum, kind="stable")
        sizes = np.bincount(self.stratum)
        starts = np.cumsum(sizes) - sizes
        return [
            by_stratum[starts[sizes == size][:, np.newaxis] + np.arange(size)]
            for size in np.unique(sizes[sizes > 0])
        ]

    @cached_property
    def _column_of_unit(self) -> IntArray | None:
        """Where each unit stands in the joined parts; ``None``: at its own number."""
        drawn = np.concatenate([units.reshape(-1) for units in self._strata_by_size])
        if np.array_equal(drawn, np.arange(self.n_units)) and len(self._strata_by_size) == 1:
            return None
        column_of_unit = np.empty(self.n_units, dtype=np.int64)
        column_of_unit[drawn] = np.arange(self.n_units)
        return column_of_unit


class _PoissonTables(NamedTuple):
    """Three steps that together have a Poisson law: byte, second byte, uniform number."""

    first: bytes
    second: bytes
    cumulative: FloatArray


@lru_cache(maxsize=64)
def _make_poisson_tables(rate: float) -> _PoissonTables:
    """Split a Poisson law into two tables of 1/256 steps and the law of what remains."""
    if not _LOWEST_RATE <= rate <= _HIGHEST_RATE:
        raise ValueError(
            f"`rate` must be between {_LOWEST_RATE} and {_HIGHEST_RATE}, got {rate!r}."
        )
    values = np.arange(_MARKER)
    law = np.exp(values * np.log(rate) - rate - gammaln(values + 1.0))
    law = law[: np.flatnonzero(law > _TAIL)[-1] + 1]
    first, rest = _make_table(law)
    second, rest = _make_table(rest)
    cumulative = np.cumsum(rest)
    cumulative[-1] = 1.0
    return _PoissonTables(first, second, cumulative)


def _make_table(law: FloatArray) -> tuple[bytes, FloatArray]:
    """Give each value its whole 1/256 steps; return the table and the law of the remainder."""
    n_entries = np.floor(law * _TABLE_SIZE).astype(np.int64)
    table = np.full(_TABLE_SIZE, _MARKER, dtype=np.uint8)
    table[: n_entries.sum()] = np.repeat(np.arange(law.size), n_entries)
    rest = law - n_entries / _TABLE_SIZE
    return table.tobytes(), rest / rest.sum()


def _draw_poisson(bit_generator: BitGenerator, size: int, rate: float) -> NDArray[np.uint8]:
    """Draw independent Poisson counts, shape (size,)."""
    tables = _make_poisson_tables(rate)
    counts = _look_up_bytes(bit_generator, size, tables.first)
    undecided = np.flatnonzero(counts == _MARKER)
    second = _look_up_bytes(bit_generator, undecided.size, tables.second)
    last = np.flatnonzero(second == _MARKER)
    uniform = (bit_generator.random_raw(last.size) >> np.uint64(11)) * 2.0**-53
    second[last] = np.searchsorted(tables.cumulative, uniform, side="right")
    counts[undecided] = second
    return counts


def _look_up_bytes(bit_generator: BitGenerator, size: int, table: bytes) -> NDArray[np.uint8]:
    """Look up ``size`` random bytes in a table."""
    words = bit_generator.random_raw(-(-size // 8)).astype("<u8", copy=False)
    # bytearray, not bytes: its translate is faster and its result can be written to.
    looked_up = bytearray(words.view(np.uint8)[:size]).translate(table)
    return np.frombuffer(looked_up, dtype=np.uint8)


def _sum_rows(counts: CountArray) -> IntArray:
    """Sum the rows; uint32 takes half the time of int64, and no total comes near its limit."""
    totals: NDArray[np.uint32] = counts.sum(axis=1, dtype=np.uint32)
    return totals.astype(np.int64)
