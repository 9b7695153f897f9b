"""How the ends of an interval settle as more resamples are drawn."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_pairboot._tables import DifferenceRow, build_tables
from sklearn_pairboot._tables.frames import frame_of
from sklearn_pairboot.plotting._axes import REFERENCE_COLOR, figure_and_axes, look
from sklearn_pairboot.plotting._results import (
    chosen_row,
    drawn_by,
    hold_at_once,
    interval_name,
    rows_beside,
    title,
)
from sklearn_pairboot.plotting._room import legend_on_top, set_y_label

_N_POINTS = 24
_N_ERRORS = 2  # half-width of the bands in Monte Carlo standard errors


class ConvergenceDisplay:
    """Interval ends from the first resamples, from more of them, and from all.

    The bands are two Monte Carlo standard errors wide on either side: so far could other seeds
    move an end. They shrink with the square root of the number of resamples; the distance of the
    ends does not, as it comes from the test rows.

    Parameters
    ----------
    n_resamples : array-like of shape (n_points,)
        Numbers of resamples, ascending.
    ci_low : array-like of shape (n_points,)
        Lower interval ends from so many resamples; NaN where they give none by the method of all.
    ci_high : array-like of shape (n_points,)
        Upper interval ends.
    estimate : float
        The estimate, which does not depend on resamples.
    se_ci_low : float
        Monte Carlo standard error of the last lower end.
    se_ci_high : float
        Monte Carlo standard error of the last upper end.
    metric : str
        Name of the metric.
    model : str
        Name of the model.
    baseline : str or None, default=None
        The model it is compared with; ``None`` for a score.
    greater_is_better : bool, default=True
        Direction of the metric.
    confidence_level : float, default=0.95
        Level of the interval.
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
    lines_ : list of matplotlib.lines.Line2D
        Lines of the lower and of the upper end; open ends have none.
    bands_ : list of matplotlib.collections.PolyCollection
        Their Monte Carlo bands.
    estimate_line_ : matplotlib.lines.Line2D
        Line at the estimate.
    zero_line_ : matplotlib.lines.Line2D or None
        Line at zero, for differences.

    Examples
    --------
    >>> from sklearn_pairboot.plotting import ConvergenceDisplay
    >>> display = ConvergenceDisplay(
    ...     [100, 400],
    ...     [0.01, 0.02],
    ...     [0.09, 0.08],
    ...     estimate=0.05,
    ...     se_ci_low=0.001,
    ...     se_ci_high=0.001,
    ...     metric="accuracy",
    ...     model="new",
    ...     baseline="old",
    ... )
    >>> display.se_low.tolist()
    [0.002, 0.001]
    """

    def __init__(
        self,
        n_resamples: Any,
        ci_low: Any,
        ci_high: Any,
        *,
        estimate: float,
        se_ci_low: float,
        se_ci_high: float,
        metric: str,
        model: str,
        baseline: str | None = None,
        greater_is_better: bool = True,
        confidence_level: float = 0.95,
        simultaneous: bool = False,
        drawn: str = "resamples",
    ) -> None:
        self.n_resamples = np.asarray(n_resamples, dtype=np.int64)
        self.ci_low = np.asarray(ci_low, dtype=np.float64)
        self.ci_high = np.asarray(ci_high, dtype=np.float64)
        shapes = {self.n_resamples.shape, self.ci_low.shape, self.ci_high.shape}
        if len(shapes) > 1 or self.n_resamples.ndim != 1 or len(self.n_resamples) == 0:
            raise ValueError(
                "`n_resamples`, `ci_low` and `ci_high` must be as long as one another, and hold at "
                f"least 1 number, got the shapes {sorted(shapes)}."
            )
        growth = np.sqrt(self.n_resamples[-1] / self.n_resamples)
        self.se_low = se_ci_low * growth
        self.se_high = se_ci_high * growth
        self.estimate = estimate
        self.metric = metric
        self.model = model
        self.baseline = baseline
        self.greater_is_better = greater_is_better
        self.confidence_level = confidence_level
        self.simultaneous = simultaneous
        self.drawn = drawn

    @classmethod
    def from_result(
        cls,
        result: Any,
        *,
        which: str | None = None,
        metric: str | None = None,
        model: str | None = None,
        baseline: str | None = None,
    ) -> ConvergenceDisplay:
        """
        Read one interval off the first replicates of a result, more of them, and all.

        Parameters
        ----------
        result : ComparisonResult
            A comparison with its replicates, drawn at random.
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
        ConvergenceDisplay
            The display, not yet drawn.
        """
        distribution = result._require_joint("a plot of convergence")
        if distribution.multiplicities is not None:
            raise ValueError(
                "A plot of convergence needs resamples drawn at random, got all of them by "
                "enumeration, which leaves no Monte Carlo error. Pass an integer `n_resamples`."
            )
        row = chosen_row(result, which, metric, model, baseline)
        if math.isnan(row.ci_low) and math.isnan(row.ci_high):
            raise ValueError(
                f"A plot of convergence needs an interval, and `{row.metric}` has none (status "
                f"{row.status!r}). Choose another `metric`."
            )
        difference = isinstance(row, DifferenceRow)
        table = result.differences if difference else result.scores
        place = table.index(row)
        numbers = _points(len(distribution.replicates), result.confidence_level)
        ends = []
        for number in numbers[:-1].tolist():
            first = distribution.only(np.arange(len(distribution.replicates)) < number)
            try:
                tables = build_tables(
                    first,
                    result.models,
                    result._facts.metrics,
                    result._facts.settings,
                    slices=result._slice_parts,
                )
            except ValueError:  # undefined in all of so few resamples
                ends.append((math.nan, math.nan))
                continue
            found = (tables.differences if difference else tables.scores)[place]
            by_same_method = found.status == row.status
            ends.append((found.ci_low, found.ci_high) if by_same_method else (math.nan, math.nan))
        ends.append((row.ci_low, row.ci_high))
        errors = result.monte_carlo[place + (len(result.scores) if difference else 0)]
        return cls(
            numbers,
            [low for low, _ in ends],
            [high for _, high in ends],
            estimate=row.difference if isinstance(row, DifferenceRow) else row.estimate,
            se_ci_low=errors.se_ci_low,
            se_ci_high=errors.se_ci_high,
            metric=row.metric,
            model=row.model,
            baseline=row.baseline if isinstance(row, DifferenceRow) else None,
            greater_is_better=row.greater_is_better,
            confidence_level=result.confidence_level,
            simultaneous=hold_at_once(result, rows_beside(result, row)),
            drawn=drawn_by(result),
        )

    def frame(self, backend: Any = None) -> Any:
        """
        Return the interval ends as a dataframe.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, module or None, default=None
            Kind of dataframe. ``None`` means the first of the three that is installed.

        Returns
        -------
        dataframe
            ``n_resamples``, ``ci_low``, ``ci_high`` and their Monte Carlo standard errors
            ``se_ci_low`` and ``se_ci_high``.
        """
        data = {
            "n_resamples": self.n_resamples.tolist(),
            "ci_low": self.ci_low.tolist(),
            "ci_high": self.ci_high.tolist(),
            "se_ci_low": self.se_low.tolist(),
            "se_ci_high": self.se_high.tolist(),
        }
        return frame_of(data, dict.fromkeys(data, "float") | {"n_resamples": "int"}, backend)

    def plot(self, ax: Any = None) -> ConvergenceDisplay:
        """
        Draw the interval ends against the number of resamples.

        Parameters
        ----------
        ax : matplotlib.axes.Axes or None, default=None
            Axes to draw on; ``None`` makes a figure.

        Returns
        -------
        ConvergenceDisplay
            The display itself, with its artists.
        """
        self.figure_, self.ax_ = figure_and_axes(ax)
        self.lines_: list[Any] = []
        self.bands_: list[Any] = []
        ends = (("lower end", self.ci_low, self.se_low), ("upper end", self.ci_high, self.se_high))
        for place, (text, values, errors) in enumerate(ends):
            if not np.isfinite(values).any():
                continue
            style = look(place)
            (line,) = self.ax_.plot(
                self.n_resamples,
                values,
                color=style.color,
                linestyle=style.linestyle,
                marker=style.marker,
                markersize=4,
                label=f"{text} of the {interval_name(self.confidence_level, self.simultaneous)}",
            )
            self.lines_.append(line)
            band = self.ax_.fill_between(
                self.n_resamples,
                values - _N_ERRORS * errors,
                values + _N_ERRORS * errors,
                color=style.color,
                alpha=0.25,
                linewidth=0,
                label=None if self.bands_ else f"±{_N_ERRORS} Monte Carlo standard errors",
            )
            self.bands_.append(band)
        self.estimate_line_ = self.ax_.axhline(
            self.estimate, color=look(2).color, linestyle="-.", label="estimate"
        )
        self.zero_line_ = None
        if self.baseline is not None:
            self.zero_line_ = self.ax_.axhline(
                0.0, color=REFERENCE_COLOR, linewidth=1, label="no difference"
            )
        self._label_axes()
        return self

    def _label_axes(self) -> None:
        self.ax_.set_xscale("log")
        self.ax_.set_xlabel(f"number of {self.drawn} (log scale)")
        text = title(self.metric, self.model, self.baseline, self.greater_is_better)
        set_y_label(self.ax_, text)
        legend_on_top(self.ax_)


def _points(n_resamples: int, confidence_level: float) -> NDArray[np.int64]:
    """Choose numbers of resamples in equal ratios, from the fewest that support the level."""
    fewest = min(n_resamples, max(50, math.ceil(4 / (1 - confidence_level))))
    points = np.geomspace(fewest, n_resamples, _N_POINTS)
    numbers: NDArray[np.int64] = np.unique(np.rint(points).astype(np.int64))
    return numbers
