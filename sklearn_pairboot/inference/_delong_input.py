"""Checks of what `delong_test` is given: truths, scores, clusters and contrasts."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_pairboot._scoring.checks import (
    check_finite,
    check_labels,
    check_length,
    check_target,
    shown,
)
from sklearn_pairboot.inference._checks import ROUNDING

FloatArray = NDArray[np.float64]


def positive_rows(y_true: Any, pos_label: Any) -> NDArray[np.bool_]:
    """Tell which rows are of the positive class."""
    y = check_target(y_true)
    if y.ndim != 1:
        raise ValueError(f"`y_true` must have shape (n_rows,), got {y.shape}.")
    labels = list(dict.fromkeys(y.tolist()))
    if len(labels) != 2:
        raise ValueError(f"`y_true` must hold 2 classes, got {len(labels)}: {shown(labels)}.")
    if pos_label is None:
        if not all(label in (0, 1, -1) for label in labels) or 1 not in labels:
            raise ValueError(
                f"`pos_label` must be given where the labels are {shown(labels)}, got None. Pass "
                "the class that high scores speak for."
            )
        pos_label = 1
    if np.ndim(pos_label) != 0 or pos_label not in labels:
        raise ValueError(f"`pos_label` must be one of {shown(labels)}, got {pos_label!r}.")
    positive = np.array([label == pos_label for label in y.tolist()])
    if positive.all() or not positive.any():
        raise ValueError(
            f"`y_true` must hold rows of both classes, got {int(positive.sum())} of {pos_label!r} "
            f"in {len(positive)} rows."
        )
    return positive


def score_table(arrays: dict[str, Any], n_rows: int) -> FloatArray:
    """Give the scores as numbers, shape (n_models, n_rows)."""
    values = []
    for model, array in arrays.items():
        name = f"`scores[{model!r}]`"
        check_length(array, n_rows, name)
        if array.ndim != 1 or array.dtype.kind not in "iufb":
            raise ValueError(
                f"{name} must be a one-dimensional array of numbers, got shape {array.shape} of "
                f"dtype {array.dtype}. Of probabilities pass the positive class' column."
            )
        check_finite(array, name)
        values.append(array.astype(np.float64))
    return np.array(values)


def cluster_numbers(groups: Any, positive: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Give the clusters of the rows numbers; each class must lie in several."""
    unit, labels = check_labels(groups, len(positive), "groups")
    for own, of_class in ((positive, "positive"), (~positive, "negative")):
        n_units = len(np.unique(unit[own]))
        if n_units < 2:
            raise ValueError(
                f"`groups` must spread each class over at least 2 clusters, got {n_units} with "
                f"{of_class} rows, of {len(labels)}."
            )
    return unit


def contrast_weights(given: Any, models: tuple[str, ...]) -> tuple[list[str], FloatArray]:
    """Name the differences to test, and give their weights."""
    k = len(models)
    if given is None:
        weights = np.column_stack([-np.ones(k - 1), np.eye(k - 1)])
        return [f"{model} - {models[0]}" for model in models[1:]], weights
    weights = np.asarray(given)
    if weights.ndim != 2 or weights.shape[1] != k or not len(weights):
        raise ValueError(
            f"`contrasts` must have shape (n_contrasts, {k}), one weight a model, got "
            f"{weights.shape}."
        )
    if weights.dtype.kind not in "iuf" or not np.isfinite(weights).all():
        raise ValueError(f"`contrasts` must hold finite numbers, got {weights.tolist()!r}.")
    weights = weights.astype(np.float64)
    size = np.abs(weights).sum(axis=1)
    if (size == 0).any() or (np.abs(weights.sum(axis=1)) > ROUNDING * size).any():
        raise ValueError(
            "`contrasts` must hold rows that add up to 0 and are not all 0, such as [-1, 1], got "
            f"{weights.tolist()!r}."
        )
    return [_formula(row, models) for row in weights.tolist()], weights


def _formula(weights: list[float], models: tuple[str, ...]) -> str:
    """Write a contrast out, positive weights first."""
    terms = sorted(zip(weights, models, strict=True), key=lambda term: term[0] < 0)
    text = ""
    for weight, model in terms:
        if weight:
            sign = " - " if weight < 0 else " + " if text else ""
            text += sign + ("" if abs(weight) == 1 else f"{abs(weight):.4g} ") + model
    return text
