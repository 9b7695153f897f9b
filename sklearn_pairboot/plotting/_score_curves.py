"""The part that the displays of ROC and precision-recall curves have in common."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from sklearn_pairboot._tables.frames import frame_of
from sklearn_pairboot._tables.numbers import NumberFormat, format_percent
from sklearn_pairboot.metrics.curves import CurveBands
from sklearn_pairboot.plotting._axes import (
    REFERENCE_COLOR,
    figure_and_axes,
    legend_label,
    look,
)
from sklearn_pairboot.plotting._models import SCORES, positive_scores
from sklearn_pairboot.plotting._names import wrapped
from sklearn_pairboot.plotting._room import (
    is_narrow,
    legend_on_top,
    set_note,
    set_x_label,
    set_y_label,
)

_MOST_LINES_IN_AXES = 6  # whose legend leaves room for the curves
_LEGEND_WIDTH = 4.4  # inches
BAND_ALPHA = 0.2
SHARES = (0, 0.2, 0.4, 0.6, 0.8, 1)  # ticks
LEGEND_NAME = 28  # most letters of a name on a line


def size_with_legend(width: float, height: float, n_lines: int) -> tuple[float, float]:
    """Size of a figure, with room for a long legend beside the axes."""
    return width + _LEGEND_WIDTH * (n_lines > _MOST_LINES_IN_AXES), height


def place_legend(ax: Any, place: str = "best") -> Any:
    """Put a legend inside the axes: above the curves if they are narrow; a long one beside them."""
    if len(ax.get_legend_handles_labels()[1]) <= _MOST_LINES_IN_AXES:
        if is_narrow(ax):
            legend_on_top(ax)
            return ax.get_legend()
        return ax.legend(fontsize="small", loc=place)
    return ax.legend(fontsize="small", loc="upper left", bbox_to_anchor=(1.01, 1.0))


def resampling_note(level: float, n_resamples: int, n_units: int, unit: str) -> str:
    """Say what a band is, for a title."""
    return f"Pointwise {format_percent(level)} bands, {n_resamples} resamples of {n_units} {unit}"


class ScoreCurveDisplay:
    """Curves of several models with bands; a subclass says which."""

    _columns: ClassVar[tuple[str, str]]
    _x_label: ClassVar[str]
    _y_label: ClassVar[str]
    _area_name: ClassVar[str]
    _drawstyle: ClassVar[str] = "default"
    _step: ClassVar[str | None] = None
    _legend_place: ClassVar[str] = "best"

    def __init__(self, bands: CurveBands) -> None:
        if not isinstance(bands, CurveBands):
            raise TypeError(
                f"`bands` must be CurveBands, got {type(bands).__name__}. Call "
                f"{type(self).__name__}.from_predictions(y_true, predictions)."
            )
        self.bands = bands

    @staticmethod
    def _compute(y_true: Any, predictions: Any, **keywords: Any) -> CurveBands:
        raise NotImplementedError

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        predictions: Any,
        *,
        groups: Any = None,
        sample_weight: Any = None,
        pos_label: Any = None,
        n_resamples: int = 999,
        confidence_level: float = 0.95,
        random_state: Any = None,
    ) -> Any:
        """
        Compute the curves of models from their scores.

        Parameters
        ----------
        y_true : array-like of shape (n_rows,)
            True labels of two classes.
        predictions : mapping of str to array-like of shape (n_rows,)
            Scores by name of model, high for the positive class. The first model is the baseline
            of the differences.
        groups : array-like of shape (n_rows,), default=None
            Cluster of each row. With it whole clusters are resampled; ``None`` resamples rows.
        sample_weight : array-like of shape (n_rows,), default=None
            Weight of each row.
        pos_label : label, default=None
            Positive class; ``None`` is the larger label.
        n_resamples : int, default=999
            Number of resamples.
        confidence_level : float, default=0.95
            Level of the bands at each point, and of the intervals of the areas.
        random_state : int, Generator, RandomState or None, default=None
            Seed.

        Returns
        -------
        display
            The display, not drawn yet.
        """
        bands = cls._compute(
            y_true,
            predictions,
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
        cls,
        estimators: Any,
        X: Any,
        y: Any,
        *,
        groups: Any = None,
        sample_weight: Any = None,
        pos_label: Any = None,
        n_resamples: int = 999,
        confidence_level: float = 0.95,
        random_state: Any = None,
    ) -> Any:
        """
        Compute the curves of fitted estimators on test rows.

        Parameters
        ----------
        estimators : mapping or list of (str, estimator)
            Fitted classifiers or pipelines by name. ``decision_function`` is asked, else
            ``predict_proba``.
        X : array-like of shape (n_rows, n_features)
            Test rows. They must not have been used in training.
        y : array-like of shape (n_rows,)
            Their labels, of two classes.
        groups : array-like of shape (n_rows,), default=None
            Cluster of each row. With it whole clusters are resampled; ``None`` resamples rows.
        sample_weight : array-like of shape (n_rows,), default=None
            Weight of each row.
        pos_label : label, default=None
            Positive class; ``None`` is the second class of the first estimator.
        n_resamples : int, default=999
            Number of resamples.
        confidence_level : float, default=0.95
            Level of the bands at each point, and of the intervals of the areas.
        random_state : int, Generator, RandomState or None, default=None
            Seed.

        Returns
        -------
        display
            The display, not drawn yet.
        """
        truths, scores = positive_scores(estimators, X, y, SCORES, pos_label)
        return cls.from_predictions(
            truths,
            scores,
            groups=groups,
            sample_weight=sample_weight,
            pos_label=True,
            n_resamples=n_resamples,
            confidence_level=confidence_level,
            random_state=random_state,
        )

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
            One row for each model and each point of the grid.
        """
        bands = self.bands
        n_models, n_points = bands.curve.shape
        columns = {
            self._columns[0]: np.tile(bands.grid, n_models),
            self._columns[1]: bands.curve,
            "ci_low": bands.ci_low,
            "ci_high": bands.ci_high,
            "difference": bands.difference,
            "difference_ci_low": bands.difference_low,
            "difference_ci_high": bands.difference_high,
        }
        data = {"model": [name for name in bands.models for _ in range(n_points)]}
        data |= {name: np.ravel(values).tolist() for name, values in columns.items()}
        return frame_of(data, {"model": "str"} | dict.fromkeys(columns, "float"), backend)

    def plot(self, ax: Any = None, *, difference: bool = False) -> Any:
        """
        Draw the curves, or their differences to the first model.

        Parameters
        ----------
        ax : matplotlib.axes.Axes or None, default=None
            Axes to draw on; ``None`` makes a figure.
        difference : bool, default=False
            Whether to draw each further model's curve less that of the first one, with the paired
            band. Where it excludes zero models differ at that point, had one settled it beforehand.

        Returns
        -------
        self
            The display, with its artists.
        """
        bands = self.bands
        if difference and len(bands.models) < 2:
            raise ValueError(
                "`difference` must be False for a single model, got True. There is nothing to "
                "compare it with."
            )
        self.figure_, self.ax_ = figure_and_axes(
            ax, size=size_with_legend(5.6, 5.2, len(bands.models) + 1)
        )
        self.lines_: list[Any] = []
        self.bands_: list[Any] = []
        if difference:
            self._draw_differences()
        else:
            self._draw_curves()
        set_x_label(self.ax_, self._x_label)
        self.ax_.set_xlim(-0.02, 1.02)
        note = resampling_note(bands.confidence_level, bands.n_resamples, bands.n_units, bands.unit)
        if bands.n_undefined:
            note += f"\n{bands.n_undefined} resamples that have no curve are left out"
        set_note(self.ax_, note)
        self.legend_ = place_legend(self.ax_, "best" if difference else self._legend_place)
        return self

    def _draw_curves(self) -> None:
        bands = self.bands
        self.reference_ = self._draw_reference()
        for model, (x, y) in enumerate(bands.points):
            self._draw(
                model, x, y, bands.ci_low[model], bands.ci_high[model], self._legend_text(model)
            )
        self.ax_.set_ylim(-0.02, 1.02)
        self.ax_.set_yticks(SHARES)
        set_y_label(self.ax_, self._y_label)

    def _draw_differences(self) -> None:
        bands = self.bands
        self.reference_ = self.ax_.axhline(0, color=REFERENCE_COLOR, linewidth=1)
        first = wrapped(bands.models[0], LEGEND_NAME)
        for model in range(1, len(bands.models)):
            self._draw(
                model,
                bands.grid,
                bands.difference[model],
                bands.difference_low[model],
                bands.difference_high[model],
                f"{wrapped(bands.models[model], LEGEND_NAME)} \N{MINUS SIGN} {first}",
            )
        name = self._columns[1].replace("_", " ")
        set_y_label(self.ax_, f"Difference of {name}s (shares)")

    def _draw(self, model: int, x: Any, y: Any, low: Any, high: Any, text: str) -> None:
        shown = look(model)
        self.bands_.append(
            self.ax_.fill_between(
                self.bands.grid,
                low,
                high,
                step=self._step,
                color=shown.color,
                alpha=BAND_ALPHA,
                linewidth=0,
            )
        )
        (line,) = self.ax_.plot(
            x,
            y,
            color=shown.color,
            linestyle=shown.linestyle,
            drawstyle=self._drawstyle,
            label=legend_label(text),
        )
        self.lines_.append(line)

    def _draw_reference(self) -> Any:
        raise NotImplementedError

    def _legend_text(self, model: int) -> str:
        bands = self.bands
        numbers = [bands.area.tolist(), bands.area_low.tolist(), bands.area_high.tolist()]
        widths = (bands.area_high - bands.area_low) / 4
        number = NumberFormat.from_errors(widths.tolist(), sum(numbers, []))
        area, low, high = (of_models[model] for of_models in numbers)
        text = f"{self._area_name} {number(area)} {number.interval(low, high)}"
        name = wrapped(bands.models[model], LEGEND_NAME)
        return f"{name}\n{text}" if len(name) > LEGEND_NAME else f"{name}: {text}"
