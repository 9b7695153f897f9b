"""The precision-recall curves of several models, with bands."""

from __future__ import annotations

from typing import Any, ClassVar

from sklearn_pairboot.metrics.curves import CurveBands, precision_recall_bands
from sklearn_pairboot.plotting._axes import REFERENCE_COLOR
from sklearn_pairboot.plotting._score_curves import ScoreCurveDisplay


class PrecisionRecallDisplay(ScoreCurveDisplay):
    """Precision-recall curves of several models with pointwise bootstrap bands.

    The legend gives the average precision (AP) of each model with its interval. The horizontal
    line is the share of positive rows: the precision of scores that carry no information. A band
    is *pointwise*: it is made of an interval at each recall by itself, and the curve of other rows
    leaves it somewhere more often than ``1 - confidence_level``.

    Parameters
    ----------
    bands : CurveBands
        Curves and bands, from `sklearn_pairboot.metrics.precision_recall_bands`.

    Attributes
    ----------
    ax_ : matplotlib.axes.Axes
        Axes of the plot.
    figure_ : matplotlib.figure.Figure
        Figure of the plot.
    lines_ : list of matplotlib.lines.Line2D
        Curves of the models, or their differences.
    bands_ : list of matplotlib.collections.PolyCollection
        Their bands.
    reference_ : matplotlib.lines.Line2D
        The share of positive rows, or zero difference.
    legend_ : matplotlib.legend.Legend
        The legend.

    See Also
    --------
    RocDisplay : Curves that do not depend on the share of positives.
    sklearn.metrics.PrecisionRecallDisplay : Curves without bands.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_pairboot.plotting import PrecisionRecallDisplay
    >>> rng = np.random.default_rng(0)
    >>> y_true = rng.random(400) < 0.2
    >>> models = {"old": y_true + rng.normal(size=400), "new": 2 * y_true + rng.normal(size=400)}
    >>> display = PrecisionRecallDisplay.from_predictions(y_true, models, random_state=0)
    >>> display.plot()  # doctest: +SKIP
    >>> display.bands.area.round(2)
    array([0.48, 0.81])
    """

    _columns: ClassVar[tuple[str, str]] = ("recall", "precision")
    _x_label: ClassVar[str] = "Recall (share of positives found)"
    _y_label: ClassVar[str] = "Precision (share of positives among the called)"
    _area_name: ClassVar[str] = "AP"
    _drawstyle: ClassVar[str] = "steps-pre"
    _step: ClassVar[str | None] = "pre"

    @staticmethod
    def _compute(y_true: Any, predictions: Any, **keywords: Any) -> CurveBands:
        return precision_recall_bands(y_true, predictions, **keywords)

    def _draw_reference(self) -> Any:
        # req_E07: without the share of positives an average precision cannot be judged.
        rate = self.bands.positive_rate
        return self.ax_.axhline(
            rate,
            color=REFERENCE_COLOR,
            linewidth=1,
            linestyle=":",
            label=f"no information: share of positives {rate:.3g}",
        )
