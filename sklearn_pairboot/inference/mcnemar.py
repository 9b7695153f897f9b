"""McNemar's test of two models' accuracies on the same rows."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import ArrayLike
from scipy import optimize, stats

from sklearn_pairboot._scoring.checks import (
    check_choice,
    check_confidence_level,
    check_length,
    check_same_index,
    plain,
)
from sklearn_pairboot.inference._checks import (
    check_alternative,
    check_correctness,
    never_zero,
    normal_p_value,
    normal_quantile,
    one_or_two_sided,
)

_VARIANTS = ("exact", "mid-p", "asymptotic", "corrected")


@dataclass(frozen=True)
class McNemarResult:
    """Outcome of `mcnemar_test`.

    Parameters
    ----------
    estimate : float
        Accuracy of model b less that of model a.
    statistic : float
        ``z``, positive where b is right more often; 0 where no row separates the models.
    p_value : float
        By the variant; 1 where no row separates the models.
    ci_low : float
        Lower end of Tango's score interval of the difference, infinite for the alternative "less".
    ci_high : float
        Upper end of that interval, infinite for the alternative "greater".
    variant : str
        ``"exact"``, ``"mid-p"``, ``"asymptotic"`` or ``"corrected"``.
    n_only_a : int
        Rows that model a alone has right.
    n_only_b : int
        Rows that model b alone has right.
    n_rows : int
        All rows, also those on which the models agree.
    std_error : float
        Standard error of the estimate.
    p_min : float
        Smallest p-value that this many separating rows could give.

    Examples
    --------
    >>> from sklearn_pairboot.inference import mcnemar_test
    >>> mcnemar_test([[40, 12], [33, 15]]).n_only_b
    33
    """

    estimate: float
    statistic: float
    p_value: float
    ci_low: float
    ci_high: float
    variant: str
    n_only_a: int
    n_only_b: int
    n_rows: int
    std_error: float
    p_min: float


def mcnemar_test(
    correct_a: ArrayLike,
    correct_b: ArrayLike | None = None,
    *,
    variant: str = "exact",
    alternative: str = "two-sided",
    confidence_level: float = 0.95,
) -> McNemarResult:
    """Test two models' accuracies by the rows that exactly one of them has right.

    Rows on which the models agree say nothing about which is better. Of the others, as many would
    favour either model if both were equally accurate. Rows count as independent: for clusters of
    rows use `sklearn_pairboot.compare_scores` with ``groups``.

    Parameters
    ----------
    correct_a : array-like of shape (n_rows,) or (2, 2)
        Whether the answers of model a, the baseline, are right: booleans, or 0 and 1; not the
        predictions, which cannot be told from correctness where the labels are 0 and 1.
        Or, without ``correct_b``, the table of counts
        ``[[both right, only a right], [only b right, both wrong]]``. Dataframes are refused,
        because a cross table of booleans begins with ``False``.
    correct_b : array-like of shape (n_rows,), default=None
        Whether the answers of model b are right, on the same rows in the same order.
    variant : {"exact", "mid-p", "asymptotic", "corrected"}, default="exact"
        ``"exact"`` never rejects more often than its level. ``"mid-p"`` counts half of the
        observed table's probability, which has more power and rarely exceeds the level.
        ``"asymptotic"`` compares ``z`` with the normal distribution and may exceed the level.
        ``"corrected"`` first draws the difference of the two counts towards zero by 1.
    alternative : {"two-sided", "greater", "less"}, default="two-sided"
        ``"greater"``: model b is more accurate than a; ``"less"``: it is less accurate.
    confidence_level : float, default=0.95
        Level of the interval, in (0, 1).

    Returns
    -------
    McNemarResult
        With ``estimate``, ``statistic``, ``p_value``, ``ci_low``, ``ci_high``, ``variant``,
        ``n_only_a``, ``n_only_b``, ``n_rows``, ``std_error`` and ``p_min``.

    See Also
    --------
    cochran_q_test : The same question about more than two models.
    sklearn_pairboot.compare_predictions : Intervals of this and of every other metric.

    Notes
    -----
    With ``b`` rows that only model b has right and ``a`` that only model a has right,
    ``z = (b - a) / sqrt(a + b)`` [1]_; corrected, ``|b - a|`` is first lowered by 1, not below 0
    [2]_. The exact p-value is the tail of the binomial distribution of ``b`` among ``a + b`` with
    probability 1/2; the two-sided one is twice the smaller tail, at most 1. The mid-p-value
    leaves out half of the observed point in each tail [3]_.

    The interval of the difference ``d`` is Tango's [4]_: all ``d`` with
    ``|b - a - n d| <= z_q sqrt(n (2 q + d (1 - d)))``, where ``q`` is the likeliest probability
    of "only a right" given ``d``. It excludes 0 exactly where the asymptotic test rejects; the
    exact p-value may lie on the other side of the level when the two are close. Other than
    ``estimate +- 2 std_error`` it has width even where no row separates the models.

    A large p-value does not show that two models are equal: look at what the interval allows.

    References
    ----------
    .. [1] Q. McNemar (1947). "Note on the sampling error of the difference between correlated
       proportions or percentages". Psychometrika 12, 153-157.
    .. [2] A. L. Edwards (1948). "Note on the correction for continuity in testing the
       significance of the difference between correlated proportions". Psychometrika 13, 185-187.
    .. [3] M. W. Fagerland, S. Lydersen and P. Laake (2013). "The McNemar test for binary
       matched-pairs data: mid-p and asymptotic are better than exact conditional". BMC Medical
       Research Methodology 13, 91.
    .. [4] T. Tango (1998). "Equivalence test and confidence interval for the difference in
       proportions for the paired-sample design". Statistics in Medicine 17, 891-908.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_pairboot.inference import mcnemar_test
    >>> y_true = np.array([0, 0, 0, 0, 1, 1, 1, 1])
    >>> pred_a = np.array([1, 1, 1, 0, 1, 0, 0, 1])
    >>> pred_b = np.array([0, 0, 0, 0, 1, 1, 1, 0])
    >>> test = mcnemar_test(pred_a == y_true, pred_b == y_true)
    >>> test.estimate, test.n_only_a, test.n_only_b, test.p_value
    (0.5, 1, 5, 0.21875)

    Counts alone are enough:

    >>> test = mcnemar_test([[40, 12], [33, 15]])
    >>> round(test.statistic, 2), round(test.p_value, 4)
    (3.13, 0.0025)
    >>> round(test.estimate, 2), round(test.ci_low, 3), round(test.ci_high, 3)
    (0.21, 0.082, 0.333)
    """
    check_choice("variant", variant, _VARIANTS)
    check_alternative(alternative)
    level = check_confidence_level(confidence_level)
    only_a, only_b, n_rows = _counts(correct_a, correct_b)
    gap = only_b - only_a
    z = normal_quantile(level, alternative)
    low, high = one_or_two_sided(
        -_upper_end(only_a, only_b, n_rows, z), _upper_end(only_b, only_a, n_rows, z), alternative
    )
    extreme = (only_a + only_b, 0) if alternative == "less" else (0, only_a + only_b)
    return McNemarResult(
        estimate=gap / n_rows,
        statistic=_z(only_a, only_b, variant),
        p_value=_p_value(only_a, only_b, variant, alternative),
        ci_low=low,
        ci_high=high,
        variant=variant,
        n_only_a=only_a,
        n_only_b=only_b,
        n_rows=n_rows,
        std_error=math.sqrt(only_a + only_b - gap * gap / n_rows) / n_rows,
        p_min=_p_value(*extreme, variant, alternative),
    )


def _counts(correct_a: Any, correct_b: Any) -> tuple[int, int, int]:
    """Rows that only a, and only b, has right, and all rows."""
    if correct_b is None:
        table = _table(correct_a)
        return int(table[0, 1]), int(table[1, 0]), int(table.sum())
    names = "`correct_a`", "`correct_b`"
    check_same_index(dict(zip(names, (correct_a, correct_b), strict=True)))
    a, b = (
        check_correctness(values, name)
        for values, name in zip((correct_a, correct_b), names, strict=True)
    )
    check_length(b, len(a), names[1])
    return int((a & ~b).sum()), int((b & ~a).sum()), len(a)


def _table(given: Any) -> Any:
    wanted = (
        "`correct_a` must be a 2 x 2 table of counts, [[both right, only a right], [only b right, "
        "both wrong]], where `correct_b` is not given"
    )
    if isinstance(nw.from_native(given, eager_only=True, pass_through=True), nw.DataFrame):
        raise TypeError(
            f"{wanted}, got a dataframe. A cross table of booleans begins with False: pass the "
            "two vectors of correctness, or the counts in a list."
        )
    table = plain(given)
    if table.shape != (2, 2):
        raise ValueError(f"{wanted}, got shape {table.shape}. Pass both vectors of correctness.")
    proper = table.dtype.kind in "iuf" and np.all(table >= 0) and np.all(table == np.floor(table))
    if not proper or not np.all(np.isfinite(table)) or not table.any():
        raise ValueError(f"{wanted}, whole and not all zero, got {table.tolist()!r}.")
    return table


def _z(only_a: int, only_b: int, variant: str) -> float:
    gap = only_b - only_a
    if gap == 0:
        return 0.0
    size = max(abs(gap) - 1, 0) if variant == "corrected" else abs(gap)
    return math.copysign(1.0, gap) * size / math.sqrt(only_a + only_b) + 0.0  # no -0.0


def _p_value(only_a: int, only_b: int, variant: str, alternative: str) -> float:
    n = only_a + only_b
    if n == 0:
        return 1.0
    if variant in ("asymptotic", "corrected"):
        return normal_p_value(_z(only_a, only_b, variant), alternative)
    sides = 2 if alternative == "two-sided" else 1
    observed = {"greater": only_b, "less": only_a}.get(alternative, max(only_a, only_b))
    tail = float(stats.binom.sf(observed - 1, n, 0.5))
    if variant == "mid-p":
        tail -= float(stats.binom.pmf(observed, n, 0.5)) / 2
    return never_zero(sides * tail)


def _upper_end(plus: int, minus: int, n: int, z: float) -> float:
    """Upper end of Tango's interval of the difference ``(plus - minus) / n``."""
    if z < 0:  # a one-sided level below 1/2 lies on the other side of the estimate
        return -_upper_end(minus, plus, n, -z)
    if plus == n:
        return 1.0
    if plus == minus == 0:
        return z * z / (n + z * z)

    def excess(difference: float) -> float:
        # Seen from the side with the larger probability, no step below cancels.
        more, less = (plus, minus) if difference >= 0 else (minus, plus)
        d = abs(difference)
        a, b, c = 2 * n, (2 * n - more + less) * d - more - less, -less * d * (1 - d)
        root = math.sqrt(b * b - 4 * a * c)
        q = -2 * c / (b + root) if b > 0 else (root - b) / (2 * a)
        return (n * difference - (plus - minus)) ** 2 - z * z * n * (2 * q + d * (1 - d))

    start = (plus - minus) / n
    if minus == n:  # there the excess is 0 at -1 also, and negative just above
        start += min(z * z / n, 1.0) / 2
    return float(optimize.brentq(excess, start, 1.0, xtol=1e-15))
