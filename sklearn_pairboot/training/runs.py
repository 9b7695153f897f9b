"""Comparison of methods from given tables of scores: model x training set x seed x item."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from sklearn_pairboot._engine.kernels import item_means
from sklearn_pairboot._engine.weights import FloatArray
from sklearn_pairboot._scoring.checks import (
    check_finite,
    check_length,
    check_names,
    check_same_index,
    plain,
)
from sklearn_pairboot._tables import check_baseline
from sklearn_pairboot.training._compare import (
    check_exact,
    check_size,
    checked,
    compare_fits,
    units_of,
)
from sklearn_pairboot.training._estimates import Fits
from sklearn_pairboot.training.result import MethodComparison

METRIC = "mean_score"


def compare_runs(
    scores: Any,
    *,
    groups: Any = None,
    greater_is_better: bool = True,
    resampled_training: bool = False,
    baseline: str | None = None,
    n_resamples: int | str = 9999,
    confidence_level: float = 0.95,
    correction: str | None = "holm",
    random_state: Any = None,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> MethodComparison:
    """Compare methods from the scores of every item in several training runs.

    A test set answers for the models that were scored on it. Whether a *method* is better is
    another question, as another seed or training set gives another model. It has two targets, and
    the result has both: the method's average over runs, and one model drawn from the method.
    Items and runs both count as a sample of what could have been.

    Parameters
    ----------
    scores : mapping of str to array-like of shape (n_seeds, n_items) or (n_sets, n_seeds, n_items)
        Scores of each method on every item, in every run. With three dimensions the seeds belong
        to training sets. Positions are paired: run k of every method has the same seed and
        training set, column i is the same item. At least two seeds, or two training sets.
    groups : array-like of shape (n_items,), default=None
        Cluster of each item. Clusters are then the units, and larger ones count more.
    greater_is_better : bool, default=True
        Direction of the scores.
    resampled_training : bool, default=False
        Whether the training sets were resampled from one training sample (bootstrap, subsamples)
        instead of collected anew. The sample's own variance, estimated by that between its
        resamples, then counts once more in the method's average.
    baseline : str, default=None
        Name of the method that the others are compared with, ``None`` for the first.
    n_resamples : int or "exact", default=9999
        Number of bootstrap resamples of items or clusters; ``"exact"`` enumerates all of them,
        for few items and runs. The interval of the average does not depend on it.
    confidence_level : float, default=0.95
        Level of the intervals, in (0, 1).
    correction : {"holm", "bonferroni", "fdr"} or None, default="holm"
        Adjustment of the p-values of the averages for the number of methods.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the resampling.
    n_jobs : int, default=None
        Number of parallel jobs, as joblib takes it. Results do not depend on it.
    verbose : int, default=0
        Above zero, one bar on standard error or in the notebook shows what is done. It needs tqdm,
        the extra ``progress``.

    Returns
    -------
    MethodComparison
        Estimates and intervals of all targets, p-values, verdicts, and shares of variance.

    See Also
    --------
    compare_methods : Fits the methods too.
    compare_scores : For one model of each method.

    Notes
    -----
    The mean over runs and items of scores ``x[k, i] = m + s[k] + t[i] + e[k, i]`` has the variance
    ``s2 / K + t2 / n + e2 / (K n)``. The mean squares of the two-way analysis of variance
    estimate it by ``(MS_s + MS_t - MS_e) / (K n)``, with a negative component set to zero [1]_.
    The interval is Student's with Satterthwaite's degrees of freedom. In simulations with a linear
    model it covers 94 to 97 % at the nominal 95 % from 5 runs on, with 2 or 3 down to 90 % where
    runs differ much. With training sets, seeds are nested in them; where these were resampled, the
    interval of the average is the generalized one that `compare_methods` describes.

    The crossed bootstrap draws runs and items with replacement. Its variance is exactly
    ``((K-1)/K MS_s + (n-1)/n MS_t + (K-1)(n-1)/(K n) MS_e) / (K n)``: the seeds' part shrinks by
    ``(K - 1) / K``, and the interaction enters about three times [2]_. The pooled distribution,
    all runs in all resamples of items, answers for one model drawn from the method; more runs do
    not make it narrower.

    Intervals of the shares of variance draw the expected mean squares from their generalized
    pivotal quantities, mean square times degrees of freedom over chi-squared [3]_. In simulations
    they cover 91 to 98 % where all sources vary. Where one has no variance at all, the shares of
    the others are at their limit, and intervals may miss it.

    The interval of the average is symmetric and may reach beyond the range of a score.

    Do not use it for several answers of one trained model: those are not training runs.

    References
    ----------
    .. [1] S. R. Searle, G. Casella and C. E. McCulloch (1992). "Variance Components". Wiley,
       chapter 4.
    .. [2] A. B. Owen (2007). "The pigeonhole bootstrap".
       Annals of Applied Statistics 1, 386-411.
    .. [3] S. Weerahandi (1993). "Generalized confidence intervals". Journal of the American
       Statistical Association 88, 899-905.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_pairboot import compare_runs
    >>> rng = np.random.default_rng(0)
    >>> ease = rng.normal(size=200)
    >>> def runs(skill):
    ...     of_seed = rng.normal(skill, 0.1, size=(5, 1))
    ...     return (of_seed + ease + rng.normal(size=(5, 200)) > 0).astype(int)
    >>> result = compare_runs({"old": runs(0.0), "new": runs(0.8)}, random_state=0)
    >>> row = result.differences[0]
    >>> row.verdict, row.average.df > 4
    ('better', True)

    What twenty seeds in place of five would buy:

    >>> row.predict_std_error(n_seeds=20) < row.average.std_error
    True
    """
    options = checked(
        baseline=baseline,
        n_resamples=n_resamples,
        confidence_level=confidence_level,
        correction=correction,
        random_state=random_state,
        n_jobs=n_jobs,
        verbose=verbose,
    )
    for name, flag in (
        ("greater_is_better", greater_is_better),
        ("resampled_training", resampled_training),
    ):
        if not isinstance(flag, bool | np.bool_):
            raise TypeError(f"`{name}` must be True or False, got {flag!r}.")
    tables = _tables(scores)
    models = tuple(tables)
    check_baseline(baseline, models)
    first = next(iter(tables.values()))
    *design, n_items = first.shape
    if resampled_training and (len(design) == 1 or design[0] == 1):
        raise ValueError(
            "`resampled_training` must be False where the scores are of one training set, got "
            "True. Pass arrays of shape (n_sets, n_seeds, n_items) with several sets."
        )
    if groups is not None:
        check_length(plain(groups), n_items, "`groups`")
    if len(design) == 2:
        check_exact(options, *design)
    units = units_of(n_items, groups)
    n_fits = int(np.prod(design))
    table = np.concatenate([array.reshape(n_fits, n_items) for array in tables.values()]).T
    fits = Fits(
        columns=np.arange(len(models) * n_fits).reshape(len(models), n_fits),
        set_of_fit=np.arange(n_fits) if 1 in design or len(design) == 1 else _nested(*design),
        sources=_sources(tuple(design)),
        resampled=bool(resampled_training),
    )
    return compare_fits(
        [item_means(table, np.ones(n_items), units)],
        [(METRIC, bool(greater_is_better))],
        models,
        fits,
        units,
        options,
        fit_names=[f"{name} (run {run})" for name in models for run in range(n_fits)],
    )


def _nested(n_sets: int, n_seeds: int) -> Any:
    return np.repeat(np.arange(n_sets), n_seeds)


def _sources(design: tuple[int, ...]) -> tuple[str, ...]:
    """Name what makes fits differ."""
    if len(design) == 1 or design[0] == 1:
        return ("seed",)
    return ("training data and seed",) if design[1] == 1 else ("training data", "seed")


def _tables(scores: Any) -> dict[str, FloatArray]:
    """Check the arrays: numbers, of one shape, with several runs."""
    if not isinstance(scores, Mapping):
        raise TypeError(
            "`scores` must be a mapping from names of methods to arrays of shape (n_seeds, "
            f"n_items) or (n_sets, n_seeds, n_items), got {type(scores).__name__}."
        )
    names = check_names(list(scores))
    check_same_index({f"Scores of {name!r}": scores[name] for name in names})
    _check_same_items({name: scores[name] for name in names})
    tables = {name: _numbers(name, scores[name]) for name in names}
    shapes = {name: array.shape for name, array in tables.items()}
    if len(set(shapes.values())) > 1:
        listed = ", ".join(f"{name}: {shape}" for name, shape in shapes.items())
        raise ValueError(
            "`scores` must have one shape for all methods, as runs and items are paired by "
            f"position, got {listed}."
        )
    *design, n_items = next(iter(shapes.values()))
    if np.prod(design) < 2 or n_items < 2:
        raise ValueError(
            "`scores` must have at least 2 seeds or training sets and 2 items, got shape "
            f"{(*design, n_items)}. For one run use compare_scores."
        )
    return tables


def _check_same_items(scores: Mapping[str, Any]) -> None:
    """Refuse dataframes whose columns, the items, have other names or another order."""
    columns = {name: list(v.columns) for name, v in scores.items() if hasattr(v, "columns")}
    for name, of_method in columns.items():
        first = next(iter(columns))
        if len(of_method) == len(columns[first]) and of_method != columns[first]:
            raise ValueError(
                f"Scores of methods {first!r} and {name!r} have different columns, but items are "
                "paired by position. Bring the columns into one order, or pass arrays."
            )


def _numbers(name: str, values: Any) -> FloatArray:
    what = f"Scores of method {name!r}"
    if np.ma.is_masked(values):
        n_masked = int(np.sum(np.ma.getmaskarray(values)))
        raise ValueError(
            f"{what} must be present in every run, got {n_masked} masked. An item "
            "must have a score in every run: items cannot be dropped for one of them alone."
        )
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise ValueError(
            f"{what} must have the same number of items in every run, got nested sequences of "
            "different lengths."
        ) from error
    if array.dtype.kind == "b":
        raise TypeError(
            f"{what} must be numbers, got booleans. If they say whether an answer is correct, pass "
            "`scores.astype(int)`."
        )
    if array.dtype.kind not in "iuf":
        raise TypeError(f"{what} must be numbers, got {array.dtype}.")
    if array.ndim not in (2, 3):
        raise ValueError(
            f"{what} must have shape (n_seeds, n_items) or (n_sets, n_seeds, n_items), got "
            f"{array.shape}."
        )
    array = array.astype(np.float64)
    check_finite(
        array.reshape(-1, array.shape[-1]).T,
        what,
        "An item must have a score in every run: items cannot be dropped for one of them alone.",
    )
    check_size(array, what, "Rescale them.")
    return array
