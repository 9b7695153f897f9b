"""DeLong's test of areas under the ROC curve on the same rows."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from sklearn_pairboot._scoring.checks import check_confidence_level
from sklearn_pairboot.inference._checks import (
    check_alternative,
    named_columns,
    normal_p_value,
    normal_quantile,
    one_or_two_sided,
)
from sklearn_pairboot.inference._delong_input import (
    cluster_numbers,
    contrast_weights,
    positive_rows,
    score_table,
)
from sklearn_pairboot.inference._placements import combine, joint_chi_square, placements

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class AUCEstimate:
    """One model's area under the ROC curve, in `DeLongResult`.

    Parameters
    ----------
    model : str
        Name of the model.
    estimate : float
        Area under the curve, ties counted half.
    std_error : float
        Its standard error; 0 where the scores separate the classes without exception.
    ci_low : float
        Lower end of the two-sided normal interval, not below 0.
    ci_high : float
        Upper end of that interval, not above 1.

    Examples
    --------
    >>> from sklearn_pairboot.inference import delong_test
    >>> y_true = [0, 0, 1, 1]
    >>> delong_test(y_true, {"old": [1, 3, 2, 4], "new": [1, 2, 3, 4]}).aucs[0].estimate
    0.75
    """

    model: str
    estimate: float
    std_error: float
    ci_low: float
    ci_high: float


@dataclass(frozen=True)
class AUCContrast:
    """A difference of areas under the ROC curve, in `DeLongResult`.

    Parameters
    ----------
    name : str
        Such as ``"new - old"``.
    estimate : float
        The difference.
    std_error : float
        Its standard error.
    statistic : float
        ``z``, the estimate divided by its standard error; 0 where both are 0, infinite where only
        the standard error is.
    p_value : float
        Not adjusted for the number of contrasts. NaN where ``statistic`` is infinite.
    ci_low : float
        Lower end of the normal interval, infinite for the alternative "less".
    ci_high : float
        Upper end of that interval, infinite for the alternative "greater".

    Examples
    --------
    >>> from sklearn_pairboot.inference import delong_test
    >>> y_true = [0, 0, 1, 1]
    >>> delong_test(y_true, {"old": [1, 3, 2, 4], "new": [1, 2, 3, 4]}).contrasts[0].name
    'new - old'
    """

    name: str
    estimate: float
    std_error: float
    statistic: float
    p_value: float
    ci_low: float
    ci_high: float


@dataclass(frozen=True)
class DeLongResult:
    """Outcome of `delong_test`.

    Parameters
    ----------
    estimate : float
        The difference, where there is one; with several, the one furthest from 0.
    statistic : float
        ``z`` of a single difference; chi-square of several.
    p_value : float
        Of the single difference, or that all of several are zero. NaN where a combination of
        areas is not zero but has no variance, as between perfect scores and constant ones.
    ci_low : float
        Lower end of the interval of a single difference. NaN with several, since that of
        ``estimate`` was picked by the data: their intervals are in ``contrasts``.
    ci_high : float
        Upper end of that interval, NaN with several.
    variant : str
        ``"DeLong"``, or ``"DeLong, clusters after Obuchowski"``.
    aucs : tuple of AUCEstimate
        One a model.
    contrasts : tuple of AUCContrast
        One a difference.
    df : int
        Degrees of freedom of the chi-square: differences that do not follow from others.
    covariance : ndarray of shape (n_models, n_models)
        Covariance matrix of the areas.
    n_positive : int
        Rows of the positive class.
    n_negative : int
        Rows of the other class.
    n_units : int
        Clusters, or rows where there are none.

    Examples
    --------
    >>> from sklearn_pairboot.inference import delong_test
    >>> y_true = [0, 0, 1, 1]
    >>> delong_test(y_true, {"old": [1, 3, 2, 4], "new": [1, 2, 3, 4]}).estimate
    0.25
    """

    estimate: float
    statistic: float
    p_value: float
    ci_low: float
    ci_high: float
    variant: str
    aucs: tuple[AUCEstimate, ...]
    contrasts: tuple[AUCContrast, ...]
    df: int
    covariance: FloatArray = field(repr=False, compare=False)
    n_positive: int
    n_negative: int
    n_units: int


def delong_test(
    y_true: ArrayLike,
    scores: Any,
    *,
    groups: ArrayLike | None = None,
    pos_label: Any = None,
    contrasts: ArrayLike | None = None,
    alternative: str = "two-sided",
    confidence_level: float = 0.95,
) -> DeLongResult:
    """Test two or more models' areas under the ROC curve on the same rows.

    Models are taken as trained; what varies is which rows are drawn. The test is about areas: two
    curves that cross may have equal ones. It is asymptotic, and models nested in each other, one
    with a feature more that does nothing, are outside its theory.

    Parameters
    ----------
    y_true : array-like of shape (n_rows,)
        True labels of two classes. With a single row of one of them the areas are given, but
        have no variance: errors and p-values are NaN, and ``variant`` says why.
    scores : mapping or dataframe
        Names of two or more models and their scores for the rows, the baseline first. Higher
        scores speak for the positive class. Only the order of a model's scores counts.
    groups : array-like of shape (n_rows,), default=None
        Clusters of rows that are not independent of each other, such as patients. Without them
        rows count as independent.
    pos_label : label, default=None
        The positive class; needed unless the labels are 0 and 1, -1 and 1, or booleans.
    contrasts : array-like of shape (n_contrasts, n_models), default=None
        Weights of the models in each difference to test, each row adding up to 0. By default
        every other model less the baseline.
    alternative : {"two-sided", "greater", "less"}, default="two-sided"
        ``"greater"``: the difference is positive, the other model has a larger area than the
        baseline; ``"less"``: it is negative. The joint test of several differences has no
        direction.
    confidence_level : float, default=0.95
        Level of all intervals, in (0, 1).

    Returns
    -------
    DeLongResult
        With ``estimate``, ``statistic``, ``p_value``, ``ci_low``, ``ci_high``, ``variant``,
        ``aucs``, ``contrasts``, ``df``, ``covariance``, ``n_positive``, ``n_negative`` and
        ``n_units``.

    See Also
    --------
    sklearn_pairboot.compare_predictions : Bootstrap of this and other metrics.

    Notes
    -----
    The placement of a positive is the share of negatives with a lower score, ties counted half;
    that of a negative the share of positives with a higher one. Their means are the area. With
    ``S10`` and ``S01`` the covariance matrices, across models, of the ``m`` positives' and the
    ``n`` negatives' placements, the covariance of the areas is ``S = S10 / m + S01 / n`` [1]_;
    placements come from mid-ranks, in the time of one sort a model [2]_. Differences ``L A`` with
    weights ``L`` are compared with the normal distribution one by one, and together by
    ``(L A)' (L S L')^- (L A)`` with a chi-square distribution of as many degrees of freedom as
    ``L S L'`` has rank. Models that rank all rows alike have difference 0 and p-value 1.

    With clusters [3]_ placements about their mean are added up in each cluster, ``a_i`` of its
    positives and ``b_i`` of its negatives, and
    ``S = f10 sum a_i a_i' / m^2 + f01 sum b_i b_i' / n^2 + f sum (a_i b_i' + b_i a_i') / (m n)``,
    where each ``f`` is ``I / (I - 1)`` of the number of clusters with positives, with negatives,
    and of all. With few clusters the normal distribution is too optimistic.

    Where the scores separate the classes without exception the area is 1 and its standard error
    0. That is no certainty about other rows.

    References
    ----------
    .. [1] E. R. DeLong, D. M. DeLong and D. L. Clarke-Pearson (1988). "Comparing the areas under
       two or more correlated receiver operating characteristic curves: a nonparametric
       approach". Biometrics 44, 837-845.
    .. [2] X. Sun and W. Xu (2014). "Fast implementation of DeLong's algorithm for comparing the
       areas under correlated receiver operating characteristic curves". IEEE Signal Processing
       Letters 21, 1389-1393.
    .. [3] N. A. Obuchowski (1997). "Nonparametric analysis of clustered ROC curve data".
       Biometrics 53, 567-578.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_pairboot.inference import delong_test
    >>> rng = np.random.default_rng(0)
    >>> y_true = np.arange(200) % 2
    >>> signal = y_true + rng.normal(size=200)
    >>> scores = {"old": signal + rng.normal(size=200), "new": signal}
    >>> test = delong_test(y_true, scores)
    >>> [(row.model, round(row.estimate, 3)) for row in test.aucs]
    [('old', 0.745), ('new', 0.804)]
    >>> round(test.estimate, 3), round(test.ci_low, 3), round(test.p_value, 4)
    (0.059, 0.005, 0.0311)
    """
    check_alternative(alternative)
    level = check_confidence_level(confidence_level)
    arrays = named_columns(scores, "scores")
    positive = positive_rows(y_true, pos_label)
    values = score_table(arrays, len(positive))
    unit = None if groups is None else cluster_numbers(groups, positive)
    names, weights = contrast_weights(contrasts, tuple(arrays))
    placed = placements(values, positive)
    alone = combine(placed, np.eye(len(values)), unit)
    combined = combine(placed, weights, unit)
    aucs = tuple(
        _auc(model, estimate, error, level)
        for model, estimate, error in zip(
            arrays, alone.estimates.tolist(), _errors(alone.root), strict=True
        )
    )
    rows = tuple(
        _contrast(name, estimate, error, alternative, level)
        for name, estimate, error in zip(
            names, combined.estimates.tolist(), _errors(combined.root), strict=True
        )
    )
    chi_square, df = joint_chi_square(combined)
    statistic, p_value, low, high = chi_square, math.nan, math.nan, math.nan
    if len(rows) == 1:
        row = rows[0]
        statistic, p_value, low, high = row.statistic, row.p_value, row.ci_low, row.ci_high
    elif math.isfinite(chi_square):
        p_value = float(stats.chi2.sf(chi_square, df)) if df else 1.0
    n_positive, n_negative = placed.class_sizes
    return DeLongResult(
        estimate=max((row.estimate for row in rows), key=abs),
        statistic=statistic,
        p_value=p_value,
        ci_low=low,
        ci_high=high,
        variant=_variant(unit is None, n_positive, n_negative),
        aucs=aucs,
        contrasts=rows,
        df=df,
        covariance=alone.root.T @ alone.root,
        n_positive=n_positive,
        n_negative=n_negative,
        n_units=len(positive) if unit is None else int(unit.max()) + 1,
    )


def _variant(of_rows: bool, n_positive: int, n_negative: int) -> str:
    name = "DeLong" if of_rows else "DeLong, clusters after Obuchowski"
    if min(n_positive, n_negative) > 1:
        return name
    which = "positive" if n_positive == 1 else "negative"
    return f"{name}; no variance, since there is one {which} row"


def _errors(root: FloatArray) -> list[float]:
    errors: list[float] = np.sqrt((root**2).sum(axis=0)).tolist()
    return errors


def _auc(model: str, estimate: float, std_error: float, level: float) -> AUCEstimate:
    margin = normal_quantile(level, "two-sided") * std_error
    return AUCEstimate(
        model, estimate, std_error, max(estimate - margin, 0.0), min(estimate + margin, 1.0)
    )


def _contrast(
    name: str, estimate: float, std_error: float, alternative: str, level: float
) -> AUCContrast:
    if math.isnan(std_error):
        statistic, p_value = math.nan, math.nan
    elif std_error > 0:
        statistic = estimate / std_error
        p_value = normal_p_value(statistic, alternative)
    elif estimate == 0:
        statistic, p_value = 0.0, 1.0
    else:
        statistic, p_value = math.copysign(math.inf, estimate), math.nan
    margin = normal_quantile(level, alternative) * std_error
    low, high = one_or_two_sided(estimate - margin, estimate + margin, alternative)
    return AUCContrast(name, estimate, std_error, statistic, p_value, low, high)
