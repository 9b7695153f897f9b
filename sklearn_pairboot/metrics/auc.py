"""The area under the ROC curve with equal scores counted half, what ties hide, and the scorer."""

from __future__ import annotations

import math
import numbers
import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.metrics import roc_auc_score

from sklearn_pairboot._engine.weights import Kernel
from sklearn_pairboot._scoring.checks import check_choice, check_same_index, plain_columns
from sklearn_pairboot._scoring.problem import Problem
from sklearn_pairboot._scoring.rank_metrics import roc_auc
from sklearn_pairboot.metrics._forecasts import one_column
from sklearn_pairboot.metrics._ranked import Ranked, check_ranked
from sklearn_pairboot.metrics._scorer import MetricScorer, describe

__all__ = ["AUCTies", "TieAwareAUC", "auc_ties", "tie_aware_auc"]

MULTI_CLASS = ("raise", "ovr", "ovo")


def _check_options(multi_class: Any, max_fpr: Any) -> None:
    check_choice("multi_class", multi_class, MULTI_CLASS)
    if max_fpr is None:
        return
    number = isinstance(max_fpr, numbers.Real) and not isinstance(max_fpr, bool | np.bool_)
    if not number or not 0 < float(max_fpr) <= 1:
        raise ValueError(
            f"`max_fpr` must be None or a number above 0 and at most 1, got {max_fpr!r}. For the "
            "whole curve pass None."
        )


def _build(problem: Problem, *, pos_label: Any = None, **keywords: Any) -> Kernel | None:
    _check_options(keywords.get("multi_class", "raise"), keywords.get("max_fpr"))
    if pos_label is not None:
        problem = replace(problem, pos_label=pos_label)
    return roc_auc(problem, **keywords)


@describe(pairboot_kernel=_build)
def tie_aware_auc(
    y_true: Any,
    y_score: Any,
    *,
    sample_weight: Any = None,
    pos_label: Any = None,
    max_fpr: float | None = None,
    multi_class: str = "raise",
    average: str = "macro",
    labels: Any = None,
) -> float:
    """Compute the area under the ROC curve; equal scores count half.

    It is the probability that a positive row has a higher score than a negative one. The value is
    that of scikit-learn's `roc_auc_score`. It does not depend on the order of rows, scores are
    compared exactly, pairs are counted in whole numbers, so that it never exceeds 1, and a value
    below 0.5 stays what it is: such scores speak for the other class.

    Parameters
    ----------
    y_true : array-like of shape (n_rows,)
        True labels.
    y_score : array-like of shape (n_rows,) or (n_rows, n_classes)
        Scores that are high for the positive class: probabilities, decision values, ratings. Of
        several classes their probabilities, columns in sorted order.
    sample_weight : array-like of shape (n_rows,), default=None
        Weight of each row; an integer weight equals so many copies of the row.
    pos_label : label, default=None
        Positive class of two; ``None`` is the larger label.
    max_fpr : float, default=None
        Only the curve up to this rate of false positives, standardised so that chance gives 0.5
        (McClish); ``None`` is the whole curve.
    multi_class : {"raise", "ovr", "ovo"}, default="raise"
        For several classes: each against the rest, or all pairs of classes.
    average : {"macro", "weighted", "micro"}, default="macro"
        Mean over several classes: equal, by their size, or of all decisions (``"ovr"`` only).
    labels : array-like of shape (n_classes,), default=None
        All classes, where some may be absent from ``y_true``.

    Returns
    -------
    float
        The area, NaN (with a warning) where a class is absent, or has no weight.

    See Also
    --------
    auc_ties : The same with the number of ties, and what they could hide.
    TieAwareAUC : The scorer.

    Notes
    -----
    *When not to use it.* It says nothing of calibration or of any threshold, and under strong
    imbalance a good area may go with poor precision. Predicted labels instead of scores give the
    mean of sensitivity and specificity: see `auc_ties`.

    References
    ----------
    .. [1] Hanley, J. A. and McNeil, B. J. (1982). The meaning and use of the area under a receiver
       operating characteristic (ROC) curve. Radiology 143, 29-36.

    Examples
    --------
    >>> from sklearn_pairboot.metrics import tie_aware_auc
    >>> tie_aware_auc([1, 1, 0, 0], [0.9, 0.5, 0.5, 0.1])
    0.875
    """
    _check_options(multi_class, max_fpr)
    check_same_index({"`y_true`": y_true, "`y_score`": y_score, "`sample_weight`": sample_weight})
    y = one_column(y_true)
    table = plain_columns(y_score)
    known = np.unique(y) if labels is None else np.unique(np.asarray(labels))
    if len(known) > 2 or (table.ndim == 2 and table.shape[1] > 2):
        return _several_classes(y, table, sample_weight, max_fpr, multi_class, average, labels)
    ranked = check_ranked(y, table, pos_label=pos_label, labels=labels, sample_weight=sample_weight)
    if not ranked.has_both_classes:
        warnings.warn(
            "Only one class is present in `y_true`, or has weight: the area under the ROC curve is "
            "undefined.",
            UndefinedMetricWarning,
            stacklevel=2,
        )
        return math.nan
    if max_fpr is None or max_fpr == 1:
        return _Pairs.of(ranked).area
    value = roc_auc_score(
        ranked.positive, ranked.scores, sample_weight=ranked.sample_weight, max_fpr=max_fpr
    )
    return min(float(value), 1.0)


def _several_classes(
    y: NDArray[Any],
    table: NDArray[Any],
    sample_weight: Any,
    max_fpr: float | None,
    multi_class: str,
    average: str,
    labels: Any,
) -> float:
    if multi_class == "raise":
        raise ValueError(
            "`multi_class` must be 'ovr' or 'ovo' where there are several classes, got 'raise'."
        )
    value = roc_auc_score(
        y,
        table,
        sample_weight=sample_weight,
        max_fpr=max_fpr,
        multi_class=multi_class,
        average=average,
        labels=labels,
    )
    return min(float(value), 1.0)


@dataclass(frozen=True)
class _Pairs:
    """Weight of all pairs of a positive and a negative row, of those in order, of the tied ones."""

    all: float
    in_order: float
    tied: float
    n_tied: int
    n_distinct: int

    @classmethod
    def of(cls, ranked: Ranked) -> _Pairs:
        distinct, places = np.unique(ranked.scores, return_inverse=True)
        places, n_distinct = places.reshape(-1), len(distinct)
        positive = ranked.positive
        counts = [
            np.bincount(places[own], minlength=n_distinct).astype(np.int64)
            for own in (positive, ~positive)
        ]
        n_tied = int(counts[0] @ counts[1])
        weight = ranked.sample_weight
        if weight is None:
            in_order = int(counts[0] @ (np.cumsum(counts[1]) - counts[1]))
            n_pairs = int(counts[0].sum()) * int(counts[1].sum())
            return cls(n_pairs, in_order, n_tied, n_tied, n_distinct)
        by_score = [
            np.bincount(places[own], weight[own], n_distinct) for own in (positive, ~positive)
        ]
        total = [math.fsum(of_class) for of_class in by_score]
        below = np.concatenate([[0.0], np.cumsum(by_score[1])[:-1]])
        return cls(
            total[0] * total[1],
            math.fsum(by_score[0] * below),
            math.fsum(by_score[0] * by_score[1]),
            n_tied,
            n_distinct,
        )

    @property
    def area(self) -> float:
        """Share of pairs in order, ties half."""
        return self.share(self.in_order + self.tied / 2)

    def share(self, part: float) -> float:
        """Give a share of the pairs: rounding of weights does not lift it above 1."""
        return min(part / self.all, 1.0) if self.all else math.nan


@dataclass(frozen=True)
class AUCTies:
    """The area under the ROC curve and what ties leave open, from `auc_ties`.

    Parameters
    ----------
    auc : float
        The area, ties counted half.
    n_distinct : int
        Number of distinct scores.
    n_tied_pairs : int
        Number of pairs of a positive and a negative row with equal scores.
    n_pairs : int
        Number of all pairs of a positive and a negative row.
    lowest : float
        The area if every tie were broken for the negative row.
    highest : float
        The area if every tie were broken for the positive row.
    note : str
        What a reader must know; empty where there is nothing to say.

    Examples
    --------
    >>> from sklearn_pairboot.metrics import auc_ties
    >>> ties = auc_ties([1, 1, 0, 0], [3, 2, 2, 1])
    >>> ties.n_tied_pairs, ties.lowest, ties.highest
    (1, 0.75, 1.0)
    """

    auc: float
    n_distinct: int
    n_tied_pairs: int
    n_pairs: int
    lowest: float
    highest: float
    note: str


def auc_ties(
    y_true: Any, y_score: Any, *, sample_weight: Any = None, pos_label: Any = None
) -> AUCTies:
    """Compute the area under the ROC curve, and how far ties between scores leave it open.

    Software that sorts rows and breaks ties by their order gives some value between ``lowest`` and
    ``highest``: the two are far apart for ratings, rounded probabilities and predicted labels.

    Parameters
    ----------
    y_true : array-like of shape (n_rows,)
        True labels of two classes, both present.
    y_score : array-like of shape (n_rows,)
        Scores that are high for the positive class.
    sample_weight : array-like of shape (n_rows,), default=None
        Weight of each row. Numbers of pairs stay numbers of pairs of rows.
    pos_label : label, default=None
        Positive class; ``None`` is the larger label.

    Returns
    -------
    AUCTies
        The area, its possible range, and the numbers of distinct scores and of ties.

    See Also
    --------
    tie_aware_auc : The area alone.

    Notes
    -----
    The range is no confidence interval: it says what an order of rows could make of these data.

    Examples
    --------
    >>> from sklearn_pairboot.metrics import auc_ties
    >>> ties = auc_ties([1, 1, 0, 1, 0, 0], [0.9, 0.8, 0.8, 0.5, 0.5, 0.2])
    >>> round(ties.auc, 3), round(ties.lowest, 3), round(ties.highest, 3)
    (0.778, 0.667, 0.889)
    """
    ranked = check_ranked(y_true, y_score, pos_label=pos_label, sample_weight=sample_weight)
    if not ranked.has_both_classes:
        raise ValueError("`y_true` must hold both classes with positive weight, got one.")
    n_positive = int(ranked.positive.sum())
    pairs = _Pairs.of(ranked)
    note = ""
    if pairs.n_distinct == 2 and len(ranked.positive) > 2:
        note = (
            "There are only two distinct scores. If these are predicted labels, the area is the "
            "mean of sensitivity and specificity; pass probabilities or decision values."
        )
    elif pairs.n_distinct == 1:
        note = "All scores are equal: they rank nothing."
    return AUCTies(
        auc=pairs.area,
        n_distinct=pairs.n_distinct,
        n_tied_pairs=pairs.n_tied,
        n_pairs=n_positive * (len(ranked.positive) - n_positive),
        lowest=pairs.share(pairs.in_order),
        highest=pairs.share(pairs.in_order + pairs.tied),
        note=note,
    )


class TieAwareAUC(MetricScorer):
    """Score models by the area under the ROC curve; equal scores count half.

    It goes wherever scikit-learn takes ``scoring=``, and into all comparisons of this package.
    Decision values are preferred to probabilities; of several classes probabilities are taken.

    Parameters
    ----------
    pos_label : label, default=None
        Positive class of two; ``None`` is the second of the estimator's classes.
    max_fpr : float, default=None
        Only the curve up to this rate of false positives.
    multi_class : {"raise", "ovr", "ovo"}, default="raise"
        For several classes: each against the rest, or all pairs of classes.
    average : {"macro", "weighted", "micro"}, default="macro"
        Mean over several classes.

    See Also
    --------
    tie_aware_auc : The metric, with its definition and its limits.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.model_selection import cross_val_score
    >>> from sklearn_pairboot import TieAwareAUC
    >>> X, y = make_classification(n_samples=500, random_state=0)
    >>> cross_val_score(LogisticRegression(), X, y, scoring=TieAwareAUC(), cv=2).round(2)
    array([0.86, 0.88])
    """

    _score_func = staticmethod(tie_aware_auc)

    def __init__(
        self,
        *,
        pos_label: Any = None,
        max_fpr: float | None = None,
        multi_class: str = "raise",
        average: str = "macro",
    ) -> None:
        self.pos_label = pos_label
        self.max_fpr = max_fpr
        self.multi_class = multi_class
        self.average = average

    @property
    def _response_method(self) -> tuple[str, ...]:
        if self.multi_class == "raise":
            return ("decision_function", "predict_proba")
        return ("predict_proba",)
