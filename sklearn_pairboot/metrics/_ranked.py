"""Checked input of the metrics that rank rows of two classes."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sklearn_pairboot._engine.weights import BoolArray, FloatArray
from sklearn_pairboot._scoring.checks import (
    check_finite,
    check_length,
    check_same_index,
    check_sample_weight,
    plain_columns,
)
from sklearn_pairboot.metrics._forecasts import is_positive, of_positive, one_column


class Ranked(NamedTuple):
    """Which rows are positive, their scores and weights."""

    positive: BoolArray
    scores: NDArray[Any]
    sample_weight: FloatArray | None

    @property
    def has_both_classes(self) -> bool:
        """Whether rows of both classes have weight."""
        weight = self.sample_weight
        counted = self.positive if weight is None else self.positive[weight > 0]
        return bool(counted.any() and not counted.all())


def check_ranked(
    y_true: Any,
    y_score: Any,
    *,
    pos_label: Any = None,
    labels: Any = None,
    sample_weight: Any = None,
    name: str = "`y_score`",
) -> Ranked:
    """Check truths of two classes and scores; the larger label is positive unless one is named."""
    check_same_index({"`y_true`": y_true, name: y_score, "`sample_weight`": sample_weight})
    y = one_column(y_true)
    known = np.unique(y) if labels is None else np.unique(np.asarray(labels))
    positive = is_positive(y, pos_label, known if len(known) == 2 else None)
    table = plain_columns(y_score)
    check_length(table, len(y), name)
    scores = check_scores(of_positive(table, y, pos_label, labels), name)
    return Ranked(positive, scores, check_sample_weight(sample_weight, len(y)))


def check_scores(scores: NDArray[Any], name: str = "`y_score`") -> NDArray[Any]:
    """Check one score a row: finite numbers, kept in their type, since compared exactly."""
    if scores.ndim != 1 or scores.dtype.kind not in "iufb":
        raise ValueError(
            f"{name} must hold one number a row, got shape {scores.shape} of dtype {scores.dtype}."
        )
    check_finite(scores, name)
    return scores
