"""What a perfectly calibrated model of the same predictions would score."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from sklearn_pairboot._engine.binned import BinSums, calibration_error
from sklearn_pairboot._engine.seeds import check_random_state, entropy_of, is_integer
from sklearn_pairboot._engine.units import Units
from sklearn_pairboot._engine.weights import FloatArray
from sklearn_pairboot._scoring.answers import checked
from sklearn_pairboot._scoring.checks import (
    check_confidence_level,
    check_same_index,
    check_sample_weight,
    plain_columns,
)
from sklearn_pairboot.metrics._consistency import generator_of, outcome_sums, refuse_groups
from sklearn_pairboot.metrics._forecasts import Event, one_column
from sklearn_pairboot.metrics.calibration_error import (
    binned,
    check_binning,
    check_kind,
    expected_calibration_error,
)

__all__ = ["CalibrationTestResult", "calibration_test"]

# Values that differ by less are equal but for the order of sums.
_ROUNDING = 1e-12


@dataclass(frozen=True)
class CalibrationTestResult:
    """A calibration error beside what calibrated predictions would score, from `calibration_test`.

    Parameters
    ----------
    estimate : float
        The value on the labels as they are.
    p_value : float
        Share of calibrated samples with a value at least as large, this one counted among them.
    null_mean : float
        Mean value of calibrated samples: what chance alone gives.
    null_low : float
        Lower quantile of these values, at (1 - ``confidence_level``) / 2.
    null_high : float
        Upper quantile.
    n_resamples : int
        Number of samples drawn.
    variant : str
        How the samples were drawn.

    Examples
    --------
    >>> from sklearn_pairboot.metrics import calibration_test
    >>> calibration_test([0, 1] * 50, [0.5] * 100, random_state=0).estimate
    0.0
    """

    estimate: float
    p_value: float
    null_mean: float
    null_low: float
    null_high: float
    n_resamples: int
    variant: str


def calibration_test(
    y_true: Any,
    y_prob: Any,
    *,
    metric: Callable[..., float] = expected_calibration_error,
    sample_weight: Any = None,
    groups: Any = None,
    confidence_level: float = 0.95,
    n_resamples: int = 999,
    random_state: Any = None,
) -> CalibrationTestResult:
    """Test whether predicted probabilities could be calibrated.

    Labels are drawn from the predictions themselves, again and again (consistency resampling): such
    samples are calibrated by construction. The metric of each of them says how large a value
    chance alone gives with these predictions.

    Parameters
    ----------
    y_true : array-like of shape (n_rows,)
        True labels: 0 and 1, or numbers of the columns of ``y_prob`` from 0.
    y_prob : array-like of shape (n_rows,) or (n_rows, n_classes)
        Probabilities of the label 1, or of all labels.
    metric : callable, default=expected_calibration_error
        A metric ``metric(y_true, y_prob)``, larger for worse calibration, with ``sample_weight=``
        if that is given. For options pass `functools.partial`. The default, of two classes with
        bins that do not depend on labels, takes no call a sample.
    sample_weight : array-like of shape (n_rows,), default=None
        Weight of each row in the metric.
    groups : None
        Only ``None`` is allowed: labels of the rows of a cluster are not independent, and samples
        that draw them so would vary too little.
    confidence_level : float, default=0.95
        Share of calibrated samples between the quantiles.
    n_resamples : int, default=999
        Number of samples. The p-value is a multiple of 1 / (``n_resamples`` + 1).
    random_state : int, Generator, RandomState or None, default=None
        Seed.

    Returns
    -------
    CalibrationTestResult
        The value, its distribution under calibration, and the p-value.

    See Also
    --------
    spiegelhalter_z : A test without bins and without resampling.

    Notes
    -----
    The p-value is valid for any number of rows [1]_, for calibration of *all* rows: with
    probabilities of several classes it is calibration of the whole vector. A large one is no proof
    of calibration: with few rows nothing is found.

    References
    ----------
    .. [1] Vaicenavicius, J., Widmann, D., Andersson, C., Lindsten, F., Roll, J. and Schön, T. B.
       (2019). Evaluating model calibration in classification. AISTATS.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_pairboot.metrics import calibration_test
    >>> rng = np.random.default_rng(0)
    >>> y_prob = rng.random(500)
    >>> y_true = rng.random(500) < y_prob
    >>> test = calibration_test(y_true, y_prob, random_state=0)
    >>> round(test.estimate, 2), round(test.null_mean, 2), test.p_value > 0.05
    (0.04, 0.05, True)
    """
    level = check_confidence_level(confidence_level)
    refuse_groups(groups)
    check_random_state(random_state)
    if not is_integer(n_resamples) or n_resamples < 1:
        raise ValueError(f"`n_resamples` must be a positive integer, got {n_resamples!r}.")
    if not callable(metric):
        raise TypeError(f"`metric` must be a function of labels and predictions, got {metric!r}.")
    check_same_index({"`y_true`": y_true, "`y_prob`": y_prob, "`sample_weight`": sample_weight})
    y = one_column(y_true)
    table = checked(plain_columns(y_prob), "predict_proba", "`y_prob`", len(y))
    weight = check_sample_weight(sample_weight, len(y))
    n_classes = 2 if table.ndim == 1 else max(2, table.shape[1])
    if not np.isin(y, np.arange(n_classes)).all():
        raise ValueError(
            f"`y_true` must hold the labels 0 to {n_classes - 1} of the predictions, got others. "
            "Pass numbers of the columns of `y_prob`."
        )
    given = {} if weight is None else {"sample_weight": weight}
    given |= _labels(metric, n_classes)
    estimate = float(metric(y, table, **given))
    generator = generator_of(entropy_of(random_state))
    null = _of_bins(metric, table, weight, int(n_resamples), generator)
    if null is None:
        null = np.array(
            [metric(_draw(table, generator), table, **given) for _ in range(int(n_resamples))],
            dtype=np.float64,
        )
    n_extreme = int(np.count_nonzero(null >= estimate - _ROUNDING))
    low, high = np.quantile(null, [(1 - level) / 2, (1 + level) / 2])
    return CalibrationTestResult(
        estimate=estimate,
        p_value=(1 + n_extreme) / (int(n_resamples) + 1),
        null_mean=float(null.mean()),
        null_low=float(low),
        null_high=float(high),
        n_resamples=int(n_resamples),
        variant="consistency resampling",
    )


def _draw(table: FloatArray, generator: np.random.Generator) -> FloatArray:
    """Draw a label for each row."""
    if table.ndim == 1 or table.shape[1] <= 2:
        scores = table if table.ndim == 1 else table[:, -1]
        return (generator.random(len(scores)) < scores).astype(np.int64)
    upto = np.cumsum(table, axis=1)
    drawn = generator.random((len(table), 1)) * upto[:, -1:]
    return np.asarray((drawn >= upto[:, :-1]).sum(axis=1))


def _labels(metric: Callable[..., float], n_classes: int) -> dict[str, Any]:
    """Name all classes where the metric takes them, since some may not be drawn."""
    function = metric.func if isinstance(metric, partial) else metric
    given = metric.keywords if isinstance(metric, partial) else {}
    known = hasattr(function, "pairboot_kernel") and n_classes > 2 and "labels" not in given
    return {"labels": list(range(n_classes))} if known else {}


def _of_bins(
    metric: Callable[..., float],
    table: FloatArray,
    weight: FloatArray | None,
    n_resamples: int,
    generator: np.random.Generator,
) -> FloatArray | None:
    """Calibration errors of samples in the same bins; ``None`` where they must be called for."""
    function = metric.func if isinstance(metric, partial) else metric
    options = dict(metric.keywords) if isinstance(metric, partial) else {}
    n_bins, strategy = options.pop("n_bins", 15), options.pop("strategy", "uniform")
    norm, debias = options.pop("norm", "l1"), options.pop("debias", False)
    scores = table if table.ndim == 1 else table[:, -1]
    several = table.ndim == 2 and table.shape[1] > 2
    if function is not expected_calibration_error or options or several or strategy == "sweep":
        return None
    check_binning(n_bins, strategy)
    check_kind("positive", norm, debias)
    event = Event(scores, scores)  # bins of these kinds do not depend on outcomes
    (forecast,) = binned([event], weight, n_bins, strategy)
    sums = BinSums((forecast,), Units(len(scores), len(scores)), weight).total
    drawn = np.repeat(sums[np.newaxis], n_resamples, axis=0)
    drawn[:, 0, 2] = outcome_sums(forecast, weight, n_resamples, generator)
    return calibration_error(drawn, norm, debias=debias)
