"""Kernels of ROC AUC and average precision: two classes, several classes, part of the curve."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from numbers import Real
from typing import Any

import numpy as np
from sklearn import metrics

from sklearn_pairboot._engine.ranks import AUCKernel, AveragePrecisionKernel
from sklearn_pairboot._engine.ranks_multiclass import MulticlassKernel, over_cells
from sklearn_pairboot._engine.ranks_partial import PartialAUCKernel
from sklearn_pairboot._engine.weights import FloatArray, IntArray, Kernel
from sklearn_pairboot._scoring.problem import Problem

PROBABILITIES = ("predict_proba",)
SCORES = ("decision_function", "predict_proba")


def roc_auc(
    problem: Problem,
    average: Any = "macro",
    max_fpr: float | None = None,
    multi_class: str = "raise",
    labels: Any = None,
) -> Kernel | None:
    """Area under the ROC curve of two classes, whole or in part, or of several classes.

    With two classes ``average``, ``multi_class`` and ``labels`` do not matter.
    """
    whole = max_fpr is None or max_fpr == 1
    if problem.kind == "binary":
        if whole:
            return _two_classes(problem, AUCKernel, problem.pos_label)
        if not isinstance(max_fpr, Real) or not 0 < max_fpr < 1:
            return None
        part = partial(PartialAUCKernel, max_fpr=float(max_fpr))
        return _two_classes(problem, part, problem.pos_label)
    averages = {"ovr": ("macro", "weighted", "micro"), "ovo": ("macro", "weighted")}
    if not whole or average not in averages.get(multi_class, ()):
        return None
    if multi_class == "ovo" and problem.sample_weight is not None:
        return None
    found = _class_scores(problem, PROBABILITIES)
    if found is None:
        return None
    codes, scores, classes = found
    if labels is not None and np.asarray(labels).tolist() != classes:
        return None
    if not all(np.allclose(1, of_model.sum(axis=1)) for of_model in scores):
        return None
    return _several_classes(problem, AUCKernel, codes, scores, multi_class, average)


def average_precision(
    problem: Problem, average: Any = "macro", pos_label: Any = 1
) -> Kernel | None:
    """Average precision of two classes, or of each of several against the others."""
    if problem.kind == "binary":
        return _two_classes(problem, AveragePrecisionKernel, pos_label)
    if average not in ("macro", "weighted", "micro") or pos_label != 1:
        return None
    found = _class_scores(problem, SCORES)
    if found is None:
        return None
    codes, scores, _ = found
    return _several_classes(problem, AveragePrecisionKernel, codes, scores, "ovr", average)


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
) -> tuple[IntArray, tuple[FloatArray, ...], list[Any]] | None:
    """Class of every row, every model's scores of the classes, and the classes.

    ``None`` where the classes of a model and of the truths are not the same: scikit-learn has
    no score for a class that no row has.
    """
    if problem.kind != "multiclass":
        return None
    if not all(hasattr(record, "classes_") for record in problem.records):
        return None
    labels, codes = np.unique(problem.y, return_inverse=True)
    classes = labels.tolist()
    if any(of_model.tolist() != classes for of_model in problem.classes()):
        return None
    scores = tuple(answers for _, answers in problem.responses(methods))
    if any(answers.shape != (len(codes), len(classes)) for answers in scores):
        return None
    return codes.reshape(-1), scores, classes


def _several_classes(
    problem: Problem,
    kernel: type[AUCKernel] | type[AveragePrecisionKernel],
    codes: IntArray,
    scores: tuple[FloatArray, ...],
    scheme: str,
    average: str,
) -> Kernel:
    if average == "micro":
        return over_cells(kernel, scores, codes, problem.units, problem.sample_weight)
    return MulticlassKernel(
        scores, codes, problem.units, problem.sample_weight, kernel, scheme, average
    )
