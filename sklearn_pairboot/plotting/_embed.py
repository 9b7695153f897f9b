"""Displays as SVG text that can be put into a page: the same for the same display."""

from __future__ import annotations

import io
import warnings
from typing import Any

_NO_METADATA = dict.fromkeys(("Creator", "Date", "Format", "Type"))


def svg_of(display: Any) -> str:
    """Draw a display on a figure of its own and write it as SVG.

    It has no date and no random identifiers. Letters stay letters, which takes a third of the
    room of their shapes: fonts that stand in for matplotlib's own are as wide, or narrower. So
    letters that matplotlib's font lacks are no cause to warn: the reader's fonts have them. No
    figure stays open, and no style is changed.
    """
    import matplotlib
    from matplotlib import pyplot

    with (
        matplotlib.rc_context({"svg.hashsalt": "sklearn-pairboot", "svg.fonttype": "none"}),
        warnings.catch_warnings(),
    ):
        warnings.filterwarnings("ignore", r"Glyph \d+ .* missing from", UserWarning)
        figure = display.plot().figure_
        text = io.StringIO()
        try:
            figure.savefig(text, format="svg", metadata=_NO_METADATA)
        finally:
            pyplot.close(figure)
    return text.getvalue()
