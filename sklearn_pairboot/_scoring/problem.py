"""What a kernel is built from: truths, answers, units and weights of one comparison."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_pairboot._engine.units import Units
from sklearn_pairboot._engine.weights import BoolArray, FloatArray, IntArray
from sklearn_pairboot._scoring.answers import SeveralArrays
from sklearn_pairboot._scoring.labels import Labels, encode, number
from sklearn_pairboot._scoring.recorded import RecordedEstimator

# What a scorer that takes no weights asks for.
UNWEIGHTED = "`sample_weight` must be None"


class NotServed(Exception):
    """The answers that a scorer takes are not those that a kernel is for."""


@dataclass(frozen=True)
class Problem:
    """One comparison as a kernel builder sees it.

    ``kind`` is ``"binary"``, ``"multiclass"`` or ``"continuous"``; truths of several columns are
    ``"multilabel"`` where all are 0 or 1, else ``"multioutput"``. ``pos_label`` is what the
    caller asked for, ``None`` if nothing was. ``methods`` are the scorer's response methods in
    the order of its preference, empty if any will do. ``unweighted`` says what must be so for a
    scorer that takes no weights. ``shared`` keeps what the builders of
    several metrics need.
    """

    y: NDArray[Any]
    kind: str
    records: tuple[RecordedEstimator, ...]
    units: Units
    sample_weight: FloatArray | None = None
    pos_label: Any = None
    methods: tuple[str, ...] = ()
    unweighted: str = UNWEIGHTED
    shared: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)

    @property
    def has_columns(self) -> bool:
        """Whether the truths have several columns."""
        return self.y.ndim == 2

    @property
    def row_weight(self) -> FloatArray:
        """Weight of every row, one by default."""
        return np.ones(len(self.y)) if self.sample_weight is None else self.sample_weight

    def responses(self, served: Sequence[str]) -> list[tuple[str, NDArray[Any]]]:
        """For each model the response method that the scorer takes, and its answers.

        Raises `NotServed` where a kernel is not for that method.
        """
        found = []
        for record in self.records:
            offered = [m for m in self.methods or served if m in record.responses]
            if not offered or offered[0] not in served:
                raise NotServed
            try:
                found.append((offered[0], record.response(offered[0])))
            except SeveralArrays:
                raise NotServed from None
        return found

    def predictions(self) -> list[NDArray[Any]]:
        """Predicted labels or values of every model; text in one type whatever it came in."""
        return [_as_text(answers) for _, answers in self.responses(["predict"])]

    def classes(self) -> list[NDArray[Any]]:
        """Class labels of every model, in the order of its probability columns."""
        return [np.asarray(record.classes_) for record in self.records]

    def binary_scores(
        self, methods: Sequence[str], pos_label: Any
    ) -> tuple[BoolArray, list[FloatArray]] | None:
        """Which rows are positive, and every model's score of the positive class.

        ``None`` where models or truths do not have the same two classes.
        """
        labels, _ = self.true_labels()
        scores: list[FloatArray] = []
        for (method, answers), classes in zip(self.responses(methods), self.classes(), strict=True):
            if len(classes) != 2 or not np.isin(labels, classes).all():
                return None
            if pos_label is None:
                pos_label = classes[1]
            if pos_label not in classes.tolist():
                return None
            first = classes.tolist().index(pos_label) == 0
            if method == "predict_proba":
                scores.append(np.ascontiguousarray(answers[:, 0 if first else 1]))
            elif answers.ndim == 1:
                scores.append(-answers if first else answers)
            else:
                return None
        return np.asarray(self.y == pos_label), scores

    def indicators(self) -> tuple[BoolArray, list[BoolArray]] | None:
        """Which labels each row has, and which every model predicts, shape (n_rows, n_labels).

        ``None`` where predictions are anything but zeros and ones for the labels of the truths.
        """
        predictions = self.predictions()
        if any(array.shape != self.y.shape or not is_indicator(array) for array in predictions):
            return None
        return self.y == 1, [array == 1 for array in predictions]

    def label_scores(self, methods: Sequence[str]) -> list[FloatArray] | None:
        """Every model's scores of the labels, in the shape of the truths; else ``None``."""
        scores = [answers for _, answers in self.responses(methods)]
        return None if any(array.shape != self.y.shape for array in scores) else scores

    def labels(self) -> Labels | None:
        """Truths and predictions as numbers of labels; ``None`` where they are no labels."""
        if self.kind not in ("binary", "multiclass"):
            return None
        predictions = self.predictions()
        if "labels" not in self.shared:
            self.shared["labels"] = encode(self.y, predictions)
        found: Labels | None = self.shared["labels"]
        return found

    def true_labels(self) -> tuple[NDArray[Any], IntArray]:
        """Give the distinct true labels in ascending order, and the number of each row's."""
        if "true labels" not in self.shared:
            self.shared["true labels"] = number(self.y)
        found: tuple[NDArray[Any], IntArray] = self.shared["true labels"]
        return found

    def true_columns(self, classes: Sequence[Any]) -> IntArray | None:
        """Place of each row's true label among classes; ``None`` where one is not among them."""
        distinct, codes = self.true_labels()
        places = {label: place for place, label in enumerate(classes)}
        if not set(distinct.tolist()) <= set(places):
            return None
        return np.array([places[label] for label in distinct.tolist()], dtype=np.int64)[codes]


def is_indicator(array: NDArray[Any]) -> bool:
    """Tell whether all values are 0 or 1."""
    return array.dtype.kind in "biuf" and bool(np.all((array == 0) | (array == 1)))


def _as_text(array: NDArray[Any]) -> NDArray[Any]:
    """Strings as NumPy's, where a model that was trained on objects answers with objects."""
    if array.dtype.kind == "O" and all(isinstance(value, str) for value in array.ravel()):
        return array.astype(str)
    return array
