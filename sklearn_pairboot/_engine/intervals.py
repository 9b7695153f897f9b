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

from sklearn_pairboot._engine.inversion import (
    Basis,
    Expansion,
    Inverted,
    expanded,
    normal,
    percentile,
    student_t,
)
from sklearn_pairboot._engine.sample import LARGEST_COUNT, Sample

METHODS = ("percentile", "basic", "normal", "bca", "studentized", "t", "expanded")
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


def alpha_of(confidence_level: float) -> float:
    """Return 1 - confidence level as it is written: 0.05 for 0.95, not 0.050000000000000044.

    Interval ends that touch zero hang on this digit, so p-values are to be compared with it.
    """
    return float(_exact_alpha(confidence_level))


def _exact_alpha(confidence_level: float) -> Fraction:
    return 1 - Fraction(Decimal(str(float(confidence_level))))


def check_alpha(
    n_resamples: int,
    confidence_level: float,
    alternative: str = "two-sided",
    expansion: Expansion | None = None,
) -> None:
    """Refuse a confidence level whose interval ends would lie beyond the extreme replicates.

    With ``expansion`` those of the expanded percentile interval, which lie further out.
    """
    tail = _exact_alpha(confidence_level) / _n_tails(alternative)
    least = math.ceil(1 / tail) - 1
    if expansion is not None:
        share = expansion.share(float(tail))
        least = math.ceil(1 / share) - 1 if share > 1 / LARGEST_COUNT else LARGEST_COUNT
    if n_resamples >= least:
        return
    if expansion is None:
        raise ValueError(
            f"`n_resamples` must be at least {least} for `confidence_level`={confidence_level}, "
            f"got {n_resamples}. Draw more resamples or lower the confidence level."
        )
    needed = str(least) if least < LARGEST_COUNT else "more than can be drawn"
    raise ValueError(
        f"`n_resamples` must be at least {needed} for `method`='expanded' with "
        f"{expansion.n_units} resampling units and `confidence_level`={confidence_level}, got "
        f"{n_resamples}: with so few units the expanded percentiles lie far out. Pass method='t', "
        "draw more resamples or lower the confidence level."
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
    basis: Basis | None = None,
) -> IntervalEstimate:
    """Confidence interval of a statistic, and the p-value of "the statistic is zero".

    Parameters
    ----------
    sample : Sample
        Its replicates; at least one.
    estimate : float
        Its value on the observed data.
    method : {"percentile", "basic", "normal", "bca", "studentized", "t", "expanded"}
        Where one is undefined ``"percentile"`` takes its place, and ``status`` says so.
    confidence_level : float between 0 and 1
        Coverage aimed at. `check_alpha` says which levels the number of replicates supports;
        below that the p-value stays at its floor and does not follow the interval.
    alternative : {"two-sided", "greater", "less"}, default="two-sided"
        ``"greater"`` gives ``[low, inf]`` and ``"less"`` ``[-inf, high]``.
    basis : Basis or None, default=None
        What the method needs beside the replicates; the first three need nothing.

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
    basis = Basis() if basis is None else basis
    status, reason = "ok", ""
    why_not = basis.why_not(method)
    if method == "bca" and not why_not:
        why_not = _why_no_bca(sample, estimate, basis, alpha / n_tails, alternative)
    if why_not:
        method, status, reason = "percentile", f"percentile ({method} undefined)", why_not

    if method == "bca":
        inverted = _bca(sample, _bias(sample, estimate), float(basis.acceleration or 0.0))
        if basis.acceleration == 0:
            reason = "the acceleration is zero: bias correction alone"
    elif method == "normal":
        inverted = normal(estimate, std_error, sample.p_floor)
    elif method == "t":
        std_error = float(basis.std_error or 0.0)
        inverted = student_t(estimate, std_error, basis.df)
    elif method == "studentized" and basis.pivots is not None:
        std_error = float(basis.std_error or 0.0)
        inverted = percentile(basis.pivots)
        reason = basis.remark
    elif method == "expanded":
        inverted = expanded(sample, basis.expansion)
    else:
        inverted = percentile(sample if method == "percentile" else sample.reflected(estimate))

    low, high = _one_sided(*inverted.ends(alpha / n_tails), alternative)
    p_value = _p_value(inverted, alpha, alternative)
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


def _p_value(inverted: Inverted, alpha: float, alternative: str) -> float:
    """Smallest alpha at which the interval excludes zero, never below the floor."""
    n_tails, p_floor = N_TAILS[alternative], inverted.p_floor

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


def _bca(sample: Sample, bias: float, acceleration: float) -> Inverted:
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
    return Inverted(
        ends,
        inverted_tail(sample.position_leaving_low(0.0), bias, acceleration),
        inverted_tail(sample.position_leaving_high(0.0), -bias, -acceleration),
        sample.p_floor,
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
    sample: Sample, estimate: float, basis: Basis, tail: float, alternative: str
) -> str:
    """Reason why the BCa interval is undefined; empty if it is defined."""
    acceleration = float(basis.acceleration or 0.0)
    bias = _bias(sample, estimate)
    if math.isinf(bias):
        return "all replicates lie on one side of the estimate"
    z = float(ndtri(tail))
    used = {"two-sided": (z, -z), "greater": (z,), "less": (-z,)}
    if any(1 - acceleration * (bias + end) <= 0 for end in used[alternative]):
        return f"the acceleration {acceleration:.3g} is too large at this confidence level"
    return ""
