"""Random and all possible signs: sums of numbers that are flipped, and which units are swapped."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.random import SFC64, Generator, SeedSequence
from numpy.typing import NDArray

from sklearn_pairboot._engine.weights import FloatArray, IntArray

BitArray = NDArray[np.uint8]

# Sign vectors that are drawn together; a longer run extends a shorter one.
_SUMS_OF_BLOCK = 1024
_BYTES_AT_ONCE = 64
# The signs of eight numbers for every byte.
_SIGNS = np.unpackbits(np.arange(256, dtype=np.uint8)[np.newaxis], axis=0) * 2.0 - 1.0
# Keeps the draws of permutations apart from those of resamples with the same seed.
_STREAM = 0x5A4B


def generator_of(entropy: int, block: int) -> Generator:
    """Give the generator of one block."""
    return Generator(SFC64(SeedSequence(entropy, spawn_key=(_STREAM, block))))


def random_sums(values: FloatArray, n_wanted: int, entropy: int) -> Iterator[FloatArray]:
    """Sum the numbers with random signs, block by block.

    Eight numbers share a random byte: their 256 signed sums are one product of matrices, and a
    sum of all is one look-up for each byte.
    """
    padded = np.zeros(-(-len(values) // 8) * 8)
    padded[: len(values)] = values
    by_byte = padded.reshape(-1, 8)
    tables = np.arange(_BYTES_AT_ONCE, dtype=np.intp)[:, np.newaxis] * 256
    for block, start in enumerate(range(0, n_wanted, _SUMS_OF_BLOCK)):
        bits = generator_of(entropy, block).bit_generator
        sums = np.zeros(_SUMS_OF_BLOCK)
        for first in range(0, len(by_byte), _BYTES_AT_ONCE):
            part = by_byte[first : first + _BYTES_AT_ONCE]
            signed = part @ _SIGNS
            words = np.asarray(bits.random_raw(len(part) * _SUMS_OF_BLOCK // 8))
            drawn = words.astype("<u8", copy=False).view(np.uint8).reshape(len(part), -1)
            sums += np.take(signed, tables[: len(part)] + drawn, mode="clip").sum(axis=0)
        yield sums[: n_wanted - start]


def random_bits(n_units: int, n_wanted: int, entropy: int, size: int) -> Iterator[BitArray]:
    """Draw for each arrangement and unit whether it is swapped, in blocks of ``size``."""
    for block, start in enumerate(range(0, n_wanted, size)):
        drawn = generator_of(entropy, block).bytes(size * -(-n_units // 8))
        packed = np.frombuffer(drawn, dtype=np.uint8).reshape(size, -1)
        yield np.unpackbits(packed, axis=1, count=n_units)[: n_wanted - start]


def all_bits(n_units: int, size: int) -> Iterator[BitArray]:
    """Give all arrangements in which the first unit stays; those in which it does not mirror them.

    For few units only.
    """
    places = np.arange(max(n_units - 1, 0), -1, -1)
    for start in range(0, 2 ** max(n_units - 1, 0), size):
        numbers = np.arange(start, min(start + size, 2 ** max(n_units - 1, 0)))
        yield (numbers[:, np.newaxis] >> places & 1).astype(np.uint8)[:, :n_units]


def count_sums_at_least(values: FloatArray, least: float) -> int:
    """Count the signs for which positive numbers sum to ``least`` or more.

    The numbers are halved: every sum of one half has its counterparts among the sorted sums of
    the other, so 40 numbers take two million sums.
    """
    middle = len(values) // 2
    first, second = np.sort(_all_sums(values[:middle])), np.sort(_all_sums(values[middle:]))
    below = np.searchsorted(first, least - second, side="left")
    return len(first) * len(second) - int(below.sum())


def _all_sums(values: FloatArray) -> FloatArray:
    sums = np.zeros(1)
    for value in values.tolist():
        sums = np.concatenate([sums - value, sums + value])
    return sums


def random_counts(
    sizes: IntArray, n_wanted: int, entropy: int, size: int
) -> Iterator[NDArray[np.int64]]:
    """Draw for each arrangement how many of several equal units are swapped, for each kind."""
    for block, start in enumerate(range(0, n_wanted, size)):
        drawn = generator_of(entropy, block).binomial(sizes, 0.5, (size, len(sizes)))
        yield drawn[: n_wanted - start]


def all_counts(sizes: IntArray, size: int) -> Iterator[NDArray[np.int64]]:
    """Give all numbers of swapped units of each kind, the last kind running fastest."""
    if len(sizes) == 0:
        yield np.zeros((1, 0), dtype=np.int64)
        return
    shape = tuple((sizes + 1).tolist())
    n_all = int(np.prod(sizes + 1))
    for start in range(0, n_all, size):
        numbers = np.arange(start, min(start + size, n_all))
        yield np.stack(np.unravel_index(numbers, shape), axis=1).astype(np.int64)
