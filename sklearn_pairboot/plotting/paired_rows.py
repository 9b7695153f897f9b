"""Where two models disagree, row by row."""

from __future__ import annotations

from typing import Any

import numpy as np

from sklearn_pairboot._scoring.checks import check_finite, check_length, check_target, plain, shown
from sklearn_pairboot._tables.frames import frame_of
from sklearn_pairboot.inference._checks import named_columns
from sklearn_pairboot.plotting._axes import REFERENCE_COLOR, figure_and_axes, look
from sklearn_pairboot.plotting._names import wrapped
from sklearn_pairboot.plotting._results import title
from sklearn_pairboot.plotting._room import legend_on_top, set_y_label

_MOST_POINTS = 2000  # of a drawn curve; more are not to be seen


class PairedRowsDisplay:
    """Differences of two models on single rows, or for right and wrong a table of four counts.

    Only rows on which the models differ tell them apart. Few such rows, or differences that go
    both ways, are why a large test set may show nothing.

    Parameters
    ----------
    baseline_scores : array-like of shape (n_rows,)
        Scores of single rows, or whether the answer is right, of the baseline.
    model_scores : array-like of shape (n_rows,)
        The same of the other model.
    baseline : str
        Name of the baseline.
    model : str
        Name of the other model.
    metric : str, default="score"
        What the scores are.
    greater_is_better : bool, default=True
        Direction of the scores.

    Attributes
    ----------
    ax_ : matplotlib.axes.Axes
        Axes of the plot.
    figure_ : matplotlib.figure.Figure
        Figure of the plot.
    line_ : matplotlib.lines.Line2D or None
        Sorted differences; ``None`` for right and wrong.
    areas_ : list of matplotlib.collections.PolyCollection
        Areas between them and zero where the baseline and where the model is better.
    image_ : matplotlib.image.AxesImage or None
        The four cells; ``None`` for scores.
    texts_ : list of matplotlib.text.Text
        Their counts.

    Examples
    --------
    >>> from sklearn_pairboot.plotting import PairedRowsDisplay
    >>> display = PairedRowsDisplay.from_scores({"old": [1, 0, 0, 1], "new": [1, 1, 1, 0]})
    >>> display.n_better, display.n_equal, display.n_worse
    (2, 1, 1)
    >>> display.counts.tolist()
    [[1, 1], [2, 0]]
    """

    def __init__(
        self,
        baseline_scores: Any,
        model_scores: Any,
        *,
        baseline: str,
        model: str,
        metric: str = "score",
        greater_is_better: bool = True,
    ) -> None:
        columns = []
        for name, values in (("baseline_scores", baseline_scores), ("model_scores", model_scores)):
            array = plain(values)
            if array.ndim != 1 or len(array) == 0 or array.dtype.kind not in "biuf":
                raise ValueError(
                    f"`{name}` must hold a number for each row, at least 1, got {array.dtype} of "
                    f"shape {array.shape}."
                )
            check_finite(array, f"`{name}`")
            columns.append(array.astype(np.float64))
        check_length(columns[1], len(columns[0]), "`model_scores`")
        self.baseline_scores, self.model_scores = columns
        self.baseline = baseline
        self.model = model
        self.metric = metric
        self.greater_is_better = greater_is_better

    @classmethod
    def from_scores(
        cls,
        scores: Any,
        *,
        baseline: str | None = None,
        model: str | None = None,
        metric: str = "score",
        greater_is_better: bool = True,
    ) -> PairedRowsDisplay:
        """
        Take the scores that single rows have under each model.

        Parameters
        ----------
        scores : mapping of str to array-like of shape (n_rows,), or dataframe
            Scores of single rows by model; 0 and 1 count as wrong and right.
        baseline : str or None, default=None
            Name of the baseline; ``None`` is the first model.
        model : str or None, default=None
            Name of the other model; ``None`` is the first that is not the baseline.
        metric : str, default="score"
            What the scores are.
        greater_is_better : bool, default=True
            Direction of the scores.

        Returns
        -------
        PairedRowsDisplay
            The display, not yet drawn.
        """
        columns = named_columns(scores, "scores")
        baseline, model = _two_of(list(columns), baseline, model)
        return cls(
            columns[baseline],
            columns[model],
            baseline=baseline,
            model=model,
            metric=metric,
            greater_is_better=greater_is_better,
        )

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        predictions: Any,
        *,
        baseline: str | None = None,
        model: str | None = None,
    ) -> PairedRowsDisplay:
        """
        Compare predicted labels with the true ones.

        Parameters
        ----------
        y_true : array-like of shape (n_rows,)
            True labels.
        predictions : mapping of str to array-like of shape (n_rows,), or dataframe
            Predicted labels by model.
        baseline : str or None, default=None
            Name of the baseline; ``None`` is the first model.
        model : str or None, default=None
            Name of the other model; ``None`` is the first that is not the baseline.

        Returns
        -------
        PairedRowsDisplay
            The display, not yet drawn.
        """
        truths = check_target(y_true)
        columns = named_columns(predictions, "predictions")
        baseline, model = _two_of(list(columns), baseline, model)
        right = {}
        for name in (baseline, model):
            check_length(columns[name], len(truths), f"`predictions[{name!r}]`")
            if columns[name].shape != truths.shape or truths.ndim != 1:
                raise ValueError(
                    "`y_true` and `predictions` must hold one label for each row, got shapes "
                    f"{truths.shape} and {columns[name].shape}. Pass scores of rows to "
                    "`from_scores`."
                )
            if not set(columns[name].tolist()) & set(truths.tolist()):
                raise ValueError(
                    f"`predictions[{name!r}]` must hold labels that occur in `y_true`, got "
                    f"{shown(np.unique(columns[name]).tolist())}, and the true ones are "
                    f"{shown(np.unique(truths).tolist())}."
                )
            # As objects: NumPy 1.24 compares no text with numbers.
            right[name] = columns[name].astype(object) == truths.astype(object)
        return cls.from_scores(right, baseline=baseline, model=model, metric="correctness")

    @property
    def differences(self) -> Any:
        """Model minus baseline for each row, in order of the rows."""
        return self.model_scores - self.baseline_scores

    @property
    def n_better(self) -> int:
        """Number of rows on which the model is better."""
        return int(np.count_nonzero(self._gains > 0))

    @property
    def n_worse(self) -> int:
        """Number of rows on which the model is worse."""
        return int(np.count_nonzero(self._gains < 0))

    @property
    def n_equal(self) -> int:
        """Number of rows on which the models do not differ."""
        return len(self.model_scores) - self.n_better - self.n_worse

    @property
    def is_correctness(self) -> bool:
        """Whether all scores are 0 or 1, so that four counts tell everything."""
        both = np.concatenate([self.baseline_scores, self.model_scores])
        return bool(np.all((both == 0) | (both == 1)))

    @property
    def counts(self) -> Any:
        """Rows by right or wrong of the baseline (first index) and of the model, right first."""
        old, new = self.baseline_scores, self.model_scores
        return np.array(
            [[np.count_nonzero((old == a) & (new == b)) for b in (1, 0)] for a in (1, 0)]
        )

    @property
    def _gains(self) -> Any:
        return self.differences if self.greater_is_better else -self.differences

    def frame(self, backend: Any = None) -> Any:
        """
        Return the rows as a dataframe.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, module or None, default=None
            Kind of dataframe. ``None`` means the first of the three that is installed.

        Returns
        -------
        dataframe
            ``row`` (its number), ``baseline_score``, ``model_score`` and ``difference``.
        """
        data = {
            "row": list(range(len(self.model_scores))),
            "baseline_score": self.baseline_scores.tolist(),
            "model_score": self.model_scores.tolist(),
            "difference": self.differences.tolist(),
        }
        return frame_of(data, dict.fromkeys(data, "float") | {"row": "int"}, backend)

    def plot(self, ax: Any = None) -> PairedRowsDisplay:
        """
        Draw the sorted differences, or the four counts.

        Parameters
        ----------
        ax : matplotlib.axes.Axes or None, default=None
            Axes to draw on; ``None`` makes a figure.

        Returns
        -------
        PairedRowsDisplay
            The display itself, with its artists.
        """
        self.figure_, self.ax_ = figure_and_axes(ax)
        self.line_: Any = None
        self.image_: Any = None
        self.areas_: list[Any] = []
        self.texts_: list[Any] = []
        if self.is_correctness:
            self._draw_counts()
        else:
            self._draw_differences()
        return self

    def _share(self, count: int) -> str:
        n_rows = len(self.model_scores)
        return f"{count} of {n_rows} rows ({count / n_rows:.1%})"

    def _draw_counts(self) -> None:
        n_rows = len(self.model_scores)
        self.image_ = self.ax_.imshow(
            self.counts / n_rows, cmap="Blues", vmin=0, vmax=1, aspect="auto"
        )
        for (old, new), count in np.ndenumerate(self.counts):
            share = count / n_rows
            note = {(1, 0): "\nonly model", (0, 1): "\nonly baseline"}.get((old, new), "")
            self.texts_.append(
                self.ax_.text(
                    new,
                    old,
                    f"{count}\n{share:.1%}{note}",
                    ha="center",
                    va="center",
                    color="white" if share > 0.65 else "black",
                    weight="bold" if note else "normal",
                )
            )
        self.ax_.set_xticks([0, 1], ["right", "wrong"])
        self.ax_.set_yticks([0, 1], ["right", "wrong"])
        disagree = f"they disagree on {self._share(self.n_better + self.n_worse)}"
        self.ax_.set_xlabel(f"model: {wrapped(self.model, 60)}\n{disagree}")
        self.ax_.set_ylabel(f"baseline: {wrapped(self.baseline)}")

    def _draw_differences(self) -> None:
        ordered = np.sort(self.differences)
        places = np.arange(1, len(ordered) + 1)
        kept = np.unique(np.linspace(0, len(ordered) - 1, _MOST_POINTS).round().astype(np.int64))
        (self.line_,) = self.ax_.plot(
            places[kept], ordered[kept], drawstyle="steps-mid", color=REFERENCE_COLOR, linewidth=1
        )
        gains = ordered if self.greater_is_better else -ordered
        better = f"model better: {self._share(self.n_better)}"
        worse = f"baseline better: {self._share(self.n_worse)}"
        for position, text, where in ((1, worse, gains < 0), (0, better, gains > 0)):
            area = self.ax_.fill_between(
                places[kept],
                0,
                np.where(where, ordered, 0.0)[kept],
                step="mid",
                facecolor=look(position).color,
                alpha=0.6,
                hatch="///" if position else None,
                edgecolor=REFERENCE_COLOR,
                linewidth=0,
                label=text,
            )
            self.areas_.append(area)
        self.ax_.axhline(
            0.0, color=REFERENCE_COLOR, linewidth=1, label=f"equal: {self._share(self.n_equal)}"
        )
        self.ax_.set_xlabel("rows, sorted by difference")
        text = title(self.metric, self.model, self.baseline, self.greater_is_better)
        set_y_label(self.ax_, text)
        legend_on_top(self.ax_)


def _two_of(names: list[str], baseline: str | None, model: str | None) -> tuple[str, str]:
    """Choose two models: the first ones unless they are named."""
    for name, value in (("baseline", baseline), ("model", model)):
        if value is not None and value not in names:
            listed = ", ".join(map(repr, names))
            raise ValueError(f"`{name}` must be one of {listed}, got {value!r}.")
    if baseline is not None and baseline == model:
        raise ValueError(f"`model` must be another than the baseline, got {model!r} for both.")
    first = baseline or next(name for name in names if name != model)
    return first, model or next(name for name in names if name != first)
