"""What an evaluation by the protocol found."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sklearn_pairboot._tables.names import visible
from sklearn_pairboot.protocol._report import document
from sklearn_pairboot.report.html import fragment, page
from sklearn_pairboot.report.latex import as_latex
from sklearn_pairboot.report.names import escaped
from sklearn_pairboot.report.text import as_markdown, as_text
from sklearn_pairboot.result import ComparisonResult

__all__ = ["CalibrationRow", "ProtocolResult", "ThresholdRow"]


@dataclass(frozen=True)
class ThresholdRow:
    """One model at one threshold on one part of the data.

    Ratios are NaN where they are 0/0, and everything is NaN where no threshold met the rule.

    Parameters
    ----------
    model : str
        Name of the model.
    threshold : float
        The threshold of its probability, or decision value, of the positive class.
    called_positive : float
        Share of the rows that reach it.
    precision : float
        Share of positives among these.
    recall : float
        Share of the positives that reach it.
    false_positive_rate : float
        Share of the negatives that reach it.
    accuracy : float
        Share of rows labelled right.
    cost : float
        Mean cost of a row; NaN without costs.

    Examples
    --------
    >>> from sklearn_pairboot.protocol import ThresholdRow
    >>> ThresholdRow("tree", 0.5, 0.25, 1.0, 0.5, 0.0, 0.75, 0.25).recall
    0.5
    """

    model: str
    threshold: float
    called_positive: float
    precision: float
    recall: float
    false_positive_rate: float
    accuracy: float
    cost: float


@dataclass(frozen=True)
class CalibrationRow:
    """Whether the probabilities of one model mean what they say on the test rows.

    Parameters
    ----------
    model : str
        Name of the model.
    mean_probability : float
        Mean probability of the positive class.
    observed_rate : float
        Share of positives.
    slope : float
        Slope of a logistic recalibration: 1 is right, below 1 probabilities are too extreme. NaN
        where there is none, as with probabilities of exactly 0 or 1.
    intercept : float
        Its intercept.
    p_in_the_large : float
        Two-sided p-value of the mean against the rate; NaN with groups, whose rows are not
        independent.
    p_spiegelhalter : float
        Two-sided p-value of Spiegelhalter's test; NaN with groups.

    Examples
    --------
    >>> from sklearn_pairboot.protocol import CalibrationRow
    >>> CalibrationRow("tree", 0.3, 0.25, 0.8, -0.2, 0.04, 0.03).is_refuted(0.05)
    False
    """

    model: str
    mean_probability: float
    observed_rate: float
    slope: float
    intercept: float
    p_in_the_large: float
    p_spiegelhalter: float

    def is_refuted(self, level: float) -> bool:
        """
        Tell whether the test rows contradict calibration, by the smaller p-value times two.

        Parameters
        ----------
        level : float
            Level of the test.

        Returns
        -------
        bool
            False where the tests do not see a fault, which proves nothing.
        """
        found = [p for p in (self.p_in_the_large, self.p_spiegelhalter) if not math.isnan(p)]
        return bool(found) and 2 * min(found) <= level


@dataclass(frozen=True, eq=False)
class ProtocolResult:
    """Outcome of `evaluate_protocol`.

    Parameters
    ----------
    result : ComparisonResult
        The comparison on the test rows, every model at its own threshold.
    models : mapping of str to classifier
        The models as they were tested: fitted, calibrated, with their thresholds.
    thresholds : mapping of str to float
        Threshold of each model.
    validation : sequence of ThresholdRow
        The models at their thresholds on the validation rows, which chose them: too good.
    test : sequence of ThresholdRow
        The same on the test rows.
    peek : sequence of ThresholdRow
        The models on the test rows, at the thresholds that the rule would have chosen there. No
        result, but a bound of what a better threshold could bring; empty for a fixed threshold.
    calibration : sequence of CalibrationRow
        Checks of the probabilities on the test rows, of the models that have any.
    positive_rate : float
        Share of positives among the test rows.
    rule : str
        How thresholds were chosen, in words; empty for fixed ones.
    notes : sequence of str
        What a reader must know.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn_pairboot.protocol import evaluate_protocol
    >>> X, y = make_classification(n_samples=600, random_state=0)
    >>> parts = X[:200], y[:200], X[200:400], y[200:400], X[400:], y[400:]
    >>> found = evaluate_protocol(
    ...     {"logistic": LogisticRegression()}, *parts, min_recall=0.9, random_state=0
    ... )
    >>> found.validation[0].recall >= 0.9
    True
    """

    result: ComparisonResult
    models: Mapping[str, Any]
    thresholds: Mapping[str, float]
    validation: Sequence[ThresholdRow]
    test: Sequence[ThresholdRow]
    peek: Sequence[ThresholdRow]
    calibration: Sequence[CalibrationRow]
    positive_rate: float
    rule: str
    notes: Sequence[str] = field(default=())

    def __str__(self) -> str:
        return self.summary()

    def summary(self) -> str:
        """
        Write the thresholds, the checks and the comparison as plain text.

        Returns
        -------
        str
            The summary of ``result`` with the thresholds and the checks of the probabilities.
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

    def to_latex(self, label: str = "protocol") -> str:
        """
        Write the tables and the method paragraph as LaTeX.

        Parameters
        ----------
        label : str, default="protocol"
            The tables have the labels ``tab:<label>-1``, ``tab:<label>-2`` and so on.

        Returns
        -------
        str
            Tables in the style of the package booktabs, and a paragraph "Methods".
        """
        return as_latex(document(self, visible), label)
