"""Kernels of ROC AUC and average precision: two classes, several classes, several labels."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from numbers import Real
from typing import Any

import numpy as np
from scipy.stats import rankdata
from sklearn import metrics

from sklearn_pairboot._engine.formulas import mean_of_defined
from sklearn_pairboot._engine.kernels import SumsKernel, item_means
from sklearn_pairboot._engine.ranks import AUCKernel, AveragePrecisionKernel
from sklearn_pairboot._engine.ranks_multiclass import MulticlassKernel, RankPart, over_cells
from sklearn_pairboot._engine.ranks_partial import PartialAUCKernel
from sklearn_pairboot._engine.weights import BoolArray, FloatArray, Kernel
from sklearn_pairboot._scoring.problem import Problem

PROBABILITIES = ("predict_proba",)
SCORES = ("decision_function", "predict_proba")
AVERAGES = ("macro", "weighted", "micro")


def roc_auc(
    problem: Problem,
    average: Any = "macro",
    max_fpr: Any = None,
    multi_class: str = "raise",
    labels: Any = None,
) -> Kernel | None:
    """Area under the ROC curve: of two classes or of labels, whole or in part; of several classes.

    With two classes ``average``, ``multi_class`` and ``labels`` do not matter; with labels of
    multilabel targets the latter two.
    """
    whole = max_fpr is None or max_fpr == 1
    if problem.kind in ("binary", "multilabel"):
        part: Callable[..., RankPart] = AUCKernel
        if not whole:
            if not isinstance(max_fpr, Real) or not 0 < float(max_fpr) < 1:
                return None
            part = partial(PartialAUCKernel, max_fpr=float(max_fpr))
        if problem.kind == "binary":
            return _two_classes(problem, part, problem.pos_label)
        if average == "samples":
            return _auc_of_rows(problem) if whole else None
        return _labels(problem, part, average)
    averages = {"ovr": AVERAGES, "ovo": ("macro", "weighted")}
    if not whole or average not in averages.get(multi_class, ()):
        return None
    if multi_class == "ovo" and problem.sample_weight is not None:
        return None
    found = _class_scores(problem, PROBABILITIES)
    if found is None:
        return None
    positive, scores, classes = found
    if labels is not None and np.asarray(labels).tolist() != classes:
        return None
    if not all(np.allclose(1, of_model.sum(axis=1)) for of_model in scores):
        return None
    return _several_classes(problem, AUCKernel, positive, scores, multi_class, average)


def average_precision(
    problem: Problem, average: Any = "macro", pos_label: Any = 1
) -> Kernel | None:
    """Average precision of two classes, of each of several against the others, or of labels."""
    if problem.kind == "binary":
        return _two_classes(problem, AveragePrecisionKernel, pos_label)
    if pos_label != 1:
        return None
    if problem.kind == "multilabel":
        if average == "samples":
            return _average_precision_of_rows(problem)
        return _labels(problem, AveragePrecisionKernel, average)
    if average not in AVERAGES:
        return None
    found = _class_scores(problem, SCORES)
    if found is None:
        return None
    positive, scores, _ = found
    return _several_classes(problem, AveragePrecisionKernel, positive, scores, "ovr", average)


BUILDERS: dict[Callable[..., Any], Callable[..., Kernel | None]] = {
    metrics.roc_auc_score: roc_auc,
    metrics.average_precision_score: average_precision,
}


def _two_classes(problem: Problem, kernel: Callable[..., Kernel], pos_label: Any) -> Kernel | None:
    binary = problem.binary_scores(SCORES, pos_label)
    if binary is None:
        return None
    positive, scores = binary
    return kernel(tuple(scores), positive, problem.units, problem.sample_weight)


def _class_scores(
    problem: Problem, methods: tuple[str, ...]
) -> tuple[BoolArray, tuple[FloatArray, ...], list[Any]] | None:
    """Which rows are of which class, every model's scores of the classes, and the classes.

    ``None`` where the classes of a model and of the truths are not the same: scikit-learn has
    no score for a class that no row has.
    """
    if problem.kind != "multiclass":
        return None
    if not all(hasattr(record, "classes_") for record in problem.records):
        return None
    labels, codes = problem.true_labels()
    classes = labels.tolist()
    if any(of_model.tolist() != classes for of_model in problem.classes()):
        return None
    scores = tuple(answers for _, answers in problem.responses(methods))
    if any(answers.shape != (len(codes), len(classes)) for answers in scores):
        return None
    return np.equal(codes.reshape(-1, 1), np.arange(len(classes))), scores, classes


def _several_classes(
    problem: Problem,
    kernel: Callable[..., RankPart],
    positive: BoolArray,
    scores: tuple[FloatArray, ...],
    scheme: str,
    average: str,
) -> Kernel:
    if average == "micro":
        return over_cells(kernel, scores, positive, problem.units, problem.sample_weight)
    return MulticlassKernel(
        scores, positive, problem.units, problem.sample_weight, kernel, scheme, average
    )


def _labels(problem: Problem, kernel: Callable[..., RankPart], average: Any) -> Kernel | None:
    """Labels of multilabel targets: each is a class against the rows that lack it."""
    scores = problem.label_scores(SCORES)
    if scores is None or average not in AVERAGES:
        return None
    return _several_classes(problem, kernel, problem.y == 1, tuple(scores), "ovr", average)


def _auc_of_rows(problem: Problem) -> Kernel | None:
    """Mean over rows of the AUC of a row's labels; ``None`` where a row has all labels or none."""
    scores, positive = problem.label_scores(SCORES), problem.y == 1
    n_positive = positive.sum(axis=1)
    n_pairs = n_positive * (problem.y.shape[1] - n_positive)
    if scores is None or not n_pairs.all():
        return None
    below = n_positive * (n_positive + 1) / 2
    areas = [
        ((rankdata(of_model, axis=1) * positive).sum(axis=1) - below) / n_pairs
        for of_model in scores
    ]
    return item_means(np.column_stack(areas), problem.row_weight, problem.units)


def _average_precision_of_rows(problem: Problem) -> Kernel | None:
    """Mean over rows of the average precision of a row's labels, 0 by convention where it has none.

    What labels a row has does not depend on what is drawn: rows without any are no reason to call
    a resample undefined.
    """
    scores, positive = problem.label_scores(SCORES), problem.y == 1
    if scores is None:
        return None
    n_positive = positive.sum(axis=1)
    weight = problem.row_weight
    terms = []
    for of_model in scores:
        # How many labels, and how many of the row's own, have at least the score of each.
        n_labels = rankdata(-of_model, method="max", axis=1)
        n_own = rankdata(np.where(positive, -of_model, np.inf), method="max", axis=1)
        precision = np.where(positive, n_own / n_labels, 0.0).sum(axis=1)
        scores_of_rows = precision / np.maximum(n_positive, 1)
        terms += [weight, weight * scores_of_rows, weight * (n_positive == 0)]
    return SumsKernel.from_rows(
        np.column_stack(terms), mean_of_defined, len(scores), problem.units, scale=1.0
    )
