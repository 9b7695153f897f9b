"""A comparison of methods as a document, which is written as a page or as LaTeX."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from sklearn_pairboot._tables.names import visible
from sklearn_pairboot._tables.numbers import format_percent
from sklearn_pairboot.plotting import VarianceSharesDisplay
from sklearn_pairboot.report.cells import Cells, Section
from sklearn_pairboot.report.document import Document
from sklearn_pairboot.report.figures import Figure, simple_figures
from sklearn_pairboot.training import _report

if TYPE_CHECKING:
    from sklearn_pairboot.training.result import MethodComparison, MethodEstimate


def document(result: MethodComparison) -> Document:
    """Put the report together, with names that can be seen."""
    rows = result.differences or result.scores
    tables = [
        ("Estimates for every target", _targets(rows, result)),
        ("Where the variance of the average comes from", _grouped(rows, result, _variances)),
    ]
    if result.differences:
        tables.append(("Scores: the method's average", _scores(result)))
    how = _report.statements(result)
    for row in rows:
        how.append(("More data", f"{_report.title_of(row)}: {_report.doubled(row, result)}"))
    return Document(
        title=_report.title(result),
        sentences=[_report.finding(row, result) for row in rows],
        tables=tables,
        how=how,
        guide=(),
        methods="",
        notes=result.notes,
    )


def figures(result: MethodComparison) -> tuple[list[Figure], str]:
    """Draw the shares of the variance on every metric."""
    metrics = dict.fromkeys(row.metric for row in result.scores)
    displays = [VarianceSharesDisplay.from_result(result, metric=name) for name in metrics]
    captions = [
        f"Shares of the variance of the average on {visible(name)}, by source, with intervals."
        for name in metrics
    ]
    return simple_figures(displays, captions)


def _grouped(
    rows: Sequence[MethodEstimate],
    result: MethodComparison,
    cells_of: Callable[[MethodEstimate, MethodComparison], list[list[str]]],
) -> Cells:
    """Put the tables of all rows under each other."""
    header = cells_of(rows[0], result)[0]
    groups = [
        (Section(_report.title_of(row)), tuple(map(tuple, cells_of(row, result)[1:])))
        for row in rows
    ]
    return Cells(tuple(header), tuple(groups), grouped_by="of")


def _targets(rows: Sequence[MethodEstimate], result: MethodComparison) -> Cells:
    cells = _grouped(rows, result, _report.target_cells)
    if cells.header[-1]:
        return cells
    # Scores have no p-values.
    groups = tuple((group, tuple(line[:-1] for line in lines)) for group, lines in cells.groups)
    return Cells(cells.header[:-1], groups, cells.grouped_by)


def _variances(row: MethodEstimate, result: MethodComparison) -> list[list[str]]:
    header, *lines = _report.variance_cells(row, result)
    return [["source", *header[1:]], *lines]


def _scores(result: MethodComparison) -> Cells:
    groups: dict[str, list[tuple[str, ...]]] = {}
    for row in result.scores:
        number = _report.number_format(row)
        ends = number.interval(row.average.ci_low, row.average.ci_high)
        title = f"{visible(row.metric)} ({_report.direction(row)})"
        groups.setdefault(title, []).append((visible(row.model), number(row.estimate), ends))
    header = ("", "estimate", f"{format_percent(result.confidence_level)} interval")
    return Cells(header, tuple((Section(name), tuple(lines)) for name, lines in groups.items()))
