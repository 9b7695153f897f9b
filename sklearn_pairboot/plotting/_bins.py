"""Bins of replicates, which often lie on a grid."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_N_BINS = 40
# Distinct values beyond which a grid cannot be seen in 40 bins.
_MOST_ON_GRID = 4000


# Share of an enumeration, on either side, that nobody could see: its values reach much further.
_UNSEEN = 1e-6


def seen_range(values: NDArray[np.float64], counts: NDArray[np.float64]) -> tuple[float, float]:
    """Give the values between which all but the rarest lie, which would stretch the axis."""
    order = np.argsort(values)
    shares = np.cumsum(counts[order]) / counts.sum()
    ends = np.searchsorted(shares, [_UNSEEN, 1 - _UNSEEN]).clip(max=len(values) - 1)
    low, high = values[order][ends]
    return float(low), float(high)


def bin_edges(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Choose about 40 bins; values on a grid get as many grid points in each.

    Shares of 50 rows move in steps of 0.02: other bins would hold one step or two by turns, and
    show a comb that is not there.
    """
    low, high = float(values.min()), float(values.max())
    size = max(abs(low), abs(high))
    if high - low <= 1e-12 * size or high == low:
        half = 0.05 * size or 0.05
        return np.array([low - half, low + half])
    distinct = np.unique(values)
    gaps = np.diff(distinct)
    wide = gaps[gaps > 1e-9 * (high - low)]
    step = float(wide.min())
    on_grid = len(wide) < _MOST_ON_GRID and np.allclose(wide / step, np.rint(wide / step), 0, 1e-3)
    if not on_grid or (high - low) / step > _MOST_ON_GRID:
        return np.linspace(low, high, _N_BINS + 1)
    width = step * max(1, round((high - low) / step / _N_BINS))
    n_bins = int(np.floor((high - low + step / 2) / width)) + 1
    return low - step / 2 + width * np.arange(n_bins + 1, dtype=np.float64)
