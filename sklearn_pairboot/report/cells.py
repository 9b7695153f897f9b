"""Tables as cells of text, and the two ways to write them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from sklearn_pairboot._tables.numbers import format_percent
from sklearn_pairboot.report.facts import Facts


class Titled(Protocol):
    """What rows of a table are grouped by, such as a metric."""

    @property
    def title(self) -> str:
        """What stands above the rows."""


@dataclass(frozen=True)
class Section:
    """A group of rows that is no metric."""

    title: str


@dataclass(frozen=True)
class Cells:
    """A table as text: a header and, for each group, rows that begin with the model's name."""

    header: tuple[str, ...]
    groups: tuple[tuple[Titled, tuple[tuple[str, ...], ...]], ...]
    grouped_by: str = "metric"


def text_table(cells: Cells) -> list[str]:
    """Write a table with columns under each other."""
    rows = [row for _, group in cells.groups for row in group]
    widths = [max(len(row[k]) for row in [cells.header, *rows]) for k in range(len(cells.header))]
    left = {k for k, name in enumerate(cells.header) if k == 0 or name in ("verdict", "status")}

    def line(row: Sequence[str]) -> str:
        texts = (
            text.ljust(width) if k in left else text.rjust(width)
            for k, (text, width) in enumerate(zip(row, widths, strict=True))
        )
        return ("    " + "  ".join(texts)).rstrip()

    lines = [line(cells.header)]
    for titled, group in cells.groups:
        lines.append(f"  {titled.title}")
        lines += [line(row) for row in group]
    return lines


def markdown_table(cells: Cells) -> str:
    """Write a table as GitHub-flavoured markdown."""
    lines = [
        "| " + " | ".join([cells.grouped_by, cells.header[0] or "model", *cells.header[1:]]) + " |"
    ]
    right = ["---" if name in ("verdict", "status") else "---:" for name in cells.header[1:]]
    lines.append("| " + " | ".join(["---", "---", *right]) + " |")
    for titled, group in cells.groups:
        lines += ["| " + " | ".join([titled.title, *row]) + " |" for row in group]
    return "\n".join(lines)


def interval_header(facts: Facts) -> str:
    """Head the column of intervals."""
    return f"{format_percent(facts.settings.confidence_level)} interval"
