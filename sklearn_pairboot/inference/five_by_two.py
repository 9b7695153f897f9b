"""The combined F test of two methods on five repeats of two-fold cross-validation."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from sklearn_pairboot._scoring.checks import check_confidence_level, check_finite, plain_columns
from sklearn_pairboot.inference._checks import ROUNDING


@dataclass(frozen=True)
class FiveByTwoResult:
    """Outcome of `five_by_two_cv_f_test`.

    Parameters
    ----------
    estimate : float
        Mean of the ten differences.
    statistic : float
        F; 0 where all differences are zero, infinite where only those within repeats are equal.
    p_value : float
        Two-sided. 1 where all differences are zero; NaN where both differences of every repeat
        are equal but not zero: nothing estimates their spread.
    ci_low : float
        Lower end of the interval that inverts the test. NaN where the test rejects every common
        difference, because the repeats differ far more than the folds within them.
    ci_high : float
        Upper end of that interval, NaN with ``ci_low``.
    variant : str
        ``"5x2 cv F"``.
    df : tuple of (int, int)
        Degrees of freedom of F, 10 and 5.

    Examples
    --------
    >>> from sklearn_pairboot.inference import five_by_two_cv_f_test
    >>> five_by_two_cv_f_test([[0.1, 0.2], [0.1, 0], [0, 0.1], [0.2, 0.1], [0.1, 0]]).df
    (10, 5)
    """

    estimate: float
    statistic: float
    p_value: float
    ci_low: float
    ci_high: float
    variant: str
    df: tuple[int, int]


def five_by_two_cv_f_test(
    differences: ArrayLike, *, confidence_level: float = 0.95
) -> FiveByTwoResult:
    """Test two learning methods on five repeats of two-fold cross-validation.

    Within a repeat the two folds share no training rows, so that their difference measures the
    spread without the overlap that misleads the usual t test. Other than a bootstrap of test
    rows, the test is about the methods: models trained on other rows of the same kind, half as
    many as there are.

    Parameters
    ----------
    differences : array-like of shape (5, 2)
        Score of one method less that of the other, in the rows the five repeats, in the columns
        the two folds of each.
    confidence_level : float, default=0.95
        Level of the interval, in (0, 1).

    Returns
    -------
    FiveByTwoResult
        With ``estimate``, ``statistic``, ``p_value``, ``ci_low``, ``ci_high``, ``variant`` and
        ``df``.

    See Also
    --------
    corrected_resampled_ttest : For other numbers of folds and repeats.

    Notes
    -----
    With the differences ``d_ij`` of repeat ``i`` and fold ``j``, their mean ``m_i`` in the repeat
    and ``s2_i = (d_i1 - m_i)^2 + (d_i2 - m_i)^2``, the statistic is
    ``F = sum d_ij^2 / (2 sum s2_i)``, compared with the F distribution of 10 and 5 degrees of
    freedom [1]_. It uses all ten differences, where the t test of [2]_ uses one of them above the
    line. Both are approximate: the ten differences are not independent.

    F has no direction, so there is no one-sided form. The interval holds every common difference
    ``d`` that the same test, applied to ``d_ij - d``, does not reject; it excludes 0 exactly
    where the test rejects.

    References
    ----------
    .. [1] E. Alpaydin (1999). "Combined 5 x 2 cv F test for comparing supervised classification
       learning algorithms". Neural Computation 11, 1885-1892.
    .. [2] T. G. Dietterich (1998). "Approximate statistical tests for comparing supervised
       classification learning algorithms". Neural Computation 10, 1895-1923.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.dummy import DummyClassifier
    >>> from sklearn.model_selection import RepeatedStratifiedKFold, cross_val_score
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from sklearn_pairboot.inference import five_by_two_cv_f_test
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> cv = RepeatedStratifiedKFold(n_splits=2, n_repeats=5, random_state=0)
    >>> old = cross_val_score(DummyClassifier(), X, y, cv=cv)
    >>> new = cross_val_score(DecisionTreeClassifier(max_depth=1, random_state=0), X, y, cv=cv)
    >>> test = five_by_two_cv_f_test((new - old).reshape(5, 2))
    >>> bool(test.p_value < 0.001)
    True
    """
    level = check_confidence_level(confidence_level)
    values = plain_columns(differences)
    if values.shape != (5, 2) or values.dtype.kind not in "iuf":
        raise ValueError(
            "`differences` must be numbers of shape (5, 2), five repeats of two folds, got shape "
            f"{values.shape} of dtype {values.dtype}. Ten scores of RepeatedKFold(n_splits=2, "
            "n_repeats=5) become that by .reshape(5, 2)."
        )
    check_finite(values, "`differences`", "Leaving out folds would bias the test.")
    values = np.ascontiguousarray(values, dtype=np.float64)  # one order of adding up
    within = values - values.mean(axis=1, keepdims=True)
    within[np.abs(within) <= ROUNDING * np.abs(values).max()] = 0.0
    spread = float((within**2).sum())
    estimate = float(values.mean())
    fisher = stats.f(10, 5)
    if spread > 0:
        statistic = float((values**2).sum()) / (2 * spread)
        p_value = float(fisher.sf(statistic))
        room = 2 * spread * float(fisher.isf(1 - level)) - float(((values - estimate) ** 2).sum())
        half = math.sqrt(room / 10) if room >= 0 else math.nan
    else:
        nothing = not values.any()
        statistic, p_value = (0.0, 1.0) if nothing else (math.inf, math.nan)
        half = 0.0 if np.ptp(values) <= ROUNDING * np.abs(values).max() else math.nan
    return FiveByTwoResult(
        estimate=estimate,
        statistic=statistic,
        p_value=p_value,
        ci_low=estimate - half,
        ci_high=estimate + half,
        variant="5x2 cv F",
        df=(10, 5),
    )
