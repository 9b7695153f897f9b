"""The sign test of two models' scores on many benchmarks."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from sklearn_pairboot._scoring.checks import check_confidence_level, check_finite, plain
from sklearn_pairboot.inference._checks import ROUNDING, check_alternative, never_zero


@dataclass(frozen=True)
class SignTestResult:
    """Outcome of `sign_test`.

    Parameters
    ----------
    estimate : float
        Share of wins among wins and losses; NaN where all differences are zero.
    statistic : float
        Number of wins.
    p_value : float
        Exact; 1 where all differences are zero.
    ci_low : float
        Lower end of the Clopper-Pearson interval of the share, 0 for the alternative "less".
    ci_high : float
        Upper end of that interval, 1 for the alternative "greater".
    variant : str
        ``"exact, zeros left out"``.
    n_wins : int
        Positive differences.
    n_losses : int
        Negative differences.
    n_zeros : int
        Differences of zero, which the test leaves out.
    expected_wins : float
        Wins to expect, among wins and losses, from two equal models.
    sd_wins : float
        Standard deviation of the number of wins of two equal models.
    p_min : float
        Smallest p-value that this many wins and losses could give.

    Examples
    --------
    >>> from sklearn_pairboot.inference import sign_test
    >>> sign_test([0.02, 0.01, 0.04, -0.01, 0.0]).n_wins
    3
    """

    estimate: float
    statistic: float
    p_value: float
    ci_low: float
    ci_high: float
    variant: str
    n_wins: int
    n_losses: int
    n_zeros: int
    expected_wins: float
    sd_wins: float
    p_min: float


def sign_test(
    differences: ArrayLike,
    *,
    alternative: str = "two-sided",
    confidence_level: float = 0.95,
) -> SignTestResult:
    """Test two models by how often each leads over many benchmarks.

    Two equal models lead on about half of the benchmarks each, so that 12 leads of 20 are no
    news. The test uses the directions alone: how large the differences are, and how certain each
    of them is, does not count. Benchmarks are taken for independent.

    Parameters
    ----------
    differences : array-like of shape (n_benchmarks,)
        Score of the model less that of the baseline on each benchmark. Differences below 1e-12
        of the largest are rounding errors and count as zero.
    alternative : {"two-sided", "greater", "less"}, default="two-sided"
        ``"greater"``: positive differences are more frequent than negative ones; ``"less"``: they
        are less frequent.
    confidence_level : float, default=0.95
        Level of the interval, in (0, 1).

    Returns
    -------
    SignTestResult
        With ``estimate``, ``statistic``, ``p_value``, ``ci_low``, ``ci_high``, ``variant``,
        ``n_wins``, ``n_losses``, ``n_zeros``, ``expected_wins``, ``sd_wins`` and ``p_min``.

    See Also
    --------
    tarone_correction : Adjust the p-values of tests made on each benchmark.

    Notes
    -----
    Given ``n`` differences that are not zero, the number of wins of equal models is binomial
    with probability 1/2: ``n / 2`` are expected, with standard deviation ``sqrt(n) / 2``. The
    two-sided p-value is twice the smaller tail, at most 1. Zeros are left out, not shared
    between the sides [1]_; with many of them the share of wins among the rest says little about
    the next benchmark. The interval of the share is that of Clopper and Pearson [2]_.

    References
    ----------
    .. [1] W. J. Dixon and A. M. Mood (1946). "The statistical sign test". Journal of the American
       Statistical Association 41, 557-566.
    .. [2] C. J. Clopper and E. S. Pearson (1934). "The use of confidence or fiducial limits
       illustrated in the case of the binomial". Biometrika 26, 404-413.

    Examples
    --------
    Twelve leads on twenty benchmarks:

    >>> from sklearn_pairboot.inference import sign_test
    >>> test = sign_test([0.01] * 12 + [-0.01] * 8)
    >>> test.n_wins, test.expected_wins, round(test.sd_wins, 1)
    (12, 10.0, 2.2)
    >>> round(test.p_value, 2), round(test.ci_low, 2), round(test.ci_high, 2)
    (0.5, 0.36, 0.81)
    """
    side = check_alternative(alternative)
    level = check_confidence_level(confidence_level)
    values = plain(differences)
    if values.ndim != 1 or len(values) < 1 or values.dtype.kind not in "iuf":
        raise ValueError(
            "`differences` must be a one-dimensional array of numbers, one for each benchmark, got "
            f"shape {values.shape} of dtype {values.dtype}."
        )
    check_finite(values, "`differences`", "Leave a benchmark out for both models, or for neither.")
    values = values.astype(np.float64)
    least = ROUNDING * float(np.abs(values).max())
    n_wins, n_losses = int((values > least).sum()), int((values < -least).sum())
    n = n_wins + n_losses
    estimate, p_value, p_min, low, high = math.nan, 1.0, 1.0, 0.0, 1.0
    if n:
        test = stats.binomtest(n_wins, n, 0.5, side)
        best = stats.binomtest(0 if alternative == "less" else n, n, 0.5, side)
        estimate, p_value, p_min = n_wins / n, never_zero(test.pvalue), never_zero(best.pvalue)
        low, high = test.proportion_ci(level, method="exact")
    return SignTestResult(
        estimate=estimate,
        statistic=float(n_wins),
        p_value=p_value,
        ci_low=float(low),
        ci_high=float(high),
        variant="exact, zeros left out",
        n_wins=n_wins,
        n_losses=n_losses,
        n_zeros=len(values) - n,
        expected_wins=n / 2,
        sd_wins=math.sqrt(n) / 2,
        p_min=p_min,
    )
