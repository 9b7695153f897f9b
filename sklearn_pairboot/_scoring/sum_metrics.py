"""Kernels of further metrics of classes that are weighted sums.

Whatever a builder does not serve, and whatever scikit-learn would refuse or warn of, gives
``None``: the scorer is replayed on the drawn rows.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import metrics

from sklearn_pairboot._engine import formulas
from sklearn_pairboot._engine.explained import d2_brier, d2_log_loss
from sklearn_pairboot._engine.kernels import SumsKernel
from sklearn_pairboot._engine.weights import FloatArray, IntArray, Kernel
from sklearn_pairboot._scoring.problem import Problem
from sklearn_pairboot._scoring.resolve import resolve_scoring
from sklearn_pairboot._scoring.terms import mean_of_rows, one_hot, sum_to_one, weighted_sums

Builder = Callable[..., Kernel | None]


def likelihood_ratio(problem: Problem, *, positive: bool) -> Kernel | None:
    """Likelihood ratio of a positive or negative prediction; the larger label is positive."""
    found = problem.labels() if problem.kind == "binary" else None
    if found is None or problem.sample_weight is not None:  # the scorers take no weights
        return None
    if found.n_labels != 2 or len(np.unique(found.truth)) != 2:
        return None
    parameters = inspect.signature(metrics.class_likelihood_ratios).parameters
    formula = partial(
        _likelihood_ratio,
        positive=positive,
        otherwise=1.0 if "replace_undefined_by" in parameters else np.nan,
    )
    true = one_hot(problem, found.truth, 2)
    hits = [true * (codes == int(positive))[:, None] for codes in found.predictions]
    return weighted_sums(problem, [true, *hits], formula, found.cells)


def _likelihood_ratio(sums: FloatArray, *, positive: bool, otherwise: float) -> formulas.Formula:
    """Ratio of two rates. Terms: rows by class, then for each model those so predicted by class.

    As in scikit-learn, ``otherwise`` stands where no negative is so predicted, and only where
    some are, a lack of positives leaves the ratio undefined.
    """
    n_negative, n_positive = sums[:, :1], sums[:, 1:2]
    of_negative, of_positive = sums[:, 2::2], sums[:, 3::2]
    denominator = of_negative * n_positive
    values = formulas.ratio(of_positive * n_negative, denominator, np.nan)
    values[of_negative == 0] = otherwise
    undefined = np.isnan(values)
    return formulas.Formula(values, undefined, (of_negative == 0) & ~undefined)


# Probabilities and decision values


def top_k_accuracy(
    problem: Problem, k: int = 2, normalize: bool = True, labels: Any = None
) -> Kernel | None:
    """Share, or weighted number, of rows whose true class is among the ``k`` highest scores."""
    truth_and_classes = _true_classes(problem, labels)
    if truth_and_classes is None or not isinstance(k, Integral) or k < 1:
        return None
    truth, classes = truth_and_classes
    if k >= len(classes):  # always one, of which scikit-learn warns
        return None
    hits = []
    for _, scores in problem.responses(("decision_function", "predict_proba")):
        if len(classes) == 2:
            hit = _hits_of_two_classes(truth, scores)
        elif scores.ndim == 2 and scores.shape[1] == len(classes):
            highest = np.argsort(scores, axis=1, kind="mergesort")[:, ::-1][:, :k]
            hit = (highest == truth[:, None]).any(axis=1)
        else:
            return None
        if hit is None:
            return None
        hits.append(hit)
    return mean_of_rows(problem, np.column_stack(hits).astype(np.float64), normalize=normalize)


def _hits_of_two_classes(truth: IntArray, scores: FloatArray) -> NDArray[np.bool_] | None:
    """Tell which rows are right; ``None`` where the threshold would depend on the rows drawn."""
    if scores.ndim == 2:
        scores = scores[:, 1]
    # scikit-learn takes scores that all lie in [0, 1] for probabilities.
    probabilities = scores.min() >= 0 and scores.max() <= 1
    if not probabilities and np.any((scores > 0) & (scores <= 0.5)):
        return None
    return np.asarray((scores > 0.5) == truth)


def d2_log_loss_score(problem: Problem, labels: Any = None) -> Kernel | None:
    """Share of the log loss explained, against the shares of the classes drawn."""
    outcomes = _outcomes(problem, labels)
    if outcomes is None:
        return None
    true, probabilities = outcomes
    eps = np.finfo(np.float64).eps
    hits = true == 1
    losses = [-np.log(np.clip(answers[hits], eps, 1 - eps)) for answers in probabilities]
    return _against_shares(problem, true, losses, d2_log_loss)


def d2_brier_score(problem: Problem, pos_label: Any = None, labels: Any = None) -> Kernel | None:
    """Share of the Brier score explained, against the shares of the classes drawn."""
    outcomes = _outcomes(problem, labels, pos_label)
    if outcomes is None:
        return None
    true, probabilities = outcomes
    losses = [((true - answers) ** 2).sum(axis=1) for answers in probabilities]
    return _against_shares(problem, true, losses, d2_brier)


def hinge_loss(problem: Problem, labels: Any = None) -> Kernel | None:
    """Mean hinge loss of decision values.

    Of two classes the second counts as positive in every resample. scikit-learn takes the class
    that is left for the negative one where all drawn rows belong to one, whatever ``labels``.
    """
    truth_and_classes = _true_classes(problem, labels)
    if truth_and_classes is None or any(
        "decision_function" not in record.responses for record in problem.records
    ):
        return None
    truth, classes = truth_and_classes
    losses = []
    for _, scores in problem.responses(("decision_function",)):
        if len(classes) == 2 and scores.ndim == 1:
            margin = np.where(truth == 1, scores, -scores)
        elif len(classes) > 2 and scores.ndim == 2 and scores.shape[1] == len(classes):
            true = np.equal(truth[:, None], np.arange(len(classes)))
            margin = scores[true] - np.where(true, -np.inf, scores).max(axis=1)
        else:
            return None
        losses.append(np.maximum(1 - margin, 0))
    return mean_of_rows(problem, np.column_stack(losses))


# What the builders share


def _true_classes(problem: Problem, labels: Any) -> tuple[IntArray, NDArray[Any]] | None:
    """Numbers of the true classes among those that all models know, and these classes."""
    if problem.kind == "continuous" or any(
        getattr(record, "classes_", None) is None for record in problem.records
    ):
        return None
    classes = problem.classes()
    known = classes[0].tolist()
    if classes[0].ndim != 1 or any(of_model.tolist() != known for of_model in classes):
        return None
    if labels is not None and np.asarray(labels).tolist() != known:
        return None
    truth = problem.true_columns(known)
    return None if len(known) < 2 or truth is None else (truth, classes[0])


def _outcomes(
    problem: Problem, labels: Any, pos_label: Any = None
) -> tuple[FloatArray, list[FloatArray]] | None:
    """Give indicators of the true classes and every model's probabilities, by row and class."""
    truth_and_classes = _true_classes(problem, labels)
    if truth_and_classes is None or any(
        "predict_proba" not in record.responses for record in problem.records
    ):
        return None
    truth, classes = truth_and_classes
    if pos_label is not None and pos_label not in classes.tolist():
        return None
    first = pos_label is not None and pos_label == classes[0]
    probabilities = []
    for _, answers in problem.responses(("predict_proba",)):
        if answers.ndim != 2 or answers.shape[1] != len(classes):
            return None
        if len(classes) == 2:  # scorers pass on the column of the positive class alone
            positive = answers[:, 0 if first else 1]
            pair = (positive, 1 - positive) if first else (1 - positive, positive)
            answers = np.column_stack(pair)
        elif not sum_to_one(answers):
            return None
        probabilities.append(answers)
    true = np.equal(truth[:, None], np.arange(len(classes))).astype(np.float64)
    return true, probabilities


def _against_shares(
    problem: Problem,
    true: FloatArray,
    losses: list[FloatArray],
    formula: Callable[..., formulas.Formula],
) -> Kernel:
    terms = problem.row_weight[:, None] * np.column_stack([true, *losses])
    n_classes = true.shape[1]
    return SumsKernel.from_rows(
        terms, partial(formula, n_classes=n_classes), len(losses), problem.units
    )


BUILDERS: dict[Callable[..., Any], Builder] = {
    metrics.top_k_accuracy_score: top_k_accuracy,
    metrics.d2_log_loss_score: d2_log_loss_score,
    metrics.hinge_loss: hinge_loss,
}
if hasattr(metrics, "d2_brier_score"):  # since scikit-learn 1.8
    BUILDERS[metrics.d2_brier_score] = d2_brier_score
# The functions of these scorers have no public name.
BUILDERS |= {
    function: partial(likelihood_ratio, positive=positive)
    for name, positive in (
        ("positive_likelihood_ratio", True),
        ("neg_negative_likelihood_ratio", False),
    )
    if (function := resolve_scoring(name)[0].function) is not None
}
