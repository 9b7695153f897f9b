"""Answers of `cross_val_predict`, cut into those of the folds that gave them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import (
    _safe_indexing,  # in scikit-learn's API reference despite the underscore
    indexable,
)

from sklearn_pairboot._scoring.checks import check_length, check_same_index, shown
from sklearn_pairboot._scoring.recorded import RecordedEstimator
from sklearn_pairboot._scoring.resolve import Metric, resolve_scoring
from sklearn_pairboot.comparison._answers import record_of
from sklearn_pairboot.comparison._splits import Rows, Split, rows_for
from sklearn_pairboot.comparison._warnings import warn_of_labels_as_scores


def rows_of(X: Any, results: Mapping[str, Mapping[str, Any]], n_rows: int) -> Any:
    """Check the rows of X; where there are only answers, their numbers can stand for them."""
    if X is None:
        asked = [name for name, result in results.items() if "predictions" not in result]
        if asked:
            raise ValueError(
                "`X` must be the rows that `cross_validate` was given, got None where models of "
                f"{shown(asked)} must answer."
            )
        return np.arange(n_rows)
    (X,) = indexable(X)
    own = X.shape[0] if hasattr(X, "shape") else len(X)
    if own != n_rows:
        check_length(range(own), n_rows, "`X`")
    return X


def answers_as_models(
    results: Mapping[str, Mapping[str, Any]],
    splits: Sequence[Split],
    X: Any,
    y: Any,
    truths: NDArray[Any],
    scoring: Any,
) -> dict[str, Mapping[str, Any]]:
    """Put a record of each fold's answers where `cross_validate` has the fold's estimator."""
    given = {name: one["predictions"] for name, one in results.items() if "predictions" in one}
    if not given:
        return dict(results)
    check_same_index({"`y`": y, **{f"predictions of {name!r}": given[name] for name in given}})
    tested = _tested_once(splits, len(truths))
    metrics = resolve_scoring(scoring)
    records = {
        name: _record_of(name, answers, truths, tested, metrics) for name, answers in given.items()
    }
    warn_of_labels_as_scores(metrics, records)
    # Only scorers that are no metric of the answers look at X.
    looked_at = any(metric.function is None for metric in metrics)
    X_parts = [_safe_indexing(X, split.test) if looked_at else None for split in splits]
    return {
        name: result if name not in records else _cut(result, records[name], splits, X_parts)
        for name, result in results.items()
    }


def record_on_fold(model: Any, X_test: Any) -> RecordedEstimator:
    """Give the answers of one fold's model to its test rows, unless it is a record of them."""
    if isinstance(model, RecordedEstimator):
        return model
    return RecordedEstimator.from_estimator(model, X_test)


def _tested_once(splits: Sequence[Split], n_rows: int) -> Rows:
    """Give the tested rows; refuse splits of which one answer a row cannot come."""
    tests = np.concatenate([split.test for split in splits])
    n_tests = np.bincount(tests, minlength=n_rows)
    repeated = np.flatnonzero(n_tests > 1).tolist()
    if repeated:
        raise ValueError(
            "`indices` must test every row at most once where `predictions` hold one answer a row, "
            f"got several tests of row(s) {shown(repeated)}. Compare one repeat at a time, or what "
            "cross_validate returned for all of them."
        )
    return np.flatnonzero(n_tests)


def _record_of(
    name: str, answers: Any, truths: NDArray[Any], tested: Rows, metrics: Sequence[Metric]
) -> RecordedEstimator:
    if isinstance(answers, Mapping):
        raise TypeError(
            f"`predictions` must be one array or recorded answers, got {type(answers).__name__} "
            f"for model {name!r}. Pass RecordedEstimator.from_arrays(predict=..., "
            "predict_proba=..., decision_function=..., classes=...)."
        )
    rows = None
    if len(tested) < len(truths) and not isinstance(answers, RecordedEstimator):
        # Where a row is not tested nobody reads its answer: it may be missing.
        own = np.full(len(truths), tested[0])
        own[tested] = tested
        rows = {name: own}
    # As scikit-learn's estimators do, `cross_val_predict` scores the second of the sorted classes.
    labels = np.unique(truths)
    second = labels[1] if truths.ndim == 1 and len(labels) == 2 else None
    return record_of(name, answers, truths, metrics, second, rows)


def _cut(
    result: Mapping[str, Any],
    record: RecordedEstimator,
    splits: Sequence[Split],
    X_parts: list[Any],
) -> dict[str, Any]:
    """Cut a record into those of the folds."""
    parts = []
    for split, X_part in zip(splits, X_parts, strict=True):
        part = record._part(split.test, record.responses)
        parts.append(RecordedEstimator(replace(part._source, X=X_part)))
    kept = {key: value for key, value in result.items() if key != "predictions"}
    return kept | {"estimator": parts}


def ask(scorer: Any, model: Any, X: Any, y: NDArray[Any], split: Split) -> Any:
    """Score one fold's model on its test rows."""
    if isinstance(model, RecordedEstimator):
        return scorer(*model._take_all(), y[split.test])
    return scorer(model, rows_for(model, X, split.test, split.train), y[split.test])
