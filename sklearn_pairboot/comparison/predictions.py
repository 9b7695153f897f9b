"""Comparison of predictions that were made elsewhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
    plain,
    plain_keys,
    shown,
)
from sklearn_pairboot._scoring.recorded import RecordedEstimator
from sklearn_pairboot._scoring.resolve import Metric, resolve_scoring, shared_responses
from sklearn_pairboot.comparison._options import Options, with_common_parameters
from sklearn_pairboot.comparison._run import compare_records, kind_of
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
    sample_weight: Any = None,
    resampling: Any = "auto",
    n_resamples: int | str = 9999,
    confidence_level: float = 0.95,
    method: str = "percentile",
    alternative: str = "two-sided",
    correction: str | None = "holm",
    n_jobs: int | None = None,
    random_state: Any = None,
    verbose: int = 0,
) -> ComparisonResult:
    """Compare predictions of several models for the same rows by a paired bootstrap.

    It estimates the difference of a metric between models on the population that the rows, or
    their clusters, were drawn from. In each resample all models and metrics see the same rows.

    Parameters
    ----------
    y_true : array-like of shape (n_rows,)
        Truths.
    predictions : mapping of str to array-like or RecordedEstimator
        Answers of each model. One array serves all metrics that share one response: labels or
        values of shape (n_rows,); probabilities of the positive class, shape (n_rows,), or of
        all classes in sorted order, shape (n_rows, n_classes); decision values. Where metrics
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
        duplicate, missing and extra keys are an error. ``groups`` and ``sample_weight`` belong to
        the rows of ``y_true``.
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
        resampling=resampling,
        n_resamples=n_resamples,
        confidence_level=confidence_level,
        method=method,
        alternative=alternative,
        correction=correction,
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
    rows, notes = _rows_of(ids, predictions, groups, len(truths))
    if rows is None:
        check_same_index(
            {
                "`y_true`": y_true,
                **{f"predictions of {name!r}": predictions[name] for name in models},
                "`groups`": groups,
                "`sample_weight`": sample_weight,
                "`ids`": ids,
                "`strata`": getattr(resampling, "strata", None),
            }
        )
    weight = check_sample_weight(sample_weight, len(truths))
    _check_pos_label(pos_label, truths, predictions)
    records = {
        name: _record(name, predictions[name], truths, metrics, pos_label, rows) for name in models
    }
    warn_of_labels_as_scores(metrics, records)
    return compare_records(
        records,
        truths,
        metrics,
        options,
        groups=groups,
        sample_weight=weight,
        pos_label=pos_label,
        notes=notes,
    )


def _check_pos_label(pos_label: Any, y: NDArray[Any], predictions: Mapping[str, Any]) -> None:
    """Refuse a positive class that neither truths nor recorded answers know."""
    if pos_label is None:
        return
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


def _record(
    name: str,
    answers: Any,
    y: NDArray[Any],
    metrics: Sequence[Metric],
    pos_label: Any,
    rows: dict[str, NDArray[np.int64]] | None,
) -> RecordedEstimator:
    """Record one model's answers."""
    known = isinstance(answers, RecordedEstimator)
    if known and rows is not None:
        raise ValueError(
            f"`ids` can align plain arrays only, but model {name!r} is a RecordedEstimator. Order "
            "its arrays before they are recorded."
        )
    labels = np.unique(y)
    if known:
        check_length(range(answers.n_rows), len(y), f"The answers of model {name!r}")
        record: RecordedEstimator = answers
        if kind_of(y) != "continuous" and set(record.responses) - {"predict"}:
            record = record.with_classes(labels)
        return record
    if hasattr(answers, "predict"):
        raise TypeError(
            f"`predictions` must hold arrays or recorded answers, got {type(answers).__name__} for "
            f"model {name!r}. For fitted estimators use compare_estimators."
        )
    array = plain(answers)
    if array.ndim == 0:
        check_length(array, len(y), f"The answers of model {name!r}")
    if array.dtype.kind == "O" and all(isinstance(value, str) for value in array.ravel()):
        array = array.astype(str)
    if rows is not None:
        check_length(array, len(rows[name]), f"The answers of model {name!r}")
        array = array[rows[name]]
    check_length(array, len(y), f"The answers of model {name!r}")
    response = _response(name, array, metrics)
    _check_kind(name, array, response, y, metrics)
    check_finite(
        array,
        f"The answers of model {name!r}",
        "Rows cannot be dropped for one model alone: repair them, or drop them for all models.",
    )
    if response != "predict" and array.ndim == 1 and len(labels) > 2:
        raise ValueError(
            f"`predictions` must have one column for each of the {len(labels)} classes for "
            f"{metrics[0].name}, got shape {array.shape} for model {name!r}."
        )
    if response == "predict":
        return RecordedEstimator.from_arrays(predict=array)
    classes = _ordered_classes(labels, array, metrics, pos_label)
    if response == "predict_proba":
        return RecordedEstimator.from_arrays(predict_proba=array, classes=classes)
    return RecordedEstimator.from_arrays(decision_function=array, classes=classes)


def _response(name: str, array: NDArray[Any], metrics: Sequence[Metric]) -> str:
    shared = shared_responses(metrics)
    if not shared:
        needs = "; ".join(
            f"{metric.name} needs {' or '.join(metric.responses)}" for metric in metrics
        )
        raise ValueError(
            f"`predictions` must hold recorded answers where metrics need several responses, got "
            f"one array for model {name!r}, but {needs}. Pass RecordedEstimator.from_arrays("
            "predict=..., predict_proba=..., decision_function=..., classes=...)."
        )
    two_dimensional = array.ndim == 2 and array.shape[1] > 1
    if two_dimensional and "predict_proba" in shared:
        return "predict_proba"
    return shared[0]


def _check_kind(
    name: str, array: NDArray[Any], response: str, y: NDArray[Any], metrics: Sequence[Metric]
) -> None:
    """Refuse real values for metrics of labels, and labels for metrics of values."""
    if response != "predict":
        if array.dtype.kind not in "biuf":
            raise ValueError(
                f"`predictions` must be numbers for {metrics[0].name}, got {array.dtype} for model "
                f"{name!r}."
            )
        return
    of_labels = [
        metric.name
        for metric in metrics
        if getattr(metric.function, "__module__", "").endswith("_classification")
    ]
    text = array.dtype.kind == "U"
    if of_labels and array.dtype.kind in "Ubiuf" and y.dtype.kind in "Ubiuf":
        if text != (y.dtype.kind == "U"):
            raise TypeError(
                f"`predictions` must be labels of the same kind as `y_true` for {of_labels[0]}, "
                f"got {array[0].item()!r} for model {name!r} where a truth is {y[0].item()!r}."
            )
    # NaN and infinite values are told of elsewhere.
    values = array[np.isfinite(array)] if array.dtype.kind == "f" else array
    fractional = values[values != np.floor(values)] if array.dtype.kind == "f" else values[:0]
    if of_labels and len(fractional) and kind_of(y) != "continuous":
        example = float(fractional[0])
        raise ValueError(
            f"`predictions` must be labels for {of_labels[0]}, got real values such as "
            f"{example:.6g} for model {name!r}. Apply a threshold first, or pass "
            "RecordedEstimator.from_arrays(predict=..., predict_proba=...)."
        )


def _ordered_classes(
    labels: NDArray[Any], array: NDArray[Any], metrics: Sequence[Metric], pos_label: Any
) -> NDArray[Any]:
    """Order the classes so that the last of two is the one that scores speak of."""
    if array.ndim == 2 and array.shape[1] > 2:
        return labels
    explicit = [metric.kwargs["pos_label"] for metric in metrics if "pos_label" in metric.kwargs]
    if pos_label is None and explicit:
        pos_label = explicit[0]
    if len(labels) == 1:
        return _completed(labels, pos_label)
    if len(labels) > 2:
        return labels
    if pos_label is not None:
        if pos_label not in labels.tolist():
            raise ValueError(
                f"`pos_label` must be one of the labels {shown(labels.tolist())}, got "
                f"{pos_label!r}."
            )
        if array.ndim == 2 and array.shape[1] == 2:
            return labels
        return np.array([*labels[labels != pos_label], pos_label], dtype=labels.dtype)
    if labels.tolist() not in ([0, 1], [-1, 1]):
        raise ValueError(
            f"`pos_label` must be given for {metrics[0].name}: the labels are "
            f"{shown(labels.tolist())}, and nothing says which of them is the positive class."
        )
    return labels


def _completed(labels: NDArray[Any], pos_label: Any) -> NDArray[Any]:
    """Add the class that the truths lack, where labels are 0 and 1 or -1 and 1."""
    only = labels.tolist()[0]
    if pos_label is not None and pos_label != only:
        return np.array([only, pos_label])
    other = {0: 1, 1: 0, -1: 1}.get(only) if not isinstance(only, str) else None
    if other is None:
        raise ValueError(
            f"`y_true` must hold two classes, got only {only!r}: the metric is undefined."
        )
    return np.array(sorted([only, other]))
