"""Bootstrap confidence intervals, and the p-values that are their inversions.

The p-value of a difference is the smallest alpha = 1 - confidence level whose interval, by the
method finally used, excludes zero. Interval and p-value therefore agree by construction.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr, ndtri

from sklearn_pairboot._engine.sample import Sample

METHODS = ("percentile", "basic", "normal", "bca")
N_TAILS = {"two-sided": 2, "greater": 1, "less": 1}

# Interval ends and p-values are computed in different orders; they differ by less than this.
ROUNDING = 1e-9

# Distance of a BCa level from 0 or 1 below which it counts as 0 or 1: near 1 float64 cannot
# tell it apart, and both sides are to be treated alike.
SMALLEST_LEVEL = 2.0**-53


class IntervalEstimate(NamedTuple):
    """One interval: its ends, standard error, p-value, and how it came about.

    ``method`` is the one finally used; ``status`` is ``"ok"``, ``"degenerate"`` or names a
    fall-back; ``reason`` says why in words, and is empty when there is nothing to say.
    """

    low: float
    high: float
    std_error: float
    p_value: float
    method: str
    status: str
    reason: str


class _Inverted(NamedTuple):
    """An interval method applied to one sample.

    ``ends`` maps a tail probability to both ends. The lower end lies above zero for tail
    probabilities above ``tail_low``, the upper end below zero for those above ``tail_high``.
    """

    ends: Callable[[float], tuple[float, float]]
    tail_low: float
    tail_high: float


def alpha_of(confidence_level: float) -> float:
    """Return 1 - confidence level as it is written: 0.05 for 0.95, not 0.050000000000000044.

    Interval ends that touch zero hang on this digit, so p-values are to be compared with it.
    """
    return float(_exact_alpha(confidence_level))


def _exact_alpha(confidence_level: float) -> Fraction:
    return 1 - Fraction(Decimal(str(float(confidence_level))))


def check_alpha(n_resamples: int, confidence_level: float, alternative: str = "two-sided") -> None:
    """Refuse a confidence level whose interval ends would lie beyond the extreme replicates."""
    alpha = _exact_alpha(confidence_level)
    least = math.ceil(_n_tails(alternative) / alpha) - 1
    if n_resamples < least:
        raise ValueError(
            f"`n_resamples` must be at least {least} for `confidence_level`={confidence_level}, "
            f"got {n_resamples}. Draw more resamples or lower the confidence level."
        )


def excludes_zero(low: float, high: float) -> bool:
    """Return whether zero lies outside the closed interval from ``low`` to ``high``."""
    return low > 0 or high < 0


def interval(
    sample: Sample,
    estimate: float,
    *,
    method: str,
    confidence_level: float,
    alternative: str = "two-sided",
    acceleration: float | None = None,
) -> IntervalEstimate:
    """Confidence interval of a statistic, and the p-value of "the statistic is zero".

    Parameters
    ----------
    sample : Sample
        Its replicates; at least one.
    estimate : float
        Its value on the observed data.
    method : {"percentile", "basic", "normal", "bca"}
        ``"bca"`` falls back to ``"percentile"`` where it is undefined, and says so.
    confidence_level : float between 0 and 1
        Coverage aimed at. `check_alpha` says which levels the number of replicates supports;
        below that the p-value stays at its floor and does not follow the interval.
    alternative : {"two-sided", "greater", "less"}, default="two-sided"
        ``"greater"`` gives ``[low, inf]`` and ``"less"`` ``[-inf, high]``.
    acceleration : float or None, default=None
        Of `acceleration`; used by ``"bca"`` alone.

    Returns
    -------
    IntervalEstimate
        For every supported level ``p_value <= alpha_of(confidence_level)`` exactly when the
        interval excludes zero, except for constant replicates other than zero (NaN).
    """
    n_tails = _n_tails(alternative)
    if method not in METHODS:
        raise ValueError(f"`method` must be one of {METHODS}, got {method!r}.")
    std_error = sample.std()
    if sample.is_constant or std_error == 0:
        return _degenerate(sample, method, alternative)

    alpha = alpha_of(confidence_level)
    status, reason = "ok", ""
    if method == "bca":
        why_not = _why_no_bca(sample, estimate, acceleration, alpha / n_tails, alternative)
        if why_not:
            method, status, reason = "percentile", "percentile (bca undefined)", why_not
        elif acceleration == 0:
            reason = "the acceleration is zero: bias correction alone"

    if method == "bca":
        inverted = _bca(sample, _bias(sample, estimate), float(acceleration or 0.0))
    elif method == "normal":
        inverted = _normal(estimate, std_error)
    else:
        inverted = _percentile(sample if method == "percentile" else sample.reflected(estimate))

    low, high = _one_sided(*inverted.ends(alpha / n_tails), alternative)
    p_value = _p_value(inverted, alpha, alternative, sample.p_floor)
    return IntervalEstimate(low, high, std_error, p_value, method, status, reason)


def acceleration(
    leave_one_out: ArrayLike, stratum: NDArray[np.integer[Any]] | None = None
) -> float:
    """Acceleration of the BCa interval from the jackknife of the resampling units.

    Parameters
    ----------
    leave_one_out : array-like of shape (n_units,)
        The statistic without each unit in turn.
    stratum : array of int of shape (n_units,) or None, default=None
        Stratum of each unit, numbered from zero. A stratum of one unit does not vary, so that
        unit's value, defined or not, plays no part.

    Returns
    -------
    float
        Zero where all values are equal, NaN where one of them is undefined.
    """
    values = np.asarray(leave_one_out, dtype=np.float64)
    if stratum is None:
        stratum = np.zeros(values.size, dtype=np.int64)
    n_in_stratum = np.bincount(stratum)[stratum]
    varies = n_in_stratum > 1
    values, stratum, n_in_stratum = values[varies], stratum[varies], n_in_stratum[varies]
    if values.size == 0:
        return 0.0
    if np.isnan(values).any():
        return math.nan
    means = np.bincount(stratum, weights=values)[stratum] / n_in_stratum
    deviations = means - values
    # Equal values whose mean is rounded would give a random acceleration instead of 0 / 0.
    rounding = 8 * np.finfo(np.float64).eps * np.abs(values).max()
    largest = np.abs(deviations).max()
    if largest <= rounding:
        return 0.0
    # The scale cancels; taking it out keeps tiny statistics from underflowing.
    influence = (n_in_stratum - 1) * (deviations / largest) / n_in_stratum
    return float(np.sum(influence**3) / np.sum(influence**2) ** 1.5 / 6)


def _n_tails(alternative: str) -> int:
    if alternative not in N_TAILS:
        raise ValueError(f"`alternative` must be one of {tuple(N_TAILS)}, got {alternative!r}.")
    return N_TAILS[alternative]


def _one_sided(low: float, high: float, alternative: str) -> tuple[float, float]:
    """Open the end that the alternative leaves free."""
    if alternative == "greater":
        return low, math.inf
    if alternative == "less":
        return -math.inf, high
    return low, high


def _degenerate(sample: Sample, method: str, alternative: str) -> IntervalEstimate:
    """Interval of replicates that do not vary: no evidence of anything but the value itself."""
    low, high = _one_sided(sample.minimum, sample.maximum, alternative)
    p_value = 1.0 if sample.minimum == sample.maximum == 0 else math.nan
    return IntervalEstimate(
        low, high, 0.0, p_value, method, "degenerate", "all replicates are equal"
    )


def _p_value(inverted: _Inverted, alpha: float, alternative: str, p_floor: float) -> float:
    """Smallest alpha at which the interval excludes zero, never below the floor."""
    n_tails = N_TAILS[alternative]

    def excludes(level: float) -> bool:
        return excludes_zero(*_one_sided(*inverted.ends(level / n_tails), alternative))

    tails = {
        "two-sided": min(inverted.tail_low, inverted.tail_high),
        "greater": inverted.tail_low,
        "less": inverted.tail_high,
    }
    p_value = _attained(min(1.0, n_tails * max(tails[alternative], p_floor)), excludes)
    if alpha < n_tails * p_floor:
        return p_value
    # What is left is rounding at this very alpha, where the interval has the last word.
    if excludes(alpha):
        return min(p_value, alpha)
    return max(p_value, math.nextafter(alpha, 1.0))


def _attained(p_value: float, excludes: Callable[[float], bool]) -> float:
    """Move ``p_value`` up, by rounding only, until the interval at that alpha excludes zero.

    An end that touches zero does not exclude it: the smallest alpha is then not attained.
    """
    moved, step = p_value, math.ulp(p_value)
    while moved < min(1.0, p_value * (1 + ROUNDING)):
        if excludes(moved):
            return moved
        moved += step
        step *= 2
    return min(1.0, math.nextafter(p_value, 2.0))


def _percentile(sample: Sample) -> _Inverted:
    return _Inverted(
        lambda tail: (sample.quantile(tail), sample.quantile(1 - tail)),
        sample.position_leaving_low(0.0) / (sample.size - 1),
        sample.position_leaving_high(0.0) / (sample.size - 1),
    )


def _normal(estimate: float, std_error: float) -> _Inverted:
    def ends(tail: float) -> tuple[float, float]:
        half_width = -float(ndtri(tail)) * std_error
        return estimate - half_width, estimate + half_width

    ratio = estimate / std_error
    return _Inverted(ends, float(ndtr(-ratio)), float(ndtr(ratio)))


def _bca(sample: Sample, bias: float, acceleration: float) -> _Inverted:
    def ends(tail: float) -> tuple[float, float]:
        z = float(ndtri(tail))
        from_below = _bca_level(bias, acceleration, z)
        from_above = _bca_level(-bias, -acceleration, z)
        return sample.quantile(from_below), sample.quantile(1 - from_above)

    def inverted_tail(position: float, bias: float, acceleration: float) -> float:
        if position < 0:
            return 0.0
        if position >= sample.size - 1:
            return 1.0
        level = max(position / (sample.size - 1), SMALLEST_LEVEL)
        w = float(ndtri(level)) - bias
        denominator = 1 + acceleration * w
        if denominator <= 0:
            # No level for which BCa is defined reaches this position: always or never past it.
            return 0.0 if w < 0 else 1.0
        return float(ndtr(w / denominator - bias))

    # Mirroring the sample changes the signs of bias and acceleration.
    return _Inverted(
        ends,
        inverted_tail(sample.position_leaving_low(0.0), bias, acceleration),
        inverted_tail(sample.position_leaving_high(0.0), -bias, -acceleration),
    )


def _bias(sample: Sample, estimate: float) -> float:
    """z0, the normal quantile of the share of replicates below the estimate."""
    return float(ndtri(sample.share_below(estimate)))


def _bca_level(bias: float, acceleration: float, z: float) -> float:
    """Quantile level of the lower BCa end; with both signs changed, 1 - level of the upper."""
    denominator = 1 - acceleration * (bias + z)
    if denominator <= 0:
        # The limit on the way there; intervals never use it, comparisons of p-values may.
        return 1.0 if acceleration > 0 else 0.0
    level = float(ndtr(bias + (bias + z) / denominator))
    return level if level >= SMALLEST_LEVEL else 0.0


def _why_no_bca(
    sample: Sample, estimate: float, acceleration: float | None, tail: float, alternative: str
) -> str:
    """Reason why the BCa interval is undefined; empty if it is defined."""
    if acceleration is None:
        return "there are no leave-one-out values of the resampling unit"
    if math.isnan(acceleration):
        return "a leave-one-out value is undefined"
    bias = _bias(sample, estimate)
    if math.isinf(bias):
        return "all replicates lie on one side of the estimate"
    z = float(ndtri(tail))
    used = {"two-sided": (z, -z), "greater": (z,), "less": (-z,)}
    if any(1 - acceleration * (bias + end) <= 0 for end in used[alternative]):
        return f"the acceleration {acceleration:.3g} is too large at this confidence level"
    return ""
