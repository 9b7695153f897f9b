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

# Counts of one unit stand side by side, so that gathering units copies whole lines of memory.
# Measured with 10,000 units, ns per count gathered: 0.7 one by one, 0.1 with 16 or more in a line.
_COUNTS_OF_BLOCK = 2**20
_MOST_RESAMPLES_OF_BLOCK = 256
_LEAST_RESAMPLES_OF_BLOCK = 16
_MOST_BYTES_OF_BLOCK = 2**27
# Random bytes are turned into counts in pieces that stay in cache.
_BYTES_AT_ONCE = 200_000

_TABLE_SIZE = 256
_MARKER = 255  # table entry for "not decided by this byte"; far above any Poisson count met here
_LOWEST_RATE, _HIGHEST_RATE = 0.01, 16.0
# Standard deviations of the Poisson total below n. A missing draw costs 10 ns; a surplus, which one
# resample in 160 then has, 20 microseconds and 1 ns a unit.
_DEVIATIONS_BELOW = 2.5
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
    """Give the resamples of a block, a power of two: up to a million counts, but 16 to 256.

    Fewer than 16 only where they would take more than 128 MB.
    """
    least = min(_LEAST_RESAMPLES_OF_BLOCK, max(1, _MOST_BYTES_OF_BLOCK // n_units))
    wanted = min(_MOST_RESAMPLES_OF_BLOCK, max(least, _COUNTS_OF_BLOCK // n_units))
    return int(2 ** (wanted.bit_length() - 1))


def most_to_merge(n_units: int) -> int:
    """Give the number of distinct units up to which drawing their counts beats drawing all."""
    return n_units // _MERGE_RATIO


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
        Poisson rate, 0.01 to 16; a matter of speed alone. None: 1 - 2.5 / sqrt(n), so low that
        a surplus is rare.

    Returns
    -------
    ndarray of shape (n_resamples, n_units)
        uint8, or uint32 when a count does not fit; in memory unit by unit.
    """
    if rate is None:
        rate = max(0.25, 1.0 - _DEVIATIONS_BELOW / n_units**0.5)
    generator = Generator(bit_generator)
    counts = _draw_poisson(generator, n_units * n_resamples, rate).reshape(n_units, n_resamples)
    totals = _sum_units(counts)
    for resample in np.flatnonzero(totals > n_units):
        total = int(totals[resample])
        surplus = generator.choice(total, total - n_units, replace=False, shuffle=False)
        of_draw = np.searchsorted(np.cumsum(counts[:, resample]), surplus, side="right")
        np.subtract.at(counts[:, resample], of_draw, counts.dtype.type(1))
    n_missing = np.maximum(n_units - totals, 0)
    positions = generator.integers(0, n_units, size=int(n_missing.sum()))
    positions *= n_resamples
    positions += np.repeat(np.arange(n_resamples), n_missing)
    return add_draws(counts, positions, most_of_resample=int(n_missing.max(initial=0))).T


def add_draws(counts: CountArray, positions: IntArray, *, most_of_resample: int) -> CountArray:
    """Add one draw at each position of the ravelled ``counts``; positions may repeat.

    ``counts`` has shape (n_units, n_resamples) and is changed in place, unless a count might not
    fit: then a wider copy is returned. ``most_of_resample`` is the largest number of positions in
    a column.
    """
    room = int(np.iinfo(counts.dtype).max) - int(counts.max(initial=0))
    # No count gets more draws than its column, or than the 64 neighbours that it is among.
    if most_of_resample > room and int(np.bincount(positions >> 6).max()) > room:
        counts = counts.astype(np.uint32)
    np.add.at(counts.reshape(-1), positions, counts.dtype.type(1))
    return counts


def draw_counts_directly(generator: Generator, n_units: int, n_resamples: int) -> CountArray:
    """Draw multinomial counts by drawing the units one by one; the faster way for few units."""
    counts = np.empty((n_units, n_resamples), dtype=np.min_scalar_type(n_units))
    n_at_once = max(1, _COUNTS_AT_ONCE_DIRECTLY // n_units)
    for start in range(0, n_resamples, n_at_once):
        piece = counts[:, start : start + n_at_once]
        positions = generator.integers(0, n_units, size=piece.shape)
        positions *= piece.shape[1]
        positions += np.arange(piece.shape[1])
        piece[...] = np.bincount(positions.reshape(-1), minlength=piece.size).reshape(piece.shape)
    return counts.T


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


def narrowed(counts: CountArray) -> CountArray:
    """Give counts in the type that others travel in: uint8, or uint32 when one does not fit."""
    return counts.astype(np.uint8 if counts.max(initial=0) < 2**8 else np.uint32)


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
        if self._place_of_unit is None:
            return parts[0].T
        return np.concatenate(parts).take(self._place_of_unit, axis=0).T

    def _draw_strata(self, generator: Generator, units: IntArray) -> CountArray:
        """Draw the counts of strata of one size, shape (units.size, block_size)."""
        n_strata, size = units.shape
        n_resamples = self.block_size * n_strata
        if self.multiplicity is not None:
            counts = draw_merged_counts(generator, self.multiplicity[units], self.block_size)
            return np.ascontiguousarray(counts.reshape(self.block_size, units.size).T)
        if size == 1:
            return np.ones((n_strata, self.block_size), dtype=np.uint8)
        if size < _DIRECT_BELOW:
            counts = draw_counts_directly(generator, size, n_resamples)
        else:
            counts = draw_counts(generator.bit_generator, size, n_resamples)
        of_strata = counts.T.reshape(size, n_strata, self.block_size)
        return np.swapaxes(of_strata, 0, 1).reshape(units.size, self.block_size)

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
    def _place_of_unit(self) -> IntArray | None:
        """Where each unit stands in the joined parts; ``None``: at its own number."""
        drawn = np.concatenate([units.reshape(-1) for units in self._strata_by_size])
        if np.array_equal(drawn, np.arange(self.n_units)) and len(self._strata_by_size) == 1:
            return None
        place_of_unit = np.empty(self.n_units, dtype=np.int64)
        place_of_unit[drawn] = np.arange(self.n_units)
        return place_of_unit


class _PoissonTables(NamedTuple):
    """A Poisson law in three steps: a byte; rarely another byte; rarely a uniform number.

    The first count is the number of ``rises`` that the byte reaches. ``redrawn`` is the share of
    counts that the second step draws anew.
    """

    rises: NDArray[np.uint8]
    redrawn: float
    second: bytes
    cumulative: FloatArray


@lru_cache(maxsize=64)
def _make_poisson_tables(rate: float) -> _PoissonTables:
    """Split a Poisson law into a table of 1/256 steps and the law of what is drawn anew."""
    if not _LOWEST_RATE <= rate <= _HIGHEST_RATE:
        raise ValueError(
            f"`rate` must be between {_LOWEST_RATE} and {_HIGHEST_RATE}, got {rate!r}."
        )
    values = np.arange(_MARKER)
    law = np.exp(values * np.log(rate) - rate - gammaln(values + 1.0))
    law = law[: np.flatnonzero(law > _TAIL)[-1] + 1]
    # Mostly the table's own law; as little else as leaves no value with less than none.
    n_entries = np.floor(law * _TABLE_SIZE).astype(np.int64)
    for _ in range(_TABLE_SIZE - int(n_entries.sum())):
        n_entries[np.argmax(law / (n_entries + 1))] += 1
    used = n_entries > 0
    kept = float((law[used] * _TABLE_SIZE / n_entries[used]).min())
    rest = np.maximum(law - kept * n_entries / _TABLE_SIZE, 0.0)
    rises = np.cumsum(n_entries)[: np.flatnonzero(used)[-1]].astype(np.uint8)
    second, rest = _make_table(rest / rest.sum())
    cumulative = np.cumsum(rest)
    cumulative[-1] = 1.0
    return _PoissonTables(rises, 1.0 - kept, second, cumulative)


def _make_table(law: FloatArray) -> tuple[bytes, FloatArray]:
    """Give each value its whole 1/256 steps; return the table and the law of the remainder."""
    n_entries = np.floor(law * _TABLE_SIZE).astype(np.int64)
    table = np.full(_TABLE_SIZE, _MARKER, dtype=np.uint8)
    table[: n_entries.sum()] = np.repeat(np.arange(law.size), n_entries)
    rest = law - n_entries / _TABLE_SIZE
    return table.tobytes(), rest / rest.sum()


def _draw_poisson(generator: Generator, size: int, rate: float) -> NDArray[np.uint8]:
    """Draw independent Poisson counts, shape (size,)."""
    tables = _make_poisson_tables(rate)
    counts = np.empty(size, dtype=np.uint8)
    reached = np.empty(min(size, _BYTES_AT_ONCE), dtype=np.bool_)
    for start in range(0, size, _BYTES_AT_ONCE):
        piece = counts[start : start + _BYTES_AT_ONCE]
        _count_rises(_draw_bytes(generator.bit_generator, piece.size), tables.rises, piece, reached)
        # A Poisson number of uniform places reaches each place, on its own, with the probability
        # of being drawn anew; of several draws for one place any will do.
        n_anew = generator.poisson(-piece.size * np.log1p(-tables.redrawn))
        places = generator.integers(0, piece.size, size=n_anew)
        piece[places] = _draw_again(generator.bit_generator, n_anew, tables)
    return counts


def _draw_again(
    bit_generator: BitGenerator, size: int, tables: _PoissonTables
) -> NDArray[np.uint8]:
    """Draw from the law of the counts that are drawn anew."""
    # bytearray, not bytes: its translate is faster and its result can be written to.
    looked_up = bytearray(_draw_bytes(bit_generator, size)).translate(tables.second)
    counts = np.frombuffer(looked_up, dtype=np.uint8)
    last = np.flatnonzero(counts == _MARKER)
    uniform = (bit_generator.random_raw(last.size) >> np.uint64(11)) * 2.0**-53
    counts[last] = np.searchsorted(tables.cumulative, uniform, side="right")
    return counts


def _draw_bytes(bit_generator: BitGenerator, size: int) -> NDArray[np.uint8]:
    """Draw ``size`` random bytes."""
    words = bit_generator.random_raw(-(-size // 8)).astype("<u8", copy=False)
    return words.view(np.uint8)[:size]


def _count_rises(
    drawn: NDArray[np.uint8],
    rises: NDArray[np.uint8],
    counts: NDArray[np.uint8],
    reached: NDArray[np.bool_],
) -> None:
    """Count the ``rises`` that each byte reaches, with room for one of them in ``reached``.

    They are few: comparing a whole piece with each is faster than looking up byte by byte.
    """
    reached = reached[: counts.size]
    np.greater_equal(drawn, rises[0], out=counts.view(np.bool_))
    for rise in rises[1:]:
        np.greater_equal(drawn, rise, out=reached)
        np.add(counts, reached.view(np.uint8), out=counts)


def _sum_units(counts: NDArray[np.uint8]) -> IntArray:
    """Sum over the units, shape (n_units, n_resamples): in narrow types while these can hold it."""
    n_resamples = counts.shape[1]
    totals = np.zeros(n_resamples, dtype=np.int64)
    sums: CountArray = counts
    largest = max(int(counts.max(initial=0)), 1)
    for dtype, most in ((np.uint8, 32), (np.uint16, 256)):
        if len(sums) < most:
            break
        n_at_once = max(1, min(int(np.iinfo(dtype).max) // largest, most))
        n_sums = len(sums) // n_at_once
        totals += sums[n_at_once * n_sums :].sum(axis=0, dtype=np.int64)
        side_by_side = sums[: n_at_once * n_sums].reshape(n_at_once, n_sums * n_resamples)
        sums = side_by_side.sum(axis=0, dtype=dtype).reshape(n_sums, n_resamples)
        largest *= n_at_once
    totals += sums.sum(axis=0, dtype=np.int64)
    return totals
