"""The table of subgroups: each label of each slice variable, compared on the same resamples."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sklearn_pairboot._engine.distribution import BootstrapDistribution
from sklearn_pairboot._tables.findings import listed, undefined_in_either
from sklearn_pairboot._tables.rows import Comparison, DifferenceRow, MetricInfo, Row, SlicePart


@dataclass(frozen=True, slots=True, eq=False)
class SliceRow(Row):
    """One model against the baseline on one metric, in one subgroup.

    ``n_undefined`` counts the resamples in which the subgroup has no difference: it is absent
    from them, or the metric is undefined in it.
    """

    metric: str
    slice: str
    label: str
    n_rows: int
    n_units: int
    model: str
    baseline: str
    difference: float
    std_error: float
    ci_low: float
    ci_high: float
    greater_is_better: bool
    p_value: float
    p_adjusted: float
    n_undefined: int
    verdict: str
    status: str


def slice_comparisons(
    distribution: BootstrapDistribution,
    slices: Sequence[SlicePart],
    metrics: Sequence[MetricInfo],
    pairs: Sequence[tuple[int, int]],
) -> list[list[Comparison]]:
    """List what can be compared in subgroups, for each metric."""
    comparisons: list[list[Comparison]] = []
    for info in metrics:
        comparisons.append([])
        for part in slices:
            if part.metric != info.name or part.place is None or part.reason:
                continue
            for model, other in pairs:
                if not undefined_in_either(distribution, part.place, model, other).all():
                    comparisons[-1].append(Comparison(part.place, info, model, other, part))
    return comparisons


def slice_rows(
    distribution: BootstrapDistribution,
    slices: Sequence[SlicePart],
    metrics: Sequence[MetricInfo],
    pairs: Sequence[tuple[int, int]],
    models: Sequence[str],
    judged: Mapping[Comparison, DifferenceRow],
) -> tuple[SliceRow, ...]:
    """Make the rows of all subgroups, by metric; NaN where there is nothing to compare."""
    rows = []
    for info in metrics:
        for part in slices:
            if part.metric != info.name:
                continue
            for model, other in pairs:
                n_undefined, found = distribution.n_sequences, None
                if part.place is not None:
                    n_undefined = distribution.n_undefined(part.place, model, other)
                    found = judged.get(Comparison(part.place, info, model, other, part))
                rows.append(
                    SliceRow(
                        metric=info.name,
                        slice=part.slice,
                        label=part.label,
                        n_rows=part.n_rows,
                        n_units=part.n_units,
                        model=models[model],
                        baseline=models[other],
                        difference=np.nan if found is None else found.difference,
                        std_error=np.nan if found is None else found.std_error,
                        ci_low=np.nan if found is None else found.ci_low,
                        ci_high=np.nan if found is None else found.ci_high,
                        greater_is_better=info.greater_is_better,
                        p_value=np.nan if found is None else found.p_value,
                        p_adjusted=np.nan if found is None else found.p_adjusted,
                        n_undefined=n_undefined,
                        verdict="inconclusive" if found is None else found.verdict,
                        status="undefined" if found is None else found.status,
                    )
                )
    return tuple(rows)


def notes_on_slices(slices: Iterable[SlicePart], rows: Iterable[SliceRow]) -> tuple[str, ...]:
    """Say which subgroups are not compared, and why: one note a cause."""
    reasons: dict[str, list[str]] = {}
    known = set()
    for part in slices:
        if part.reason:
            reasons.setdefault(part.reason, []).append(part.name)
            known.add((part.metric, part.slice, part.label))
    for row in rows:
        if row.status == "undefined" and (row.metric, row.slice, row.label) not in known:
            place = f"{row.metric} where {row.slice} = {row.label} ({row.model} - {row.baseline})"
            reasons.setdefault("undefined in every resample", []).append(place)
    return tuple(
        f"Subgroups that are not compared, {reason}: {listed(places)}."
        for reason, places in reasons.items()
    )
