"""Permutation tests of any statistic: by units that are swapped or not, or by kinds of units."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sklearn_pairboot._engine.blas import one_blas_thread
from sklearn_pairboot._engine.flips import (
    BitArray,
    all_bits,
    all_counts,
    random_bits,
    random_counts,
)
from sklearn_pairboot._engine.permutation import ENUMERATION, MONTE_CARLO, NOISE, SwapTest
from sklearn_pairboot._engine.weights import BoolArray, FloatArray, IntArray

# Up to so many units that differ, and logarithms to base 2 of arrangements of kinds of units, all
# arrangements are evaluated.
MOST_UNITS, MOST_KINDS = 14, 20


class Pair(NamedTuple):
    """Values of both models in some arrangements, NaN where undefined."""

    model: FloatArray
    baseline: FloatArray


@dataclass(frozen=True)
class Observed:
    """A difference, the size of the values behind it, and what is at least as extreme."""

    difference: float
    size: float

    @classmethod
    def of(cls, pair: Pair) -> Observed:
        """Take the first arrangement; rounding is no difference."""
        model, baseline = float(pair.model[0]), float(pair.baseline[0])
        size = max(abs(model), abs(baseline))
        return cls(0.0 if abs(model - baseline) <= NOISE * size else model - baseline, size)

    @property
    def is_defined(self) -> bool:
        """Whether there is a difference to compare with."""
        return bool(np.isfinite(self.difference))

    def tails(self, pair: Pair) -> tuple[BoolArray, BoolArray, BoolArray]:
        """Mark arrangements that count as greater, less and two-sided; undefined ones count."""
        difference = pair.model - pair.baseline
        size = np.fmax(np.fmax(np.abs(pair.model), np.abs(pair.baseline)), self.size)
        tolerance = NOISE * size
        # NaN is below nothing.
        return (
            ~(difference < self.difference - tolerance),
            ~(-difference < -self.difference - tolerance),
            ~(np.abs(difference) < abs(self.difference) - tolerance),
        )


def swap_units(
    evaluate: Callable[[BitArray], Pair],
    differs: BoolArray,
    n_resamples: int,
    entropy: int,
    block_size: int,
    *,
    approximate: bool = False,
) -> SwapTest | None:
    """Test a statistic that is evaluated for arrangements of units.

    ``evaluate`` takes an array of shape (n_arrangements, n_units), 1 where a unit stays as
    observed and 0 where it is swapped. Units that do not differ always stay. ``None`` where the
    observed arrangement has no value.
    """
    n_units, n_swapped = len(differs), int(np.count_nonzero(differs))
    observed = Observed.of(evaluate(np.ones((1, n_units), dtype=np.uint8)))
    if not observed.is_defined:
        return None

    def pairs(blocks: Iterable[BitArray]) -> Iterable[Pair]:
        for bits in blocks:
            stays = np.ones((len(bits), n_units), dtype=np.uint8)
            stays[:, differs] = bits
            yield evaluate(stays)

    if n_swapped > MOST_UNITS:
        blocks = random_bits(n_swapped, n_resamples, entropy, block_size)
        return _by_random_ones(
            observed, pairs(blocks), n_units, n_swapped, n_resamples, approximate=approximate
        )
    half = Pair(*np.concatenate(list(pairs(all_bits(n_swapped, block_size))), axis=1))
    # The other half of the arrangements gives both models each other's values.
    whole = Pair(np.concatenate(half), np.concatenate(half[::-1]))
    if n_swapped == 0:
        whole = half
    n_same = n_units - n_swapped
    return _by_all(
        observed,
        whole,
        lambda marked: int(np.count_nonzero(marked)) << n_same,
        n_units,
        n_swapped,
        approximate=approximate,
    )


def swap_kinds(
    evaluate: Callable[[NDArray[np.integer]], Pair],
    sizes: IntArray,
    stay: IntArray,
    n_units: int,
    n_resamples: int,
    entropy: int,
    block_size: int,
) -> SwapTest | None:
    """Test a statistic that is evaluated for numbers of units of each kind that lie one way round.

    ``sizes`` says how many units of each kind there are, and ``stay`` how many of them lie that
    way as observed. ``None`` where the observed arrangement has no value.
    """
    observed = Observed.of(evaluate(stay[np.newaxis]))
    if not observed.is_defined:
        return None
    n_swapped = int(sizes.sum())
    if np.log2(sizes + 1.0).sum() > MOST_KINDS:
        draw = random_counts if sizes.max() > 1 else _random_ones
        pairs = map(evaluate, draw(sizes, n_resamples, entropy, block_size))
        return _by_random_ones(observed, pairs, n_units, n_swapped, n_resamples)
    blocks = [evaluate(counts) for counts in all_counts(sizes, block_size)]
    whole = Pair(*np.concatenate(blocks, axis=1))
    n_same = n_units - n_swapped
    return _by_all(
        observed, whole, lambda marked: _n_arrangements(marked, sizes) << n_same, n_units, n_swapped
    )


def _random_ones(sizes: IntArray, n_wanted: int, entropy: int, size: int) -> Iterable[BitArray]:
    return random_bits(len(sizes), n_wanted, entropy, size)


def _n_arrangements(marked: BoolArray, sizes: IntArray) -> int:
    """Count arrangements of units behind marked numbers of units by kind."""
    table = marked.astype(object)
    for size in reversed(sizes.tolist()):
        ways = np.empty(size + 1, dtype=object)
        ways[0] = 1
        for k in range(size):
            ways[k + 1] = ways[k] * (size - k) // (k + 1)
        table = table.reshape(-1, size + 1) @ ways
    return int(table.sum())


def _by_all(
    observed: Observed,
    pair: Pair,
    count: Callable[[BoolArray], int],
    n_units: int,
    n_swapped: int,
    *,
    approximate: bool = False,
) -> SwapTest:
    """Judge all arrangements; ``count`` says how many stand behind those that are marked."""
    greater, less, two_sided = (count(tail) for tail in observed.tails(pair))
    undefined: BoolArray = np.isnan(pair.model - pair.baseline)
    largest = Observed(float(np.nanmax(np.abs(pair.model - pair.baseline))), observed.size)
    most, _, furthest = largest.tails(pair)
    return SwapTest(
        ENUMERATION,
        n_units,
        n_swapped,
        1 << n_units,
        greater,
        less,
        two_sided,
        count(most),
        count(furthest),
        count(undefined),
        approximate,
    )


def _by_random_ones(
    observed: Observed,
    pairs: Iterable[Pair],
    n_units: int,
    n_swapped: int,
    n_resamples: int,
    *,
    approximate: bool = False,
) -> SwapTest:
    counts = np.zeros(4, dtype=np.int64)
    with one_blas_thread():
        for pair in pairs:
            marks = *observed.tails(pair), np.isnan(pair.model - pair.baseline)
            counts += [np.count_nonzero(mark) for mark in marks]
    greater, less, two_sided, undefined = counts.tolist()
    return SwapTest(
        MONTE_CARLO,
        n_units,
        n_swapped,
        n_resamples,
        greater,
        less,
        two_sided,
        n_undefined=undefined,
        approximate=approximate,
    )
