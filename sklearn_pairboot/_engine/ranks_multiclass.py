"""Rank metrics of several classes or labels: means of binary ones, against the rest or pairwise."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_pairboot._engine.jackknife import leave_out
from sklearn_pairboot._engine.kernels import no_mask
from sklearn_pairboot._engine.ranks import AUCKernel, AveragePrecisionKernel
from sklearn_pairboot._engine.ranks_partial import PartialAUCKernel
from sklearn_pairboot._engine.units import Units
from sklearn_pairboot._engine.weights import (
    BoolArray,
    FloatArray,
    IntArray,
    LeaveOneOut,
    Values,
    Weights,
)

RankPart = AUCKernel | AveragePrecisionKernel | PartialAUCKernel

# Parts share their arrays between blocks while all of them together stay below this many rows.
_KEPT_ROWS = 2**24


@dataclass(frozen=True)
class MulticlassKernel:
    """Mean of a binary rank metric over classes, or over ordered pairs of classes.

    ``scores`` holds one array of shape (n_rows, n_classes) a model; ``positive``, of that shape,
    says which rows are of which class: of one each, or of any number where the classes are labels
    of multilabel targets. ``scheme`` is ``"ovr"``, each class against all other rows, or
    ``"ovo"``, each class against each other one by its own scores. ``average`` is ``"macro"`` or
    ``"weighted"``: by the weight of the class, or of the two classes. Undefined where the metric
    is for any class: where it is absent, and for ROC AUC also where all rows are of it.
    """

    scores: tuple[FloatArray, ...]
    positive: BoolArray
    units: Units
    row_weight: FloatArray | None = None
    part_type: Callable[..., RankPart] = AUCKernel
    scheme: str = "ovr"
    average: str = "macro"
    parts: tuple[RankPart, ...] = ()
    path: str = field(default="ranks", init=False)

    def __post_init__(self) -> None:
        if not self.parts:
            make = self._against_rest if self.scheme == "ovr" else self._against
            parts = tuple(make(*classes) for classes in self._members())
            object.__setattr__(self, "parts", parts)

    @property
    def n_models(self) -> int:
        """Number of models."""
        return len(self.scores)

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return int(self.scores[0].shape[1])

    def _members(self) -> list[tuple[int, ...]]:
        """Classes whose weight each part has in the weighted average; the positive one first."""
        classes = range(self.n_classes)
        if self.scheme == "ovr":
            return [(own,) for own in classes]
        return [(own, other) for own in classes for other in classes if own != other]

    def _against_rest(self, own: int) -> RankPart:
        columns = tuple(np.ascontiguousarray(scores[:, own]) for scores in self.scores)
        positive = np.ascontiguousarray(self.positive[:, own])
        return self.part_type(columns, positive, self.units, self.row_weight)

    def _against(self, own: int, other: int) -> RankPart:
        rows = np.flatnonzero(self.positive[:, own] | self.positive[:, other])
        of_row = rows if self.units.of_row is None else self.units.of_row[rows]
        return self.part_type(
            tuple(scores[rows, own] for scores in self.scores),
            self.positive[rows, own],
            Units(len(rows), self.units.n_units, of_row),
            None if self.row_weight is None else self.row_weight[rows],
        )

    def evaluate(self, weights: Weights) -> Values:
        """Evaluate the mean of every model for a block of unit weights."""
        kept = sum(part.units.n_rows for part in self.parts) <= _KEPT_ROWS
        shape = (len(self.parts), len(weights.counts), self.n_models)
        values, missing = np.empty(shape), no_mask(shape)
        for number, part in enumerate(self.parts):
            of_part = part.evaluate(weights if kept else Weights(weights.counts))
            values[number], missing[number] = of_part.values, of_part.undefined
        shares = weights.dot(self._part_weights()) if self.average == "weighted" else None
        undefined: BoolArray = np.any(missing, axis=0)
        return Values(_mean(values, shares), undefined, no_mask(undefined.shape))

    def _part_weights(self) -> FloatArray:
        """Weight of each unit in each part's share of the average."""
        weight = np.ones(self.units.n_rows) if self.row_weight is None else self.row_weight
        members = np.zeros((self.n_classes, len(self.parts)))
        for number, classes in enumerate(self._members()):
            members[list(classes), number] = 1.0
        return self.units.sum_rows(weight[:, None] * self.positive) @ members

    def influence(self, weights: Weights) -> FloatArray:
        """Average the parts' derivatives; their shares change with the weights too."""
        n_parts = len(self.parts)
        shares = np.full((len(weights.counts), n_parts), 1 / n_parts)
        own = np.zeros((self.units.n_units, n_parts))
        if self.average == "weighted":
            own = self._part_weights()
            shares = weights.counts @ own
            total = shares.sum(axis=1, keepdims=True)
            total[total == 0] = np.nan
            shares = shares / total
            own_of_resample = own.sum(axis=1) / total
        found = np.zeros((len(shares), self.n_models, self.units.n_units))
        mean = np.zeros((len(shares), self.n_models))
        for number, part in enumerate(self.parts):
            share = shares[:, number, None]
            found += share[:, :, None] * part.influence(Weights(weights.counts))
            if self.average == "weighted":
                values = part.evaluate(Weights(weights.counts)).values
                found += values[:, :, None] * (own[:, number] / total)[:, None]
                mean += share * values
        if self.average == "weighted":
            found -= mean[:, :, None] * own_of_resample[:, None]
        return found

    def leave_one_out(self) -> LeaveOneOut:
        """Evaluate without each unit, in closed form where the binary metric has one."""
        equal_rows = self.units.of_row is None and self.row_weight is None
        closed = self.part_type is AUCKernel or (
            self.part_type is AveragePrecisionKernel and equal_rows
        )
        if not closed:
            return leave_out(self.evaluate, self.units, self.n_models * len(self.parts))
        values = np.stack([part.leave_one_out().values for part in self.parts])
        shares = None
        if self.average == "weighted":
            own = self._part_weights()
            shares = own.sum(axis=0) - own
        return LeaveOneOut(_mean(values, shares))

    def unit_keys(self) -> Sequence[NDArray[Any]] | None:
        """Rows with equal scores, classes and weight are equal; clusters are never merged."""
        if self.units.of_row is not None:
            return None
        classes = np.packbits(self.positive, axis=1)
        keys: list[NDArray[Any]] = [*classes.T, *np.hstack(self.scores).T]
        return keys if self.row_weight is None else [*keys, self.row_weight]

    def take_units(self, units: IntArray) -> MulticlassKernel:
        """Keep representatives of merged rows."""
        return replace(
            self,
            scores=tuple(scores[units] for scores in self.scores),
            positive=self.positive[units],
            units=Units(len(units), len(units)),
            row_weight=None if self.row_weight is None else self.row_weight[units],
            parts=(),
        )


def over_cells(
    part_type: Callable[..., RankPart],
    scores: tuple[FloatArray, ...],
    positive: BoolArray,
    units: Units,
    row_weight: FloatArray | None,
) -> RankPart:
    """Build the micro average: each row and class is a case, positive if the row is of it."""
    n_rows, n_classes = scores[0].shape
    of_row = np.arange(n_rows) if units.of_row is None else units.of_row
    return part_type(
        tuple(np.ravel(of_model) for of_model in scores),
        positive.ravel(),
        Units(n_rows * n_classes, units.n_units, np.repeat(of_row, n_classes)),
        None if row_weight is None else np.repeat(row_weight, n_classes),
    )


def _mean(values: FloatArray, shares: FloatArray | None) -> FloatArray:
    """Average over parts, (n_parts, n_resamples, n_models), with shares (n_resamples, n_parts)."""
    mean: FloatArray
    if shares is None:
        mean = values.mean(axis=0)
    else:
        total = shares.sum(axis=1)
        total[total == 0] = np.nan
        mean = np.einsum("prm,rp->rm", values, shares) / total[:, None]
    return mean
