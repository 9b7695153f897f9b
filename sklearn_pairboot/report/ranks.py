"""Ranks of the models over the resamples: how steady their order is."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_pairboot._engine.distribution import BootstrapDistribution
from sklearn_pairboot._tables import MetricInfo, Row, format_count
from sklearn_pairboot._tables.frames import frame_of
from sklearn_pairboot._tables.names import visible
from sklearn_pairboot.report.cells import Cells, markdown_table, text_table
from sklearn_pairboot.report.names import escaped


@dataclass(frozen=True, slots=True, eq=False)
class RankRow(Row):
    """One model on one metric: its mean rank, and how often it is among the best ones."""

    metric: str
    model: str
    mean_rank: float
    share_among_best: float
    n_undefined: int


@dataclass(frozen=True)
class RankDistribution:
    """How often each model has each rank, over resamples in which all models are defined.

    `ComparisonResult.rank_distribution` makes it. Rank 1 is the best. Models that tie share their
    ranks evenly: of two that share the first rank each gets half a resample at ranks 1 and 2, and
    the mean rank 1.5.

    Parameters
    ----------
    rows : tuple of RankRow
        ``metric``, ``model``, ``mean_rank``, ``share_among_best`` and ``n_undefined``, the number
        of resamples that are left out because some model is undefined in them.
    shares : dict of str to ndarray of shape (n_models, n_models)
        For each metric the share of resamples in which a model (row) has a rank (column).
    best : int
        Number of models that count as the best ones.
    metrics : tuple of MetricInfo
        Name and direction of each metric.
    """

    rows: tuple[RankRow, ...]
    shares: dict[str, NDArray[np.float64]]
    best: int
    metrics: tuple[MetricInfo, ...]

    def __str__(self) -> str:
        lines = [_heading(self.best), *text_table(self._cells(visible)), "", _EXPLANATION]
        return "\n".join(lines)

    def to_markdown(self) -> str:
        """
        Write the table as GitHub-flavoured markdown.

        Returns
        -------
        str
            A heading, the table, and what it means.
        """
        blocks = [f"### {_heading(self.best)}", markdown_table(self._cells(escaped)), _EXPLANATION]
        return "\n\n".join(blocks) + "\n"

    def to_frame(self, backend: Any = None) -> Any:
        """
        Return the table as a dataframe.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, module or None, default=None
            Kind of dataframe. ``None`` means the first of the three that is installed.

        Returns
        -------
        dataframe
            The columns of the rows, then ``rank_1``, ``rank_2`` and so on.
        """
        rows = self.to_dict()
        types = RankRow.column_types() | dict.fromkeys(self._rank_columns(), "float")
        return frame_of({name: [row[name] for row in rows] for name in types}, types, backend)

    def to_dict(self) -> list[dict[str, Any]]:
        """
        Return the table as plain Python values.

        Returns
        -------
        list of dict
            One for each row, with the shares as ``rank_1``, ``rank_2`` and so on.
        """
        columns = self._rank_columns()
        shares = [of_model.tolist() for of_metric in self.shares.values() for of_model in of_metric]
        return [
            row.asdict() | dict(zip(columns, of_row, strict=True))
            for row, of_row in zip(self.rows, shares, strict=True)
        ]

    def _rank_columns(self) -> list[str]:
        n_models = len(self.rows) // max(1, len(self.metrics))
        return [f"rank_{rank + 1}" for rank in range(n_models)]

    def _cells(self, name: Callable[[str], str]) -> Cells:
        ranks = self._rank_columns()
        header = ["", "mean rank", f"best {self.best}" if self.best > 1 else "best"]
        header += [column.replace("_", " ") for column in ranks]
        lost = any(row.n_undefined for row in self.rows)
        groups = []
        data = iter(self.to_dict())
        for metric in self.metrics:
            lines = []
            for _ in ranks:
                row = next(data)
                cells = [name(row["model"]), f"{row['mean_rank']:.2f}"]
                cells += [_percent(row[column]) for column in ("share_among_best", *ranks)]
                if lost:
                    cells.append(format_count(row["n_undefined"]))
                lines.append(tuple(cells))
            groups.append((dataclasses.replace(metric, name=name(metric.name)), tuple(lines)))
        return Cells(tuple(header + ["left out"] * lost), tuple(groups))


_EXPLANATION = (
    "Shares of the resamples, ties shared evenly: how steady the order of these models is,\n"
    "not how probable it is that one of them is the best."
)


def rank_distribution(
    distribution: BootstrapDistribution,
    models: Sequence[str],
    metrics: Sequence[MetricInfo],
    best: Any,
) -> RankDistribution:
    """Rank the models in every resample."""
    whole = isinstance(best, Integral) and not isinstance(best, bool)
    if not whole or not 1 <= best <= len(models):
        raise ValueError(
            f"`best` must be an integer from 1 to the number of models, {len(models)}, got "
            f"{best!r}."
        )
    rows: list[RankRow] = []
    shares = {}
    for number, metric in enumerate(metrics):
        of_metric, n_lost = distribution.ranks(number, metric.greater_is_better)
        if np.isnan(of_metric).any():
            raise ValueError(
                f"`{metric.name}` is undefined for some model in every resample, so there are no "
                "ranks. Compare fewer models, or more rows."
            )
        shares[metric.name] = of_metric
        for name, of_model in zip(models, of_metric, strict=True):
            mean = float(of_model @ np.arange(1, len(models) + 1))
            among = min(1.0, float(of_model[: int(best)].sum()))
            rows.append(RankRow(metric.name, name, mean, among, n_lost))
    return RankDistribution(tuple(rows), shares, int(best), tuple(metrics))


def _heading(best: int) -> str:
    return "Ranks over the resamples" + (f", and the best {best}" if best > 1 else "")


def _percent(share: float) -> str:
    """Write a share as per cent: 0 and 100 only where it is exactly that."""
    text = f"{100 * share:.1f} %"
    if text == "0.0 %" and share > 0:
        return "< 0.1 %"
    if text == "100.0 %" and share < 1 - 1e-12:
        return "> 99.9 %"
    return text
