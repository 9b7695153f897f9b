"""Warnings about inputs that are legal and yet most likely a mistake."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import average_precision_score, roc_auc_score

from sklearn_pairboot._scoring.answers import SeveralArrays
from sklearn_pairboot._scoring.recorded import RecordedEstimator
from sklearn_pairboot._scoring.resolve import Metric
from sklearn_pairboot._tables import listed
from sklearn_pairboot.metrics import tie_aware_auc

_RANKING = (roc_auc_score, average_precision_score, tie_aware_auc)
_TOO_MANY = 1000
_ROWS_PER_SCORE = 2  # on average; more are worth a note


def warn_of_labels_as_scores(
    metrics: Sequence[Metric], records: Mapping[str, RecordedEstimator], *, of_models: bool = False
) -> None:
    """Warn where a ranking metric gets two distinct scores: they look like predicted labels.

    Scores of models are what they are, unless the scorer asks for predictions.
    """
    ranking = [metric for metric in metrics if metric.function in _RANKING]
    if not ranking:
        return
    suspects = []
    for name, record in records.items():
        method = next((m for m in ranking[0].responses if m in record.responses), None)
        if method is None or (of_models and method != "predict"):
            continue
        try:
            answers = record.response(method)
        except SeveralArrays:
            continue
        columns = [answers] if answers.ndim == 1 else list(answers.T)
        if len(answers) > 2 and all(_has_two_values(column) for column in columns):
            suspects.append(name)
    if suspects:
        warnings.warn(
            f"{ranking[0].name} got only two distinct scores from {', '.join(suspects)}. If these "
            "are predicted labels, pass probabilities or decision values: labels say little of a "
            "ranking.",
            UserWarning,
            stacklevel=3,
        )


def _has_two_values(scores: NDArray[Any]) -> bool:
    """Tell quickly: a look at some rows settles nearly every case before the full look."""
    return len(np.unique(scores[:_TOO_MANY])) <= 2 and len(np.unique(scores)) == 2


def tied_scores_note(
    metrics: Sequence[Metric], of_folds: Sequence[Mapping[str, RecordedEstimator]]
) -> list[str]:
    """Note models that give the ranking metrics of two classes few distinct scores.

    Rows are ranked within each of the ``of_folds``, and distinct scores counted there.
    """
    ranking = [metric for metric in metrics if metric.function in _RANKING]
    counts, n_rows = [], 0
    for name in of_folds[0] if ranking and of_folds else ():
        scores = [_scores_of(records[name], ranking[0]) for records in of_folds]
        known = [of_fold for of_fold in scores if of_fold is not None]
        if len(known) < len(of_folds):
            continue
        n_rows = sum(map(len, known))
        n_distinct = sum(len(np.unique(of_fold)) for of_fold in known)
        if n_distinct * _ROWS_PER_SCORE < n_rows:
            counts.append(f"{name} {n_distinct}")
    if not counts:
        return []
    where = f" in {len(of_folds)} test folds, counted in each" if len(of_folds) > 1 else ""
    return [
        f"Distinct scores behind {listed([metric.name for metric in ranking])}: {listed(counts)}, "
        f"on {n_rows} rows{where}. How a model would order rows with equal scores is not known: in "
        "ROC AUC a pair of them counts half, and `auc_ties` gives the least and the largest area."
    ]


def _scores_of(record: RecordedEstimator, metric: Metric) -> NDArray[Any] | None:
    """Give the scores of the second of two classes, where there are any."""
    method = next((m for m in metric.responses if m in record.responses), None)
    answers = None if method is None else record.response(method)
    if answers is None or answers.ndim == 1:
        return answers
    return answers[:, 1] if answers.shape[1] == 2 else None


def repeated_ids_note(ids: NDArray[Any], groups: Any) -> list[str]:
    """Note ids that occur several times while rows are treated as independent."""
    n_distinct = len(set(ids.tolist()))
    if groups is not None or n_distinct == len(ids):
        return []
    return [
        f"`ids` repeat: {len(ids)} rows but {n_distinct} distinct ids, and no `groups`. Rows of "
        "one item are not independent; pass groups=ids to resample whole items."
    ]
