"""Comparison of models that `cross_validate` has fitted and tested on the same splits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sklearn_pairboot._scoring.checks import (
    check_same_index,
    check_sample_weight,
    check_target,
    shown,
)
from sklearn_pairboot._scoring.resolve import with_companions
from sklearn_pairboot._tables import check_choice
from sklearn_pairboot.comparison._cross_validated import AGGREGATES, evaluate_folds
from sklearn_pairboot.comparison._design import Weighing
from sklearn_pairboot.comparison._folds import Data
from sklearn_pairboot.comparison._options import Options, with_common_parameters
from sklearn_pairboot.comparison._plans import check_not_crossed, units_of
from sklearn_pairboot.comparison._recorded_answers import answers_as_models, rows_of
from sklearn_pairboot.comparison._recorded_folds import (
    check_results,
    notes_on_other_scores,
    recorded_folds,
    recorded_metrics,
    score_keys,
    shared_splits,
)
from sklearn_pairboot.comparison._routing import Routed, check_weighted_scores
from sklearn_pairboot.comparison._slices import read_slices, slice_columns
from sklearn_pairboot.result import ComparisonResult


@with_common_parameters
def compare_cross_validate(
    results: Mapping[str, Any],
    X: Any,
    y: Any,
    *,
    scoring: Any = None,
    aggregate: str = "folds",
    baseline: str | None = None,
    groups: Any = None,
    estimand: str = "rows",
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
    """Compare models by what `sklearn.model_selection.cross_validate` returned for each.

    Nothing is fitted again: every fold's model answers its own test rows once more. The bootstrap
    draws rows, or clusters, anew and holds the fold models fixed. It estimates the difference of
    a metric between these trained models on the population that the rows, or their clusters, were
    drawn from. Beside it stands the corrected resampled t test of the folds
    (``result.split_tests``), which asks for more: whether the methods would differ if they were
    trained on other rows.

    Parameters
    ----------
    results : mapping of str to dict
        For each model what ``cross_validate(..., return_indices=True, return_estimator=True)``
        returned. All must come from the same splits: make them once,
        ``splits = list(cv.split(X, y, groups))``, and pass ``cv=splits`` in every call. Or
        out-of-fold answers, ``{"predictions": cross_val_predict(..., cv=splits), "indices":
        splits}``: one array in the forms that `compare_predictions` takes, or a
        `RecordedEstimator` where metrics need several. They are one answer a row, so that no row
        may be tested twice; answers to rows that no split tests are ignored.
    X : array-like, sparse matrix or dataframe of shape (n_rows, n_features), or None
        The rows that `cross_validate` was given. Predictions alone need none, unless a scorer
        looks at them.
    y : array-like of shape (n_rows,) or (n_rows, n_columns)
        Their truths, in the same order.
    scoring : str, scorer, callable, list, dict or None, default=None
        One or several metrics, as in `compare_estimators`; also a callable that returns a dict
        of values by name. ``None`` is the estimators' own ``score``.
    aggregate : {"folds", "pooled"}, default="folds"
        ``"folds"`` estimates the mean over the folds of the score in each, as scikit-learn
        reports it: every fold counts the same, whatever its size. ``"pooled"`` estimates the score
        of all out-of-fold answers together: every row counts the same, and a row that is tested m
        times has m answers with 1/m of its weight each. It needs no fold to have all classes, but
        metrics of ranks then compare scores of different models with one another [2]_.
        ``slices`` and ``permutation`` need it.
    {common}

    Returns
    -------
    ComparisonResult
        Estimates, intervals, p-values and verdicts, about the fold models; ``split_tests`` about
        the methods.

    See Also
    --------
    PairedBootstrapComparator : Fits, cross-validates and selects.
    compare_cv_results : The same for a fitted search, which keeps scores alone.
    selection_report : With the score of the best model, corrected for the selection.
    sklearn_pairboot.inference.corrected_resampled_ttest : The test of the splits.

    Notes
    -----
    The standard deviation of the fold scores, or 1.96 times it divided by the root of their
    number k, is no 95 % confidence interval. Fold scores share training rows: two of k folds have
    (k - 2) / (k - 1) of them in common. The corrected t test enlarges the variance of their mean
    from 1/k to 1/k + n_test/n_train [1]_. The bootstrap of the rows answers another question:
    would these fitted models differ on other rows.

    Cross-validation that has chosen a model, its features or its parameters is no test of that
    choice. Fix the choice, fit on all of these rows, and compare on rows that nobody has seen
    with `compare_estimators`; or see `bias_corrected_selection`.

    A row has one weight in a resample, however many folds test it. Rows that no fold tests take
    no part. A fold in which a fit failed is left out for all models; a fold without a value of a
    metric is left out of that metric's mean, for all models. Both are told of by a warning and a
    note.

    Splitters for groups inside an estimator, as in ``GridSearchCV(..., cv=GroupKFold())``, get the
    groups by metadata routing alone: ``sklearn.set_config(enable_metadata_routing=True)`` and
    ``cross_validate(..., params={"groups": groups})``. Here ``groups`` are the clusters to draw.

    Answers of `cross_val_predict` without their splits can be pooled alone:
    ``compare_predictions(y, {"a": cross_val_predict(a, X, y, cv=splits), ...})`` is the same as
    ``aggregate="pooled"``, without the test of the splits. Answers of several runs are put one
    after the other, with the row number as ``groups``. Probabilities and decision values are read
    as `cross_val_predict` gives them: classes are sorted, and the second of two is the positive
    one. Fold models that did not know a class count it as impossible there; `cross_validate` may
    refuse such folds.

    References
    ----------
    .. [1] C. Nadeau and Y. Bengio (2003). "Inference for the generalization error". Machine
       Learning 52, 239-281.
    .. [2] G. Forman and M. Scholz (2010). "Apples-to-apples in cross-validation studies: pitfalls
       in classifier performance measurement". SIGKDD Explorations 12(1), 49-57.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.model_selection import StratifiedKFold, cross_validate
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from sklearn_pairboot import compare_cross_validate
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> models = {
    ...     "tree": DecisionTreeClassifier(max_depth=3, random_state=0),
    ...     "logistic": make_pipeline(StandardScaler(), LogisticRegression()),
    ... }
    >>> splits = list(StratifiedKFold(5, shuffle=True, random_state=0).split(X, y))
    >>> results = {
    ...     name: cross_validate(
    ...         model, X, y, cv=splits, return_indices=True, return_estimator=True
    ...     )
    ...     for name, model in models.items()
    ... }
    >>> result = compare_cross_validate(results, X, y, scoring="accuracy", random_state=0)
    >>> print(f"{result.scores[1].estimate:.4f}, {results['logistic']['test_score'].mean():.4f}")
    0.9789, 0.9789
    >>> result.differences[0].verdict
    'better'
    >>> row = result.split_tests[0]
    >>> row.model, row.baseline, round(row.difference, 3), row.df
    ('logistic', 'tree', 0.049, 4)

    The same from out-of-fold answers:

    >>> from sklearn.model_selection import cross_val_predict
    >>> answers = {
    ...     name: {"predictions": cross_val_predict(model, X, y, cv=splits), "indices": splits}
    ...     for name, model in models.items()
    ... }
    >>> same = compare_cross_validate(answers, None, y, scoring="accuracy", random_state=0)
    >>> same.differences[0].difference == result.differences[0].difference
    True
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
    check_choice("aggregate", aggregate, AGGREGATES)
    labels = slice_columns(slices)
    if labels and aggregate == "folds":
        raise ValueError(
            f"`slices` must be None where scores of folds are averaged, got {shown(list(labels))}: "
            "a subgroup has few rows in a fold, or none, and folds would count the same whatever "
            "they hold of it. Pass aggregate='pooled'."
        )
    if permutation and aggregate == "folds":
        raise ValueError(
            "`permutation` must be False where scores of folds are averaged, got True. Pass "
            "aggregate='pooled'."
        )
    recorded = check_results(results)
    check_same_index(
        {
            "`X`": X,
            "`y`": y,
            "`groups`": groups,
            "`sample_weight`": sample_weight,
            **{f"slices[{name!r}]": column for name, column in labels.items()},
            "`strata`": getattr(resampling, "strata", None),
        }
    )
    truths = check_target(y, "y")
    X = rows_of(X, recorded, len(truths))
    subgroups = read_slices(labels, len(truths), tuple(recorded))
    splits = shared_splits(recorded, len(truths))
    recorded = answers_as_models(recorded, splits, X, y, truths, scoring)
    metrics = recorded_metrics(scoring, recorded, splits, X, truths)
    options.check_metrics(tuple(recorded), with_companions(metrics))
    weight = check_sample_weight(sample_weight, len(truths))
    given = {} if weight is None else {"sample_weight": weight}
    routed = Routed({}, {metric.name: dict(given) for metric in metrics}, {})
    plan = options.plan(groups)
    units, _ = units_of(plan, options, len(truths), y=truths, groups=groups, metrics=metrics)
    check_not_crossed(units)
    weighing = Weighing.of(plan, options.estimand, groups, len(truths), truths)
    check_weighted_scores(metrics, routed, weighing)
    folds, notes = recorded_folds(recorded, splits, metrics, X)
    data = Data(X, truths, truths, groups, units, weighing)
    scored = data.scored(routed.score)
    evaluated = evaluate_folds(
        data, folds, metrics, scored, aggregate=aggregate, subgroups=subgroups
    )
    notes += weighing.notes()
    if weight is None:
        keys = score_keys(metrics, recorded)
        notes += notes_on_other_scores(recorded, keys, evaluated.metrics, evaluated.values)
    if aggregate == "folds":
        n_folds = len(folds.kept)
        notes.append(
            f"Estimated is the mean over {n_folds} test fold{'s' if n_folds > 1 else ''} of each "
            "fold's score, as `cross_validate` reports it: every fold counts the same."
        )
    return evaluated.compare(options, weighted=weight is not None, notes=notes)
