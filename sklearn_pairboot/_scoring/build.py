"""From a metric and a problem to a kernel: the fast one where there is one, else replay."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.metrics import make_scorer

from sklearn_pairboot._engine.weights import Kernel
from sklearn_pairboot._scoring.builtin import find_builder
from sklearn_pairboot._scoring.checks import shown
from sklearn_pairboot._scoring.problem import NotServed, Problem
from sklearn_pairboot._scoring.replay import ReplayKernel, quietly
from sklearn_pairboot._scoring.resolve import Metric

_FEW_ROWS = 10


def build_kernel(metric: Metric, problem: Problem, models: tuple[str, ...]) -> Kernel:
    """Build the kernel of a metric, or refuse with a clear error."""
    _check_responses(metric, problem, models)
    kwargs = dict(metric.kwargs)
    function = metric.function
    if function is not None:
        kwargs.update(positive_class(metric, function, problem))
        builder = find_builder(function, has_columns=problem.has_columns)
        served = builder is not None and _binds(builder, problem, kwargs)
        if builder is not None and served and not (metric.kwargs and _refused(metric, problem)):
            try:
                kernel = builder(replace(problem, methods=metric.responses), **kwargs)
            except NotServed:
                kernel = None
            if kernel is not None:
                return kernel
    if problem.sample_weight is not None and not metric.accepts_sample_weight:
        raise ValueError(
            f"{problem.unweighted} for {metric.name}, whose scorer does not take weights."
        )
    scorers = tuple(
        _with_labels(metric, kwargs, problem, model) for model in range(len(problem.records))
    )
    return ReplayKernel(
        problem.records,
        problem.y,
        scorers,
        sign=metric.sign,
        uses_row_numbers=function is not None,
        units=problem.units,
        sample_weight=problem.sample_weight,
        name=metric.name,
        models=models,
    )


def _refused(metric: Metric, problem: Problem) -> bool:
    """Tell whether scikit-learn refuses the metric's own keywords, which a few rows show.

    The scorer is then called on all rows, and scikit-learn's message comes out.
    """
    record, rows = problem.records[0], np.arange(min(len(problem.y), _FEW_ROWS))
    view, X = record._take_numbers(rows)
    try:
        quietly(metric.scorer, view, X, problem.y[rows])
    except Exception as error:
        return type(error).__name__ == "InvalidParameterError"
    return False


def _check_responses(metric: Metric, problem: Problem, models: tuple[str, ...]) -> None:
    for model, record in zip(models, problem.records, strict=True):
        if metric.responses and not set(metric.responses) & set(record.responses):
            needed = " or ".join(metric.responses)
            raise AttributeError(
                f"{metric.name} needs {needed}, which model {model!r} ({record}) does not have. "
                f"It offers {shown(record.responses)}."
            )


def positive_class(
    metric: Metric, function: Callable[..., Any], problem: Problem
) -> dict[str, Any]:
    """Name the positive class where the metric's default is not among the labels."""
    parameter = inspect.signature(function).parameters.get("pos_label")
    if parameter is None or "pos_label" in metric.kwargs or problem.kind != "binary":
        return {}
    if (
        metric.kwargs.get("average", _default(function, "average"))
        not in (
            "binary",
            None,
            inspect.Parameter.empty,
        )
        and _default(function, "average") == "binary"
    ):
        return {}
    if problem.pos_label is not None:
        return {"pos_label": problem.pos_label}
    classes = [np.asarray(getattr(record, "classes_", ())).tolist() for record in problem.records]
    labels = set(problem.true_labels()[0].tolist()).union(*classes)
    if parameter.default is None or parameter.default in labels:
        return {}
    if all(len(of_model) == 2 and of_model == classes[0] for of_model in classes):
        return {"pos_label": classes[0][1]}
    raise ValueError(
        f"`pos_label` must be given for {metric.name}: the labels are {shown(sorted(labels))}, and "
        "nothing says which of them is the positive class."
    )


def known_positive_class(metric: Metric, problem: Problem) -> Any:
    """Give the positive class that all the rows make known, for some of them; else ``None``."""
    if metric.function is None or problem.kind != "binary":
        return problem.pos_label
    default = _default(metric.function, "pos_label")
    if default is inspect.Parameter.empty:
        return problem.pos_label
    return positive_class(metric, metric.function, problem).get("pos_label", default)


def _with_labels(
    metric: Metric, kwargs: dict[str, Any], problem: Problem, model: int
) -> Callable[..., Any]:
    """Give the scorer of one model the labels of the full data, and the positive class."""
    if metric.function is None:
        return metric.scorer
    asked = kwargs | _full_labels(metric, metric.function, problem, model)
    if asked == dict(metric.kwargs):
        return metric.scorer
    scorer: Callable[..., Any] = make_scorer(
        metric.function,
        response_method=metric.responses,
        greater_is_better=metric.sign > 0,
        **asked,
    )
    return scorer


def _full_labels(
    metric: Metric, function: Callable[..., Any], problem: Problem, model: int
) -> dict[str, Any]:
    """Fix the labels of the full data, so that a class may be absent from a resample."""
    if "labels" in metric.kwargs or problem.kind not in ("binary", "multiclass"):
        return {}
    if "labels" not in inspect.signature(function).parameters:
        return {}
    record = problem.records[model]
    if metric.responses == ("predict",):
        answers = record.response("predict")
        if answers.ndim != 1 or (answers.dtype.kind in "OU") != (problem.y.dtype.kind in "OU"):
            return {}
        labels = np.unique(np.concatenate([problem.y, answers])).tolist()
        return {"labels": labels} if len(labels) > 2 else {}
    classes = np.asarray(getattr(record, "classes_", ())).tolist()
    return {"labels": classes} if classes else {}


def _default(function: Callable[..., Any], parameter: str) -> Any:
    found = inspect.signature(function).parameters.get(parameter)
    return inspect.Parameter.empty if found is None else found.default


def _binds(builder: Callable[..., Any], problem: Problem, kwargs: dict[str, Any]) -> bool:
    try:
        inspect.signature(builder).bind(problem, **kwargs)
    except TypeError:
        return False
    return True
