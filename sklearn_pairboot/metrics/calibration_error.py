"""The binned calibration error, its debiased square, and the scorer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sklearn_pairboot._engine.binned import (
    NORMS,
    BinnedKernel,
    BinSums,
    Forecast,
    calibration_error,
)
from sklearn_pairboot._engine.bins import STRATEGIES, bin_numbers, inner_edges
from sklearn_pairboot._engine.seeds import is_integer
from sklearn_pairboot._engine.units import Units
from sklearn_pairboot._engine.weights import FloatArray, Kernel
from sklearn_pairboot._scoring.checks import check_choice
from sklearn_pairboot._scoring.problem import Problem
from sklearn_pairboot.metrics._forecasts import (
    KINDS,
    Event,
    check_events,
    events_of_several_classes,
    events_of_two_classes,
)
from sklearn_pairboot.metrics._scorer import MetricScorer, describe

__all__ = ["ECE", "expected_calibration_error", "squared_calibration_error"]

_PROBABILITIES = ("predict_proba",)
_MOST_BINS = 100_000


def check_binning(n_bins: Any, strategy: Any) -> None:
    """Check how probabilities are put into bins."""
    check_choice("strategy", strategy, STRATEGIES)
    if not is_integer(n_bins) or not 1 <= n_bins <= _MOST_BINS:
        raise ValueError(
            f"`n_bins` must be an integer from 1 to {_MOST_BINS}, got {n_bins!r}. 10 to 20 are "
            "common."
        )


def check_kind(kind: Any, norm: Any, debias: Any) -> None:
    """Check what is averaged, and how."""
    check_choice("kind", kind, KINDS)
    check_choice("norm", norm, NORMS)
    if not isinstance(debias, bool | np.bool_):
        raise TypeError(f"`debias` must be True or False, got {debias!r}.")
    if debias and norm != "l2":
        raise ValueError(
            f"`debias` must be False for norm={norm!r}, got True: only squares can be debiased. "
            "Pass norm='l2'."
        )


def binned(
    events: Sequence[Event], row_weight: FloatArray | None, n_bins: int, strategy: str
) -> tuple[Forecast, ...]:
    """Put the predictions of each event into bins of its own."""
    found = []
    for predictions, outcomes in events:
        edges = inner_edges(predictions, outcomes, n_bins, strategy, row_weight)
        found.append(Forecast(predictions, outcomes, bin_numbers(predictions, edges)))
    return tuple(found)


def _build(
    problem: Problem,
    *,
    n_bins: int = 15,
    strategy: str = "uniform",
    norm: str = "l1",
    kind: str = "positive",
    debias: bool = False,
    pos_label: Any = None,
    labels: Any = None,
    squared: bool = False,
) -> Kernel | None:
    """Build the kernel of every model, with bins of the full data; ``None`` if it is not served."""
    check_binning(n_bins, strategy)
    check_kind(kind, norm, debias)
    of_models = _events(problem, kind, pos_label)
    if of_models is None or labels is not None:
        return None
    key = f"bins: {n_bins} {strategy} {kind} {pos_label!r}"
    if key not in problem.shared:
        forecasts = [
            forecast
            for events in of_models
            for forecast in binned(events, problem.sample_weight, n_bins, strategy)
        ]
        problem.shared[key] = BinSums(tuple(forecasts), problem.units, problem.sample_weight)
    return BinnedKernel(
        problem.shared[key], len(problem.records), norm=norm, debias=debias, squared=squared
    )


def _build_squared(problem: Problem, **keywords: Any) -> Kernel | None:
    return _build(problem, norm="l2", debias=True, squared=True, **keywords)


def _events(problem: Problem, kind: str, pos_label: Any) -> list[list[Event]] | None:
    """Give the events of every model; ``None`` where classes are not those of the truths."""
    if problem.kind == "binary":
        asked = problem.pos_label if pos_label is None else pos_label
        binary = problem.binary_scores(_PROBABILITIES, asked)
        if binary is None:
            return None
        positive, scores = binary
        return [events_of_two_classes(positive, of_model, kind) for of_model in scores]
    if problem.kind != "multiclass" or kind == "positive":
        return None
    found = []
    for (_, table), classes in zip(
        problem.responses(_PROBABILITIES), problem.classes(), strict=True
    ):
        codes = problem.true_columns(classes.tolist())
        if codes is None or table.shape[1] != len(classes):
            return None
        found.append(events_of_several_classes(codes, table, kind))
    n_events = {len(events) for events in found}
    return found if len(n_events) == 1 else None


def binned_error(
    events: Sequence[Event],
    row_weight: FloatArray | None,
    *,
    n_bins: int,
    strategy: str,
    norm: str,
    debias: bool,
    squared: bool = False,
) -> float:
    """Compute a calibration error of the rows as they are."""
    n_rows = len(events[0].outcomes)
    forecasts = binned(events, row_weight, n_bins, strategy)
    sums = BinSums(forecasts, Units(n_rows, n_rows), row_weight).total
    return float(calibration_error(sums, norm, debias=debias, squared=squared))


def _square_of(keywords: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """Give the metric that judges differences of the calibration error."""
    kept = {name: keywords[name] for name in keywords if name not in ("norm", "debias")}
    return squared_calibration_error, kept


@describe(pairboot_kernel=_build, pairboot_interval="biased", pairboot_companion=_square_of)
def expected_calibration_error(
    y_true: Any,
    y_prob: Any,
    *,
    n_bins: int = 15,
    strategy: str = "uniform",
    norm: str = "l1",
    kind: str = "positive",
    debias: bool = False,
    sample_weight: Any = None,
    pos_label: Any = None,
    labels: Any = None,
) -> float:
    r"""Compute how far predicted probabilities are from observed rates, in bins.

    In each bin of predictions their mean is compared with the share of rows in which the event
    came about. Bins are half-open and the last one is closed, as those of `numpy.histogram`: a
    prediction of exactly 1 counts. Equal predictions share a bin, and the order of rows does not
    matter.

    Parameters
    ----------
    y_true : array-like of shape (n_rows,)
        True labels.
    y_prob : array-like of shape (n_rows,) or (n_rows, n_classes)
        Probabilities of the positive class, or of all classes in sorted order. One column holds
        those of ``pos_label``, whichever class it names: with ``pos_label=0`` those of class 0.
    n_bins : int, default=15
        Number of bins. The value depends on it: report it.
    strategy : {"uniform", "quantile", "sweep"}, default="uniform"
        ``"uniform"`` has bins of equal width on [0, 1]. ``"quantile"`` has bins of equal weight, as
        nearly as equal predictions allow; there are fewer where these are many. ``"sweep"`` takes
        as many bins of equal weight as keep the observed rates in ascending order, and does not
        use ``n_bins`` [3]_.
    norm : {"l1", "l2", "max"}, default="l1"
        Mean of the distances over rows, root of the mean of their squares, or the largest distance
        of any bin (the maximum calibration error).
    kind : {"positive", "top-label", "classwise"}, default="positive"
        The event: the positive class; that the most probable class is the true one; or each class
        in turn, with the mean over classes (for ``"max"`` the largest).
    debias : bool, default=False
        Subtract from each bin's squared distance the variance that its observed rate has by
        chance [2]_; for ``norm="l2"`` only. What is then negative gives 0.
    sample_weight : array-like of shape (n_rows,), default=None
        Weight of each row. An integer weight equals so many copies of the row, but for
        ``debias``, which knows that copies are not further rows.
    pos_label : label, default=None
        Positive class; ``None`` is 1 for labels {0, 1} and {-1, 1}, and the second of ``labels``.
    labels : array-like of shape (n_classes,), default=None
        All classes, where some may be absent from ``y_true``.

    Returns
    -------
    float
        The calibration error, between 0 and 1; lower is better.

    See Also
    --------
    squared_calibration_error : The square without bias, for differences between models.
    calibration_test : What a calibrated model of the same predictions would score.
    ECE : The scorer.

    Notes
    -----
    With :math:`w_b` the share of rows in bin b, :math:`\bar p_b` their mean prediction and
    :math:`\bar y_b` the observed rate, the value is :math:`\sum_b w_b |\bar p_b - \bar y_b|`
    [1]_, or the corresponding norm.

    *When not to use it.* The error of a perfectly calibrated model is not 0: rates vary by chance,
    the more so the more bins and the fewer rows, and by another amount for another model. A
    comparison therefore shows values and their differences without interval or verdict (status
    ``"biased"``: percentiles of the replicates never hold the 0 of a calibrated model), and judges
    by `squared_calibration_error`, which it adds by itself, with an interval for each model and
    each difference. A margin is one of that square. A single value should be read beside
    `calibration_test`. Calibration is also no measure of how good predictions are: the base rate
    for every row is calibrated.

    References
    ----------
    .. [1] Naeini, M. P., Cooper, G. F. and Hauskrecht, M. (2015). Obtaining well calibrated
       probabilities using Bayesian binning. AAAI.
    .. [2] Kumar, A., Liang, P. and Ma, T. (2019). Verified uncertainty calibration. NeurIPS.
    .. [3] Roelofs, R., Cain, N., Shlens, J. and Mozer, M. C. (2022). Mitigating bias in
       calibration error estimation. AISTATS.

    Examples
    --------
    >>> from sklearn_pairboot.metrics import expected_calibration_error
    >>> y_true = [0, 0, 1, 1]
    >>> y_prob = [0.1, 0.3, 0.3, 1.0]
    >>> round(expected_calibration_error(y_true, y_prob, n_bins=10), 3)
    0.125
    """
    check_binning(n_bins, strategy)
    check_kind(kind, norm, debias)
    events, weight = check_events(
        y_true,
        y_prob,
        kind=kind,
        pos_label=pos_label,
        labels=labels,
        sample_weight=sample_weight,
    )
    return binned_error(
        events, weight, n_bins=n_bins, strategy=strategy, norm=norm, debias=bool(debias)
    )


@describe(pairboot_kernel=_build_squared, pairboot_interval="normal")
def squared_calibration_error(
    y_true: Any,
    y_prob: Any,
    *,
    n_bins: int = 15,
    strategy: str = "uniform",
    kind: str = "positive",
    sample_weight: Any = None,
    pos_label: Any = None,
    labels: Any = None,
) -> float:
    r"""Compute the mean squared calibration error in bins, without its bias by chance.

    Unlike the error itself its expectation is (nearly) the same with few rows as with many, and
    0 for a calibrated model. Differences between models can therefore be judged by it.

    Parameters
    ----------
    y_true : array-like of shape (n_rows,)
        True labels.
    y_prob : array-like of shape (n_rows,) or (n_rows, n_classes)
        Probabilities of the positive class, or of all classes in sorted order.
    n_bins : int, default=15
        Number of bins.
    strategy : {"uniform", "quantile", "sweep"}, default="uniform"
        As in `expected_calibration_error`.
    kind : {"positive", "top-label", "classwise"}, default="positive"
        As in `expected_calibration_error`.
    sample_weight : array-like of shape (n_rows,), default=None
        Weight of each row. The variance that is subtracted goes by the effective number of rows
        in a bin, the squared sum of weights over the sum of their squares.
    pos_label : label, default=None
        As in `expected_calibration_error`.
    labels : array-like of shape (n_classes,), default=None
        As in `expected_calibration_error`.

    Returns
    -------
    float
        The squared error; lower is better. It may be negative: chance has then moved the rates
        less than expected.

    See Also
    --------
    expected_calibration_error : The error in the units of probabilities.

    Notes
    -----
    The value is :math:`\sum_b w_b [(\bar p_b - \bar y_b)^2 - \bar y_b (1 - \bar y_b) /
    (n_b - 1)]`, the debiased estimator of Kumar, Liang and Ma [1]_. Bins with a single row are left
    out, as in their implementation.

    Replicates of the bootstrap are as far above the value as its bias was before, so their
    percentiles are no interval; comparisons use the value plus and minus multiples of their
    standard deviation. They also vary too much: gaps between rates and predictions that are
    chance count as true ones, and where all are chance the variance is three times too large
    (the statistic is degenerate there [2]_). With V the variance of the replicates of a
    *difference* and u = 2 tr(A S A S) what chance alone makes of it, for the covariance S of the
    gaps and the shares A of the bins, the variance used is max(V - 5 u^2 / V, v). It takes five
    sixths of the excess 2 u off where u = V / 3, and less of it where models have true gaps: there
    the standard error falls with the estimate, and the full correction would cover too little. The
    floor v is u for few rows in a bin, which is u times (n / (n - 1))^3 for bins of n rows; it may
    widen the interval where most bins have two or three rows. So it is where whole rows or clusters
    are drawn with replacement; under other schemes, and for the value of a single model, the spread
    stays as it is, and intervals near 0 are wider than they would have to be. *When not to use
    it*: with fewer than about five rows in most bins the normal law is a poor one.

    References
    ----------
    .. [1] Kumar, A., Liang, P. and Ma, T. (2019). Verified uncertainty calibration. NeurIPS.
    .. [2] Arcones, M. A. and Giné, E. (1992). On the bootstrap of U and V statistics. Annals of
       Statistics 20, 655-674.

    Examples
    --------
    >>> from sklearn_pairboot.metrics import squared_calibration_error
    >>> y_true = [0, 1, 0, 0, 1, 1, 1, 0]
    >>> y_prob = [0.2, 0.2, 0.2, 0.2, 0.9, 0.9, 0.9, 0.9]
    >>> round(squared_calibration_error(y_true, y_prob, n_bins=10), 4)
    -0.05
    """
    check_binning(n_bins, strategy)
    check_choice("kind", kind, KINDS)
    events, weight = check_events(
        y_true,
        y_prob,
        kind=kind,
        pos_label=pos_label,
        labels=labels,
        sample_weight=sample_weight,
    )
    return binned_error(
        events,
        weight,
        n_bins=n_bins,
        strategy=strategy,
        norm="l2",
        debias=True,
        squared=True,
    )


class ECE(MetricScorer):
    """Score models by the expected calibration error of their probabilities.

    It goes wherever scikit-learn takes ``scoring=``, and into all comparisons of this package. As
    scikit-learn has it greater is better: the scorer returns the negative error. Comparisons show
    the error itself.

    Parameters
    ----------
    n_bins : int, default=15
        Number of bins.
    strategy : {"uniform", "quantile", "sweep"}, default="uniform"
        Bins of equal width, of equal weight, or as many of equal weight as keep the rates in order.
    norm : {"l1", "l2", "max"}, default="l1"
        Mean, root mean square or largest distance.
    kind : {"positive", "top-label", "classwise"}, default="positive"
        The event: the positive class, that the most probable class is right, or each class.
    debias : bool, default=False
        Subtract the variance of chance, for ``norm="l2"``.
    pos_label : label, default=None
        Positive class; ``None`` is the second of the estimator's classes. In comparisons of
        predictions a single column is taken for the probabilities of this class.

    See Also
    --------
    expected_calibration_error : The metric, with its definition and its limits.

    Notes
    -----
    *When not to use it*: to choose between models. It prefers whoever predicts the base rate.
    Compare log losses or Brier scores, and look at calibration beside them.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.model_selection import cross_val_score
    >>> from sklearn_pairboot import ECE
    >>> X, y = make_classification(n_samples=500, random_state=0)
    >>> cross_val_score(LogisticRegression(), X, y, scoring=ECE(n_bins=10), cv=2).round(2)
    array([-0.09, -0.06])
    """

    _score_func = staticmethod(expected_calibration_error)
    _response_method = "predict_proba"
    _sign = -1

    def __init__(
        self,
        *,
        n_bins: int = 15,
        strategy: str = "uniform",
        norm: str = "l1",
        kind: str = "positive",
        debias: bool = False,
        pos_label: Any = None,
    ) -> None:
        self.n_bins = n_bins
        self.strategy = strategy
        self.norm = norm
        self.kind = kind
        self.debias = debias
        self.pos_label = pos_label
