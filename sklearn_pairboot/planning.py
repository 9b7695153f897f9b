"""How much the rows of a test set tell, and how many more are needed."""

from __future__ import annotations

import math
import numbers
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import optimize, stats

from sklearn_pairboot._engine.seeds import is_integer
from sklearn_pairboot._scoring.checks import (
    check_choice,
    check_confidence_level,
    check_finite,
    check_labels,
    check_share,
    plain,
)

_ALTERNATIVES = ("two-sided", "greater", "less")
_MOST_UNITS = 10**9


@dataclass(frozen=True)
class IntraclassCorrelation:
    """Outcome of `intraclass_correlation`.

    Parameters
    ----------
    estimate : float
        The intraclass correlation; below 0 where rows of a cluster differ more than others.
    statistic : float
        F ratio of the mean squares between and within clusters.
    p_value : float
        Of no correlation against a positive one.
    ci_low : float
        Lower end of the interval.
    ci_high : float
        Upper end of the interval.
    variant : str
        ``"one-way ANOVA"``.
    design_effect : float
        Variance of the mean over that of as many independent rows, at least 1.
    effective_sample_size : float
        Independent rows that would tell as much.
    n_rows : int
        Number of rows.
    n_clusters : int
        Number of clusters.

    Examples
    --------
    >>> from sklearn_pairboot.planning import intraclass_correlation
    >>> intraclass_correlation([1, 1, 0, 0, 1, 0], list("aabbcc")).n_clusters
    3
    """

    estimate: float
    statistic: float
    p_value: float
    ci_low: float
    ci_high: float
    variant: str
    design_effect: float
    effective_sample_size: float
    n_rows: int
    n_clusters: int


def intraclass_correlation(
    values: ArrayLike, groups: Any, *, confidence_level: float = 0.95
) -> IntraclassCorrelation:
    """Estimate how much alike the rows of a cluster are, and what that costs.

    Parameters
    ----------
    values : array-like of shape (n_rows,)
        A number for each row, such as a model's score of it, or the difference of two models'
        scores: it is the difference whose correlation decides how well a comparison is known.
    groups : array-like of shape (n_rows,)
        Cluster of each row, at least two clusters, at least one of two rows or more.
    confidence_level : float, default=0.95
        Level of the interval, in (0, 1).

    Returns
    -------
    IntraclassCorrelation
        With ``estimate``, ``statistic``, ``p_value``, ``ci_low``, ``ci_high``, ``variant``,
        ``design_effect``, ``effective_sample_size``, ``n_rows`` and ``n_clusters``.

    Raises
    ------
    ValueError
        If all values are equal, or no cluster has two rows: then nothing can be told.

    See Also
    --------
    sklearn_pairboot.compare_scores : With ``groups`` it resamples whole clusters.

    Notes
    -----
    With mean squares B between and W within clusters, the estimate is
    ``(B - W) / (B + (m - 1) W)`` [1]_, where ``m`` is the mean size of the G clusters, less their
    variance over G times that mean. The design effect of a mean of rows is
    ``1 + (s - 1) max(estimate, 0)`` [2]_, where ``s`` is the mean size of the cluster that a row is
    in; with clusters of one size both are that size. The interval is exact for normal values and
    clusters of one size [3]_, and rough for others, such as right and wrong answers.

    References
    ----------
    .. [1] A. Donner (1986). "A review of inference procedures for the intraclass correlation
       coefficient in the one-way random effects model". International Statistical Review 54, 67-82.
    .. [2] L. Kish (1965). "Survey Sampling". Wiley.
    .. [3] K. O. McGraw and S. P. Wong (1996). "Forming inferences about some intraclass
       correlation coefficients". Psychological Methods 1, 30-46.

    Examples
    --------
    >>> from sklearn_pairboot.planning import intraclass_correlation
    >>> right = [1, 1, 1, 0, 0, 0, 1, 1, 0, 0, 0, 0]
    >>> patient = list("aaabbbcccddd")
    >>> found = intraclass_correlation(right, patient)
    >>> round(found.estimate, 3), round(found.effective_sample_size, 1)
    (0.727, 4.9)
    """
    level = check_confidence_level(confidence_level)
    x = _numbers(values, "values")
    codes, labels = check_labels(groups, len(x), "groups")
    sizes = np.bincount(codes)
    n_rows, n_clusters = len(x), len(labels)
    if n_clusters < 2 or n_clusters == n_rows:
        raise ValueError(
            "`groups` must hold at least two clusters, and two rows in one of them, got "
            f"{n_clusters} clusters of {n_rows} rows."
        )
    if np.ptp(x) == 0:
        raise ValueError(f"`values` must differ somewhere, got {x[0]:g} in all {n_rows} rows.")
    means = np.bincount(codes, x) / sizes
    between = float(sizes @ (means - x.mean()) ** 2) / (n_clusters - 1)
    within = float(((x - means[codes]) ** 2).sum()) / (n_rows - n_clusters)
    size = (n_rows - float(sizes @ sizes) / n_rows) / (n_clusters - 1)
    freedom = n_clusters - 1, n_rows - n_clusters
    ratio = between / within if within > 0 else math.inf
    ends = [
        ratio / stats.f.ppf(1 - (1 - level) / 2, *freedom),
        ratio * stats.f.ppf(1 - (1 - level) / 2, *freedom[::-1]),
    ]
    estimate = _correlation(ratio, size)
    effect = 1 + (float(sizes @ sizes) / n_rows - 1) * max(estimate, 0.0)
    return IntraclassCorrelation(
        estimate=estimate,
        statistic=ratio,
        p_value=float(stats.f.sf(ratio, *freedom)),
        ci_low=_correlation(ends[0], size),
        ci_high=_correlation(ends[1], size),
        variant="one-way ANOVA",
        design_effect=effect,
        effective_sample_size=n_rows / effect,
        n_rows=n_rows,
        n_clusters=n_clusters,
    )


def minimum_detectable_difference(
    differences: ArrayLike,
    *,
    groups: Any = None,
    n_units: int | None = None,
    power: float = 0.8,
    confidence_level: float = 0.95,
    alternative: str = "two-sided",
) -> float:
    """Give the smallest true mean difference that a comparison would mostly find.

    Parameters
    ----------
    differences : array-like of shape (n_rows,)
        Score of one model less that of the other on each row, from a pilot on rows of the same
        kind. Only their spread matters.
    groups : array-like of shape (n_rows,), default=None
        Cluster of each row. ``None``: rows are independent.
    n_units : int, default=None
        Number of rows, or of clusters where there are ``groups``, that the comparison will have,
        at least 2. ``None``: as many as the pilot.
    power : float, default=0.8
        Share of comparisons that are to find the difference, in (0, 1).
    confidence_level : float, default=0.95
        Level of the comparison, in (0, 1).
    alternative : {"two-sided", "greater", "less"}, default="two-sided"
        Whether the comparison looks at both directions or at one.

    Returns
    -------
    float
        Size of the difference, positive, in units of the scores.

    Raises
    ------
    ValueError
        If all differences are equal, or there are fewer than two units.

    See Also
    --------
    required_units : How many units a given difference or width needs.

    Notes
    -----
    The standard error is that of a mean of rows whose clusters are drawn,
    ``sqrt(G / (G - 1) sum_g e_g^2) / n`` with ``e_g`` the sum of a cluster's deviations from the
    mean; it falls with the square root of the number of units. The power is that of a t test with
    one degree of freedom less than units, by the noncentral t distribution [1]_. It is about the
    difference of mean scores, such as accuracy; other metrics, and few clusters of very unequal
    size, need a simulation.

    References
    ----------
    .. [1] J. Cohen (1988). "Statistical Power Analysis for the Behavioral Sciences". 2nd edition,
       Lawrence Erlbaum, chapter 2.

    Examples
    --------
    >>> from sklearn_pairboot.planning import minimum_detectable_difference
    >>> pilot = [0, 0, 1, 0, -1, 0, 0, 1, 0, 0] * 10
    >>> round(minimum_detectable_difference(pilot), 3)
    0.153
    >>> round(minimum_detectable_difference(pilot, n_units=1000), 3)
    0.048
    """
    plan = _Plan.of(differences, groups, power, confidence_level, alternative)
    number = plan.n_units if n_units is None else _count("n_units", n_units)

    def surplus(shift: float) -> float:
        return plan.power_at(shift, number) - plan.power

    if plan.power <= 1 - plan.level:
        raise ValueError(
            f"`power` must be above 1 - `confidence_level`, got {power!r}: so many comparisons "
            "find a difference where there is none."
        )
    high = 1.0
    while surplus(high) < 0:
        high *= 2
    return float(optimize.brentq(surplus, 0.0, high, xtol=1e-12)) * plan.std_error(number)


def required_units(
    differences: ArrayLike,
    *,
    groups: Any = None,
    difference: float | None = None,
    width: float | None = None,
    power: float = 0.8,
    confidence_level: float = 0.95,
    alternative: str = "two-sided",
) -> int:
    """Give the number of rows or clusters that a comparison needs, those of the pilot included.

    Parameters
    ----------
    differences : array-like of shape (n_rows,)
        Score of one model less that of the other on each row, from a pilot on rows of the same
        kind. Only their spread matters.
    groups : array-like of shape (n_rows,), default=None
        Cluster of each row. ``None``: rows are independent.
    difference : float, default=None
        True mean difference that is to be found with the ``power``; its sign does not matter.
    width : float, default=None
        Largest width of the two-sided interval. Give one of ``difference`` and ``width``.
    power : float, default=0.8
        Share of comparisons that are to find the difference, in (0, 1); not used for a width.
    confidence_level : float, default=0.95
        Level of the comparison, in (0, 1).
    alternative : {"two-sided", "greater", "less"}, default="two-sided"
        Whether the comparison looks at both directions or at one; not used for a width.

    Returns
    -------
    int
        Number of rows, or of clusters like those of the pilot where there are ``groups``.

    Raises
    ------
    ValueError
        If all differences are equal, or more than 10^9 units would be needed.

    See Also
    --------
    minimum_detectable_difference : What a given number of units can find, and the formulas.

    Notes
    -----
    A difference seen in the pilot is no plan: it is too large wherever one was looked for. Give
    the smallest difference that would matter.

    Examples
    --------
    >>> from sklearn_pairboot.planning import required_units
    >>> pilot = [0, 0, 1, 0, -1, 0, 0, 1, 0, 0] * 10
    >>> required_units(pilot, difference=0.05)
    922
    >>> required_units(pilot, width=0.1)
    453
    """
    plan = _Plan.of(differences, groups, power, confidence_level, alternative)
    if (difference is None) == (width is None):
        raise ValueError("Give one of `difference` and `width`, got both or none.")
    if difference is not None:
        size = _positive("difference", difference)

        def enough(number: int) -> bool:
            return plan.power_at(size / plan.std_error(number), number) >= plan.power
    else:
        largest = _positive("width", width)

        def enough(number: int) -> bool:
            half = float(stats.t.isf((1 - plan.level) / 2, number - 1)) * plan.std_error(number)
            return 2 * half <= largest

    low, high = 1, 2
    while not enough(high):
        low, high = high, 2 * high
        if high > _MOST_UNITS:
            raise ValueError(
                f"More than {_MOST_UNITS:,} units would be needed. Ask for a larger difference or "
                "width."
            )
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


@dataclass(frozen=True)
class _Plan:
    """What a pilot says of the spread of the mean difference, and what is asked of a test."""

    n_units: int
    spread: float
    power: float
    level: float
    sides: int

    @classmethod
    def of(
        cls, differences: Any, groups: Any, power: Any, confidence_level: Any, alternative: Any
    ) -> _Plan:
        level = check_confidence_level(confidence_level)
        power = check_share("power", power, "For 80 % pass 0.8.")
        check_choice("alternative", alternative, _ALTERNATIVES)
        x = _numbers(differences, "differences")
        codes, _ = (
            (np.arange(len(x)), None) if groups is None else check_labels(groups, len(x), "groups")
        )
        of_unit = np.bincount(codes, x - x.mean())
        n_units = len(of_unit)
        if n_units < 2:
            raise ValueError(f"`groups` must hold at least 2 clusters, got {n_units}.")
        spread = n_units * math.sqrt(float(of_unit @ of_unit) / (n_units - 1)) / len(x)
        if spread <= 1e-12 * float(np.abs(x).max()):
            raise ValueError(
                "`differences` must vary between units, got the same mean in all: nothing tells "
                "how far more of them would spread."
            )
        return cls(n_units, spread, power, level, 2 if alternative == "two-sided" else 1)

    def std_error(self, n_units: int) -> float:
        return self.spread / math.sqrt(n_units)

    def power_at(self, shift: float, n_units: int) -> float:
        """Power where the true difference is ``shift`` standard errors."""
        critical = float(stats.t.isf((1 - self.level) / self.sides, n_units - 1))
        with np.errstate(all="ignore"):
            found = float(stats.nct.sf(critical, n_units - 1, shift))
            if self.sides == 2 and shift < 8:  # beyond, the other tail has less than 1e-15
                found += float(stats.nct.sf(critical, n_units - 1, -shift))
        return found


def _correlation(ratio: float, size: float) -> float:
    return 1.0 if math.isinf(ratio) else float((ratio - 1) / (ratio - 1 + size))


def _numbers(values: Any, name: str) -> NDArray[np.float64]:
    array = plain(values)
    if array.ndim != 1 or len(array) < 2 or array.dtype.kind not in "biuf":
        raise ValueError(
            f"`{name}` must hold a number for each of at least 2 rows, got an array of shape "
            f"{array.shape} and type {array.dtype}."
        )
    check_finite(array, f"`{name}`")
    return array.astype(np.float64)


def _positive(name: str, value: Any) -> float:
    number = isinstance(value, numbers.Real) and not isinstance(value, bool)
    if not number or not 0 < abs(float(value)) < math.inf:
        raise ValueError(f"`{name}` must be a finite number other than 0, got {value!r}.")
    return abs(float(value))


def _count(name: str, value: Any) -> int:
    if not is_integer(value, 2):
        raise ValueError(f"`{name}` must be a whole number of at least 2, got {value!r}.")
    return int(value)
