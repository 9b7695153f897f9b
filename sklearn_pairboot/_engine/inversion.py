"""Interval methods as functions of a tail probability, with their inverses at zero."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

from scipy.special import ndtr, ndtri, stdtr, stdtrit

from sklearn_pairboot._engine.sample import Sample

# A p-value is never zero, though those of t are bounded by no number of resamples.
_SMALLEST = 2.0**-1022


class Inverted(NamedTuple):
    """An interval method applied to one sample.

    ``ends`` maps a tail probability to both ends. The lower end lies above zero for tail
    probabilities above ``tail_low``, the upper end below zero for those above ``tail_high``.
    ``p_floor`` is the smallest tail probability that the replicates support.
    """

    ends: Callable[[float], tuple[float, float]]
    tail_low: float
    tail_high: float
    p_floor: float


class Expansion(NamedTuple):
    """How far percentiles are moved out for ``n_units`` in ``n_strata`` that vary.

    Percentiles of few units are too close for two reasons: the bootstrap variance has the divisor
    n, and the interval the quantiles of the normal law where the variance is estimated. The
    share ``Phi(sqrt(n / (n - 1)) t)`` takes the place of the tail probability, where t is its
    quantile of Student's t with n - 1 degrees of freedom (Hesterberg 2015). In strata n - 1 becomes
    the number of units less that of strata: exact where strata are of one size.
    """

    n_units: int
    n_strata: int = 1

    @property
    def df(self) -> int:
        """Degrees of freedom of the variance."""
        return self.n_units - self.n_strata

    @property
    def widening(self) -> float:
        """Factor from the spread of replicates to a standard error with divisor n - 1."""
        return math.sqrt(self.n_units / self.df)

    def share(self, tail: float) -> float:
        """Share of the replicates beyond the end of an interval with this tail probability."""
        return float(ndtr(self.widening * stdtrit(self.df, tail)))

    def tail(self, share: float) -> float:
        """Tail probability of an interval that has this share of the replicates beyond its end."""
        return float(stdtr(self.df, float(ndtri(share)) / self.widening))


class Basis(NamedTuple):
    """What an interval method needs beside the replicates; ``None`` where there is none.

    ``acceleration`` serves BCa. ``std_error`` is that by the influence of the units, with ``df``
    degrees of freedom. ``pivots`` are the replicates of "estimate - std_error x studentised
    deviation". ``obstacle`` says why what is missing is missing, and ``remark`` what is to be
    known about what is there.
    """

    acceleration: float | None = None
    std_error: float | None = None
    df: float = math.inf
    pivots: Sample | None = None
    expansion: Expansion | None = None
    obstacle: str = ""
    remark: str = ""

    def moved(self, by: float) -> Basis:
        """Return the basis for a statistic with a number added."""
        return self if self.pivots is None else self._replace(pivots=self.pivots.shifted(by))

    def why_not(self, method: str) -> str:
        """Reason why the method has no basis; empty if it has one."""
        if method == "bca":
            if self.acceleration is None:
                return self.obstacle or "there are no leave-one-out values of the resampling unit"
            return "a leave-one-out value is undefined" if math.isnan(self.acceleration) else ""
        if method in ("t", "studentized"):
            if self.std_error is None:
                return self.obstacle or "the influence of the resampling units is not known"
            if not 0 < self.std_error < math.inf:
                return "the standard error by the influence of the units is zero or undefined"
        if method == "studentized" and self.pivots is None:
            return self.obstacle or "there are no standard errors of the resamples"
        if method == "expanded" and (self.expansion is None or self.expansion.df < 1):
            return self.obstacle or "the number of units that vary is not known"
        return ""


def percentile(sample: Sample) -> Inverted:
    """Take the quantiles of the replicates."""
    return Inverted(
        lambda tail: (sample.quantile(tail), sample.quantile(1 - tail)),
        _share_low(sample),
        _share_high(sample),
        sample.p_floor,
    )


def expanded(sample: Sample, expansion: Expansion | None) -> Inverted:
    """Take quantiles of the replicates that lie further out."""
    if expansion is None:
        return percentile(sample)

    def ends(tail: float) -> tuple[float, float]:
        share = expansion.share(tail)
        return sample.quantile(share), sample.quantile(1 - share)

    def inverse(share: float) -> float:
        return 0.0 if share <= 0 else expansion.tail(min(share, 1.0))

    low, high = inverse(_share_low(sample)), inverse(_share_high(sample))
    return Inverted(ends, low, high, expansion.tail(sample.p_floor))


def _share_low(sample: Sample) -> float:
    return sample.position_leaving_low(0.0) / max(sample.size - 1, 1)


def _share_high(sample: Sample) -> float:
    return sample.position_leaving_high(0.0) / max(sample.size - 1, 1)


def normal(estimate: float, std_error: float, p_floor: float) -> Inverted:
    """Take the estimate -+ quantiles of the normal law times its standard error."""

    def ends(tail: float) -> tuple[float, float]:
        half_width = -float(ndtri(tail)) * std_error
        return estimate - half_width, estimate + half_width

    ratio = estimate / std_error
    return Inverted(ends, float(ndtr(-ratio)), float(ndtr(ratio)), p_floor)


def student_t(estimate: float, std_error: float, df: float) -> Inverted:
    """Take the estimate -+ quantiles of Student's t times its standard error."""

    def ends(tail: float) -> tuple[float, float]:
        half_width = -float(stdtrit(df, tail)) * std_error
        return estimate - half_width, estimate + half_width

    ratio = estimate / std_error
    return Inverted(ends, float(stdtr(df, -ratio)), float(stdtr(df, ratio)), _SMALLEST)
