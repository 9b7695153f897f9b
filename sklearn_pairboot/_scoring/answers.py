"""Answers of a model to test rows: the rules they must keep, and where they come from."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline
from sklearn.utils import ClassifierTags, RegressorTags, Tags, TargetTags

from sklearn_pairboot._scoring.checks import unmasked

RESPONSES = ("predict", "predict_proba", "decision_function")

Answer = NDArray[Any] | list[NDArray[Any]]  # a list: probabilities of several outputs


class SeveralArrays(ValueError):
    """The answers are one array an output, and do not fit into one array."""


_ULPS = 4
_ROWS_SHOWN = 5


def _missing(values: NDArray[Any]) -> NDArray[np.bool_]:
    """Mark NaN, infinite and (among objects) missing values."""
    if values.dtype.kind in "fc":
        return cast("NDArray[np.bool_]", ~np.isfinite(values))
    if values.dtype.kind in "mM":
        return cast("NDArray[np.bool_]", np.isnat(values))
    if values.dtype.kind == "O":
        return np.array([_is_missing(value) for value in values.ravel()], dtype=bool).reshape(
            values.shape
        )
    return np.zeros(values.shape, dtype=bool)


def _is_missing(value: Any) -> bool:
    try:
        return value is None or bool(value != value) or value in (np.inf, -np.inf)
    except (TypeError, ValueError):  # pandas.NA refuses to be true or false
        return True


def _name_rows(bad: NDArray[np.bool_]) -> str:
    """Say how many rows are marked, and which come first."""
    rows = np.flatnonzero(bad if bad.ndim == 1 else bad.any(axis=1))
    first = ", ".join(map(str, rows[:_ROWS_SHOWN]))
    more = ", ..." if len(rows) > _ROWS_SHOWN else ""
    return f"in {len(rows)} of {len(bad)} rows (row {first}{more})"


def checked(answer: Any, name: str, label: str, n_rows: int | None) -> NDArray[Any]:
    """Copy an answer into a read-only array that the kernels and scorers can rely on."""
    if isinstance(answer, np.ma.MaskedArray):
        answer = unmasked(answer)
    values = np.array(cast("Any", answer).toarray() if issparse(answer) else answer)
    if values.ndim == 2 and values.shape[1] == 1 and name != "predict_proba":
        values = values.ravel()
    if values.ndim not in (1, 2) or values.shape[0] == 0:
        raise ValueError(
            f"{label} must have shape (n_rows,) or (n_rows, n_columns) with at least one row, "
            f"got {values.shape}."
        )
    if n_rows is not None and values.shape[0] != n_rows:
        raise ValueError(f"{label} must have {n_rows} rows, got {values.shape[0]}.")
    bad = _missing(values)
    if bad.any():
        raise ValueError(
            f"{label} must be finite, got NaN, infinite or missing values {_name_rows(bad)}. "
            "Dropping a row for one model alone would break the pairing: repair the answers, or "
            "drop the rows for all models."
        )
    precision = np.finfo(values.dtype if values.dtype.kind == "f" else np.float64)
    tolerance = _ULPS * float(precision.eps)
    if name != "predict" and values.dtype.kind in "OUSbiu":
        try:
            values = values.astype(np.float64)
        except (TypeError, ValueError):
            raise ValueError(
                f"{label} must hold numbers, got values such as {values.flat[0]!r}."
            ) from None
    elif values.dtype.kind == "f" and values.dtype.itemsize < 8:
        values = values.astype(np.float64)
    if name == "predict_proba":
        bad = (values < -tolerance) | (values > 1 + tolerance)
        if bad.any():
            raise ValueError(
                f"{label} must lie between 0 and 1, got values from {values.min()!s} to "
                f"{values.max()!s}, outside {_name_rows(bad)}. Scores of any other range belong "
                "into `decision_function`."
            )
        np.clip(values, 0.0, 1.0, out=values)
    values.setflags(write=False)
    return values


def checked_parts(answer: Any, name: str, label: str, n_rows: int | None) -> Answer:
    """Check an answer, which may be a list of probabilities, one array an output."""
    if isinstance(answer, list | tuple) and len(answer) and np.ndim(answer[0]) == 2:
        parts = []
        for part in answer:
            parts.append(checked(part, name, label, n_rows))
            n_rows = len(parts[0])
        return parts
    return checked(answer, name, label, n_rows)


def one_array(answer: Answer, label: str) -> NDArray[Any]:
    """Give probabilities of several outputs as those of the second of two classes by output."""
    if not isinstance(answer, list):
        return answer
    if any(part.shape[1] != 2 for part in answer):
        raise SeveralArrays(
            f"{label} must give one array, or for each of several outputs the probabilities of two "
            f"classes, got shapes {', '.join(str(part.shape) for part in answer[:_ROWS_SHOWN])}. "
            "Compare the outputs one by one."
        )
    second = np.column_stack([part[:, 1] for part in answer])
    second.setflags(write=False)
    return second


def several_classes(classes: Any) -> bool:
    """Tell whether there is a list of classes for each of several outputs."""
    return isinstance(classes, list | tuple) and len(classes) > 0 and np.ndim(classes[0]) == 1


def check_classes_of_outputs(classes: Any, answers: Mapping[str, Answer]) -> list[NDArray[Any]]:
    """Check the classes of several outputs against the answers."""
    known = []
    for of_output in classes:
        values, order = checked_classes(of_output)
        if not np.array_equal(order, np.arange(len(order))):
            raise ValueError(f"`classes` of several outputs must be sorted, got {classes!r}.")
        known.append(values)
    for name, answer in answers.items():
        n_outputs = len(answer) if isinstance(answer, list) else (*answer.shape, 1)[1]
        if n_outputs != len(known):
            raise ValueError(
                f"`{name}` must have one column, or one array, for each of the {len(known)} "
                f"outputs that `classes` lists, got {n_outputs}."
            )
    return known


def checked_classes(classes: ArrayLike) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """Sort the classes; also give the position of each among the classes as passed."""
    kinds = {isinstance(label, str) for label in np.asarray(classes, dtype=object).ravel()}
    values = np.asarray(classes)
    if values.ndim != 1 or values.size == 0 or len(kinds) > 1 or _missing(values).any():
        raise ValueError(
            "`classes` must be a one-dimensional list of labels, all of them strings or none, "
            f"without missing ones, got {classes!r}."
        )
    order = np.argsort(values, kind="stable")
    if len(np.unique(values)) < len(values):
        raise ValueError(f"`classes` must be unique, got {classes!r}.")
    return values[order], order


def in_class_order(values: NDArray[Any], name: str, order: NDArray[np.intp]) -> NDArray[Any]:
    """Check the columns of an answer against the classes and bring them into sorted order."""
    n_classes = len(order)
    if name == "predict":
        return values
    two_scores = name == "decision_function" and n_classes == 2
    if values.ndim == 1 and n_classes == 2:  # a decision function, large for the second class
        ordered = values if order[0] == 0 else -values
    elif values.ndim == 2 and values.shape[1] == n_classes and not two_scores:
        ordered = values[:, order]
    elif name == "decision_function":
        raise ValueError(
            f"`decision_function` must have shape {_expected_scores(n_classes)} for {n_classes} "
            f"classes, got {values.shape}. Probabilities, one column a class, belong into "
            "`predict_proba`."
        )
    else:
        raise ValueError(
            f"`predict_proba` must have one column for each of the {n_classes} classes, got shape "
            f"{values.shape}. A vector of probabilities means those of the second of two classes."
        )
    ordered.setflags(write=False)
    return ordered


def _expected_scores(n_classes: int) -> str:
    return "(n_rows,)" if n_classes == 2 else f"(n_rows, {n_classes})"


def standard_score(estimator: Any) -> str | None:
    """Name the metric of an estimator's ``score`` where it is scikit-learn's own.

    ``"accuracy"`` or ``"r2"`` of the predictions, also behind a plain ``Pipeline`` or
    ``FrozenEstimator``; ``None`` where ``score`` is anything else, or absent.
    """
    if "score" in getattr(estimator, "__dict__", {}):
        return None
    own = inspect.getattr_static(type(estimator), "score", None)
    # These have methods of their own only for X=None: the dummies make up rows, and neighbours
    # leave each training row out of its own.
    # They bring half of scikit-learn along, which not everybody needs.
    from sklearn.neighbors import KNeighborsClassifier, RadiusNeighborsClassifier

    neighbours = KNeighborsClassifier, RadiusNeighborsClassifier
    for kind, owners in (
        ("accuracy", (ClassifierMixin, DummyClassifier, *neighbours)),
        ("r2", (RegressorMixin, DummyRegressor)),
    ):
        if any(own is inspect.getattr_static(owner, "score") for owner in owners):
            return kind
    if own is inspect.getattr_static(Pipeline, "score"):
        return standard_score(estimator.steps[-1][1])
    if type(estimator) is FrozenEstimator:
        return standard_score(estimator.estimator)
    return None


def plain_tags(estimator_type: str) -> Tags:
    """Tags of a model that brings none of its own."""
    return Tags(
        estimator_type=estimator_type,
        target_tags=TargetTags(required=True),
        classifier_tags=ClassifierTags() if estimator_type == "classifier" else None,
        regressor_tags=RegressorTags() if estimator_type == "regressor" else None,
    )


@dataclass
class Source:
    """Where answers come from: arrays, or an estimator that is asked once and only when needed."""

    label: str
    n_rows: int
    offered: tuple[str, ...]
    answers: dict[str, Answer]
    classes: Any = None  # sorted; of an estimator with several outputs a list
    estimator: Any = None
    X: Any = field(default=None, repr=False)
    own_tags: Tags | None = None
    score_kind: str | None = None

    def answer(self, name: str) -> Answer:
        if name not in self.answers:
            if self.X is None:
                raise ValueError(f"{self.label} has no recorded answers of `{name}`.")
            raw = getattr(self.estimator, name)(self.X)
            label = f"`{self.label}.{name}`"
            self.answers[name] = checked_parts(raw, name, label, self.n_rows)
        return self.answers[name]

    @property
    def tags(self) -> Tags:
        if self.own_tags is not None:
            return self.own_tags
        return plain_tags("regressor" if self.classes is None else "classifier")
