"""Families of comparisons: their joint replicates, and p-values adjusted for one another."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sklearn_pairboot._engine.distribution import BootstrapDistribution
from sklearn_pairboot._engine.multiplicity import adjust
from sklearn_pairboot._engine.simultaneous import Family, max_t_step_down
from sklearn_pairboot._engine.weights import FloatArray
from sklearn_pairboot._tables.findings import Findings
from sklearn_pairboot._tables.margins import family_of
from sklearn_pairboot._tables.rows import Comparison, DifferenceRow, Settings

_SIDES = {"two-sided": 0, "greater": 1, "less": -1}


def joint_family(
    distribution: BootstrapDistribution,
    members: Sequence[Comparison],
    settings: Settings,
    findings: Findings,
) -> tuple[Family, list[int]]:
    """Collect the joint replicates of a family, and the side of each comparison."""
    family = family_of(distribution, members)
    names = [
        member.info.name if member.part is None else f"{member.info.name} in subgroups"
        for member in members
    ]
    findings.add_dropped(family, names, settings.alpha)
    return family, [_SIDES[settings.side(member.info.greater_is_better)] for member in members]


def adjusted(
    distribution: BootstrapDistribution,
    family: Sequence[Comparison],
    rows: Sequence[DifferenceRow],
    settings: Settings,
    findings: Findings,
) -> FloatArray:
    """Adjust the p-values of one family; max-T has done so already."""
    p_values = np.array([row.p_value for row in rows])
    if settings.correction == "max-t":
        return p_values
    if settings.correction != "max-t-step-down":
        findings.add_family(p_values, settings, distribution.expansion_of())
        return adjust(p_values, settings.correction)
    varying = [number for number, row in enumerate(rows) if row.status != "degenerate"]
    if varying:
        members = [family[number] for number in varying]
        family_and_sides = joint_family(distribution, members, settings, findings)
        # Studentised p-values may lie below those of another method, which the interval shows.
        p_values[varying] = np.maximum(p_values[varying], max_t_step_down(*family_and_sides))
    return p_values
