"""The tables of a report as cells of text, and what stands above them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from sklearn_pairboot._tables import DifferenceRow, EquivalenceRow, ScoreRow, format_count
from sklearn_pairboot._tables.numbers import (
    NumberFormat,
    difference_format,
    format_p,
    format_percent,
    score_format,
)
from sklearn_pairboot.report.cells import Cells, interval_header
from sklearn_pairboot.report.facts import Facts, adjusted_apart, family_size
from sklearn_pairboot.report.slices import slice_cells, slice_heading

MARGIN_HEADING = "Margins: is the difference within them, and is the model not worse by more?"


def comparison_tables(
    facts: Facts, scores: Sequence[ScoreRow], differences: Sequence[DifferenceRow]
) -> list[tuple[str, Cells]]:
    """Give the tables of a comparison with their headings, those that have rows."""
    tables = []
    if differences:
        tables.append((_difference_heading(facts), difference_cells(facts, differences)))
    if margin_rows(differences):
        tables.append((MARGIN_HEADING, margin_cells(facts, differences)))
    if facts.slices:
        tables.append((slice_heading(facts), slice_cells(facts)))
    return [*tables, (_score_heading(facts), score_cells(facts, scores))]


def _score_heading(facts: Facts) -> str:
    if len(facts.models) == 1:
        return "Scores"
    return "Scores (judge models by their differences, not by whether these intervals overlap)"


def _difference_heading(facts: Facts) -> str:
    baseline = facts.settings.baseline
    if facts.settings.pairs == "all" and len(facts.models) > 2:
        return "Differences of all pairs, in units of the metric"
    others = [model for model in facts.models if model != baseline]
    model = others[0] if len(others) == 1 else "model"
    return f"Differences: {model} - {baseline}, in units of the metric"


def score_cells(facts: Facts, scores: Sequence[ScoreRow]) -> Cells:
    """Write the scores table; counts appear only where there are any."""
    columns: list[tuple[str, Callable[[ScoreRow, NumberFormat], str]]] = [
        ("", lambda row, number: row.model),
        ("estimate", lambda row, number: number(row.estimate)),
        ("SE", lambda row, number: number(row.std_error)),
        (interval_header(facts), lambda row, number: number.interval(row.ci_low, row.ci_high)),
    ]
    if any(row.n_undefined for row in scores):
        columns.append(("undefined", lambda row, number: format_count(row.n_undefined)))
    if any(row.n_zero_division for row in scores):
        columns.append(("0/0", lambda row, number: format_count(row.n_zero_division)))
    if any(row.status != "ok" for row in scores):
        columns.append(("status", lambda row, number: row.status.partition(" (")[0]))
    groups = []
    for metric in facts.metrics:
        rows = [row for row in scores if row.metric == metric.name]
        number = score_format(rows)
        groups.append((metric, tuple(tuple(c(row, number) for _, c in columns) for row in rows)))
    return Cells(tuple(header for header, _ in columns), tuple(groups))


def difference_cells(facts: Facts, differences: Sequence[DifferenceRow]) -> Cells:
    """Write the differences table; adjusted p-values appear where there is a family."""
    alpha = facts.settings.alpha
    columns: list[tuple[str, Callable[[DifferenceRow, NumberFormat], str]]] = [
        ("", _row_label(facts)),
        ("difference", lambda row, number: number(row.difference, signed=True, keep=True)),
        ("SE", lambda row, number: number(row.std_error)),
        (interval_header(facts), lambda row, number: number.interval(row.ci_low, row.ci_high)),
        ("p", lambda row, number: format_p(row.p_value, alpha)),
    ]
    if adjusted_apart(facts) and family_size(facts) > 1:
        columns.append(("adj. p", lambda row, number: format_p(row.p_adjusted, alpha)))
    if facts.permutations:
        columns.append(("perm. p", lambda row, number: format_p(row.p_permutation, alpha)))
    columns.append(("verdict", lambda row, number: row.verdict))
    if any(row.status != "ok" for row in differences):
        columns.append(("status", lambda row, number: row.status.partition(" (")[0]))
    groups = []
    for metric in facts.metrics:
        rows = [row for row in differences if row.metric == metric.name]
        number = difference_format(rows)
        groups.append((metric, tuple(tuple(c(row, number) for _, c in columns) for row in rows)))
    return Cells(tuple(header for header, _ in columns), tuple(groups))


def margin_rows(differences: Sequence[DifferenceRow]) -> list[EquivalenceRow]:
    """Rows that have a margin."""
    return [
        row for row in differences if isinstance(row, EquivalenceRow) and not math.isnan(row.margin)
    ]


def margin_cells(facts: Facts, differences: Sequence[DifferenceRow]) -> Cells:
    """Write the table of margins: what each is shown to be, at the level of the verdicts."""
    alpha = facts.settings.alpha
    label = _row_label(facts)
    columns: list[tuple[str, Callable[[EquivalenceRow, NumberFormat], str]]] = [
        ("", lambda row, number: label(row, number)),
        ("margin", lambda row, number: f"{row.margin:.4g}"),
        (
            f"{format_percent(1 - 2 * alpha)} interval",
            lambda row, number: number.interval(row.equivalence_low, row.equivalence_high),
        ),
        ("p equivalent", lambda row, number: format_p(row.p_equivalence, alpha)),
        ("p not worse", lambda row, number: format_p(row.p_not_worse, alpha)),
    ]
    if adjusted_apart(facts) and family_size(facts) > 1:
        columns.insert(4, ("adj.", lambda row, number: format_p(row.p_equivalence_adjusted, alpha)))
        columns.append(("adj.", lambda row, number: format_p(row.p_not_worse_adjusted, alpha)))
    groups = []
    for metric in facts.metrics:
        rows = [row for row in margin_rows(differences) if row.metric == metric.name]
        number = difference_format(rows)
        if rows:
            cells = tuple(tuple(cell(row, number) for _, cell in columns) for row in rows)
            groups.append((metric, cells))
    return Cells(tuple(header for header, _ in columns), tuple(groups))


def _row_label(facts: Facts) -> Callable[[DifferenceRow, NumberFormat], str]:
    """Name a comparison: by its model, or by both where the baseline is not always the same."""
    if facts.settings.pairs == "all" and len(facts.models) > 2:
        return lambda row, number: f"{row.model} - {row.baseline}"
    return lambda row, number: row.model
