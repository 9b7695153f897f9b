"""Cochran's Q test of several models' accuracies on the same rows."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from sklearn_pairboot._scoring.checks import check_choice, plain
from sklearn_pairboot.inference._checks import check_correctness, named_columns, never_zero

_VARIANTS = ("asymptotic", "exact")
# Additions that the exact variant may make: about a second.
_MOST_WORK = 200_000_000


@dataclass(frozen=True)
class CochranQResult:
    """Outcome of `cochran_q_test`.

    Parameters
    ----------
    estimate : float
        Accuracy of the most accurate model less that of the least accurate one.
    statistic : float
        Q; 0 where no row separates the models.
    p_value : float
        By the variant; 1 where no row separates the models.
    ci_low : float
        Always NaN: the two models of ``estimate`` were picked by the data, and no interval of
        this test goes with them. For intervals of all pairs see `sklearn_pairboot.compare_scores`.
    ci_high : float
        Always NaN, for the same reason.
    variant : str
        ``"asymptotic"`` or ``"exact"``.
    models : tuple of str
        Names of the models.
    accuracies : tuple of float
        Their accuracies.
    df : int
        Number of models less one.
    n_informative : int
        Rows that some models have right and others wrong.
    n_rows : int
        All rows.
    p_min : float
        Smallest p-value that these rows could give, whichever models were right on them.

    Examples
    --------
    >>> from sklearn_pairboot.inference import cochran_q_test
    >>> cochran_q_test({"a": [1, 0, 0], "b": [1, 1, 0], "c": [1, 1, 1]}).n_informative
    2
    """

    estimate: float
    statistic: float
    p_value: float
    ci_low: float
    ci_high: float
    variant: str
    models: tuple[str, ...]
    accuracies: tuple[float, ...]
    df: int
    n_informative: int
    n_rows: int
    p_min: float


def cochran_q_test(correct: Any, *, variant: str = "asymptotic") -> CochranQResult:
    """Test whether several models are equally accurate on the same rows.

    Rows that all models have right, or all have wrong, say nothing. On each of the others as many
    models are right as there are, but any of them alike if the models are exchangeable. Rows
    count as independent. The test does not say which models differ.

    Parameters
    ----------
    correct : mapping, dataframe or array-like of shape (n_rows, n_models)
        Whether each model's answers are right: booleans, or 0 and 1; a mapping from names to
        arrays, a dataframe with one column a model, or an array, whose models are named by their
        columns' numbers. Not the predictions.
    variant : {"asymptotic", "exact"}, default="asymptotic"
        ``"exact"`` counts all arrangements and never rejects more often than its level; its cost
        grows with the power ``n_models`` of the informative rows, and it is refused where that is
        too much. ``"asymptotic"`` compares Q with a chi-square distribution.

    Returns
    -------
    CochranQResult
        With ``estimate``, ``statistic``, ``p_value``, ``ci_low``, ``ci_high``, ``variant``,
        ``models``, ``accuracies``, ``df``, ``n_informative``, ``n_rows`` and ``p_min``.

    See Also
    --------
    mcnemar_test : The same for two models, with an interval.
    sklearn_pairboot.compare_scores : Which of many models differ, with corrections.

    Notes
    -----
    With ``k`` models, ``C_j`` rows right for model ``j`` and ``R_i`` models right on row ``i``,
    ``Q = (k - 1) (k sum C_j^2 - (sum C_j)^2) / (k sum C_j - sum R_i^2)``, compared with the
    chi-square distribution of ``k - 1`` degrees of freedom [1]_. The exact p-value is the share,
    among all ways to assign the ``R_i`` right answers of each row to the models, of those with at
    least this Q [2]_. Where the informative rows times ``k`` are fewer than 24 the asymptotic one
    is not to be trusted [3]_. For two models Q is the square of McNemar's ``z``.

    References
    ----------
    .. [1] W. G. Cochran (1950). "The comparison of percentages in matched samples". Biometrika
       37, 256-266.
    .. [2] K. D. Patil (1975). "Cochran's Q test: exact distribution". Journal of the American
       Statistical Association 70, 186-189.
    .. [3] M. W. Tate and S. M. Brown (1970). "Note on the Cochran Q test". Journal of the American
       Statistical Association 65, 155-160.

    Examples
    --------
    >>> from sklearn_pairboot.inference import cochran_q_test
    >>> correct = {
    ...     "old": [1, 1, 0, 0, 0, 0, 1, 0, 0, 1],
    ...     "new": [1, 1, 1, 1, 0, 1, 1, 1, 0, 1],
    ...     "big": [1, 1, 1, 1, 1, 0, 1, 1, 0, 1],
    ... }
    >>> test = cochran_q_test(correct, variant="exact")
    >>> round(test.statistic, 2), round(test.p_value, 3), test.n_informative
    (6.4, 0.049, 5)
    """
    check_choice("variant", variant, _VARIANTS)
    names, right = _columns(correct)
    n_rows, k = right.shape
    accuracies = right.mean(axis=0)
    # Rows on which all models agree add the same to every model and leave Q as it is.
    informative = right[right.any(axis=1) & ~right.all(axis=1)]
    of_row, of_model = informative.sum(axis=1), informative.sum(axis=0)
    statistic, p_value, p_min = 0.0, 1.0, 1.0
    if of_row.size:
        observed = int(of_model @ of_model)
        # The most uneven arrangement: each row's right answers go to the first models.
        uneven = (of_row[:, None] > np.arange(k)).sum(axis=0)
        largest = int(uneven @ uneven)
        statistic = _q(observed, of_row, k)
        if variant == "exact":
            p_value, p_min = _exact_tails(of_row, k, (observed, largest))
        else:
            p_value = float(stats.chi2.sf(statistic, k - 1))
            p_min = float(stats.chi2.sf(_q(largest, of_row, k), k - 1))
    return CochranQResult(
        estimate=int(np.ptp(of_model)) / n_rows,
        statistic=statistic,
        p_value=p_value,
        ci_low=math.nan,
        ci_high=math.nan,
        variant=variant,
        models=names,
        accuracies=tuple(accuracies.tolist()),
        df=k - 1,
        n_informative=int(of_row.size),
        n_rows=n_rows,
        p_min=p_min,
    )


def _columns(correct: Any) -> tuple[tuple[str, ...], NDArray[np.bool_]]:
    """Names of the models, and whether they are right, shape (n_rows, n_models)."""
    if isinstance(correct, list | tuple | np.ndarray):
        array = plain(correct)
        if array.ndim != 2 or array.shape[1] < 2:
            raise ValueError(
                "`correct` must have shape (n_rows, n_models), with at least 2 models, got "
                f"{array.shape}."
            )
        arrays = {str(column): array[:, column] for column in range(array.shape[1])}
    else:
        arrays = named_columns(correct, "correct")
    checked = [check_correctness(array, f"`correct[{name!r}]`") for name, array in arrays.items()]
    return tuple(arrays), np.column_stack(checked)


def _q(squares: int, of_row: NDArray[np.int_], k: int) -> float:
    """Q of a sum of squared numbers of right answers by model."""
    total = int(of_row.sum())
    return (k - 1) * (k * squares - total * total) / (k * total - int(of_row @ of_row))


def _exact_tails(of_row: NDArray[np.int_], k: int, least: tuple[int, ...]) -> list[float]:
    """Chance of at least so large sums of squares, if any models are right on each row alike.

    The state is the number of right answers of all models but the last, whose number follows from
    the rest. Each row moves every state by the subsets of models that may be right on it.
    """
    steps = range(2, len(of_row) + 2)
    work = sum(
        math.comb(k, size) * step ** (k - 1)
        for size, step in zip(of_row.tolist(), steps, strict=True)
    )
    if work > _MOST_WORK:
        raise ValueError(
            f"`variant` must be 'asymptotic' for {len(of_row)} informative rows of {k} models, got "
            f"'exact': that takes {work:.1e} additions, and the limit is {_MOST_WORK:.0e}."
        )
    chance = np.ones((1,) * (k - 1))
    for size in of_row.tolist():
        before = chance / math.comb(k, size)
        chance = np.zeros([length + 1 for length in before.shape])
        for subset in itertools.combinations(range(k), size):
            moved = [slice(1, None) if j in subset else slice(-1) for j in range(k - 1)]
            chance[tuple(moved)] += before
    numbers = np.indices(chance.shape)
    last = int(of_row.sum()) - numbers.sum(axis=0)
    squares = (numbers**2).sum(axis=0) + last**2
    return [never_zero(chance[squares >= bound].sum()) for bound in least]
