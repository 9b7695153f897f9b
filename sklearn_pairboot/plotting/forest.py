"""Forest plot: estimates and intervals of many models, metrics or subgroups under each other."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sklearn_pairboot._tables import DifferenceRow, Row, ScoreRow, SliceRow, check_choice
from sklearn_pairboot._tables.frames import frame
from sklearn_pairboot._tables.numbers import NumberFormat, format_percent
from sklearn_pairboot.plotting._axes import REFERENCE_COLOR, figure_and_axes, look
from sklearn_pairboot.plotting._names import shortened, size_of, wrapped, wrapped_text
from sklearn_pairboot.plotting._results import (
    Result,
    chosen,
    direction,
    hold_at_once,
    interval_name,
    table_of,
)
from sklearn_pairboot.plotting._room import beyond_edges

_LINE_HEIGHT, _CHARACTER_WIDTH = 0.2, 0.085  # inches, at the usual size of tick labels
_PLOT_WIDTH, _LEAST_WIDTH = 3.6, 6.4


@dataclass(frozen=True, slots=True, eq=False)
class ForestRow(Row):
    """One line of a forest plot.

    Parameters
    ----------
    metric : str
        The metric; each gets its own axes.
    label : str
        What the line is about: a model, two models, or a subgroup.
    estimate : float
        The value; NaN where there is none.
    std_error : float
        Its standard error, which decides how many digits are shown.
    ci_low : float
        Lower end of the interval; ``-inf`` if it is open, NaN if there is none.
    ci_high : float
        Upper end of the interval; ``inf`` if it is open, NaN if there is none.
    greater_is_better : bool
        Direction of the metric.
    verdict : str, default=""
        The verdict in words, at the right.
    margin : float, default=nan
        Smallest difference that would matter; NaN without.
    equivalence_low : float, default=nan
        Lower end of the interval that is compared with the margin.
    equivalence_high : float, default=nan
        Upper end of the interval that is compared with the margin.

    Examples
    --------
    >>> from sklearn_pairboot.plotting import ForestRow
    >>> ForestRow("accuracy", "new", 0.02, 0.01, 0.001, 0.04, True, "better").verdict
    'better'
    """

    metric: str
    label: str
    estimate: float
    std_error: float
    ci_low: float
    ci_high: float
    greater_is_better: bool
    verdict: str = ""
    margin: float = math.nan
    equivalence_low: float = math.nan
    equivalence_high: float = math.nan


class ForestDisplay:
    """Forest plot of estimates and intervals, with the verdicts in words.

    Each metric has its own axes, as metrics have their own units. Thin lines are the confidence
    intervals; an arrow is an open end. Hollow markers are inconclusive. Where there is a margin,
    thick lines are the intervals that are compared with it.

    Parameters
    ----------
    rows : sequence of ForestRow
        The lines, those of a metric from top to bottom.
    what : str, default=""
        What the numbers are, such as ``"model minus old"``; empty for scores.
    differences : bool, default=True
        Whether the numbers are differences, so that zero is marked.
    confidence_level : float, default=0.95
        Level of the intervals.
    simultaneous : bool, default=False
        Whether they hold for a family of comparisons at once, as by max-T.

    Attributes
    ----------
    axes_ : tuple of matplotlib.axes.Axes
        Axes of the metrics.
    ax_ : matplotlib.axes.Axes
        The first of them.
    figure_ : matplotlib.figure.Figure
        Figure of the plot.
    intervals_ : list of matplotlib.lines.Line2D
        Line of each interval, ``None`` where there is none.
    markers_ : list of matplotlib.lines.Line2D
        Marker of each estimate, ``None`` where there is none.
    texts_ : list of matplotlib.text.Text
        Numbers and verdict of each line.
    zero_lines_ : list of matplotlib.lines.Line2D
        Line at zero of each metric, if differences are shown.
    margin_lines_ : list of matplotlib.collections.LineCollection
        Lines at the margins of each line that has one.

    See Also
    --------
    DifferenceDisplay : The distribution behind one interval.

    Examples
    --------
    >>> from sklearn_pairboot.plotting import ForestDisplay, ForestRow
    >>> row = ForestRow("accuracy", "new", 0.02, 0.01, 0.001, 0.04, True, "better")
    >>> ForestDisplay([row], what="model minus old").metrics
    ('accuracy',)
    """

    def __init__(
        self,
        rows: Sequence[ForestRow],
        *,
        what: str = "",
        differences: bool = True,
        confidence_level: float = 0.95,
        simultaneous: bool = False,
    ) -> None:
        if not rows:
            raise ValueError("`rows` must hold at least 1 row, got none.")
        self.rows = tuple(rows)
        self.what = what
        self.differences = differences
        self.confidence_level = confidence_level
        self.simultaneous = simultaneous

    @property
    def metrics(self) -> tuple[str, ...]:
        """Names of the metrics, in order."""
        return tuple(dict.fromkeys(row.metric for row in self.rows))

    @classmethod
    def from_result(
        cls, result: Result, *, which: str | None = None, metric: str | None = None
    ) -> ForestDisplay:
        """
        Take the lines from a table of a result.

        Parameters
        ----------
        result : ComparisonResult
            A comparison; its tables are enough.
        which : {"differences", "scores", "slices"} or None, default=None
            The table; ``None`` is that of the differences where there are several models.
        metric : str or None, default=None
            The only metric to show; ``None`` shows all of them.

        Returns
        -------
        ForestDisplay
            The display, not yet drawn.
        """
        metrics = result.metrics if metric is None else (chosen("metric", metric, result.metrics),)
        if which is not None:
            check_choice("which", which, ("differences", "scores", "slices"))
        rows: Sequence[ScoreRow | DifferenceRow | SliceRow]
        if which == "slices":
            if not result.slices:
                raise ValueError(
                    "`which` must be 'differences' or 'scores' where there are no subgroups, got "
                    "'slices'. Pass `slices=` to the comparison."
                )
            rows = result.slices
        else:
            which = table_of(result, which)
            rows = result.scores if which == "scores" else result.differences
        rows = [row for row in rows if row.metric in metrics]
        pairs = [(row.model, row.baseline) for row in rows if not isinstance(row, ScoreRow)]
        models, baselines = ({pair[side] for pair in pairs} for side in (0, 1))
        what = ""
        if pairs:
            minuend, subtrahend = pairs[0]
            what = (
                f"{shortened(minuend) if len(models) == 1 else 'model'} minus "
                f"{shortened(subtrahend) if len(baselines) == 1 else 'the other'}"
            )
        return cls(
            [_forest_row(row, len(models) > 1, len(baselines) > 1) for row in rows],
            what=what,
            differences=which != "scores",
            confidence_level=result.confidence_level,
            simultaneous=hold_at_once(
                result, [row for row in rows if row.metric == rows[0].metric]
            ),
        )

    def frame(self, backend: Any = None) -> Any:
        """
        Return the lines as a dataframe.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, module or None, default=None
            Kind of dataframe. ``None`` means the first of the three that is installed.

        Returns
        -------
        dataframe
            The columns of `ForestRow`.
        """
        return frame(ForestRow, self.rows, backend)

    def plot(self, ax: Any = None) -> ForestDisplay:
        """
        Draw the lines.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, sequence of them or None, default=None
            Axes to draw on, one for each metric; ``None`` makes a figure. Texts stand beside the
            axes: a figure with ``layout="constrained"`` makes room for them.

        Returns
        -------
        ForestDisplay
            The display itself, with its artists.
        """
        groups = [[row for row in self.rows if row.metric == name] for name in self.metrics]
        self._texts = {id(row): _text(row, group) for group in groups for row in group}
        self.axes_ = self._axes(ax, groups)
        self.ax_, self.figure_ = self.axes_[0], self.axes_[0].figure
        self.intervals_: list[Any] = []
        self.markers_: list[Any] = []
        self.texts_: list[Any] = []
        self.zero_lines_: list[Any] = []
        self.margin_lines_: list[Any] = []
        for axes, group in zip(self.axes_, groups, strict=True):
            self._draw_panel(axes, group)
        return self

    def _axes(self, ax: Any, groups: Sequence[Sequence[ForestRow]]) -> tuple[Any, ...]:
        if ax is not None:
            given = tuple(np.ravel(np.asarray(ax, dtype=object)))
            if len(given) != len(groups):
                raise ValueError(
                    f"`ax` must hold axes for each of the {len(groups)} metrics, got {len(given)}. "
                    "Pass as many, or choose one `metric`."
                )
            return tuple(figure_and_axes(axes)[1] for axes in given)
        longest, n_lines = size_of([wrapped(row.label) for row in self.rows])
        right = max(map(len, self._texts.values()))
        width = _PLOT_WIDTH + _CHARACTER_WIDTH * (longest + right)
        heights = [1.0 + _LINE_HEIGHT * (0.6 + n_lines) * len(group) for group in groups]
        figure, first = figure_and_axes(None, size=(max(_LEAST_WIDTH, width), sum(heights)))
        first.remove()
        panels = figure.subplots(len(groups), squeeze=False, height_ratios=heights)
        return tuple(panels[:, 0])

    def _draw_panel(self, axes: Any, group: Sequence[ForestRow]) -> None:
        if self.differences:
            self.zero_lines_.append(axes.axvline(0.0, color=REFERENCE_COLOR, linewidth=1))
        color = look(0).color
        for place, row in enumerate(group):
            if not math.isnan(row.margin):
                ends = [-row.margin, row.margin]
                lines = axes.vlines(
                    ends, place - 0.5, place + 0.5, colors=REFERENCE_COLOR, linestyles=":"
                )
                self.margin_lines_.append(lines)
            marker = None
            if not math.isnan(row.estimate):
                inside = axes.get_facecolor() if row.verdict == "inconclusive" else color
                (marker,) = axes.plot(
                    [row.estimate], [place], look(0).marker, color=color, markerfacecolor=inside
                )
                marker.set_zorder(3)
            self.markers_.append(marker)
        self._scale(axes, group)
        for place, row in enumerate(group):
            self.intervals_.append(_interval(axes, row.ci_low, row.ci_high, place, 1.6))
            _interval(axes, row.equivalence_low, row.equivalence_high, place, 4.5)
            text = axes.text(
                1.02,
                place,
                self._texts[id(row)],
                transform=axes.get_yaxis_transform(),
                va="center",
                family="monospace",
                fontsize="small",
            )
            self.texts_.append(text)
        axes.set_yticks(range(len(group)), [wrapped(row.label) for row in group])
        axes.set_ylim(len(group) - 0.5, -0.5)
        axes.tick_params(axis="y", length=0)
        axes.locator_params(axis="x", nbins=6)
        what = f": {self.what}" if self.what else ""
        text = f"{shortened(group[0].metric)}{what}; {direction(group[0].greater_is_better)}"
        axes.set_xlabel(f"{wrapped_text(text)}\n({self._intervals(group)})")

    def _intervals(self, group: Sequence[ForestRow]) -> str:
        """Say what the lines are, if there are any."""
        if all(math.isnan(row.ci_low) and math.isnan(row.ci_high) for row in group):
            return "no intervals"
        level = f"{interval_name(self.confidence_level, self.simultaneous)}s"
        if not all(math.isnan(row.margin) for row in group):
            alpha = 1 - self.confidence_level
            level += f", thick {format_percent(round(1 - 2 * alpha, 10))} for the margin"
        return level

    def _scale(self, axes: Any, group: Sequence[ForestRow]) -> None:
        """Set limits that show every finite number; open intervals end at them."""
        ends = [
            end
            for row in group
            for end in (row.ci_low, row.ci_high, row.estimate, row.margin, -row.margin)
            if math.isfinite(end)
        ]
        ends += [0.0] * self.differences
        low, high = min(ends, default=0.0), max(ends, default=1.0)
        room = 0.08 * (high - low) or 0.05 * abs(high) or 0.05
        opens = [[row.ci_low for row in group], [row.ci_high for row in group]]
        left, right = (room * (1 + 2 * any(map(math.isinf, of_side))) for of_side in opens)
        edges = [low - left, high + right]
        if not axes.get_autoscalex_on():  # limits of an earlier plot on shared axes
            edges += axes.get_xlim()
        axes.set_xlim(min(edges), max(edges))


def _interval(axes: Any, low: float, high: float, place: int, width: float) -> Any:
    """Draw an interval, with an arrow at the edge of the axes for an open end."""
    if math.isnan(low) or math.isnan(high):
        return None
    ends = beyond_edges(axes, low, high)
    color = look(0).color
    (line,) = axes.plot(ends, [place, place], "-", color=color, linewidth=width, zorder=2)
    at_edge = axes.get_yaxis_transform()
    if math.isinf(low):
        axes.plot([0.015], [place], "<", color=color, transform=at_edge)
    if math.isinf(high):
        axes.plot([0.985], [place], ">", color=color, transform=at_edge)
    return line


def _text(row: ForestRow, group: Sequence[ForestRow]) -> str:
    """Write numbers and verdict, the numbers of a metric with the same digits."""
    if math.isnan(row.estimate):
        return "undefined"
    number = NumberFormat.from_errors(
        (row.std_error for row in group),
        (value for row in group for value in (row.estimate, row.ci_low, row.ci_high)),
    )
    numbers = number(row.estimate, signed=bool(row.verdict), keep=True)
    none = math.isnan(row.ci_low) and math.isnan(row.ci_high)
    numbers += " no interval" if none else f" {number.interval(row.ci_low, row.ci_high)}"
    return f"{numbers}  {row.verdict}".rstrip()


def _forest_row(
    row: ScoreRow | DifferenceRow | SliceRow, with_model: bool, with_baseline: bool
) -> ForestRow:
    if isinstance(row, ScoreRow):
        label, verdict, estimate = row.model, "", row.estimate
    else:
        verdict, estimate = row.verdict, row.difference
        pair = f"{row.model} - {row.baseline}" if with_baseline else row.model
        label = pair
        if isinstance(row, SliceRow):
            label = f"{row.slice} = {row.label}"
            if with_model or with_baseline:
                label += f": {pair}"
    return ForestRow(
        metric=row.metric,
        label=label,
        estimate=estimate,
        std_error=row.std_error,
        ci_low=row.ci_low,
        ci_high=row.ci_high,
        greater_is_better=row.greater_is_better,
        verdict=verdict,
        margin=getattr(row, "margin", math.nan),
        equivalence_low=getattr(row, "equivalence_low", math.nan),
        equivalence_high=getattr(row, "equivalence_high", math.nan),
    )
