"""Documents as LaTeX: booktabs tables with captions and labels, and the method paragraph."""

from __future__ import annotations

import re
from typing import Any

from sklearn_pairboot._tables.names import visible_text
from sklearn_pairboot.report.cells import Cells
from sklearn_pairboot.report.document import Document

_LEFT = ("verdict", "status")
_SPECIAL = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    "'": r"\textquotesingle{}",
    "`": r"\textasciigrave{}",
}
_NUMBER = re.compile(
    r"(?P<sign>(?<![\w.])[+-])?(?P<digits>\d+(?:\.\d+)?)(?:e(?P<power>[+-]?\d+))?(?![\w.]*\w)|"
    r"(?<![\w.])(?P<infinite>[+-]?inf)(?!\w)"
)
_NEEDS = (
    "% Needs \\usepackage{booktabs} and, for quotation marks in names, "
    "\\usepackage[T1]{fontenc} and \\usepackage{textcomp}."
)


def as_latex(document: Document, label: str) -> str:
    """Write all tables of a document, labelled ``tab:<label>-1`` and so on, and the methods."""
    check_label(label)
    parts = [_NEEDS]
    for number, (heading, cells) in enumerate(document.tables, 1):
        parts.append(_table(f"{document.title}. {heading}", cells, f"tab:{label}-{number}"))
    if document.methods:
        parts.append(f"\\paragraph{{Methods.}} {prose(document.methods)}")
    return "\n\n".join(parts) + "\n"


def check_label(label: Any) -> None:
    """Refuse a label that LaTeX would read as more than a name."""
    if not isinstance(label, str) or not re.fullmatch(r"[A-Za-z0-9:._-]+", label):
        raise ValueError(
            f"`label` must consist of letters, digits and the characters :._- only, got {label!r}. "
            "Pass a name such as 'comparison'."
        )


def escaped(text: str) -> str:
    """Escape what LaTeX reads as markup, and ligatures that would change a name."""
    shown = "".join(_SPECIAL.get(char, char) for char in visible_text(text))
    return re.sub(r"([-,])(?=\1)", r"\1{}", shown)


def prose(text: str) -> str:
    """Write a sentence; a hyphen between spaces is the minus sign of a difference."""
    return escaped(text).replace(" +- ", r" $\pm$ ").replace(" - ", " $-$ ")


def number(text: str) -> str:
    """Write a cell of numbers: minus signs, powers of ten and infinity are mathematics."""
    if text == "-":
        return "--"
    parts, end = [], 0
    for found in _NUMBER.finditer(text):
        parts += [escaped(text[end : found.start()]), _mathematics(found)]
        end = found.end()
    return "".join([*parts, escaped(text[end:])])


def _mathematics(found: re.Match[str]) -> str:
    if found["infinite"]:
        return "$" + found["infinite"].replace("inf", r"\infty") + "$"
    sign, digits, power = found["sign"] or "", found["digits"], found["power"]
    if power:
        return f"${sign}{digits} \\times 10^{{{int(power)}}}$"
    return f"${sign}{digits}$" if sign else digits


def _table(caption: str, cells: Cells, label: str) -> str:
    names = (cells.header[0] or "model", *cells.header[1:])
    columns = "l" + "".join("l" if name in _LEFT else "r" for name in names[1:])
    lines = [
        r"\begin{table}",
        r"\centering",
        f"\\caption{{{prose(caption)}{'' if caption.endswith('?') else '.'}}}",
        f"\\label{{{label}}}",
        f"\\begin{{tabular}}{{{columns}}}",
        r"\toprule",
        " & ".join(map(escaped, names)) + r" \\",
    ]
    for titled, rows in cells.groups:
        title = escaped(titled.title)
        lines += [r"\midrule", f"\\multicolumn{{{len(names)}}}{{l}}{{\\emph{{{title}}}}} \\\\"]
        for row in rows:
            values = (
                escaped(text) if name in _LEFT else number(text)
                for name, text in zip(names[1:], row[1:], strict=True)
            )
            # A bracket that begins a row would be read as the argument of the row's end.
            lines.append(" & ".join([f"{{}}{prose(row[0])}", *values]) + r" \\")
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", r"\end{table}"])
