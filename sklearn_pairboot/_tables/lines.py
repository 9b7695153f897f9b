"""Sentences as lines of plain text, in which numbers that belong together stay together."""

from __future__ import annotations

import re
import textwrap

WIDTH = 88

# Intervals, p-values and per cents are not torn apart at the end of a line.
_TOGETHER = re.compile(r"[\[(]-?[\w.+-]+, [\w.+-]+[\])]|\bp (?:<=|[=<]) [\w.]*\d|[\d.]+ %")


def kept_together(text: str, space: str) -> str:
    """Write the spaces in intervals, p-values and per cents as one that breaks no line."""
    return _TOGETHER.sub(lambda found: found[0].replace(" ", space), text)


def wrapped(text: str, start: str = "") -> list[str]:
    """Break a text into lines that are indented like its start; names stay whole."""
    lines = textwrap.wrap(
        kept_together(text, "\0"),
        WIDTH,
        initial_indent=start,
        subsequent_indent=" " * len(start),
        break_long_words=False,
        break_on_hyphens=False,
    )
    return [line.replace("\0", " ") for line in lines]
