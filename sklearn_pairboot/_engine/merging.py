"""Merge units that are equal for every kernel: a million rows of labels are a handful of units."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sklearn_pairboot._engine.counts import most_to_merge
from sklearn_pairboot._engine.units import Units
from sklearn_pairboot._engine.weights import IntArray, Kernel

# Units looked at first, to see at once where they are too many and too different to be merged.
_SAMPLE = 4096


class Merged(NamedTuple):
    """Kernels on the distinct units, and how many units each of these stands for.

    ``multiplicity`` is ``None`` where nothing was merged. ``stratum`` numbers the stratum of each
    distinct unit, ``None`` for one stratum.
    """

    kernels: tuple[Kernel, ...]
    multiplicity: IntArray | None
    stratum: IntArray | None

    def multiplicities(self, units: Units) -> IntArray:
        """Give the number of units that each distinct one stands for."""
        if self.multiplicity is None:
            return np.ones(units.n_units, dtype=np.int64)
        return self.multiplicity


def keep_apart(kernels: Sequence[Kernel], units: Units) -> Merged:
    """Leave the units as they are."""
    return Merged(tuple(kernels), None, units.stratum)


def merge(kernels: Sequence[Kernel], units: Units, *, always: bool = False) -> Merged:
    """Merge equal units, if not always then where that makes few of many."""
    if units.scheme is not None:
        return keep_apart(kernels, units)
    # Kernels of labels share the array that numbers the distinct rows.
    keys: dict[int, NDArray[Any]] = {}
    if units.stratum is not None:
        keys[id(units.stratum)] = units.stratum
    for kernel in kernels:
        of_kernel = kernel.unit_keys()
        if of_kernel is None:
            return keep_apart(kernels, units)
        keys |= {id(key): key for key in of_kernel}
    columns = list(keys.values())
    most = units.n_units if always else most_to_merge(units.n_units)
    if not always:
        step = max(1, units.n_units // _SAMPLE)
        _, n_distinct = number_rows([column[::step] for column in columns], most)
        if n_distinct > most:
            return keep_apart(kernels, units)
    codes, n_distinct = number_rows(columns, most)
    if n_distinct > most:
        return keep_apart(kernels, units)
    # Numbered by their first unit, which the order of models and metrics does not change.
    representatives = first_of_each(codes, n_distinct)
    order = np.argsort(representatives)
    representatives = representatives[order]
    rank = np.empty(n_distinct, dtype=np.int64)
    rank[order] = np.arange(n_distinct)
    return Merged(
        tuple(kernel.take_units(representatives) for kernel in kernels),
        np.bincount(rank[codes]),
        None if units.stratum is None else units.stratum[representatives],
    )


def number_rows(keys: Sequence[NDArray[Any]], most: int | None = None) -> tuple[IntArray, int]:
    """Give each distinct combination of keys a number from zero, and how many there are.

    The work ends with the first keys that make more than ``most``.
    """
    codes, n_distinct = np.zeros(len(keys[0]), dtype=np.int64), 1
    for key in keys:
        if most is not None and n_distinct > most:
            break
        of_key, n_of_key = number_values(key)
        if n_of_key > 1:
            codes, n_distinct = number_values(codes * n_of_key + of_key)
    return codes, n_distinct


def first_of_each(codes: IntArray, n_distinct: int) -> IntArray:
    """Give the first place of each number."""
    first = np.empty(n_distinct, dtype=np.int64)
    first[codes[::-1]] = np.arange(len(codes))[::-1]
    return first


def number_values(values: NDArray[Any]) -> tuple[IntArray, int]:
    """Give each distinct value a number, without sorting where they are small integers or few."""
    if values.dtype.kind in "bui":
        least, largest = int(values.min()), int(values.max())
        if largest - least < max(len(values), 2**16):
            # Unsigned numbers may lie above what int64 holds, differences of signed ones outside
            # of their own type.
            own = values - values.dtype.type(least) if values.dtype.kind == "u" else values
            integers = own.astype(np.int64)
            if values.dtype.kind != "u":
                integers -= least
            found = np.bincount(integers) > 0
            return (np.cumsum(found) - 1)[integers], int(np.count_nonzero(found))
    else:
        some = np.unique(values[:: max(1, len(values) // _SAMPLE)])
        places = np.minimum(np.searchsorted(some, values), len(some) - 1)
        if np.array_equal(some[places], values):
            return places, len(some)
    distinct, codes = np.unique(values, return_inverse=True)
    return codes.reshape(-1), len(distinct)
