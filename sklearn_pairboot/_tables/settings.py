"""Checks of what may be changed without drawing again: how the replicates are read."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any

from sklearn_pairboot._engine.intervals import METHODS, alpha_of
from sklearn_pairboot._engine.multiplicity import CORRECTIONS
from sklearn_pairboot._engine.weights import FloatArray
from sklearn_pairboot._tables.rows import MetricInfo, Settings
from sklearn_pairboot._tables.rules import check_margins_by_rule

ALTERNATIVES = ("two-sided", "better", "worse")
FAMILIES = ("metric", "all")
PAIRS = ("baseline", "all")
# The scheme of counts of whole units, drawn with replacement.
PLAIN = "bootstrap"
# The one whose replicates are posterior draws.
BAYESIAN = "Bayesian"
# What these methods need, the value without each unit, exists under that scheme alone.
LEAVE_ONE_OUT = ("bca", "studentized", "t")


def check_settings(
    settings: Settings, models: Sequence[str], metrics: Sequence[MetricInfo] = ()
) -> None:
    """Raise unless every setting is one that the tables know."""
    check_baseline(settings.baseline, models)
    check_reading(
        settings.confidence_level, settings.method, settings.alternative, settings.correction
    )
    check_choice("family", settings.family, FAMILIES)
    check_choice("pairs", settings.pairs, PAIRS)
    check_margins(settings.margin, settings.margin_relative, settings.confidence_level)
    margins = settings.margin, settings.margin_relative
    check_margins_by_rule(*margins, {metric.name: metric.interval_rule for metric in metrics})
    check_margin_names(*margins, models, [metric.name for metric in metrics])


def check_baseline(baseline: Any, models: Sequence[str]) -> str:
    """Find the baseline: the named model, or the first."""
    if baseline is None:
        return models[0]
    if not isinstance(baseline, str) or baseline not in models:
        raise ValueError(
            "`baseline` must be the name of a model, one of "
            f"{', '.join(map(repr, models))}, got {baseline!r}."
        )
    return str(baseline)


def check_reading(confidence_level: Any, method: Any, alternative: Any, correction: Any) -> None:
    """Raise unless these say how replicates can be read."""
    level = confidence_level
    if isinstance(level, bool) or not isinstance(level, Real) or not 0 < float(level) < 1:
        raise ValueError(
            f"`confidence_level` must be a number between 0 and 1, got {level!r}. For 95 % pass "
            "0.95."
        )
    check_choice("method", method, METHODS)
    check_choice("alternative", alternative, ALTERNATIVES)
    check_choice("correction", correction, CORRECTIONS)


def check_method_of_scheme(method: str, scheme: str) -> None:
    """Refuse a method that leaves out one unit at a time where weights follow another scheme."""
    if method in LEAVE_ONE_OUT and scheme != PLAIN:
        raise ValueError(
            f"`method` must do without leaving out one unit at a time, and without its influence, "
            f"with {scheme} resampling, got {method!r}. Pass 'percentile', 'basic', 'normal' or "
            "'expanded'."
        )


def check_crossed_method(method: str) -> None:
    """Refuse interval methods that two crossed factors do not allow."""
    if method in ("bca", "studentized"):
        raise ValueError(
            "`method` must not need a jackknife or influence values of independent units where "
            f"`groups` are two crossed factors, got {method!r}. Use 'percentile', 'basic', "
            "'normal', 't' or 'expanded'."
        )


def check_unpaired_method(method: str) -> None:
    """Refuse interval methods that models on resamples of their own do not allow."""
    if method in ("studentized", "t"):
        raise ValueError(
            "`method` must not need influence values of shared units with `paired=False`, got "
            f"{method!r}. Use 'percentile', 'basic', 'normal', 'bca' or 'expanded'."
        )


def check_choice(name: str, value: Any, choices: Sequence[Any]) -> None:
    """Raise unless the value is one of the choices, which may include None."""
    if not (value is None or isinstance(value, str)) or value not in choices:
        listed = ", ".join(map(repr, choices))
        raise ValueError(f"`{name}` must be one of {listed}, got {value!r}.")


def check_margins(margin: Any, margin_relative: Any, confidence_level: Any) -> None:
    """Raise unless at most one margin is given, and all its numbers are margins."""
    if margin is None and margin_relative is None:
        return
    if margin is not None and margin_relative is not None:
        raise ValueError(
            f"`margin` must be None where `margin_relative` is given, got {margin!r} and "
            f"{margin_relative!r}. Give one of them."
        )
    name, given = ("margin", margin) if margin is not None else ("margin_relative", margin_relative)
    for value in given.values() if isinstance(given, Mapping) else (given,):
        number = isinstance(value, Real) and not isinstance(value, bool)
        if name == "margin" and not (number and 0 < float(value) < math.inf):
            raise ValueError(
                f"`margin` must be a positive number, got {value!r}. It is the smallest difference "
                "that would matter, in units of the metric."
            )
        if name == "margin_relative" and not (number and 0 < float(value) < 1):
            raise ValueError(
                f"`margin_relative` must be a number between 0 and 1, got {value!r}. It is the "
                "smallest share of the baseline's score that would matter: 0.05 for 5 %."
            )
    if isinstance(given, Mapping) and not given:
        raise ValueError(f"`{name}` must name at least one metric, got {given!r}.")
    if alpha_of(confidence_level) >= 0.5:
        raise ValueError(
            "`confidence_level` must be above 0.5 where a margin is given, got "
            f"{confidence_level!r}. Equivalence takes the interval at 1 - 2 alpha."
        )


def check_margin_names(
    margin: Any, margin_relative: Any, models: Sequence[str], metrics: Sequence[str]
) -> None:
    """Raise unless margins belong to metrics of a comparison of several models."""
    if margin is None and margin_relative is None:
        return
    name, given = ("margin", margin) if margin is not None else ("margin_relative", margin_relative)
    if len(models) < 2:
        raise ValueError(
            f"`{name}` must be None for a single model, got {given!r}. There is nothing to compare "
            "it with."
        )
    listed = ", ".join(map(repr, metrics))
    if not isinstance(given, Mapping):
        # Shares of a baseline have no unit; differences have that of their metric.
        if name == "margin" and len(metrics) > 1:
            raise ValueError(
                "`margin` must be a mapping from metric to margin where there are several, got "
                f"{given!r}. The metrics are {listed}."
            )
        return
    unknown = [key for key in given if key not in metrics]
    if unknown:
        raise ValueError(
            f"`{name}` must name metrics of this comparison, {listed}, got {unknown[0]!r}."
        )


def check_positive_baselines(
    observed: FloatArray,
    models: Sequence[str],
    metrics: Sequence[str],
    comparisons: Sequence[tuple[int, int]],
    settings: Settings,
) -> None:
    """Refuse shares of a score that is not positive."""
    for number, metric in enumerate(metrics):
        if settings.margin_relative_of(metric) is None:
            continue
        for _, other in comparisons:
            score = float(observed[number, other])
            if score <= 0:
                raise ValueError(
                    f"`margin_relative` must be a share of a positive score, got {score:.4g} for "
                    f"{models[other]!r} on {metric}. Give `margin` in units of the metric."
                )


def plain_margin(margin: Any) -> float | dict[str, float] | None:
    """Turn a margin into plain numbers."""
    if margin is None:
        return None
    if isinstance(margin, Mapping):
        return {str(name): float(value) for name, value in margin.items()}
    return float(margin)
