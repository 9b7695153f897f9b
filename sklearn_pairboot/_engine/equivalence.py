"""Equivalence and non-inferiority: one interval method, inverted at the margins.

Two one-sided tests. A difference is shown to lie above the lower margin when its one-sided lower
bound does, and below the upper margin likewise; it is equivalent when both are shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from sklearn_pairboot._engine.intervals import IntervalEstimate, interval
from sklearn_pairboot._engine.inversion import Basis
from sklearn_pairboot._engine.sample import Sample
from sklearn_pairboot._engine.simultaneous import Family, max_t
from sklearn_pairboot._engine.weights import FloatArray

# A margin beyond this many times the largest replicate is as far away as any.
_FAR = 1e3


class Distance(NamedTuple):
    """How far a difference lies from one margin: replicates, observed value, what else serves."""

    sample: Sample
    estimate: float
    basis: Basis | None = None

    def moved(self, by: float) -> Distance:
        """Return the distance from a margin that lies ``by`` further down."""
        basis = None if self.basis is None else self.basis.moved(by)
        return Distance(self.sample.shifted(by), self.estimate + by, basis)


class MarginTest(NamedTuple):
    """One-sided bounds of the distances from both margins, and the p-values of clearing each."""

    low: float
    high: float
    p_above: float
    p_below: float
    fallback: IntervalEstimate | None = None

    @property
    def p_equivalence(self) -> float:
        """The larger of the two one-sided p-values."""
        return float(np.maximum(self.p_above, self.p_below))  # NaN stays NaN

    def p_not_worse(self, greater_is_better: bool) -> float:
        """P-value of not lying beyond the margin on the metric's bad side."""
        return self.p_above if greater_is_better else self.p_below


def shift_for(sample: Sample, estimate: float, margin: float) -> float:
    """Shorten a margin far beyond all replicates: no test can tell, but float64 could lose them."""
    largest = max(abs(sample.minimum), abs(sample.maximum), abs(estimate))
    return min(margin, _FAR * largest) if largest > 0 else margin


def margin_test(
    lower: Distance, upper: Distance, *, method: str, confidence_level: float
) -> MarginTest:
    """Test one difference against its margins.

    Parameters
    ----------
    lower, upper : Distance
        From the lower and from the upper margin: positive above it.
    method : str
        Interval method. Where it is undefined at one margin, its fall-back serves both.
    confidence_level : float
        Level of each one-sided bound; both together are an interval at 1 - 2 alpha.

    Returns
    -------
    MarginTest
        The p-values are NaN where replicates do not vary.
    """
    above = _bound(lower, "greater", method, confidence_level)
    below = _bound(upper, "less", method, confidence_level)
    fallback = None
    for found in (above, below):
        if found.status not in ("ok", "degenerate"):
            fallback = found
    if fallback is not None:
        above = _bound(lower, "greater", fallback.method, confidence_level)
        below = _bound(upper, "less", fallback.method, confidence_level)
    p_above, p_below = (
        float("nan") if found.status == "degenerate" else found.p_value for found in (above, below)
    )
    return MarginTest(above.low, below.high, p_above, p_below, fallback)


def _bound(
    distance: Distance, alternative: str, method: str, confidence_level: float
) -> IntervalEstimate:
    return interval(
        distance.sample,
        distance.estimate,
        method=method,
        confidence_level=confidence_level,
        alternative=alternative,
        basis=distance.basis,
    )


class MarginTests(NamedTuple):
    """Bounds and p-values of a whole family by max-T, one entry a comparison."""

    low: FloatArray
    high: FloatArray
    p_equivalence: FloatArray
    p_not_worse: FloatArray


def simultaneous_margin_tests(
    lower: Family, upper: Family, greater_is_better: Sequence[bool], *, confidence_level: float
) -> MarginTests:
    """Test a family against its margins, studentised and jointly.

    "Not worse" takes the largest deviation of all comparisons, each on its bad side. Equivalence
    has two sides each, and which of them could be false is unknown: it takes the largest deviation
    over both sides of all comparisons or, where that is narrower, the one of each side alone at
    alpha / m. Both hold whatever the truth; for one comparison the second is the usual pair of
    one-sided tests.
    """
    n_comparisons = len(greater_is_better)
    good = [1 if greater else -1 for greater in greater_is_better]
    bad_side = Family(
        np.where(np.array(good) > 0, lower.values, upper.values),
        np.where(np.array(good) > 0, lower.estimates, upper.estimates),
        np.where(np.array(good) > 0, lower.noise, upper.noise),
        lower.weights,
    )
    not_worse = max_t(bad_side, good, confidence_level)
    both = lower.joined(upper)
    sides = [1] * n_comparisons + [-1] * n_comparisons
    joint = max_t(both, sides, confidence_level)
    n_varying = max(1, int(np.count_nonzero(~np.isnan(joint.p_values[:n_comparisons]))))
    alone = [
        max_t(both.only(column), [side], confidence_level, factor=n_varying)
        for column, side in enumerate(sides)
    ]
    p_values = np.minimum(joint.p_values, np.concatenate([one.p_values for one in alone]))
    widths = np.minimum(joint.half_widths, np.concatenate([one.half_widths for one in alone]))
    return MarginTests(
        lower.estimates - widths[:n_comparisons],
        upper.estimates + widths[n_comparisons:],
        np.maximum(p_values[:n_comparisons], p_values[n_comparisons:]),
        not_worse.p_values,
    )
