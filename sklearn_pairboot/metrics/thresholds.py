"""Thresholds of scores: what follows from each of them, and the choice of one by a rule."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from sklearn_pairboot._engine.thresholds import Counts, Sweep
from sklearn_pairboot._engine.weights import FloatArray
from sklearn_pairboot._scoring.checks import check_share, plain
from sklearn_pairboot.metrics._ranked import check_ranked
from sklearn_pairboot.metrics._rules import read_rule

__all__ = ["ThresholdCurve", "choose_threshold", "threshold_curve"]


@dataclass(frozen=True, eq=False)
class ThresholdCurve:
    """What follows from each threshold, from `threshold_curve`.

    All arrays have shape (n_thresholds,) and cannot be changed. Ratios are NaN where they are
    0/0.

    Parameters
    ----------
    thresholds : ndarray
        The thresholds. Rows that score so much or more are called positive.
    true_positives : ndarray
        Weight of the positive rows that are called positive; without weights, their number.
    false_positives : ndarray
        Weight of the negative rows that are called positive.
    false_negatives : ndarray
        Weight of the positive rows that are not.
    true_negatives : ndarray
        Weight of the negative rows that are not.

    Examples
    --------
    >>> from sklearn_pairboot.metrics import threshold_curve
    >>> curve = threshold_curve([1, 1, 0, 0], [0.9, 0.4, 0.6, 0.1], thresholds=[0.2, 0.5])
    >>> curve.recall.tolist()
    [1.0, 0.5]
    """

    thresholds: FloatArray
    true_positives: FloatArray
    false_positives: FloatArray
    false_negatives: FloatArray
    true_negatives: FloatArray

    @property
    def precision(self) -> FloatArray:
        """Share of positives among the rows called positive."""
        return _ratio(self.true_positives, self.true_positives + self.false_positives)

    @property
    def recall(self) -> FloatArray:
        """Share of the positives that are called positive."""
        return _ratio(self.true_positives, self.true_positives + self.false_negatives)

    @property
    def false_positive_rate(self) -> FloatArray:
        """Share of the negatives that are called positive."""
        return _ratio(self.false_positives, self.false_positives + self.true_negatives)

    @property
    def f1(self) -> FloatArray:
        """Harmonic mean of precision and recall."""
        twice = 2 * self.true_positives
        return _ratio(twice, twice + self.false_positives + self.false_negatives)

    @property
    def accuracy(self) -> FloatArray:
        """Share of rows that are labelled right."""
        return (self.true_positives + self.true_negatives) / self._total

    def cost(
        self, *, cost_fn: float, cost_fp: float, cost_tp: float = 0.0, cost_tn: float = 0.0
    ) -> FloatArray:
        """
        Compute the mean cost of a row at each threshold; its negative is the profit curve.

        Parameters
        ----------
        cost_fn : float
            Cost of a false negative.
        cost_fp : float
            Cost of a false positive.
        cost_tp, cost_tn : float, default=0.0
            Costs of right predictions; a gain is a negative cost.

        Returns
        -------
        ndarray of shape (n_thresholds,)
            Mean costs, as `misclassification_cost` has them.
        """
        total: FloatArray = (
            cost_fn * self.false_negatives
            + cost_fp * self.false_positives
            + cost_tp * self.true_positives
            + cost_tn * self.true_negatives
        )
        return total / self._total

    def net_benefit(self) -> FloatArray:
        """
        Compute the net benefit at each threshold: the decision curve, of probabilities.

        Returns
        -------
        ndarray of shape (n_thresholds,)
            Net benefits, as `sklearn_pairboot.metrics.net_benefit` has them; the thresholds must
            lie between 0 and 1.
        """
        inside = (self.thresholds > 0) & (self.thresholds < 1)
        if not inside.all():
            check_share("thresholds", self.thresholds[~inside].tolist()[0], "Pass `thresholds=`.")
        odds = self.thresholds / (1 - self.thresholds)
        return (self.true_positives - odds * self.false_positives) / self._total

    @property
    def _total(self) -> FloatArray:
        return (
            self.true_positives + self.false_positives + self.false_negatives + self.true_negatives
        )


def threshold_curve(
    y_true: Any,
    y_score: Any,
    *,
    sample_weight: Any = None,
    pos_label: Any = None,
    thresholds: Any = None,
) -> ThresholdCurve:
    """Count right and wrong labels at each threshold of a score.

    Parameters
    ----------
    y_true : array-like of shape (n_rows,)
        True labels of two classes.
    y_score : array-like of shape (n_rows,)
        Scores or probabilities that are high for the positive class.
    sample_weight : array-like of shape (n_rows,), default=None
        Weight of each row. An integer weight equals so many copies of the row.
    pos_label : label, default=None
        Positive class; ``None`` is the larger label.
    thresholds : array-like of shape (n_thresholds,), default=None
        Thresholds in any order. ``None`` is infinity, which calls no row positive, and then all
        distinct scores in descending order.

    Returns
    -------
    ThresholdCurve
        Counts at each threshold, and what is computed from them.

    See Also
    --------
    choose_threshold : One threshold, by a rule.
    sklearn.metrics.precision_recall_curve : Precision and recall at the distinct scores.

    Notes
    -----
    *When not to use it*: to say that one model is better than another. Compare models by the area
    under the ROC curve or by average precision, and choose the threshold of the one that is used
    by such a curve, on validation rows. The best point of a curve is too good for other rows.

    Examples
    --------
    >>> from sklearn_pairboot.metrics import threshold_curve
    >>> curve = threshold_curve([1, 1, 0, 0], [0.9, 0.4, 0.6, 0.1])
    >>> curve.thresholds.tolist()
    [inf, 0.9, 0.6, 0.4, 0.1]
    >>> curve.cost(cost_fn=5, cost_fp=1).tolist()
    [2.5, 1.25, 1.5, 0.25, 0.5]
    """
    at = None
    if thresholds is not None:
        at = plain(thresholds)
        if at.ndim != 1 or at.size == 0 or at.dtype.kind not in "iuf" or np.isnan(at).any():
            raise ValueError(
                f"`thresholds` must be a one-dimensional array of numbers, got {thresholds!r}."
            )
        at = at.astype(np.float64)
    sweep, counts = _counted(y_true, y_score, sample_weight, pos_label, at)
    return curve_of(sweep, counts)


def choose_threshold(
    y_true: Any,
    y_score: Any,
    *,
    min_recall: float | None = None,
    min_precision: float | None = None,
    cost_fn: float | None = None,
    cost_fp: float | None = None,
    cost_tp: float = 0.0,
    cost_tn: float = 0.0,
    sample_weight: Any = None,
    pos_label: Any = None,
) -> float:
    """Choose a threshold of a score by a floor of recall, a floor of precision, or costs.

    Every distinct score is tried, and infinity, which calls no row positive.

    Parameters
    ----------
    y_true : array-like of shape (n_rows,)
        True labels of two classes, of validation rows.
    y_score : array-like of shape (n_rows,)
        Scores or probabilities that are high for the positive class.
    min_recall : float, default=None
        Take the highest threshold whose recall is so much or more; above 0 and at most 1.
    min_precision : float, default=None
        Take the highest recall among thresholds whose precision is so much or more, and of equal
        recalls the highest threshold; above 0 and at most 1.
    cost_fn, cost_fp : float, default=None
        Costs of a false negative and of a false positive: take the least mean cost, and of equal
        costs the highest threshold.
    cost_tp, cost_tn : float, default=0.0
        Costs of right predictions; a gain is a negative cost.
    sample_weight : array-like of shape (n_rows,), default=None
        Weight of each row.
    pos_label : label, default=None
        Positive class; ``None`` is the larger label.

    Returns
    -------
    float
        The threshold. Rows that score so much or more are to be called positive.

    Raises
    ------
    ValueError
        If no threshold meets the floor, or no rule or more than one is given.

    See Also
    --------
    threshold_curve : All thresholds.
    sklearn_pairboot.protocol.evaluate_protocol : The choice as a part of an evaluation.
    sklearn.model_selection.TunedThresholdClassifierCV : By any scorer, on a grid.
    sklearn.model_selection.FixedThresholdClassifier : Puts the threshold to use.

    Notes
    -----
    *When not to use it*: on the rows that the result is then reported for. The rule has seen them,
    and its cost, precision or recall there are too good. Floors hold on the rows given, and on
    others only about so.

    Examples
    --------
    >>> from sklearn_pairboot.metrics import choose_threshold
    >>> y_true, y_score = [1, 1, 0, 0], [0.9, 0.4, 0.6, 0.1]
    >>> choose_threshold(y_true, y_score, min_recall=0.8)
    0.4
    >>> choose_threshold(y_true, y_score, min_precision=0.8)
    0.9
    >>> choose_threshold(y_true, y_score, cost_fn=1, cost_fp=5)
    0.9
    """
    rule = read_rule(
        min_recall=min_recall,
        min_precision=min_precision,
        cost_fn=cost_fn,
        cost_fp=cost_fp,
        cost_tp=cost_tp,
        cost_tn=cost_tn,
    )
    if rule is None:
        raise ValueError(
            "One of `min_recall`, `min_precision` and costs (`cost_fn` and `cost_fp`) must be "
            "given, got none."
        )
    sweep, counts = _counted(y_true, y_score, sample_weight, pos_label, None)
    found = threshold_by(rule, sweep, counts)
    if math.isnan(found):
        raise ValueError(none_will_do(rule, counts, "`y_true`"))
    return found


def curve_of(sweep: Sweep, counts: Counts) -> ThresholdCurve:
    """Make the curve of counts in a single resample."""
    parts = (
        counts.true_positives,
        counts.false_positives,
        counts.false_negatives,
        counts.true_negatives,
    )
    arrays = [sweep.thresholds.copy(), *(part[0].astype(np.float64) for part in parts)]
    for array in arrays:
        array.setflags(write=False)
    return ThresholdCurve(*arrays)


def threshold_by(rule: Any, sweep: Sweep, counts: Counts) -> float:
    """Apply a rule to the rows as they are; NaN where no threshold will do."""
    place = int(rule(counts)[0])
    return math.nan if place < 0 else float(sweep.thresholds[place])


def none_will_do(rule: Any, counts: Counts, where: str) -> str:
    """Say why no threshold meets a rule."""
    if not counts.positives[0, 0] > 0:
        return f"{where} must hold positive rows to choose a threshold, got none."
    called = counts.true_positives[0] + counts.false_positives[0]
    best = np.max(counts.true_positives[0][called > 0] / called[called > 0])
    return (
        f"`min_precision` must be within reach in {where}, got {rule.floor:g}, where the highest "
        f"precision of any threshold is {best:.4g}."
    )


def _counted(
    y_true: Any, y_score: Any, sample_weight: Any, pos_label: Any, thresholds: FloatArray | None
) -> tuple[Sweep, Counts]:
    ranked = check_ranked(y_true, y_score, pos_label=pos_label, sample_weight=sample_weight)
    weight = ranked.sample_weight
    if weight is None:
        weight = np.ones(len(ranked.positive), dtype=np.int64)
    sweep = Sweep.of(ranked.positive, ranked.scores, thresholds)
    return sweep, sweep.counts(weight[None])


def _ratio(part: FloatArray, whole: FloatArray) -> FloatArray:
    found = np.full(part.shape, np.nan)
    np.divide(part, whole, out=found, where=whole > 0)
    return found
