"""Comparison of predictions that were made elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_pairboot._scoring.checks import (
    align,
    check_finite,
    check_keys,
    check_length,
    check_names,
    check_same_index,
    check_sample_weight,
    check_target,
    is_missing,
    plain_keys,
    shown,
)
from sklearn_pairboot._scoring.recorded import RecordedEstimator
from sklearn_pairboot._scoring.resolve import resolve_scoring
from sklearn_pairboot.comparison._answers import record_of
from sklearn_pairboot.comparison._options import Options, with_common_parameters
from sklearn_pairboot.comparison._run import compare_records
from sklearn_pairboot.comparison._slices import read_slices, slice_columns
from sklearn_pairboot.comparison._warnings import repeated_ids_note, warn_of_labels_as_scores
from sklearn_pairboot.result import ComparisonResult


@with_common_parameters
def compare_predictions(
    y_true: Any,
    predictions: Any,
    *,
    scoring: Any,
    pos_label: Any = None,
    ids: Any = None,
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
    """Compare predictions of several models for the same rows by a paired bootstrap.

    It estimates the difference of a metric between models on the population that the rows, or
    their clusters, were drawn from. In each resample all models and metrics see the same rows.

    Parameters
    ----------
    y_true : array-like of shape (n_rows,) or (n_rows, n_columns)
        Truths. Several columns are several outputs of a regression or, where all values are 0 or
        1, the labels of multilabel targets.
    predictions : mapping of str to array-like or RecordedEstimator
        Answers of each model. One array serves all metrics that share one response: labels or
        values in the shape of ``y_true``; probabilities of the positive class, shape (n_rows,), or
        of all classes in sorted order, shape (n_rows, n_classes); decision values. Of multilabel
        targets one probability or decision value a label, shape (n_rows, n_labels). Where metrics
        need several responses pass ``RecordedEstimator.from_arrays(predict=..., ...)``.
    scoring : str, scorer, callable, list or dict
        One or several metrics: names that scikit-learn knows, scorers of `make_scorer`, callables
        ``scorer(estimator, X, y)``; a list of these, or a dict that names them.
    pos_label : label, default=None
        Positive class of binary metrics. ``None`` is 1 for labels {0, 1} and {-1, 1}; other
        labels need it, unless recorded answers know their ``classes``.
    ids : array-like of shape (n_rows,) or mapping of str to array-like, default=None
        Keys of the items. One array names the rows as they are. A mapping from every model's
        name, and ``"y_true"``, to the keys of its own rows aligns the answers to the truths;
        duplicate, missing and extra keys are an error. ``groups``, ``test_sets`` and
        ``sample_weight`` belong to the rows of ``y_true``.
    {common}

    Returns
    -------
    ComparisonResult
        Estimates, intervals, p-values and verdicts.

    See Also
    --------
    compare_estimators : The same for fitted estimators, which predict once.
    compare_scores : The same for per-item scores.

    Examples
    --------
    >>> from sklearn_pairboot import compare_predictions
    >>> y = [0, 0, 0, 0, 1, 1, 1, 1]
    >>> result = compare_predictions(
    ...     y,
    ...     {"old": [0, 1, 0, 1, 1, 0, 1, 1], "new": [0, 0, 0, 1, 1, 1, 1, 1]},
    ...     scoring=["accuracy", "f1"],
    ...     random_state=0,
    ... )
    >>> [(row.metric, round(row.difference, 3)) for row in result.differences]
    [('accuracy', 0.25), ('f1', 0.222)]
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
    if not isinstance(predictions, Mapping):
        raise TypeError(
            "`predictions` must be a mapping from model names to answers, got "
            f"{type(predictions).__name__}."
        )
    models = check_names(list(predictions))
    truths = check_target(y_true)
    metrics = resolve_scoring(scoring)
    labels = slice_columns(slices)
    rows, notes = _rows_of(ids, predictions, groups, len(truths))
    if rows is None:
        check_same_index(
            {
                "`y_true`": y_true,
                **{f"predictions of {name!r}": predictions[name] for name in models},
                "`groups`": groups,
                "`test_sets`": test_sets,
                "`sample_weight`": sample_weight,
                **{f"slices[{name!r}]": column for name, column in labels.items()},
                "`ids`": ids,
                "`strata`": getattr(resampling, "strata", None),
            }
        )
    weight = check_sample_weight(sample_weight, len(truths))
    _check_pos_label(pos_label, truths, predictions)
    records = {
        name: record_of(name, predictions[name], truths, metrics, pos_label, rows)
        for name in models
    }
    warn_of_labels_as_scores(metrics, records)
    return compare_records(
        records,
        truths,
        metrics,
        options,
        groups=groups,
        test_sets=test_sets,
        test_set_weights=test_set_weights,
        sample_weight=weight,
        subgroups=read_slices(labels, len(truths), models),
        pos_label=pos_label,
        notes=notes,
    )


def _check_pos_label(pos_label: Any, y: NDArray[Any], predictions: Mapping[str, Any]) -> None:
    """Refuse a positive class that neither truths nor recorded answers know."""
    if pos_label is None:
        return
    if y.ndim == 2:
        raise ValueError(
            f"`pos_label` must be None where `y_true` has several columns, got {pos_label!r}: of "
            "each label 1 is the positive class."
        )
    known = dict.fromkeys(np.unique(y).tolist())
    for answers in predictions.values():
        if isinstance(answers, RecordedEstimator):
            known |= dict.fromkeys(np.asarray(getattr(answers, "classes_", ())).tolist())
    if np.ndim(pos_label) != 0 or is_missing(pos_label):
        raise ValueError(f"`pos_label` must be one label, got {pos_label!r}.")
    if len(known) > 1 and pos_label not in known:
        raise ValueError(
            f"`pos_label` must be one of the labels {shown(known)}, got {pos_label!r}."
        )


def _rows_of(
    ids: Any, predictions: Mapping[str, Any], groups: Any, n_rows: int
) -> tuple[dict[str, NDArray[np.int64]] | None, list[str]]:
    """Find which row of each model belongs to each truth; ``None`` where positions pair."""
    if ids is None:
        return None, []
    if not isinstance(ids, Mapping):
        keys = plain_keys(ids)
        check_length(keys, n_rows, "`ids`")
        check_finite(keys, "`ids`")
        check_keys(keys, "`ids`")
        return None, repeated_ids_note(keys, groups)
    expected = {"y_true", *predictions}
    if set(ids) != expected:
        raise ValueError(
            f"`ids` must name 'y_true' and every model, {shown(sorted(expected))}, got "
            f"{shown(sorted(ids))}."
        )
    check_length(check_keys(ids["y_true"], "`ids['y_true']`"), n_rows, "`ids['y_true']`")
    _, rows = align(ids, "y_true")
    # Truths keep their order, in which groups and weights were given.
    return rows, []
