"""What difference a number of rows can show, and how many rows a difference needs."""

from __future__ import annotations

import math
import numbers
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import optimize, stats

from sklearn_pairboot._engine.seeds import is_integer
from sklearn_pairboot._scoring.checks import (
    check_choice,
    check_confidence_level,
    check_labels,
    check_share,
)
from sklearn_pairboot.planning._checks import check_numbers

_ALTERNATIVES = ("two-sided", "greater", "less")
_MOST_UNITS = 10**9


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
        x = check_numbers(differences, "differences")
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


def _positive(name: str, value: Any) -> float:
    number = isinstance(value, numbers.Real) and not isinstance(value, bool)
    if not number or not 0 < abs(float(value)) < math.inf:
        raise ValueError(f"`{name}` must be a finite number other than 0, got {value!r}.")
    return abs(float(value))


def _count(name: str, value: Any) -> int:
    if not is_integer(value, 2):
        raise ValueError(f"`{name}` must be a whole number of at least 2, got {value!r}.")
    return int(value)
