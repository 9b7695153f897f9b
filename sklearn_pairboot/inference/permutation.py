"""The paired permutation test of a mean difference, also known as the sign-flip test."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_pairboot._engine.permutation import swap_sums
from sklearn_pairboot._engine.seeds import check_random_state, entropy_of, is_integer
from sklearn_pairboot._engine.units import Units
from sklearn_pairboot._scoring.checks import check_finite, check_labels, check_same_index
from sklearn_pairboot._tables import write_record
from sklearn_pairboot.inference._checks import check_alternative, named_columns

_MOST_RESAMPLES = 100_000_000


@dataclass(frozen=True, repr=False)
class PermutationTestResult:
    """Outcome of `paired_permutation_test`.

    Parameters
    ----------
    estimate : float
        Mean score of the second model less that of the first, over rows.
    statistic : float
        The same number: what is recomputed in every arrangement.
    p_value : float
        Share of the arrangements that are at least as extreme; never 0.
    ci_low : float
        NaN: a test of exchangeable models has no interval. `compare_scores` gives one.
    ci_high : float
        NaN, for the same reason.
    variant : str
        ``"swaps of rows"`` or ``"swaps of clusters"``.
    mode : str
        ``"exact enumeration"`` and ``"exact counting"`` take all arrangements into account,
        ``"Monte Carlo"`` random ones.
    n_units : int
        Rows or clusters whose scores are swapped.
    n_nonzero_units : int
        Those of them in which the models' total scores differ.
    n_extreme : int
        Arrangements at least as extreme as the observed one.
    n_assignments : int
        Arrangements looked at: ``2**n_units`` or, by Monte Carlo, the number drawn.
    p_min : float
        Smallest p-value that these units could give.
    std_error : float
        Standard error of the p-value by the draw of arrangements; 0 where all are counted.

    Examples
    --------
    >>> from sklearn_pairboot.inference import paired_permutation_test
    >>> paired_permutation_test({"old": [0, 0, 0, 1, 0], "new": [1, 1, 1, 1, 1]}).n_extreme
    4
    """

    estimate: float
    statistic: float
    p_value: float
    ci_low: float
    ci_high: float
    variant: str
    mode: str
    n_units: int
    n_nonzero_units: int
    n_extreme: int
    n_assignments: int
    p_min: float
    std_error: float

    def __repr__(self) -> str:
        return write_record(self)  # Python refuses to write integers of thousands of digits


def paired_permutation_test(
    scores: Any,
    *,
    groups: Any = None,
    alternative: str = "two-sided",
    n_resamples: int = 9999,
    random_state: Any = None,
) -> PermutationTestResult:
    """Test two models' mean scores by swapping their scores within rows or clusters.

    If nothing but chance decided which model got which of the two scores of a row, all ways to
    swap them were equally likely. The p-value is the share of these arrangements whose difference
    of means is at least as large as the observed one.

    Parameters
    ----------
    scores : mapping of str to array-like of shape (n_rows,), or dataframe
        Scores of two models for the same rows in the same order, the baseline first.
    groups : array-like of shape (n_rows,), default=None
        Cluster of each row, such as the patient it came from. Whole clusters are swapped; the
        means still run over rows, so that larger clusters count more.
    alternative : {"two-sided", "greater", "less"}, default="two-sided"
        ``"greater"``: the second model has higher scores than the first; ``"less"``: lower ones.
    n_resamples : int, default=9999
        Number of random arrangements where not all of them can be counted.
    random_state : int, Generator, RandomState or None, default=None
        Seed of random arrangements.

    Returns
    -------
    PermutationTestResult
        With ``estimate``, ``statistic``, ``p_value``, ``ci_low``, ``ci_high``, ``variant``,
        ``mode``, ``n_units``, ``n_nonzero_units``, ``n_extreme``, ``n_assignments``, ``p_min``
        and ``std_error``.

    See Also
    --------
    sklearn_pairboot.compare_scores : Intervals; with ``permutation=True`` also this p-value.
    mcnemar_test : The same test for scores of 0 and 1, where rows are independent.

    Notes
    -----
    Swapping the scores of a unit changes the sign of its total difference, hence the name
    sign-flip test [1]_. With clusters the statistic is the sum of signed cluster totals over the
    number of rows. Tails include the observed arrangement and all that are equal to it: sums
    that agree to 1e-12 of the scores in them differ by rounding only, and are equal. The
    two-sided tail goes by absolute values.

    The null hypothesis is that the models are exchangeable within each unit: the distribution of
    their scores stays the same if they swap names. That is more than equal means. For two fixed
    models nobody has assigned answers at random, so that exchangeability is an assumption; where
    differences are skewed about a mean of 0, the test may reject too often or too rarely. A large
    p-value does not show that models are equal, and a small one not that the difference matters.
    To draw with several seeds and report the smallest p-value is no test.

    Units without a difference are set aside in the work, but count in ``n_extreme`` and
    ``n_assignments``, as both of their arrangements are the same. All arrangements are counted

    * by enumeration with up to 40 units that differ; with few of them ``p_min`` is large, two-sided
      2 ** (1 - n_nonzero_units);
    * by the coefficients of a product of polynomials [2]_ with more of them, where differences
      are multiples of a common step (such as 1, 0.5 or 0.01) and their number times the sum of
      their sizes, in steps, is at most 2e8, where it may take seconds. The p-value is a quotient
      of whole numbers.

    Otherwise ``n_resamples`` arrangements are drawn, and p is (extreme + 1) / (drawn + 1), which
    is never 0 [3]_. The p-value does not depend on the order of rows. Memory does not grow with
    ``n_resamples``.

    References
    ----------
    .. [1] R. A. Fisher (1935). "The Design of Experiments", section 21.
       Oliver and Boyd.
    .. [2] M. Pagano and D. Tritchler (1983). "On obtaining permutation distributions in
       polynomial time". Journal of the American Statistical Association 78, 435-440.
    .. [3] B. Phipson and G. K. Smyth (2010). "Permutation p-values should never be zero".
       Statistical Applications in Genetics and Molecular Biology 9, 39.

    Examples
    --------
    >>> from sklearn_pairboot.inference import paired_permutation_test
    >>> scores = {"old": [0, 0, 0, 1, 0], "new": [1, 1, 1, 1, 1]}
    >>> test = paired_permutation_test(scores)
    >>> test.estimate, test.p_value, test.n_extreme, test.n_assignments, test.mode
    (0.8, 0.125, 4, 32, 'exact enumeration')

    With three clusters no two-sided p-value can be below 0.25:

    >>> paired_permutation_test(scores, groups=["a", "a", "b", "b", "c"]).p_min
    0.25
    """
    side = check_alternative(alternative)
    if not is_integer(n_resamples, least=1) or int(n_resamples) > _MOST_RESAMPLES:
        raise ValueError(
            f"`n_resamples` must be an integer from 1 to {_MOST_RESAMPLES:,}, got {n_resamples!r}."
        )
    check_random_state(random_state)
    baseline, model = _two_models(scores)
    units = Units(len(model), len(model))
    if groups is not None:
        first = next(iter(scores.values())) if isinstance(scores, Mapping) else scores
        check_same_index({"`scores`": first, "`groups`": groups})
        of_row, labels = check_labels(groups, len(model), "groups")
        units = Units(len(model), len(labels), of_row)
    by_unit = units.sum_rows(np.column_stack([model - baseline, np.abs(model) + np.abs(baseline)]))
    test = swap_sums(by_unit[:, 0], by_unit[:, 1], int(n_resamples), entropy_of(random_state))
    estimate = float(np.mean(model - baseline))
    if test.n_swapped == 0:
        estimate = 0.0
    return PermutationTestResult(
        estimate=estimate,
        statistic=estimate,
        p_value=test.p_value(side),
        ci_low=math.nan,
        ci_high=math.nan,
        variant=f"swaps of {'rows' if groups is None else 'clusters'}",
        mode=test.mode,
        n_units=units.n_units,
        n_nonzero_units=test.n_swapped,
        n_extreme=test.n_extreme(side),
        n_assignments=test.n_assignments,
        p_min=test.p_min(side),
        std_error=test.std_error(side),
    )


def _two_models(scores: Any) -> list[NDArray[np.float64]]:
    """Check the scores of two models: finite numbers, one for each row."""
    columns = named_columns(scores, "scores")
    if len(columns) != 2:
        raise ValueError(
            f"`scores` must hold 2 models, the baseline first, got {len(columns)}. Compare more of "
            "them with `compare_scores(..., permutation=True)`."
        )
    arrays = []
    for name, array in columns.items():
        label = f"`scores[{name!r}]`"
        if array.ndim == 1 and array.dtype.kind == "b":
            raise TypeError(
                f"{label} must hold numbers, got booleans. If they say whether an answer is "
                "correct, pass `scores.astype(int)`."
            )
        if array.ndim != 1 or len(array) == 0 or array.dtype.kind not in "iuf":
            raise ValueError(
                f"{label} must be a one-dimensional array of numbers, one for each row, got shape "
                f"{array.shape} of dtype {array.dtype}."
            )
        check_finite(array, label, "Drop a row for both models, or for neither.")
        arrays.append(array.astype(np.float64))
    largest = max(float(np.abs(array).max()) for array in arrays)
    if not math.isfinite(2.0 * largest * len(arrays[0])):
        raise ValueError(
            f"`scores` must be small enough to be added up in float64, got {largest:.3g}. Rescale "
            "them."
        )
    return arrays
