"""How a difference, or the score of one model, varies over the resamples."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from sklearn_pairboot._tables import DifferenceRow
from sklearn_pairboot._tables.frames import frame_of
from sklearn_pairboot._tables.numbers import NumberFormat
from sklearn_pairboot.plotting._axes import REFERENCE_COLOR, figure_and_axes, look
from sklearn_pairboot.plotting._bins import bin_edges, seen_range
from sklearn_pairboot.plotting._results import (
    Result,
    chosen_row,
    drawn_by,
    hold_at_once,
    interval_name,
    rows_beside,
    title,
)
from sklearn_pairboot.plotting._room import beyond_edges, legend_on_top, set_x_label


class DifferenceDisplay:
    """Histogram of the resampled values of a difference, with its estimate and interval.

    The same for the score of one model. The histogram shows how far the value would move with
    other test rows, not how probable true values are.

    Parameters
    ----------
    values : array-like of shape (n_replicates,)
        Resampled values; undefined ones are NaN and left out.
    estimate : float
        Value on all rows.
    ci_low : float
        Lower end of the interval; ``-inf`` if it is open, NaN if there is none.
    ci_high : float
        Upper end of the interval; ``inf`` if it is open, NaN if there is none.
    metric : str
        Name of the metric.
    model : str
        Name of the model.
    baseline : str or None, default=None
        The model it is compared with; ``None`` for a score, which has no line at zero.
    greater_is_better : bool, default=True
        Direction of the metric.
    confidence_level : float, default=0.95
        Level of the interval.
    margin : float or None, default=None
        Smallest difference that would matter, drawn on both sides of zero.
    std_error : float, default=nan
        Standard error of the value, which decides how many digits are shown.
    weights : array-like of shape (n_replicates,) or None, default=None
        How often each value counts, as in an enumeration of all resamples; ``None`` for once. The
        outermost millionth of them at either end, which cannot be seen, is counted in the bins at
        the ends.
    simultaneous : bool, default=False
        Whether the interval holds for a family of comparisons at once, as by max-T.
    drawn : str, default="resamples"
        What the replicates are called; those of a Bayesian bootstrap are posterior draws.

    Attributes
    ----------
    ax_ : matplotlib.axes.Axes
        Axes of the plot.
    figure_ : matplotlib.figure.Figure
        Figure of the plot.
    histogram_ : matplotlib.patches.StepPatch
        The histogram.
    interval_ : matplotlib.patches.Rectangle or None
        Band of the interval.
    line_ : matplotlib.lines.Line2D
        Line at the estimate.
    zero_line_ : matplotlib.lines.Line2D or None
        Line at zero.
    margin_lines_ : list of matplotlib.lines.Line2D
        Lines at the margins.

    See Also
    --------
    ForestDisplay : Many estimates with their intervals.

    Examples
    --------
    >>> from sklearn_pairboot.plotting import DifferenceDisplay
    >>> display = DifferenceDisplay(
    ...     [0.0, 0.1, 0.1, 0.2],
    ...     estimate=0.1,
    ...     ci_low=0.0,
    ...     ci_high=0.2,
    ...     metric="accuracy",
    ...     model="new",
    ...     baseline="old",
    ... )
    >>> display.shares.tolist()
    [0.25, 0.5, 0.25]
    """

    def __init__(
        self,
        values: Any,
        *,
        estimate: float,
        ci_low: float,
        ci_high: float,
        metric: str,
        model: str,
        baseline: str | None = None,
        greater_is_better: bool = True,
        confidence_level: float = 0.95,
        margin: float | None = None,
        std_error: float = math.nan,
        weights: Any = None,
        simultaneous: bool = False,
        drawn: str = "resamples",
    ) -> None:
        values = np.asarray(values, dtype=np.float64)
        counts = np.ones(len(values)) if weights is None else np.asarray(weights, np.float64)
        defined = np.isfinite(values)
        if not defined.any():
            raise ValueError(
                "`values` must hold at least 1 finite value, got "
                f"{len(values)} of which none is. There is nothing to show."
            )
        total = counts.sum()
        self.undefined_share = float(counts[~defined].sum() / total)
        values, counts = values[defined], counts[defined]
        if weights is not None:
            values = np.clip(values, *seen_range(values, counts))
        self.edges = bin_edges(values)
        self.shares = np.histogram(values, self.edges, weights=counts)[0] / counts.sum()
        self.estimate = estimate
        self.ci_low = ci_low
        self.ci_high = ci_high
        self.metric = metric
        self.model = model
        self.baseline = baseline
        self.greater_is_better = greater_is_better
        self.confidence_level = confidence_level
        self.margin = margin
        self.std_error = std_error
        self.simultaneous = simultaneous
        self.drawn = drawn

    @classmethod
    def from_result(
        cls,
        result: Result,
        *,
        which: str | None = None,
        metric: str | None = None,
        model: str | None = None,
        baseline: str | None = None,
    ) -> DifferenceDisplay:
        """
        Take the replicates of one difference or score from a result.

        Parameters
        ----------
        result : ComparisonResult
            A comparison with its replicates.
        which : {"differences", "scores"} or None, default=None
            A difference, or the score of one model; ``None`` is a difference where there are
            several models.
        metric : str or None, default=None
            Name of the metric; ``None`` where there is only one.
        model : str or None, default=None
            Name of the model; ``None`` where there is only one to choose.
        baseline : str or None, default=None
            The model it is compared with; ``None`` is the baseline of the result.

        Returns
        -------
        DifferenceDisplay
            The display, not yet drawn.
        """
        distribution = result._require_joint("a histogram of replicates")
        row = chosen_row(result, which, metric, model, baseline)
        number = result.metrics.index(row.metric)
        place = result.models.index(row.model)
        common: dict[str, Any] = {
            "ci_low": row.ci_low,
            "ci_high": row.ci_high,
            "metric": row.metric,
            "model": row.model,
            "greater_is_better": row.greater_is_better,
            "confidence_level": result.confidence_level,
            "std_error": row.std_error,
            "weights": distribution.multiplicities,
            "simultaneous": hold_at_once(result, rows_beside(result, row)),
            "drawn": drawn_by(result),
        }
        if not isinstance(row, DifferenceRow):
            values, _ = distribution.model_values(number, place)
            return cls(values, estimate=row.estimate, **common)
        other = result.models.index(row.baseline)
        values, _ = distribution.difference_values(number, place, other)
        margin = getattr(row, "margin", math.nan)
        return cls(
            values,
            estimate=row.difference,
            baseline=row.baseline,
            margin=None if math.isnan(margin) else margin,
            **common,
        )

    def frame(self, backend: Any = None) -> Any:
        """
        Return the histogram as a dataframe.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, module or None, default=None
            Kind of dataframe. ``None`` means the first of the three that is installed.

        Returns
        -------
        dataframe
            ``low`` and ``high`` of each bin and its ``share`` of the defined resamples.
        """
        data = {
            "low": self.edges[:-1].tolist(),
            "high": self.edges[1:].tolist(),
            "share": self.shares.tolist(),
        }
        return frame_of(data, dict.fromkeys(data, "float"), backend)

    def plot(self, ax: Any = None) -> DifferenceDisplay:
        """
        Draw the histogram.

        Parameters
        ----------
        ax : matplotlib.axes.Axes or None, default=None
            Axes to draw on; ``None`` makes a figure.

        Returns
        -------
        DifferenceDisplay
            The display itself, with its artists.
        """
        self.figure_, self.ax_ = figure_and_axes(ax)
        ends = [end for end in (self.ci_low, self.ci_high) if not math.isnan(end)]
        number = NumberFormat.from_errors([self.std_error], [self.estimate, *ends])
        self.histogram_ = self.ax_.stairs(
            self.shares, self.edges, fill=True, color=look(0).color, alpha=0.55
        )
        if len(self.shares) == 1:  # all values are equal: a bar across the axes would not say so
            width = self.edges[1] - self.edges[0]
            sides = [self.edges[0] - 5 * width, self.edges[1] + 5 * width]
            self.ax_.update_datalim([(side, 0.0) for side in sides])
            self.ax_.autoscale_view(scaley=False)
        self.line_ = self.ax_.axvline(
            self.estimate,
            color=look(1).color,
            linewidth=2,
            label=f"estimate {number(self.estimate, signed=self.baseline is not None, keep=True)}",
        )
        self.zero_line_, self.margin_lines_ = None, []
        if self.baseline is not None:
            self.zero_line_ = self._reference(0.0, "-.", "no difference")
        for sign in (-1, 1) if self.margin is not None else ():
            text = f"margin ±{self.margin:.10g}" if sign > 0 else None
            self.margin_lines_.append(self._reference(sign * float(self.margin or 0), ":", text))
        self.interval_ = self._draw_interval(ends, number)
        self._label_axes()
        return self

    def _reference(self, place: float, linestyle: str, text: str | None) -> Any:
        return self.ax_.axvline(
            place, color=REFERENCE_COLOR, linestyle=linestyle, linewidth=1.5, label=text
        )

    def _draw_interval(self, ends: Sequence[float], number: NumberFormat) -> Any:
        """Shade the interval, an open one beyond the edge of the axes."""
        if len(ends) < 2:
            return None
        for end in ends:
            if math.isfinite(end):
                self.ax_.axvline(end, color=REFERENCE_COLOR, linestyle="--", linewidth=1)
        low, high = beyond_edges(self.ax_, *ends)
        text = f"{interval_name(self.confidence_level, self.simultaneous)} {number.interval(*ends)}"
        limits = self.ax_.dataLim.frozen()
        band = self.ax_.axvspan(
            low, high, color=REFERENCE_COLOR, alpha=0.25, linewidth=0, zorder=0, label=text
        )
        self.ax_.dataLim.set(limits)  # the limits follow what is finite
        return band

    def _label_axes(self) -> None:
        text = title(self.metric, self.model, self.baseline, self.greater_is_better)
        set_x_label(self.ax_, text)
        left_out = f"\n({self.undefined_share:.1%} undefined, left out)"
        self.ax_.set_ylabel(f"share of {self.drawn}" + left_out * (self.undefined_share > 0))
        legend_on_top(self.ax_)
