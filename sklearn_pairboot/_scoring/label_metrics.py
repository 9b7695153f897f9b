"""Kernels of metrics that count labels: one label a row, or the labels of multilabel targets."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from sklearn import metrics

from sklearn_pairboot._engine import formulas
from sklearn_pairboot._engine.kernels import SumsKernel
from sklearn_pairboot._engine.weights import BoolArray, IntArray, Kernel
from sklearn_pairboot._scoring.problem import Problem
from sklearn_pairboot._scoring.terms import mean_of_rows, one_hot, weighted_sums


def accuracy(problem: Problem, normalize: bool = True, *, wrong: bool = False) -> Kernel | None:
    """Share, or weighted number, of correct or of wrong rows; all labels of a row must be right."""
    found = problem.labels()
    if found is not None:
        right = [found.truth == codes for codes in found.predictions]
    else:
        mistakes = _mistakes(problem)
        if mistakes is None:
            return None
        right = [~of_model.any(axis=1) for of_model in mistakes]
    counted = np.column_stack(right).astype(np.float64)
    if wrong:
        counted = 1 - counted
    cells = None if found is None else found.cells
    return mean_of_rows(problem, counted, normalize=normalize, cells=cells)


def hamming_loss(problem: Problem) -> Kernel | None:
    """Share of wrong labels; of one label a row that is the share of wrong rows."""
    if problem.kind != "multilabel":
        return accuracy(problem, wrong=True)
    mistakes = _mistakes(problem)
    if mistakes is None:
        return None
    return mean_of_rows(problem, np.column_stack([of_model.mean(axis=1) for of_model in mistakes]))


def set_score(
    problem: Problem,
    *,
    score: str,
    beta: float = 1.0,
    labels: Any = None,
    pos_label: Any = 1,
    average: Any = "binary",
    zero_division: Any = "warn",
) -> Kernel | None:
    """Precision, recall, F-beta and Jaccard score, binary or averaged over labels or rows."""
    if average == "binary":
        found = _one_label(problem, pos_label) if labels is None else None
    elif problem.kind == "multilabel" and average in ("micro", "macro", "weighted", "samples"):
        found = _label_columns(problem, labels)
    elif average in ("micro", "macro", "weighted"):
        found = _labels_of_rows(problem, labels)
    else:
        return None
    if found is None:
        return None
    true, predicted, present, cells = found
    options: dict[str, Any] = {
        "score": score,
        "beta": float(beta),
        "zero_division": 0.0 if zero_division == "warn" else float(zero_division),
    }
    if average == "samples":
        return _of_rows(problem, true, predicted, options)
    terms = [true]
    for of_model in predicted:
        terms += [true * of_model, of_model]
    formula = partial(formulas.set_score, present=present, average=average, **options)
    return weighted_sums(problem, terms, formula, cells)


BUILDERS: dict[Callable[..., Any], Callable[..., Kernel | None]] = {
    metrics.accuracy_score: accuracy,
    metrics.zero_one_loss: partial(accuracy, wrong=True),
    metrics.hamming_loss: hamming_loss,
    metrics.precision_score: partial(set_score, score="precision"),
    metrics.recall_score: partial(set_score, score="recall"),
    metrics.f1_score: partial(set_score, score="f"),
    metrics.fbeta_score: partial(set_score, score="f"),
    metrics.jaccard_score: partial(set_score, score="jaccard"),
}

# Indicators of labels in the truths and in every model's predictions; which labels each model's
# average runs over, shape (n_models, n_labels); and the cell of each row where all that is by cell.
_Found = tuple[Any, list[Any], BoolArray, IntArray | None]


def _mistakes(problem: Problem) -> list[BoolArray] | None:
    """Which labels of multilabel targets each model gets wrong, shape (n_rows, n_labels)."""
    found = problem.indicators() if problem.kind == "multilabel" else None
    return None if found is None else [found[0] != predicted for predicted in found[1]]


def _one_label(problem: Problem, pos_label: Any) -> _Found | None:
    """Take the positive class of two."""
    found = problem.labels() if problem.kind == "binary" else None
    if found is None or found.n_labels > 2:
        return None
    wanted = np.flatnonzero(found.distinct == pos_label)
    if len(wanted) != 1:
        return None
    parts = [
        (codes == wanted[0]).astype(np.float64)[:, None]
        for codes in (found.truth, *found.predictions)
    ]
    return parts[0], parts[1:], np.ones((len(parts) - 1, 1), dtype=bool), found.cells


def _labels_of_rows(problem: Problem, labels: Any) -> _Found | None:
    """Take those labels, or all that a model or the truths have."""
    found = problem.labels()
    if found is None:
        return None
    parts = [one_hot(problem, codes, found.n_labels) for codes in (found.truth, *found.predictions)]
    if labels is None:
        numbers = np.arange(found.n_labels)
        present = np.stack(
            [np.isin(numbers, np.append(found.truth, codes)) for codes in found.predictions]
        )
        return parts[0], parts[1:], present, found.cells
    places = {label: place for place, label in enumerate(found.distinct.tolist())}
    columns = [places.get(label, -1) for label in np.asarray(labels).tolist()]
    return _columns(parts, columns, found.cells)


def _label_columns(problem: Problem, labels: Any) -> _Found | None:
    """Take those columns of multilabel targets, or all."""
    found = problem.indicators()
    if found is None:
        return None
    parts = [found[0], *found[1]]
    n_labels = problem.y.shape[1]
    columns = np.arange(n_labels) if labels is None else np.asarray(labels)
    if columns.ndim != 1 or columns.dtype.kind not in "iu" or np.any(columns >= n_labels):
        return None
    return _columns(parts, columns.tolist(), None)


def _columns(parts: list[Any], columns: list[int], cells: IntArray | None) -> _Found | None:
    if not columns or min(columns) < 0 or len(set(columns)) < len(columns):
        return None
    true, *predicted = (part[:, columns] for part in parts)
    return true, predicted, np.ones((len(predicted), len(columns)), dtype=bool), cells


def _of_rows(
    problem: Problem, true: BoolArray, predicted: list[BoolArray], options: dict[str, Any]
) -> SumsKernel:
    """Mean over rows of a score of the row's labels; rows that have none are left out."""
    terms = []
    for of_model in predicted:
        of_row = [part.sum(axis=1) for part in (true, true * of_model, of_model)]
        scores, by_convention = formulas.set_ratio(*of_row, **options)
        defined = ~np.isnan(scores)
        terms += [defined, np.where(defined, scores, 0.0), by_convention & defined]
    return SumsKernel.from_rows(
        problem.row_weight[:, None] * np.column_stack(terms),
        formulas.mean_of_defined,
        len(predicted),
        problem.units,
        scale=1.0,
    )
