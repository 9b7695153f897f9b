"""Axes to draw on, and looks of models that differ in grey print and to colour-blind readers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sklearn_pairboot._tables.names import visible

# Okabe and Ito (2008), without the yellow that white paper swallows; by falling contrast.
_COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#4D4D4D")
_LINES: tuple[Any, ...] = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)))
_MARKERS = ("o", "s", "^", "D", "v")
REFERENCE_COLOR = "#808080"  # mid grey: seen on white and on black


@dataclass(frozen=True)
class Look:
    """Colour, dashes and marker of one model."""

    color: str
    linestyle: Any
    marker: str


def look(position: int) -> Look:
    """Look of the model at a position: 7 colours by 5 dashes and markers, 35 looks in all."""
    return Look(
        _COLORS[position % len(_COLORS)],
        _LINES[position % len(_LINES)],
        _MARKERS[position % len(_MARKERS)],
    )


def figure_and_axes(ax: Any, *, size: Sequence[float] = (6.4, 4.4)) -> tuple[Any, Any]:
    """Return figure and axes: those given, or new ones of this size in inches."""
    try:
        from matplotlib.axes import Axes
    except ImportError as error:
        raise ImportError(
            "Plots need matplotlib. Install it with `pip install sklearn-pairboot[plot]`; "
            "`frame()` gives the numbers without it."
        ) from error
    if ax is None:
        from matplotlib import pyplot

        return pyplot.subplots(figsize=tuple(size), layout="constrained")
    if not isinstance(ax, Axes):
        raise TypeError(f"`ax` must be matplotlib axes or None, got {type(ax).__name__}.")
    return ax.figure, ax


def label(name: str) -> str:
    """Write a name so that matplotlib shows it as it is, with no mathematics in it."""
    return visible(name).replace("$", r"\$")


def legend_label(text: str) -> str:
    """Keep an entry of a legend: matplotlib leaves out those that begin with an underscore."""
    return f" {text}" if text.startswith("_") else text
