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
from numpy.typing import NDArray
from sklearn import metrics

from sklearn_pairboot._engine import formulas
from sklearn_pairboot._engine.explained import ExplainedKernel
from sklearn_pairboot._engine.kernels import SumsKernel, item_means
from sklearn_pairboot._engine.weights import FloatArray, IntArray, Kernel
from sklearn_pairboot._scoring import clusterings, rank_metrics, sum_metrics
from sklearn_pairboot._scoring.problem import Problem

Builder = Callable[..., Kernel | None]

PROBABILITIES = ("predict_proba",)


def accuracy(problem: Problem, normalize: bool = True) -> Kernel | None:
    """Share, or weighted number, of correct rows."""
    encoded = _labels(problem)
    if encoded is None:
        return None
    truth, predictions, _ = encoded
    correct = np.column_stack([truth == predicted for predicted in predictions]).astype(float)
    if normalize:
        return item_means(correct, problem.row_weight, problem.units)
    terms = problem.row_weight[:, None] * correct
    return SumsKernel.from_rows(
        terms, formulas.total, correct.shape[1], problem.units, row_weight=problem.row_weight
    )


def balanced_accuracy(problem: Problem, adjusted: bool = False) -> Kernel | None:
    """Mean recall of the classes."""
    encoded = _labels(problem)
    if encoded is None:
        return None
    truth, predictions, labels = encoded
    true = _one_hot(truth, len(labels))
    true = true[:, true.any(axis=0)]
    terms = [true, *(true * (truth == predicted)[:, None] for predicted in predictions)]
    formula = partial(formulas.balanced_accuracy, n_classes=true.shape[1], adjusted=adjusted)
    return _sums(problem, terms, formula)


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
    """Precision, recall and F-beta, binary or averaged over labels."""
    encoded = _labels(problem)
    if encoded is None or average not in ("binary", "micro", "macro", "weighted"):
        return None
    truth, predictions, distinct = encoded
    wanted = np.arange(len(distinct))
    present = np.stack([np.isin(wanted, np.append(truth, codes)) for codes in predictions])
    if average == "binary":
        if problem.kind != "binary" or len(distinct) > 2 or labels is not None:
            return None
        wanted = np.flatnonzero(distinct == pos_label)
        if len(wanted) != 1:
            return None
    elif labels is not None:
        places = {label: place for place, label in enumerate(distinct.tolist())}
        asked = np.asarray(labels).tolist()
        if not set(asked) <= set(places) or len(set(asked)) < len(asked):
            return None
        wanted = np.array([places[label] for label in asked])
        present = np.ones((len(predictions), len(wanted)), dtype=bool)
    if average == "binary":
        present = np.ones((len(predictions), 1), dtype=bool)
    true = (truth[:, None] == wanted).astype(float)
    terms = [true]
    for codes in predictions:
        predicted = (codes[:, None] == wanted).astype(float)
        terms += [true * predicted, predicted]
    formula = partial(
        formulas.set_score,
        present=present,
        score=score,
        beta=float(beta),
        average=average,
        zero_division=0.0 if zero_division == "warn" else float(zero_division),
    )
    return _sums(problem, terms, formula)


def matthews_corrcoef(problem: Problem) -> Kernel | None:
    """Matthews correlation coefficient."""
    encoded = _labels(problem)
    if encoded is None:
        return None
    truth, predictions, labels = encoded
    terms = [_one_hot(truth, len(labels))]
    for codes in predictions:
        terms += [(truth == codes).astype(float)[:, None], _one_hot(codes, len(labels))]
    return _sums(problem, terms, partial(formulas.matthews_corrcoef, n_classes=len(labels)))


def cohen_kappa(problem: Problem, weights: str | None = None) -> Kernel | None:
    """Cohen's kappa of predictions and truths.

    Disagreement goes by the places of labels among those of the truths and of the same model.
    """
    encoded = _labels(problem)
    if encoded is None or weights not in (None, "linear", "quadratic"):
        return None
    truth, predictions, labels = encoded
    terms = [_one_hot(truth, len(labels))]
    disagreements = []
    for codes in predictions:
        places = np.searchsorted(np.union1d(truth, codes), np.arange(len(labels))).astype(float)
        distance = np.abs(places[:, None] - places)
        disagreement = {None: 1 - np.eye(len(labels)), "linear": distance, "quadratic": distance**2}
        disagreements.append(disagreement[weights])
        terms += [disagreements[-1][truth, codes][:, None], _one_hot(codes, len(labels))]
    formula = partial(
        formulas.cohen_kappa, n_classes=len(labels), disagreement=np.stack(disagreements)
    )
    return _sums(problem, terms, formula)


def log_loss(problem: Problem, normalize: bool = True) -> Kernel | None:
    """Mean negative log-likelihood of the true class, probabilities clipped as scikit-learn's."""
    columns = []
    for answers, hits in _probabilities(problem):
        if hits is None or not np.allclose(answers.sum(axis=1), 1, rtol=1e-8, atol=0):
            return None
        eps = np.finfo(np.float64).eps
        columns.append(-np.log(np.clip(answers[hits], eps, 1 - eps)))
    if not normalize:
        return None
    return item_means(np.column_stack(columns), problem.row_weight, problem.units)


def brier_score(problem: Problem, pos_label: Any = None) -> Kernel | None:
    """Mean squared distance of probabilities and outcome."""
    if problem.kind == "binary":
        binary = problem.binary_scores(PROBABILITIES, pos_label)
        if binary is None:
            return None
        positive, scores = binary
        squares = np.column_stack([(positive - score) ** 2 for score in scores])
        return item_means(squares, problem.row_weight, problem.units)
    if "scale_by_half" not in inspect.signature(metrics.brier_score_loss).parameters:
        return None
    columns = []
    for answers, hits in _probabilities(problem):
        if hits is None:
            return None
        outcome = np.zeros_like(answers)
        outcome[hits] = 1.0
        columns.append(((outcome - answers) ** 2).sum(axis=1))
    return item_means(np.column_stack(columns), problem.row_weight, problem.units)


def regression_mean(
    problem: Problem, *, loss: str, root: bool = False, multioutput: Any = "uniform_average"
) -> Kernel | None:
    """Mean squared or absolute error, or the root of the former."""
    errors = _errors(problem)
    if errors is None or not _one_output(multioutput):
        return None
    of_rows = errors**2 if loss == "squared" else np.abs(errors)
    return item_means(of_rows, problem.row_weight, problem.units, root=root)


def r2(
    problem: Problem, multioutput: Any = "uniform_average", force_finite: bool = True
) -> Kernel | None:
    """Coefficient of determination; undefined for constant truths whatever ``force_finite``."""
    errors = _errors(problem)
    if errors is None or not _one_output(multioutput):
        return None
    truth = problem.y.astype(np.float64)[:, None]
    return ExplainedKernel.from_columns(truth, errors**2, problem.row_weight, problem.units)


BUILDERS: dict[Callable[..., Any], Builder] = {
    metrics.accuracy_score: accuracy,
    metrics.balanced_accuracy_score: balanced_accuracy,
    metrics.precision_score: partial(set_score, score="precision"),
    metrics.recall_score: partial(set_score, score="recall"),
    metrics.f1_score: partial(set_score, score="f"),
    metrics.fbeta_score: partial(set_score, score="f"),
    metrics.jaccard_score: partial(set_score, score="jaccard"),
    metrics.matthews_corrcoef: matthews_corrcoef,
    metrics.cohen_kappa_score: cohen_kappa,
    metrics.log_loss: log_loss,
    metrics.brier_score_loss: brier_score,
    metrics.mean_squared_error: partial(regression_mean, loss="squared"),
    metrics.root_mean_squared_error: partial(regression_mean, loss="squared", root=True),
    metrics.mean_absolute_error: partial(regression_mean, loss="absolute"),
    metrics.r2_score: r2,
    **rank_metrics.BUILDERS,
    **clusterings.BUILDERS,
    **sum_metrics.BUILDERS,
}


def find_builder(function: Callable[..., Any]) -> Builder | None:
    """Find the builder of a metric: its own attribute, or the one of scikit-learn's function."""
    own: Builder | None = getattr(function, "pairboot_kernel", None)
    return own if own is not None else BUILDERS.get(function)


def _labels(problem: Problem) -> tuple[IntArray, list[IntArray], NDArray[Any]] | None:
    return None if problem.kind == "continuous" else problem.encoded()


def _sums(
    problem: Problem,
    terms: list[FloatArray],
    formula: Callable[[FloatArray], formulas.Formula],
) -> SumsKernel:
    stacked = problem.row_weight[:, None] * np.hstack(terms)
    return SumsKernel.from_rows(
        stacked, formula, len(problem.records), problem.units, row_weight=problem.row_weight
    )


def _probabilities(
    problem: Problem,
) -> list[tuple[FloatArray, tuple[IntArray, IntArray] | None]]:
    """Every model's probabilities and the places of the true classes in them."""
    found = []
    rows = np.arange(len(problem.y))
    for (_, answers), classes in zip(
        problem.responses(PROBABILITIES), problem.classes(), strict=True
    ):
        places = {label: place for place, label in enumerate(classes.tolist())}
        known = np.isin(np.unique(problem.y), classes).all() and answers.shape[1] == len(classes)
        columns = np.array([places[label] for label in problem.y.tolist()]) if known else None
        found.append((answers, None if columns is None else (rows, columns)))
    return found


def _errors(problem: Problem) -> FloatArray | None:
    predictions = problem.predictions()
    arrays = [problem.y, *predictions]
    if any(array.ndim != 1 or array.dtype.kind not in "biuf" for array in arrays):
        return None
    truth = problem.y.astype(np.float64)
    with np.errstate(over="ignore"):
        errors = np.column_stack(
            [truth - predicted.astype(np.float64) for predicted in predictions]
        )
        largest = max(2 * np.abs(truth).max(), np.abs(errors).max())
        if not np.isfinite(len(truth) * largest**2):  # sums of squares would overflow
            return None
    return errors


def _one_output(multioutput: Any) -> bool:
    return isinstance(multioutput, str) and multioutput != "raw_values"


def _one_hot(codes: IntArray, n_labels: int) -> FloatArray:
    return np.equal(codes[:, None], np.arange(n_labels)).astype(np.float64)
