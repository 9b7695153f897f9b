"""The corrected resampled t test of two methods' scores on the splits of a cross-validation."""

from __future__ import annotations

import math
import numbers
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from sklearn_pairboot._scoring.checks import check_confidence_level
from sklearn_pairboot.inference._checks import ROUNDING, check_alternative, one_or_two_sided


@dataclass(frozen=True)
class CorrectedTTestResult:
    """Outcome of `corrected_resampled_ttest`.

    Parameters
    ----------
    estimate : float
        Mean of the differences.
    statistic : float
        Estimate divided by its standard error; infinite where all differences are equal and not
        zero.
    p_value : float
        NaN where all differences are equal and not zero: nothing estimates their spread.
    ci_low : float
        Lower end of the confidence interval, infinite for the alternative "less".
    ci_high : float
        Upper end of the confidence interval, infinite for the alternative "greater".
    variant : str
        ``"corrected resampled t"``.
    df : int
        Degrees of freedom, the number of differences less one.
    std_error : float
        Standard error of the estimate, with the correction.

    Examples
    --------
    >>> from sklearn_pairboot.inference import corrected_resampled_ttest
    >>> corrected_resampled_ttest([0.1, 0.2, 0.0], n_train=2, n_test=1).variant
    'corrected resampled t'
    """

    estimate: float
    statistic: float
    p_value: float
    ci_low: float
    ci_high: float
    variant: str
    df: int
    std_error: float


def corrected_resampled_ttest(
    differences: ArrayLike,
    *,
    n_train: float,
    n_test: float,
    alternative: str = "two-sided",
    confidence_level: float = 0.95,
) -> CorrectedTTestResult:
    """Test two learning methods by their differences on the splits of a cross-validation.

    Scores of different splits share training rows, so the usual standard error of their mean is
    far too small. The correction of Nadeau and Bengio enlarges it by the ratio of test to
    training rows. Other than a bootstrap of test rows, the test is about the methods: models
    trained on other rows of the same kind.

    Parameters
    ----------
    differences : array-like of shape (n_splits,)
        Score of one method less that of the other on each split, at least two.
    n_train : float
        Number of training rows of a split, their mean where splits differ.
    n_test : float
        Number of test rows of a split, their mean where splits differ.
    alternative : {"two-sided", "greater", "less"}, default="two-sided"
        Which mean difference speaks against none: any, a positive, or a negative one.
    confidence_level : float, default=0.95
        Level of the interval, in (0, 1).

    Returns
    -------
    CorrectedTTestResult
        With ``estimate``, ``statistic``, ``p_value``, ``ci_low``, ``ci_high``, ``variant``,
        ``df`` and ``std_error``.

    See Also
    --------
    sklearn_pairboot.compare_estimators : Bootstrap of test rows, for trained models.

    Notes
    -----
    With ``k`` differences of mean ``d`` and variance ``s2`` (denominator ``k - 1``), the
    statistic is ``d / sqrt((1 / k + n_test / n_train) * s2)``, compared with Student's t of
    ``k - 1`` degrees of freedom [1]_. The factor is a heuristic for random splits: no unbiased
    estimate of this variance exists. With few splits the test has little power; repeated
    cross-validation, ten times ten folds, makes it steadier [2]_.

    Where all differences are zero, the p-value is 1. Where they are equal and not zero their
    spread says nothing, and the p-value is NaN.

    References
    ----------
    .. [1] C. Nadeau and Y. Bengio (2003). "Inference for the generalization error". Machine
       Learning 52, 239-281.
    .. [2] R. R. Bouckaert and E. Frank (2004). "Evaluating the replicability of significance
       tests for comparing learning algorithms". PAKDD 2004, 3-12.

    Examples
    --------
    >>> from sklearn_pairboot.inference import corrected_resampled_ttest
    >>> differences = [0.02, 0.05, -0.01, 0.03, 0.02]
    >>> test = corrected_resampled_ttest(differences, n_train=80, n_test=20)
    >>> round(test.statistic, 3), round(test.p_value, 3), test.df
    (1.513, 0.205, 4)

    The usual t test would not know that the splits share training rows:

    >>> from scipy.stats import ttest_1samp
    >>> round(float(ttest_1samp(differences, 0).pvalue), 3)
    0.086
    """
    values = _checked(differences)
    ratio = _positive("n_test", n_test) / _positive("n_train", n_train)
    check_alternative(alternative)
    level = check_confidence_level(confidence_level)
    k = len(values)
    estimate = float(values.mean())
    if np.ptp(values) <= ROUNDING * np.abs(values).max():
        estimate = float(values[0])
        statistic = 0.0 if estimate == 0 else math.copysign(math.inf, estimate)
        p_value, std_error, margin = 1.0 if estimate == 0 else math.nan, 0.0, 0.0
    else:
        std_error = math.sqrt((1 / k + ratio) * float(values.var(ddof=1)))
        statistic = estimate / std_error
        student = stats.t(k - 1)
        tail = {
            "two-sided": 2 * student.sf(abs(statistic)),
            "greater": student.sf(statistic),
            "less": student.cdf(statistic),
        }[alternative]
        p_value = float(tail)
        sides = 2 if alternative == "two-sided" else 1
        margin = float(student.isf((1 - level) / sides)) * std_error
    low, high = one_or_two_sided(estimate - margin, estimate + margin, alternative)
    return CorrectedTTestResult(
        estimate=estimate,
        statistic=statistic,
        p_value=p_value,
        ci_low=low,
        ci_high=high,
        variant="corrected resampled t",
        df=k - 1,
        std_error=std_error,
    )


def _checked(differences: ArrayLike) -> NDArray[np.float64]:
    values = np.asarray(differences)
    if values.ndim != 1 or len(values) < 2 or values.dtype.kind not in "iuf":
        raise ValueError(
            "`differences` must be a one-dimensional array of at least 2 numbers, one for each "
            f"split, got shape {values.shape} of dtype {values.dtype}."
        )
    values = values.astype(np.float64)
    bad = np.flatnonzero(~np.isfinite(values)).tolist()
    if bad:
        raise ValueError(
            f"`differences` must be finite, got {len(bad)} missing or infinite, in split(s) "
            f"{', '.join(map(str, bad[:5]))}. Leaving out splits would bias the test."
        )
    return values


def _positive(name: str, value: Any) -> float:
    number = isinstance(value, numbers.Real) and not isinstance(value, bool)
    if not number or not 0 < value < math.inf:
        raise ValueError(f"`{name}` must be a positive number of rows, got {value!r}.")
    return float(value)
