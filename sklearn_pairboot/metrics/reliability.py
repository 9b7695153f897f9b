"""The reliability curve: observed rates beside mean predictions, with bands."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_pairboot._engine.binned import Forecast
from sklearn_pairboot._engine.bins import bin_numbers, inner_edges
from sklearn_pairboot._engine.bootstrap import bootstrap, observe
from sklearn_pairboot._engine.formulas import Formula, ratio
from sklearn_pairboot._engine.intervals import check_alpha, interval
from sklearn_pairboot._engine.kernels import SumsKernel
from sklearn_pairboot._engine.seeds import check_random_state, entropy_of, is_integer
from sklearn_pairboot._engine.units import Units
from sklearn_pairboot._engine.weights import FloatArray
from sklearn_pairboot._scoring.checks import check_confidence_level, check_labels
from sklearn_pairboot.metrics._consistency import generator_of, outcome_sums
from sklearn_pairboot.metrics._forecasts import check_binary
from sklearn_pairboot.metrics.calibration_error import check_binning

__all__ = ["ReliabilityCurve", "reliability_curve"]


@dataclass(frozen=True, eq=False)
class ReliabilityCurve:
    """Numbers of a reliability diagram, from `reliability_curve`. Bins without weight are left out.

    Parameters
    ----------
    mean_predicted : ndarray of shape (n_bins,)
        Mean prediction in each bin.
    observed_rate : ndarray of shape (n_bins,)
        Share of positive rows in each bin.
    count : ndarray of shape (n_bins,)
        Number of rows in each bin.
    ci_low : ndarray of shape (n_bins,)
        Lower end of the confidence band: the observed rate on other rows or clusters.
    ci_high : ndarray of shape (n_bins,)
        Upper end of it.
    consistency_low : ndarray of shape (n_bins,) or None
        Lower end of the consistency band: rates that calibrated predictions would give. ``None``
        with clusters.
    consistency_high : ndarray of shape (n_bins,) or None
        Upper end of it.
    confidence_level : float
        Level of both bands, in each bin by itself.
    unit : str
        What was resampled, ``"rows"`` or ``"clusters"``.

    Examples
    --------
    >>> from sklearn_pairboot.metrics import reliability_curve
    >>> reliability_curve([0, 1, 1, 1], [0.1, 0.1, 0.9, 0.9], random_state=0).count
    array([2, 2])
    """

    mean_predicted: FloatArray
    observed_rate: FloatArray
    count: NDArray[np.int64]
    ci_low: FloatArray
    ci_high: FloatArray
    consistency_low: FloatArray | None
    consistency_high: FloatArray | None
    confidence_level: float
    unit: str


def reliability_curve(
    y_true: Any,
    y_prob: Any,
    *,
    n_bins: int = 10,
    strategy: str = "uniform",
    sample_weight: Any = None,
    pos_label: Any = None,
    groups: Any = None,
    confidence_level: float = 0.95,
    n_resamples: int = 999,
    random_state: Any = None,
) -> ReliabilityCurve:
    """Compute the reliability curve with a confidence band and a consistency band.

    Parameters
    ----------
    y_true : array-like of shape (n_rows,)
        True labels of two classes.
    y_prob : array-like of shape (n_rows,)
        Probabilities of the positive class.
    n_bins : int, default=10
        Number of bins.
    strategy : {"uniform", "quantile", "sweep"}, default="uniform"
        Kind of bins, as in `expected_calibration_error`. They stay the same in all resamples.
    sample_weight : array-like of shape (n_rows,), default=None
        Weight of each row.
    pos_label : label, default=None
        Positive class; ``None`` is 1 for labels {0, 1} and {-1, 1}.
    groups : array-like of shape (n_rows,), default=None
        Cluster of each row. With it whole clusters are resampled, and there is no consistency
        band: labels drawn row by row would vary too little.
    confidence_level : float, default=0.95
        Level of the bands.
    n_resamples : int, default=999
        Number of resamples of either kind.
    random_state : int, Generator, RandomState or None, default=None
        Seed.

    Returns
    -------
    ReliabilityCurve
        Arrays with one entry a bin, in ascending order of predictions.

    See Also
    --------
    expected_calibration_error : The mean distance between the two columns.
    calibration_test : One p-value for all bins.

    Notes
    -----
    Both bands hold for each bin by itself: with ten bins one or the other excludes a right
    value more often than ``1 - confidence_level``. The confidence band is a percentile interval of
    the bootstrap [1]_; where all outcomes of a bin are equal it has no width, which says nothing
    about unseen rows. The consistency band [2]_ belongs around the diagonal.

    References
    ----------
    .. [1] Efron, B. and Tibshirani, R. J. (1993). An introduction to the bootstrap. Chapman & Hall.
    .. [2] Bröcker, J. and Smith, L. A. (2007). Increasing the reliability of reliability diagrams.
       Weather and Forecasting 22, 651-661.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_pairboot.metrics import reliability_curve
    >>> rng = np.random.default_rng(0)
    >>> y_prob = rng.random(400)
    >>> y_true = rng.random(400) < y_prob**2
    >>> curve = reliability_curve(y_true, y_prob, n_bins=4, random_state=0)
    >>> curve.observed_rate.round(2)
    array([0.01, 0.14, 0.41, 0.78])
    >>> curve.observed_rate < curve.consistency_low
    array([ True,  True,  True,  True])
    """
    check_binning(n_bins, strategy)
    level = check_confidence_level(confidence_level)
    check_random_state(random_state)
    if not is_integer(n_resamples) or n_resamples < 1:
        raise ValueError(f"`n_resamples` must be a positive integer, got {n_resamples!r}.")
    check_alpha(int(n_resamples), level)
    data = check_binary(y_true, y_prob, pos_label=pos_label, sample_weight=sample_weight)
    y, p, weight = data.outcomes, data.predictions, data.weight
    bins = bin_numbers(p, inner_edges(p, y, n_bins, strategy, data.sample_weight))
    kept = np.flatnonzero(np.bincount(bins, weight) > 0)
    rows = np.isin(bins, kept)
    # Rows in bins without weight stay units: whether they are drawn is part of the resampling.
    bins = np.where(rows, np.searchsorted(kept, bins), 0)
    mass, predicted = (np.bincount(bins, weight * values) for values in (rows, p))
    units = _units(groups, len(y))
    entropy = entropy_of(random_state)
    low, high = _confidence_band(bins, y, weight, units, level, int(n_resamples), entropy)
    consistency: tuple[FloatArray, ...] | tuple[None, None] = (None, None)
    if groups is None:
        sums = outcome_sums(Forecast(p, y, bins), weight, int(n_resamples), generator_of(entropy))
        consistency = tuple(np.quantile(sums / mass, [(1 - level) / 2, (1 + level) / 2], axis=0))
    return ReliabilityCurve(
        mean_predicted=predicted / mass,
        observed_rate=np.bincount(bins, weight * y) / mass,
        count=np.bincount(bins[rows]).astype(np.int64),
        ci_low=low,
        ci_high=high,
        consistency_low=consistency[0],
        consistency_high=consistency[1],
        confidence_level=level,
        unit="rows" if groups is None else "clusters",
    )


def _units(groups: Any, n_rows: int) -> Units:
    if groups is None:
        return Units(n_rows, n_rows)
    codes, labels = check_labels(groups, n_rows, "groups")
    if len(labels) < 2:
        raise ValueError(f"`groups` must hold at least 2 clusters, got {len(labels)}.")
    return Units(n_rows, len(labels), codes)


def _confidence_band(
    bins: NDArray[np.int64],
    y: FloatArray,
    weight: FloatArray,
    units: Units,
    level: float,
    n_resamples: int,
    entropy: int,
) -> tuple[FloatArray, FloatArray]:
    """Percentile intervals of the rate in each bin, all from the same resamples."""
    n_bins = int(bins.max()) + 1
    in_bin = weight[:, None] * np.equal(bins[:, None], np.arange(n_bins))
    terms = np.hstack([in_bin, in_bin * y[:, None]])
    kernel = SumsKernel.from_rows(terms, partial(_rates, n_bins=n_bins), n_bins, units, scale=1.0)
    distribution = bootstrap(
        [kernel],
        units,
        observe([kernel], units),
        n_resamples=n_resamples,
        entropy=entropy,
        scales=np.array([1.0]),
    )
    found = [
        interval(
            distribution.model_sample(0, number),
            float(distribution.observed[0, number]),
            method="percentile",
            confidence_level=level,
        )
        for number in range(n_bins)
    ]
    return np.array([one.low for one in found]), np.array([one.high for one in found])


def _rates(sums: FloatArray, *, n_bins: int) -> Formula:
    """Rate in each bin. Terms: weight by bin, then weight of the positive rows by bin."""
    rates = ratio(sums[:, n_bins:], sums[:, :n_bins], np.nan)
    return Formula(rates, np.isnan(rates), np.zeros(rates.shape, dtype=bool))
