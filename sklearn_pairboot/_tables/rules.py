"""Metrics whose bootstrap distribution is not centred at their value, and how they are read."""

from __future__ import annotations

import math

from sklearn_pairboot._engine.intervals import IntervalEstimate
from sklearn_pairboot._engine.sample import Sample
from sklearn_pairboot._tables.rows import MetricInfo, Settings

# A bias below this share of the standard error hardly changes what an interval covers
# (Efron and Tibshirani 1993, section 10.2).
_SMALL_BIAS = 0.25


def method_of(info: MetricInfo, settings: Settings) -> str:
    """Name the interval method for a metric: what was asked for, unless its rule forbids that."""
    return "normal" if info.interval_rule == "normal" else settings.method


def difference_by_rule(found: IntervalEstimate, info: MetricInfo) -> IntervalEstimate:
    """Take interval and p-value from a difference of biased values."""
    if found.status == "degenerate":
        return found
    if info.interval_rule == "normal":
        return found._replace(
            reason="replicates of a debiased square lie above the value by what was subtracted"
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


def score_by_rule(
    found: IntervalEstimate, info: MetricInfo, sample: Sample, estimate: float
) -> IntervalEstimate:
    """Mark the interval of a value that is biased by a good part of its standard error."""
    if found.status == "degenerate" or not info.interval_rule:
        return found
    if info.interval_rule == "normal":
        return difference_by_rule(found, info)
    if abs(sample.mean() - estimate) <= _SMALL_BIAS * found.std_error:
        return found
    return found._replace(
        status="biased",
        reason=(
            "chance adds to the value, as much as the replicates lie above it on average; no "
            "interval covers what it would be with many more rows"
        ),
    )
