"""What a model selection report says, from the parts of other reports."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sklearn_pairboot._tables import DifferenceRow, MetricInfo, ScoreRow, side_of_zero
from sklearn_pairboot._tables.numbers import (
    NumberFormat,
    difference_format,
    format_p,
    format_percent,
    format_share,
    score_format,
)
from sklearn_pairboot.report.cells import Cells, interval_header
from sklearn_pairboot.report.document import Document
from sklearn_pairboot.report.facts import Facts
from sklearn_pairboot.report.findings import findings
from sklearn_pairboot.report.methods import methods
from sklearn_pairboot.report.names import renamed
from sklearn_pairboot.report.reading import guide
from sklearn_pairboot.report.split_tests import SplitTestRow, supports
from sklearn_pairboot.report.statements import statements
from sklearn_pairboot.report.tables import difference_cells, score_cells

if TYPE_CHECKING:
    from sklearn_pairboot.comparison._selection_report import SelectionReport
    from sklearn_pairboot.comparison.selection_bias import CorrectedSelection

_CHOICE = (
    "these rows chose the best candidate, and its corrected score allows for that. The verdicts "
    "assume that the baseline was fixed beforehand, and one look. Fit the selected candidate on "
    "all rows and test it once on rows that had no part in the choice"
)


@dataclass(frozen=True)
class _Parts:
    """What is written, with names as the format writes them."""

    facts: Facts
    scores: Sequence[ScoreRow]
    differences: Sequence[DifferenceRow]
    selection: CorrectedSelection
    methods: Any
    name: Callable[[str], str]

    @property
    def metric(self) -> MetricInfo:
        """The metric that chooses."""
        (found,) = (m for m in self.facts.metrics if m.name == self.name(self.selection.metric))
        return found

    @property
    def selected(self) -> str:
        return self.name(self.selection.selected)

    @property
    def title(self) -> str:
        facts = self.facts
        rows = f"{facts.n_rows} rows" + (
            "" if facts.unit == "rows" else f" in {facts.n_units} {facts.unit}"
        )
        return f"Model selection report: {len(facts.models)} candidates on {rows}"

    def tables(self) -> list[tuple[str, Cells]]:
        """Give the tables with their headings."""
        found = [
            ("Best candidate, before and after correction for the selection", _best(self)),
            ("Candidates", _candidates(self)),
            (
                "Differences in units of the metric: of these fitted models, and of the methods "
                "by the corrected t",
                _differences(self),
            ),
        ]
        if self.methods is not None:
            found.append(("Where the variance of a method's average comes from", _shares(self)))
        return found

    def how(self) -> list[tuple[str, str]]:
        """State how the numbers came about."""
        selection = self.selection
        chosen = (
            f"bootstrap bias corrected cross-validation: in each of {selection.n_resamples} "
            f"resamples the candidate that is best on the drawn {selection.unit} is scored on "
            f"those left out; {format_percent(selection.confidence_level)} percentile interval"
        )
        if selection.n_undefined:
            chosen += f"; {selection.n_undefined} without a value are left out"
        given = [
            (label, text)
            for label, text in statements(self.facts, self.scores, self.differences)
            if label != "Looks"  # which says that these rows chose no model
        ]
        return [*given, ("Correction", chosen), *self._variances(), ("Selection", _CHOICE)]

    def _variances(self) -> list[tuple[str, str]]:
        methods = self.methods
        if methods is None:
            return []
        text = (
            f"shares of the squared standard error of the average over {methods.n_sets} training "
            f"set(s) of {methods.n_seeds:.3g} seed(s) each, on {methods.n_units} test "
            f"{methods.unit}: fits of their own, apart from the cross-validation"
        )
        return [("Variance", text)]


def document(report: SelectionReport, name: Callable[[str], str]) -> Document:
    """Put the report together, with names as a format writes them."""
    result = report.result
    facts, scores, differences = renamed(
        result._all_facts(), result.scores, result.differences, name
    )
    parts = _Parts(facts, scores, differences, report.selection, report.method_comparison, name)
    return Document(
        title=parts.title,
        sentences=wording(parts),
        tables=parts.tables(),
        how=parts.how(),
        guide=guide(facts, differences),
        methods=(
            f"{methods(facts, [*scores, *differences], result.versions)} {_selection_method(parts)}"
        ),
        notes=facts.notes,
    )


def _selection_method(parts: _Parts) -> str:
    selection = parts.selection
    return (
        f"The best candidate was chosen on these rows by {parts.metric.name}, and its score was "
        "corrected for that choice by bootstrap bias corrected cross-validation "
        f"({selection.n_resamples} resamples)."
    )


def wording(parts: _Parts) -> list[str]:
    """Give sentences to report the outcome with: of the selection, then of each comparison."""
    selection, number = parts.selection, _selection_format(parts.selection)
    sentences = [
        f"{parts.selected} is the best of {len(parts.facts.models)} candidates on "
        f"{parts.metric.name} ({parts.metric.direction}). The naive score "
        f"{number(selection.naive)} of the best of several is too good on average; report the "
        f"score corrected for the selection, {number(selection.corrected)} "
        f"{number.interval(selection.ci_low, selection.ci_high)} "
        f"({format_percent(selection.confidence_level)} interval)."
    ]
    said = iter(findings(parts.facts, parts.scores, parts.differences))
    for metric in parts.facts.metrics:
        rows = [row for row in parts.differences if row.metric == metric.name]
        number = difference_format(rows)
        sentences += [
            next(said) + excluded_gap(row, number) + _of_methods(row, parts.facts) for row in rows
        ]
    return sentences


def _of_methods(row: DifferenceRow, facts: Facts) -> str:
    """Say of a clear verdict whether the test of the splits shows the same for the methods."""
    test = _split_tests(facts).get((row.metric, row.model, row.baseline))
    if test is None or row.verdict not in ("better", "worse"):
        return ""
    does = "shows" if supports(test, row, facts.settings) else "does not show"
    return (
        " That is about these fitted models; the corrected t test of the splits "
        f"{does} it for the methods."
    )


def _split_tests(facts: Facts) -> dict[tuple[str, str, str], SplitTestRow]:
    return {(row.metric, row.model, row.baseline): row for row in facts.split_tests}


def excluded_gap(row: DifferenceRow, number: NumberFormat) -> str:
    """Say for an inconclusive comparison which gaps its interval excludes, and what it is not."""
    ends = (row.ci_low, row.ci_high)
    if row.verdict != "inconclusive" or row.status in ("degenerate", "biased"):
        return ""
    if side_of_zero(row) or not all(map(math.isfinite, ends)):
        return ""
    return (
        f" The interval contains 0 and excludes gaps of more than "
        f"{number(max(map(abs, ends)), keep=True)} either way. That is no evidence of equality, "
        "which takes a margin chosen beforehand and an equivalence test."
    )


def _selection_format(selection: CorrectedSelection) -> NumberFormat:
    values = (selection.naive, selection.corrected, selection.ci_low, selection.ci_high)
    return NumberFormat.from_errors([selection.std_error / 10], values)


def _best(parts: _Parts) -> Cells:
    selection, number = parts.selection, _selection_format(parts.selection)
    level = format_percent(selection.confidence_level)
    naive = next(
        row
        for row in parts.scores
        if (row.metric, row.model) == (parts.metric.name, parts.selected)
    )
    row = (
        parts.selected,
        number(selection.naive),
        score_format([naive]).interval(naive.ci_low, naive.ci_high),
        number(selection.corrected),
        number.interval(selection.ci_low, selection.ci_high),
        number(selection.optimism, keep=True),
    )
    header = ("", "naive", f"{level} interval", "corrected", f"{level} interval", "optimism")
    return Cells(header, ((parts.metric, (row,)),))


def _candidates(parts: _Parts) -> Cells:
    """Scores of all candidates, and how often each would be chosen."""
    shares = {parts.name(model): share for model, share in parts.selection.shares.items()}
    cells = score_cells(parts.facts, parts.scores)
    groups = []
    for metric, (_, rows) in zip(parts.facts.metrics, cells.groups, strict=True):
        decides = metric.name == parts.metric.name
        groups.append(
            (metric, tuple((*row, format_share(shares[row[0]]) if decides else "") for row in rows))
        )
    return Cells((*cells.header, "chosen"), tuple(groups))


def _differences(parts: _Parts) -> Cells:
    """Differences with their verdicts, and the corrected t test of the same comparison."""
    facts = parts.facts
    cells = difference_cells(facts, parts.differences)
    hidden = {"SE", "p"} if "adj. p" in cells.header else {"SE"}
    kept = [k for k, name in enumerate(cells.header) if name not in hidden]
    tests = _split_tests(facts)
    groups = []
    for metric, (_, rows) in zip(parts.facts.metrics, cells.groups, strict=True):
        of_metric = [row for row in parts.differences if row.metric == metric.name]
        written = []
        for texts, row in zip(rows, of_metric, strict=True):
            test = tests.get((row.metric, row.model, row.baseline))
            beside = ("-", "-")
            if test is not None:
                number = NumberFormat.from_errors(
                    [test.std_error], [test.difference, test.ci_low, test.ci_high]
                )
                beside = (
                    number.interval(test.ci_low, test.ci_high),
                    format_p(test.p_adjusted, facts.settings.alpha),
                )
            written.append((*(texts[k] for k in kept), *beside))
        groups.append((metric, tuple(written)))
    p = "adj. p" if "adj. p" in cells.header else "p"
    header = (*(cells.header[k] for k in kept), f"{interval_header(facts)} of t", f"{p} of t")
    return Cells(header, tuple(groups))


def _shares(parts: _Parts) -> Cells:
    """List sources of variance: of differences, or of scores where there is one method."""
    level = format_percent(parts.methods.confidence_level)
    rows = []
    for row in parts.methods.differences or parts.methods.scores:
        if parts.name(row.metric) != parts.metric.name:
            continue
        what = parts.name(row.model)
        if row.baseline is not None:
            what += f" - {parts.name(row.baseline)}"
        for part in row.variances:
            rows.append(
                (
                    f"{what}: {part.source}",
                    f"{part.variance:.3g}",
                    format_share(part.share),
                    f"[{format_share(part.share_low)}, {format_share(part.share_high)}]",
                )
            )
    header = ("", "component", "share", f"{level} interval")
    return Cells(header, ((parts.metric, tuple(rows)),))
