"""Probabilities under another share of the classes: known, estimated, or put to a test."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from sklearn_pairboot._engine.bootstrap import bootstrap, observe
from sklearn_pairboot._engine.intervals import interval
from sklearn_pairboot._engine.seeds import entropy_of
from sklearn_pairboot._engine.weights import FloatArray
from sklearn_pairboot._scoring.checks import (
    check_finite,
    check_resampling,
    check_same_index,
    plain,
)
from sklearn_pairboot.calibration._prior_kernel import PriorKernel
from sklearn_pairboot.resampling import ClusterBootstrap, RowBootstrap

# Probabilities this far outside [0, 1], or sums this far from 1, are rounding.
_ROUNDING = 1e-6


def adjust_prior(y_prob: ArrayLike, prior_old: Any, prior_new: Any) -> NDArray[np.float64]:
    """Move calibrated probabilities to a population in which classes have other shares.

    It is right where only the shares change: rows of one class look as they did (label shift, or
    prior shift). It is wrong where the classes themselves look different, and it cannot mend
    probabilities that were not calibrated before.

    Parameters
    ----------
    y_prob : array-like of shape (n_rows,) or (n_rows, n_classes)
        Calibrated probabilities: of the positive class, or of all classes.
    prior_old : float or array-like of shape (n_classes,)
        Share of the positive class, or of every class, where they are calibrated.
    prior_new : float or array-like of shape (n_classes,)
        The same where they are to be used.

    Returns
    -------
    ndarray of the shape of ``y_prob``
        Adjusted probabilities. Ranks of binary ones, and so AUC, stay as they were.

    See Also
    --------
    estimate_prior : Find the new shares from unlabelled rows.

    Notes
    -----
    The odds of a class are multiplied by the ratio of its new and old prior odds [1]_, eq. 2.4.

    References
    ----------
    .. [1] M. Saerens, P. Latinne and C. Decaestecker (2002). "Adjusting the outputs of a
       classifier to new a priori probabilities: a simple procedure". Neural Computation 14, 21-41.

    Examples
    --------
    >>> from sklearn_pairboot.calibration import adjust_prior
    >>> adjust_prior([0.5, 0.9], prior_old=0.3, prior_new=0.1).round(3).tolist()
    [0.206, 0.7]
    """
    columns, shape = _columns(y_prob)
    old = _prior(prior_old, "prior_old", columns.shape[1])
    new = _prior(prior_new, "prior_new", columns.shape[1])
    adjusted = columns * (new / old)
    adjusted /= adjusted.sum(axis=1, keepdims=True)
    return adjusted[:, 1].reshape(shape) if len(shape) == 1 else adjusted


@dataclass(frozen=True)
class PriorEstimate:
    """Outcome of `estimate_prior`.

    Parameters
    ----------
    estimate : float or ndarray of shape (n_classes,)
        Estimated share of the positive class, or of every class.
    ci_low : float or ndarray of shape (n_classes,)
        Lower ends of the percentile intervals.
    ci_high : float or ndarray of shape (n_classes,)
        Upper ends.
    std_error : float or ndarray of shape (n_classes,)
        Standard deviations of the resampled estimates.
    statistic : float
        Likelihood ratio statistic of "the shares are the old ones".
    p_value : float
        P-value by its chi-squared law, for independent rows; NaN with ``groups``.
    variant : str
        ``"EM"``.
    n_rows : int
        Number of rows.
    n_units : int
        Number of rows or clusters that were resampled.

    Examples
    --------
    >>> from sklearn_pairboot.calibration import estimate_prior
    >>> found = estimate_prior([0.9, 0.1] * 50, prior_old=0.5, random_state=0)
    >>> round(found.estimate, 3)
    0.5
    """

    estimate: Any
    ci_low: Any
    ci_high: Any
    std_error: Any
    statistic: float
    p_value: float
    variant: str
    n_rows: int
    n_units: int


def estimate_prior(
    y_prob: ArrayLike,
    prior_old: Any,
    *,
    groups: Any = None,
    n_resamples: int = 999,
    confidence_level: float = 0.95,
    random_state: Any = None,
) -> PriorEstimate:
    """Estimate the shares of the classes in rows without labels.

    It estimates the shares in the population that the rows were drawn from, given probabilities
    that were calibrated where the shares were ``prior_old``. If its p-value is small, a stored
    calibration map no longer fits these rows: pass the estimate to `adjust_prior`, or calibrate
    again on labelled rows.

    Parameters
    ----------
    y_prob : array-like of shape (n_rows,) or (n_rows, n_classes)
        Probabilities of new rows, as the old map gives them.
    prior_old : float or array-like of shape (n_classes,)
        Share of the positive class, or of every class, where the map was fitted.
    groups : array-like of shape (n_rows,), default=None
        Cluster of each row. With it, whole clusters are resampled and there is no p-value: judge
        by whether the interval holds the old share.
    n_resamples : int, default=999
        Number of bootstrap resamples.
    confidence_level : float, default=0.95
        Level of the percentile intervals, in (0, 1). Intervals are of one class at a time.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the resampling.

    Returns
    -------
    PriorEstimate
        With ``estimate``, ``ci_low``, ``ci_high``, ``std_error``, ``statistic``, ``p_value``,
        ``variant``, ``n_rows`` and ``n_units``.

    See Also
    --------
    adjust_prior : Adjust probabilities to known shares.
    calibration_in_the_large : The check for rows whose labels are known.

    Notes
    -----
    The estimate maximises the likelihood of the rows by the EM algorithm of [1]_, section 2.3: it
    adjusts the probabilities to the shares, takes their means as the next shares, and repeats
    until nothing moves. (For two classes its limit is found by Newton steps.) The test is the
    likelihood ratio test of section 3 there. Both rest on calibrated probabilities and on label
    shift: a model that is over-confident, or classes that look different now, give a wrong share
    with a narrow interval.

    References
    ----------
    .. [1] M. Saerens, P. Latinne and C. Decaestecker (2002). "Adjusting the outputs of a
       classifier to new a priori probabilities: a simple procedure". Neural Computation 14, 21-41.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_pairboot.calibration import estimate_prior
    >>> rng = np.random.default_rng(0)
    >>> y = rng.random(2000) < 0.1                      # one in ten, but the map was
    >>> x = rng.normal(2.0 * y)                         # fitted where it was three in ten
    >>> y_prob = 1 / (1 + np.exp(-(2 * x - 2 + np.log(0.3 / 0.7))))
    >>> found = estimate_prior(y_prob, prior_old=0.3, random_state=0)
    >>> bool(found.ci_low < 0.1 < found.ci_high), bool(found.p_value < 1e-6)
    (True, True)
    """
    n_drawn, level = check_resampling(n_resamples, confidence_level, random_state)
    columns, shape = _columns(y_prob)
    old = _prior(prior_old, "prior_old", columns.shape[1])
    plan = RowBootstrap() if groups is None else ClusterBootstrap()
    units = plan.resampling_units(len(columns), groups=groups)
    kernel = PriorKernel(columns / old, old, units)
    observed = observe([kernel], units)
    distribution = bootstrap(
        [kernel],
        units,
        observed,
        n_resamples=n_drawn,
        entropy=entropy_of(random_state),
        scales=np.ones(1),
    )
    classes = [1] if len(shape) == 1 else range(columns.shape[1])
    found = [
        interval(
            distribution.model_sample(0, k),
            float(observed[0, k]),
            method="percentile",
            confidence_level=level,
        )
        for k in classes
    ]
    statistic = max(0.0, 2 * float(np.log(kernel.ratios @ observed[0]).sum()))
    alone = len(shape) == 1
    return PriorEstimate(
        estimate=float(observed[0, 1]) if alone else observed[0].copy(),
        ci_low=_one_or_all([one.low for one in found], alone),
        ci_high=_one_or_all([one.high for one in found], alone),
        std_error=_one_or_all([one.std_error for one in found], alone),
        statistic=statistic,
        p_value=float(stats.chi2.sf(statistic, len(old) - 1)) if groups is None else np.nan,
        variant="EM",
        n_rows=units.n_rows,
        n_units=units.n_units,
    )


@dataclass(frozen=True)
class CalibrationInTheLarge:
    """Outcome of `calibration_in_the_large`.

    Parameters
    ----------
    estimate : float
        Share of positives less mean probability.
    statistic : float
        Its standard normal statistic.
    p_value : float
        Two-sided p-value.
    expected : float
        Mean probability.
    observed : float
        Share of positives.
    variant : str
        ``"normal"``.

    Examples
    --------
    >>> from sklearn_pairboot.calibration import calibration_in_the_large
    >>> calibration_in_the_large([0, 1], [0.5, 0.5]).p_value
    1.0
    """

    estimate: float
    statistic: float
    p_value: float
    expected: float
    observed: float
    variant: str


def calibration_in_the_large(y_true: ArrayLike, y_prob: ArrayLike) -> CalibrationInTheLarge:
    """Test whether probabilities are right on average: as many positives as they announce.

    It says when a stored calibration map no longer fits rows whose labels have come in. AUC does
    not see a changed share of positives; this does.

    Parameters
    ----------
    y_true : array-like of shape (n_rows,)
        Truths, 0 or 1, of independent rows.
    y_prob : array-like of shape (n_rows,)
        Probabilities of 1.

    Returns
    -------
    CalibrationInTheLarge
        With ``estimate``, ``statistic``, ``p_value``, ``expected``, ``observed`` and ``variant``.

    See Also
    --------
    estimate_prior : The check for rows without labels.

    Notes
    -----
    If the probabilities p are right, the number of positives has mean ``sum(p)`` and variance
    ``sum(p (1 - p))``; the two-sided p-value is that of the normal law. It tests nothing but the
    average: probabilities may be far too bold and still pass.

    Examples
    --------
    >>> from sklearn_pairboot.calibration import calibration_in_the_large
    >>> found = calibration_in_the_large([0, 0, 0, 1] * 25, [0.5] * 100)
    >>> found.observed, found.expected, found.statistic
    (0.25, 0.5, -5.0)
    """
    check_same_index({"`y_true`": y_true, "`y_prob`": y_prob})
    columns, shape = _columns(y_prob)
    truth = plain(y_true)
    if len(shape) != 1 or truth.shape != shape:
        raise ValueError(
            "`y_true` and `y_prob` must be one-dimensional and of equal length, got shapes "
            f"{truth.shape} and {shape}."
        )
    check_finite(truth, "`y_true`")
    wrong = [value for value in dict.fromkeys(truth.tolist()) if value not in (0, 1)]
    if wrong:
        raise ValueError(f"`y_true` must hold 0 and 1, got {wrong[0]!r}.")
    p = columns[:, 1]
    excess = float(np.sum(truth.astype(np.float64) - p))
    spread = float(np.sqrt(np.sum(p * (1 - p))))
    if spread > 0:
        z = excess / spread
    else:  # every outcome was announced as certain
        z = 0.0 if abs(excess) < 0.5 else float(np.copysign(np.inf, excess))
    return CalibrationInTheLarge(
        estimate=excess / len(p),
        statistic=z,
        p_value=float(2 * stats.norm.sf(abs(z))),
        expected=float(p.mean()),
        observed=float(truth.astype(np.float64).mean()),
        variant="normal",
    )


def _one_or_all(values: list[float], alone: bool) -> Any:
    return values[0] if alone else np.array(values)


def _columns(y_prob: ArrayLike) -> tuple[FloatArray, tuple[int, ...]]:
    """Check probabilities; give them with a column a class, and the shape they came in."""
    array = plain(y_prob)
    if array.ndim not in (1, 2) or array.size == 0 or (array.ndim == 2 and array.shape[1] < 2):
        raise ValueError(
            "`y_prob` must have shape (n_rows,) or (n_rows, n_classes), got "
            f"{array.shape}. Give the probability of the positive class, or of every class."
        )
    if array.dtype.kind not in "iuf":
        raise TypeError(f"`y_prob` must be numbers, got {array.dtype}.")
    check_finite(array, "`y_prob`")
    floats = array.astype(np.float64)
    if floats.min() < -_ROUNDING or floats.max() > 1 + _ROUNDING:
        worst = floats.min() if floats.min() < -_ROUNDING else floats.max()
        raise ValueError(
            f"`y_prob` must lie between 0 and 1, got {worst:.6g}. Scores or logits are no "
            "probabilities: calibrate them first."
        )
    floats = floats.clip(0.0, 1.0)
    if floats.ndim == 1:
        return np.column_stack([1 - floats, floats]), floats.shape
    sums = floats.sum(axis=1)
    if np.abs(sums - 1).max() > _ROUNDING:
        row = int(np.abs(sums - 1).argmax())
        raise ValueError(f"`y_prob` must sum to 1 in every row, got {sums[row]:.6g} in row {row}.")
    return floats, floats.shape


def _prior(value: Any, name: str, n_classes: int) -> FloatArray:
    prior = np.atleast_1d(np.asarray(value))
    number = prior.dtype.kind in "iuf"
    if number and prior.shape == (1,) and n_classes == 2:
        prior = np.array([1.0 - prior[0], prior[0]])
    proper = number and prior.shape == (n_classes,) and bool(np.all((prior > 0) & (prior < 1)))
    if not proper or abs(float(prior.sum()) - 1) > _ROUNDING:
        what = "a number between 0 and 1" + (", or both shares" if n_classes == 2 else "")
        if n_classes > 2:
            what = f"{n_classes} positive shares that sum to 1"
        raise ValueError(f"`{name}` must be {what}, got {value!r}.")
    return prior.astype(np.float64)
