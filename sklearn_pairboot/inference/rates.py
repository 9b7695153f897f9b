"""The interval of one rate, such as one model's accuracy."""

from __future__ import annotations

import math
import numbers
from dataclasses import dataclass
from typing import Any, Literal

from scipy import stats

from sklearn_pairboot._scoring.checks import check_choice, check_confidence_level

_METHODS: dict[str, tuple[Literal["wilson", "exact"], str]] = {
    "wilson": ("wilson", "Wilson"),
    "clopper-pearson": ("exact", "Clopper-Pearson"),
}


@dataclass(frozen=True)
class RateInterval:
    """Outcome of `rate_interval`.

    Parameters
    ----------
    estimate : float
        The rate.
    ci_low : float
        Lower end of the interval.
    ci_high : float
        Upper end of the interval.
    variant : str
        ``"Wilson"`` or ``"Clopper-Pearson"``.
    std_error : float
        Binomial standard error of the rate; 0 at a rate of 0 or 1, which is no certainty.
    n_correct : int
        Rows that count.
    n : int
        All rows.

    Examples
    --------
    >>> from sklearn_pairboot.inference import rate_interval
    >>> rate_interval(85, 100).variant
    'Wilson'
    """

    estimate: float
    ci_low: float
    ci_high: float
    variant: str
    std_error: float
    n_correct: int
    n: int


def rate_interval(
    n_correct: int,
    n: int,
    *,
    method: str = "wilson",
    confidence_level: float = 0.95,
) -> RateInterval:
    """Give the interval of one rate on independent rows.

    It is about one model. Whether two of them differ is another question: intervals that overlap
    do not answer it, because both models meet the same rows. For that see `mcnemar_test`.

    Parameters
    ----------
    n_correct : int
        Number of rows that the model has right, from 0 to ``n``.
    n : int
        Number of rows, at least 1.
    method : {"wilson", "clopper-pearson"}, default="wilson"
        ``"wilson"`` covers the true rate about as often as it says; ``"clopper-pearson"`` never
        less often, and is wider.
    confidence_level : float, default=0.95
        Level of the interval, in (0, 1).

    Returns
    -------
    RateInterval
        With ``estimate``, ``ci_low``, ``ci_high``, ``variant``, ``std_error``, ``n_correct`` and
        ``n``.

    See Also
    --------
    mcnemar_test : Compare the rates of two models on the same rows.
    sklearn_pairboot.compare_scores : Intervals for rows in clusters, with ``groups``.

    Notes
    -----
    Wilson's interval [1]_ holds all rates ``p`` with
    ``|n_correct / n - p| <= z sqrt(p (1 - p) / n)``; that of Clopper and Pearson [2]_ all rates
    that neither one-sided binomial test rejects at half the level. Both keep within [0, 1] and
    have width at rates of 0 and 1, where ``estimate +- 2 std_error`` has none. Their coverage is
    compared in [3]_.

    References
    ----------
    .. [1] E. B. Wilson (1927). "Probable inference, the law of succession, and statistical
       inference". Journal of the American Statistical Association 22, 209-212.
    .. [2] C. J. Clopper and E. S. Pearson (1934). "The use of confidence or fiducial limits
       illustrated in the case of the binomial". Biometrika 26, 404-413.
    .. [3] L. D. Brown, T. T. Cai and A. DasGupta (2001). "Interval estimation for a binomial
       proportion". Statistical Science 16, 101-133.

    Examples
    --------
    >>> from sklearn_pairboot.inference import rate_interval
    >>> accuracy = rate_interval(425, 500)
    >>> accuracy.estimate, round(accuracy.ci_low, 3), round(accuracy.ci_high, 3)
    (0.85, 0.816, 0.879)

    Twenty right of twenty do not show that the model is never wrong:

    >>> round(rate_interval(20, 20).ci_low, 2)
    0.84
    """
    check_choice("method", method, tuple(_METHODS))
    level = check_confidence_level(confidence_level)
    n = _check_count("n", n, 1, None)
    n_correct = _check_count("n_correct", n_correct, 0, n)
    scipy_name, variant = _METHODS[method]
    low, high = stats.binomtest(n_correct, n).proportion_ci(level, method=scipy_name)
    rate = n_correct / n
    return RateInterval(
        estimate=rate,
        ci_low=float(low),
        ci_high=float(high),
        variant=variant,
        std_error=math.sqrt(rate * (1 - rate) / n),
        n_correct=n_correct,
        n=n,
    )


def _check_count(name: str, value: Any, least: int, most: int | None) -> int:
    proper = isinstance(value, numbers.Integral) and not isinstance(value, bool)
    if not proper or value < least or (most is not None and value > most):
        upwards = f"at least {least}" if most is None else f"from {least} to {most}, the rows"
        raise ValueError(f"`{name}` must be a whole number {upwards}, got {value!r}.")
    return int(value)
