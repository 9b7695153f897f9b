"""The models of several folds as one, which answers every row by a model that had not seen it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_pairboot._scoring.answers import RESPONSES, Source, several_classes
from sklearn_pairboot._scoring.recorded import RecordedEstimator


class _OutOfFold:
    """Answers to all recorded rows, in the order in which ``X`` has them."""

    def __init__(
        self,
        records: Sequence[RecordedEstimator],
        order: NDArray[np.intp],
        X: Any,
        classes: NDArray[Any] | None,
    ) -> None:
        self._records = records
        self._order = order
        self._X = X
        self._classes = classes

    def predict(self, X: Any) -> NDArray[Any]:
        """Give predicted labels or values."""
        return self._joined("predict", X)

    def predict_proba(self, X: Any) -> NDArray[Any]:
        """Give probabilities; classes that the model of a fold does not know have none."""
        return self._joined("predict_proba", X)

    def decision_function(self, X: Any) -> NDArray[Any]:
        """Give decision values."""
        return self._joined("decision_function", X)

    def _joined(self, name: str, X: Any) -> NDArray[Any]:
        if X is not self._X:
            raise ValueError(
                "The answers of all folds together are about the rows as they were tested: which "
                "fold's model to ask about other rows is not known. Use aggregate='folds'."
            )
        parts = [record.response(name) for record in self._records]
        if name == "predict_proba" and self._classes is not None:
            parts = [
                _spread(part, record.classes_, self._classes)
                for part, record in zip(parts, self._records, strict=True)
            ]
        return np.concatenate(parts)[self._order]


def out_of_fold_record(
    records: Sequence[RecordedEstimator], order: NDArray[np.intp], X: Any
) -> RecordedEstimator:
    """Join the records of one model's folds.

    ``order`` brings their rows, one fold after the other, into the order of ``X``.
    """
    first = records[0]._source
    classes, alike = _classes_of_all(records)
    offered = [name for name in RESPONSES if all(name in record.responses for record in records)]
    if not alike and "decision_function" in offered:
        offered.remove("decision_function")  # nothing says where an unknown class would rank
    return RecordedEstimator(
        Source(
            label=first.label,
            n_rows=len(order),
            offered=tuple(offered),
            answers={},
            classes=classes,
            estimator=_OutOfFold(records, order, X, None if alike else classes),
            X=X,
            own_tags=first.own_tags,
            score_kind=first.score_kind,
        )
    )


def _classes_of_all(records: Sequence[RecordedEstimator]) -> tuple[Any, bool]:
    """Give the classes that any fold knows, and whether all know the same."""
    of_folds = [record._source.classes for record in records]
    first = of_folds[0]
    if first is None or several_classes(first):
        return first, True
    alike = all(np.array_equal(first, classes) for classes in of_folds)
    return (first if alike else np.unique(np.concatenate(of_folds))), alike


def _spread(
    probabilities: NDArray[Any], classes: NDArray[Any], all_classes: NDArray[Any]
) -> NDArray[Any]:
    spread = np.zeros((len(probabilities), len(all_classes)))
    spread[:, np.searchsorted(all_classes, classes)] = probabilities
    return spread
