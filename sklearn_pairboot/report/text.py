"""Documents as plain text and as markdown."""

from __future__ import annotations

from sklearn_pairboot._tables.lines import wrapped
from sklearn_pairboot._tables.names import visible_text
from sklearn_pairboot.report.cells import markdown_table, text_table
from sklearn_pairboot.report.document import Document
from sklearn_pairboot.report.names import escaped_note


def as_text(document: Document) -> str:
    """Write a document as plain text: what was found, the tables, how, notes."""
    lines = [document.title, "=" * len(document.title), ""]
    for sentence in document.sentences:
        lines += wrapped(sentence, "- ")
    if document.sentences:
        lines.append("")
    for heading, cells in document.tables:
        lines += [*wrapped(heading, ""), *text_table(cells), ""]
    lines.append("How this was computed")
    for label, text in document.how:
        lines += wrapped(text, f"  {label:<12}")
    if document.notes:
        lines += ["", "Notes"]
    for note in document.notes:
        lines += wrapped(visible_text(" ".join(note.split())), "- ")
    return "\n".join(lines)


def as_markdown(document: Document) -> str:
    """Write a document, names of which are escaped, as GitHub-flavoured markdown."""
    blocks = [f"## {document.title}"]
    if document.sentences:
        blocks.append("\n".join(f"- {line}" for line in document.sentences))
    for heading, cells in document.tables:
        blocks += [f"### {heading}", markdown_table(cells)]
    blocks.append("### How this was computed")
    blocks.append("\n".join(f"- **{label}**: {text}" for label, text in document.how))
    blocks += ["### Methods", document.methods]
    if document.notes:
        blocks += ["### Notes", "\n".join(f"- {escaped_note(note)}" for note in document.notes)]
    return "\n\n".join(blocks) + "\n"
