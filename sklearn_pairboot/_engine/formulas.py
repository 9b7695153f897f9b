"""Closed forms of metrics that are functions of weighted sums.

Each function takes sums of shape (n_resamples, n_terms), laid out as its docstring says, and
returns values and two masks of shape (n_resamples, n_models): undefined, and 0/0 by convention.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from sklearn_pairboot._engine.weights import BoolArray, FloatArray


class Formula(NamedTuple):
    """Values of a metric and the two masks."""

    values: FloatArray
    undefined: BoolArray
    zero_division: BoolArray


def ratio(numerator: FloatArray, denominator: FloatArray, otherwise: float) -> FloatArray:
    """Divide, with ``otherwise`` where the denominator is zero."""
    numerator, denominator = np.broadcast_arrays(numerator, denominator)
    out = np.full(numerator.shape, float(otherwise))
    np.divide(numerator, denominator, out=out, where=denominator != 0)
    return out


def _formula(values: FloatArray, zero_division: BoolArray | None = None) -> Formula:
    undefined = np.isnan(values)
    if zero_division is None:
        zero_division = np.zeros_like(undefined)
    return Formula(values, undefined, zero_division & ~undefined)


def where_weighted(sums: FloatArray, *, formula: Callable[[FloatArray], Formula]) -> Formula:
    """Value of a metric, undefined where nothing was drawn. Terms: weight, then the metric's own.

    No rows, or rows of no weight, are no case for a convention on 0/0.
    """
    values, undefined, zero_division = formula(sums[:, 1:])
    nothing = sums[:, :1] == 0
    return Formula(np.where(nothing, np.nan, values), undefined | nothing, zero_division & ~nothing)


def unwrapped(formula: Any) -> tuple[Any, dict[str, Any], int]:
    """Find the function that a formula comes down to, its keywords, and the place of its terms."""
    place = 0
    keywords: dict[str, Any] = {}
    if isinstance(formula, partial) and formula.func is where_weighted:
        place, formula = 1, formula.keywords["formula"]
    if isinstance(formula, partial):
        formula, keywords = formula.func, formula.keywords
    return formula, keywords, place


def mean(sums: FloatArray, *, root: bool = False) -> Formula:
    """Weighted mean. Terms: weight, then one term a model."""
    values = ratio(sums[:, 1:], sums[:, :1], np.nan)
    return _formula(np.sqrt(values) if root else values)


def mean_of_outputs(sums: FloatArray, *, weights: FloatArray, root: bool = False) -> Formula:
    """Weighted mean over outputs of means. Terms: weight, then by model one term an output."""
    by_output = ratio(sums[:, 1:], sums[:, :1], np.nan).reshape(len(sums), -1, len(weights))
    return _formula((np.sqrt(by_output) if root else by_output) @ weights)


def mean_of_defined(sums: FloatArray) -> Formula:
    """Mean of the items that have a score. Terms: by model weight, score, weight of those by 0/0.

    Weight and score are those of items with a score, which 0/0 may have by convention.
    """
    weight, score, by_convention = (sums[:, place::3] for place in range(3))
    return _formula(ratio(score, weight, np.nan), by_convention > 0)


def total(sums: FloatArray) -> Formula:
    """Weighted sum. Terms: one a model."""
    return _formula(np.array(sums))


def balanced_accuracy(sums: FloatArray, *, n_classes: int, adjusted: bool) -> Formula:
    """Mean recall over the classes present. Terms: class weights, then hits by class a model."""
    true = sums[:, None, :n_classes]
    hits = sums[:, n_classes:].reshape(len(sums), -1, n_classes)
    present = true > 0
    n_present = present.sum(axis=2)
    recall_sum = ratio(hits, true, 0.0).sum(axis=2)
    values = ratio(recall_sum, n_present.astype(float), np.nan)
    if adjusted:
        chance = ratio(np.ones_like(values), n_present.astype(float), np.nan)
        values = ratio(values - chance, 1 - chance, np.nan)
    lost = np.broadcast_to(n_present < n_classes, values.shape)
    return _formula(values, lost)


def set_ratio(
    true: FloatArray,
    hits: FloatArray,
    predicted: FloatArray,
    *,
    score: str,
    beta: float,
    zero_division: float,
) -> tuple[FloatArray, BoolArray]:
    """Precision, recall, F-beta or Jaccard score of weights or numbers, and where it is 0/0."""
    if score == "precision" or beta == 0:
        numerator, denominator = hits, predicted
    elif score == "recall" or np.isinf(beta):
        numerator, denominator = hits, true
    elif score == "jaccard":
        numerator, denominator = hits, true + predicted - hits
    else:
        numerator, denominator = (1 + beta**2) * hits, beta**2 * true + predicted
    return ratio(numerator, denominator, zero_division), np.asarray(denominator == 0)


def set_score(
    sums: FloatArray,
    *,
    present: BoolArray,
    score: str,
    beta: float,
    average: str,
    zero_division: float,
) -> Formula:
    """Precision, recall, F-beta or Jaccard score.

    Terms: weights of the true labels, then for each model its hits and its predictions by label.
    ``present``, shape (n_models, n_labels), says which labels each model's average runs over.
    """
    n_models, n_labels = present.shape
    true = np.broadcast_to(sums[:, None, :n_labels], (len(sums), n_models, n_labels))
    rest = sums[:, n_labels:].reshape(len(sums), n_models, 2, n_labels)
    hits, predicted = rest[:, :, 0], rest[:, :, 1]
    if average == "micro":
        true, hits, predicted = (
            part.sum(axis=2, keepdims=True) for part in (true, hits, predicted)
        )
        present = np.ones((n_models, 1), dtype=bool)
    by_label, by_convention = set_ratio(
        true, hits, predicted, score=score, beta=beta, zero_division=zero_division
    )
    lost: BoolArray = np.any(by_convention & present, axis=2)
    if average in ("binary", "micro"):
        return _formula(by_label[:, :, 0], lost)
    counted = present & ~np.isnan(by_label)
    by_label = np.where(counted, by_label, 0.0)
    n_counted = counted.sum(axis=2).astype(float)
    values = ratio(by_label.sum(axis=2), n_counted, np.nan)
    if average == "weighted":
        # scikit-learn takes the plain mean where all remaining weights are zero.
        weights = np.where(counted, true, 0.0)
        weight = weights.sum(axis=2)
        weighted = ratio((weights * by_label).sum(axis=2), weight, np.nan)
        values = np.where(weight > 0, weighted, values)
    return _formula(values, lost)


def matthews_corrcoef(sums: FloatArray, *, n_classes: int) -> Formula:
    """Matthews correlation. Terms: true classes, then for each model correct, predictions."""
    true, correct, predicted = _agreement_terms(sums, n_classes)
    weight = true.sum(axis=2)
    covariance = correct * weight - (true * predicted).sum(axis=2)
    spread_true = weight**2 - (true**2).sum(axis=2)
    spread_predicted = weight**2 - (predicted**2).sum(axis=2)
    # Integer weights are exact here; real ones leave a residue where one class has all weight.
    nothing = 1e-13 * weight**2
    constant = (spread_true <= nothing) | (spread_predicted <= nothing)
    product = np.where(constant, 0.0, spread_true * spread_predicted)
    values = ratio(covariance, np.sqrt(product), 0.0)
    return _formula(values, np.broadcast_to(constant, values.shape))


def cohen_kappa(sums: FloatArray, *, n_classes: int, disagreement: FloatArray) -> Formula:
    """Cohen's kappa. Terms: true classes, then for each model its disagreement, predictions.

    ``disagreement``, shape (n_models, n_classes, n_classes), weighs each pair of labels.
    """
    true, observed, predicted = _agreement_terms(sums, n_classes)
    weight = true.sum(axis=2)
    by_chance = np.matmul(true[:, :, None], disagreement)[:, :, 0]
    expected = (by_chance * predicted).sum(axis=2)
    return _formula(1 - ratio(observed * weight, expected, np.nan))


def _agreement_terms(sums: FloatArray, n_classes: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    true = sums[:, None, :n_classes]
    rest = sums[:, n_classes:].reshape(len(sums), -1, 1 + n_classes)
    return true, rest[:, :, 0], rest[:, :, 1:]
