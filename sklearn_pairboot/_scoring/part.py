"""Recorded answers to some of the rows, without copies."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike, NDArray

from sklearn_pairboot._scoring.recorded import RecordedEstimator
from sklearn_pairboot._scoring.views import RecordedView, Rows


class RecordedPart(RecordedEstimator):
    """A record whose rows are some of the rows of another."""

    def __init__(self, whole: RecordedEstimator, rows: Rows) -> None:
        super().__init__(whole._source)
        self._whole = whole
        self._question = None
        self._rows: Rows = rows

    @property
    def n_rows(self) -> int:
        """Number of rows in the part."""
        return len(self._rows)

    def response(self, name: str) -> NDArray[Any]:
        """Give the recorded answers to the rows of the part."""
        answers: NDArray[Any] = self._whole.response(name)[self._rows]
        return answers

    def take(self, rows: ArrayLike) -> tuple[RecordedView, Any]:
        """Hand out the answers to some rows of the part."""
        return self._whole.take(self._rows[self._checked_rows(rows)])

    def _take_numbers(self, rows: Rows) -> tuple[RecordedView, Rows]:
        return self._whole._take_numbers(self._rows[rows])

    def _take_all(self) -> tuple[RecordedView, Any]:
        return self._whole.take(self._rows)

    def _answers_only(self) -> RecordedEstimator:
        return RecordedPart(self._whole._answers_only(), self._rows)
