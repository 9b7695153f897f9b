"""Error levels for looking more than once at a test set that grows."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import optimize
from scipy.special import ndtr, ndtri

from sklearn_pairboot._engine.seeds import is_integer
from sklearn_pairboot._scoring.checks import check_choice, check_share, plain
from sklearn_pairboot._tables.numbers import format_percent

_SPENDING = ("obrien-fleming", "pocock")
_ALTERNATIVES = ("two-sided", "one-sided")
_MOST_LOOKS = 50
# Beyond this many standard errors a boundary is out of reach: the tail is below 1e-300.
_OUT_OF_REACH = 37.0


@dataclass(frozen=True)
class GroupSequentialLevels:
    """Outcome of `group_sequential_levels`, with one entry a look in each array.

    Parameters
    ----------
    fractions : tuple of float
        Share of all the planned data that each look sees.
    spent : tuple of float
        Probability of an error at this look or before.
    critical_values : tuple of float
        What the estimate over its standard error has to exceed.
    alphas : tuple of float
        What the p-value of that look has to be at most, of the alternative planned for.
    confidence_levels : tuple of float
        ``1 - alphas``: the ``confidence_level`` of that look's comparison.
    spending : str
        The spending function.
    alternative : str
        ``"two-sided"`` or ``"one-sided"``.

    Examples
    --------
    >>> from sklearn_pairboot.planning import group_sequential_levels
    >>> group_sequential_levels(2).fractions
    (0.5, 1.0)
    """

    fractions: tuple[float, ...]
    spent: tuple[float, ...]
    critical_values: tuple[float, ...]
    alphas: tuple[float, ...]
    confidence_levels: tuple[float, ...]
    spending: str
    alternative: str

    def __str__(self) -> str:
        looks = (
            f"  {format_percent(round(fraction, 3))} of the data: p <= {alpha:.3g}, "
            f"beyond {critical:.3g} standard errors"
            for fraction, alpha, critical in zip(
                self.fractions, self.alphas, self.critical_values, strict=True
            )
        )
        heading = (
            f"Looks at a growing test set ({self.alternative}, {self.spending} spending), "
            f"{self.spent[-1]:.3g} of error in all:"
        )
        return "\n".join([heading, *looks])


def group_sequential_levels(
    looks: Any,
    *,
    alpha: float = 0.05,
    spending: str = "obrien-fleming",
    alternative: str = "two-sided",
) -> GroupSequentialLevels:
    """Give the confidence level of each of several planned looks at a growing test set.

    Two equal models that are compared at the 5 % level after each of five batches of rows come
    out as different in 14 % of the cases. With these levels they do so in 5 %, whichever look
    ends the comparison.

    Parameters
    ----------
    looks : int or array-like of shape (n_looks,)
        Number of looks, after equal batches; or the share of all planned rows, or clusters, that
        each look sees, ascending, the last one 1. At most 50 looks.
    alpha : float, default=0.05
        Probability of an error over all looks together, in (0, 0.5).
    spending : {"obrien-fleming", "pocock"}, default="obrien-fleming"
        How the error is spread. ``"obrien-fleming"`` asks for overwhelming evidence at early looks
        and leaves the last one almost all of ``alpha``; ``"pocock"`` is about even.
    alternative : {"two-sided", "one-sided"}, default="two-sided"
        Whether each look tests both directions or one.

    Returns
    -------
    GroupSequentialLevels
        With ``fractions``, ``spent``, ``critical_values``, ``alphas``, ``confidence_levels``,
        ``spending`` and ``alternative``.

    See Also
    --------
    required_units : How many rows the last look should have, a little more with early looks.
    sklearn_pairboot.compare_scores : Pass it ``confidence_level=levels.confidence_levels[k]``.

    Notes
    -----
    Decide on the looks before the first one. The last should have all the planned data; a look
    that is left out is simply not counted on, and one that is added needs levels of its own.
    ``spent`` follows the functions of Lan and DeMets [1]_: on each side
    ``2 - 2 Phi(z / sqrt(t))``, with ``z`` the normal quantile of 1 - (error of the side) / 2, after
    O'Brien and Fleming; ``alpha log(1 + (e - 1) t)`` after Pocock. The critical values follow by
    the recursive integration of Armitage, McPherson and Rowe [2]_. They are exact for a normal
    estimate whose batches are independent, which means and other metrics are for many units.
    Very small ``alphas`` need many resamples, at least ``2 / alpha - 1``: where an early look of
    ``"obrien-fleming"`` asks for too many, look later or take ``"pocock"``.

    The same test set reused for many unplanned comparisons, and for choosing models, is no sequence
    of looks: no level repairs that, only fresh rows do.

    References
    ----------
    .. [1] K. K. G. Lan and D. L. DeMets (1983). "Discrete sequential boundaries for clinical
       trials". Biometrika 70, 659-663.
    .. [2] P. Armitage, C. K. McPherson and B. C. Rowe (1969). "Repeated significance tests on
       accumulating data". Journal of the Royal Statistical Society A 132, 235-244.

    Examples
    --------
    >>> from sklearn_pairboot.planning import group_sequential_levels
    >>> levels = group_sequential_levels(5)
    >>> [round(value, 3) for value in levels.critical_values]
    [4.877, 3.357, 2.68, 2.29, 2.031]
    >>> round(levels.confidence_levels[2], 4)
    0.9926
    """
    fractions = _fractions(looks)
    total = check_share("alpha", alpha, "For 5 % pass 0.05.")
    if total >= 0.5:
        raise ValueError(f"`alpha` must be below 0.5, got {alpha!r}. For 5 % pass 0.05.")
    check_choice("spending", spending, _SPENDING)
    check_choice("alternative", alternative, _ALTERNATIVES)
    sides = 2 if alternative == "two-sided" else 1
    spent = sides * _spend(fractions, total / sides, spending)
    critical = _critical_values(fractions, np.diff(spent, prepend=0.0), sides)
    alphas = sides * ndtr(-critical)
    return GroupSequentialLevels(
        fractions=tuple(fractions.tolist()),
        spent=tuple(spent.tolist()),
        critical_values=tuple(critical.tolist()),
        alphas=tuple(alphas.tolist()),
        confidence_levels=tuple((1 - alphas).tolist()),
        spending=spending,
        alternative=alternative,
    )


def _spend(fractions: NDArray[np.float64], alpha: float, spending: str) -> NDArray[np.float64]:
    """Error of one side that may be spent by each fraction of the data."""
    if spending == "pocock":
        found: NDArray[np.float64] = alpha * np.log1p((math.e - 1) * fractions)
    else:
        found = 2 * ndtr(ndtri(alpha / 2) / np.sqrt(fractions))
    return found


def _critical_values(
    fractions: NDArray[np.float64], errors: NDArray[np.float64], sides: int
) -> NDArray[np.float64]:
    """Find boundaries of a random walk that are first crossed with these probabilities.

    The walk is a sum of independent batches with variance equal to the fraction. ``density`` is
    that of its value at the last look where no boundary has been crossed so far, at Gaussian
    ``nodes`` between them.
    """
    nodes, density = np.zeros(1), np.ones(1)  # at the start the walk is at 0
    weights = np.ones(1)
    steps = np.sqrt(np.diff(fractions, prepend=0.0))
    critical = np.empty(len(fractions))
    for look, (fraction, step, error) in enumerate(zip(fractions, steps, errors, strict=True)):
        root = math.sqrt(fraction)

        def crossed(value: float) -> float:
            beyond = ndtr((nodes - value * root) / step)  # noqa: B023
            if sides == 2:
                beyond = beyond + ndtr((-value * root - nodes) / step)  # noqa: B023
            return float(weights @ (density * beyond))  # noqa: B023

        critical[look] = _solved(crossed, error)
        high = critical[look] * root
        low = -high if sides == 2 else -9.0 * root
        # The density varies over this step, and is next smoothed by another.
        shortest = steps[look : look + 2].min()
        number = int(min(1000, max(64, 4 * (high - low) / shortest)))
        unit, unit_weights = np.polynomial.legendre.leggauss(number)
        further = (low + high) / 2 + (high - low) / 2 * unit
        distance = (further[:, np.newaxis] - nodes) / step
        kernel = np.exp(-(distance**2) / 2) / (step * math.sqrt(2 * math.pi))
        density = kernel @ (weights * density)
        nodes, weights = further, (high - low) / 2 * unit_weights
    return critical


def _solved(crossed: Callable[[float], float], error: float) -> float:
    if crossed(_OUT_OF_REACH) >= error:
        return _OUT_OF_REACH
    return float(
        optimize.brentq(lambda value: crossed(value) - error, 0.0, _OUT_OF_REACH, xtol=1e-12)
    )


def _fractions(looks: Any) -> NDArray[np.float64]:
    if is_integer(looks, least=1):
        number = int(looks)
        if number > _MOST_LOOKS:
            raise ValueError(f"`looks` must be at most {_MOST_LOOKS}, got {looks!r}.")
        return np.arange(1, number + 1) / number
    given = plain(looks)
    if given.ndim != 1 or not 1 <= len(given) <= _MOST_LOOKS or given.dtype.kind not in "iuf":
        raise ValueError(
            "`looks` must be a number of looks, at least 1, or the share of the data that each "
            f"look sees, got {looks!r}."
        )
    fractions = given.astype(np.float64)
    if not (np.all(np.diff(fractions, prepend=0.0) > 0) and fractions[-1] == 1):
        raise ValueError(
            f"`looks` must be ascending shares of the data, above 0 and ending with 1, got "
            f"{looks!r}. For looks after 100, 200 and 400 rows pass [0.25, 0.5, 1]."
        )
    return fractions
