"""How a result is shown: as text, markdown, LaTeX, HTML, data frames and pictures."""

from __future__ import annotations

import dataclasses
from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

from sklearn_pairboot._engine.distribution import BootstrapDistribution
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
from sklearn_pairboot._tables.names import visible
from sklearn_pairboot.plotting import (
    ConvergenceDisplay,
    DifferenceDisplay,
    ForestDisplay,
    RankDisplay,
)
from sklearn_pairboot.report.document import Document, comparison_document
from sklearn_pairboot.report.facts import Described, Facts
from sklearn_pairboot.report.figures import Figure, figures
from sklearn_pairboot.report.html import fragment, page
from sklearn_pairboot.report.latex import as_latex
from sklearn_pairboot.report.names import escaped
from sklearn_pairboot.report.text import as_markdown, as_text

_DISPLAYS: dict[str, Any] = {
    "forest": ForestDisplay,
    "difference": DifferenceDisplay,
    "ranks": RankDisplay,
    "convergence": ConvergenceDisplay,
}


class Shown(Described):
    """A result that can be shown in several ways."""

    _tables: Tables
    _distribution: BootstrapDistribution | None

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

    @property
    @abstractmethod
    def versions(self) -> dict[str, str]:
        """Versions of the software."""

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
        return as_text(self._document(visible))

    def to_markdown(self) -> str:
        """
        Write the result as GitHub-flavoured markdown.

        Returns
        -------
        str
            The contents of `summary` with headings, lists and tables, and the paragraph of
            `method_paragraph`.
        """
        return as_markdown(self._document(escaped))

    def to_html(self) -> str:
        """
        Write the result as a web page that needs nothing else.

        Returns
        -------
        str
            An HTML document with the contents of `to_markdown`, a guide to reading them, and
            figures where matplotlib is installed: a forest plot of up to 60 differences and
            histograms of the first four, with their numbers. It loads nothing from elsewhere,
            follows a reader's choice of light or dark, and shows names as text whatever they hold.

        Examples
        --------
        >>> from pathlib import Path
        >>> from tempfile import TemporaryDirectory
        >>> from sklearn_pairboot import compare_scores
        >>> result = compare_scores({"old": [0, 1, 0], "new": [1, 1, 0]}, n_resamples="exact")
        >>> with TemporaryDirectory() as folder:
        ...     path = Path(folder, "report.html")
        ...     _ = path.write_text(result.to_html(), encoding="utf-8")
        ...     path.read_text(encoding="utf-8")[:15]
        '<!DOCTYPE html>'
        """
        return page(self._document(visible), *self._figures())

    def _repr_html_(self) -> str:
        """Show the result in a notebook."""
        return fragment(self._document(visible))

    def to_latex(self, label: str = "comparison") -> str:
        r"""
        Write the tables and the method paragraph as LaTeX.

        Parameters
        ----------
        label : str, default="comparison"
            The tables have the labels ``tab:<label>-1``, ``tab:<label>-2`` and so on. Letters,
            digits and the characters ``:._-`` only.

        Returns
        -------
        str
            A ``table`` with caption for each table of `summary`, in the style of the package
            booktabs, which the document has to load, and a paragraph "Methods".

        Examples
        --------
        >>> from sklearn_pairboot import compare_scores
        >>> result = compare_scores({"old": [0, 1, 0], "new": [1, 1, 0]}, n_resamples="exact")
        >>> print(*result.to_latex("items").splitlines()[2:7], sep="\n")
        \begin{table}
        \centering
        \caption{Paired bootstrap of 2 models on 3 test rows. Differences: new $-$ old, ...}
        \label{tab:items-1}
        \begin{tabular}{lrrrrl}
        """
        return as_latex(self._document(visible), label)

    def method_paragraph(self) -> str:
        """
        Describe in sentences for a paper how the numbers were found.

        Returns
        -------
        str
            Data and resampling unit with its count, resamples, intervals and their level,
            p-values and their correction, what was held fixed, versions and seed. Sentences that
            do not fit the paper are best left out; none has to be added.

        Examples
        --------
        >>> from sklearn_pairboot import compare_scores
        >>> result = compare_scores({"old": [0, 1, 0], "new": [1, 1, 0]}, n_resamples="exact")
        >>> result.method_paragraph().partition(". ")[0]
        'The 2 models old, new were evaluated on 3 test rows, shared by all, by mean_score (higher
        is better)'
        """
        return self._document(visible).methods

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

    def _figures(self) -> tuple[list[Figure], str]:
        """Draw what a page shows, and say what it does not show."""
        return figures(self, self._tables, self._distribution)

    def _document(self, name: Callable[[str], str]) -> Document:
        """Put the report together, with names as a format writes them."""
        facts = self._all_facts()
        return comparison_document(facts, self.scores, self.differences, self.versions, name)

    def _all_facts(self) -> Facts:
        """Facts with the Monte Carlo errors, which take time and are found when needed."""
        return dataclasses.replace(self._facts, monte_carlo=self.monte_carlo)
