"""The model selection report: candidates compared, the best one corrected, in one call."""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier
from sklearn.exceptions import FitFailedWarning
from sklearn.model_selection import cross_validate
from sklearn.utils import _safe_indexing  # in scikit-learn's API reference despite the underscore

from sklearn_pairboot._engine.seeds import entropy_of, is_integer
from sklearn_pairboot._scoring.checks import (
    check_names,
    check_same_index,
    check_target,
    plain,
    shown,
)
from sklearn_pairboot._scoring.out_of_fold import out_of_fold_record
from sklearn_pairboot._scoring.resolve import Metric, resolve_scoring
from sklearn_pairboot.comparison._candidates import candidates_of, is_search, scoring_of
from sklearn_pairboot.comparison._folds import Folds
from sklearn_pairboot.comparison._options import Options
from sklearn_pairboot.comparison._plans import check_not_crossed
from sklearn_pairboot.comparison._recorded_answers import (
    answers_as_models,
    record_on_fold,
    rows_of,
)
from sklearn_pairboot.comparison._recorded_folds import (
    check_results,
    recorded_folds,
    recorded_metrics,
    shared_splits,
)
from sklearn_pairboot.comparison._selection_report import SelectionReport
from sklearn_pairboot.comparison._splits import Rows, check_cv_option, make_splits, rows_for
from sklearn_pairboot.comparison.cross_validate import compare_cross_validate
from sklearn_pairboot.comparison.selection_bias import CorrectedSelection, bias_corrected_selection


def selection_report(
    candidates: Any,
    X: Any,
    y: Any,
    *,
    scoring: Any = None,
    cv: Any = None,
    groups: Any = None,
    baseline: str | None = None,
    method_comparison: Any = None,
    n_resamples: int = 9999,
    confidence_level: float = 0.95,
    method: str = "percentile",
    correction: str | None = "holm",
    n_jobs: int | None = None,
    random_state: Any = None,
) -> SelectionReport:
    """Cross-validate candidates, compare them, and report the best without its optimism.

    One call for what a report of a model selection must hold: every candidate's score with its
    interval, the differences from the baseline with verdicts that are corrected for their number
    and the corrected resampled t test of the splits beside them, the naive score of the best
    candidate beside the one that is corrected for the selection, and sentences for both outcomes.

    Parameters
    ----------
    candidates : mapping of str to estimator or dict, or search
        All candidates that were tried, at least two: unfitted estimators, which are
        cross-validated here on the same splits; or for each what
        ``cross_validate(..., return_indices=True, return_estimator=True)`` returned on shared
        splits, or out-of-fold answers as `compare_cross_validate` takes them, and then nothing is
        fitted. Or a search such as `GridSearchCV`, fitted or not,
        for the estimators that it tries, named by their parameters: they are cross-validated
        here once more, since a search keeps no answers.
    X : array-like, sparse matrix or dataframe of shape (n_rows, n_features)
        The rows.
    y : array-like of shape (n_rows,) or (n_rows, n_columns)
        Their truths.
    scoring : str, scorer, callable, list, dict or None, default=None
        One or several metrics, as in `compare_cross_validate`. The first one chooses. ``None``
        is the estimators' own ``score``, and for a search its metrics, that of ``refit`` first.
    cv : int, splitter, iterable of (train, test) or None, default=None
        How estimators are cross-validated. ``None`` or a number of folds: with ``groups``,
        splits that keep groups together, else scikit-learn's default. Must be None for results,
        which have their splits. ``None`` is a search's own ``cv``.
    groups : array-like of shape (n_rows,), default=None
        Cluster of each row: the splitter gets it, and whole clusters are resampled.
    baseline : str, default=None
        Candidate that the others are compared with; the first by default.
    method_comparison : MethodComparison, default=None
        What `compare_methods` or `compare_runs` found for some of the candidates. The report then
        says which shares of the variance come from training data, seeds and test rows.
    n_resamples : int, default=9999
        Number of resamples of the comparison, and of the correction for the selection.
    confidence_level : float, default=0.95
        Level of all intervals, in (0, 1).
    method : str, default="percentile"
        Interval method of the comparison, as in `compare_cross_validate`.
    correction : str or None, default="holm"
        Correction of p-values for the number of comparisons, as in `compare_cross_validate`.
    n_jobs : int, default=None
        Number of parallel jobs of the fits and of the resampling, as joblib takes it.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the resampling; splitters and estimators have their own.

    Returns
    -------
    SelectionReport
        With ``result``, ``selection`` and ``splits``; `summary`, `to_markdown` and `to_dict`
        write it.

    Raises
    ------
    ValueError
        Where candidates mix estimators and results, where results come from other splits, and
        where a method comparison lacks the metric that chooses.

    See Also
    --------
    compare_cross_validate : The comparison alone, with more options.
    bias_corrected_selection : The correction alone, after Tsamardinos et al. (2018).
    compare_methods : Training sets and seeds that vary.

    Notes
    -----
    Scores are those of all out-of-fold answers together, since the correction repeats the
    selection on resampled rows; they are not the mean of the folds' scores. Metrics of ranks then
    compare answers of different folds' models. A row that several folds test is drawn once for
    all of them. A split on which a fit failed is left out for all candidates, with a warning.

    The verdicts hold the fold models fixed; the corrected t test is about the methods. Neither is
    a test on rows that had no part in the choice: fit the selected candidate on all rows, and
    test it once on new ones.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.dummy import DummyClassifier
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from sklearn_pairboot import selection_report
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> candidates = {"guess": DummyClassifier()} | {
    ...     f"depth {k}": DecisionTreeClassifier(max_depth=k, random_state=0) for k in (1, 3)
    ... }
    >>> report = selection_report(
    ...     candidates, X, y, scoring="accuracy", n_resamples=999, random_state=0
    ... )
    >>> report.selection.selected
    'depth 3'
    >>> report.selection.corrected < report.selection.naive
    True
    >>> [row.verdict for row in report.result.differences]
    ['better', 'better']

    The candidates of a search:

    >>> from sklearn.model_selection import GridSearchCV
    >>> tree = DecisionTreeClassifier(random_state=0)
    >>> search = GridSearchCV(tree, {"max_depth": [1, 2, 3]}, scoring="accuracy")
    >>> found = selection_report(search, X, y, n_resamples=999, random_state=0).selection
    >>> found.selected, found.corrected < found.naive
    ('max_depth=2', True)
    """
    if is_search(candidates):
        cv = candidates.cv if cv is None else cv
        scoring = scoring_of(candidates) if scoring is None else scoring
        candidates = candidates_of(candidates)
    options = Options(
        baseline=baseline,
        n_resamples=n_resamples,
        confidence_level=confidence_level,
        method=method,
        correction=correction,
        n_jobs=n_jobs,
        random_state=random_state,
    )
    if not is_integer(n_resamples):
        raise ValueError(
            f"`n_resamples` must be an integer, got {n_resamples!r}: the correction for the "
            "selection has no exact form."
        )
    names, fitted = _check_candidates(candidates)
    if fitted and cv is not None:
        raise ValueError(
            f"`cv` must be None where `candidates` are results of cross_validate, got {cv!r}: "
            "they have their splits."
        )
    check_cv_option(cv)
    check_same_index({"`X`": X, "`y`": y, "`groups`": groups})
    truths = check_target(y, "y")
    options.settings(names, [])
    check_not_crossed(options.plan(groups).resampling_units(len(truths), y=truths, groups=groups))
    _check_methods(method_comparison, names)
    if not fitted:
        resolve_scoring(scoring, candidates)  # whose errors shall come before the fits
    results = (
        check_results(candidates)
        if fitted
        else _cross_validated(candidates, X, truths, cv, groups, n_jobs)
    )
    X = rows_of(X, results, len(truths))
    splits = shared_splits(results, len(truths))
    results = answers_as_models(results, splits, X, y, truths, scoring)
    metrics = recorded_metrics(scoring, results, splits, X, truths)
    _check_metric(method_comparison, metrics[0].name)
    entropy = entropy_of(random_state)
    result = compare_cross_validate(
        results,
        X,
        y,
        scoring=scoring,
        aggregate="pooled",
        baseline=baseline,
        groups=groups,
        n_resamples=n_resamples,
        confidence_level=confidence_level,
        method=method,
        correction=correction,
        n_jobs=n_jobs,
        random_state=entropy,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FitFailedWarning)  # the comparison has told of them
        folds, _ = recorded_folds(results, splits, metrics, X)
    rows, answers = _out_of_fold(folds, X, needs_X=metrics[0].function is None)
    selection = _corrected(
        truths,
        rows,
        answers,
        metrics[0],
        groups=groups,
        n_resamples=n_resamples,
        confidence_level=confidence_level,
        n_jobs=n_jobs,
        random_state=entropy,
    )
    return SelectionReport(
        result,
        selection,
        tuple((split.train, split.test) for split in splits),
        method_comparison,
    )


def _check_candidates(candidates: Any) -> tuple[tuple[str, ...], bool]:
    """Give the names, and whether there are results of cross_validate rather than estimators."""
    if not isinstance(candidates, Mapping):
        raise TypeError(
            "`candidates` must be a mapping from names to estimators or to results of "
            f"cross_validate, got {type(candidates).__name__}."
        )
    names = check_names(list(candidates))
    if len(names) < 2:
        raise ValueError("`candidates` must hold at least 2 candidates to choose from, got 1.")
    fitted = [name for name in names if isinstance(candidates[name], Mapping)]
    if fitted and len(fitted) < len(names):
        raise ValueError(
            "`candidates` must be all estimators or all results of cross_validate, got results for "
            f"{shown(fitted)} only."
        )
    for name in names if not fitted else ():
        estimator = candidates[name]
        if isinstance(estimator, type) or not hasattr(estimator, "fit"):
            raise TypeError(
                "`candidates` must hold estimators, objects with a method `fit`, or results of "
                f"cross_validate, got {estimator!r} for {name!r}."
            )
    return names, bool(fitted)


def _cross_validated(
    candidates: Mapping[str, Any],
    X: Any,
    y: NDArray[Any],
    cv: Any,
    groups: Any,
    n_jobs: int | None,
) -> dict[str, dict[str, Any]]:
    """Cross-validate every candidate on the same splits, and keep the models and the rows."""
    metadata = {} if groups is None else {"groups": groups}
    classifier = is_classifier(next(iter(candidates.values())))
    made = make_splits(cv, X, y, groups, classifier=classifier, metadata=metadata)
    splits = [(split.train, split.test) for split in made]
    results = {}
    for name, estimator in candidates.items():
        found = cross_validate(
            estimator,
            X,
            y,
            cv=splits,
            scoring=_unscored,
            n_jobs=n_jobs,
            return_estimator=True,
            return_indices=True,
        )
        results[name] = {key: found[key] for key in ("estimator", "indices")}
    return results


def _unscored(estimator: Any, X: Any, y: Any) -> float:
    """Stand in for the metrics, which are computed later from answers given once."""
    return 0.0


def _check_methods(methods: Any, names: Sequence[str]) -> None:
    """Check that a method comparison is one, and of candidates."""
    if methods is None:
        return
    if not all(hasattr(methods, name) for name in ("scores", "differences", "to_dict", "n_seeds")):
        raise TypeError(
            "`method_comparison` must be what compare_methods or compare_runs returned, got "
            f"{type(methods).__name__}."
        )
    others = [model for model in methods.models if model not in names]
    if others:
        raise ValueError(
            f"`method_comparison` must be about the candidates, got {shown(others)} besides."
        )


def _check_metric(methods: Any, metric: str) -> None:
    """Check that a method comparison holds the metric that chooses."""
    known = [] if methods is None else list(dict.fromkeys(row.metric for row in methods.scores))
    if known and metric not in known:
        raise ValueError(
            f"`method_comparison` must hold the metric that chooses, {metric!r}, got "
            f"{shown(known)}."
        )


def _out_of_fold(folds: Folds, X: Any, *, needs_X: bool) -> tuple[Rows, dict[str, Any]]:
    """Join every candidate's answers: one for each test of a row, in the order of the rows."""
    tests = [folds.splits[number].test for number in folds.kept]
    rows = np.concatenate(tests)
    order = np.argsort(rows, kind="stable")
    rows = rows[order]
    X_rows = _safe_indexing(X, rows) if needs_X else rows
    answers = {}
    for name in folds.models[folds.kept[0]]:
        records = []
        for number in folds.kept:
            model, split = folds.models[number][name], folds.splits[number]
            own = rows_for(model, X, split.test, split.train)
            records.append(record_on_fold(model, own))
        answers[name] = out_of_fold_record(records, order, X_rows)
    return rows, answers


def _corrected(
    truths: NDArray[Any],
    rows: Rows,
    answers: Mapping[str, Any],
    metric: Metric,
    *,
    groups: Any,
    **options: Any,
) -> CorrectedSelection:
    """Correct the selection; a row that is tested several times is drawn and weighs as one."""
    n_tests = np.bincount(rows)[rows]
    repeated = int(n_tests.max()) > 1
    of_row = rows if repeated else None
    found = bias_corrected_selection(
        truths[rows],
        answers,
        scoring={metric.name: metric.scorer},
        groups=of_row if groups is None else plain(groups)[rows],
        sample_weight=1.0 / n_tests if np.ptp(n_tests) > 0 else None,
        **options,
    )
    return dataclasses.replace(found, unit="rows") if groups is None else found
