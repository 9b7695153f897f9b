"""From estimators to models with thresholds: what is learned on training and validation rows."""

from __future__ import annotations

import contextlib
import numbers
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import FixedThresholdClassifier
from sklearn.utils.validation import check_is_fitted

from sklearn_pairboot._engine.thresholds import Sweep
from sklearn_pairboot._engine.units import Units
from sklearn_pairboot._engine.weights import BoolArray
from sklearn_pairboot._scoring.checks import brief_reason, shown
from sklearn_pairboot._scoring.problem import Problem
from sklearn_pairboot._scoring.recorded import RecordedEstimator
from sklearn_pairboot.calibration import calibrate
from sklearn_pairboot.metrics._rules import Costs, PrecisionFloor, RecallFloor
from sklearn_pairboot.metrics.thresholds import none_will_do, threshold_by
from sklearn_pairboot.protocol._parts import Part

ThresholdRule = Costs | RecallFloor | PrecisionFloor
Thresholds = Mapping[str, float]

# The order in which FixedThresholdClassifier looks for scores.
_RESPONSES = ("predict_proba", "decision_function")


class Scored(NamedTuple):
    """Which rows of a part are positive, and every model's scores of the positive class."""

    positive: BoolArray
    scores: list[NDArray[Any]]

    def sweeps(self, of: Sequence[Sweep] | None = None) -> list[Sweep]:
        """Count labels at all thresholds of the scores, or at those of other sweeps."""
        at = [None] * len(self.scores) if of is None else [sweep.thresholds for sweep in of]
        return [
            Sweep.of(self.positive, scores, thresholds)
            for scores, thresholds in zip(self.scores, at, strict=True)
        ]


def fitted_before(estimators: Mapping[str, Any]) -> tuple[str, ...]:
    """Name the models that have been fitted already, and are kept."""
    return tuple(name for name, estimator in estimators.items() if _is_fitted(estimator))


def _is_fitted(estimator: Any) -> bool:
    try:
        check_is_fitted(estimator)
    except NotFittedError:
        return False
    return True


@contextlib.contextmanager
def _failure_of(name: str, kept: Collection[str], doing: str) -> Iterator[None]:
    """Name the model that fails, and say if it was not fitted here."""
    try:
        yield
    except Exception as error:
        before = ", which was fitted before and kept," if name in kept else ""
        raise ValueError(
            f"Model {name!r}{before} failed while {doing}: {type(error).__name__}: "
            f"{brief_reason(error)}"
        ) from error


def fixed_thresholds(threshold: Any, names: Sequence[str]) -> dict[str, float]:
    """Check one threshold for all models, or one for each."""
    if isinstance(threshold, Mapping):
        if set(threshold) != set(names):
            raise ValueError(
                f"`threshold` must name every model and no other, {shown(names)}, got "
                f"{shown(threshold)}."
            )
        of_model = {name: threshold[name] for name in names}
    else:
        of_model = dict.fromkeys(names, threshold)
    for value in of_model.values():
        number = isinstance(value, numbers.Real) and not isinstance(value, bool | np.bool_)
        if not number or np.isnan(float(value)):
            raise ValueError(f"`threshold` must be a number, got {value!r}.")
    return {name: float(value) for name, value in of_model.items()}


def train(
    estimators: Mapping[str, Any],
    kept: Collection[str],
    part: Part | None,
    validation: Part,
    calibration: str | None,
) -> dict[str, Any]:
    """Fit copies of all but those that are ``kept``, and calibrate on the validation rows."""
    models = {
        name: estimator if part is None or name in kept else clone(estimator).fit(part.X, part.y)
        for name, estimator in estimators.items()
    }
    if calibration is not None:
        for name, model in models.items():
            with _failure_of(name, kept, "being calibrated on `X_val`"):
                models[name] = calibrate(model, validation.X, validation.y, method=calibration)
    return models


def score(models: Mapping[str, Any], kept: Collection[str], part: Part, pos_label: Any) -> Scored:
    """Score the rows of a part."""
    records = []
    for name, model in models.items():
        records.append(RecordedEstimator.from_estimator(model, part.X))
        classes = np.asarray(getattr(model, "classes_", ())).tolist()
        if len(classes) != 2 or pos_label not in classes:
            raise ValueError(
                f"Model {name!r} must be a classifier of two classes, one of them {pos_label!r}, "
                f"got the classes {shown(classes) or 'of none'}."
            )
        method = next((m for m in _RESPONSES if m in records[-1].responses), None)
        if method is None:
            raise ValueError(
                f"Model {name!r} must have `predict_proba` or `decision_function` for a threshold "
                f"to be put on, got {records[-1]}."
            )
        with _failure_of(name, kept, f"scoring `X_{part.name}`"):
            records[-1].response(method)
    units = Units(len(part.y), len(part.y))
    found = Problem(part.y, "binary", tuple(records), units).binary_scores(_RESPONSES, pos_label)
    if found is None:
        raise ValueError(
            f"`y_{part.name}` must hold classes that all models know, got "
            f"{shown(np.unique(part.y).tolist())}."
        )
    return Scored(found[0], list(found[1]))


def counts_of(sweep: Sweep) -> Any:
    """Count the rows as they are."""
    return sweep.counts(np.ones((1, sweep.n_rows), dtype=np.int64))


def choose(rule: ThresholdRule, names: Sequence[str], sweeps: Sequence[Sweep]) -> dict[str, float]:
    """Choose a threshold for each model on the validation rows."""
    found = {}
    for name, sweep in zip(names, sweeps, strict=True):
        counts = counts_of(sweep)
        found[name] = threshold_by(rule, sweep, counts)
        if np.isnan(found[name]):
            where = f"the validation rows of model {name!r}"
            raise ValueError(none_will_do(rule, counts, where))
    return found


def with_thresholds(
    models: Mapping[str, Any], thresholds: Thresholds, validation: Part, pos_label: Any
) -> dict[str, FixedThresholdClassifier]:
    """Put the thresholds into the models; nothing is fitted."""
    return {
        name: FixedThresholdClassifier(
            FrozenEstimator(model), threshold=thresholds[name], pos_label=pos_label
        ).fit(validation.X, validation.y)
        for name, model in models.items()
    }
