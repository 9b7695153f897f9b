"""Documents as HTML: a page that needs nothing else, and a fragment for notebooks."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape

from sklearn_pairboot._tables.lines import kept_together
from sklearn_pairboot._tables.names import visible_text
from sklearn_pairboot.report.cells import Cells
from sklearn_pairboot.report.document import Document
from sklearn_pairboot.report.figures import Figure

_LEFT = ("verdict", "status")
_MOST_SENTENCES = 8
_CODE = re.compile(r"`([\w.=(),&#; -]+)`")
# Grey lines and inherited colours are readable on any ground, light or dark. Every rule is
# confined to the report, so that it changes nothing else in a notebook.
_STYLE = """
.pairboot-report { color: inherit; line-height: 1.45; overflow-wrap: anywhere; }
.pairboot-report .pairboot-title { font-size: 1.2em; font-weight: 600; margin: 0 0 .5em; }
.pairboot-report h2 { font-size: 1.05em; margin: 1.5em 0 .4em; }
.pairboot-report ul { margin: .4em 0; padding-left: 1.3em; }
.pairboot-report li { margin: .25em 0; }
.pairboot-report .pairboot-wide { overflow-x: auto; margin: 1em 0; }
.pairboot-report table { border-collapse: collapse; font-size: .92em; margin: 0;
  font-variant-numeric: tabular-nums; color: inherit; background: transparent; }
.pairboot-report caption { caption-side: top; text-align: left; font-weight: 600; color: inherit;
  padding: 0 0 .4em; }
.pairboot-report tr, .pairboot-report tbody tr:nth-child(n) { background: transparent; }
.pairboot-report th, .pairboot-report td { padding: .25em .7em; text-align: right;
  vertical-align: top; border: 0; border-bottom: 1px solid rgba(128, 128, 128, .35);
  overflow-wrap: normal; white-space: nowrap; color: inherit; background: transparent; }
.pairboot-report th { font-weight: 600; }
.pairboot-report tbody th, .pairboot-report .pairboot-text { text-align: left; }
.pairboot-report tbody th { font-weight: 400; white-space: normal; min-width: 7em;
  max-width: 24em; overflow-wrap: anywhere; }
.pairboot-report tbody th.pairboot-metric { font-style: italic; max-width: none; }
.pairboot-report dl { display: grid; grid-template-columns: max-content 1fr; gap: .3em 1em;
  margin: .5em 0; }
.pairboot-report dt { font-weight: 600; }
.pairboot-report dd { margin: 0; }
.pairboot-report summary { cursor: pointer; }
.pairboot-report details { margin: .6em 0; }
.pairboot-report figure { margin: 1em 0; }
.pairboot-report figure img { max-width: 100%; height: auto; background: #fff; padding: 6px;
  border: 1px solid rgba(128, 128, 128, .35); border-radius: 4px; box-sizing: border-box; }
.pairboot-report figcaption { font-size: .92em; }
"""
_PAGE_STYLE = """
:root { color-scheme: light dark; }
body { margin: 0; background: #fff; color: #1a1a1a;
  font-family: system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
h1 { font-size: 1.6rem; line-height: 1.25; margin: 0 0 .7em; }
main { max-width: 60rem; margin: 0 auto; padding: 1.5rem 1rem 3rem; }
@media (prefers-color-scheme: dark) {
  body { background: #16181d; color: #e4e6eb; }
}
@media print { .pairboot-report .pairboot-wide { overflow: visible; } }
"""


def page(document: Document, figures: Sequence[Figure], remark: str) -> str:
    """Write a whole page; ``remark`` says why there are no figures, if there are none."""
    parts = [_findings(document.sentences)]
    parts += [_figure(figure) for figure in figures]
    if remark:
        parts.append(f"<p>{_text(remark)}</p>")
    parts += [_table(heading, cells) for heading, cells in document.tables]
    parts += [_section("How to read this report", _list(document.guide))] if document.guide else []
    parts.append(_section("How this was computed", _pairs(document.how)))
    if document.methods:
        text = f"<p>{_text(document.methods)}</p>"
        parts.append(_section("Methods, to paste into a paper", text))
    if document.notes:
        parts.append(_section("Notes", _list(document.notes)))
    return "\n".join(
        [
            "<!DOCTYPE html>",
            '<html lang="en">',
            "<head>",
            '<meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{_text(document.title)}</title>",
            f"<style>{_STYLE}{_PAGE_STYLE}</style>",
            "</head>",
            "<body>",
            '<main class="pairboot-report">',
            f"<h1>{_text(document.title)}</h1>",
            *parts,
            "</main>",
            "</body>",
            "</html>\n",
        ]
    )


def fragment(document: Document) -> str:
    """Write what a notebook shows: the findings and tables, the rest to be opened."""
    parts = [
        _findings(document.sentences),
        *(_table(heading, cells) for heading, cells in document.tables),
        _details("How this was computed", _pairs(document.how)),
    ]
    if document.notes:
        parts.append(_details(f"Notes ({len(document.notes)})", _list(document.notes)))
    return "\n".join(
        [
            '<div class="pairboot-report">',
            f"<style>{_STYLE}</style>",
            f'<p class="pairboot-title">{_text(document.title)}</p>',
            *parts,
            "</div>",
        ]
    )


def _text(text: str) -> str:
    """Escape a text: for HTML, and what cannot be seen, in one line."""
    return escape(kept_together(visible_text(" ".join(text.split())), "\u00a0"))


def _prose(text: str) -> str:
    """Escape a text whose code stands in backticks; in names they are seldom, and harmless."""
    return _CODE.sub(r"<code>\1</code>", _text(text))


def _findings(sentences: Sequence[str]) -> str:
    """List the first sentences; more of them are to be opened."""
    first, more = sentences[:_MOST_SENTENCES], sentences[_MOST_SENTENCES:]
    return _list(first) + (_details(f"{len(more)} more sentences", _list(more)) if more else "")


def _list(lines: Sequence[str]) -> str:
    if not lines:
        return ""
    return "<ul>\n" + "\n".join(f"<li>{_prose(line)}</li>" for line in lines) + "\n</ul>"


def _pairs(pairs: Sequence[tuple[str, str]]) -> str:
    rows = (f"<dt>{_text(label)}</dt>\n<dd>{_prose(text)}</dd>" for label, text in pairs)
    return "<dl>\n" + "\n".join(rows) + "\n</dl>"


def _section(heading: str, content: str) -> str:
    return f"<section>\n<h2>{_text(heading)}</h2>\n{content}\n</section>"


def _details(heading: str, content: str) -> str:
    return f"<details>\n<summary>{_text(heading)}</summary>\n{content}\n</details>"


def _table(heading: str, cells: Cells) -> str:
    """Write a table; each metric is a group of rows under its name and direction."""
    names = (cells.header[0] or "model", *cells.header[1:])
    kinds = [
        "" if k and name not in _LEFT else ' class="pairboot-text"' for k, name in enumerate(names)
    ]
    head = "".join(
        f'<th scope="col"{kind}>{_text(name)}</th>' for name, kind in zip(names, kinds, strict=True)
    )
    lines = [
        '<div class="pairboot-wide">',
        "<table>",
        f"<caption>{_text(heading)}</caption>",
        f"<thead>\n<tr>{head}</tr>\n</thead>",
    ]
    for titled, rows in cells.groups:
        lines += [
            "<tbody>",
            f'<tr><th scope="rowgroup" class="pairboot-metric" colspan="{len(names)}">'
            f"{_text(titled.title)}</th></tr>",
        ]
        for row in rows:
            values = "".join(
                f"<td{kind}>{_text(text)}</td>"
                for text, kind in zip(row[1:], kinds[1:], strict=True)
            )
            lines.append(f'<tr><th scope="row">{_text(row[0])}</th>{values}</tr>')
        lines.append("</tbody>")
    return "\n".join([*lines, "</table>", "</div>"])


def _figure(figure: Figure) -> str:
    numbers = ""
    if figure.numbers is not None:
        numbers = _details("The numbers behind it", _table(*figure.numbers))
    return (
        f'<figure>\n<img src="{escape(figure.source)}" alt="{_text(figure.description)}">\n'
        f"<figcaption>{_text(figure.caption)}</figcaption>\n{numbers}\n</figure>"
    )
