"""Where the variance of a method's average comes from."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sklearn_pairboot._tables import Row, check_choice
from sklearn_pairboot._tables.frames import frame
from sklearn_pairboot._tables.numbers import format_percent
from sklearn_pairboot.plotting._axes import figure_and_axes, look
from sklearn_pairboot.plotting._names import shortened, size_of, wrapped
from sklearn_pairboot.plotting._results import chosen
from sklearn_pairboot.plotting._room import set_x_label

_HATCHES = ("", "///", "|||", "\\\\\\", "xxx", "---", "+++")  # dots weigh 150 KB in a page

_THICKNESS = 0.85  # of bars, in units of their distance


@dataclass(frozen=True, slots=True, eq=False)
class VarianceShareRow(Row):
    """Share of one source in the variance of one method's average.

    Parameters
    ----------
    label : str
        The method.
    source : str
        Where the variance comes from.
    share : float
        Its share of the whole; NaN where nothing varies.
    share_low : float
        Lower end of the confidence interval of the share; NaN without.
    share_high : float
        Upper end of the confidence interval of the share; NaN without.

    Examples
    --------
    >>> from sklearn_pairboot.plotting import VarianceShareRow
    >>> VarianceShareRow("forest", "seed", 0.25, 0.1, 0.6).source
    'seed'
    """

    label: str
    source: str
    share: float
    share_low: float
    share_high: float


class VarianceSharesDisplay:
    """Shares of the sources of variance in a method's average, with their intervals.

    Training data and seeds are sources that a bootstrap of the test set does not see.

    Parameters
    ----------
    rows : sequence of VarianceShareRow
        Sources of each method.
    metric : str
        Name of the metric.
    baseline : str or None, default=None
        The method that the others are compared with; ``None`` if shares are those of scores.
    confidence_level : float, default=0.95
        Level of the intervals.

    Attributes
    ----------
    ax_ : matplotlib.axes.Axes
        Axes of the plot.
    figure_ : matplotlib.figure.Figure
        Figure of the plot.
    bars_ : dict of str to matplotlib.container.BarContainer
        Bars of each source.
    intervals_ : list of matplotlib.lines.Line2D
        Interval of each row, ``None`` where there is none.

    Examples
    --------
    >>> from sklearn_pairboot import compare_runs
    >>> from sklearn_pairboot.plotting import VarianceSharesDisplay
    >>> a, b = [[1, 0, 1, 1], [1, 1, 1, 0]], [[0, 0, 1, 1], [0, 1, 0, 0]]
    >>> result = compare_runs({"b": b, "a": a}, n_resamples="exact")
    >>> display = VarianceSharesDisplay.from_result(result)
    >>> [row.source for row in display.rows]
    ['seed', 'test rows', 'seed x test rows']
    """

    def __init__(
        self,
        rows: Sequence[VarianceShareRow],
        *,
        metric: str,
        baseline: str | None = None,
        confidence_level: float = 0.95,
    ) -> None:
        if not rows:
            raise ValueError("`rows` must hold at least 1 row, got none.")
        self.rows = tuple(rows)
        self.metric = metric
        self.baseline = baseline
        self.confidence_level = confidence_level

    @classmethod
    def from_result(
        cls, result: Any, *, which: str | None = None, metric: str | None = None
    ) -> VarianceSharesDisplay:
        """
        Take the shares from a comparison of methods.

        Parameters
        ----------
        result : MethodComparison
            What `compare_methods` or `compare_runs` found.
        which : {"differences", "scores"} or None, default=None
            Differences from the baseline, or scores; ``None`` is the differences where there are
            several methods.
        metric : str or None, default=None
            Name of the metric; ``None`` where there is only one.

        Returns
        -------
        VarianceSharesDisplay
            The display, not yet drawn.
        """
        if which is None:
            which = "differences" if result.differences else "scores"
        check_choice("which", which, ("differences", "scores"))
        estimates = result.differences if which == "differences" else result.scores
        if not estimates:
            raise ValueError(
                "`which` must be 'scores' where there is a single method, got 'differences'."
            )
        name = chosen("metric", metric, [row.metric for row in estimates])
        rows = [
            VarianceShareRow(
                label=row.model,
                source=part.source,
                share=part.share,
                share_low=part.share_low,
                share_high=part.share_high,
            )
            for row in estimates
            if row.metric == name
            for part in row.variances
        ]
        return cls(
            rows,
            metric=name,
            baseline=result.baseline if which == "differences" else None,
            confidence_level=result.confidence_level,
        )

    def frame(self, backend: Any = None) -> Any:
        """
        Return the shares as a dataframe.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, module or None, default=None
            Kind of dataframe. ``None`` means the first of the three that is installed.

        Returns
        -------
        dataframe
            The columns of `VarianceShareRow`.
        """
        return frame(VarianceShareRow, self.rows, backend)

    def plot(self, ax: Any = None) -> VarianceSharesDisplay:
        """
        Draw a bar for each share.

        Parameters
        ----------
        ax : matplotlib.axes.Axes or None, default=None
            Axes to draw on; ``None`` makes a figure.

        Returns
        -------
        VarianceSharesDisplay
            The display itself, with its artists.
        """
        labels = list(dict.fromkeys(row.label for row in self.rows))
        sources = list(dict.fromkeys(row.source for row in self.rows))
        # Each method has a place for its name, and below it one for each of its sources.
        steps = len(sources) + 1
        names = {group * steps: wrapped(label) for group, label in enumerate(labels)}
        places = {
            (label, source): group * steps + 1 + k
            for group, label in enumerate(labels)
            for k, source in enumerate(sources)
        }
        longest, n_lines = size_of(list(names.values()))
        height = 1.2 + 0.24 * steps * len(labels) + 0.19 * (n_lines - 1) * len(labels)
        width = 3.8 + 0.085 * max(longest, *map(len, sources))
        self.figure_, self.ax_ = figure_and_axes(ax, size=(max(6.4, width), max(2.6, height)))
        self.bars_ = {}
        for k, source in enumerate(sources):
            rows = [row for row in self.rows if row.source == source]
            self.bars_[source] = self.ax_.barh(
                [places[row.label, source] for row in rows],
                [0.0 if math.isnan(row.share) else row.share for row in rows],
                _THICKNESS,
                color=look(k).color,
                alpha=0.6,
                hatch=_HATCHES[k % len(_HATCHES)],
                edgecolor=self.ax_.get_facecolor(),
            )
        self.intervals_ = [self._interval(row, places[row.label, row.source]) for row in self.rows]
        names.update({place: source for (_, source), place in places.items()})
        self._label_axes(names)
        for group, label in enumerate(self.ax_.get_yticklabels()):
            label.set_fontweight("normal" if group % steps else "bold")
        return self

    def _interval(self, row: VarianceShareRow, place: float) -> Any:
        if math.isnan(row.share_low) or math.isnan(row.share_high):
            return None
        (line,) = self.ax_.plot(
            [row.share_low, row.share_high],
            [place, place],
            color=self.ax_.xaxis.label.get_color(),
            marker="|",
            linewidth=1.5,
        )
        return line

    def _label_axes(self, names: Mapping[int, str]) -> None:
        self.ax_.set_xlim(0, 1)
        self.ax_.xaxis.set_major_formatter(lambda share, _: f"{100 * share:.0f} %")
        self.ax_.set_yticks(sorted(names), [names[place] for place in sorted(names)])
        self.ax_.tick_params(axis="y", length=0)
        self.ax_.set_ylim(len(names) - 0.5, -0.5)
        level = format_percent(self.confidence_level)
        of = "the average" if self.baseline is None else "the average difference"
        text = f"share of the variance of {of} of {shortened(self.metric)}"
        if self.baseline is not None:
            text += f" from {shortened(self.baseline)}"
        set_x_label(self.ax_, f"{text} (lines: {level} intervals)")
