"""Cumulative sums over many lines, each a line of one number a resample.

NumPy sums along the first axis number by number, at more than 1 ns each. Lines that are laid out in
stripes are summed in runs as long as all stripes together: line i stands in step ``i % 16`` of
stripe ``i // 16``, and the lines of one step stand side by side.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_pairboot._engine.weights import Workspace

IndexArray = NDArray[np.intp]

N_STEPS = 16  # counts up to 15 then add up within a byte
_NUMBERS_AT_ONCE = 2**18  # of what is done step by step, so that it stays in cache


def n_stripes(n_lines: int) -> int:
    """Give the stripes that hold ``n_lines`` lines."""
    return -(-n_lines // N_STEPS)


def slots_of(lines: IndexArray, stripes: int) -> IndexArray:
    """Tell where lines stand among ``N_STEPS * stripes`` slots."""
    return lines % N_STEPS * stripes + lines // N_STEPS


def few_steps(lines: NDArray[Any]) -> Iterator[slice]:
    """Give the slots of a few steps at a time: pieces of the work that stay in cache."""
    n_at_once = 1
    while n_at_once < N_STEPS and 2 * n_at_once * lines.size // N_STEPS <= _NUMBERS_AT_ONCE:
        n_at_once *= 2
    size = n_at_once * len(lines) // N_STEPS
    return (slice(start, start + size) for start in range(0, len(lines), size))


def by_stripe(lines: NDArray[Any], n_slots: int) -> NDArray[Any]:
    """View the lines of a few steps as an array of shape (n_steps, n_stripes, n_resamples)."""
    return lines.reshape(-1, n_slots // N_STEPS, lines.shape[1])


def count_empty_stripes(sums: NDArray[Any]) -> int:
    """Count the stripes in which sums of lines may still be zero for some resample."""
    first = sums[: len(sums) // N_STEPS]
    return int(np.count_nonzero(np.any(first == 0, axis=1)))


def sums_before(
    workspace: Workspace, name: str, lines: NDArray[Any]
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Sum, for each line, all lines before it; also give the sum of all.

    ``lines`` has shape (n_slots, n_resamples), laid out in stripes, and so have the sums, in a type
    that holds the total.
    """
    steps = lines.reshape(N_STEPS, -1)
    within = workspace.array(f"{name} within", steps.shape, _type_of_few(lines))
    within[0] = 0
    for step in range(1, N_STEPS):
        np.add(within[step - 1], steps[step - 1], out=within[step])
    return _across(workspace, name, lines, within, within[-1] + steps[-1])


def sums_upto(
    workspace: Workspace, name: str, lines: NDArray[Any]
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Sum, for each line, all lines before it and itself; also give the sum of all."""
    steps = lines.reshape(N_STEPS, -1)
    within = workspace.array(f"{name} within", steps.shape, _type_of_few(lines))
    within[0] = steps[0]
    for step in range(1, N_STEPS):
        np.add(within[step - 1], steps[step], out=within[step])
    return _across(workspace, name, lines, within, within[-1])


def _across(
    workspace: Workspace,
    name: str,
    lines: NDArray[Any],
    within: NDArray[Any],
    of_stripes: NDArray[Any],
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Add the sums of the stripes before to sums within stripes; also give the sum of all."""
    of_stripes = of_stripes.reshape(-1, lines.shape[1])
    wide = type_of_total(lines)
    before = workspace.array(f"{name} before", (len(of_stripes) + 1, lines.shape[1]), wide)
    before[0] = 0
    np.cumsum(of_stripes, axis=0, dtype=wide, out=before[1:])
    sums = workspace.array(name, within.shape, wide)
    np.add(within, before[:-1].reshape(-1), out=sums)
    return sums.reshape(lines.shape), before[-1]


def sum_lines(lines: NDArray[Any], dtype: Any) -> NDArray[Any]:
    """Sum all lines, shape (n_slots, n_resamples); ``dtype`` holds the sum of any 16 of them."""
    of_steps = lines.reshape(N_STEPS, -1).sum(axis=0, dtype=dtype)
    wide = np.result_type(dtype, np.int64)
    total: NDArray[Any] = of_steps.reshape(-1, lines.shape[1]).sum(axis=0, dtype=wide)
    return total


def type_of_total(lines: NDArray[Any]) -> Any:
    """Give a type that holds the sum of all lines."""
    if lines.dtype.kind == "f":
        return np.float64
    return np.int32 if lines.dtype == np.uint8 and max(lines.shape) < 2**23 else np.int64


def _type_of_few(lines: NDArray[Any]) -> Any:
    """Give a type that holds the sum of any 16 lines."""
    if lines.dtype != np.uint8:
        return np.float64 if lines.dtype.kind == "f" else np.int64
    return np.uint8 if int(lines.max(initial=0)) * N_STEPS < 2**8 else np.uint16
