"""Costs, profits and rates of several models against the threshold, with bands."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_pairboot._engine.curves import Measure
from sklearn_pairboot._engine.thresholds import Counts, Sweep
from sklearn_pairboot._engine.weights import FloatArray, IntArray
from sklearn_pairboot._scoring.checks import check_share, plain, shown
from sklearn_pairboot.metrics._rules import Costs, check_number
from sklearn_pairboot.metrics._score_curves import ScoredRows, band, check_scored_rows, resample

__all__ = ["ThresholdBands", "threshold_bands"]

_N_THRESHOLDS = 97  # 0.02, 0.03, ..., 0.98 for probabilities


@dataclass(frozen=True, eq=False)
class ThresholdBands:
    """Metrics of several models at many thresholds, from `threshold_bands`.

    Bands are pointwise: each threshold has its own interval.

    Parameters
    ----------
    models : tuple of str
        Names of the models.
    metrics : tuple of str
        Names of the metrics.
    thresholds : ndarray of shape (n_thresholds,)
        Thresholds in ascending order. Rows that score so much or more are called positive.
    curve, ci_low, ci_high : ndarray of shape (n_models, n_metrics, n_thresholds)
        Values, and the ends of their intervals; NaN where a ratio is 0/0.
    n_undefined : ndarray of shape (n_models, n_metrics, n_thresholds)
        Resamples left out because the value is 0/0.
    best : ndarray of shape (n_models, n_metrics)
        Threshold with the best value: the least cost, the greatest profit. NaN for metrics that
        no threshold should be chosen by.
    none_positive, all_positive : ndarray of shape (n_metrics, n_thresholds)
        Values of calling no row, and every row, positive; NaN where a ratio is 0/0.
    positive_rate : float
        Share of positive rows.
    confidence_level : float
        Level of the intervals, each by itself.
    unit : str
        What was resampled, ``"rows"`` or ``"clusters"``.
    n_units : int
        How many of them there are.
    n_resamples : int
        Number of resamples.

    Examples
    --------
    >>> from sklearn_pairboot.metrics import threshold_bands
    >>> bands = threshold_bands(
    ...     [1, 1, 0, 0], {"model": [0.9, 0.4, 0.6, 0.1]}, metric="recall", random_state=0
    ... )
    >>> bands.curve.shape
    (1, 1, 97)
    """

    models: tuple[str, ...]
    metrics: tuple[str, ...]
    thresholds: FloatArray
    curve: FloatArray
    ci_low: FloatArray
    ci_high: FloatArray
    n_undefined: NDArray[np.int64]
    best: FloatArray
    none_positive: FloatArray
    all_positive: FloatArray
    positive_rate: float
    confidence_level: float
    unit: str
    n_units: int
    n_resamples: int


def threshold_bands(
    y_true: Any,
    predictions: Any,
    *,
    metric: str | Sequence[str] = "cost",
    cost_fn: float | None = None,
    cost_fp: float | None = None,
    cost_tp: float = 0.0,
    cost_tn: float = 0.0,
    gain_tp: float | None = None,
    gain_tn: float = 0.0,
    thresholds: Any = None,
    groups: Any = None,
    sample_weight: Any = None,
    pos_label: Any = None,
    n_resamples: int = 999,
    confidence_level: float = 0.95,
    random_state: Any = None,
) -> ThresholdBands:
    """Compute a metric of several models at many thresholds, with pointwise bootstrap bands.

    All models and thresholds are looked at in the same resamples.

    Parameters
    ----------
    y_true : array-like of shape (n_rows,)
        True labels of two classes.
    predictions : mapping of str to array-like of shape (n_rows,)
        Scores or probabilities by name of model, high for the positive class.
    metric : str or sequence of str, default="cost"
        ``"cost"`` and ``"profit"`` of a row, ``"net_benefit"``, ``"precision"``, ``"recall"``,
        ``"f1"`` or ``"accuracy"``; several at once for one table.
    cost_fn, cost_fp : float, default=None
        Costs of a false negative and of a false positive; both are needed for ``"cost"``. For
        ``"profit"`` ``cost_fp`` is needed, and ``cost_fn`` is 0 by default.
    cost_tp, cost_tn : float, default=0.0
        Costs of right predictions, for ``"cost"`` alone.
    gain_tp : float, default=None
        Profit of a true positive, needed for ``"profit"``.
    gain_tn : float, default=0.0
        Profit of a true negative, for ``"profit"`` alone.
    thresholds : array-like of shape (n_thresholds,), default=None
        Finite thresholds. ``None`` is 0.02, 0.03, ..., 0.98 where all scores lie between 0 and 1,
        and otherwise 97 equal steps from the lowest score to the highest.
    groups : array-like of shape (n_rows,), default=None
        Cluster of each row. With it whole clusters are resampled; ``None`` resamples rows.
    sample_weight : array-like of shape (n_rows,), default=None
        Weight of each row.
    pos_label : label, default=None
        Positive class; ``None`` is the larger label.
    n_resamples : int, default=999
        Number of resamples.
    confidence_level : float, default=0.95
        Level of the intervals.
    random_state : int, Generator, RandomState or None, default=None
        Seed.

    Returns
    -------
    ThresholdBands
        Values and bands at each threshold.

    Raises
    ------
    ValueError
        If a metric lacks its costs, only one class is present, or a score is missing.

    See Also
    --------
    threshold_curve : Counts at all thresholds of one model, without bands.
    choose_threshold : The choice of one threshold.
    sklearn_pairboot.plotting.ThresholdDisplay : The picture.

    Notes
    -----
    The band is *pointwise*, and holds for a threshold settled beforehand. It does not hold for the
    best threshold of the curve: the best value on these rows is too good for other rows. Choose
    the threshold on validation rows, and look at its value on the test rows.

    Net benefit [1]_ takes the threshold for the probability from which on one would act, so that
    each threshold has another weighing of mistakes: it is no curve to choose a threshold by.

    References
    ----------
    .. [1] Vickers, A. J. and Elkin, E. B. (2006). Decision curve analysis: a novel method for
       evaluating prediction models. Medical Decision Making 26, 565-574.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_pairboot.metrics import threshold_bands
    >>> rng = np.random.default_rng(0)
    >>> y_prob = rng.random(500)
    >>> y_true = rng.random(500) < y_prob
    >>> bands = threshold_bands(
    ...     y_true, {"model": y_prob}, metric="cost", cost_fn=4, cost_fp=1, random_state=0
    ... )
    >>> bands.best
    array([[0.15]])
    """
    names = tuple(metric) if isinstance(metric, list | tuple) else (metric,)
    if not names:
        raise ValueError(f"`metric` must name at least one metric, got {metric!r}.")
    rows = check_scored_rows(
        y_true,
        predictions,
        groups=groups,
        sample_weight=sample_weight,
        pos_label=pos_label,
        n_resamples=n_resamples,
        confidence_level=confidence_level,
        random_state=random_state,
    )
    at = _thresholds(thresholds, rows, names)
    costs = {"cost_fn": cost_fn, "cost_fp": cost_fp, "cost_tp": cost_tp, "cost_tn": cost_tn}
    measures = [_measure(name, costs, {"tp": gain_tp, "tn": gain_tn}, at) for name in names]
    sweeps = [Sweep.of(rows.positive, scores, at) for scores in rows.scores]
    observed, replicates = resample(rows, sweeps, measures, len(at))
    bands = band(rows, observed, replicates)
    signs = [_BETTER.get(name, np.nan) for name in names]
    # Ends of a stretch of equal values: of the best the highest threshold, as `choose_threshold`.
    places = np.argmax((observed * np.nan_to_num(signs)[:, None])[..., ::-1], axis=2)
    best = np.where(np.isnan(signs), np.nan, at[::-1][places])
    return ThresholdBands(
        models=rows.models,
        metrics=names,
        thresholds=at,
        curve=bands.curve,
        ci_low=bands.low,
        ci_high=bands.high,
        n_undefined=np.isnan(replicates).sum(axis=0),
        best=best,
        none_positive=_of_all(rows, measures, at, called=False),
        all_positive=_of_all(rows, measures, at, called=True),
        positive_rate=rows.positive_rate,
        confidence_level=rows.confidence_level,
        unit=rows.unit,
        n_units=rows.units.n_units,
        n_resamples=rows.n_resamples,
    )


# Signs of metrics that a threshold may be chosen by.
_BETTER = {"cost": -1.0, "profit": 1.0}


def _precision(counts: Counts) -> FloatArray:
    return _ratio(counts.true_positives, counts.true_positives + counts.false_positives)


def _recall(counts: Counts) -> FloatArray:
    return _ratio(counts.true_positives, counts.positives)


def _f1(counts: Counts) -> FloatArray:
    twice = 2 * counts.true_positives
    return _ratio(twice, twice + counts.false_positives + counts.false_negatives)


def _accuracy(counts: Counts) -> FloatArray:
    right = counts.true_positives + counts.true_negatives
    return _ratio(right, counts.positives + counts.negatives)


_RATES: dict[str, Measure] = {
    "precision": _precision,
    "recall": _recall,
    "f1": _f1,
    "accuracy": _accuracy,
}
_NAMES = ("cost", "profit", "net_benefit", *_RATES)


def _measure(name: Any, costs: dict[str, Any], gains: dict[str, Any], at: FloatArray) -> Measure:
    """Give the metric as a function of counts at the thresholds, its costs checked."""
    if not isinstance(name, str) or name not in _NAMES:
        raise ValueError(
            f"`metric` must be one of {', '.join(map(repr, _NAMES))} or several of them, got "
            f"{name!r}."
        )
    if name in _RATES:
        return _RATES[name]
    if name == "net_benefit":
        odds = at / (1 - at)

        def net_benefit(counts: Counts) -> FloatArray:
            net = counts.true_positives - odds * counts.false_positives
            return _ratio(net, counts.positives + counts.negatives)

        return net_benefit
    if name == "cost":
        of_mistakes = costs
        sign = 1.0
    else:
        of_mistakes = {**costs, "cost_fn": costs["cost_fn"] or 0.0, "gain_tp": gains["tp"]}
        sign = -1.0
    missing = [key for key, value in of_mistakes.items() if value is None]
    if missing:
        raise ValueError(
            f"`{missing[0]}` must be given for `metric`={name!r}, got None. Pass it in the unit of "
            "your costs."
        )
    checked = {key: check_number(key, value) for key, value in of_mistakes.items()}
    right = checked["cost_tp"], checked["cost_tn"]
    if name == "profit":
        if any(right):
            raise ValueError(
                "`cost_tp` and `cost_tn` must be 0 for `metric`='profit', got "
                f"{right[0]:g} and {right[1]:g}. Pass `gain_tp` and `gain_tn`."
            )
        right = -checked["gain_tp"], -check_number("gain_tn", gains["tn"])
    rule = Costs(checked["cost_fn"], checked["cost_fp"], *right)
    return _mean(rule.of, sign)


def _mean(of: Callable[[Counts], FloatArray], sign: float) -> Measure:
    def mean(counts: Counts) -> FloatArray:
        drawn = counts.positives + counts.negatives > 0
        with np.errstate(invalid="ignore"):  # rows of no weight alone have no mean
            return np.where(drawn, sign * of(counts) + 0.0, np.nan)

    return mean


def _thresholds(thresholds: Any, rows: ScoredRows, names: Sequence[Any]) -> FloatArray:
    if thresholds is None:
        low = min(float(scores.min()) for scores in rows.scores)
        high = max(float(scores.max()) for scores in rows.scores)
        is_probability = low >= 0 and high <= 1
        if is_probability:
            return np.round(np.linspace(0.02, 0.98, _N_THRESHOLDS), 2)
        at = np.linspace(low, high, _N_THRESHOLDS)
    else:
        at = plain(thresholds)
        if at.ndim != 1 or at.size == 0 or at.dtype.kind not in "iuf" or not np.isfinite(at).all():
            raise ValueError(
                "`thresholds` must be a one-dimensional array of finite numbers, got "
                f"{shown(np.ravel(at).tolist())}."
            )
        at = np.unique(at.astype(np.float64))
    if "net_benefit" in names:
        outside = at[(at <= 0) | (at >= 1)]
        if outside.size:
            check_share("thresholds", outside.tolist()[0], "Net benefit takes probabilities.")
    return at


def _of_all(
    rows: ScoredRows, measures: Sequence[Measure], at: FloatArray, *, called: bool
) -> FloatArray:
    """Values where all rows get the same label."""
    weight = rows.weight
    positives, negatives = (
        np.asarray(weight[own].sum()).reshape(1, 1) for own in (rows.positive, ~rows.positive)
    )
    hits, alarms = (
        np.broadcast_to(total * called, (1, len(at))) for total in (positives, negatives)
    )
    counts = Counts(hits, alarms, positives, negatives)
    return np.stack([np.broadcast_to(measure(counts), (1, len(at)))[0] for measure in measures])


def _ratio(part: NDArray[Any], whole: NDArray[Any] | IntArray) -> FloatArray:
    found = np.full(np.broadcast_shapes(part.shape, whole.shape), np.nan)
    np.divide(part, whole, out=found, where=whole > 0)
    return found
