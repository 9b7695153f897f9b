"""What a kernel is built from: truths, answers, units and weights of one comparison."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_pairboot._engine.units import Units
from sklearn_pairboot._engine.weights import BoolArray, FloatArray, IntArray
from sklearn_pairboot._scoring.recorded import RecordedEstimator


class NotServed(Exception):
    """The answers that a scorer takes are not those that a kernel is for."""


@dataclass(frozen=True)
class Problem:
    """One comparison as a kernel builder sees it.

    ``kind`` is ``"binary"``, ``"multiclass"`` or ``"continuous"``. ``pos_label`` is what the
    caller asked for, ``None`` if nothing was. ``methods`` are the scorer's response methods in
    the order of its preference, empty if any will do.
    """

    y: NDArray[Any]
    kind: str
    records: tuple[RecordedEstimator, ...]
    units: Units
    sample_weight: FloatArray | None = None
    pos_label: Any = None
    methods: tuple[str, ...] = ()

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
            found.append((offered[0], record.response(offered[0])))
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
        labels = np.unique(self.y)
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

    def encoded(self) -> tuple[IntArray, list[IntArray], NDArray[Any]] | None:
        """Truths and predictions as numbers of the distinct labels in any of them.

        ``None`` where they cannot be compared, such as numbers with strings.
        """
        predictions = self.predictions()
        kinds = {"S" if array.dtype.kind in "US" else array.dtype.kind for array in predictions}
        truth_kind = "S" if self.y.dtype.kind in "US" else self.y.dtype.kind
        numeric = set("biuf")
        if not (kinds | {truth_kind}) <= numeric and kinds != {truth_kind}:
            return None
        if any(array.ndim != 1 or _is_real(array) for array in predictions):
            return None
        try:
            labels, codes = np.unique(np.concatenate([self.y, *predictions]), return_inverse=True)
        except TypeError:
            return None
        parts = np.split(codes.reshape(-1).astype(np.int64), 1 + len(predictions))
        return parts[0], parts[1:], labels


def _as_text(array: NDArray[Any]) -> NDArray[Any]:
    """Strings as NumPy's, where a model that was trained on objects answers with objects."""
    if array.dtype.kind == "O" and all(isinstance(value, str) for value in array.ravel()):
        return array.astype(str)
    return array


def _is_real(array: NDArray[Any]) -> bool:
    """Tell values of a regression from labels, which may be floats too."""
    return array.dtype.kind == "f" and bool(np.any(array != np.floor(array)))
