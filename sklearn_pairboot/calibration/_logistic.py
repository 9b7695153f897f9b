"""Weighted logistic regression on a few features, with targets between 0 and 1."""

from __future__ import annotations

import numpy as np
from scipy import optimize
from scipy.special import expit

from sklearn_pairboot._engine.weights import FloatArray

_TOLERANCE = 1e-12


def fit_logistic(
    features: FloatArray, target: FloatArray, weight: FloatArray, *, not_negative: bool = False
) -> tuple[list[float], float]:
    """Fit slopes and an intercept by maximum likelihood; slopes may be kept from falling below 0.

    Features are standardised for the fit, so that their units do not matter.
    """
    total = weight.sum()
    # Squares of the largest and of the smallest numbers would overflow, or vanish.
    largest = np.abs(features).max(axis=0)
    largest[largest == 0] = 1.0
    features = features / largest
    centre = weight @ features / total
    spread = np.sqrt(weight @ (features - centre) ** 2 / total)
    spread[np.ptp(features, axis=0) == 0] = 1.0
    columns = np.column_stack([(features - centre) / spread, np.ones(len(features))])

    def loss(coefficients: FloatArray) -> tuple[float, FloatArray]:
        linear = columns @ coefficients
        losses = np.logaddexp(0, linear) - target * linear
        gradient = columns.T @ (weight * (expit(linear) - target))
        return float(weight @ losses) / total, gradient / total

    n_slopes = features.shape[1]
    bounds = [(0.0, None) if not_negative else (None, None)] * n_slopes + [(None, None)]
    start = np.zeros(n_slopes + 1)
    found = optimize.minimize(
        loss,
        start,
        jac=True,
        method="L-BFGS-B",
        bounds=bounds,
        options={"maxiter": 10_000, "ftol": _TOLERANCE * 1e-3, "gtol": _TOLERANCE},
    ).x
    found = _polished(found, columns, target, weight, not_negative=not_negative)
    slopes = found[:-1] / spread
    return (slopes / largest).tolist(), float(found[-1] - slopes @ centre)


def _polished(
    coefficients: FloatArray,
    columns: FloatArray,
    target: FloatArray,
    weight: FloatArray,
    *,
    not_negative: bool,
) -> FloatArray:
    """Take Newton steps to the last digits, among the slopes that no bound holds at zero."""
    free = np.ones(len(coefficients), dtype=bool)
    if not_negative:
        free[:-1] = coefficients[:-1] > 0
    for _ in range(20):
        p = expit(columns @ coefficients)
        gradient = columns[:, free].T @ (weight * (p - target))
        curvature = (columns[:, free] * (weight * p * (1 - p))[:, None]).T @ columns[:, free]
        step = np.linalg.lstsq(curvature, gradient, rcond=None)[0]
        moved = coefficients.copy()
        moved[free] -= step
        if not np.all(np.isfinite(moved)) or (not_negative and np.any(moved[:-1] < 0)):
            break
        coefficients = moved
        if np.abs(step).max(initial=0.0) <= _TOLERANCE:
            break
    return coefficients
