"""What displays of curves ask of fitted estimators: scores of the positive class."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_pairboot._engine.units import Units
from sklearn_pairboot._scoring.checks import (
    check_length,
    check_same_index,
    check_target,
    named,
    shown,
)
from sklearn_pairboot._scoring.problem import NotServed, Problem
from sklearn_pairboot._scoring.recorded import RecordedEstimator

SCORES = ("decision_function", "predict_proba")
PROBABILITIES = ("predict_proba",)


def positive_scores(
    estimators: Any, X: Any, y: Any, methods: Sequence[str], pos_label: Any
) -> tuple[NDArray[Any], dict[str, NDArray[Any]]]:
    """Give which rows are positive, and every model's scores of the positive class.

    Of the methods that a model has the first is asked. The positive class is by default the
    second of the first model.
    """
    models = named(estimators)
    check_same_index({"`X`": X, "`y`": y})
    truths = check_target(y, "y")
    records = {}
    for name, model in models.items():
        is_record = isinstance(model, RecordedEstimator)
        records[name] = model if is_record else RecordedEstimator.from_estimator(model, X)
    without = [
        name
        for name, record in records.items()
        if not hasattr(record, "classes_") or not set(methods) & set(record.responses)
    ]
    if without:
        raise ValueError(
            f"`estimators` must be fitted classifiers with {' or '.join(methods)}, got "
            f"{shown(without)} without."
        )
    problem = Problem(
        truths,
        "binary",
        tuple(records.values()),
        Units(len(truths), len(truths)),
        methods=tuple(methods),
    )
    if pos_label is None:
        pos_label = np.asarray(problem.classes()[0])[-1:].tolist()[0]
    try:
        found = None if truths.ndim > 1 else problem.binary_scores(methods, pos_label)
    except NotServed:
        found = None
    if found is None:
        raise ValueError(
            "`estimators` must all know the same two classes, those of `y`, with `pos_label` among "
            f"them; got pos_label={pos_label!r} and the classes "
            f"{shown([np.asarray(classes).tolist() for classes in problem.classes()])}."
        )
    positive, scores = found
    for name, of_model in zip(records, scores, strict=True):
        check_length(of_model, len(truths), f"the scores of {name!r}")
    return positive, dict(zip(records, scores, strict=True))
