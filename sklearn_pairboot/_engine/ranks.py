"""Metrics of ranks: area under the ROC curve and average precision.

One sort per model, ever. Equal scores enter together: a row takes the cumulative weight below and
up to its block of ties.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_pairboot._engine.concordance import auc_without_each, concordance_matrix
from sklearn_pairboot._engine.counts import resamples_in_cache
from sklearn_pairboot._engine.jackknife import leave_out
from sklearn_pairboot._engine.kernels import no_mask
from sklearn_pairboot._engine.units import Units
from sklearn_pairboot._engine.weights import (
    BoolArray,
    FloatArray,
    IntArray,
    LeaveOneOut,
    Values,
    Weights,
    Workspace,
    take,
)

# Cluster matrices pay while a quadratic form in the clusters costs less than a pass over the
# rows: measured 0.3 ns per pair of clusters against 3.4 ns per row and two models.
_MATRIX_UNITS = 1024
_MATRIX_PAIRS_PER_ROW = 10


@dataclass(frozen=True)
class Ranking:
    """The rows of one model in the order of their scores, negatives first, then positives.

    ``below`` and ``upto`` count, for each positive, the negatives with a smaller and with a not
    greater score; ``upto`` is ``None`` where no positive is tied with a negative.
    """

    order: NDArray[np.intp]
    below: NDArray[np.intp]
    upto: NDArray[np.intp] | None


def rank(scores: FloatArray, positive: BoolArray) -> Ranking:
    """Sort the rows of a model, once."""
    negatives, positives = np.flatnonzero(~positive), np.flatnonzero(positive)
    negatives = negatives[np.argsort(scores[negatives], kind="stable")]
    positives = positives[np.argsort(scores[positives], kind="stable")]
    below = np.searchsorted(scores[negatives], scores[positives], side="left")
    upto = np.searchsorted(scores[negatives], scores[positives], side="right")
    tied = bool(np.any(below != upto))
    return Ranking(np.concatenate([negatives, positives]), below, upto if tied else None)


@dataclass(frozen=True)
class RankKernel:
    """Rows, scores and units shared by the rank metrics; ``scores`` holds one array a model."""

    scores: tuple[FloatArray, ...]
    positive: BoolArray
    units: Units
    row_weight: FloatArray | None = None
    rankings: tuple[Ranking, ...] = ()
    path: str = field(default="ranks", init=False)

    def __post_init__(self) -> None:
        if not self.rankings:
            rankings = tuple(rank(scores, self.positive) for scores in self.scores)
            object.__setattr__(self, "rankings", rankings)

    @property
    def n_models(self) -> int:
        """Number of models."""
        return len(self.scores)

    def unit_keys(self) -> Sequence[NDArray[Any]] | None:
        """Rows with equal scores, class and weight are equal; clusters are never merged."""
        if self.units.of_row is not None:
            return None
        keys: list[NDArray[Any]] = [self.positive, *self.scores]
        return keys if self.row_weight is None else [*keys, self.row_weight]

    def _take(self, units: IntArray) -> dict[str, Any]:
        return {
            "scores": tuple(scores[units] for scores in self.scores),
            "positive": self.positive[units],
            "units": Units(len(units), len(units)),
            "row_weight": None if self.row_weight is None else self.row_weight[units],
            "rankings": (),
        }

    def _in_slices(self, evaluate: Callable[[Weights], Values], weights: Weights) -> Values:
        """Evaluate a block in slices that stay in cache."""
        n_at_once = resamples_in_cache(max(self.units.n_rows, self.units.n_units))
        if len(weights.counts) <= n_at_once:
            return evaluate(weights)
        parts = [
            evaluate(Weights(weights.counts[start : start + n_at_once], weights.workspace))
            for start in range(0, len(weights.counts), n_at_once)
        ]
        return Values(
            np.concatenate([part.values for part in parts]),
            np.concatenate([part.undefined for part in parts]),
            np.concatenate([part.zero_division for part in parts]),
        )

    def _row_weights(self, weights: Weights) -> NDArray[Any]:
        if self.units.of_row is None:
            rows = weights.counts
        else:
            rows = weights.take("rows", self.units.of_row)
        return rows if self.row_weight is None else rows * self.row_weight

    def _cumulative(self, name: str, weights: NDArray[Any], workspace: Workspace) -> NDArray[Any]:
        """Cumulate along each resample, with a leading zero, in a type that holds the total."""
        dtype: Any = np.int64
        if weights.dtype.kind == "f":
            dtype = np.float64
        elif weights.dtype == np.uint8 and weights.shape[1] < 2**23:
            dtype = np.int32
        out = workspace.array(name, (len(weights), weights.shape[1] + 1), dtype)
        out[:, 0] = 0
        np.cumsum(weights, axis=1, dtype=dtype, out=out[:, 1:])
        return out

    def _values(self, values: FloatArray, missing: BoolArray) -> Values:
        undefined = np.repeat(missing[:, None], self.n_models, axis=1)
        values[undefined] = np.nan
        return Values(values, undefined, no_mask(values.shape))


@dataclass(frozen=True)
class AUCKernel(RankKernel):
    """Area under the ROC curve of two classes; ties between classes count half."""

    matrices: tuple[FloatArray, ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        n_units = self.units.n_units
        few = n_units <= _MATRIX_UNITS and n_units**2 <= _MATRIX_PAIRS_PER_ROW * self.units.n_rows
        if self.units.of_row is not None and few and not self.matrices:
            matrices = tuple(
                concordance_matrix(scores, self.positive, self.row_weight, self.units)
                for scores in self.scores
            )
            object.__setattr__(self, "matrices", matrices)

    def evaluate(self, weights: Weights) -> Values:
        """Evaluate the AUC of every model for a block of unit weights."""
        return (
            self._by_clusters(weights) if self.matrices else self._in_slices(self._by_rows, weights)
        )

    def _by_rows(self, weights: Weights) -> Values:
        """Evaluate resamples few enough to stay in cache."""
        rows, workspace = self._row_weights(weights), weights.workspace
        n_negatives = int(np.count_nonzero(~self.positive))
        values = np.empty((len(rows), self.n_models))
        for model, ranking in enumerate(self.rankings):
            ordered = take(workspace, "ordered", rows, ranking.order)
            positives = ordered[:, n_negatives:]
            below = self._cumulative("below", ordered[:, :n_negatives], workspace)
            if model == 0:
                negative_weight = below[:, -1].astype(np.float64)
                positive_weight = positives.sum(axis=1, dtype=np.float64)
                weight_of_pairs = negative_weight * positive_weight
                missing = weight_of_pairs == 0
                weight_of_pairs[missing] = 1.0
                wide = below.dtype == np.int32 and _product_overflows(below, rows)
            concordant = take(workspace, "concordant", below, ranking.below)
            if wide:
                concordant = concordant.astype(np.int64)
            if ranking.upto is not None:
                concordant += take(workspace, "upto", below, ranking.upto)
            concordant *= positives
            pairs = concordant.sum(axis=1, dtype=np.result_type(concordant.dtype, np.int64))
            values[:, model] = pairs / weight_of_pairs
            if ranking.upto is not None:
                values[:, model] *= 0.5
        return self._values(values, missing)

    def _class_weights(self) -> FloatArray:
        weight = np.ones(len(self.positive)) if self.row_weight is None else self.row_weight
        return self.units.sum_rows(
            np.column_stack([weight * ~self.positive, weight * self.positive])
        )

    def _by_clusters(self, weights: Weights) -> Values:
        class_weight = weights.floats @ self._class_weights()
        weight_of_pairs = class_weight[:, 0] * class_weight[:, 1]
        missing = weight_of_pairs == 0
        weight_of_pairs[missing] = 1.0
        values = np.empty((len(missing), self.n_models))
        for model, matrix in enumerate(self.matrices):
            pairs = np.einsum("bg,bg->b", weights.floats @ matrix, weights.floats)
            values[:, model] = pairs / weight_of_pairs
        return self._values(values, missing)

    def leave_one_out(self) -> LeaveOneOut:
        """Evaluate the AUC without each unit in closed form, by placements."""
        columns = [
            auc_without_each(scores, self.positive, self.row_weight, self.units)
            for scores in self.scores
        ]
        return LeaveOneOut(np.column_stack(columns))

    def take_units(self, units: IntArray) -> AUCKernel:
        """Keep representatives of merged rows."""
        return replace(self, **self._take(units), matrices=())


@dataclass(frozen=True)
class AveragePrecisionKernel(RankKernel):
    """Average precision: the mean over the positives of the precision at their score."""

    first_equal: tuple[NDArray[np.intp] | None, ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        first = tuple(self._first_equal(model) for model in range(self.n_models))
        object.__setattr__(self, "first_equal", first)

    def evaluate(self, weights: Weights) -> Values:
        """Evaluate the average precision of every model for a block of unit weights."""
        return self._in_slices(self._by_rows, weights)

    def _by_rows(self, weights: Weights) -> Values:
        """Evaluate resamples few enough to stay in cache."""
        rows, workspace = self._row_weights(weights), weights.workspace
        n_negatives = int(np.count_nonzero(~self.positive))
        values = np.empty((len(rows), self.n_models))
        for model, ranking in enumerate(self.rankings):
            ordered = take(workspace, "ordered", rows, ranking.order)
            positives = ordered[:, n_negatives:]
            negatives_below = self._cumulative("below", ordered[:, :n_negatives], workspace)
            positives_below = self._cumulative("positives", positives, workspace)
            negative_weight, positive_weight = negatives_below[:, -1:], positives_below[:, -1:]
            false = take(workspace, "false", negatives_below, ranking.below)
            np.subtract(negative_weight, false, out=false)
            first = self.first_equal[model]
            if first is None:
                true = workspace.array("true", false.shape, false.dtype)
                np.subtract(positive_weight, positives_below[:, :-1], out=true)
            else:
                true = take(workspace, "true", positives_below, first)
                np.subtract(positive_weight, true, out=true)
            whole = np.add(false, true, out=false)
            precision = workspace.array("precision", whole.shape, np.float64)
            # Where nothing was drawn yet the positive itself has no weight: any value will do.
            whole[whole == 0] = 1
            np.divide(true, whole, out=precision)
            missing = positive_weight[:, 0] == 0
            weight = np.where(missing, 1, positive_weight[:, 0])
            values[:, model] = np.einsum("ij,ij->i", precision, positives) / weight
        return self._values(values, missing)

    def _first_equal(self, model: int) -> NDArray[np.intp] | None:
        """Place of the first positive with the same score; ``None`` where no two are tied."""
        order = self.rankings[model].order[np.count_nonzero(~self.positive) :]
        ordered = self.scores[model][order]
        first = np.searchsorted(ordered, ordered, side="left")
        return None if np.array_equal(first, np.arange(len(first))) else first

    def leave_one_out(self) -> LeaveOneOut:
        """Evaluate without each unit: in closed form for equal rows, else literally or grouped."""
        if self.units.of_row is None and self.row_weight is None:
            columns = [self._without_each_row(model) for model in range(self.n_models)]
            return LeaveOneOut(np.column_stack(columns))
        return leave_out(self.evaluate, self.units, self.n_models)

    def _without_each_row(self, model: int) -> FloatArray:
        scores, positive = self.scores[model], self.positive
        n_positives = int(np.count_nonzero(positive))
        order = np.argsort(-scores, kind="stable")
        ends = np.searchsorted(-scores[order], -scores[order], side="right")
        true = np.cumsum(positive[order])[ends - 1]
        seen = ends.astype(np.float64)
        hit = positive[order].astype(np.float64)
        above = np.concatenate([[0.0], np.cumsum(hit * true / seen)])
        rest = np.maximum(seen - 1, 1)
        # Without a row, the precision of every positive with the same or a smaller score changes.
        one_hit_less = np.concatenate([[0.0], np.cumsum(hit * (true - 1) / rest)])
        one_miss_less = np.concatenate([[0.0], np.cumsum(hit * true / rest)])
        starts = np.searchsorted(-scores[order], -scores[order], side="left")
        own = (true - 1) / rest
        without_positive = above[starts] + one_hit_less[-1] - one_hit_less[starts] - own
        without_negative = above[starts] + one_miss_less[-1] - one_miss_less[starts]
        values = np.empty(len(scores))
        remaining = np.where(hit > 0, n_positives - 1, n_positives).astype(np.float64)
        total = np.where(hit > 0, without_positive, without_negative)
        values[order] = np.divide(
            total, remaining, out=np.full(len(scores), np.nan), where=remaining > 0
        )
        return values

    def take_units(self, units: IntArray) -> AveragePrecisionKernel:
        """Keep representatives of merged rows."""
        return replace(self, **self._take(units))


def _product_overflows(cumulative: NDArray[Any], rows: NDArray[Any]) -> bool:
    """Tell whether a doubled cumulative weight times a row's weight may leave int32."""
    largest = int(cumulative[:, -1].max(initial=0)) * int(rows.max(initial=0))
    return 2 * largest >= 2**31
