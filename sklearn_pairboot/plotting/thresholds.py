"""Costs, profits, net benefit, precision and recall against the threshold, with bands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from sklearn_pairboot._scoring.checks import check_names
from sklearn_pairboot._tables.frames import frame_of
from sklearn_pairboot.metrics._rules import check_number
from sklearn_pairboot.metrics.threshold_bands import ThresholdBands, threshold_bands
from sklearn_pairboot.plotting._axes import (
    REFERENCE_COLOR,
    figure_and_axes,
    label,
    legend_label,
    look,
)
from sklearn_pairboot.plotting._models import PROBABILITIES, positive_scores
from sklearn_pairboot.plotting._names import wrapped
from sklearn_pairboot.plotting._room import set_note, set_x_label, set_y_label
from sklearn_pairboot.plotting._score_curves import (
    BAND_ALPHA,
    LEGEND_NAME,
    place_legend,
    resampling_note,
    size_with_legend,
)

_LABELS = {
    "cost": "Mean cost of a row",
    "profit": "Mean profit of a row",
    "net_benefit": "Net benefit (true positives per row)",
    "precision": "Precision",
    "recall": "Recall",
    "f1": "F1 score",
    "accuracy": "Accuracy",
}
_BEST = {"cost": "lowest", "profit": "highest"}
_IN_NEED_OF_REFERENCES = ("cost", "profit", "net_benefit")


class ThresholdDisplay:
    """A metric of several models against the threshold, with pointwise bootstrap bands.

    Cost, profit and net benefit come with two reference lines: to call no row positive, and to
    call every row positive. The best threshold of a cost or profit curve is marked. Its value is
    too good for other rows: choose a threshold on validation rows and look at it on test rows. A
    band is *pointwise*: it is made of an interval at each threshold by itself.

    Parameters
    ----------
    bands : ThresholdBands
        Values and bands, from `sklearn_pairboot.metrics.threshold_bands`.

    Attributes
    ----------
    ax_ : matplotlib.axes.Axes
        Axes of the plot.
    figure_ : matplotlib.figure.Figure
        Figure of the plot.
    lines_ : list of matplotlib.lines.Line2D
        Curves, metric by metric for each model.
    bands_ : list of matplotlib.collections.PolyCollection
        Their bands.
    best_ : list of matplotlib.lines.Line2D
        Marks of the best thresholds.
    references_ : list of matplotlib.lines.Line2D
        Lines of calling no row, and every row, positive.
    threshold_lines_ : list of matplotlib.lines.Line2D
        Lines at thresholds that were given.
    legend_ : matplotlib.legend.Legend
        The legend.

    See Also
    --------
    sklearn_pairboot.metrics.choose_threshold : The choice of a threshold by a rule.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_pairboot.plotting import ThresholdDisplay
    >>> rng = np.random.default_rng(0)
    >>> y_prob = rng.random(500)
    >>> y_true = rng.random(500) < y_prob
    >>> display = ThresholdDisplay.from_predictions(
    ...     y_true, {"model": y_prob}, metric="cost", cost_fn=4, cost_fp=1, random_state=0
    ... )
    >>> display.plot(unit="EUR")  # doctest: +SKIP
    >>> display.bands.best
    array([[0.15]])
    """

    def __init__(self, bands: ThresholdBands) -> None:
        if not isinstance(bands, ThresholdBands):
            raise TypeError(
                f"`bands` must be ThresholdBands, got {type(bands).__name__}. Call "
                "ThresholdDisplay.from_predictions(y_true, predictions)."
            )
        self.bands = bands

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        predictions: Any,
        *,
        metric: str | Sequence[str] = "cost",
        cost_fn: float | None = None,
        cost_fp: float | None = None,
        cost_tp: float = 0.0,
        cost_tn: float = 0.0,
        gain_tp: float | None = None,
        gain_tn: float = 0.0,
        thresholds: Any = None,
        groups: Any = None,
        sample_weight: Any = None,
        pos_label: Any = None,
        n_resamples: int = 999,
        confidence_level: float = 0.95,
        random_state: Any = None,
    ) -> ThresholdDisplay:
        """
        Compute the curves of models from their scores.

        Parameters
        ----------
        y_true : array-like of shape (n_rows,)
            True labels of two classes.
        predictions : mapping of str to array-like of shape (n_rows,)
            Scores or probabilities by name of model, high for the positive class.
        metric : str or sequence of str, default="cost"
            ``"cost"``, ``"profit"``, ``"net_benefit"``, ``"precision"``, ``"recall"``, ``"f1"``
            or ``"accuracy"``; several at once, such as ``("precision", "recall")``.
        cost_fn, cost_fp : float, default=None
            Costs of a false negative and of a false positive.
        cost_tp, cost_tn : float, default=0.0
            Costs of right predictions, for ``"cost"`` alone.
        gain_tp : float, default=None
            Profit of a true positive, needed for ``"profit"``.
        gain_tn : float, default=0.0
            Profit of a true negative, for ``"profit"`` alone.
        thresholds : array-like of shape (n_thresholds,), default=None
            Finite thresholds. ``None`` is 0.02, 0.03, ..., 0.98 where all scores lie between 0
            and 1, and otherwise 97 equal steps from the lowest score to the highest.
        groups : array-like of shape (n_rows,), default=None
            Cluster of each row. With it whole clusters are resampled; ``None`` resamples rows.
        sample_weight : array-like of shape (n_rows,), default=None
            Weight of each row.
        pos_label : label, default=None
            Positive class; ``None`` is the larger label.
        n_resamples : int, default=999
            Number of resamples.
        confidence_level : float, default=0.95
            Level of the band at each threshold.
        random_state : int, Generator, RandomState or None, default=None
            Seed.

        Returns
        -------
        display : ThresholdDisplay
            The display, not drawn yet.
        """
        bands = threshold_bands(
            y_true,
            predictions,
            metric=metric,
            cost_fn=cost_fn,
            cost_fp=cost_fp,
            cost_tp=cost_tp,
            cost_tn=cost_tn,
            gain_tp=gain_tp,
            gain_tn=gain_tn,
            thresholds=thresholds,
            groups=groups,
            sample_weight=sample_weight,
            pos_label=pos_label,
            n_resamples=n_resamples,
            confidence_level=confidence_level,
            random_state=random_state,
        )
        return cls(bands)

    @classmethod
    def from_estimators(
        cls, estimators: Any, X: Any, y: Any, *, pos_label: Any = None, **keywords: Any
    ) -> ThresholdDisplay:
        """
        Compute the curves of fitted estimators on test rows, from their probabilities.

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
            Metric, costs and the rest, as in `from_predictions`.

        Returns
        -------
        display : ThresholdDisplay
            The display, not drawn yet.
        """
        truths, scores = positive_scores(estimators, X, y, PROBABILITIES, pos_label)
        return cls.from_predictions(truths, scores, pos_label=True, **keywords)

    def frame(self, backend: Any = None) -> Any:
        """
        Give the numbers of the curves and bands as a data frame.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"} or None, default=None
            Kind of data frame; ``None`` takes the first of these that is installed.

        Returns
        -------
        dataframe
            One row for each model, metric and threshold; NaN where a ratio is 0/0.
        """
        bands = self.bands
        pairs = [(model, metric) for model in bands.models for metric in bands.metrics]
        n_points = len(bands.thresholds)
        data: dict[str, list[Any]] = {
            "model": [model for model, _ in pairs for _ in range(n_points)],
            "metric": [metric for _, metric in pairs for _ in range(n_points)],
            "threshold": np.tile(bands.thresholds, len(pairs)).tolist(),
            "value": bands.curve.ravel().tolist(),
            "ci_low": bands.ci_low.ravel().tolist(),
            "ci_high": bands.ci_high.ravel().tolist(),
            "n_undefined": bands.n_undefined.ravel().tolist(),
        }
        types = dict.fromkeys(data, "float") | {"model": "str", "metric": "str"}
        return frame_of(data, types | {"n_undefined": "int"}, backend)

    def plot(self, ax: Any = None, *, unit: str = "", threshold: Any = None) -> ThresholdDisplay:
        """
        Draw the curves.

        Parameters
        ----------
        ax : matplotlib.axes.Axes or None, default=None
            Axes to draw on; ``None`` makes a figure.
        unit : str, default=""
            Unit of costs and profits, such as ``"EUR"``, for the label of the axis.
        threshold : float, mapping of str to float or None, default=None
            A threshold chosen beforehand, one for all or by name of model, shown as a line.

        Returns
        -------
        display : ThresholdDisplay
            The display, with its artists.
        """
        bands = self.bands
        chosen = _chosen(threshold, bands.models)
        n_references = 2 * len([name for name in bands.metrics if name in _IN_NEED_OF_REFERENCES])
        n_lines = len(bands.models) * len(bands.metrics) + n_references + len(chosen)
        self.figure_, self.ax_ = figure_and_axes(ax, size=size_with_legend(6.4, 4.4, n_lines))
        self.lines_: list[Any] = []
        self.bands_: list[Any] = []
        self.best_: list[Any] = []
        self.references_: list[Any] = []
        for place in np.ndindex(len(bands.models), len(bands.metrics)):
            self._draw(*place)
        low, high = self.ax_.get_ylim()
        for number, name in enumerate(bands.metrics):
            if name in _IN_NEED_OF_REFERENCES:
                self._draw_references(number)
        if bands.metrics == ("net_benefit",):  # far below zero nothing can be told apart
            self.ax_.set_ylim(low, high)
        self.threshold_lines_ = [
            self.ax_.axvline(
                value,
                color=REFERENCE_COLOR if model is None else look(bands.models.index(model)).color,
                linestyle=(0, (1, 1)),
                linewidth=1.5,
                label=legend_label(
                    f"{'' if model is None else _name(model) + ': '}chosen threshold {value:.4g}"
                ),
            )
            for model, value in chosen.items()
        ]
        set_x_label(self.ax_, "Threshold (rows at or above it are called positive)")
        set_y_label(self.ax_, self._y_label(unit))
        note = resampling_note(bands.confidence_level, bands.n_resamples, bands.n_units, bands.unit)
        set_note(self.ax_, note)
        self.legend_ = place_legend(self.ax_)
        return self

    def _draw(self, model: int, metric: int) -> None:
        bands = self.bands
        # Several metrics of one model differ by dashes and colour, as several models do.
        position = model * len(bands.metrics) + metric
        shown, at = look(position), bands.thresholds
        text = _name(bands.models[model])
        if len(bands.metrics) > 1:
            text = f"{text}: {_lower_first(_LABELS[bands.metrics[metric]])}"
        best = float(bands.best[model, metric])
        if np.isfinite(best):
            text += f", {_BEST[bands.metrics[metric]]} at {best:.4g}"
        self.bands_.append(
            self.ax_.fill_between(
                at,
                bands.ci_low[model, metric],
                bands.ci_high[model, metric],
                color=shown.color,
                alpha=BAND_ALPHA,
                linewidth=0,
            )
        )
        values = bands.curve[model, metric]
        (line,) = self.ax_.plot(
            at, values, color=shown.color, linestyle=shown.linestyle, label=legend_label(text)
        )
        self.lines_.append(line)
        if np.isfinite(best):
            (mark,) = self.ax_.plot(
                [best],
                [float(values[np.searchsorted(at, best)])],
                color=shown.color,
                marker=shown.marker,
                markersize=8,
                markeredgecolor="white",
                linestyle="none",
                zorder=3,
            )
            self.best_.append(mark)

    def _draw_references(self, metric: int) -> None:
        bands = self.bands
        for values, style, text in (
            (bands.none_positive, (0, (1, 2)), "no row called positive"),
            (bands.all_positive, (0, (4, 2)), "every row called positive"),
        ):
            (line,) = self.ax_.plot(
                bands.thresholds,
                values[metric],
                color=REFERENCE_COLOR,
                linestyle=style,
                linewidth=1,
                label=text,
            )
            self.references_.append(line)

    def _y_label(self, unit: str) -> str:
        texts = []
        for metric in self.bands.metrics:
            in_unit = f" ({label(unit)})" if unit and metric in _BEST else ""
            texts.append(f"{_LABELS[metric]}{in_unit}")
        return ", ".join([texts[0], *map(_lower_first, texts[1:])])


def _name(model: str) -> str:
    return wrapped(model, LEGEND_NAME)


def _lower_first(text: str) -> str:
    return text if text[1:2].isdigit() else text[0].lower() + text[1:]


def _chosen(threshold: Any, models: Sequence[str]) -> dict[str | None, float]:
    if threshold is None:
        return {}
    if not isinstance(threshold, Mapping):
        return {None: check_number("threshold", threshold)}
    names = check_names(list(threshold))
    unknown = [name for name in names if name not in models]
    if unknown:
        raise ValueError(
            f"`threshold` must name models of the display, {', '.join(map(repr, models))}, got "
            f"{unknown[0]!r}."
        )
    return {name: check_number(f"threshold[{name!r}]", threshold[name]) for name in names}
