"""Partial area under the ROC curve, up to a largest false positive rate."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_pairboot._engine.jackknife import leave_out
from sklearn_pairboot._engine.rank_influence import partial_auc_influence
from sklearn_pairboot._engine.ranks import Ranking, RankKernel, rank
from sklearn_pairboot._engine.stripes import type_of_total
from sklearn_pairboot._engine.weights import (
    FloatArray,
    IntArray,
    LeaveOneOut,
    Values,
    Weights,
    Workspace,
)


@dataclass(frozen=True)
class Steps:
    """The rows of one model from the highest score down, negatives first, then positives.

    Block i holds the negatives from ``starts[i]`` to ``starts[i + 1]``; ``above`` counts the
    positives with a greater score, ``upto`` those with a not smaller one. Where ``upto`` is
    ``None`` no positive is tied with a negative, and every negative is a block of its own.
    """

    order: NDArray[np.intp]
    starts: NDArray[np.intp]
    above: NDArray[np.intp]
    upto: NDArray[np.intp] | None


def descend(scores: FloatArray, ranking: Ranking) -> Steps:
    """Turn a ranking into blocks of the ROC curve's steps."""
    negatives, positives = ranking.negatives[::-1], ranking.positives[::-1]
    falling, rising = scores[negatives], scores[positives][::-1]
    above = len(rising) - np.searchsorted(rising, falling, side="right")
    upto = len(rising) - np.searchsorted(rising, falling, side="left")
    starts = np.arange(len(negatives) + 1)
    tied = bool(np.any(above != upto))
    if tied:
        first = np.flatnonzero(np.concatenate([[True], falling[1:] != falling[:-1]]))
        starts = np.append(first, len(negatives))
        above, upto = above[first], upto[first]
    return Steps(np.concatenate([negatives, positives]), starts, above, upto if tied else None)


@dataclass(frozen=True)
class PartialAUCKernel(RankKernel):
    """Area under the ROC curve up to ``max_fpr``, standardised as McClish did.

    The curve is linear within a block of equal scores and where ``max_fpr`` cuts it.
    """

    max_fpr: float = 0.5

    @cached_property
    def steps(self) -> tuple[Steps, ...]:
        """The rows of every model, sorted when they are first needed."""
        return tuple(descend(scores, rank(scores, self.positive)) for scores in self.scores)

    def evaluate(self, weights: Weights) -> Values:
        """Evaluate the partial area of every model for a block of unit weights."""
        return self._in_slices(self._by_rows, weights)

    def _by_rows(self, weights: Weights) -> Values:
        """Evaluate resamples few enough to stay in cache."""
        workspace = weights.workspace
        n_negatives = int(np.count_nonzero(~self.positive))
        values = np.empty((len(weights.counts), self.n_models))
        smallest, largest = 0.5 * self.max_fpr**2, self.max_fpr
        for model, steps in enumerate(self.steps):
            ordered = np.ascontiguousarray(self._row_weights(weights, steps.order).T)
            false = _cumulative("false", ordered[:, :n_negatives], workspace)
            true = _cumulative("true", ordered[:, n_negatives:], workspace)
            if model == 0:
                weight_of_pairs = false[:, -1].astype(np.float64) * true[:, -1]
                limit = self.max_fpr * false[:, -1]
                missing = weight_of_pairs == 0
                weight_of_pairs[missing] = 1.0
            area = _area(false, true, steps, limit, workspace) / weight_of_pairs
            values[:, model] = 0.5 * (1 + (area - smallest) / (largest - smallest))
        return self._values(values, missing)

    def _row_influence(self, model: int, row_weights: FloatArray) -> FloatArray:
        return partial_auc_influence(self.blocks[model], self.positive, row_weights, self.max_fpr)

    def leave_one_out(self) -> LeaveOneOut:
        """Evaluate without each unit, or group of units where they are many."""
        return leave_out(self.evaluate, self.units, self.n_models)

    def take_units(self, units: IntArray) -> PartialAUCKernel:
        """Keep representatives of merged rows."""
        return replace(self, **self._take(units))


def _cumulative(name: str, weights: NDArray[Any], workspace: Workspace) -> NDArray[Any]:
    """Cumulate along each resample, with a leading zero."""
    dtype = type_of_total(weights)
    out = workspace.array(name, (len(weights), weights.shape[1] + 1), dtype)
    out[:, 0] = 0
    np.cumsum(weights, axis=1, dtype=dtype, out=out[:, 1:])
    return out


def _area(
    false: NDArray[Any],
    true: NDArray[Any],
    steps: Steps,
    limit: FloatArray,
    workspace: Workspace,
) -> FloatArray:
    """Integrate the weight of the positives over the weight of the negatives up to a limit."""
    n_reached = _n_reached(false, limit)
    if steps.upto is None:
        start, end = false[:, :n_reached], false[:, 1 : n_reached + 1]
        n_blocks = n_reached
    else:
        n_blocks = int(np.searchsorted(steps.starts[:-1], n_reached, side="left"))
        # Which blocks are reached differs by resample, so these arrays are not kept.
        start = np.take(false, steps.starts[:n_blocks], axis=1)
        end = np.take(false, steps.starts[1 : n_blocks + 1], axis=1)
    shape = len(false), n_blocks
    used = _part(workspace, "used", shape, false.size, np.float64)
    np.minimum(end, limit[:, None], out=used)
    used -= start
    np.maximum(used, 0.0, out=used)
    height = _part(workspace, "height", shape, false.size, true.dtype)
    np.take(true, steps.above[:n_blocks], axis=1, out=height, mode="clip")
    area: FloatArray = np.einsum("bi,bi->b", used, height)
    if steps.upto is not None:
        width = (end - start).astype(np.float64)
        width[width == 0] = 1.0
        rise = np.take(true, steps.upto[:n_blocks], axis=1) - height
        area += 0.5 * np.einsum("bi,bi->b", used * used / width, rise)
    return area


def _n_reached(false: NDArray[Any], limit: FloatArray) -> int:
    """Count the negatives, from the top, that begin below the limit in any resample."""
    low, high = 0, false.shape[1] - 1
    while low < high:
        middle = (low + high) // 2
        if np.all(false[:, middle] >= limit):
            high = middle
        else:
            low = middle + 1
    return low


def _part(
    workspace: Workspace, name: str, shape: tuple[int, int], capacity: int, dtype: Any
) -> NDArray[Any]:
    """Give an array whose size changes from slice to slice a part of one that stays."""
    flat = workspace.array(name, (capacity,), dtype)
    return flat[: shape[0] * shape[1]].reshape(shape)
