"""The reliability diagram: observed rates beside mean predictions, and how predictions spread."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_pairboot._scoring.checks import check_names
from sklearn_pairboot._tables.frames import frame_of
from sklearn_pairboot._tables.numbers import format_percent
from sklearn_pairboot.metrics._forecasts import check_binary
from sklearn_pairboot.metrics.reliability import ReliabilityCurve, reliability_curve
from sklearn_pairboot.plotting._axes import (
    REFERENCE_COLOR,
    figure_and_axes,
    legend_label,
    look,
)
from sklearn_pairboot.plotting._models import PROBABILITIES, positive_scores
from sklearn_pairboot.plotting._names import wrapped
from sklearn_pairboot.plotting._room import set_note, set_x_label, set_y_label
from sklearn_pairboot.plotting._score_curves import (
    BAND_ALPHA,
    LEGEND_NAME,
    SHARES,
    place_legend,
    size_with_legend,
)

_N_BARS = 20
_BELOW = (0.0, -0.32, 1.0, 0.28)  # in units of the axes above: left, bottom, width, height


class ReliabilityDisplay:
    """Reliability diagrams of several models, with intervals and the spread of predictions.

    Each point is a bin: the mean of its predictions, and the share of its rows that turned out
    positive, with an interval. Points above the diagonal are predicted too low. For a single model
    a grey *consistency band* shows where the points of calibrated predictions would lie, and bars
    show the gaps. All intervals are *pointwise*: of ten bins one or the other leaves its band more
    often than ``1 - confidence_level``. Below, a histogram shows how many rows have which
    prediction.

    Parameters
    ----------
    curves : mapping of str to ReliabilityCurve
        Numbers by name of model, from `sklearn_pairboot.metrics.reliability_curve`.
    histograms : mapping of str to array-like of shape (n_bars,) or None, default=None
        Numbers of rows by name of model, in bars of equal width from 0 to 1; ``None`` draws none.

    Attributes
    ----------
    ax_ : matplotlib.axes.Axes
        Axes of the diagram.
    histogram_ax_ : matplotlib.axes.Axes or None
        Axes of the histogram below.
    figure_ : matplotlib.figure.Figure
        Figure of the plot.
    lines_ : list of matplotlib.lines.Line2D
        Points of the models.
    intervals_ : list of matplotlib.container.ErrorbarContainer
        Their intervals.
    consistency_ : matplotlib.collections.PolyCollection or None
        The consistency band of a single model.
    gaps_ : matplotlib.collections.LineCollection or None
        Bars from the diagonal to the points of a single model.
    reference_ : matplotlib.lines.Line2D
        The diagonal.
    histograms_ : list of matplotlib.patches.StepPatch
        The histograms.
    legend_ : matplotlib.legend.Legend
        The legend.

    See Also
    --------
    sklearn_pairboot.metrics.calibration_test : One p-value for all bins.
    sklearn.calibration.CalibrationDisplay : The diagram without intervals.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_pairboot.plotting import ReliabilityDisplay
    >>> rng = np.random.default_rng(0)
    >>> y_prob = rng.random(400)
    >>> y_true = rng.random(400) < y_prob**2
    >>> display = ReliabilityDisplay.from_predictions(
    ...     y_true, {"model": y_prob}, n_bins=4, random_state=0
    ... )
    >>> display.plot()  # doctest: +SKIP
    >>> display.curves["model"].observed_rate.round(2)
    array([0.01, 0.14, 0.41, 0.78])
    """

    def __init__(
        self,
        curves: Mapping[str, ReliabilityCurve],
        histograms: Mapping[str, Any] | None = None,
    ) -> None:
        if not isinstance(curves, Mapping):
            raise TypeError(
                "`curves` must be a mapping from names of models to reliability curves, got "
                f"{type(curves).__name__}. For one model pass {{'model': curve}}."
            )
        names = check_names(list(curves))
        if histograms is not None and set(histograms) != set(names):
            raise ValueError(
                f"`histograms` must name the models of `curves`, {list(names)!r}, got "
                f"{list(histograms)!r}."
            )
        self.curves = dict(curves)
        self.histograms: dict[str, NDArray[Any]] | None = None
        if histograms is not None:
            self.histograms = {name: np.asarray(histograms[name]) for name in names}

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        predictions: Any,
        *,
        n_bins: int = 10,
        strategy: str = "uniform",
        groups: Any = None,
        sample_weight: Any = None,
        pos_label: Any = None,
        n_resamples: int = 999,
        confidence_level: float = 0.95,
        random_state: Any = None,
    ) -> ReliabilityDisplay:
        """
        Compute the diagrams of models from their probabilities.

        Parameters
        ----------
        y_true : array-like of shape (n_rows,)
            True labels of two classes.
        predictions : mapping of str to array-like of shape (n_rows,)
            Probabilities of the positive class by name of model.
        n_bins : int, default=10
            Number of bins.
        strategy : {"uniform", "quantile", "sweep"}, default="uniform"
            Kind of bins, as in `expected_calibration_error`.
        groups : array-like of shape (n_rows,), default=None
            Cluster of each row. With it whole clusters are resampled, and there is no consistency
            band.
        sample_weight : array-like of shape (n_rows,), default=None
            Weight of each row.
        pos_label : label, default=None
            Positive class; ``None`` is 1 for labels {0, 1} and {-1, 1}.
        n_resamples : int, default=999
            Number of resamples.
        confidence_level : float, default=0.95
            Level of the intervals and of the band, in each bin by itself.
        random_state : int or None, default=None
            Seed; a generator gives each model draws of its own.

        Returns
        -------
        display : ReliabilityDisplay
            The display, not drawn yet.
        """
        if not isinstance(predictions, Mapping):
            raise TypeError(
                "`predictions` must be a mapping from names of models to probabilities of the "
                f"positive class, got {type(predictions).__name__}. For one model pass "
                "{'model': probabilities}."
            )
        curves, histograms = {}, {}
        for name in check_names(list(predictions)):
            try:
                data = check_binary(y_true, predictions[name], pos_label=pos_label)
            except ValueError as fault:
                raise ValueError(f"`predictions[{name!r}]`: {fault}") from None
            histograms[name] = np.histogram(data.predictions, _N_BARS, (0, 1))[0]
            curves[name] = reliability_curve(
                y_true,
                predictions[name],
                n_bins=n_bins,
                strategy=strategy,
                sample_weight=sample_weight,
                pos_label=pos_label,
                groups=groups,
                confidence_level=confidence_level,
                n_resamples=n_resamples,
                random_state=random_state,
            )
        return cls(curves, histograms)

    @classmethod
    def from_estimators(
        cls, estimators: Any, X: Any, y: Any, *, pos_label: Any = None, **keywords: Any
    ) -> ReliabilityDisplay:
        """
        Compute the diagrams of fitted estimators on test rows.

        Parameters
        ----------
        estimators : mapping or list of (str, estimator)
            Fitted classifiers or pipelines with ``predict_proba``, by name.
        X : array-like of shape (n_rows, n_features)
            Test rows. They must not have been used in training.
        y : array-like of shape (n_rows,)
            Their labels, of two classes.
        pos_label : label, default=None
            Positive class; ``None`` is the second class of the first estimator.
        **keywords : dict
            Bins, groups and the rest, as in `from_predictions`.

        Returns
        -------
        display : ReliabilityDisplay
            The display, not drawn yet.
        """
        truths, scores = positive_scores(estimators, X, y, PROBABILITIES, pos_label)
        return cls.from_predictions(truths, scores, pos_label=True, **keywords)

    def frame(self, backend: Any = None) -> Any:
        """
        Give the numbers of the bins as a data frame.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"} or None, default=None
            Kind of data frame; ``None`` takes the first of these that is installed.

        Returns
        -------
        dataframe
            One row for each model and bin; ``gap`` is the observed rate less the mean prediction.
        """
        data: dict[str, list[Any]] = {}
        for name, curve in self.curves.items():
            absent = np.full(len(curve.count), np.nan)
            low, high = curve.consistency_low, curve.consistency_high
            columns = {
                "model": [name] * len(curve.count),
                "mean_predicted": curve.mean_predicted,
                "observed_rate": curve.observed_rate,
                "gap": curve.observed_rate - curve.mean_predicted,
                "count": curve.count,
                "ci_low": curve.ci_low,
                "ci_high": curve.ci_high,
                "consistency_low": absent if low is None else low,
                "consistency_high": absent if high is None else high,
            }
            for column, values in columns.items():
                data.setdefault(column, []).extend(np.asarray(values).tolist())
        types = dict.fromkeys(data, "float") | {"model": "str", "count": "int"}
        return frame_of(data, types, backend)

    def plot(self, ax: Any = None) -> ReliabilityDisplay:
        """
        Draw the diagram, and the histogram of predictions below it.

        Parameters
        ----------
        ax : matplotlib.axes.Axes or None, default=None
            Axes to draw on. The histogram takes the lower part of their place in a grid of axes,
            or goes below axes without such a place. ``None`` makes a figure.

        Returns
        -------
        display : ReliabilityDisplay
            The display, with its artists.
        """
        self.figure_, self.ax_ = figure_and_axes(
            ax, size=size_with_legend(5.6, 6.4, len(self.curves) + 1)
        )
        self.lines_: list[Any] = []
        self.intervals_: list[Any] = []
        self.histograms_: list[Any] = []
        self.consistency_ = self.gaps_ = self.histogram_ax_ = None
        (self.reference_,) = self.ax_.plot(
            [0, 1], [0, 1], color=REFERENCE_COLOR, linewidth=1, linestyle=":", label="calibrated"
        )
        if len(self.curves) == 1:
            self._draw_expectation(*self.curves.values())
        for position, (name, curve) in enumerate(self.curves.items()):
            self._draw(position, name, curve)
        level = format_percent(next(iter(self.curves.values())).confidence_level)
        unit = next(iter(self.curves.values())).unit
        set_note(self.ax_, f"Pointwise {level} intervals, from resampled {unit}")
        self.ax_.set_xlim(-0.02, 1.02)
        self.ax_.set_ylim(-0.02, 1.02)
        self.ax_.set_yticks(SHARES)
        lowest = self.ax_ if self.histograms is None else self._draw_histograms(self.histograms)
        self.legend_ = place_legend(self.ax_, "lower right")
        set_y_label(self.ax_, "Observed share of positives")
        set_x_label(lowest, "Predicted probability of the positive class")
        return self

    def _draw(self, position: int, name: str, curve: ReliabilityCurve) -> None:
        shown = look(position)
        found = self.ax_.errorbar(
            curve.mean_predicted,
            curve.observed_rate,
            yerr=np.maximum(
                [curve.observed_rate - curve.ci_low, curve.ci_high - curve.observed_rate], 0
            ),
            color=shown.color,
            linestyle=shown.linestyle,
            linewidth=1.2,
            marker=shown.marker,
            markersize=5,
            capsize=2.5,
            elinewidth=1,
            label=legend_label(wrapped(name, LEGEND_NAME)),
        )
        self.intervals_.append(found)
        self.lines_.append(found.lines[0])

    def _draw_expectation(self, curve: ReliabilityCurve) -> None:
        """Draw what calibrated predictions would show, and how far off these are."""
        if curve.consistency_low is not None and curve.consistency_high is not None:
            self.consistency_ = self.ax_.fill_between(
                curve.mean_predicted,
                curve.consistency_low,
                curve.consistency_high,
                color=REFERENCE_COLOR,
                alpha=BAND_ALPHA,
                linewidth=0,
                label="consistency band if calibrated",
            )
        self.gaps_ = self.ax_.vlines(
            curve.mean_predicted,
            curve.mean_predicted,
            curve.observed_rate,
            color=look(0).color,
            alpha=0.35,
            linewidth=5,
            label="gap",
        )

    def _draw_histograms(self, histograms: Mapping[str, NDArray[Any]]) -> Any:
        below = self._axes_below()
        for position, (name, counts) in enumerate(histograms.items()):
            shown = look(position)
            self.histograms_.append(
                below.stairs(
                    counts,
                    np.linspace(0, 1, len(counts) + 1),
                    color=shown.color,
                    linestyle=shown.linestyle,
                    fill=len(histograms) == 1,
                    label=legend_label(wrapped(name, LEGEND_NAME)),
                )
            )
        below.set_ylabel("Rows")
        self.ax_.tick_params(labelbottom=False)
        self.histogram_ax_ = below
        return below

    def _axes_below(self) -> Any:
        """Take the lower part of the place that the axes have; if they have none, go below it."""
        place = self.ax_.get_subplotspec()
        if place is None:
            return self.ax_.inset_axes(_BELOW, sharex=self.ax_)
        parts = place.subgridspec(2, 1, height_ratios=(1, _BELOW[3]))
        self.ax_.set_subplotspec(parts[0])
        return self.figure_.add_subplot(parts[1], sharex=self.ax_)
