"""How often each model has each rank."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sklearn_pairboot._tables.frames import frame_of
from sklearn_pairboot.plotting._axes import figure_and_axes
from sklearn_pairboot.plotting._names import shortened, size_of, wrapped
from sklearn_pairboot.plotting._results import chosen, direction, drawn_by
from sklearn_pairboot.plotting._room import set_x_label


class RankDisplay:
    """Share of the resamples in which each model has each rank, as cells.

    Darker cells are larger shares, which are also written into them. They say how steady the order
    of these models is, not how probable it is that one is the best.

    Parameters
    ----------
    shares : array-like of shape (n_models, n_models)
        Share of the resamples in which a model (row) has a rank (column), the best first.
    models : sequence of str
        Names of the models.
    metric : str
        Name of the metric.
    greater_is_better : bool, default=True
        Direction of the metric.
    drawn : str, default="resamples"
        What the replicates are called; those of a Bayesian bootstrap are posterior draws.

    Attributes
    ----------
    ax_ : matplotlib.axes.Axes
        Axes of the plot.
    figure_ : matplotlib.figure.Figure
        Figure of the plot.
    image_ : matplotlib.image.AxesImage
        The cells, models with the best mean rank at the top.
    texts_ : list of matplotlib.text.Text
        The shares written in cells, row by row.

    Examples
    --------
    >>> from sklearn_pairboot.plotting import RankDisplay
    >>> display = RankDisplay([[0.25, 0.75], [0.75, 0.25]], ["old", "new"], metric="accuracy")
    >>> display.models, display.mean_ranks.tolist()
    (('new', 'old'), [1.25, 1.75])
    """

    def __init__(
        self,
        shares: Any,
        models: Sequence[str],
        *,
        metric: str,
        greater_is_better: bool = True,
        drawn: str = "resamples",
    ) -> None:
        shares = np.asarray(shares, dtype=np.float64)
        if shares.ndim != 2 or shares.shape[0] != len(models):
            raise ValueError(
                f"`shares` must have a row for each of the {len(models)} models, got shape "
                f"{shares.shape}."
            )
        means = shares @ np.arange(1, shares.shape[1] + 1)
        order = np.argsort(means, kind="stable")
        self.shares = shares[order]
        self.mean_ranks = means[order]
        self.models = tuple(models[place] for place in order)
        self.metric = metric
        self.greater_is_better = greater_is_better
        self.drawn = drawn

    @classmethod
    def from_result(cls, result: Any, *, metric: str | None = None) -> RankDisplay:
        """
        Rank the models in every resample of a result.

        Parameters
        ----------
        result : ComparisonResult
            A comparison of several models with its replicates.
        metric : str or None, default=None
            Name of the metric; ``None`` where there is only one.

        Returns
        -------
        RankDisplay
            The display, not yet drawn.
        """
        name = chosen("metric", metric, result.metrics)
        ranks = result.rank_distribution()
        (info,) = (info for info in ranks.metrics if info.name == name)
        return cls(
            ranks.shares[name],
            result.models,
            metric=name,
            greater_is_better=info.greater_is_better,
            drawn=drawn_by(result),
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
            ``model``, ``mean_rank``, then the shares as ``rank_1``, ``rank_2`` and so on.
        """
        ranks = {f"rank_{rank + 1}": column.tolist() for rank, column in enumerate(self.shares.T)}
        data = {"model": list(self.models), "mean_rank": self.mean_ranks.tolist(), **ranks}
        types = {"model": "str", "mean_rank": "float", **dict.fromkeys(ranks, "float")}
        return frame_of(data, types, backend)

    def plot(self, ax: Any = None) -> RankDisplay:
        """
        Draw the cells.

        Parameters
        ----------
        ax : matplotlib.axes.Axes or None, default=None
            Axes to draw on; ``None`` makes a figure.

        Returns
        -------
        RankDisplay
            The display itself, with its artists.
        """
        names = [wrapped(model) for model in self.models]
        longest, n_lines = size_of(names)
        n_models, n_ranks = self.shares.shape
        size = (
            max(5.6, 1.2 + 0.085 * longest + 0.42 * n_ranks),
            max(2.4, 1.0 + max(0.34, 0.19 * n_lines + 0.05) * n_models),
        )
        self.figure_, self.ax_ = figure_and_axes(ax, size=size)
        self.image_ = self.ax_.imshow(
            self.shares, cmap="Blues", vmin=0, vmax=1, aspect="auto", interpolation="nearest"
        )
        self.texts_ = [
            self.ax_.text(
                rank,
                place,
                _percent(share),
                ha="center",
                va="center",
                fontsize="small",
                color="white" if share > 0.65 else "black",
            )
            for place, of_model in enumerate(self.shares.tolist())
            for rank, share in enumerate(of_model)
        ]
        self.ax_.set_xticks(range(n_ranks), [str(rank + 1) for rank in range(n_ranks)])
        labels = [
            f"{name}  ({mean:.1f})" for name, mean in zip(names, self.mean_ranks, strict=True)
        ]
        self.ax_.set_yticks(range(n_models), labels)
        self.ax_.set_ylabel("model (mean rank)")
        way = direction(self.greater_is_better)
        text = f"rank by {shortened(self.metric)}, 1 is the best; {way} "
        set_x_label(self.ax_, f"{text}(per cent of the {self.drawn}, ties shared)")
        return self


def _percent(share: float) -> str:
    """Write whole per cents, and nothing where a rank never occurs."""
    if share == 0:
        return ""
    return "<1" if share < 0.005 else f"{100 * share:.0f}"
