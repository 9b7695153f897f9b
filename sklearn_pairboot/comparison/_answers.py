"""One model's answers, as an array or recorded, made into a record that the metrics can use."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_pairboot._scoring.checks import (
    check_finite,
    check_length,
    one_hot_hint,
    plain,
    plain_columns,
    shown,
)
from sklearn_pairboot._scoring.recorded import RecordedEstimator
from sklearn_pairboot._scoring.resolve import Metric, shared_responses
from sklearn_pairboot.comparison._run import kind_of


def record_of(
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
    if known:
        check_length(range(answers.n_rows), len(y), f"The answers of model {name!r}")
        record: RecordedEstimator = answers
        scored = bool(set(record.responses) - {"predict"})
        if scored and kind_of(y) != "continuous":
            record = _with_labels(record, y)
        return record
    if hasattr(answers, "predict"):
        raise TypeError(
            f"`predictions` must hold arrays or recorded answers, got {type(answers).__name__} for "
            f"model {name!r}. For fitted estimators use compare_estimators."
        )
    array = _columns_of(answers) if y.ndim == 2 else plain(answers)
    if array.ndim == 0:
        check_length(array, len(y), f"The answers of model {name!r}")
    if array.dtype.kind == "O" and all(isinstance(value, str) for value in array.ravel()):
        array = array.astype(str)
    if rows is not None:
        check_length(array, len(rows[name]), f"The answers of model {name!r}")
        array = array[rows[name]]
    check_length(array, len(y), f"The answers of model {name!r}")
    response = _response(name, array, y, metrics)
    if y.ndim == 2:
        _check_shape(name, array, y, metrics)
    _check_kind(name, array, response, y, metrics)
    check_finite(
        array,
        f"The answers of model {name!r}",
        "Rows cannot be dropped for one model alone: repair them, or drop them for all models.",
    )
    if response == "predict":
        return RecordedEstimator.from_arrays(predict=array)
    if y.ndim == 2:
        return _with_labels(RecordedEstimator.from_arrays(**{response: array}), y)
    labels = np.unique(y)
    if array.ndim == 1 and len(labels) > 2:
        raise ValueError(
            f"`predictions` must have one column for each of the {len(labels)} classes for "
            f"{metrics[0].name}, got shape {array.shape} for model {name!r}."
        )
    classes = _ordered_classes(labels, array, metrics, pos_label)
    if response == "predict_proba":
        try:
            return RecordedEstimator.from_arrays(predict_proba=array, classes=classes)
        except ValueError as error:
            raise ValueError(f"Model {name!r} must give probabilities: {error}") from error
    return RecordedEstimator.from_arrays(decision_function=array, classes=classes)


def _columns_of(answers: Any) -> NDArray[Any]:
    """Give answers for several columns; of a list of probabilities, one array a label, the second.

    That is how estimators such as forests give the probabilities of several labels.
    """
    if isinstance(answers, list | tuple) and len(answers) and np.ndim(answers[0]) == 2:
        return RecordedEstimator.from_arrays(predict_proba=answers).response("predict_proba")
    return plain_columns(answers)


def _with_labels(record: RecordedEstimator, y: NDArray[Any]) -> RecordedEstimator:
    """Let a record know the classes, of multilabel targets those of every label."""
    if y.ndim == 1:
        return record.with_classes(np.unique(y))
    if kind_of(y) != "multilabel":
        return record
    return record.with_classes([np.array([0, 1])] * y.shape[1])


def _check_shape(
    name: str, array: NDArray[Any], y: NDArray[Any], metrics: Sequence[Metric]
) -> None:
    """Refuse answers that are not one for each column of the truths."""
    if array.shape != y.shape:
        remedy = one_hot_hint(y) or " Give one answer a column, or compare one column at a time."
        raise ValueError(
            f"`predictions` must have the shape of `y_true`, {y.shape}, for {metrics[0].name}, got "
            f"{array.shape} for model {name!r}.{remedy}"
        )


def _response(name: str, array: NDArray[Any], y: NDArray[Any], metrics: Sequence[Metric]) -> str:
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
    of_classes = y.ndim == 1 and array.ndim == 2 and array.shape[1] > 1
    if of_classes and "predict_proba" in shared:
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
                f"got {array.ravel()[0].item()!r} for model {name!r} where a truth is "
                f"{y.ravel()[0].item()!r}."
            )
    # NaN and infinite values are told of elsewhere.
    values = array[np.isfinite(array)] if array.dtype.kind == "f" else array
    fractional = values[values != np.floor(values)] if array.dtype.kind == "f" else values[:0]
    if of_labels and len(fractional) and kind_of(y) not in ("continuous", "multioutput"):
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
