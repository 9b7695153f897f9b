"""Subgroups in reports: their table, a sentence for each verdict, and what to make of them."""

from __future__ import annotations

import math
from collections.abc import Callable

from sklearn_pairboot._tables import SliceRow, format_count
from sklearn_pairboot._tables.numbers import NumberFormat, difference_format, format_p
from sklearn_pairboot.report.cells import Cells, interval_header
from sklearn_pairboot.report.facts import Facts, adjusted_apart, slice_family_size
from sklearn_pairboot.report.findings import CORRECTION_NAMES, p_clause


def slice_heading(facts: Facts) -> str:
    """Head the table of subgroups."""
    baseline = facts.settings.baseline
    others = [model for model in facts.models if model != baseline]
    if len(others) == 1:
        return f"Subgroups: {others[0]} - {baseline}, on the same resamples"
    return "Subgroups: differences on the same resamples"


def slice_cells(facts: Facts) -> Cells:
    """Write the table of subgroups."""
    alpha = facts.settings.alpha
    columns: list[tuple[str, Callable[[SliceRow, NumberFormat], str]]] = [
        ("subgroup", lambda row, number: _label(row, facts)),
        ("rows", lambda row, number: str(row.n_rows)),
        ("difference", lambda row, number: number(row.difference, signed=True, keep=True)),
        ("SE", lambda row, number: number(row.std_error)),
        (interval_header(facts), lambda row, number: _interval(row, number)),
        ("p", lambda row, number: format_p(row.p_value, alpha)),
    ]
    if facts.unit == "clusters":  # blocks are drawn from all rows, whatever their subgroup
        columns.insert(2, (facts.unit, lambda row, number: str(row.n_units)))
    if adjusted_apart(facts) and any(
        slice_family_size(facts, info.name) > 1 for info in facts.metrics
    ):
        columns.append(("adj. p", lambda row, number: format_p(row.p_adjusted, alpha)))
    if any(row.n_undefined for row in facts.slices):
        columns.append(("undefined", lambda row, number: format_count(row.n_undefined)))
    columns.append(("verdict", lambda row, number: row.verdict))
    if any(row.status != "ok" for row in facts.slices):
        columns.append(("status", lambda row, number: row.status.partition(" (")[0]))
    groups = []
    for metric in facts.metrics:
        rows = [row for row in facts.slices if row.metric == metric.name]
        number = difference_format(rows)
        groups.append((metric, tuple(tuple(c(row, number) for _, c in columns) for row in rows)))
    return Cells(tuple(header for header, _ in columns), tuple(groups))


def slice_findings(facts: Facts) -> list[str]:
    """Give a sentence for each comparison in a subgroup that shows who is better, and a count."""
    sentences = []
    for metric in facts.metrics:
        rows = [row for row in facts.slices if row.metric == metric.name]
        number = difference_format(rows)
        size = slice_family_size(facts, metric.name)
        for row in rows:
            if row.verdict == "inconclusive":
                continue
            sentences.append(
                f"Where {row.slice} = {row.label} ({row.n_rows} rows) {row.model} is {row.verdict} "
                f"than {row.baseline} on {metric.name} ({metric.direction}): "
                f"{number(row.difference, signed=True, keep=True)} "
                f"{number.interval(row.ci_low, row.ci_high)}, {p_clause(row, facts, size)}."
            )
    n_open = sum(row.verdict == "inconclusive" for row in facts.slices)
    if n_open:
        verb = "is" if n_open == 1 else "are"
        sentences.append(
            f"{n_open} of {len(facts.slices)} comparisons in subgroups {verb} inconclusive."
        )
    return sentences


def slice_statement(facts: Facts) -> str:
    """State what subgroups are, how they are corrected, and what they do not show."""
    text = (
        "the rows with one label of one variable, compared on the same resamples; a resample in "
        "which a subgroup is absent or has no value counts as undefined there. "
    )
    correction = facts.settings.correction
    if correction is None:
        text += "Their p-values are not corrected for one another. "
    else:
        sizes = sorted({slice_family_size(facts, info.name) for info in facts.metrics})
        count = "-".join(map(str, dict.fromkeys((sizes[0], sizes[-1]))))
        name = CORRECTION_NAMES[correction]
        if facts.settings.family == "all":
            text += f"They belong to the one family of {count} comparisons ({name}). "
        else:
            text += (
                f"The {count} comparisons in subgroups of a metric are one family ({name}), apart "
                "from those of all rows. "
            )
    if facts.settings.has_margin:
        text += "Margins do not apply to them. "
    return (
        text + "They count only if they were planned before the data were seen. Different verdicts "
        "do not show that subgroups differ: that difference is not tested"
    )


def _label(row: SliceRow, facts: Facts) -> str:
    subgroup = f"{row.slice} = {row.label}"
    if len(facts.models) == 2:
        return subgroup
    if facts.settings.pairs == "all":
        return f"{subgroup}: {row.model} - {row.baseline}"
    return f"{subgroup}: {row.model}"


def _interval(row: SliceRow, number: NumberFormat) -> str:
    return "-" if math.isnan(row.ci_low) else number.interval(row.ci_low, row.ci_high)
