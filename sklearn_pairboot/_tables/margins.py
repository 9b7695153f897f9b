"""Rows with a margin: equivalence and non-inferiority of the comparisons of one family."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from sklearn_pairboot._engine.distribution import BootstrapDistribution
from sklearn_pairboot._engine.equivalence import (
    Distance,
    margin_test,
    shift_for,
    simultaneous_margin_tests,
)
from sklearn_pairboot._engine.intervals import IntervalEstimate
from sklearn_pairboot._engine.multiplicity import adjust, without_replicates
from sklearn_pairboot._engine.sample import RELATIVE_TOLERANCE
from sklearn_pairboot._engine.simultaneous import Family
from sklearn_pairboot._tables.findings import Findings
from sklearn_pairboot._tables.rows import Comparison, DifferenceRow, EquivalenceRow, Settings


class _Margins(NamedTuple):
    """Both margins of a comparison: ``size`` in metric units, and what is tested for each.

    The distance from a margin is model - factor x baseline + shift.
    """

    size: float
    factors: tuple[float, float]
    shifts: tuple[float, float]


class _Tested(NamedTuple):
    low: float
    high: float
    p_equivalence: float
    p_not_worse: float


def with_margins(
    distribution: BootstrapDistribution,
    family: Sequence[Comparison],
    rows: Sequence[DifferenceRow],
    found: Sequence[IntervalEstimate],
    settings: Settings,
    findings: Findings,
) -> list[DifferenceRow]:
    """Give the rows of one family their columns on equivalence; NaN without a margin."""
    margins = [_margins_of(distribution, comparison, settings) for comparison in family]
    having = [number for number, margin in enumerate(margins) if margin is not None]
    tested: dict[int, _Tested] = {}
    given = [(family[number], margin) for number in having if (margin := margins[number])]
    if settings.correction == "max-t":
        tested = dict(zip(having, _jointly(distribution, given, settings), strict=True))
    else:
        for number, (comparison, margin) in zip(having, given, strict=True):
            tested[number] = _alone(
                distribution, comparison, margin, found[number], rows[number], settings, findings
            )
    filled: list[DifferenceRow] = []
    for number, row in enumerate(rows):
        columns: dict[str, Any] = {}
        margin = margins[number]
        if margin is not None:
            columns = _columns(distribution, family[number], row, margin, tested[number])
        usual: dict[str, Any] = {name: getattr(row, name) for name in DifferenceRow.columns()}
        filled.append(EquivalenceRow(**usual, **columns))
    for p_value in ("p_equivalence", "p_not_worse"):
        values = np.array([row[p_value] for row in filled])
        if settings.correction != "max-t":  # which has adjusted them
            values = adjust(values, without_replicates(settings.correction))
        changes: list[dict[str, Any]] = [{f"{p_value}_adjusted": float(p)} for p in values]
        filled = [
            dataclasses.replace(row, **change) for row, change in zip(filled, changes, strict=True)
        ]
    return filled


def _margins_of(
    distribution: BootstrapDistribution, comparison: Comparison, settings: Settings
) -> _Margins | None:
    metric, info, model, other, _ = comparison
    if info.interval_rule == "biased":  # no interval, no equivalence
        return None
    size, share = settings.margin_of(info.name), settings.margin_relative_of(info.name)
    if share is not None:
        baseline = float(distribution.observed[metric, other])
        return _Margins(share * baseline, (1 - share, 1 + share), (0.0, 0.0))
    if size is None:
        return None
    sample = distribution.difference_sample(metric, model, other)
    shift = shift_for(sample, distribution.difference_estimate(metric, model, other), size)
    return _Margins(size, (1.0, 1.0), (shift, -shift))


def _alone(
    distribution: BootstrapDistribution,
    comparison: Comparison,
    margins: _Margins,
    found: IntervalEstimate,
    row: DifferenceRow,
    settings: Settings,
    findings: Findings,
) -> _Tested:
    """Test one comparison by the method that its interval finally used."""
    metric, info, model, other, _ = comparison
    distances = []
    for factor, shift in zip(margins.factors, margins.shifts, strict=True):
        distance = Distance(
            distribution.difference_sample(metric, model, other, factor),
            distribution.difference_estimate(metric, model, other, factor),
            distribution.basis(found.method, metric, model, other, factor),
        )
        distances.append(distance.moved(shift) if shift else distance)
    test = margin_test(*distances, method=found.method, confidence_level=settings.confidence_level)
    if test.fallback is not None:
        place = f"{info.name} ({row.model} - {row.baseline}, margin)"
        cause = (test.fallback.status, test.fallback.reason)
        findings.fallbacks.setdefault(cause, []).append(place)
    p_not_worse = test.p_not_worse(info.greater_is_better)
    return _Tested(test.low, test.high, test.p_equivalence, p_not_worse)


def _jointly(
    distribution: BootstrapDistribution,
    given: Sequence[tuple[Comparison, _Margins]],
    settings: Settings,
) -> list[_Tested]:
    """Test a family by max-T."""
    if not given:
        return []
    lower, upper = (
        family_of(
            distribution,
            [comparison for comparison, _ in given],
            [margins.factors[side] for _, margins in given],
            [margins.shifts[side] for _, margins in given],
        )
        for side in (0, 1)
    )
    tests = simultaneous_margin_tests(
        lower,
        upper,
        [comparison.info.greater_is_better for comparison, _ in given],
        confidence_level=settings.confidence_level,
    )
    return [_Tested(*map(float, one)) for one in zip(*tests, strict=True)]


def family_of(
    distribution: BootstrapDistribution,
    comparisons: Sequence[Comparison],
    factors: Sequence[float] | None = None,
    shifts: Sequence[float] | None = None,
) -> Family:
    """Collect the joint replicates of comparisons: model - factor x other + shift."""
    factors = factors or [1.0] * len(comparisons)
    shifts = shifts or [0.0] * len(comparisons)
    values, estimates, noise = [], [], []
    for (metric, _, model, other, _), factor, shift in zip(
        comparisons, factors, shifts, strict=True
    ):
        replicates, scale = distribution.difference_values(metric, model, other, factor)
        values.append(replicates + shift)
        estimates.append(distribution.difference_estimate(metric, model, other, factor) + shift)
        noise.append(RELATIVE_TOLERANCE * max(scale, abs(shift)))
    return Family(
        np.column_stack(values), np.array(estimates), np.array(noise), distribution.multiplicities
    )


def _columns(
    distribution: BootstrapDistribution,
    comparison: Comparison,
    row: DifferenceRow,
    margins: _Margins,
    tested: _Tested,
) -> dict[str, float]:
    metric, _, model, other, _ = comparison
    ends = []
    for factor, shift, bound, sign in zip(
        margins.factors, margins.shifts, (tested.low, tested.high), (1, -1), strict=True
    ):
        estimate = distribution.difference_estimate(metric, model, other, factor) + shift
        end = row.difference + (bound - estimate)
        # Written as a difference, a bound stays on its side of the margin.
        limit = -sign * margins.size
        if sign * bound > 0:
            inside = math.nextafter(limit, sign * math.inf)
            end = max(end, inside) if sign > 0 else min(end, inside)
        elif sign * bound <= 0:
            end = min(end, limit) if sign > 0 else max(end, limit)
        ends.append(end)
    return {
        "margin": margins.size,
        "equivalence_low": ends[0],
        "equivalence_high": ends[1],
        "p_equivalence": tested.p_equivalence,
        "p_not_worse": tested.p_not_worse,
    }
