"""What `cross_validate` returned for several models, read as folds that all of them share."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import FitFailedWarning, NotFittedError

from sklearn_pairboot._engine.weights import FloatArray
from sklearn_pairboot._scoring.checks import check_names, shown
from sklearn_pairboot._scoring.recorded import RecordedEstimator
from sklearn_pairboot._scoring.replay import quietly
from sklearn_pairboot._scoring.resolve import Metric, resolve_scoring
from sklearn_pairboot.comparison._folds import Folds
from sklearn_pairboot.comparison._recorded_answers import ask
from sklearn_pairboot.comparison._splits import Split, check_splits, rows_for

_CALL = "cross_validate(..., return_indices=True, return_estimator=True)"
_CLOSE = 1e-6

Results = Mapping[str, Mapping[str, Any]]


def check_results(results: Any) -> dict[str, Mapping[str, Any]]:
    """Check that there is what `cross_validate` gives for every model."""
    if not isinstance(results, Mapping):
        raise TypeError(
            f"`results` must be a mapping from model names to what {_CALL} returned, got "
            f"{type(results).__name__}."
        )
    if {"fit_time", "score_time"} <= set(results):
        raise ValueError(
            "`results` must map model names to what `cross_validate` returned, got that of one "
            "model. Pass {'its name': results}."
        )
    check_names(list(results))
    for name, result in results.items():
        if not isinstance(result, Mapping):
            raise TypeError(
                f"`results` must hold what {_CALL} returned, got {type(result).__name__} for model "
                f"{name!r}."
            )
        models = "predictions" if "predictions" in result else "estimator"
        missing = [key for key in ("indices", models) if key not in result]
        if missing:
            remedy = f"Call {_CALL}."
            if models == "predictions":
                remedy = (
                    "Pass {'predictions': cross_val_predict(..., cv=splits), 'indices': splits}."
                )
            raise ValueError(
                f"`results` must hold {' and '.join(map(repr, missing))} for model {name!r}, got "
                f"{shown(list(result))}. {remedy}"
            )
        if {"predictions", "estimator"} <= set(result):
            raise ValueError(
                "`results` must hold either 'estimator', whose answers are computed, or "
                f"'predictions', got both for model {name!r}. Leave one of them out."
            )
    return dict(results)


def shared_splits(results: Results, n_rows: int) -> list[Split]:
    """Read the splits, and refuse models that did not see the same ones."""
    names = list(results)
    splits: dict[str, list[Split]] = {}
    for name in names:
        pairs = _pairs_of(results[name]["indices"], name)
        _check_range(pairs, n_rows, name)
        splits[name] = check_splits(pairs, n_rows, "`indices`")
        if len(results[name].get("estimator", splits[name])) != len(splits[name]):
            raise ValueError(
                f"`results` must hold one estimator a fold, got "
                f"{len(results[name]['estimator'])} for the {len(splits[name])} folds of model "
                f"{name!r}."
            )
    first = splits[names[0]]
    for name in names[1:]:
        what = _first_difference(first, splits[name])
        if what:
            raise ValueError(
                f"`results` must come from the same splits, got {what} for model {name!r} than for "
                f"model {names[0]!r}. Splitters that shuffle split anew in every call: make the "
                "splits once, splits = list(cv.split(X, y, groups)), and pass cv=splits to every "
                "cross_validate."
            )
    return first


def _pairs_of(indices: Any, name: str) -> list[Any]:
    """List the splits, given as `cross_validate` returns them or as pairs."""
    if not isinstance(indices, Mapping):
        return list(indices) if isinstance(indices, Iterable) else [indices]
    parts = [list(indices.get(part, ())) for part in ("train", "test")]
    if len(parts[0]) != len(parts[1]):
        raise ValueError(
            "`indices` must have as many training parts, 'train', as test parts, 'test', got "
            f"{len(parts[0])} and {len(parts[1])} for model {name!r}."
        )
    return list(zip(*parts, strict=True))


def _check_range(pairs: Sequence[Any], n_rows: int, name: str) -> None:
    parts = (part for pair in pairs if isinstance(pair, Iterable) for part in pair)
    for rows in map(np.asarray, parts):
        if rows.dtype.kind in "iu" and rows.size and int(rows.max()) >= n_rows:
            raise ValueError(
                f"`X` must hold all rows that `cross_validate` was given, got {n_rows} where the "
                f"indices of model {name!r} reach row {int(rows.max())}."
            )


def _first_difference(a: Sequence[Split], b: Sequence[Split]) -> str:
    if len(a) != len(b):
        return f"another number of folds, {len(b)} and not {len(a)},"
    for number, (one, other) in enumerate(zip(a, b, strict=True)):
        for part in ("test", "train"):
            if not np.array_equal(getattr(one, part), getattr(other, part)):
                word = "training" if part == "train" else "test"
                return f"other {word} rows in fold {number} (counted from 0)"
    return ""


def recorded_metrics(
    scoring: Any, results: Results, splits: Sequence[Split], X: Any, y: NDArray[Any]
) -> list[Metric]:
    """Resolve the metrics, also of a callable that returns several values by name."""
    estimators = {name: result["estimator"] for name, result in results.items()}
    if callable(scoring) and not hasattr(scoring, "_score_func"):
        names = _names_returned(scoring, next(iter(estimators.values())), splits, X, y)
        if names:
            return [Metric(name, OneOfSeveral(scoring, name)) for name in names]
    return resolve_scoring(scoring, {name: models[0] for name, models in estimators.items()})


def _names_returned(
    scorer: Callable[..., Any],
    models: Sequence[Any],
    splits: Sequence[Split],
    X: Any,
    y: NDArray[Any],
) -> list[str]:
    """Ask a scorer on the first fold where it does not fail; nothing if it returns one number."""
    for model, split in zip(models, splits, strict=True):
        try:
            found = quietly(ask, scorer, model, X, y, split)
        except Exception:  # it is told of when the folds are scored
            continue
        return list(found) if isinstance(found, Mapping) else []
    return []


class OneOfSeveral:
    """One of the values that a callable returns by name."""

    def __init__(self, scorer: Callable[..., Mapping[str, Any]], name: str) -> None:
        self.scorer = scorer
        self.name = name

    def __call__(self, estimator: Any, X: Any, y: Any, **params: Any) -> Any:
        """Score, and take the value."""
        return self.scorer(estimator, X, y, **params)[self.name]


def recorded_folds(
    results: Results, splits: Sequence[Split], metrics: Sequence[Metric], X: Any
) -> tuple[Folds, list[str]]:
    """Put the fitted models of every split together, and leave out splits with failed fits."""
    models = [
        {name: result["estimator"][number] for name, result in results.items()}
        for number in range(len(splits))
    ]
    unfitted: dict[str, list[int]] = {}
    for number, (of_split, split) in enumerate(zip(models, splits, strict=True)):
        for name, model in of_split.items():
            if isinstance(model, RecordedEstimator):
                continue
            row = rows_for(model, X, split.test[:1], split.train)
            if not _is_fitted(model, row, scored=_has_scores(results[name], number)):
                unfitted.setdefault(name, []).append(number)
    failed = frozenset(number for numbers in unfitted.values() for number in numbers)
    notes = []
    if unfitted:
        listed = "; ".join(f"{name} in fold(s) {shown(of)}" for name, of in unfitted.items())
        note = f"Fits failed: {listed} (counted from 0). "
        if len(failed) == len(splits):
            raise ValueError(
                f"`results` must hold a fold in which every model was fitted, got none. {note}Call "
                "cross_validate with error_score='raise' to see why."
            )
        notes.append(f"{note}{len(failed)} of {len(splits)} folds are left out for all models.")
        warnings.warn(notes[0], FitFailedWarning, stacklevel=3)
    forgiven = [
        np.isnan(_reported(results, key, len(splits))).any(axis=1)
        for key in score_keys(metrics, results).values()
    ]
    return Folds(splits, models, failed, np.stack(forgiven)), notes


def _has_scores(result: Mapping[str, Any], number: int) -> bool:
    """Tell whether any score of a fold is a number."""
    scores = [values for key, values in result.items() if key.startswith("test_")]
    return any(not np.isnan(values[number]) for values in scores)


def _is_fitted(model: Any, row: Any, *, scored: bool) -> bool:
    """Tell whether a model was fitted: one whose fit failed may have some of its attributes."""
    try:
        record = RecordedEstimator.from_estimator(model, row)
    except NotFittedError:
        return False
    if scored or not record.responses:
        return True
    try:
        record.response(record.responses[0])
    except Exception:
        return False
    return True


def score_keys(metrics: Sequence[Metric], results: Results) -> dict[str, str]:
    """Give the key under which `cross_validate` put each metric's scores, by the metric's name.

    ``"test_score"`` does not name its metric: it may have been another one.
    """
    first, keys = next(iter(results.values())), {}
    for metric in metrics:
        named = (f"test_{metric.name}", f"test_neg_{metric.name}")
        own = "test_score" if len(metrics) == 1 else ""
        keys[metric.name] = next((key for key in named if key in first), own)
    return keys


def _reported(results: Results, key: str, n_splits: int) -> FloatArray:
    """Scores as `cross_validate` gave them, shape (n_splits, n_models); zero where it gave none."""
    scores = [np.asarray(one.get(key, np.zeros(n_splits)), float) for one in results.values()]
    return np.stack(scores, axis=1)


def notes_on_other_scores(
    results: Results, keys: Mapping[str, str], metrics: Sequence[Metric], values: FloatArray
) -> list[str]:
    """Compare the scores of the folds with those that `cross_validate` gave.

    Where these name their metric, other values are warned of: rows in another order give them.
    """
    notes = []
    for metric, own in zip(metrics, values, strict=True):
        key = keys.get(metric.name, "")
        if not all(key in result for result in results.values()):
            continue
        reported = _reported(results, key, len(own))
        as_zero = np.flatnonzero((np.isnan(own) & (reported == 0)).any(axis=1)).tolist()
        if as_zero:  # average precision without a positive row
            notes.append(
                f"{metric.name}: `cross_validate` counts fold(s) {shown(as_zero)}, in which it is "
                "undefined, as 0; here they are left out of the mean."
            )
        gap = np.abs(metric.sign * own - reported)
        n_apart = int(np.count_nonzero(gap > _CLOSE * np.maximum(np.abs(reported), 1.0)))
        if not n_apart:  # as where one of them is NaN
            continue
        note = (
            f"{metric.name}: {n_apart} of {gap.size} fold scores are not the {key!r} of "
            f"`cross_validate`, the largest gap is {np.nanmax(gap):.3g}. "
        )
        if key == "test_score":
            note += "That is right if it scored with another metric; else `X` and `y` are not the "
            notes.append(f"{note}rows that it was given, in their order.")
            continue
        notes.append(
            f"{note}`X` and `y` must be the rows that it was given, in their order, and the scorer "
            "the same."
        )
        warnings.warn(notes[-1], UserWarning, stacklevel=3)
    return notes
