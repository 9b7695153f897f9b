"""The tables of a result, read off the joint replicates, and the notes that they call for."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

from sklearn_pairboot._engine.distribution import BootstrapDistribution
from sklearn_pairboot._engine.intervals import IntervalEstimate, interval
from sklearn_pairboot._engine.permutation import SwapTests, find_test
from sklearn_pairboot._engine.sample import Sample
from sklearn_pairboot._engine.simultaneous import max_t
from sklearn_pairboot._tables.families import adjusted, joint_family
from sklearn_pairboot._tables.findings import Findings, undefined_in_either
from sklearn_pairboot._tables.margins import with_margins
from sklearn_pairboot._tables.rows import (
    Comparison,
    DifferenceRow,
    MetricInfo,
    ScoreRow,
    Settings,
    SlicePart,
    Tables,
    format_count,
    verdict_word,
)
from sklearn_pairboot._tables.rules import difference_by_rule, method_of, score_by_rule
from sklearn_pairboot._tables.settings import (
    check_positive_baselines,
)
from sklearn_pairboot._tables.slices import notes_on_slices, slice_comparisons, slice_rows


def build_tables(
    distribution: BootstrapDistribution,
    models: Sequence[str],
    metrics: Sequence[MetricInfo],
    settings: Settings,
    permutation_tests: SwapTests | None = None,
    slices: Sequence[SlicePart] = (),
) -> Tables:
    """Read all tables off the joint replicates, and say what a reader must know about them.

    Slices are families of their own, unless all comparisons are one family.
    """
    models, metrics = tuple(models), tuple(metrics)
    pairs = compared_pairs(models, settings)
    names = [metric.name for metric in metrics]
    check_positive_baselines(distribution.observed, models, names, pairs, settings)
    comparisons = [
        [Comparison(number, info, *pair) for pair in pairs] for number, info in enumerate(metrics)
    ]
    in_slices = slice_comparisons(distribution, slices, metrics, pairs)
    families = [*comparisons, *in_slices]
    if settings.family == "all":
        families = [sum(families, [])]
    findings = Findings(distribution.n_sequences)
    simultaneous: dict[Comparison, IntervalEstimate] = {}
    if settings.correction == "max-t":
        if not distribution.is_joint:
            raise ValueError(
                "`correction` must not be 'max-t' where distributions are found by convolution, "
                "got 'max-t': it needs joint resamples. Pass 'holm', or an integer `n_resamples`."
            )
        for family in families:
            simultaneous |= _simultaneous(distribution, family, models, settings, findings)
    scores: list[ScoreRow] = []
    rows: dict[Comparison, DifferenceRow] = {}
    found: dict[Comparison, IntervalEstimate] = {}
    for number, info in enumerate(metrics):
        for model in range(len(models)):
            scores.append(_score_row(distribution, number, model, info, models, settings, findings))
        for comparison in (*comparisons[number], *in_slices[number]):
            _check_defined(distribution, comparison, models)
            sample = distribution.difference_sample(
                comparison.metric, comparison.model, comparison.other
            )
            estimate = simultaneous.get(comparison)
            if estimate is None:
                estimate = _interval(distribution, comparison, sample, settings)
            found[comparison] = estimate
            row = _difference_row(distribution, comparison, estimate, models)
            if comparison.part is None:
                row = _with_permutation(row, settings, permutation_tests or {})
            place = comparison.place(models)
            findings.add(place, row.difference, estimate)
            expansion = distribution.expansion_of(comparison.metric)
            findings.add_support(
                place, sample, settings.alpha, expansion if estimate.method == "expanded" else None
            )
            rows[comparison] = row
        findings.add_undefined(distribution, number, info.name, pairs)
        for place_of, name in {(one.metric, one.name): None for one in in_slices[number]}:
            findings.add_undefined(distribution, place_of, name, pairs)
    judged: dict[Comparison, DifferenceRow] = {}
    for family in families:
        of_family = _with_verdicts(
            distribution,
            family,
            [rows[comparison] for comparison in family],
            [found[comparison] for comparison in family],
            settings,
            findings,
        )
        judged |= dict(zip(family, of_family, strict=True))
    differences = tuple(judged[comparison] for comparison in sum(comparisons, []))
    findings.add_contradictions(
        {comparison.place(models): row for comparison, row in judged.items()}, settings.alpha
    )
    of_slices = slice_rows(distribution, slices, metrics, pairs, models, judged)
    notes = findings.notes(settings, distribution.n_units)
    notes += notes_on_slices(slices, of_slices)
    return Tables(tuple(scores), differences, notes, of_slices)


def compared_pairs(models: Sequence[str], settings: Settings) -> list[tuple[int, int]]:
    """Numbers of the models that are compared, each with what it is compared with.

    The baseline comes first, so that in every pair the later model is compared with the earlier.
    """
    baseline = list(models).index(settings.baseline)
    order = [baseline, *(model for model in range(len(models)) if model != baseline)]
    references = order if settings.pairs == "all" else order[:1]
    return [
        (model, other) for place, other in enumerate(references) for model in order[place + 1 :]
    ]


def _score_row(
    distribution: BootstrapDistribution,
    metric: int,
    model: int,
    info: MetricInfo,
    models: Sequence[str],
    settings: Settings,
    findings: Findings,
) -> ScoreRow:
    name = models[model]
    if distribution.undefined[:, metric, model].all():
        raise ValueError(
            f"`{info.name}` of {name!r} is undefined in every resample, so it has no interval. "
            "Use a metric that is defined on resamples of these rows, or more rows."
        )
    estimate = float(distribution.observed[metric, model])
    sample = distribution.model_sample(metric, model)
    method = method_of(info, settings)
    found = interval(
        sample,
        estimate,
        method=method,
        confidence_level=settings.confidence_level,
        basis=distribution.basis(method, metric, model),
    )
    found = score_by_rule(found, info)
    n_zero_division = int(distribution.n_zero_division(metric, model))
    findings.add(f"{info.name} ({name})", estimate, found)
    findings.add_support(f"{info.name} ({name})", sample, settings.alpha)
    if n_zero_division:
        findings.zero_division.append(f"{info.name} ({name}, {format_count(n_zero_division)})")
    return ScoreRow(
        metric=info.name,
        model=name,
        estimate=estimate,
        std_error=float(found.std_error),
        ci_low=float(found.low),
        ci_high=float(found.high),
        greater_is_better=info.greater_is_better,
        n_undefined=int(distribution.n_undefined(metric, model)),
        n_zero_division=n_zero_division,
        status=found.status,
    )


def _check_defined(
    distribution: BootstrapDistribution, comparison: Comparison, models: Sequence[str]
) -> None:
    metric, info, model, other, _ = comparison
    if undefined_in_either(distribution, metric, model, other).all():
        raise ValueError(
            f"The difference of {models[model]!r} and {models[other]!r} on `{info.name}` is "
            "undefined in every resample. Use a metric that is defined on resamples of these "
            "rows, or more rows."
        )


def _interval(
    distribution: BootstrapDistribution, comparison: Comparison, sample: Sample, settings: Settings
) -> IntervalEstimate:
    """Interval and p-value of one comparison by itself."""
    metric, info, model, other, _ = comparison
    method = method_of(info, settings)
    found = interval(
        sample,
        float(distribution.difference_estimate(metric, model, other)),
        method=method,
        confidence_level=settings.confidence_level,
        alternative=settings.side(info.greater_is_better),
        basis=distribution.basis(method, metric, model, other),
    )
    return difference_by_rule(found, info)


def _simultaneous(
    distribution: BootstrapDistribution,
    comparisons: Sequence[Comparison],
    models: Sequence[str],
    settings: Settings,
    findings: Findings,
) -> dict[Comparison, IntervalEstimate]:
    """Intervals and p-values of a family by max-T; what does not vary is no part of it."""
    found: dict[Comparison, IntervalEstimate] = {}
    members = []
    by_percentiles = dataclasses.replace(settings, method="percentile")
    for comparison in comparisons:
        _check_defined(distribution, comparison, models)
        sample = distribution.difference_sample(
            comparison.metric, comparison.model, comparison.other
        )
        found[comparison] = _interval(distribution, comparison, sample, by_percentiles)
        if found[comparison].status not in ("degenerate", "biased"):
            members.append(comparison)
    if not members:
        return found
    family, sides = joint_family(distribution, members, settings, findings)
    if family.lost.all():
        for member in members:
            found[member] = found[member]._replace(
                low=-np.inf,
                high=np.inf,
                p_value=np.nan,
                method="max-t",
                status="undefined",
                reason="no resample has a value of every comparison of the family",
            )
        return found
    tests = max_t(family, sides, settings.confidence_level)
    for k, member in enumerate(members):
        estimate, half_width = float(family.estimates[k]), float(tests.half_widths[k])
        alone = found[member]
        if np.isnan(half_width):
            found[member] = alone._replace(
                low=estimate if sides[k] >= 0 else -np.inf,
                high=estimate if sides[k] <= 0 else np.inf,
                p_value=np.nan,
                method="max-t",
                status="degenerate",
            )
            continue
        found[member] = alone._replace(
            low=estimate - half_width if sides[k] >= 0 else -np.inf,
            high=estimate + half_width if sides[k] <= 0 else np.inf,
            p_value=float(tests.p_values[k]),
            method="max-t",
        )
    return found


def _difference_row(
    distribution: BootstrapDistribution,
    comparison: Comparison,
    found: IntervalEstimate,
    models: Sequence[str],
) -> DifferenceRow:
    metric, info, model, other, _ = comparison
    return DifferenceRow(
        metric=info.name,
        model=models[model],
        baseline=models[other],
        difference=float(distribution.difference_estimate(metric, model, other)),
        std_error=float(found.std_error),
        ci_low=float(found.low),
        ci_high=float(found.high),
        greater_is_better=info.greater_is_better,
        p_value=float(found.p_value),
        p_adjusted=float("nan"),
        p_permutation=float("nan"),
        verdict="inconclusive",
        status=found.status,
    )


def _with_permutation(row: DifferenceRow, settings: Settings, tests: SwapTests) -> DifferenceRow:
    """Add the p-value of the permutation test, if one was made, which judges nothing."""
    test = find_test(tests, row.metric, row.model, row.baseline)
    if test is None:
        return row
    p_value = test.p_value(settings.side(row.greater_is_better))
    return dataclasses.replace(row, p_permutation=p_value)


def _with_verdicts(
    distribution: BootstrapDistribution,
    family: Sequence[Comparison],
    rows: Sequence[DifferenceRow],
    found: Sequence[IntervalEstimate],
    settings: Settings,
    findings: Findings,
) -> list[DifferenceRow]:
    """Adjust the p-values of one family, look at the margins, and judge each row."""
    if not rows:
        return []
    p_values = adjusted(distribution, family, rows, settings, findings)
    judged = [
        dataclasses.replace(row, p_adjusted=float(p)) for row, p in zip(rows, p_values, strict=True)
    ]
    if settings.has_margin:  # which belongs to all rows, not to subgroups
        whole = [number for number, comparison in enumerate(family) if comparison.part is None]
        widened = with_margins(
            distribution,
            [family[number] for number in whole],
            [judged[number] for number in whole],
            [found[number] for number in whole],
            settings,
            findings,
        )
        for number, row in zip(whole, widened, strict=True):
            judged[number] = row
    verdicts = []
    for row, comparison in zip(judged, family, strict=True):
        of = distribution if comparison.part is None else comparison.part
        word = verdict_word(row, settings.alpha, of.n_units)
        verdicts.append(dataclasses.replace(row, verdict=word))
    return verdicts
