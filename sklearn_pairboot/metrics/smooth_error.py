"""The smooth calibration error: kernel regression in place of bins."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.fft import dct
from scipy.optimize import brentq

from sklearn_pairboot._engine.weights import FloatArray
from sklearn_pairboot.metrics._forecasts import check_binary

__all__ = ["smooth_calibration_error"]

# Predictions are split between neighbours on a grid that is much finer than any bandwidth.
_N_STEPS = 2**13
_SMALLEST_BANDWIDTH = 1e-3


def smooth_calibration_error(
    y_true: Any, y_prob: Any, *, sample_weight: Any = None, pos_label: Any = None
) -> float:
    r"""Compute the smooth calibration error (smECE).

    Residuals are smoothed over the predictions, and the mean absolute size of what is left is the
    error. The bandwidth is not a choice: it is the one that equals the error.

    Parameters
    ----------
    y_true : array-like of shape (n_rows,)
        True labels of two classes.
    y_prob : array-like of shape (n_rows,)
        Probabilities of the positive class.
    sample_weight : array-like of shape (n_rows,), default=None
        Weight of each row.
    pos_label : label, default=None
        Positive class; ``None`` is 1 for labels {0, 1} and {-1, 1}.

    Returns
    -------
    float
        The error, between 0 and 1; lower is better.

    See Also
    --------
    expected_calibration_error : The error in bins, which jumps where a prediction crosses an edge.
    calibration_test : What a calibrated model of the same predictions would score.

    Notes
    -----
    With :math:`K_\sigma` the Gaussian kernel reflected at 0 and 1, the error at one bandwidth is
    :math:`\int_0^1 |\frac 1 n \sum_i (p_i - y_i) K_\sigma(t, p_i)| dt`; it falls with the
    bandwidth, and the value is where it equals the bandwidth [1]_. Values below 0.001 are those at
    a bandwidth of 0.001.

    *When not to use it*: like any calibration error it is above 0 for a calibrated model, by an
    amount that depends on the number of rows.

    References
    ----------
    .. [1] Błasiok, J. and Nakkiran, P. (2024). Smooth ECE: principled reliability diagrams via
       kernel smoothing. ICLR.

    Examples
    --------
    >>> from sklearn_pairboot.metrics import smooth_calibration_error
    >>> round(smooth_calibration_error([0, 0, 1, 1], [0.1, 0.3, 0.3, 1.0]), 3)
    0.098
    """
    data = check_binary(y_true, y_prob, pos_label=pos_label, sample_weight=sample_weight)
    share = data.weight / data.weight.sum()
    residuals = _on_grid(data.predictions, share * (data.predictions - data.outcomes))
    waves = dct(residuals, type=1, norm=None)

    def excess(bandwidth: float) -> float:
        return _error(waves, bandwidth) - bandwidth

    if excess(_SMALLEST_BANDWIDTH) <= 0:
        return _error(waves, _SMALLEST_BANDWIDTH)
    return float(brentq(excess, _SMALLEST_BANDWIDTH, 1.5, xtol=1e-10))


def _on_grid(predictions: FloatArray, values: FloatArray) -> FloatArray:
    """Sum values on the grid, each shared by its two neighbours; ends count twice for the DCT."""
    places = predictions * _N_STEPS
    left = np.minimum(places.astype(np.int64), _N_STEPS - 1)
    to_right = places - left
    grid: FloatArray = np.zeros(_N_STEPS + 1)
    grid += np.bincount(left, values * (1 - to_right), _N_STEPS + 1)
    grid += np.bincount(left + 1, values * to_right, _N_STEPS + 1)
    grid[[0, -1]] *= 2
    return grid


def _error(waves: FloatArray, bandwidth: float) -> float:
    """Mean absolute size of the residuals, smoothed by a reflected Gaussian kernel.

    In cosines the reflected kernel is ``1 + 2 sum_m exp(-(pi m s)^2 / 2) cos(pi m t) cos(pi m x)``.
    """
    damping = np.exp(-0.5 * (np.pi * bandwidth * np.arange(_N_STEPS + 1)) ** 2)
    smooth = np.abs(dct(waves * damping, type=1, norm=None)) / 2
    return float((smooth.sum() - (smooth[0] + smooth[-1]) / 2) / _N_STEPS)
