"""Comparison of methods: every one fitted on the same training sets with the same seeds."""

from __future__ import annotations

from typing import Any

import joblib
import numpy as np

from sklearn_pairboot._engine.progress import one_bar
from sklearn_pairboot._engine.seeds import entropy_of, is_integer
from sklearn_pairboot._engine.units import Units
from sklearn_pairboot._scoring.build import build_kernel
from sklearn_pairboot._scoring.checks import (
    check_labels,
    check_length,
    check_same_index,
    check_target,
    named,
    plain,
)
from sklearn_pairboot._scoring.problem import Problem
from sklearn_pairboot._scoring.resolve import refuse_biased, resolve_scoring
from sklearn_pairboot._tables import check_baseline, check_choice
from sklearn_pairboot.comparison._named import check_estimators, is_frozen
from sklearn_pairboot.comparison._run import constant_hint, kind_of
from sklearn_pairboot.training._compare import check_exact, checked, compare_fits, units_of
from sklearn_pairboot.training._estimates import Fits
from sklearn_pairboot.training._fits import (
    Fitted,
    fit_all,
    is_random,
    seeds_for,
    training_rows,
)
from sklearn_pairboot.training.result import MethodComparison

RESAMPLINGS = ("bootstrap", "subsample")


@one_bar()
def compare_methods(
    estimators: Any,
    X_train: Any,
    y_train: Any,
    X_test: Any,
    y_test: Any,
    *,
    scoring: Any = None,
    n_seeds: int = 5,
    n_train_resamples: int = 0,
    train_resampling: str = "bootstrap",
    train_groups: Any = None,
    groups: Any = None,
    baseline: str | None = None,
    n_resamples: int | str = 9999,
    confidence_level: float = 0.95,
    correction: str | None = "holm",
    random_state: Any = None,
    n_jobs: int | None = None,
    memory: Any = None,
    verbose: int = 0,
) -> MethodComparison:
    """Fit methods with several seeds and training sets, and compare them on the same test rows.

    A bootstrap of a test set answers for the trained models alone. Here training varies too:
    every method is fitted on the same training rows with the same seeds, and all fits are scored
    on the same resamples of test rows. The result has two targets, the method's average and one
    model drawn from the method, and says how much of the variance comes from training data, seeds
    and test rows.

    Parameters
    ----------
    estimators : mapping or list of (str, estimator)
        Classifiers or regressors by name. They are cloned, and every parameter named
        ``random_state``, nested ones too, is set to a seed of each fit, whatever it was; so is
        that of splitters in them that shuffle. Estimators without any are taken to have no
        randomness and are fitted once on each training set.
    X_train : array-like of shape (n_train_rows, n_features)
        Training rows.
    y_train : array-like of shape (n_train_rows,)
        Their truths.
    X_test : array-like of shape (n_rows, n_features)
        Test rows.
    y_test : array-like of shape (n_rows,)
        Their truths.
    scoring : str, scorer, callable, list, dict or None, default=None
        One or several metrics, as in `compare_estimators`. Any metric will do.
    n_seeds : int, default=5
        Number of seeds, on each training set.
    n_train_resamples : int, default=0
        Number of training sets resampled from the training rows, 10 to 20 for a fair view of
        their part. With 0 all fits use the training rows as they are, and the result holds for
        these training data only.
    train_resampling : {"bootstrap", "subsample"}, default="bootstrap"
        ``"bootstrap"`` draws as many training rows with replacement, ``"subsample"`` half of them
        without. Both vary about as much as new samples of the full size would; but a method that
        gains from more rows, or that is upset by repeated ones, is seen on less than it would get.
    train_groups : array-like of shape (n_train_rows,), default=None
        Cluster of each training row; whole clusters are then resampled.
    groups : array-like of shape (n_rows,), default=None
        Cluster of each test row; whole clusters are then drawn.
    baseline : str, default=None
        Name of the method that the others are compared with, ``None`` for the first.
    n_resamples : int or "exact", default=9999
        Number of bootstrap resamples of the test rows or clusters. The interval of the average
        does not depend on it, unless a scorer has to be called on rows.
    confidence_level : float, default=0.95
        Level of the intervals, in (0, 1).
    correction : {"holm", "bonferroni", "fdr"} or None, default="holm"
        Adjustment of the p-values of the averages for the number of methods, by metric.
    random_state : int, Generator, RandomState or None, default=None
        Seed of training sets, fits and test resamples. Give an int where ``memory`` is to find
        the fits again.
    n_jobs : int, default=None
        Number of fits at a time, as joblib takes it. Results do not depend on it.
    memory : str, path, joblib.Memory or None, default=None
        Where finished fits are cached, one by one: a run that was stopped goes on where it was,
        and more seeds or training sets can be added later. Nothing is cached by default.
    verbose : int, default=0
        Above zero, one bar on standard error or in the notebook shows what is done. It needs tqdm,
        the extra ``progress``.

    Returns
    -------
    MethodComparison
        Estimates and intervals of all targets, p-values, verdicts, and shares of variance.

    Warns
    -----
    FitFailedWarning
        Where a fit failed. Its training set and seed are left out for all methods.

    See Also
    --------
    compare_runs : The same for scores that are there already.
    compare_estimators : For trained models: what another training would give is no question.

    Notes
    -----
    With the value of a metric for each fit, and the covariance of these values over test rows,
    the mean squares of an analysis of variance are defined for any metric; for means they are the
    usual ones (`compare_runs` has the formulas). The covariance is that of the jackknife over
    test rows or clusters, or of the joint bootstrap replicates of all fits where a scorer has to
    be called on rows.

    Training sets that are resampled from one training sample have their average around what that
    sample gives, and more of them do not remove its own variation. The variance between them
    estimates that variation, so it is counted once in full, on top of its part in the mean of the
    resamples. With several seeds it is a difference of two mean squares, for which
    Satterthwaite's degrees of freedom fail: such intervals held the truth in down to 87 % of
    simulations with 3 to 20 training sets of 2 to 10 seeds. Instead the average then has a
    generalized interval [1]_: normal laws, mixed over the variances that the mean squares allow.
    For components of normal data it covers 94 to 97 % at the nominal 95 % where training data and
    seeds both matter, and up to 99 % where seeds vary far more than training sets; the price is
    a longer interval there, 1.2 to 2 times, which more training sets and seeds shorten. With one
    seed on each training set Student's t covers 92 % for 3 sets, 94 % for 5 and 95 % for 10 or
    more without randomness, and up to 100 % with it, as seeds are then counted with the sets.

    When not to use it: to choose hyperparameters (use a search and nest it in the estimator), or
    where a method takes its randomness from NumPy's global state, which no parameter seeds.

    References
    ----------
    .. [1] S. Weerahandi (1993). "Generalized confidence intervals". Journal of the American
       Statistical Association 88, 899-905.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.linear_model import RidgeClassifier
    >>> from sklearn.model_selection import train_test_split
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from sklearn_pairboot import compare_methods
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
    >>> methods = {"tree": DecisionTreeClassifier(max_features=3), "ridge": RidgeClassifier()}
    >>> result = compare_methods(
    ...     methods, X_train, y_train, X_test, y_test, n_train_resamples=10, n_seeds=2,
    ...     random_state=0,
    ... )
    >>> row = result.differences[0]
    >>> [part.source for part in row.variances][:3]
    ['training data', 'seed', 'test rows']
    >>> row.predict_std_error(n_items=1000) < row.average.std_error
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
    methods = check_estimators(list(named(estimators).items()), {})
    check_baseline(baseline, tuple(methods))
    metrics = resolve_scoring(scoring, methods)
    refuse_biased(metrics)
    random = [name for name, estimator in methods.items() if is_random(estimator)]
    _check_numbers(n_seeds, n_train_resamples, train_resampling, train_groups, random, methods)
    check_exact(options, n_train_resamples, n_seeds if random else 1)
    check_same_index({"`X_train`": X_train, "`y_train`": y_train, "`train_groups`": train_groups})
    check_same_index({"`X_test`": X_test, "`y_test`": y_test, "`groups`": groups})
    truths, y_fit = check_target(y_test, "y_test"), check_target(y_train, "y_train")
    check_length(range(_n_rows(X_train, "X_train")), len(y_fit), "`X_train`")
    check_length(range(_n_rows(X_test, "X_test")), len(truths), "`X_test`")
    units = units_of(len(truths), _checked(groups, len(truths), "groups"))
    of_training = units_of(len(y_fit), _checked(train_groups, len(y_fit), "train_groups"))
    entropy = entropy_of(random_state)
    fitted = fit_all(
        methods,
        metrics,
        X_train,
        y_fit,
        X_test,
        [training_rows(of_training, train_resampling, entropy, t) for t in range(n_train_resamples)]
        or [None],
        n_seeds if random else 1,
        entropy,
        n_jobs=n_jobs,
        memory=memory,
        verbose=verbose,
    )
    several_sets = len({cell.set for cell in fitted.cells}) > 1
    problem = Problem(truths, kind_of(truths), fitted.records, units)
    return compare_fits(
        [build_kernel(metric, problem, fitted.names) for metric in metrics],
        [(metric.name, metric.greater_is_better) for metric in metrics],
        tuple(methods),
        Fits(
            fitted.columns,
            fitted.set_of_fit,
            _sources(fitted, several=several_sets, random=bool(random)),
            resampled=several_sets,
        ),
        units,
        options,
        fit_names=fitted.names,
        hint=constant_hint(truths),
        entropy=entropy,
        training={
            "estimators": {name: repr(estimator) for name, estimator in methods.items()},
            "n_train_rows": len(y_fit),
            "train_units": "rows" if of_training.of_row is None else "clusters",
            "n_train_resamples": n_train_resamples,
            "train_resampling": train_resampling if n_train_resamples else None,
            "fits": [
                {"training_set": cell.set, "seed": seeds_for(entropy, cell, 1)[0]}
                for cell in fitted.cells
            ],
            "training_data_hash": joblib.hash((X_train, y_fit)),
            "test_data_hash": joblib.hash((X_test, truths)),
        },
        notes=(
            *fitted.notes,
            *_notes(methods, random, n_train_resamples, of_training, several=several_sets),
        ),
    )


def _check_numbers(
    n_seeds: Any,
    n_train_resamples: Any,
    train_resampling: Any,
    train_groups: Any,
    random: list[str],
    methods: dict[str, Any],
) -> None:
    """Refuse designs in which nothing of training varies."""
    if not is_integer(n_seeds, least=1):
        raise ValueError(f"`n_seeds` must be an integer of at least 1, got {n_seeds!r}.")
    if not is_integer(n_train_resamples, least=0) or n_train_resamples == 1:
        raise ValueError(
            f"`n_train_resamples` must be 0 or an integer of at least 2, got {n_train_resamples!r}."
        )
    check_choice("train_resampling", train_resampling, RESAMPLINGS)
    frozen = [name for name, estimator in methods.items() if is_frozen(estimator)]
    if frozen:
        raise ValueError(
            f"`estimators` must be fitted anew, got the frozen {frozen[0]!r}. Use "
            "compare_estimators for trained models."
        )
    if n_train_resamples == 0 and train_groups is not None:
        raise ValueError(
            "`train_groups` must be None where no training sets are resampled. Pass "
            "`n_train_resamples` as well."
        )
    if n_train_resamples == 0 and n_seeds == 1:
        raise ValueError(
            "`n_seeds` must be at least 2 where no training sets are resampled, got 1. For a "
            "single model of each method use compare_estimators."
        )
    if n_train_resamples == 0 and not random:
        raise ValueError(
            "`n_train_resamples` must be at least 2 where no method has a parameter "
            "`random_state`, got 0: nothing of training would vary."
        )


def _checked(groups: Any, n_rows: int, name: str) -> Any:
    if groups is not None:
        check_length(plain(groups), n_rows, f"`{name}`")
        _, labels = check_labels(groups, n_rows, name)
        if len(labels) < 2:
            raise ValueError(
                f"`{name}` must hold at least 2 clusters, got only the group {labels[0]!r}: what "
                "varies between clusters cannot be seen in one."
            )
    return groups


def _n_rows(X: Any, name: str) -> int:
    if not hasattr(X, "shape") and not hasattr(X, "__len__"):
        raise ValueError(f"`{name}` must be a table of rows, got {X!r}.")
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)


def _sources(fitted: Fitted, *, several: bool, random: bool) -> tuple[str, ...]:
    """Name what makes the fits differ."""
    if not several:
        return ("seed",)
    if not random:
        return ("training data",)
    nested = np.bincount(fitted.set_of_fit).max() > 1
    return ("training data", "seed") if nested else ("training data and seed",)


def _notes(
    methods: dict[str, Any],
    random: list[str],
    n_train_resamples: int,
    units: Units,
    *,
    several: bool,
) -> list[str]:
    notes = []
    without = [name for name in methods if name not in random]
    if without:
        notes.append(
            f"{', '.join(without)}: no parameter `random_state`, so fitted once on each training "
            "set; seeds add no variance."
        )
    if not n_train_resamples:
        notes.append(
            "All fits share the training rows: other training data may lead to another conclusion. "
            "Pass `n_train_resamples` to see how much they matter."
        )
    elif not several:
        notes.append(
            "All methods succeeded on one resample of the training rows alone: what other training "
            "data would give was not seen."
        )
    elif units.of_row is not None and units.n_units < 10:
        notes.append(f"Only {units.n_units} clusters of training rows are resampled.")
    return notes
