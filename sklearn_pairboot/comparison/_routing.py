"""Metadata such as weights and groups: who gets which, and their rows for a part of the data."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.model_selection import GroupKFold
from sklearn.utils import _safe_indexing  # in scikit-learn's API reference despite the underscore
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.validation import has_fit_parameter

from sklearn_pairboot._scoring.builtin import find_builder
from sklearn_pairboot._scoring.checks import shown
from sklearn_pairboot._scoring.resolve import Metric
from sklearn_pairboot._scoring.views import RecordedView
from sklearn_pairboot.comparison._design import Weighing
from sklearn_pairboot.comparison._named import is_frozen


@dataclass(frozen=True)
class Routed:
    """Metadata of each consumer: of a model's ``fit``, of a metric's scorer, of the splitter."""

    fit: Mapping[str, dict[str, Any]]
    score: Mapping[str, dict[str, Any]]
    split: dict[str, Any]
    weights_given: bool = False


def routing_is_on() -> bool:
    """Tell whether scikit-learn's metadata routing is enabled."""
    return bool(get_config().get("enable_metadata_routing"))


def add_consumers(
    router: MetadataRouter,
    estimators: Mapping[str, Any],
    metrics: Sequence[Metric],
    cv: Any,
    *,
    deciding: str | None,
    by_own_score: bool,
) -> MetadataRouter:
    """Add everyone who may get metadata; prefixes keep names of models and metrics apart.

    ``deciding`` is the metric of the method ``score``. ``by_own_score`` says that models are
    scored by their own ``score``, whose requests then count.
    """
    for name, estimator in estimators.items():
        pairs = [] if is_frozen(estimator) else [("fit", "fit")]
        pairs += [("fit", "score"), ("score", "score")] if by_own_score else []
        consumer = estimator.estimator if is_frozen(estimator) else estimator
        if pairs:
            router.add(method_mapping=_mapping(pairs), **{f"estimator_{name}": consumer})
    for metric in () if by_own_score else metrics:
        pairs = [("fit", "score")] + [("score", "score")] * (metric.name == deciding)
        router.add(method_mapping=_mapping(pairs), **{f"scorer_{metric.name}": metric.scorer})
    # By default the splitter is one for groups where there are groups; lists of splits take none.
    splitter = GroupKFold() if cv is None or isinstance(cv, numbers.Integral) else cv
    if hasattr(splitter, "split"):
        router.add(method_mapping=_mapping([("fit", "split")]), splitter=splitter)
    return router


def _mapping(pairs: Sequence[tuple[str, str]]) -> MethodMapping:
    mapping = MethodMapping()
    for caller, callee in pairs:
        mapping.add(caller=caller, callee=callee)
    return mapping


def route_fit(
    owner: Any,
    estimators: Mapping[str, Any],
    metrics: Sequence[Metric],
    params: Mapping[str, Any],
    *,
    sample_weight: Any,
    groups: Any,
    by_own_score: bool,
) -> Routed:
    """Find out who gets which metadata in ``fit``."""
    given = {"sample_weight": sample_weight, "groups": groups}
    if not routing_is_on():
        refuse_extra(params, "fit")
        weight = {} if sample_weight is None else {"sample_weight": sample_weight}
        return Routed(
            fit={
                name: dict(weight) if takes_weight(estimator) else {}
                for name, estimator in estimators.items()
            },
            score={metric.name: dict(weight) for metric in metrics},
            split={"groups": groups},
            weights_given=sample_weight is not None,
        )
    routed = process_routing(owner, "fit", **given, **params)
    if by_own_score:
        shared = _shared(routed, estimators)
        score = {metric.name: dict(shared) for metric in metrics}
    else:
        score = {metric.name: _part(routed, f"scorer_{metric.name}", "score") for metric in metrics}
    return Routed(
        fit={name: _part(routed, f"estimator_{name}", "fit") for name in estimators},
        score=score,
        split=_part(routed, "splitter", "split"),
        weights_given=sample_weight is not None,
    )


def route_score(
    owner: Any,
    best: str,
    metric: str,
    params: Mapping[str, Any],
    *,
    sample_weight: Any,
    by_own_score: bool,
) -> dict[str, Any]:
    """Find out what the scorer gets in ``score``."""
    if not routing_is_on():
        refuse_extra(params, "score")
        return {} if sample_weight is None else {"sample_weight": sample_weight}
    routed = process_routing(owner, "score", sample_weight=sample_weight, **params)
    return _part(routed, f"estimator_{best}" if by_own_score else f"scorer_{metric}", "score")


def takes_weight(estimator: Any) -> bool:
    """Tell whether ``fit`` names a parameter ``sample_weight``."""
    return not is_frozen(estimator) and bool(has_fit_parameter(estimator, "sample_weight"))


def refuse_extra(params: Mapping[str, Any], method: str) -> None:
    """Refuse metadata that only routing could take to its place."""
    if params:
        raise ValueError(
            f"`{method}` must get no further metadata unless metadata routing is enabled, got "
            f"{shown(params)}. Call sklearn.set_config(enable_metadata_routing=True), and request "
            "it where it is needed, as in `estimator.set_fit_request(...)`."
        )


def _part(routed: Any, consumer: str, method: str) -> dict[str, Any]:
    # By item or `get`: across processes a Bunch may have become a dict.
    return dict(routed.get(consumer, {}).get(method, {}))


def _shared(routed: Any, estimators: Mapping[str, Any]) -> dict[str, Any]:
    """Metadata of the score where it is the estimators' own: the same for all of them."""
    parts = {name: _part(routed, f"estimator_{name}", "score") for name in estimators}
    first = next(iter(parts.values()))
    if any(set(part) != set(first) for part in parts.values()):
        listed = {name: sorted(part) for name, part in parts.items()}
        raise ValueError(
            "`scoring` must be given where the estimators' own `score` methods request different "
            f"metadata, got {listed!r}: all models must be scored in the same way."
        )
    return first


def is_per_row(value: Any, n_rows: int) -> bool:
    """Tell whether a value holds one entry for each row."""
    if value is None or isinstance(value, str | bytes | Mapping):
        return False
    if hasattr(value, "shape"):
        return len(value.shape) > 0 and int(value.shape[0]) == n_rows
    return hasattr(value, "__len__") and len(value) == n_rows


def of_rows(
    params: Mapping[str, Any], rows: NDArray[np.intp] | None, n_rows: int
) -> dict[str, Any]:
    """Give the entries of some rows, and whole what is not by row."""
    if rows is None:
        return dict(params)
    return {
        name: _safe_indexing(value, rows) if is_per_row(value, n_rows) else value
        for name, value in params.items()
    }


class ScorerWithMetadata:
    """A scorer together with metadata by row, of which it gets those of the drawn rows."""

    def __init__(
        self, scorer: Callable[..., Any], metadata: Mapping[str, Any], n_rows: int
    ) -> None:
        self.scorer = scorer
        self.metadata = metadata
        self.n_rows = n_rows

    def __call__(self, estimator: RecordedView, X: Any, y: Any, **params: Any) -> Any:
        """Score the rows that the recorded answers are about."""
        metadata = of_rows(self.metadata, estimator._rows, self.n_rows)
        return self.scorer(estimator, X, y, **metadata, **params)


def takes_weights_in_scores(metric: Metric) -> bool:
    """Tell whether a metric can be weighted, by a kernel or by its scorer."""
    known = metric.function is not None and find_builder(metric.function) is not None
    return known or metric.accepts_sample_weight


def check_weighted_scores(metrics: Sequence[Metric], routed: Routed, weighing: Weighing) -> None:
    """Refuse weights that a scorer cannot take, before anything is fitted."""
    for metric in metrics:
        weighted = weighing.is_needed or "sample_weight" in routed.score[metric.name]
        if weighted and not takes_weights_in_scores(metric):
            raise ValueError(
                f"{weighing.unweighted} for {metric.name}, whose scorer does not take weights."
            )
