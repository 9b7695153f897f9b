"""Cumulative sums over many lines, each a line of one number a resample.

NumPy sums along the first axis number by number, at more than 1 ns each. Lines that are laid out in
stripes are summed in runs as long as all stripes together: line i stands in step ``i % 16`` of
stripe ``i // 16``, and the lines of one step stand side by side.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_pairboot._engine.weights import Workspace

IndexArray = NDArray[np.intp]

N_STEPS = 16  # counts up to 15 then add up within a byte


def n_stripes(n_lines: int) -> int:
    """Give the stripes that hold ``n_lines`` lines."""
    return -(-n_lines // N_STEPS)


def slots_of(lines: IndexArray, stripes: int) -> IndexArray:
    """Tell where lines stand among ``N_STEPS * stripes`` slots."""
    return lines % N_STEPS * stripes + lines // N_STEPS


def sums_before(
    workspace: Workspace, name: str, lines: NDArray[Any]
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Sum, for each line, all lines before it; also give the sum of all.

    ``lines`` has shape (n_slots, n_resamples), laid out in stripes, and so have the sums, in a type
    that holds the total.
    """
    n_resamples = lines.shape[1]
    steps = lines.reshape(N_STEPS, -1)
    within = workspace.array(f"{name} within", steps.shape, _type_of_few(lines))
    within[0] = 0
    for step in range(1, N_STEPS):
        np.add(within[step - 1], steps[step - 1], out=within[step])
    of_stripe = (within[-1] + steps[-1]).reshape(-1, n_resamples)
    wide = type_of_total(lines)
    before = workspace.array(f"{name} before", (len(of_stripe) + 1, n_resamples), wide)
    before[0] = 0
    np.cumsum(of_stripe, axis=0, dtype=wide, out=before[1:])
    sums = workspace.array(name, steps.shape, wide)
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
