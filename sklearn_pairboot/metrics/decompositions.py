"""Parts of proper scores: what calibration costs, and what telling rows apart gains."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import xlogy

from sklearn_pairboot._engine.weights import FloatArray
from sklearn_pairboot._scoring.checks import check_choice
from sklearn_pairboot.metrics._forecasts import Event, check_binary
from sklearn_pairboot.metrics._isotonic import best_rising
from sklearn_pairboot.metrics.calibration_error import binned, check_binning

__all__ = ["BrierDecomposition", "ScoreDecomposition", "brier_decomposition", "score_decomposition"]

SCORES = ("brier", "log_loss")


@dataclass(frozen=True)
class BrierDecomposition:
    """Parts of the Brier score in bins, from `brier_decomposition`.

    Parameters
    ----------
    brier : float
        The score, mean squared distance; equal to ``reliability - resolution + uncertainty +
        within_bin_variance - within_bin_covariance``.
    reliability : float
        Mean squared distance of predictions and rates over bins; 0 is calibrated.
    resolution : float
        Variance of the rates between bins; more is better.
    uncertainty : float
        Variance of the outcomes, which no model changes.
    within_bin_variance : float
        Variance of the predictions inside bins.
    within_bin_covariance : float
        Twice the covariance of predictions and outcomes inside bins.

    Examples
    --------
    >>> from sklearn_pairboot.metrics import brier_decomposition
    >>> brier_decomposition([0, 1], [0.25, 0.75], n_bins=2).resolution
    0.25
    """

    brier: float
    reliability: float
    resolution: float
    uncertainty: float
    within_bin_variance: float
    within_bin_covariance: float


def brier_decomposition(
    y_true: Any,
    y_prob: Any,
    *,
    n_bins: int = 15,
    strategy: str = "uniform",
    sample_weight: Any = None,
    pos_label: Any = None,
) -> BrierDecomposition:
    """Split the Brier score into reliability, resolution and uncertainty.

    Parameters
    ----------
    y_true : array-like of shape (n_rows,)
        True labels of two classes.
    y_prob : array-like of shape (n_rows,)
        Probabilities of the positive class.
    n_bins : int, default=15
        Number of bins.
    strategy : {"uniform", "quantile", "sweep"}, default="uniform"
        Kind of bins, as in `expected_calibration_error`.
    sample_weight : array-like of shape (n_rows,), default=None
        Weight of each row.
    pos_label : label, default=None
        Positive class; ``None`` is 1 for labels {0, 1} and {-1, 1}.

    Returns
    -------
    BrierDecomposition
        The parts, which add up to the score exactly.

    See Also
    --------
    score_decomposition : Parts that need no bins; prefer it.

    Notes
    -----
    Murphy's three parts [1]_ add up only where all predictions in a bin are equal; the two further
    parts of Stephenson, Coelho and Jolliffe [2]_ make up for the rest.

    *When not to use it*: the parts depend on the bins, and reliability grows by chance with their
    number.

    References
    ----------
    .. [1] Murphy, A. H. (1973). A new vector partition of the probability score. Journal of Applied
       Meteorology 12, 595-600.
    .. [2] Stephenson, D. B., Coelho, C. A. S. and Jolliffe, I. T. (2008). Two extra components in
       the Brier score decomposition. Weather and Forecasting 23, 752-757.

    Examples
    --------
    >>> from sklearn_pairboot.metrics import brier_decomposition
    >>> parts = brier_decomposition([0, 1, 1, 1], [0.3, 0.3, 0.9, 0.9], n_bins=10)
    >>> round(parts.reliability, 3), round(parts.resolution, 4), parts.uncertainty
    (0.025, 0.0625, 0.1875)
    """
    check_binning(n_bins, strategy)
    data = check_binary(y_true, y_prob, pos_label=pos_label, sample_weight=sample_weight)
    event = Event(data.predictions, data.outcomes)
    bins = binned([event], data.sample_weight, n_bins, strategy)[0].bins
    share = data.weight / data.weight.sum()
    mass = np.bincount(bins, share)
    filled = mass > 0
    predicted, observed = (
        np.bincount(bins, share * values)[filled] / mass[filled]
        for values in (data.predictions, data.outcomes)
    )
    place = (np.cumsum(filled) - 1)[bins]
    p_within, y_within = data.predictions - predicted[place], data.outcomes - observed[place]
    base_rate = float(share @ data.outcomes)
    return BrierDecomposition(
        brier=float(share @ (data.predictions - data.outcomes) ** 2),
        reliability=float(mass[filled] @ (predicted - observed) ** 2),
        resolution=float(mass[filled] @ (observed - base_rate) ** 2),
        uncertainty=base_rate * (1 - base_rate),
        within_bin_variance=float(share @ p_within**2),
        within_bin_covariance=float(2 * share @ (p_within * y_within)),
    )


@dataclass(frozen=True)
class ScoreDecomposition:
    """Parts of a proper score without bins, from `score_decomposition`.

    Parameters
    ----------
    score : float
        The mean score; equal to ``miscalibration - discrimination + uncertainty``.
    miscalibration : float
        What recalibration would save; 0 is calibrated.
    discrimination : float
        What the recalibrated predictions gain on the base rate; more is better.
    uncertainty : float
        Score of the base rate, which no model changes.

    Examples
    --------
    >>> from sklearn_pairboot.metrics import score_decomposition
    >>> score_decomposition([0, 1], [0.5, 0.5]).uncertainty
    0.25
    """

    score: float
    miscalibration: float
    discrimination: float
    uncertainty: float


def score_decomposition(
    y_true: Any,
    y_prob: Any,
    *,
    score: str = "brier",
    sample_weight: Any = None,
    pos_label: Any = None,
) -> ScoreDecomposition:
    r"""Split the Brier score or the log loss into miscalibration, discrimination and uncertainty.

    Predictions are recalibrated by isotonic regression of the outcomes on them (CORP), which needs
    neither bins nor any other choice.

    Parameters
    ----------
    y_true : array-like of shape (n_rows,)
        True labels of two classes.
    y_prob : array-like of shape (n_rows,)
        Probabilities of the positive class.
    score : {"brier", "log_loss"}, default="brier"
        The proper score.
    sample_weight : array-like of shape (n_rows,), default=None
        Weight of each row.
    pos_label : label, default=None
        Positive class; ``None`` is 1 for labels {0, 1} and {-1, 1}.

    Returns
    -------
    ScoreDecomposition
        The parts, none of them negative.

    See Also
    --------
    brier_decomposition : Murphy's parts, in bins.

    Notes
    -----
    With :math:`\bar S(p)` the mean score of predictions p, :math:`\hat p` the recalibrated ones
    and :math:`\bar y` the base rate, miscalibration is :math:`\bar S(p) - \bar S(\hat p)`,
    discrimination :math:`\bar S(\bar y) - \bar S(\hat p)` and uncertainty
    :math:`\bar S(\bar y)` [1]_.

    The log loss is not clipped: a probability of 0 for what came about costs an infinite score and
    miscalibration. *When not to use it*: isotonic regression fits the rows at hand, so both
    miscalibration and discrimination of few rows are too large.

    References
    ----------
    .. [1] Dimitriadis, T., Gneiting, T. and Jordan, A. I. (2021). Stable reliability diagrams for
       probabilistic classifiers. PNAS 118 (8), e2016191118.

    Examples
    --------
    >>> from sklearn_pairboot.metrics import score_decomposition
    >>> parts = score_decomposition([0, 0, 1, 1], [0.1, 0.3, 0.3, 0.9])
    >>> round(parts.miscalibration, 3), round(parts.discrimination, 3), parts.uncertainty
    (0.025, 0.125, 0.25)
    """
    check_choice("score", score, SCORES)
    data = check_binary(y_true, y_prob, pos_label=pos_label, sample_weight=sample_weight)
    y, p, weight = data.outcomes, data.predictions, data.weight
    share = weight / weight.sum()
    kept = share > 0
    y, p, share = y[kept], p[kept], share[kept]
    distinct, values = best_rising(p, y, share)
    recalibrated = values[np.searchsorted(distinct, p)]
    base_rate = np.full(len(y), min(float(share @ y), 1.0))
    of_p, of_recalibrated, of_base_rate = (
        float(share @ _scores(score, y, predictions))
        for predictions in (p, recalibrated, base_rate)
    )
    return ScoreDecomposition(
        score=of_p,
        miscalibration=of_p - of_recalibrated,
        discrimination=of_base_rate - of_recalibrated,
        uncertainty=of_base_rate,
    )


def _scores(score: str, y: FloatArray, predictions: FloatArray) -> FloatArray:
    if score == "brier":
        return (predictions - y) ** 2
    return np.asarray(-xlogy(y, predictions) - xlogy(1 - y, 1 - predictions), dtype=np.float64)
