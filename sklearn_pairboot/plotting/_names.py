"""Long names on axes: broken into lines, what is still too long shortened in its middle."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from sklearn_pairboot._tables.names import visible
from sklearn_pairboot.plotting._axes import label

_MOST_LINES = 4


def shortened(name: str, longest: int = 40) -> str:
    """Show a name, without its middle if it is too long: names often differ at their ends."""
    text = visible(name)
    if len(text) <= longest:
        return text
    half = (longest - 3) // 2
    return f"{text[:half].rstrip()} ... {text[-half:].lstrip()}"


def wrapped(name: str, width: int = 32) -> str:
    """Write a name on at most four lines, with no mathematics in it."""
    longest = width * _MOST_LINES
    lines = textwrap.wrap(shortened(name, longest), width)
    while len(lines) > _MOST_LINES:
        longest -= 4
        lines = textwrap.wrap(shortened(name, longest), width)
    return "\n".join(map(label, lines))


def wrapped_text(text: str, width: int = 60) -> str:
    """Break a text that quotes names into lines, with no mathematics in it."""
    return "\n".join(label(line) for line in textwrap.wrap(text, width))


def size_of(names: Sequence[str]) -> tuple[int, int]:
    """Give the longest line and the largest number of lines of wrapped names."""
    lines = [name.split("\n") for name in names]
    longest = max((len(line) for of_name in lines for line in of_name), default=0)
    return longest, max(map(len, lines), default=1)
