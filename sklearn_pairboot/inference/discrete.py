"""Tarone's correction of several tests whose p-values cannot be arbitrarily small."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sklearn_pairboot._scoring.checks import (
    check_choice,
    check_finite,
    check_length,
    check_share,
    plain,
)

FloatArray = NDArray[np.float64]
_VARIANTS = ("tarone", "tarone-holm")


@dataclass(frozen=True, eq=False)
class TaroneResult:
    """Outcome of `tarone_correction`.

    Parameters
    ----------
    p_adjusted : ndarray of shape (n_tests,)
        Adjusted p-values, to be compared with this ``alpha`` only.
    rejected : ndarray of shape (n_tests,)
        Where they are at most ``alpha``.
    testable : ndarray of shape (n_tests,)
        Which tests could have been rejected at all, at the corrected level.
    threshold : float
        The corrected level, ``alpha / factor``.
    factor : int
        What ``alpha`` is divided by; the number of tests for Bonferroni.
    n_testable : int
        How many tests could have been rejected.
    variant : str
        ``"tarone"`` or ``"tarone-holm"``.
    alpha : float
        The level of the family.

    Examples
    --------
    >>> from sklearn_pairboot.inference import tarone_correction
    >>> tarone_correction([0.01, 0.5], [0.001, 0.25]).factor
    1
    """

    p_adjusted: FloatArray
    rejected: NDArray[np.bool_]
    testable: NDArray[np.bool_]
    threshold: float
    factor: int
    n_testable: int
    variant: str
    alpha: float


def tarone_correction(
    p_values: ArrayLike,
    p_mins: ArrayLike,
    *,
    alpha: float = 0.05,
    variant: str = "tarone",
) -> TaroneResult:
    """Adjust p-values of tests of which some could never have become significant.

    An exact test on three rows that separate the models cannot give a p-value below 1/4. Such
    tests cannot err, so the others need not pay for them, as they do with Bonferroni.

    Parameters
    ----------
    p_values : array-like of shape (n_tests,)
        P-values of exact tests, such as ``p_value`` of `mcnemar_test` on each of many benchmarks.
    p_mins : array-like of shape (n_tests,)
        Smallest p-value that each test could have given, such as ``p_min`` there. It must not
        depend on which models were right, only on how many rows separate them.
    alpha : float, default=0.05
        Bound of the probability that any true null hypothesis is rejected, in (0, 1).
    variant : {"tarone", "tarone-holm"}, default="tarone"
        ``"tarone-holm"`` goes on with the tests that remain after a rejection, as Holm does. It
        rejects all that ``"tarone"`` does, and sometimes more.

    Returns
    -------
    TaroneResult
        With ``p_adjusted``, ``rejected``, ``testable``, ``threshold``, ``factor``, ``n_testable``,
        ``variant`` and ``alpha``.

    See Also
    --------
    mcnemar_test : Exact test of one benchmark's rows, with ``p_min``.
    sign_test : One test over all benchmarks.

    Notes
    -----
    ``factor`` is the smallest ``K`` such that no more than ``K`` tests have ``p_min <= alpha / K``,
    and tests with ``p <= alpha / K`` are rejected [1]_; the adjusted p-values are ``min(1, K p)``.
    Since ``K`` depends on ``alpha`` they hold at this level alone: a larger one may even reject
    less. The tests may depend on each other in any way.

    The step-down form [2]_ removes the rejected tests, finds ``K`` of the rest, and goes on until
    nothing more is rejected. ``factor``, ``threshold`` and ``testable`` are those of the first
    step.

    References
    ----------
    .. [1] R. E. Tarone (1990). "A modified Bonferroni method for discrete data". Biometrics 46,
       515-522.
    .. [2] G. Hommel and F. Krummenauer (1998). "Improvements and modifications of Tarone's
       multiple test procedure for discrete data". Biometrics 54, 673-681.

    Examples
    --------
    Four benchmarks, on two of which only a handful of rows separate the models:

    >>> from sklearn_pairboot.inference import mcnemar_test, tarone_correction
    >>> counts = [(3, 15), (0, 4), (1, 2), (10, 12)]  # only a right, only b right
    >>> tests = [mcnemar_test([[50, a], [b, 5]]) for a, b in counts]
    >>> corrected = tarone_correction([t.p_value for t in tests], [t.p_min for t in tests])
    >>> corrected.factor, corrected.testable.tolist()
    (2, [True, False, False, True])
    >>> corrected.p_adjusted.round(3).tolist()
    [0.015, 0.25, 1.0, 1.0]
    """
    check_choice("variant", variant, _VARIANTS)
    alpha = check_share("alpha", alpha, "For 5 % pass 0.05.")
    p = _check_p_values(p_values, "p_values")
    least = _check_p_values(p_mins, "p_mins")
    check_length(least, len(p), "`p_mins`")
    impossible = np.flatnonzero(p < least * (1 - 1e-9))
    if impossible.size:
        test = int(impossible[0])
        raise ValueError(
            f"`p_values` must not lie below `p_mins`, got {p[test]:g} below {least[test]:g} in "
            f"test {test}."
        )
    factor = _factor(least, alpha)
    adjusted = np.minimum(factor * p, 1.0)
    if variant == "tarone-holm":
        remaining = adjusted > alpha
        step = factor
        while remaining.any():
            smaller = _factor(least[remaining], alpha)
            if smaller == step:
                break
            step = smaller
            # Rejected later: not before what was rejected earlier.
            floor = adjusted[~remaining].max(initial=0.0)
            adjusted[remaining] = np.minimum(np.maximum(step * p[remaining], floor), 1.0)
            remaining = adjusted > alpha
    testable = factor * least <= alpha
    return TaroneResult(
        p_adjusted=adjusted,
        rejected=adjusted <= alpha,
        testable=testable,
        threshold=alpha / factor,
        factor=factor,
        n_testable=int(testable.sum()),
        variant=variant,
        alpha=alpha,
    )


def _factor(p_mins: FloatArray, alpha: float) -> int:
    """Smallest K with no more than K tests that can reach alpha / K."""
    factor = 1
    while (factor * p_mins <= alpha).sum() > factor:
        factor += 1
    return factor


def _check_p_values(values: ArrayLike, name: str) -> FloatArray:
    array = plain(values)
    if array.ndim != 1 or len(array) == 0 or array.dtype.kind not in "iuf":
        raise ValueError(
            f"`{name}` must be a one-dimensional array of numbers, one for each test, got shape "
            f"{array.shape} of dtype {array.dtype}."
        )
    check_finite(array, f"`{name}`", "Leave out tests that were not made.")
    array = array.astype(np.float64)
    if ((array <= 0) | (array > 1)).any():
        wrong = array[(array <= 0) | (array > 1)][0]
        raise ValueError(
            f"`{name}` must lie above 0, not above 1, got {wrong:g}. Exact tests give no p-value "
            "of 0."
        )
    return array
