"""From ``scoring`` to metrics: names, directions, functions behind scorers.

This is the one module that looks inside scorer objects, and only with ``getattr``: a scorer that
is not recognised is replayed on the drawn rows.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sklearn.metrics import get_scorer, make_scorer

from sklearn_pairboot._scoring.answers import standard_score
from sklearn_pairboot._scoring.checks import shown
from sklearn_pairboot._scoring.recorded import RecordedEstimator


@dataclass(frozen=True)
class Metric:
    """One metric: its name in natural units, its scorer, and what is known of the scorer.

    ``function``, ``kwargs`` and ``responses`` describe scorers made by `make_scorer`; they are
    ``None`` or empty for bare callables, which are given the real rows of X.
    """

    name: str
    scorer: Callable[..., Any]
    sign: float = 1.0
    function: Callable[..., Any] | None = None
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    responses: tuple[str, ...] = ()

    @property
    def greater_is_better(self) -> bool:
        """Whether more is better in natural units."""
        return self.sign > 0

    @property
    def interval_rule(self) -> str:
        """How intervals of the metric must be read, as its function says; empty: as asked for."""
        return str(getattr(self.function, "pairboot_interval", ""))

    @property
    def accepts_sample_weight(self) -> bool:
        """Whether the scorer takes ``sample_weight``."""
        return accepts(self.function or self.scorer, "sample_weight")


def accepts(function: Callable[..., Any], parameter: str) -> bool:
    """Tell whether a callable has a parameter of this name, or takes any keyword."""
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return False
    return parameter in parameters or (any(p.kind is p.VAR_KEYWORD for p in parameters.values()))


def resolve_scoring(scoring: Any, estimators: Mapping[str, Any] | None = None) -> list[Metric]:
    """Turn ``scoring`` into metrics; ``None`` needs the estimators, for their own ``score``."""
    if scoring is None:
        if not estimators:
            raise ValueError(
                "`scoring` must name a metric where there are no estimators, got None. Pass for "
                "example scoring='accuracy'."
            )
        return [_own_metric(estimators)]
    if isinstance(scoring, str) or callable(scoring):
        return [_metric(scoring)]
    if isinstance(scoring, Mapping):
        metrics = [_metric(scorer, name) for name, scorer in scoring.items()]
    elif isinstance(scoring, Iterable):
        metrics = [_metric(scorer) for scorer in scoring]
    else:
        raise TypeError(
            "`scoring` must be a scorer name, a scorer, a list or a dict of these, or None, got "
            f"{scoring!r}."
        )
    if not metrics:
        raise ValueError("`scoring` must hold at least one metric, got an empty collection.")
    names = [metric.name for metric in metrics]
    if len(set(names)) < len(names):
        repeated = sorted({name for name in names if names.count(name) > 1})
        raise ValueError(
            f"`scoring` must give every metric its own name, got {shown(repeated)} twice. Pass a "
            "dict to name them."
        )
    return metrics


def name_of_companion(name: str) -> str:
    """Name the metric that judges differences of a biased one of this name."""
    return f"squared_{name.removeprefix('expected_')}"


def refuse_biased(metrics: Sequence[Metric]) -> None:
    """Refuse metrics whose differences are biased, where none is added that judges them."""
    for metric in metrics:
        if metric.interval_rule == "biased":
            raise ValueError(
                f"`scoring` must not hold {metric.name!r} here, whose differences are biased by "
                "chance. Pass the debiased square: make_scorer(squared_calibration_error, "
                "response_method='predict_proba', greater_is_better=False)."
            )


def with_companions(metrics: Sequence[Metric]) -> list[Metric]:
    """Add, after each metric whose differences are biased, the one that judges them instead."""
    names = {metric.name for metric in metrics}
    found = []
    for metric in metrics:
        found.append(metric)
        companion = getattr(metric.function, "pairboot_companion", None)
        name = name_of_companion(metric.name)
        if companion is None or name in names:
            continue
        function, kwargs = companion(dict(metric.kwargs))
        scorer = make_scorer(
            function,
            response_method=metric.responses,
            greater_is_better=metric.greater_is_better,
            **kwargs,
        )
        found.append(replace(_metric(scorer, name), responses=metric.responses))
    return found


def _metric(scorer: Any, name: Any = None) -> Metric:
    given = name or (scorer if isinstance(scorer, str) else None)
    if name is not None and (not isinstance(name, str) or not name.strip()):
        raise TypeError(f"Names in `scoring` must be non-empty strings, got {name!r}.")
    if isinstance(scorer, str):
        try:
            scorer = get_scorer(scorer)
        except ValueError:
            raise ValueError(
                f"`scoring` must be a scorer name that scikit-learn knows, got {scorer!r}. See "
                "sklearn.metrics.get_scorer_names()."
            ) from None
    if not callable(scorer):
        raise TypeError(f"`scoring` must hold scorer names or callables, got {scorer!r}.")
    function = getattr(scorer, "_score_func", None)
    if function is None:
        _refuse_metric_function(scorer)
        own = given or getattr(scorer, "__name__", None) or type(scorer).__name__
        return Metric("scorer" if own == "<lambda>" else own, scorer)
    sign = float(getattr(scorer, "_sign", 1))
    given = str(given or getattr(function, "__name__", "scorer"))
    if sign < 0 and given.startswith("neg_"):
        given = given.removeprefix("neg_")
    responses = getattr(scorer, "_response_method", "predict")
    return Metric(
        given,
        scorer,
        sign,
        function,
        dict(getattr(scorer, "_kwargs", {})),
        (responses,) if isinstance(responses, str) else tuple(responses),
    )


def _refuse_metric_function(scorer: Callable[..., Any]) -> None:
    """Refuse a plain metric function: it has no direction and another signature."""
    try:
        parameters = list(inspect.signature(scorer).parameters)
    except (TypeError, ValueError):
        return
    if parameters and parameters[0] in ("y_true", "labels_true", "y1"):
        name = getattr(scorer, "__name__", repr(scorer))
        raise ValueError(
            f"`scoring` must hold scorers `scorer(estimator, X, y)`, got the metric function "
            f"{name}, which says nothing of its direction. Pass make_scorer({name}, "
            "greater_is_better=...) instead."
        )


def _own_metric(estimators: Mapping[str, Any]) -> Metric:
    meanings = {name: _meaning_of_score(estimator) for name, estimator in estimators.items()}
    if len(set(meanings.values())) > 1:
        listed = ", ".join(f"{name}: {meaning}" for name, meaning in meanings.items())
        raise ValueError(
            "`scoring` must be given where the models' own `score` methods differ in meaning, got "
            f"{listed}."
        )
    meaning = next(iter(meanings.values()))
    if meaning in ("accuracy", "r2"):
        return _metric(meaning)
    return Metric("score", own_score)


def own_score(estimator: Any, X: Any, y: Any, **kwargs: Any) -> Any:
    """Score with the estimator's own method."""
    return estimator.score(X, y, **kwargs)


def _meaning_of_score(estimator: Any) -> str:
    """Name what ``score`` computes: scikit-learn's accuracy or R2, or some other method."""
    if isinstance(estimator, RecordedEstimator):
        standard = estimator.standard_score
        estimator = estimator._source.estimator
    else:
        standard = standard_score(estimator)
    if standard is not None:
        return standard
    method = getattr(type(estimator), "score", None)
    if method is None:
        raise ValueError(
            "`scoring` must be given where a model has no `score` method, got "
            f"{type(estimator).__name__}."
        )
    return f"{method.__module__}.{method.__qualname__}"


def shared_responses(metrics: Sequence[Metric]) -> tuple[str, ...]:
    """Response methods that serve every metric, in the order of the first one's preference."""
    first = metrics[0].responses or ("predict",)
    return tuple(
        method
        for method in first
        if all(method in (metric.responses or ("predict",)) for metric in metrics)
    )
