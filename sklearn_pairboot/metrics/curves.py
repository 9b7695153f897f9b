"""ROC and precision-recall curves of several models, with bands from the paired bootstrap."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from sklearn_pairboot._engine.bootstrap import bootstrap, observe
from sklearn_pairboot._engine.curves import HitRate, Measure, PrecisionAtRecall
from sklearn_pairboot._engine.intervals import interval
from sklearn_pairboot._engine.ranks import AUCKernel, AveragePrecisionKernel
from sklearn_pairboot._engine.thresholds import Counts, Sweep
from sklearn_pairboot._engine.weights import FloatArray, Kernel
from sklearn_pairboot.metrics._score_curves import (
    ScoredRows,
    band,
    check_defined,
    check_scored_rows,
    resample,
)

__all__ = ["CurveBands", "precision_recall_bands", "roc_bands"]

_GRID = np.linspace(0, 1, 101)

Points = tuple[FloatArray, FloatArray]


@dataclass(frozen=True, eq=False)
class CurveBands:
    """ROC or precision-recall curves of several models, from `roc_bands` or its sibling.

    The horizontal rate is that of false positives of a ROC curve, and recall otherwise; the
    vertical one is the rate of true positives, or precision. Bands are pointwise: each point of
    the grid has its own interval, and the curve of other rows leaves a band somewhere more often
    than ``1 - confidence_level``.

    Parameters
    ----------
    models : tuple of str
        Names of the models. The first is the baseline of the differences.
    points : tuple of (ndarray, ndarray)
        For each model the corners of its curve: horizontal and vertical rates.
    grid : ndarray of shape (n_points,)
        Horizontal rates at which there are bands.
    curve, ci_low, ci_high : ndarray of shape (n_models, n_points)
        Vertical rates, and the ends of their intervals.
    difference, difference_low, difference_high : ndarray of shape (n_models, n_points)
        Vertical rate of the model less that of the first one, and the ends of its paired
        interval.
    area, area_low, area_high : ndarray of shape (n_models,)
        Area under the ROC curve, or average precision, and the ends of its interval.
    positive_rate : float
        Share of positive rows.
    confidence_level : float
        Level of all intervals, each by itself.
    unit : str
        What was resampled, ``"rows"`` or ``"clusters"``.
    n_units : int
        How many of them there are.
    n_resamples : int
        Number of resamples.
    n_undefined : int
        Resamples left out because they lack a class.

    Examples
    --------
    >>> from sklearn_pairboot.metrics import roc_bands
    >>> bands = roc_bands([1, 1, 1, 0, 0, 0], {"model": [5, 4, 2, 3, 1, 0]}, random_state=0)
    >>> bands.n_undefined
    24
    """

    models: tuple[str, ...]
    points: tuple[Points, ...]
    grid: FloatArray
    curve: FloatArray
    ci_low: FloatArray
    ci_high: FloatArray
    difference: FloatArray
    difference_low: FloatArray
    difference_high: FloatArray
    area: FloatArray
    area_low: FloatArray
    area_high: FloatArray
    positive_rate: float
    confidence_level: float
    unit: str
    n_units: int
    n_resamples: int
    n_undefined: int


def roc_bands(
    y_true: Any,
    predictions: Any,
    *,
    groups: Any = None,
    sample_weight: Any = None,
    pos_label: Any = None,
    n_resamples: int = 999,
    confidence_level: float = 0.95,
    random_state: Any = None,
) -> CurveBands:
    """Compute ROC curves of several models with pointwise bootstrap bands.

    At each rate of false positives from 0 to 1, in steps of 0.01, it gives an interval of the rate
    of true positives, and of its difference to that of the first model. All models are looked at
    in the same resamples. Nothing is said about models trained again.

    Parameters
    ----------
    y_true : array-like of shape (n_rows,)
        True labels of two classes.
    predictions : mapping of str to array-like of shape (n_rows,)
        Scores by name of model, high for the positive class.
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
    CurveBands
        Curves, bands, differences and areas.

    Raises
    ------
    ValueError
        If only one class is present, or a score is missing.

    See Also
    --------
    precision_recall_bands : The same for precision and recall.
    sklearn_pairboot.plotting.RocDisplay : The picture.
    sklearn_pairboot.inference.delong_test : A test of equal areas.

    Notes
    -----
    Curves are averaged vertically [1]_: each resample has its own curve, and the band is made of
    percentiles of its height at a fixed rate of false positives. Equal scores enter together, and
    straight lines join the corners, as in scikit-learn's `roc_curve`. Both classes vary in number
    from resample to resample. A resample that lacks one is left out and counted.

    The band is *pointwise*. It does not hold for the whole curve at once, and a difference that is
    looked for along the curve will be found somewhere. To compare models use the difference of
    their areas, or settle the rate of false positives beforehand.

    *When not to use it.* With few rows of a class the band near the corners is too narrow: where
    no row of it can be seen, no resample varies.

    References
    ----------
    .. [1] Fawcett, T. (2006). An introduction to ROC analysis. Pattern Recognition Letters 27,
       861-874.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_pairboot.metrics import roc_bands
    >>> rng = np.random.default_rng(0)
    >>> y_true = rng.integers(2, size=400)
    >>> models = {"poor": y_true + rng.normal(size=400), "good": 2 * y_true + rng.normal(size=400)}
    >>> bands = roc_bands(y_true, models, random_state=0)
    >>> at = bands.grid == 0.1
    >>> bands.difference[1, at].round(2), bands.difference_low[1, at].round(2)
    (array([0.38]), array([0.22]))
    """
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
    area = AUCKernel(rows.scores, rows.positive, rows.units, rows.sample_weight)
    return _bands(rows, HitRate(_GRID), area, _roc_corners, "rows of both classes")


def precision_recall_bands(
    y_true: Any,
    predictions: Any,
    *,
    groups: Any = None,
    sample_weight: Any = None,
    pos_label: Any = None,
    n_resamples: int = 999,
    confidence_level: float = 0.95,
    random_state: Any = None,
) -> CurveBands:
    """Compute precision-recall curves of several models with pointwise bootstrap bands.

    At each recall from 0 to 1, in steps of 0.01, it gives an interval of the precision, and of its
    difference to that of the first model. All models are looked at in the same resamples. Nothing
    is said about models trained again.

    Parameters
    ----------
    y_true : array-like of shape (n_rows,)
        True labels of two classes.
    predictions : mapping of str to array-like of shape (n_rows,)
        Scores by name of model, high for the positive class.
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
    CurveBands
        Curves, bands, differences and areas.

    Raises
    ------
    ValueError
        If only one class is present, or a score is missing.

    See Also
    --------
    roc_bands : The same for the ROC curve, which does not depend on the share of positives.
    sklearn_pairboot.plotting.PrecisionRecallDisplay : The picture.

    Notes
    -----
    The precision at a recall is that of the highest threshold which reaches it. This is the step
    curve whose area is the average precision; precision must not be interpolated by straight lines
    [1]_. Scores that carry no information have the share of positives as precision throughout.
    The band is *pointwise*, as explained for `roc_bands`.

    *When not to use it*: to compare data with different shares of positives, which alone move
    the curve.

    References
    ----------
    .. [1] Davis, J. and Goadrich, M. (2006). The relationship between precision-recall and ROC
       curves. ICML, 233-240.

    Examples
    --------
    >>> from sklearn_pairboot.metrics import precision_recall_bands
    >>> y_true, scores = [1, 0, 1, 0, 1, 0, 0, 1], [8, 7, 6, 5, 4, 3, 2, 1]
    >>> bands = precision_recall_bands(y_true, {"model": scores}, random_state=0)
    >>> bands.curve[0, [0, 50, 100]].round(2), bands.area.round(2)
    (array([1.  , 0.67, 0.5 ]), array([0.69]))
    """
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
    area = AveragePrecisionKernel(rows.scores, rows.positive, rows.units, rows.sample_weight)
    return _bands(rows, PrecisionAtRecall(_GRID), area, _recall_corners, "positive rows")


def _bands(
    rows: ScoredRows,
    measure: Measure,
    area: Kernel,
    corners: Callable[[Counts], Points],
    needed: str,
) -> CurveBands:
    sweeps = [Sweep.of(rows.positive, scores) for scores in rows.scores]
    observed, replicates = resample(rows, sweeps, [measure], len(_GRID))
    observed, replicates = observed[:, 0], replicates[:, :, 0]
    n_undefined = check_defined(np.asarray(np.isnan(replicates).any(axis=(1, 2))), needed)
    curves = band(rows, observed, replicates)
    differences = band(rows, observed - observed[0], replicates - replicates[:, :1])
    areas = _areas(rows, area)
    return CurveBands(
        models=rows.models,
        points=tuple(corners(sweep.counts(rows.weight[None])) for sweep in sweeps),
        grid=_GRID.copy(),
        curve=curves.curve,
        ci_low=curves.low,
        ci_high=curves.high,
        difference=differences.curve,
        difference_low=differences.low,
        difference_high=differences.high,
        area=areas[0],
        area_low=areas[1],
        area_high=areas[2],
        positive_rate=rows.positive_rate,
        confidence_level=rows.confidence_level,
        unit=rows.unit,
        n_units=rows.units.n_units,
        n_resamples=rows.n_resamples,
        n_undefined=n_undefined,
    )


def _areas(rows: ScoredRows, kernel: Kernel) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Areas and their intervals; the draws are those of the curves."""
    observed = observe([kernel], rows.units)
    found = bootstrap(
        [kernel],
        rows.units,
        observed,
        n_resamples=rows.n_resamples,
        entropy=rows.entropy,
        scales=np.array([np.nan]),
    )
    ends = [
        interval(
            found.model_sample(0, model),
            float(observed[0, model]),
            method="percentile",
            confidence_level=rows.confidence_level,
        )
        for model in range(len(rows.models))
    ]
    return observed[0], np.array([one.low for one in ends]), np.array([one.high for one in ends])


def _roc_corners(counts: Counts) -> Points:
    alarms = counts.false_positives[0] / counts.negatives[0]
    hits = counts.true_positives[0] / counts.positives[0]
    # On a run straight up or to the right only the ends are corners.
    up, right = np.diff(hits) > 0, np.diff(alarms) > 0
    inner = (up[:-1] & up[1:]) & ~(right[:-1] | right[1:])
    inner |= (right[:-1] & right[1:]) & ~(up[:-1] | up[1:])
    kept = np.concatenate([[True], ~inner, [True]])
    return alarms[kept], hits[kept]


def _recall_corners(counts: Counts) -> Points:
    hits = counts.true_positives[0]
    reached = np.flatnonzero(np.diff(hits) > 0) + 1
    precision = hits[reached] / (hits[reached] + counts.false_positives[0, reached])
    recall = hits[reached] / counts.positives[0]
    return np.append(0.0, recall), np.append(precision[0], precision)
