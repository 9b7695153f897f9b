"""Comparison of fitted estimators on test rows."""

from __future__ import annotations

from typing import Any

from sklearn_pairboot._scoring.checks import (
    check_length,
    check_same_index,
    check_sample_weight,
    check_target,
    named,
)
from sklearn_pairboot._scoring.recorded import RecordedEstimator
from sklearn_pairboot._scoring.resolve import resolve_scoring
from sklearn_pairboot.comparison._options import Options, with_common_parameters
from sklearn_pairboot.comparison._run import compare_records
from sklearn_pairboot.comparison._slices import read_slices, slice_columns
from sklearn_pairboot.comparison._warnings import warn_of_labels_as_scores
from sklearn_pairboot.result import ComparisonResult


@with_common_parameters
def compare_estimators(
    estimators: Any,
    X: Any,
    y: Any,
    *,
    scoring: Any = None,
    baseline: str | None = None,
    groups: Any = None,
    estimand: str = "rows",
    test_sets: Any = None,
    test_set_weights: Any = None,
    sample_weight: Any = None,
    slices: Any = None,
    resampling: Any = "auto",
    n_resamples: int | str = 9999,
    confidence_level: float = 0.95,
    method: str = "percentile",
    alternative: str = "two-sided",
    margin: Any = None,
    margin_relative: Any = None,
    correction: str | None = "holm",
    family: str = "metric",
    pairs: str = "baseline",
    permutation: bool = False,
    n_jobs: int | None = None,
    random_state: Any = None,
    verbose: int = 0,
) -> ComparisonResult:
    """Compare fitted estimators on the same test rows by a paired bootstrap.

    It estimates the difference of a metric between trained models on the population that the
    test rows, or their clusters, were drawn from. Every model predicts once; in each resample all
    models and metrics see the same rows. Nothing is said about models trained again.

    Parameters
    ----------
    estimators : mapping or list of (str, estimator)
        Fitted estimators or pipelines by name; one is allowed, and gives scores without
        differences. For a model on other features pass
        ``RecordedEstimator.from_estimator(model, X_of_that_model)`` in its place.
    X : array-like of shape (n_rows, n_features)
        Test rows. They must not have been used in training.
    y : array-like of shape (n_rows,) or (n_rows, n_columns)
        Their truths. Several columns are several outputs of a regression or, where all values are
        0 or 1, the labels of multilabel targets.
    scoring : str, scorer, callable, list, dict or None, default=None
        One or several metrics: names that scikit-learn knows, scorers of `make_scorer`, callables
        ``scorer(estimator, X, y)``; a list of these, or a dict that names them. ``None`` is the
        estimators' own ``score``.
    {common}

    Returns
    -------
    ComparisonResult
        Estimates, intervals, p-values and verdicts.

    See Also
    --------
    compare_predictions : The same for predictions made elsewhere.
    compare_scores : The same for per-item scores.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.dummy import DummyClassifier
    >>> from sklearn.model_selection import train_test_split
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from sklearn_pairboot import compare_estimators
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
    >>> models = {
    ...     "majority": DummyClassifier().fit(X_train, y_train),
    ...     "tree": DecisionTreeClassifier(max_depth=2, random_state=0).fit(X_train, y_train),
    ... }
    >>> result = compare_estimators(models, X_test, y_test, scoring="accuracy", random_state=0)
    >>> result.differences[0].verdict
    'better'
    """
    options = Options(
        baseline=baseline,
        estimand=estimand,
        resampling=resampling,
        n_resamples=n_resamples,
        confidence_level=confidence_level,
        method=method,
        alternative=alternative,
        margin=margin,
        margin_relative=margin_relative,
        correction=correction,
        family=family,
        pairs=pairs,
        permutation=permutation,
        n_jobs=n_jobs,
        random_state=random_state,
        verbose=verbose,
    )
    models = named(estimators)
    labels = slice_columns(slices)
    check_same_index(
        {
            "`X`": X,
            "`y`": y,
            "`groups`": groups,
            "`test_sets`": test_sets,
            "`sample_weight`": sample_weight,
            **{f"slices[{name!r}]": column for name, column in labels.items()},
            "`strata`": getattr(resampling, "strata", None),
        }
    )
    truths = check_target(y, "y")
    metrics = resolve_scoring(scoring, models)
    weight = check_sample_weight(sample_weight, len(truths))
    subgroups = read_slices(labels, len(truths), tuple(models))
    records = {}
    for name, model in models.items():
        known = isinstance(model, RecordedEstimator)
        records[name] = model if known else RecordedEstimator.from_estimator(model, X)
        if records[name].n_rows != len(truths):
            check_length(range(records[name].n_rows), len(truths), f"The answers of model {name!r}")
    warn_of_labels_as_scores(metrics, records, of_models=True)
    return compare_records(
        records,
        truths,
        metrics,
        options,
        groups=groups,
        test_sets=test_sets,
        test_set_weights=test_set_weights,
        sample_weight=weight,
        subgroups=subgroups,
    )
