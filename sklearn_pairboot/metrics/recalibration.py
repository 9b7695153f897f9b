"""Calibration without bins: slope and intercept of a logistic recalibration, Spiegelhalter's z."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, logit
from scipy.stats import norm

from sklearn_pairboot._engine.weights import FloatArray
from sklearn_pairboot.metrics._forecasts import check_binary

__all__ = [
    "LogisticRecalibration",
    "SpiegelhalterResult",
    "calibration_slope_intercept",
    "spiegelhalter_z",
]


@dataclass(frozen=True)
class LogisticRecalibration:
    """Slope and intercepts of a logistic recalibration, from `calibration_slope_intercept`.

    Parameters
    ----------
    slope : float
        1 is right, below 1 predictions are too extreme, above 1 not extreme enough.
    intercept : float
        Intercept beside that slope, on the scale of log odds.
    in_the_large : float
        Intercept where the slope is held at 1: above 0 predictions are too low on the whole.

    Examples
    --------
    >>> from sklearn_pairboot.metrics import calibration_slope_intercept
    >>> round(calibration_slope_intercept([0, 1, 0, 1], [0.3, 0.3, 0.7, 0.7]).slope, 6)
    0.0
    """

    slope: float
    intercept: float
    in_the_large: float


def calibration_slope_intercept(
    y_true: Any, y_prob: Any, *, sample_weight: Any = None, pos_label: Any = None
) -> LogisticRecalibration:
    """Fit the log odds of the outcomes to those of the predictions.

    Parameters
    ----------
    y_true : array-like of shape (n_rows,)
        True labels of two classes, both present.
    y_prob : array-like of shape (n_rows,)
        Probabilities of the positive class, above 0 and below 1.
    sample_weight : array-like of shape (n_rows,), default=None
        Weight of each row.
    pos_label : label, default=None
        Positive class; ``None`` is 1 for labels {0, 1} and {-1, 1}.

    Returns
    -------
    LogisticRecalibration
        Slope and intercept of the fit, and the intercept where the slope is 1.

    Notes
    -----
    With a maximum-likelihood fit of ``logit P(y = 1) = intercept + slope * logit(p)`` calibrated
    predictions have slope 1 and intercept 0 [1]_. *When not to use it*: both may be right while
    the curve is bent, so look at the reliability curve too.

    References
    ----------
    .. [1] Cox, D. R. (1958). Two further applications of a model for binary regression. Biometrika
       45, 562-565.

    Examples
    --------
    >>> from sklearn_pairboot.metrics import calibration_slope_intercept
    >>> y_true = [0, 0, 0, 1, 0, 1, 1, 1]
    >>> found = calibration_slope_intercept(y_true, [0.01] * 4 + [0.99] * 4)
    >>> round(found.slope, 2), round(found.in_the_large, 2)
    (0.24, 0.0)
    """
    data = check_binary(y_true, y_prob, pos_label=pos_label, sample_weight=sample_weight)
    y, p = data.outcomes, data.predictions
    if p.min() <= 0 or p.max() >= 1:
        raise ValueError(
            "`y_prob` must lie above 0 and below 1, got "
            f"{int(np.count_nonzero((p <= 0) | (p >= 1)))} of 0 or 1, whose log odds are infinite. "
            "Clip them to what you would still believe, and say so."
        )
    share = data.weight / data.weight.sum()
    kept = share > 0
    y, x, share = y[kept], logit(p[kept]), share[kept]
    if y.min() == y.max():
        raise ValueError("`y_true` must hold both classes, got one.")
    if np.ptp(x) == 0:
        raise ValueError("`y_prob` must vary, got equal predictions: they have no slope.")
    groups = x[y == 0], x[y == 1]
    if groups[0].max() <= groups[1].min() or groups[1].max() <= groups[0].min():
        raise ValueError(
            "`y_prob` must not separate the classes, got predictions that do: the slope is "
            "infinite."
        )
    # Centred and scaled, the fit is as easy for predictions near 0 as for others.
    middle, spread = float(share @ x), float(np.std(x))
    intercept, slope = _fit(
        np.column_stack([np.ones(len(x)), (x - middle) / spread]), 0.0, y, share
    )
    (in_the_large,) = _fit(np.ones((len(x), 1)), x, y, share)
    slope = float(slope / spread)
    return LogisticRecalibration(slope, float(intercept - slope * middle), float(in_the_large))


def _fit(design: FloatArray, offset: Any, y: FloatArray, share: FloatArray) -> FloatArray:
    """Fit a logistic regression without penalty."""

    def loss(beta: FloatArray) -> float:
        eta = design @ beta + offset
        return float(share @ (np.logaddexp(0, eta) - y * eta))

    def gradient(beta: FloatArray) -> FloatArray:
        slope: FloatArray = design.T @ (share * (expit(design @ beta + offset) - y))
        return slope

    def hessian(beta: FloatArray) -> FloatArray:
        p = expit(design @ beta + offset)
        curvature: FloatArray = (design * (share * p * (1 - p))[:, None]).T @ design
        return curvature

    start = np.zeros(design.shape[1])
    found = minimize(
        loss, start, jac=gradient, hess=hessian, method="trust-exact", options={"gtol": 1e-10}
    )
    # One more step of Newton's brings the last digits.
    beta: FloatArray = found.x - np.linalg.solve(hessian(found.x), gradient(found.x))
    return beta


@dataclass(frozen=True)
class SpiegelhalterResult:
    """Outcome of `spiegelhalter_z`.

    Parameters
    ----------
    statistic : float
        ``z``, standard normal for calibrated predictions; positive where the Brier score is worse
        than they promise.
    p_value : float
        Two-sided.

    Examples
    --------
    >>> from sklearn_pairboot.metrics import spiegelhalter_z
    >>> round(spiegelhalter_z([1, 0, 0, 0, 0], [0.2] * 5).statistic, 6)
    0.0
    """

    statistic: float
    p_value: float


def spiegelhalter_z(y_true: Any, y_prob: Any, *, pos_label: Any = None) -> SpiegelhalterResult:
    """Test calibration by the Brier score that the predictions themselves promise.

    Parameters
    ----------
    y_true : array-like of shape (n_rows,)
        True labels of two classes.
    y_prob : array-like of shape (n_rows,)
        Probabilities of the positive class.
    pos_label : label, default=None
        Positive class; ``None`` is 1 for labels {0, 1} and {-1, 1}.

    Returns
    -------
    SpiegelhalterResult
        Statistic and p-value.

    See Also
    --------
    calibration_test : A test with bins, valid for any number of rows.

    Notes
    -----
    ``z = sum (y - p)(1 - 2p) / sqrt(sum (1 - 2p)^2 p (1 - p))`` [1]_. It takes rows as independent
    and many. It is blind to errors that leave the expected Brier score as it is: predictions near
    0.5 hardly count. Where all predictions are 0, 0.5 or 1 the variance is 0, and both results are
    NaN.

    References
    ----------
    .. [1] Spiegelhalter, D. J. (1986). Probabilistic prediction in patient management and clinical
       trials. Statistics in Medicine 5, 421-433.

    Examples
    --------
    >>> from sklearn_pairboot.metrics import spiegelhalter_z
    >>> test = spiegelhalter_z([0, 1, 0, 1, 1, 0], [0.1, 0.2, 0.1, 0.9, 0.8, 0.9])
    >>> round(test.statistic, 2), round(test.p_value, 3)
    (1.43, 0.153)
    """
    data = check_binary(y_true, y_prob, pos_label=pos_label)
    y, p = data.outcomes, data.predictions
    variance = float(np.sum((1 - 2 * p) ** 2 * p * (1 - p)))
    if variance == 0:
        return SpiegelhalterResult(math.nan, math.nan)
    z = float(np.sum((y - p) * (1 - 2 * p))) / math.sqrt(variance)
    return SpiegelhalterResult(z, float(2 * norm.sf(abs(z))))
