"""Agreement of two partitions as a function of their contingency table.

Each score takes the cells of one model's table, shape (n_resamples, n_cells), and returns values
and where they are 0/0 by convention. Counts are integers in float64, exact up to 2**53.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from sklearn_pairboot._engine.formulas import Formula, ratio
from sklearn_pairboot._engine.kernels import SumsKernel, stack
from sklearn_pairboot._engine.merging import first_of_each, number_rows
from sklearn_pairboot._engine.units import Units
from sklearn_pairboot._engine.weights import BoolArray, FloatArray, IntArray

_EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class Table:
    """The cells of a contingency table that occur, sorted by true label, then by cluster."""

    label: NDArray[np.intp]
    cluster: NDArray[np.intp]

    def margins(self, cells: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Sum the cells by true label, and by cluster."""
        by_cluster = np.argsort(self.cluster, kind="stable")
        of_label = np.add.reduceat(cells, _starts(self.label), axis=1)
        of_cluster = np.add.reduceat(
            cells[:, by_cluster], _starts(self.cluster[by_cluster]), axis=1
        )
        return of_label, of_cluster


Score = Callable[[FloatArray, Table], tuple[FloatArray, BoolArray]]


def tabulate(truth: IntArray, clusters: Sequence[IntArray]) -> tuple[list[Table], list[IntArray]]:
    """Find the cells that occur, one table a model, and the cell of each row.

    Both numberings, of the true labels and of each model's clusters, have no gaps.
    """
    tables, cells_of_rows = [], []
    for of_model in clusters:
        n_clusters = int(of_model.max()) + 1
        cells, of_row = np.unique(truth * n_clusters + of_model, return_inverse=True)
        tables.append(Table(cells // n_clusters, cells % n_clusters))
        cells_of_rows.append(of_row.reshape(-1))
    return tables, cells_of_rows


def contingency_kernel(
    tables: Sequence[Table], cells_of_rows: Sequence[IntArray], score: Score, units: Units
) -> SumsKernel:
    """Build the kernel whose sums are the cells of every model's table."""
    joint, n_joint = number_rows(cells_of_rows)
    some_row = first_of_each(joint, n_joint)
    places = np.arange(n_joint)
    terms = [
        sparse.csr_array(
            (np.ones(n_joint), (places, of_row[some_row])), shape=(n_joint, len(table.label))
        )
        for table, of_row in zip(tables, cells_of_rows, strict=True)
    ]
    formula = partial(agreement, tables=tuple(tables), score=score)
    return SumsKernel.from_cells(stack(terms), joint, formula, len(tables), units)


def agreement(sums: FloatArray, *, tables: Sequence[Table], score: Score) -> Formula:
    """Score of every model. Terms: the cells of each model's table."""
    ends = np.cumsum([len(table.label) for table in tables])
    found = [
        score(cells, table)
        for cells, table in zip(np.split(sums, ends[:-1], axis=1), tables, strict=True)
    ]
    values = np.column_stack([of_model for of_model, _ in found])
    values[sums[:, : ends[0]].sum(axis=1) == 0] = np.nan
    undefined = np.isnan(values)
    convention = np.column_stack([of_model for _, of_model in found])
    return Formula(values, undefined, convention & ~undefined)


class _Pairs(NamedTuple):
    """Ordered pairs of rows: by whether they share the label, and whether the cluster."""

    neither: FloatArray
    cluster_only: FloatArray
    label_only: FloatArray
    both: FloatArray


def _pairs(cells: FloatArray, table: Table) -> _Pairs:
    of_label, of_cluster = table.margins(cells)
    n_rows = cells.sum(axis=1)
    same = (cells**2).sum(axis=1)
    cluster_only = (of_cluster**2).sum(axis=1) - same
    label_only = (of_label**2).sum(axis=1) - same
    neither = n_rows**2 - cluster_only - label_only - same
    return _Pairs(neither, cluster_only, label_only, same - n_rows)


def rand(cells: FloatArray, table: Table) -> tuple[FloatArray, BoolArray]:
    """Share of pairs of rows on which both partitions agree; one where there is no pair."""
    pairs = _pairs(cells, table)
    agreeing = pairs.neither + pairs.both
    total = agreeing + pairs.label_only + pairs.cluster_only
    return ratio(agreeing, total, 1.0), total == 0


def adjusted_rand(cells: FloatArray, table: Table) -> tuple[FloatArray, BoolArray]:
    """Rand score adjusted for chance; one where both partitions are the same trivial one."""
    tn, fp, fn, tp = _pairs(cells, table)
    denominator = (tp + fn) * (fn + tn) + (tp + fp) * (fp + tn)
    return ratio(2.0 * (tp * tn - fn * fp), denominator, 1.0), denominator == 0


def fowlkes_mallows(cells: FloatArray, table: Table) -> tuple[FloatArray, BoolArray]:
    """Geometric mean of pairwise precision and recall; zero where no pair is together in both."""
    _, fp, fn, tp = _pairs(cells, table)
    together = (tp + fp) * (tp + fn)
    values = np.sqrt(ratio(tp, tp + fp, 0.0)) * np.sqrt(ratio(tp, tp + fn, 0.0))
    return values, together == 0


class _Information(NamedTuple):
    mutual: FloatArray
    of_label: FloatArray
    of_cluster: FloatArray


def _information(cells: FloatArray, table: Table) -> _Information:
    """Mutual information and the two entropies, in nats, summed as scikit-learn does."""
    labels, clusters = table.margins(cells)
    n_rows = cells.sum(axis=1, keepdims=True)
    log_n = _log(n_rows)
    outer = labels[:, table.label] * clusters[:, table.cluster]
    share = ratio(cells, n_rows, 0.0)
    of_cells = share * (_log(cells) - log_n) + share * (2 * log_n - _log(outer))
    of_cells[np.abs(of_cells) < _EPS] = 0.0
    mutual = np.maximum(of_cells.sum(axis=1), 0.0)
    constant = ((labels > 0).sum(axis=1) <= 1) | ((clusters > 0).sum(axis=1) <= 1)
    mutual[constant] = 0.0
    return _Information(mutual, _entropy(labels, n_rows), _entropy(clusters, n_rows))


def mutual_information(cells: FloatArray, table: Table) -> tuple[FloatArray, BoolArray]:
    """Mutual information in nats."""
    mutual = _information(cells, table).mutual
    return mutual, np.zeros(mutual.shape, dtype=bool)


def normalized_mutual_information(
    cells: FloatArray, table: Table, *, average_method: str
) -> tuple[FloatArray, BoolArray]:
    """Mutual information over a mean of the entropies; one where both partitions are constant."""
    mutual, of_label, of_cluster = _information(cells, table)
    normalizer = {
        "min": np.minimum(of_label, of_cluster),
        "geometric": np.sqrt(of_label * of_cluster),
        "arithmetic": 0.5 * (of_label + of_cluster),
        "max": np.maximum(of_label, of_cluster),
    }[average_method]
    values = np.where(mutual == 0, 0.0, ratio(mutual, normalizer, 0.0))
    values[(of_label == 0) & (of_cluster == 0)] = 1.0
    return values, normalizer == 0


def homogeneity(cells: FloatArray, table: Table) -> tuple[FloatArray, BoolArray]:
    """Mutual information over the entropy of the labels; one where there is one label."""
    mutual, of_label, _ = _information(cells, table)
    return ratio(mutual, of_label, 1.0), of_label == 0


def completeness(cells: FloatArray, table: Table) -> tuple[FloatArray, BoolArray]:
    """Mutual information over the entropy of the clusters; one where there is one cluster."""
    mutual, _, of_cluster = _information(cells, table)
    return ratio(mutual, of_cluster, 1.0), of_cluster == 0


def v_measure(cells: FloatArray, table: Table, *, beta: float) -> tuple[FloatArray, BoolArray]:
    """Weighted harmonic mean of homogeneity and completeness; zero where both are zero."""
    mutual, of_label, of_cluster = _information(cells, table)
    homogeneous, complete = ratio(mutual, of_label, 1.0), ratio(mutual, of_cluster, 1.0)
    # With beta 0 and one label 0/0 is left, which scikit-learn does not define.
    values = ratio((1 + beta) * homogeneous * complete, beta * homogeneous + complete, np.nan)
    neither = homogeneous + complete == 0
    values[neither] = 0.0
    return values, neither | (of_label == 0) | (of_cluster == 0)


def _entropy(counts: FloatArray, n_rows: FloatArray) -> FloatArray:
    entropy: FloatArray = -(ratio(counts, n_rows, 0.0) * (_log(counts) - _log(n_rows))).sum(axis=1)
    entropy[(counts > 0).sum(axis=1) <= 1] = 0.0
    return entropy


def _log(counts: FloatArray) -> FloatArray:
    """Logarithm of positive counts; zero for zero, which is multiplied by zero."""
    return np.log(np.where(counts > 0, counts, 1.0))


def _starts(codes: NDArray[np.intp]) -> NDArray[np.intp]:
    """Place where each run of equal numbers begins."""
    return np.flatnonzero(np.concatenate([[True], codes[1:] != codes[:-1]]))
