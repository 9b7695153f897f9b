"""Balanced half-samples of resamples: how far numbers would move if others had been drawn."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from scipy.linalg import hadamard

from sklearn_pairboot._engine.weights import BoolArray, FloatArray

# Half-samples, and degrees of freedom of the errors found from them, which are then within about
# 1 / sqrt(2 * 32) = 12 % of the truth; `scipy.linalg.hadamard` makes powers of two.
N_HALVES = 32


@lru_cache(maxsize=8)
def halves(n_resamples: int) -> BoolArray:
    """Choose half of the resamples in 32 balanced ways, shape (n_halves, n_resamples).

    The resamples are cut into 32 pairs of contiguous parts, or fewer where there are few resamples,
    and a half-sample takes one part a pair, by the signs in a row of a Hadamard matrix (McCarthy
    1969, "Pseudo-replication: half samples", Review of the International Statistical Institute 37,
    239-264).
    """
    n_parts = min(2 * N_HALVES, n_resamples - n_resamples % 2)
    part = np.arange(n_resamples, dtype=np.int64) * n_parts // n_resamples
    first = hadamard(N_HALVES) > 0
    chosen: BoolArray = first[:, part // 2] == (part % 2 == 0)
    chosen.flags.writeable = False
    return chosen


def standard_error(of_halves: FloatArray, of_all: FloatArray) -> FloatArray:
    """Root mean square deviation of the half-samples' numbers from those of all resamples.

    Infinite numbers, which open ends of intervals are, do not move.
    """
    known = np.where(np.isinf(of_all), 0.0, of_all)
    moved = np.where(np.isinf(of_all), 0.0, of_halves) - known
    # Squares of very small or large numbers would leave float64.
    exponent = np.frexp(np.abs(moved).max(axis=0))[1]
    mean_square = np.mean(np.square(np.ldexp(moved, -exponent)), axis=0)
    error: FloatArray = np.ldexp(np.sqrt(mean_square), exponent)
    return np.where(np.isinf(error), np.nan, error)
