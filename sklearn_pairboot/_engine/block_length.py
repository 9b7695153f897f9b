"""Length of blocks from the autocovariances of a series: Politis and White (2004)."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy import fft

from sklearn_pairboot._engine.weights import FloatArray

# So many autocorrelations in a row within the band mean that the rest are zero.
_IN_A_ROW = 5
_NOISE = 1e-12


class BlockLengths(NamedTuple):
    """Lengths of blocks that make the variance of a mean most precise, as real numbers."""

    stationary: float
    circular: float


def block_lengths(series: FloatArray) -> BlockLengths:
    """Apply the rule of Politis and White (2004), corrected by Patton and them (2009)."""
    n = len(series)
    lags = math.ceil(math.sqrt(n)) + _IN_A_ROW
    centred = series - series.mean()
    if centred @ centred <= n * (_NOISE * np.abs(series).max(initial=0.0)) ** 2:
        return BlockLengths(1.0, 1.0)
    covariance = _autocovariances(centred, lags)
    bandwidth = min(2 * _last_correlated(np.abs(covariance[1:] / covariance[0]), n), lags)
    lag = np.arange(1, bandwidth + 1)
    window = 2 * np.minimum(1.0, 2 * (1 - lag / bandwidth)) * covariance[1 : bandwidth + 1]
    slope = float(window @ lag)
    variance = float(covariance[0] + window.sum())  # of the mean, times n
    longest = math.ceil(min(3 * math.sqrt(n), n / 3))
    if variance == 0:
        return BlockLengths(float(longest), float(longest))
    stationary, circular = (
        min(max((2 * slope**2 / (constant * variance**2) * n) ** (1 / 3), 1.0), longest)
        for constant in (2.0, 4 / 3)
    )
    return BlockLengths(stationary, circular)


def _autocovariances(centred: FloatArray, lags: int) -> FloatArray:
    """Autocovariances at lags from 0 on, with divisor n, by the spectrum."""
    n = len(centred)
    padded = fft.next_fast_len(n + lags, real=True)
    power = np.abs(fft.rfft(centred, padded)) ** 2
    covariances: FloatArray = fft.irfft(power, padded)[: lags + 1] / n
    return covariances


def _last_correlated(correlation: FloatArray, n: int) -> int:
    """Find from which lag on correlations are small; the first lag counts in any case.

    Like the authors' own program, and those that follow it, this takes the first of the small
    ones itself, where the article takes the one before.
    """
    small = correlation < 2 * math.sqrt(math.log10(n) / n)
    for first in range(len(small) - _IN_A_ROW + 1):
        if small[first : first + _IN_A_ROW].all():
            return first + 1
    return len(correlation)
