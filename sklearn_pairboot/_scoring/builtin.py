"""Kernels of scikit-learn's metrics: terms of the rows for sums, scores for ranks.

A builder takes a `Problem` and the metric's keyword arguments. It returns ``None`` for whatever
it does not serve, and the scorer is replayed on the drawn rows instead.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from sklearn import metrics

from sklearn_pairboot._engine import formulas
from sklearn_pairboot._engine.weights import FloatArray, IntArray, Kernel
from sklearn_pairboot._scoring import (
    clusterings,
    label_metrics,
    rank_metrics,
    regression,
    sum_metrics,
)
from sklearn_pairboot._scoring.problem import Problem
from sklearn_pairboot._scoring.terms import mean_of_rows, one_hot, sum_to_one, weighted_sums

Builder = Callable[..., Kernel | None]

PROBABILITIES = ("predict_proba",)


def balanced_accuracy(problem: Problem, adjusted: bool = False) -> Kernel | None:
    """Mean recall of the classes."""
    found = problem.labels()
    if found is None:
        return None
    true = one_hot(problem, found.truth, found.n_labels)[:, np.unique(found.truth)]
    terms = [true, *(true * (found.truth == codes)[:, None] for codes in found.predictions)]
    formula = partial(formulas.balanced_accuracy, n_classes=true.shape[1], adjusted=adjusted)
    return weighted_sums(problem, terms, formula, found.cells)


def matthews_corrcoef(problem: Problem) -> Kernel | None:
    """Matthews correlation coefficient."""
    found = problem.labels()
    if found is None:
        return None
    terms = [one_hot(problem, found.truth, found.n_labels)]
    for codes in found.predictions:
        correct = (found.truth == codes).astype(float)[:, None]
        terms += [correct, one_hot(problem, codes, found.n_labels)]
    formula = partial(formulas.matthews_corrcoef, n_classes=found.n_labels)
    return weighted_sums(problem, terms, formula, found.cells)


def cohen_kappa(problem: Problem, weights: str | None = None) -> Kernel | None:
    """Cohen's kappa of predictions and truths.

    Disagreement goes by the places of labels among those of the truths and of the same model.
    """
    found = problem.labels()
    if found is None or weights not in (None, "linear", "quadratic"):
        return None
    truth, n_labels = found.truth, found.n_labels
    terms = [one_hot(problem, truth, n_labels)]
    disagreements = []
    for codes in found.predictions:
        places = np.searchsorted(np.union1d(truth, codes), np.arange(n_labels)).astype(float)
        distance = np.abs(places[:, None] - places)
        disagreement = {None: 1 - np.eye(n_labels), "linear": distance, "quadratic": distance**2}
        disagreements.append(disagreement[weights])
        terms += [disagreements[-1][truth, codes][:, None], one_hot(problem, codes, n_labels)]
    formula = partial(
        formulas.cohen_kappa, n_classes=n_labels, disagreement=np.stack(disagreements)
    )
    return weighted_sums(problem, terms, formula, found.cells)


def log_loss(problem: Problem, normalize: bool = True, labels: Any = None) -> Kernel | None:
    """Mean or sum of negative log-likelihoods, probabilities clipped as scikit-learn's."""
    columns = []
    for answers, hits in _probabilities(problem, labels):
        if hits is None:
            return None
        if answers.shape[1] == 2:  # scorers pass on the second column alone
            answers = np.column_stack([1 - answers[:, 1], answers[:, 1]])
        elif not sum_to_one(answers):
            return None
        eps = np.finfo(np.float64).eps
        columns.append(-np.log(np.clip(answers[hits], eps, 1 - eps)))
    return mean_of_rows(problem, np.column_stack(columns), normalize=normalize)


def brier_score(
    problem: Problem, pos_label: Any = None, labels: Any = None, scale_by_half: Any = "auto"
) -> Kernel | None:
    """Mean squared distance of probabilities and outcomes, halved by default for two classes."""
    if problem.kind == "binary" and labels is None:
        binary = problem.binary_scores(PROBABILITIES, pos_label)
        if binary is None:
            return None
        positive, scores = binary
        halves = np.column_stack([(positive - score) ** 2 for score in scores])
        return mean_of_rows(problem, halves if scale_by_half else 2 * halves)
    if "scale_by_half" not in inspect.signature(metrics.brier_score_loss).parameters:
        return None
    if problem.kind == "binary":  # labels name the order of the classes there
        return None
    columns = []
    for answers, hits in _probabilities(problem, labels):
        if hits is None:
            return None
        outcome = np.zeros_like(answers)
        outcome[hits] = 1.0
        columns.append(((outcome - answers) ** 2).sum(axis=1))
    squares = np.column_stack(columns)
    return mean_of_rows(problem, squares / 2 if scale_by_half is True else squares)


# Truths of several columns are served by these alone.
OF_COLUMNS: dict[Callable[..., Any], Builder] = {
    **label_metrics.BUILDERS,
    **rank_metrics.BUILDERS,
    **regression.BUILDERS,
}
BUILDERS: dict[Callable[..., Any], Builder] = {
    metrics.balanced_accuracy_score: balanced_accuracy,
    metrics.matthews_corrcoef: matthews_corrcoef,
    metrics.cohen_kappa_score: cohen_kappa,
    metrics.log_loss: log_loss,
    metrics.brier_score_loss: brier_score,
    **OF_COLUMNS,
    **clusterings.BUILDERS,
    **sum_metrics.BUILDERS,
}


def find_builder(function: Callable[..., Any], *, has_columns: bool = False) -> Builder | None:
    """Find the builder of a metric: its own attribute, or the one of scikit-learn's function."""
    own: Builder | None = getattr(function, "pairboot_kernel", None)
    return own if own is not None else (OF_COLUMNS if has_columns else BUILDERS).get(function)


def _probabilities(
    problem: Problem, labels: Any
) -> list[tuple[FloatArray, tuple[IntArray, IntArray] | None]]:
    """Every model's probabilities and the places of the true classes in them.

    There are none where classes are unknown, or not those that ``labels`` asks for.
    """
    found = []
    rows = np.arange(len(problem.y))
    for (_, answers), classes in zip(
        problem.responses(PROBABILITIES), problem.classes(), strict=True
    ):
        known = classes.tolist()
        columns = problem.true_columns(known) if answers.shape[1] == len(known) else None
        if labels is not None and np.asarray(labels).tolist() != known:
            columns = None
        found.append((answers, None if columns is None else (rows, columns)))
    return found
