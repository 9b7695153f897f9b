"""How a result is shown: as text, as markdown, as data frames."""

from __future__ import annotations

import dataclasses
from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

from sklearn_pairboot._tables import (
    DifferenceRow,
    MonteCarloRow,
    Row,
    ScoreRow,
    SliceRow,
    Tables,
    check_choice,
)
from sklearn_pairboot._tables.frames import frame
from sklearn_pairboot.plotting import (
    ConvergenceDisplay,
    DifferenceDisplay,
    ForestDisplay,
    RankDisplay,
)
from sklearn_pairboot.report.facts import Described, Facts
from sklearn_pairboot.report.text import markdown, summary

_DISPLAYS: dict[str, Any] = {
    "forest": ForestDisplay,
    "difference": DifferenceDisplay,
    "ranks": RankDisplay,
    "convergence": ConvergenceDisplay,
}


class Shown(Described):
    """A result that can be shown in several ways."""

    _tables: Tables

    @property
    def scores(self) -> tuple[ScoreRow, ...]:
        """Table of scores: one row for each metric and model, intervals two-sided."""
        return self._tables.scores

    @property
    def differences(self) -> tuple[DifferenceRow, ...]:
        """Table of differences: one row for each metric and comparison of two models.

        With a margin rows have further columns, from ``margin`` on.
        """
        return self._tables.differences

    @property
    @abstractmethod
    def monte_carlo(self) -> tuple[MonteCarloRow, ...]:
        """Monte Carlo standard errors."""

    def __str__(self) -> str:
        return self.summary()

    def summary(self) -> str:
        """
        Write the result as plain text.

        Returns
        -------
        str
            A sentence for each comparison, both tables, how they were computed, and the notes;
            at most 88 characters wide unless names are long or tables have many columns.
        """
        return summary(self._all_facts(), self.scores, self.differences)

    def to_markdown(self) -> str:
        """
        Write the result as GitHub-flavoured markdown.

        Returns
        -------
        str
            The contents of `summary` with headings, lists and tables.
        """
        return markdown(self._all_facts(), self.scores, self.differences)

    def to_frame(self, which: str = "differences", backend: Any = None) -> Any:
        """
        Return one of the tables as a dataframe.

        Parameters
        ----------
        which : {"differences", "scores", "slices"}, default="differences"
            The table.
        backend : {"pandas", "polars", "pyarrow"}, module or None, default=None
            Kind of dataframe, or anything that ``narwhals.from_dict`` takes. ``None`` means the
            first of the three that is installed.

        Returns
        -------
        dataframe
            One row for each row of the table, columns in the table's order.
        """
        tables: dict[str, tuple[type[Row], Sequence[Row]]] = {
            "differences": (self._facts.settings.row_type, self.differences),
            "scores": (ScoreRow, self.scores),
            "slices": (SliceRow, self.slices),
        }
        if which not in list(tables):
            raise ValueError(f"`which` must be one of {list(tables)}, got {which!r}.")
        return frame(*tables[which], backend)

    def plot(self, kind: str = "forest", ax: Any = None, **options: Any) -> Any:
        """
        Draw the result.

        Parameters
        ----------
        kind : {"forest", "difference", "ranks", "convergence"}, default="forest"
            Estimates with their intervals and verdicts; the histogram of one difference or score
            over the resamples; how often each model has each rank; how the interval ends settle
            as more resamples are drawn. All but the first need the replicates.
        ax : matplotlib.axes.Axes or None, default=None
            Axes to draw on; ``None`` makes a figure. A forest of several metrics takes a sequence.
        **options : dict
            What ``from_result`` of the display takes: ``metric``, and but for ranks ``which``
            (the table); for a difference and convergence also ``model`` and ``baseline``.

        Returns
        -------
        display
            A `ForestDisplay`, `DifferenceDisplay`, `RankDisplay` or `ConvergenceDisplay` of
            `sklearn_pairboot.plotting`, with its axes in ``ax_`` and its numbers in ``frame()``.
        """
        check_choice("kind", kind, list(_DISPLAYS))
        return _DISPLAYS[kind].from_result(self, **options).plot(ax)

    def _all_facts(self) -> Facts:
        """Facts with the Monte Carlo errors, which take time and are found when needed."""
        return dataclasses.replace(self._facts, monte_carlo=self.monte_carlo)
