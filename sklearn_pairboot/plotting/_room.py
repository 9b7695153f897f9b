"""Room for labels and legends on axes of any size."""

from __future__ import annotations

import math
from typing import Any

from sklearn_pairboot.plotting._names import wrapped_text

_CHARACTER_WIDTH, _LINE_HEIGHT = 0.085, 0.17  # inches, at the usual sizes of text
_NARROW = 4.0  # inches; narrower axes have legends of one column, above what is drawn
_LARGEST_SHARE = 0.6


def _inches(ax: Any) -> tuple[float, float]:
    extent = ax.get_window_extent()
    return extent.width / ax.figure.dpi, extent.height / ax.figure.dpi


def set_x_label(ax: Any, text: str) -> None:
    """Write a label along the width of the axes, broken into lines."""
    ax.set_xlabel(wrapped_text(text, max(24, int(1.15 * _inches(ax)[0] / _CHARACTER_WIDTH))))


def set_y_label(ax: Any, text: str) -> None:
    """Write a label along the height of the axes, broken into lines."""
    ax.set_ylabel(wrapped_text(text, max(24, int(1.15 * _inches(ax)[1] / _CHARACTER_WIDTH))))


def set_note(ax: Any, text: str) -> None:
    """Write small print above the axes, broken into lines at their width."""
    width = max(24, int(1.3 * _inches(ax)[0] / _CHARACTER_WIDTH))
    lines = [wrapped_text(line, width) for line in text.split("\n")]
    ax.set_title("\n".join(lines), fontsize="small", loc="left")


def beyond_edges(ax: Any, low: float, high: float) -> tuple[float, float]:
    """Put open ends far outside, so that they are cut at the edge wherever it comes to lie."""
    edges = ax.get_xlim()
    far = 1000 * (edges[1] - edges[0])
    return max(low, edges[0] - far), min(high, edges[1] + far)


def is_narrow(ax: Any) -> bool:
    """Whether a legend inside the axes would cover what is drawn."""
    return _inches(ax)[0] < _NARROW


def legend_on_top(ax: Any) -> None:
    """Put the legend above what is drawn, by moving the upper limit up.

    Limits that follow the data go on doing so, for what else is drawn on shared axes.
    """
    _, height = _inches(ax)
    n_columns = 1 if is_narrow(ax) else 2
    n_lines = math.ceil(len(ax.get_legend_handles_labels()[0]) / n_columns)
    share = min(_LARGEST_SHARE, (n_lines * _LINE_HEIGHT + 0.3) / height)
    low, high = ax.get_ylim()
    ax.set_ylim(low, low + (high - low) / (1 - share), auto=None)
    size = "x-small" if is_narrow(ax) else "small"
    ax.legend(loc="upper center", ncols=n_columns, fontsize=size)
