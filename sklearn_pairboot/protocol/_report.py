"""What a report of an evaluation by the protocol says, around that of its comparison."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from sklearn_pairboot._engine.intervals import alpha_of
from sklearn_pairboot._tables.numbers import format_p
from sklearn_pairboot.report.cells import Cells, Section
from sklearn_pairboot.report.document import Document
from sklearn_pairboot.report.schemes import VALIDATION_AND_TEST

if TYPE_CHECKING:
    from sklearn_pairboot.protocol.result import CalibrationRow, ProtocolResult, ThresholdRow

_PEEK = (
    "had the rule chosen on the test rows themselves. An upper bound of what another threshold "
    "could bring by this rule, and no estimate"
)
_CALIBRATION = (
    "of the probabilities on the test rows: 1 is the right slope, 0 the right intercept. The "
    "p-values, two-sided, are of two tests: the smaller one times two says whether these rows "
    "contradict the probabilities. A large one does not show that they are right"
)


def document(found: ProtocolResult, name: Callable[[str], str]) -> Document:
    """Put the report together, with names as the format writes them."""
    base = found.result._document(name)
    chosen = _chosen(found)
    tables = [("Thresholds, and what they give", _threshold_cells(found, name))]
    again = ", and chosen again in every resample" if _varied(found) else ""
    how = [("Thresholds", f"{chosen}{again}; no test row chooses any")]
    if found.peek:
        how.append(("Peek", _PEEK))
    if found.calibration:
        tables.append(("Calibration on the test rows", _calibration_cells(found, name)))
        how.append(("Checks", _CALIBRATION))
    return dataclasses.replace(
        base,
        title=f"Evaluation protocol: {base.title[0].lower()}{base.title[1:]}",
        sentences=[*base.sentences, _base_rate(found.positive_rate)],
        tables=[*tables, *base.tables],
        how=[*how, *base.how],
        methods=f"Thresholds were {chosen}. {base.methods}",
        notes=[*found.notes, *base.notes],
    )


def _chosen(found: ProtocolResult) -> str:
    if not found.rule:
        return "fixed beforehand"
    return f"chosen on validation rows alone by {found.rule}"


def _varied(found: ProtocolResult) -> bool:
    return found.result.scheme == VALIDATION_AND_TEST


def _base_rate(rate: float) -> str:
    return (
        f"{rate:.4g} of the test rows are positive: calling none positive has accuracy "
        f"{1 - rate:.4g} and recall 0, and a ranking by chance average precision {rate:.4g}."
    )


def _threshold_cells(found: ProtocolResult, name: Callable[[str], str]) -> Cells:
    header = ["", "threshold", "called", "precision", "recall", "false alarms", "accuracy"]
    parts: list[tuple[str, Sequence[ThresholdRow]]] = [
        (
            "validation rows, which chose the thresholds: too good"
            if found.rule
            else "validation rows",
            found.validation,
        ),
        ("test rows, at the same thresholds", found.test),
        ("peek: thresholds chosen on the test rows, no estimate", found.peek),
    ]
    with_cost = not all(math.isnan(row.cost) for _, rows in parts for row in rows)
    groups = []
    for title, rows in parts:
        lines = []
        for row in rows:
            numbers = [row.threshold, row.called_positive, row.precision, row.recall]
            numbers += [row.false_positive_rate, row.accuracy, *[row.cost] * with_cost]
            lines.append((name(row.model), *map(_number, numbers)))
        if lines:
            groups.append((Section(title), tuple(lines)))
    return Cells((*header, *["cost"] * with_cost), tuple(groups), grouped_by="rows")


def _calibration_cells(found: ProtocolResult, name: Callable[[str], str]) -> Cells:
    header = ("", "mean p", "observed", "slope", "intercept", "p (mean)", "p (Spiegelhalter)")
    half = alpha_of(found.result.confidence_level) / 2  # the smaller of the two is doubled

    def line(row: CalibrationRow) -> tuple[str, ...]:
        numbers = (row.mean_probability, row.observed_rate, row.slope, row.intercept)
        p_values = (row.p_in_the_large, row.p_spiegelhalter)
        return (
            name(row.model),
            *map(_number, numbers),
            *(format_p(p_value, half) for p_value in p_values),
        )

    lines = tuple(map(line, found.calibration))
    return Cells(header, ((Section("probability of the positive class"), lines),), "rows")


def _number(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:.4g}"
