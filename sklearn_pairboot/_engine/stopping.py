"""When enough has been drawn: fixed totals, ends that are known, p-values on one side of alpha.

After each total every p-value has a confidence interval for what it would be with resamples
without end. They hold at all totals together, except with probability `RISK`, of which n
resamples may have used the share n / (16,000 + n). That is a spending sequence of Gandy (2009),
"Sequential implementation of Monte Carlo tests with uniformly bounded resampling risk", Journal of
the American Statistical Association 104, 1504-1511. A correction for several comparisons is
monotone, so its verdicts stand once it says the same of all lower and of all upper ends, as in
Gandy and Hahn (2014), "MMCTest: a safe algorithm for implementing multiple Monte Carlo tests",
Scandinavian Journal of Statistics 41, 1083-1101.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from scipy import special, stats

from sklearn_pairboot._engine.weights import BoolArray, FloatArray

# With one more, the observed data, these are round: (B + 1) alpha is a whole number.
TOTALS = tuple(2000 * 2**k - 1 for k in range(7))

# Probability that drawing more would have turned any decision.
RISK = 1e-3
# Number of resamples after which half of it is spent: the seven totals then get about equal parts.
_HALF_SPENT = 16_000

# Largest standard error of an interval's end, as a share of the statistic's own: 1 % of the width
# of a normal 95 % interval. Such a shift of an end changes its coverage by 0.23 per cent points.
END_TOLERANCE = 0.04


class Bounds(NamedTuple):
    """Lowest and highest value that each p-value may still have."""

    low: FloatArray
    high: FloatArray

    def within(self, other: Bounds) -> Bounds:
        """Keep what both allow; bounds that miss each other keep the older ones."""
        low, high = np.fmax(self.low, other.low), np.fmin(self.high, other.high)
        missed = low > high
        return Bounds(np.where(missed, other.low, low), np.where(missed, other.high, high))


def spent(n_resamples: int) -> float:
    """Risk that may have been used after so many resamples."""
    return RISK * n_resamples / (_HALF_SPENT + n_resamples)


def p_bounds(
    p_values: FloatArray, errors: FloatArray, tails: int, risk: float, freedom: FloatArray
) -> Bounds:
    """Bound p-values by the interval of Clopper and Pearson, jointly at this risk.

    A p-value is ``tails`` times a share of as many draws as give it its standard error. Where it
    is a share of the resamples, that is their number; ``freedom`` is then infinite, and elsewhere
    the degrees of freedom of the standard error.
    """
    p_values, errors = np.asarray(p_values, dtype=float), np.asarray(errors, dtype=float)
    each = risk / max(1, int(np.count_nonzero(~np.isnan(p_values)))) / 2
    wider = np.where(
        np.isinf(freedom), 1.0, stats.t.isf(each, np.fmin(freedom, 1e9)) / stats.norm.isf(each)
    )
    share = p_values / tails
    with np.errstate(all="ignore"):
        n_draws = share * (1 - share) / (errors * wider / tails) ** 2
        n_hits = share * n_draws
        low = special.betaincinv(n_hits, n_draws - n_hits + 1, each)
        high = special.betaincinv(n_hits + 1, n_draws - n_hits, 1 - each)
    known = (errors == 0) | (share >= 1)
    low, high = np.where(known, share, low), np.where(known, share, high)
    return Bounds(np.minimum(tails * low, 1.0), np.minimum(tails * high, 1.0))


def decided(bounds: Bounds, adjust: Callable[[FloatArray], FloatArray], alpha: float) -> BoolArray:
    """Tell which adjusted p-values lie on one side of alpha, whatever the bounds allow."""
    low, high = adjust(bounds.low), adjust(bounds.high)
    on_one_side: BoolArray = np.isnan(low) | ((low <= alpha) == (high <= alpha))
    return on_one_side


def ends_known(errors: Sequence[float], std_error: float) -> bool:
    """Tell whether an interval's ends are known to the tolerance."""
    return all(error <= END_TOLERANCE * std_error for error in errors)
