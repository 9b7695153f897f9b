"""Metrics of ranks: area under the ROC curve and average precision.

One sort per model, ever. Equal scores enter together: a row takes the cumulative weight below and
up to its block of ties. Where a model has few distinct scores, weights are summed by score first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_pairboot._engine.concordance import auc_without_each, concordance_matrix
from sklearn_pairboot._engine.counts import choose_block_size
from sklearn_pairboot._engine.jackknife import leave_out
from sklearn_pairboot._engine.kernels import no_mask
from sklearn_pairboot._engine.levels import Levels, area, precision
from sklearn_pairboot._engine.rank_influence import (
    NUMBERS_AT_ONCE,
    Blocks,
    auc_influence,
    average_precision_influence,
)
from sklearn_pairboot._engine.stripes import (
    N_STEPS,
    by_stripe,
    count_empty_stripes,
    few_steps,
    n_stripes,
    slots_of,
    sum_lines,
    sums_before,
    sums_upto,
)
from sklearn_pairboot._engine.units import Units
from sklearn_pairboot._engine.weights import (
    BoolArray,
    FloatArray,
    IntArray,
    LeaveOneOut,
    Values,
    Weights,
    gather,
)

# Cluster matrices pay while a quadratic form in the clusters costs less than a pass over the
# rows: measured 0.3 ns per pair of clusters against 1.5 ns per row and two models.
_MATRIX_UNITS = 1024
_MATRIX_PAIRS_PER_ROW = 5


@dataclass(frozen=True)
class Ranking:
    """The rows of one model by class, each in ascending order of their scores.

    ``below`` and ``upto`` count, for each positive, the negatives with a smaller and with a not
    greater score; ``upto`` is ``None`` where no positive is tied with a negative.
    """

    negatives: NDArray[np.intp]
    positives: NDArray[np.intp]
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
    return Ranking(negatives, positives, below, upto if tied else None)


@dataclass(frozen=True)
class Layout:
    """The rows of one model in the order of their scores, laid out in stripes by class.

    ``rows`` says which row stands in each slot, those of negatives first; slots of ``padding``
    stand for no row. One slot more than rows of a class holds the sum of all.
    """

    rows: NDArray[np.intp]
    padding: NDArray[np.intp]
    n_negatives: int
    n_positives: int

    @classmethod
    def of(cls, negatives: NDArray[np.intp], positives: NDArray[np.intp]) -> Layout:
        """Lay out the rows of two classes, each in its order."""
        parts = [np.full(N_STEPS * n_stripes(len(part) + 1), -1) for part in (negatives, positives)]
        for part, lines in zip(parts, (negatives, positives), strict=True):
            part[slots_of(np.arange(len(lines)), len(part) // N_STEPS)] = lines
        rows = np.concatenate(parts)
        padding = np.flatnonzero(rows < 0)
        rows[padding] = 0
        return cls(rows, padding, len(negatives), len(positives))

    @property
    def n_negative_slots(self) -> int:
        """Number of slots before those of the positives."""
        return N_STEPS * n_stripes(self.n_negatives + 1)

    def of_positives(self, lines: NDArray[np.intp], n_lines: int) -> NDArray[np.intp]:
        """For the slot of each positive, the slot of one of ``n_lines`` lines of a class.

        For padding that of the sum of all, so that sums grow from line to line to the end.
        """
        stripes = n_stripes(self.n_positives + 1)
        of_lines = slots_of(np.append(lines, n_lines), n_stripes(n_lines + 1))
        laid_out = np.full(N_STEPS * stripes, of_lines[-1])
        laid_out[slots_of(np.arange(len(lines)), stripes)] = of_lines[:-1]
        return laid_out


@dataclass(frozen=True)
class Ascent:
    """Rows in ascending order: where the sums before a slot hold the negatives of a positive.

    They hold those below at the slots ``below``, and those not above at ``upto``.
    """

    layout: Layout
    below: NDArray[np.intp]
    upto: NDArray[np.intp] | None

    @classmethod
    def of(cls, ranking: Ranking) -> Ascent:
        """Lay out a ranking from the lowest score up."""
        layout = Layout.of(ranking.negatives, ranking.positives)
        n_negatives = len(ranking.negatives)
        upto = None if ranking.upto is None else layout.of_positives(ranking.upto, n_negatives)
        return cls(layout, layout.of_positives(ranking.below, n_negatives), upto)


@dataclass(frozen=True)
class Descent:
    """Rows in descending order: which sums hold the rows that are not below a positive.

    The sums before the slots ``false`` hold the negatives, the sums up to the slots ``true`` the
    positives. ``true`` is ``None`` where no two positives are tied: then they are those up to it.
    """

    layout: Layout
    false: NDArray[np.intp]
    true: NDArray[np.intp] | None

    @classmethod
    def of(cls, ranking: Ranking, scores: FloatArray) -> Descent:
        """Lay out a ranking from the highest score down."""
        layout = Layout.of(ranking.negatives[::-1], ranking.positives[::-1])
        n_negatives, n_positives = len(ranking.negatives), len(ranking.positives)
        false = layout.of_positives((n_negatives - ranking.below)[::-1], n_negatives)
        ascending = scores[ranking.positives]
        smaller = np.searchsorted(ascending, ascending, side="left")
        if np.array_equal(smaller, np.arange(n_positives)):
            return cls(layout, false, None)
        last_equal = (n_positives - 1 - smaller)[::-1]
        return cls(layout, false, layout.of_positives(last_equal, n_positives))


@dataclass(frozen=True)
class RankKernel:
    """Rows, scores and units shared by the rank metrics; ``scores`` holds one array a model."""

    scores: tuple[FloatArray, ...]
    positive: BoolArray
    units: Units
    row_weight: FloatArray | None = None
    path: str = field(default="ranks", init=False)

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

    @cached_property
    def levels(self) -> tuple[Levels | None, ...]:
        """Distinct scores of every model, ``None`` where they are not few."""
        return tuple(
            Levels.of(scores, self.positive, self.row_weight, self.units) for scores in self.scores
        )

    def _take(self, units: IntArray) -> dict[str, Any]:
        return {
            "scores": tuple(scores[units] for scores in self.scores),
            "positive": self.positive[units],
            "units": Units(len(units), len(units)),
            "row_weight": None if self.row_weight is None else self.row_weight[units],
        }

    def _in_slices(self, evaluate: Callable[[Weights], Values], weights: Weights) -> Values:
        """Evaluate a block in slices that stay in cache where rows are more than units."""
        n_at_once = choose_block_size(max(self.units.n_rows, self.units.n_units))
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

    def _row_weights(self, weights: Weights, rows: NDArray[np.intp]) -> NDArray[Any]:
        """Weights of some rows, shape (len(rows), n_resamples)."""
        units = rows if self.units.of_row is None else self.units.of_row[rows]
        gathered = gather(weights.workspace, "rows", weights.by_unit, units)
        return gathered if self.row_weight is None else gathered * self.row_weight[rows, None]

    def _classes(self, weights: Weights, layout: Layout) -> tuple[NDArray[Any], NDArray[Any]]:
        """Weights of the negatives and of the positives in the order of their scores."""
        lines = self._row_weights(weights, layout.rows)
        lines[layout.padding] = 0
        return lines[: layout.n_negative_slots], lines[layout.n_negative_slots :]

    def influence(self, weights: Weights) -> FloatArray:
        """Differentiate by the weights of the rows, and sum within units."""
        n_at_once = max(1, NUMBERS_AT_ONCE // self.units.n_rows)
        found = np.empty((len(weights.counts), self.n_models, self.units.n_units))
        for start in range(0, len(found), n_at_once):
            some = slice(start, start + n_at_once)
            of_rows = weights.counts[some]
            if self.units.of_row is not None:
                of_rows = of_rows[:, self.units.of_row]
            weighted = 1.0 if self.row_weight is None else self.row_weight
            of_rows = np.ascontiguousarray(of_rows * weighted, dtype=np.float64)
            for model in range(self.n_models):
                with np.errstate(all="ignore"):  # without a class: not a number
                    by_row = self._row_influence(model, of_rows)
                if self.row_weight is not None:
                    by_row *= self.row_weight
                found[some, model] = self.units.sum_along_rows(by_row)
        return found

    @cached_property
    def blocks(self) -> tuple[Blocks, ...]:
        """The rows of every model in ascending order, in blocks of equal scores."""
        return tuple(Blocks.of(scores) for scores in self.scores)

    def _row_influence(self, model: int, row_weights: FloatArray) -> FloatArray:
        """Differentiate a model's value by the weights of the rows, (n_resamples, n_rows)."""
        raise NotImplementedError

    def _values(self, values: FloatArray, missing: BoolArray) -> Values:
        undefined = np.repeat(missing[:, None], self.n_models, axis=1)
        values[undefined] = np.nan
        return Values(values, undefined, no_mask(values.shape))


@dataclass(frozen=True)
class AUCKernel(RankKernel):
    """Area under the ROC curve of two classes; ties between classes count half."""

    @cached_property
    def matrices(self) -> tuple[FloatArray, ...] | None:
        """Concordance matrices of the models where there are few clusters."""
        n_units = self.units.n_units
        few = n_units <= _MATRIX_UNITS and n_units**2 <= _MATRIX_PAIRS_PER_ROW * self.units.n_rows
        if self.units.of_row is None or not few:
            return None
        return tuple(
            concordance_matrix(scores, self.positive, self.row_weight, self.units)
            for scores in self.scores
        )

    @cached_property
    def ascents(self) -> tuple[Ascent | Levels, ...]:
        """The rows of every model, sorted when they are first needed: merged units are fewer."""
        return tuple(
            levels or Ascent.of(rank(scores, self.positive))
            for levels, scores in zip(self.levels, self.scores, strict=True)
        )

    def evaluate(self, weights: Weights) -> Values:
        """Evaluate the AUC of every model for a block of unit weights."""
        return (
            self._by_clusters(weights) if self.matrices else self._in_slices(self._by_rows, weights)
        )

    def _by_rows(self, weights: Weights) -> Values:
        """Evaluate resamples few enough to stay in cache."""
        values = np.empty((len(weights.counts), self.n_models))
        for model, ascent in enumerate(self.ascents):
            if isinstance(ascent, Levels):
                of_classes = ascent.sums(weights)
                concordant, doubled = area(*of_classes), True
                negative_weight, positive_weight = (part.sum(axis=0) for part in of_classes)
            else:
                concordant, negative_weight, positive_weight = self._concordant(weights, ascent)
                doubled = ascent.upto is not None
            if model == 0:
                weight_of_pairs = negative_weight.astype(np.float64) * positive_weight
                missing = weight_of_pairs == 0
                weight_of_pairs[missing] = 1.0
            values[:, model] = concordant / weight_of_pairs
            if doubled:
                values[:, model] *= 0.5
        return self._values(values, missing)

    def _concordant(
        self, weights: Weights, ascent: Ascent
    ) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
        """Weigh concordant pairs, twice where there are ties, and both classes."""
        workspace = weights.workspace
        negatives, positives = self._classes(weights, ascent.layout)
        below, negative_weight = sums_before(workspace, "below", negatives)
        positive_weight = sum_lines(positives, np.result_type(positives.dtype, np.int32))
        concordant = gather(workspace, "concordant", below, ascent.below)
        if below.dtype == np.int32 and _sums_overflow(negative_weight, positives):
            concordant = concordant.astype(np.int64)
        if ascent.upto is not None:
            concordant += gather(workspace, "upto", below, ascent.upto)
        concordant *= positives
        return sum_lines(concordant, concordant.dtype), negative_weight, positive_weight

    def _class_weights(self) -> FloatArray:
        weight = np.ones(len(self.positive)) if self.row_weight is None else self.row_weight
        return self.units.sum_rows(
            np.column_stack([weight * ~self.positive, weight * self.positive])
        )

    def _by_clusters(self, weights: Weights) -> Values:
        class_weight = weights.dot(self._class_weights())
        weight_of_pairs = class_weight[:, 0] * class_weight[:, 1]
        missing = weight_of_pairs == 0
        weight_of_pairs[missing] = 1.0
        values = np.empty((len(missing), self.n_models))
        for model, matrix in enumerate(self.matrices or ()):
            pairs = np.einsum("bg,bg->b", weights.dot(matrix), weights.counts)
            values[:, model] = pairs / weight_of_pairs
        return self._values(values, missing)

    def influence(self, weights: Weights) -> FloatArray:
        """Differentiate by placements, or where there are few clusters by their pairs."""
        if not self.matrices:
            return super().influence(weights)
        of_units = self._class_weights()
        counts = weights.counts.astype(np.float64)
        negative, positive = (counts @ of_units).T[:, :, None]
        found = np.empty((len(counts), self.n_models, self.units.n_units))
        with np.errstate(all="ignore"):  # without a class: not a number
            for model, matrix in enumerate(self.matrices):
                pairs = (counts @ matrix.T + counts @ matrix) / (negative * positive)
                area = 0.5 * (pairs * counts).sum(axis=1, keepdims=True)
                shares = of_units[:, 0] / negative + of_units[:, 1] / positive
                found[:, model] = pairs - area * shares
        return found

    def _row_influence(self, model: int, row_weights: FloatArray) -> FloatArray:
        return auc_influence(self.blocks[model], self.positive, row_weights)

    def leave_one_out(self) -> LeaveOneOut:
        """Evaluate the AUC without each unit in closed form, by placements."""
        columns = [
            auc_without_each(scores, self.positive, self.row_weight, self.units)
            for scores in self.scores
        ]
        return LeaveOneOut(np.column_stack(columns))

    def take_units(self, units: IntArray) -> AUCKernel:
        """Keep representatives of merged rows."""
        return replace(self, **self._take(units))


@dataclass(frozen=True)
class AveragePrecisionKernel(RankKernel):
    """Average precision: the mean over the positives of the precision at their score."""

    @cached_property
    def descents(self) -> tuple[Descent | Levels, ...]:
        """The rows of every model, sorted when they are first needed."""
        return tuple(
            levels or Descent.of(rank(scores, self.positive), scores)
            for levels, scores in zip(self.levels, self.scores, strict=True)
        )

    def evaluate(self, weights: Weights) -> Values:
        """Evaluate the average precision of every model for a block of unit weights."""
        return self._in_slices(self._by_rows, weights)

    def _by_rows(self, weights: Weights) -> Values:
        """Evaluate resamples few enough to stay in cache."""
        values = np.empty((len(weights.counts), self.n_models))
        for model, descent in enumerate(self.descents):
            if isinstance(descent, Levels):
                negatives, positives = descent.sums(weights)
                total, positive_weight = precision(negatives, positives), positives.sum(axis=0)
            else:
                total, positive_weight = self._precision(weights, descent)
            missing = positive_weight == 0
            values[:, model] = total / np.where(missing, 1, positive_weight)
        return self._values(values, missing)

    def _precision(self, weights: Weights, descent: Descent) -> tuple[FloatArray, NDArray[Any]]:
        """Sum the precision over the positives, and their weights."""
        workspace = weights.workspace
        negatives, positives = self._classes(weights, descent.layout)
        negatives_before, _ = sums_before(workspace, "negatives", negatives)
        upto, positive_weight = sums_upto(workspace, "positives", positives)
        # Where nothing was drawn yet the positives have no weight: any value will do there.
        n_empty = count_empty_stripes(upto)
        total = np.zeros((len(positives) // N_STEPS, positives.shape[1]))
        for steps in few_steps(positives):
            true = upto[steps]
            if descent.true is not None:
                true = gather(workspace, "true", upto, descent.true[steps])
            seen = gather(workspace, "seen", negatives_before, descent.false[steps])
            seen += true
            empty = by_stripe(seen, len(positives))[:, :n_empty]
            empty[empty == 0] = 1
            at_positive = workspace.array("precision", seen.shape, np.float64)
            np.divide(true, seen, out=at_positive)
            at_positive *= positives[steps]
            for of_step in by_stripe(at_positive, len(positives)):
                total += of_step
        return total.sum(axis=0), positive_weight

    def _row_influence(self, model: int, row_weights: FloatArray) -> FloatArray:
        return average_precision_influence(self.blocks[model], self.positive, row_weights)

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


def _sums_overflow(negative_weight: NDArray[Any], positives: NDArray[Any]) -> bool:
    """Tell whether 16 doubled products of a cumulative and a row's weight may leave int32."""
    largest = int(negative_weight.max(initial=0)) * int(positives.max(initial=0))
    return 2 * N_STEPS * largest >= 2**31
