"""Derivatives of metrics that are functions of weighted sums, with respect to these sums."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from sklearn_pairboot._engine import formulas
from sklearn_pairboot._engine.weights import FloatArray

Gradient = Callable[..., FloatArray]

# Step of the difference quotient, relative to a sum. Its error is of the order of the fourth power.
_STEP = 1e-3
# Five points: the derivative is the sum of weight x value over the step.
_STENCIL = ((-2, 1 / 12), (-1, -8 / 12), (1, 8 / 12), (2, -1 / 12))


def gradient(formula: Callable[..., Any], sums: FloatArray, sizes: FloatArray) -> FloatArray:
    """Differentiate every model's value by each sum, shape (n_resamples, n_models, n_terms).

    ``sums`` has shape (n_resamples, n_terms); ``sizes`` holds the sums of absolute terms. A sum of
    size zero has derivative zero, since no unit that was drawn contributes to it.
    """
    function: Any = formula
    keywords: dict[str, Any] = {}
    while isinstance(function, partial):
        keywords = {**function.keywords, **keywords}
        function = function.func
    if function is formulas.where_weighted:
        inner = gradient(keywords["formula"], sums[:, 1:], sizes[:, 1:])
        return np.concatenate([np.zeros((*inner.shape[:2], 1)), inner], axis=2)
    if function in _CLOSED:
        with np.errstate(all="ignore"):  # undefined in a resample: not a number there
            return _CLOSED[function](sums, **keywords)
    return _by_differences(formula, sums, sizes)


def _by_differences(formula: Callable[..., Any], sums: FloatArray, sizes: FloatArray) -> FloatArray:
    """Differentiate numerically, one sum after the other.

    Where a step changes whether 0/0 has its conventional value, the value jumps: it is constant
    along all weights of the rows drawn, and its derivative zero.
    """
    here = formula(sums)
    found = np.zeros((*here.values.shape, sums.shape[1]))
    with np.errstate(all="ignore"):
        for term in range(sums.shape[1]):
            step = _STEP * sizes[:, term]
            moved, jumps = sums.copy(), np.zeros(here.values.shape, dtype=bool)
            slope = np.zeros(here.values.shape)
            for steps, weight in _STENCIL:
                moved[:, term] = sums[:, term] + steps * step
                there = formula(moved)
                slope += weight * there.values
                jumps |= there.zero_division != here.zero_division
            slope /= np.where(step > 0, step, 1.0)[:, None]
            slope[jumps | (step <= 0)[:, None]] = 0.0
            found[:, :, term] = slope
    found[np.isnan(here.values)] = np.nan
    return found


def _mean(sums: FloatArray, *, root: bool = False) -> FloatArray:
    n_models = sums.shape[1] - 1
    weight = sums[:, :1]
    values = sums[:, 1:] / weight
    slope = np.ones_like(values) / weight
    if root:
        # A mean of zero holds no row that is not zero.
        slope = np.where(values > 0, slope / (2 * np.sqrt(values)), 0.0 * slope)
    found = np.zeros((len(sums), n_models, n_models + 1))
    found[:, :, 0] = -slope * values
    found[:, np.arange(n_models), np.arange(n_models) + 1] = slope
    return found


def _matthews_corrcoef(sums: FloatArray, *, n_classes: int) -> FloatArray:
    formula = formulas.matthews_corrcoef(sums, n_classes=n_classes)
    n_models = formula.values.shape[1]
    true = sums[:, None, :n_classes]
    rest = sums[:, n_classes:].reshape(len(sums), n_models, 1 + n_classes)
    correct, predicted = rest[:, :, :1], rest[:, :, 1:]
    weight = true.sum(axis=2, keepdims=True)
    spread_true = weight**2 - (true**2).sum(axis=2, keepdims=True)
    spread_predicted = weight**2 - (predicted**2).sum(axis=2, keepdims=True)
    root = np.sqrt(spread_true * spread_predicted)
    half = formula.values[:, :, None] / 2
    by_true = (correct - predicted) / root - half * (
        2 * (weight - true) / spread_true + 2 * weight / spread_predicted
    )
    by_predicted = -true / root + half * 2 * predicted / spread_predicted
    found = np.zeros((len(sums), n_models, sums.shape[1]))
    found[:, :, :n_classes] = by_true
    for model in range(n_models):
        start = n_classes + model * (1 + n_classes)
        found[:, model, start] = (weight / root)[:, model, 0]
        found[:, model, start + 1 : start + 1 + n_classes] = by_predicted[:, model]
    # The conventional value of 0/0 does not change with the weights of the rows drawn.
    found[formula.zero_division] = 0.0
    return found


_CLOSED: dict[Any, Gradient] = {
    formulas.mean: _mean,
    formulas.matthews_corrcoef: _matthews_corrcoef,
}
