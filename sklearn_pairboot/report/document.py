"""A report before it is written in any format: its parts in order, as text."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from sklearn_pairboot._tables import DifferenceRow, ScoreRow
from sklearn_pairboot.report.cells import Cells
from sklearn_pairboot.report.facts import Facts
from sklearn_pairboot.report.findings import findings, title
from sklearn_pairboot.report.methods import methods
from sklearn_pairboot.report.names import renamed
from sklearn_pairboot.report.reading import guide
from sklearn_pairboot.report.slices import slice_findings
from sklearn_pairboot.report.statements import statements
from sklearn_pairboot.report.tables import comparison_tables


@dataclass(frozen=True)
class Document:
    """What a report says, whatever the format.

    ``sentences`` are what was found, ``how`` pairs of a label and how the numbers came about,
    ``guide`` how they are read, for formats with room for it, ``methods`` a paragraph for a paper;
    both may be empty.
    """

    title: str
    sentences: Sequence[str]
    tables: Sequence[tuple[str, Cells]]
    how: Sequence[tuple[str, str]]
    guide: Sequence[str]
    methods: str
    notes: Sequence[str]


def comparison_document(
    facts: Facts,
    scores: Sequence[ScoreRow],
    differences: Sequence[DifferenceRow],
    versions: Mapping[str, str],
    name: Callable[[str], str],
) -> Document:
    """Put the report of a comparison together, with names as the format writes them."""
    facts, scores, differences = renamed(facts, scores, differences, name)
    return Document(
        title=title(facts),
        sentences=[*findings(facts, scores, differences), *slice_findings(facts)],
        tables=comparison_tables(facts, scores, differences),
        how=statements(facts, scores, differences),
        guide=guide(facts, differences),
        methods=methods(facts, [*scores, *differences], versions),
        notes=facts.notes,
    )
