"""What a model selection report holds, and how it is shown."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

from sklearn_pairboot._tables.names import visible
from sklearn_pairboot.comparison._selection_text import document
from sklearn_pairboot.comparison._splits import Rows
from sklearn_pairboot.comparison.selection_bias import CorrectedSelection
from sklearn_pairboot.report import storage
from sklearn_pairboot.report.html import fragment, page
from sklearn_pairboot.report.latex import as_latex
from sklearn_pairboot.report.names import escaped
from sklearn_pairboot.report.text import as_markdown, as_text
from sklearn_pairboot.result import ComparisonResult


@dataclass(frozen=True, eq=False)
class SelectionReport:
    """What `selection_report` found.

    Parameters
    ----------
    result : ComparisonResult
        Comparison of the candidates, as `compare_cross_validate` gives it with
        ``aggregate="pooled"``.
    selection : CorrectedSelection
        The best candidate and its score without the optimism of having been chosen, as
        `bias_corrected_selection` gives it.
    splits : tuple of (train, test)
        Row numbers of every split that all candidates share.
    method_comparison : MethodComparison or None
        The one that was given: where the variance comes from.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.dummy import DummyClassifier
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn_pairboot import selection_report
    >>> X, y = load_iris(return_X_y=True)
    >>> candidates = {"guess": DummyClassifier(), "logistic": LogisticRegression(max_iter=1000)}
    >>> report = selection_report(candidates, X, y, scoring="accuracy", random_state=0)
    >>> report.selection.selected, len(report.splits), report.result.n_units
    ('logistic', 5, 150)
    """

    result: ComparisonResult
    selection: CorrectedSelection
    splits: tuple[tuple[Rows, Rows], ...]
    method_comparison: Any = None

    def __str__(self) -> str:
        return self.summary()

    def summary(self) -> str:
        """
        Write the report as plain text.

        Returns
        -------
        str
            The selected candidate with its naive and its corrected score, tables of the
            candidates and of their differences, variance shares if there are any, sentences to
            report them with, and how all of it was computed.
        """
        return as_text(document(self, visible))

    def to_markdown(self) -> str:
        """
        Write the report as GitHub-flavoured markdown.

        Returns
        -------
        str
            The contents of `summary` with headings, lists and tables, and a method paragraph.
        """
        return as_markdown(document(self, escaped))

    def to_html(self) -> str:
        """
        Write the report as a web page that needs nothing else.

        Returns
        -------
        str
            An HTML document with the contents of `to_markdown`, and the figures of the
            comparison where matplotlib is installed.
        """
        return page(document(self, visible), *self.result._figures())

    def _repr_html_(self) -> str:
        """Show the report in a notebook."""
        return fragment(document(self, visible))

    def to_latex(self, label: str = "selection") -> str:
        """
        Write the tables and the method paragraph as LaTeX.

        Parameters
        ----------
        label : str, default="selection"
            The tables have the labels ``tab:<label>-1``, ``tab:<label>-2`` and so on.

        Returns
        -------
        str
            Tables in the style of the package booktabs, and a paragraph "Methods".
        """
        return as_latex(document(self, visible), label)

    def method_paragraph(self) -> str:
        """
        Describe in sentences for a paper how the numbers were found.

        Returns
        -------
        str
            That of the comparison, and how the score of the best candidate was corrected.
        """
        return document(self, visible).methods

    def to_dict(self) -> dict[str, Any]:
        """
        Return the report as nested dictionaries, lists and plain Python values.

        Returns
        -------
        dict
            ``selection``, ``result``, ``splits`` and ``method_comparison``. Undefined numbers are
            NaN.
        """
        methods = self.method_comparison
        return {
            "selection": dataclasses.asdict(self.selection),
            "result": self.result.to_dict(),
            "splits": [
                {"train": train.tolist(), "test": test.tolist()} for train, test in self.splits
            ],
            "method_comparison": None if methods is None else methods.to_dict(),
        }

    def to_json(self) -> str:
        """
        Write the report as JSON.

        Returns
        -------
        str
            What `to_dict` gives; undefined numbers are ``null``. ``result`` holds what
            `ComparisonResult.from_json` reads.
        """
        return storage.to_json(self.to_dict())
