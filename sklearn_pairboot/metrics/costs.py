"""What predictions cost or earn: misclassification cost, profit, net benefit."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_pairboot._engine.weights import BoolArray, FloatArray, Kernel
from sklearn_pairboot._scoring.checks import (
    check_length,
    check_same_index,
    check_sample_weight,
    check_share,
    plain_columns,
    shown,
)
from sklearn_pairboot._scoring.labels import encode
from sklearn_pairboot._scoring.problem import Problem
from sklearn_pairboot._scoring.terms import mean_of_rows
from sklearn_pairboot.metrics._forecasts import check_binary, one_column
from sklearn_pairboot.metrics._rules import Costs, check_number
from sklearn_pairboot.metrics._scorer import describe

__all__ = ["misclassification_cost", "net_benefit", "profit"]


def _costs(cost_fn: Any, cost_fp: Any, cost_tp: Any, cost_tn: Any) -> Costs:
    return Costs(
        check_number("cost_fn", cost_fn),
        check_number("cost_fp", cost_fp),
        check_number("cost_tp", cost_tp),
        check_number("cost_tn", cost_tn),
    )


def _losses(costs: Costs, gain_tp: Any, gain_tn: Any) -> Costs:
    """Turn gains and costs into costs alone."""
    return _costs(
        costs.fn, costs.fp, -check_number("gain_tp", gain_tp), -check_number("gain_tn", gain_tn)
    )


def cost_of_rows(costs: Costs, positive: BoolArray, called: BoolArray) -> FloatArray:
    """Cost of every row."""
    return np.where(
        positive,
        np.where(called, costs.tp, costs.fn),
        np.where(called, costs.fp, costs.tn),
    ).astype(np.float64)


def _build(problem: Problem, costs: Costs, pos_label: Any, sign: float = 1.0) -> Kernel | None:
    found = problem.labels() if problem.kind == "binary" else None
    if found is None or found.n_labels > 2:
        return None
    labels = found.distinct.tolist()
    if pos_label is None:
        pos_label = _default_positive(labels)
    if pos_label is None:
        classes = [
            np.asarray(getattr(record, "classes_", ())).tolist() for record in problem.records
        ]
        if len(classes[0]) != 2 or any(of_model != classes[0] for of_model in classes):
            return None
        pos_label = classes[0][1]
    if len(labels) == 2 and pos_label not in labels:
        return None
    is_positive = found.distinct == pos_label
    positive = is_positive[found.truth]
    columns = [cost_of_rows(costs, positive, is_positive[codes]) for codes in found.predictions]
    return mean_of_rows(problem, sign * np.column_stack(columns), cells=found.cells)


def _build_cost(
    problem: Problem,
    *,
    cost_fn: Any,
    cost_fp: Any,
    cost_tp: Any = 0.0,
    cost_tn: Any = 0.0,
    pos_label: Any = None,
) -> Kernel | None:
    return _build(problem, _costs(cost_fn, cost_fp, cost_tp, cost_tn), pos_label)


def _build_profit(
    problem: Problem,
    *,
    gain_tp: Any,
    cost_fp: Any,
    gain_tn: Any = 0.0,
    cost_fn: Any = 0.0,
    pos_label: Any = None,
) -> Kernel | None:
    losses = _losses(_costs(cost_fn, cost_fp, 0.0, 0.0), gain_tp, gain_tn)
    return _build(problem, losses, pos_label, sign=-1.0)


def _build_net_benefit(problem: Problem, *, threshold: Any, pos_label: Any = None) -> Kernel | None:
    odds = _odds(threshold)
    if problem.kind != "binary":
        return None
    asked = problem.pos_label if pos_label is None else pos_label
    binary = problem.binary_scores(("predict_proba",), asked)
    if binary is None:
        return None
    positive, scores = binary
    columns = [_benefit_of_rows(positive, of_model, threshold, odds) for of_model in scores]
    return mean_of_rows(problem, np.column_stack(columns))


def _odds(threshold: Any) -> float:
    share = check_share("threshold", threshold, "For one in five pass 0.2.")
    return share / (1 - share)


def _benefit_of_rows(
    positive: NDArray[Any], probabilities: FloatArray, threshold: float, odds: float
) -> FloatArray:
    called = probabilities >= threshold
    return np.where(called, np.where(positive, 1.0, -odds), 0.0)


@describe(pairboot_kernel=_build_cost)
def misclassification_cost(
    y_true: Any,
    y_pred: Any,
    *,
    cost_fn: float,
    cost_fp: float,
    cost_tp: float = 0.0,
    cost_tn: float = 0.0,
    sample_weight: Any = None,
    pos_label: Any = None,
) -> float:
    r"""Compute the mean cost of a row where the two mistakes cost differently.

    Parameters
    ----------
    y_true : array-like of shape (n_rows,)
        True labels of two classes.
    y_pred : array-like of shape (n_rows,)
        Predicted labels.
    cost_fn : float
        Cost of a false negative, a positive row that is missed, in any unit.
    cost_fp : float
        Cost of a false positive, a false alarm, in the same unit.
    cost_tp, cost_tn : float, default=0.0
        Costs of right predictions; a gain is a negative cost.
    sample_weight : array-like of shape (n_rows,), default=None
        Weight of each row. An integer weight equals so many copies of the row.
    pos_label : label, default=None
        Positive class; ``None`` is 1 for labels {0, 1} and {-1, 1}.

    Returns
    -------
    float
        Mean cost of a row, in the unit of the costs; lower is better.

    See Also
    --------
    profit : The mirror, for gains.
    net_benefit : For probabilities, in units of true positives.
    sklearn_pairboot.metrics.choose_threshold : The threshold of least cost.

    Notes
    -----
    The value is :math:`(c_{FN} FN + c_{FP} FP + c_{TP} TP + c_{TN} TN) / n` [1]_. Costs, like the
    threshold that they call for, are parameters of the business and not of the model: settle them
    before looking at scores.

    *When not to use it.* Where every row has costs of its own, compute the cost of each row and
    pass these to `compare_scores` with ``greater_is_better=False``. The value holds for the share
    of positives in the rows given.

    References
    ----------
    .. [1] Elkan, C. (2001). The foundations of cost-sensitive learning. IJCAI.

    Examples
    --------
    >>> from sklearn.metrics import make_scorer
    >>> from sklearn_pairboot.metrics import misclassification_cost
    >>> misclassification_cost([1, 1, 0, 0], [1, 0, 1, 0], cost_fn=5, cost_fp=1)
    1.5
    >>> scorer = make_scorer(
    ...     misclassification_cost, greater_is_better=False, cost_fn=5, cost_fp=1
    ... )
    """
    costs = _costs(cost_fn, cost_fp, cost_tp, cost_tn)
    return _mean_cost(costs, y_true, y_pred, sample_weight, pos_label)


@describe(pairboot_kernel=_build_profit)
def profit(
    y_true: Any,
    y_pred: Any,
    *,
    gain_tp: float,
    cost_fp: float,
    gain_tn: float = 0.0,
    cost_fn: float = 0.0,
    sample_weight: Any = None,
    pos_label: Any = None,
) -> float:
    """Compute the mean profit of a row: what finds earn less what mistakes cost.

    Parameters
    ----------
    y_true : array-like of shape (n_rows,)
        True labels of two classes.
    y_pred : array-like of shape (n_rows,)
        Predicted labels.
    gain_tp : float
        Profit of a true positive, net of what acting on it costs, in any unit.
    cost_fp : float
        Cost of a false positive, in the same unit.
    gain_tn : float, default=0.0
        Profit of a true negative.
    cost_fn : float, default=0.0
        Cost of a false negative.
    sample_weight : array-like of shape (n_rows,), default=None
        Weight of each row. An integer weight equals so many copies of the row.
    pos_label : label, default=None
        Positive class; ``None`` is 1 for labels {0, 1} and {-1, 1}.

    Returns
    -------
    float
        Mean profit of a row; greater is better.

    See Also
    --------
    misclassification_cost : The mirror, with its limits.

    Notes
    -----
    It equals `misclassification_cost` with ``cost_tp=-gain_tp`` and ``cost_tn=-gain_tn``, negated.
    *When not to use it*: as there.

    Examples
    --------
    >>> from sklearn_pairboot.metrics import profit
    >>> profit([1, 1, 0, 0], [1, 0, 1, 0], gain_tp=95, cost_fp=5)
    22.5
    """
    losses = _losses(_costs(cost_fn, cost_fp, 0.0, 0.0), gain_tp, gain_tn)
    return -_mean_cost(losses, y_true, y_pred, sample_weight, pos_label) + 0.0


@describe(pairboot_kernel=_build_net_benefit)
def net_benefit(
    y_true: Any,
    y_prob: Any,
    *,
    threshold: float,
    sample_weight: Any = None,
    pos_label: Any = None,
) -> float:
    r"""Compute the net benefit of acting on all rows whose probability reaches a threshold.

    The threshold is the probability from which on one would act. It says what a false alarm is
    worth: with a threshold of 0.2 four of them weigh as much as one positive found.

    Parameters
    ----------
    y_true : array-like of shape (n_rows,)
        True labels of two classes.
    y_prob : array-like of shape (n_rows,)
        Probabilities of the positive class.
    threshold : float
        Probability from which on one acts, above 0 and below 1.
    sample_weight : array-like of shape (n_rows,), default=None
        Weight of each row. An integer weight equals so many copies of the row.
    pos_label : label, default=None
        Positive class; ``None`` is 1 for labels {0, 1} and {-1, 1}.

    Returns
    -------
    float
        Net true positives a row, at most the share of positives; greater is better. 0 is the
        value of acting on no row.

    See Also
    --------
    misclassification_cost : For predicted labels and stated costs.

    Notes
    -----
    The value is :math:`TP / n - FP / n \cdot t / (1 - t)` for the threshold :math:`t` [1]_. In a
    scorer pass ``response_method="predict_proba"``.

    *When not to use it.* It takes the probabilities at their word: if they are not calibrated,
    the threshold stands for another weighing than the one meant. Check them with
    `calibration_slope_intercept` or `reliability_curve`. Do not choose the threshold by it.

    References
    ----------
    .. [1] Vickers, A. J. and Elkin, E. B. (2006). Decision curve analysis: a novel method for
       evaluating prediction models. Medical Decision Making 26, 565-574.

    Examples
    --------
    >>> from sklearn.metrics import make_scorer
    >>> from sklearn_pairboot.metrics import net_benefit
    >>> net_benefit([1, 1, 0, 0], [0.9, 0.1, 0.3, 0.05], threshold=0.2)
    0.1875
    >>> scorer = make_scorer(net_benefit, response_method="predict_proba", threshold=0.2)
    """
    odds = _odds(threshold)
    data = check_binary(y_true, y_prob, pos_label=pos_label, sample_weight=sample_weight)
    benefits = _benefit_of_rows(data.outcomes == 1, data.predictions, threshold, odds)
    return float(np.average(benefits, weights=data.sample_weight))


def _mean_cost(costs: Costs, y_true: Any, y_pred: Any, sample_weight: Any, pos_label: Any) -> float:
    check_same_index({"`y_true`": y_true, "`y_pred`": y_pred, "`sample_weight`": sample_weight})
    y = one_column(y_true)
    predicted = plain_columns(y_pred)
    check_length(predicted, len(y), "`y_pred`")
    if predicted.ndim == 2 and predicted.shape[1] == 1:
        predicted = predicted[:, 0]
    weight = check_sample_weight(sample_weight, len(y))
    if predicted.dtype.kind == "O" and all(isinstance(label, str) for label in predicted):
        predicted = predicted.astype(str)
    found = encode(y, [predicted])
    if found is None:
        raise ValueError(
            "`y_pred` must hold predicted labels like those of `y_true`, got "
            f"{shown(predicted.ravel().tolist())}. Turn scores into labels first, such as "
            "y_prob >= threshold."
        )
    labels = found.distinct.tolist()
    if found.n_labels > 2:
        raise ValueError(f"`y_true` and `y_pred` must hold 2 classes at most, got {shown(labels)}.")
    if pos_label is None:
        pos_label = _default_positive(labels)
    if pos_label is None or (len(labels) == 2 and pos_label not in labels):
        raise ValueError(
            f"`pos_label` must be one of the labels {shown(labels)}, got {pos_label!r}. Name the "
            "class whose misses cost `cost_fn`."
        )
    is_positive = found.distinct == pos_label
    of_cells = cost_of_rows(costs, is_positive[found.truth], is_positive[found.predictions[0]])
    return float(np.average(of_cells[found.cells], weights=weight))


def _default_positive(labels: list[Any]) -> Any:
    """Give 1 where labels are numbers of the usual kind, else nothing."""
    return 1 if all(label in (0, 1, -1) for label in labels) else None
