"""What calibration is measured on: predicted probabilities of events, and which came about."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sklearn_pairboot._engine.weights import BoolArray, FloatArray, IntArray
from sklearn_pairboot._scoring.answers import checked
from sklearn_pairboot._scoring.checks import (
    check_length,
    check_same_index,
    check_sample_weight,
    check_target,
    plain_columns,
    shown,
)
from sklearn_pairboot._scoring.labels import number

KINDS = ("positive", "top-label", "classwise")


class Event(NamedTuple):
    """Predicted probabilities of an event for every row, and whether it came about (0 or 1)."""

    predictions: FloatArray
    outcomes: FloatArray


class Binary(NamedTuple):
    """Checked input of a metric of two classes."""

    outcomes: FloatArray
    predictions: FloatArray
    sample_weight: FloatArray | None

    @property
    def weight(self) -> FloatArray:
        """Weight of every row, one by default."""
        if self.sample_weight is None:
            return np.ones(len(self.outcomes))
        return self.sample_weight


def events_of_two_classes(positive: BoolArray, scores: FloatArray, kind: str) -> list[Event]:
    """Give the events of two classes, from the probabilities of the positive one."""
    outcomes = positive.astype(np.float64)
    if kind == "positive":
        return [Event(scores, outcomes)]
    if kind == "classwise":
        return [Event(1 - scores, 1 - outcomes), Event(scores, outcomes)]
    right = (scores > 0.5) == positive
    return [Event(np.maximum(scores, 1 - scores), right.astype(np.float64))]


def events_of_several_classes(codes: IntArray, table: FloatArray, kind: str) -> list[Event]:
    """Give the events of several classes, one a column of the probabilities."""
    if kind == "classwise":
        return [
            Event(np.ascontiguousarray(column), (codes == k).astype(np.float64))
            for k, column in enumerate(table.T)
        ]
    right = np.argmax(table, axis=1) == codes
    return [Event(table.max(axis=1), right.astype(np.float64))]


def check_events(
    y_true: Any, y_prob: Any, *, kind: str, pos_label: Any, labels: Any, sample_weight: Any
) -> tuple[list[Event], FloatArray | None]:
    """Check the input of a calibration error."""
    check_same_index({"`y_true`": y_true, "`y_prob`": y_prob, "`sample_weight`": sample_weight})
    y = one_column(y_true)
    table = plain_columns(y_prob)
    check_length(table, len(y), "`y_prob`")
    table = checked(table, "predict_proba", "`y_prob`", len(y))
    weight = check_sample_weight(sample_weight, len(y))
    if table.ndim == 2 and table.shape[1] == 1:
        table = table[:, 0]
    if table.ndim == 2 and table.shape[1] > 2:
        if kind == "positive":
            raise ValueError(
                "`kind` must be 'top-label' or 'classwise' for probabilities of several classes, "
                f"got 'positive' with `y_prob` of shape {table.shape}."
            )
        if pos_label is not None:
            raise ValueError(f"`pos_label` must be None for several classes, got {pos_label!r}.")
        codes = _class_numbers(y, labels, table.shape[1])
        return events_of_several_classes(codes, table, kind), weight
    positive = is_positive(y, pos_label, labels)
    scores = of_positive(table, y, pos_label, labels)
    return events_of_two_classes(positive, scores, kind), weight


def check_binary(
    y_true: Any, y_prob: Any, *, pos_label: Any = None, sample_weight: Any = None
) -> Binary:
    """Check the input of a metric of two classes: probabilities of the positive one."""
    (event,), weight = check_events(
        y_true,
        y_prob,
        kind="positive",
        pos_label=pos_label,
        labels=None,
        sample_weight=sample_weight,
    )
    return Binary(event.outcomes, event.predictions, weight)


def one_column(y_true: Any) -> NDArray[Any]:
    """Check truths of one column; a single row will do."""
    y = check_target(y_true, least=1)
    if y.ndim != 1:
        raise ValueError(f"`y_true` must have shape (n_rows,), got {y.shape}.")
    return y


def of_positive(table: NDArray[Any], y: NDArray[Any], pos_label: Any, labels: Any) -> Any:
    """Take the column of the positive class, where there is one for each class in sorted order."""
    if table.ndim != 2 or table.shape[1] > 2:
        return table
    known = _distinct(y if labels is None else labels)
    if pos_label is None:
        return table[:, -1]
    if known == [pos_label]:  # the other class is absent, and may be either
        first = pos_label in (0, -1)
    else:
        first = pos_label == min([*known, pos_label], key=lambda one: (isinstance(one, str), one))
    return table[:, 0 if first else -1]


def is_positive(y: NDArray[Any], pos_label: Any, labels: Any = None) -> BoolArray:
    """Tell which rows are of the positive class: the one named, 1, or the second of ``labels``."""
    distinct, codes = number(y)
    found = distinct.tolist()
    known = found if labels is None else [*_distinct(labels)]
    unknown = [label for label in found if label not in known]
    if len(known) > 2 or unknown:
        raise ValueError(
            f"`y_true` must hold 2 classes at most, got {shown(unknown or known)}. Of several "
            "classes pass the probabilities of each, shape (n_rows, n_classes)."
        )
    if pos_label is None:
        if labels is not None and len(known) == 2:
            pos_label = known[1]
        elif all(label in (0, 1, -1) for label in known):
            pos_label = 1
        else:
            raise ValueError(
                f"`pos_label` must be given where the labels are {shown(known)}, got None. Pass "
                "the class that `y_prob` holds the probabilities of."
            )
    elif np.ndim(pos_label) != 0 or (len(known) == 2 and pos_label not in known):
        raise ValueError(f"`pos_label` must be one of {shown(known)}, got {pos_label!r}.")
    return np.array([label == pos_label for label in found])[codes]


def _class_numbers(y: NDArray[Any], labels: Any, n_classes: int) -> IntArray:
    """Give each row the number of its class among the columns of the probabilities."""
    distinct, codes = number(y)
    found = distinct.tolist()
    known = found if labels is None else _distinct(labels)
    unknown = [label for label in found if label not in known]
    if len(known) != n_classes or unknown:
        raise ValueError(
            f"`labels` must name the {n_classes} classes of the columns of `y_prob` in sorted "
            f"order, among them all of `y_true`, got {shown(known)}."
        )
    return np.array([known.index(label) for label in found])[codes]


def _distinct(labels: Any) -> list[Any]:
    distinct: list[Any] = np.unique(np.asarray(labels)).tolist()
    return distinct
