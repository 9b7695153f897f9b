"""Metrics whose bootstrap distribution is not centred at their value, and how they are read."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from sklearn_pairboot._engine.intervals import IntervalEstimate
from sklearn_pairboot._scoring.resolve import name_of_companion
from sklearn_pairboot._tables.rows import MetricInfo, Settings


def method_of(info: MetricInfo, settings: Settings) -> str:
    """Name the interval method for a metric: what was asked for, unless its rule forbids that."""
    return "normal" if info.interval_rule == "normal" else settings.method


def difference_by_rule(found: IntervalEstimate, info: MetricInfo) -> IntervalEstimate:
    """Take interval and p-value from a difference of biased values."""
    if found.status == "degenerate":
        return found
    if info.interval_rule == "normal":
        return found._replace(
            reason=(
                "replicates of a debiased square lie above the value by what was subtracted (and "
                "differences of two vary more than they should, which is taken out)"
            )
        )
    if info.interval_rule == "biased":
        return found._replace(
            low=math.nan,
            high=math.nan,
            p_value=math.nan,
            status="biased",
            reason=(
                "chance adds to the value of each model, to each another amount; judge the models "
                "by the squared calibration error, which is debiased"
            ),
        )
    return found


def score_by_rule(found: IntervalEstimate, info: MetricInfo) -> IntervalEstimate:
    """Take the interval from a value that chance adds to, of which percentiles miss the truth."""
    if found.status == "degenerate" or info.interval_rule != "biased":
        return difference_by_rule(found, info)
    return found._replace(
        low=math.nan,
        high=math.nan,
        p_value=math.nan,
        status="biased",
        reason=(
            "chance adds to the value, and to its replicates once more, so that their percentiles "
            "miss what the value would be with many more rows, such as 0 for a calibrated model; "
            "read the interval of the squared calibration error beside it, which is debiased"
        ),
    )


def check_margins_by_rule(margin: Any, margin_relative: Any, rules: Mapping[str, str]) -> None:
    """Refuse margins of biased metrics, and a single number that would be one.

    ``rules`` are the interval rules of all metrics by their names.
    """
    biased = [name for name, rule in rules.items() if rule == "biased"]
    given = {"margin": margin, "margin_relative": margin_relative}
    for parameter, value in given.items():
        if isinstance(value, Mapping):
            named = [name for name in biased if name in value]
            sizes = [value[name] for name in named]
        else:
            named = biased if parameter == "margin" and value is not None else []
            sizes = [value] * len(named)
        for name, size in zip(named, sizes, strict=True):
            companion = name_of_companion(name)
            own = float(size) ** 2 if parameter == "margin" else float(size)
            unit = (
                f"; an error of {float(size):.4g} in all bins is {own:.4g} squared"
                if parameter == "margin"
                else ""
            )
            others = len(rules) > 2 and not isinstance(value, Mapping)
            raise ValueError(
                f"`{parameter}` must belong to {companion!r} and not to {name!r}, whose "
                f"differences are biased and not judged, got {value!r}{unit}. Pass "
                f"{parameter}={{{companion!r}: {own:.4g}}}"
                f"{', with the margins of the other metrics' if others else ''}."
            )
