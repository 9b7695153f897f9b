"""The model confidence set of a result: the models that cannot be told from the best."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sklearn_pairboot._engine.confidence_set import confidence_set
from sklearn_pairboot._engine.distribution import BootstrapDistribution
from sklearn_pairboot._engine.intervals import alpha_of, check_alpha
from sklearn_pairboot._scoring.checks import check_confidence_level
from sklearn_pairboot._tables import MetricInfo, Row, format_count
from sklearn_pairboot._tables.frames import frame
from sklearn_pairboot._tables.names import visible
from sklearn_pairboot._tables.numbers import NumberFormat, format_p, format_percent
from sklearn_pairboot.report.cells import Cells, markdown_table, text_table
from sklearn_pairboot.report.names import escaped


@dataclass(frozen=True, slots=True, eq=False)
class ConfidenceSetRow(Row):
    """One model: its p-value, whether it is in the set, and when it would be eliminated."""

    metric: str
    model: str
    estimate: float
    p_value: float
    included: bool
    elimination: int


@dataclass(frozen=True)
class ModelConfidenceSet:
    """The models that these data cannot tell from the best one.

    `ComparisonResult.model_confidence_set` makes it. Over repeated samples such a set contains
    the best model with a probability of at least ``confidence_level``, asymptotically. That is no
    probability of any single model: a model outside is shown to be worse than some other, one
    inside may be there for want of data.

    Parameters
    ----------
    rows : tuple of ConfidenceSetRow
        ``metric``, ``model``, ``estimate``, ``p_value``, ``included`` and ``elimination``, the
        step at which a model would be eliminated; in that order. The last model never is. A model
        is in the set if its p-value is above 1 - ``confidence_level``.
    metric : MetricInfo
        Name and direction of the metric.
    confidence_level : float
        Level of the set.
    variant : str
        The statistic: ``"T_R"``, the largest absolute t of all pairs of models.
    n_undefined : int
        Number of resamples that are left out because some model is undefined in them.
    """

    rows: tuple[ConfidenceSetRow, ...]
    metric: MetricInfo
    confidence_level: float
    variant: str
    n_undefined: int

    @property
    def included(self) -> tuple[str, ...]:
        """Names of the models in the set, the first to be eliminated first."""
        return tuple(row.model for row in self.rows if row.included)

    @property
    def excluded(self) -> tuple[str, ...]:
        """Names of the models outside, in the order of their elimination."""
        return tuple(row.model for row in self.rows if not row.included)

    def __str__(self) -> str:
        lines = [self._heading, *text_table(self._cells(visible)), "", self._explanation]
        return "\n".join(lines)

    def to_markdown(self) -> str:
        """
        Write the set as GitHub-flavoured markdown.

        Returns
        -------
        str
            A heading, the table, and what it means.
        """
        blocks = [f"### {self._heading}", markdown_table(self._cells(escaped)), self._explanation]
        return "\n\n".join(blocks) + "\n"

    def to_frame(self, backend: Any = None) -> Any:
        """
        Return the rows as a dataframe.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, module or None, default=None
            Kind of dataframe. ``None`` means the first of the three that is installed.

        Returns
        -------
        dataframe
            One row for each model, in the order of elimination.
        """
        return frame(ConfidenceSetRow, self.rows, backend)

    @property
    def _heading(self) -> str:
        return f"Model confidence set at {format_percent(self.confidence_level)} ({self.variant})"

    @property
    def _explanation(self) -> str:
        text = (
            "Over repeated samples such a set contains the best model with at least this\n"
            "probability, asymptotically; it is no probability of any single model."
        )
        if self.n_undefined:
            text += f"\n{format_count(self.n_undefined)} resamples without a value are left out."
        return text

    def _cells(self, name: Callable[[str], str]) -> Cells:
        number = NumberFormat.from_errors((), (row.estimate for row in self.rows))
        lines = tuple(
            (
                name(row.model),
                number(row.estimate),
                format_p(row.p_value, alpha_of(self.confidence_level)),
                "yes" if row.included else "no",
            )
            for row in self.rows
        )
        metric = replace(self.metric, name=name(self.metric.name))
        return Cells(("", "estimate", "p", "in the set"), ((metric, lines),))


def model_confidence_set(
    distribution: BootstrapDistribution,
    models: Sequence[str],
    metrics: Sequence[MetricInfo],
    metric: str | None,
    confidence_level: float,
) -> ModelConfidenceSet:
    """Find the models that cannot be told from the best on one metric."""
    names = [info.name for info in metrics]
    if metric not in names and (metric is not None or len(names) > 1):
        listed = ", ".join(map(repr, names))
        raise ValueError(f"`metric` must name one of the metrics, {listed}, got {metric!r}.")
    level = check_confidence_level(confidence_level)
    if distribution.multiplicities is None:
        check_alpha(distribution.n_sequences, level, "greater")
    number = 0 if metric is None else names.index(metric)
    info = metrics[number]
    if info.interval_rule == "biased":
        raise ValueError(
            f"`metric` must not be {info.name!r}: chance adds to the value of each model, to each "
            "another amount. Take the debiased square beside it."
        )
    if np.any(distribution.undefined[:, number], axis=1).all():
        raise ValueError(
            f"`{info.name}` is undefined for some model in every resample, so there is no model "
            "confidence set. Compare fewer models, or more rows."
        )
    found = confidence_set(distribution, number, info.greater_is_better)
    rows = tuple(
        ConfidenceSetRow(
            metric=info.name,
            model=models[model],
            estimate=float(distribution.observed[number, model]),
            p_value=float(found.p_values[model]),
            included=bool(found.p_values[model] > alpha_of(level)),
            elimination=step,
        )
        for step, model in enumerate(found.order, start=1)
    )
    n_undefined = distribution.n_undefined(number, *range(len(models)))
    return ModelConfidenceSet(rows, info, level, "T_R", n_undefined)
