"""Posterior probabilities of practical equivalence, from draws of the Bayesian bootstrap."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sklearn_pairboot._engine.distribution import BootstrapDistribution
from sklearn_pairboot._tables import (
    BAYESIAN,
    Row,
    check_margin_names,
    check_margins,
    check_margins_by_rule,
    compared_pairs,
    plain_margin,
)
from sklearn_pairboot.report.facts import Facts


@dataclass(frozen=True, slots=True, eq=False)
class PracticalEquivalenceRow(Row):
    """Bayesian-bootstrap probabilities that a difference is below, within or above its margins.

    ``share_below`` is the share of posterior draws with ``model - baseline < -margin``,
    ``share_within`` of those from ``-margin`` to ``margin``, the probability of practical
    equivalence, and ``share_above`` of those beyond ``margin``.
    """

    metric: str
    model: str
    baseline: str
    margin: float
    share_below: float
    share_within: float
    share_above: float


def practical_equivalence(
    distribution: BootstrapDistribution, facts: Facts, margin: Any
) -> tuple[PracticalEquivalenceRow, ...]:
    """Count the draws below, within and above the margins; at a margin is within."""
    if margin is None:
        raise ValueError(
            "`margin` must be a positive number, got None. It is the smallest difference that "
            "would matter, in units of the metric."
        )
    check_margins(margin, None, facts.settings.confidence_level)
    rules = {metric.name: metric.interval_rule for metric in facts.metrics}
    check_margins_by_rule(margin, None, rules)
    check_margin_names(margin, None, facts.models, [metric.name for metric in facts.metrics])
    settings = replace(facts.settings, margin=plain_margin(margin), margin_relative=None)
    rows = []
    for number, metric in enumerate(facts.metrics):
        own = settings.margin_of(metric.name)
        if own is None:
            continue
        for model, other in compared_pairs(facts.models, settings):
            values, _ = distribution.difference_values(number, model, other)
            values = values[~np.isnan(values)]
            shares = (np.mean(values < -own), np.mean(np.abs(values) <= own), np.mean(values > own))
            names = metric.name, facts.models[model], facts.models[other]
            rows.append(PracticalEquivalenceRow(*names, own, *map(float, shares)))
    return tuple(rows)


def check_posterior(scheme: str) -> None:
    """Refuse resamples that are no posterior draws."""
    if scheme != BAYESIAN:
        raise ValueError(
            "`practical_equivalence` must be asked of posterior draws, got resamples of the "
            f"{scheme} scheme. Pass `resampling=BayesianBootstrap()` to the comparison, or give "
            "it a `margin=` and take `p_equivalence`."
        )
