"""The ROC curves of several models, with bands."""

from __future__ import annotations

from typing import Any, ClassVar

from sklearn_pairboot.metrics.curves import CurveBands, roc_bands
from sklearn_pairboot.plotting._axes import REFERENCE_COLOR
from sklearn_pairboot.plotting._score_curves import ScoreCurveDisplay


class RocDisplay(ScoreCurveDisplay):
    """ROC curves of several models with pointwise bootstrap bands.

    The legend gives the area under each curve with its interval, and the diagonal is chance. A
    band is *pointwise*: it is made of an interval at each rate of false positives by itself, and
    the curve of other rows leaves it somewhere more often than ``1 - confidence_level``. That
    bands overlap does not say that models are equal: look at the paired difference.

    Parameters
    ----------
    bands : CurveBands
        Curves and bands, from `sklearn_pairboot.metrics.roc_bands`.

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
        The diagonal of chance, or zero difference.
    legend_ : matplotlib.legend.Legend
        The legend.

    See Also
    --------
    PrecisionRecallDisplay : More telling where positives are rare.
    sklearn.metrics.RocCurveDisplay : Curves without bands.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_pairboot.plotting import RocDisplay
    >>> rng = np.random.default_rng(0)
    >>> y_true = rng.integers(2, size=200)
    >>> models = {"old": y_true + rng.normal(size=200), "new": 2 * y_true + rng.normal(size=200)}
    >>> display = RocDisplay.from_predictions(y_true, models, random_state=0)
    >>> display.plot()  # doctest: +SKIP
    >>> display.bands.area.round(2)
    array([0.76, 0.92])
    """

    _columns: ClassVar[tuple[str, str]] = ("false_positive_rate", "true_positive_rate")
    _x_label: ClassVar[str] = "False positive rate (share of negatives called positive)"
    _y_label: ClassVar[str] = "True positive rate (share of positives found)"
    _area_name: ClassVar[str] = "AUC"
    _legend_place: ClassVar[str] = "lower right"

    @staticmethod
    def _compute(y_true: Any, predictions: Any, **keywords: Any) -> CurveBands:
        return roc_bands(y_true, predictions, **keywords)

    def _draw_reference(self) -> Any:
        self.ax_.set_aspect("equal")
        (line,) = self.ax_.plot(
            [0, 1], [0, 1], color=REFERENCE_COLOR, linewidth=1, linestyle=":", label="chance"
        )
        return line
