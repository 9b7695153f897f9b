"""Cross-validated metrics: the mean over folds, every row weighted once for all its folds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_pairboot._engine.weights import (
    FloatArray,
    IntArray,
    Kernel,
    LeaveOneOut,
    Values,
    Weights,
)


@dataclass(frozen=True)
class Fold:
    """The kernel of one test fold, on the ``units`` that have rows in it."""

    kernel: Kernel
    units: IntArray


@dataclass(frozen=True)
class AverageKernel:
    """Mean over folds of a metric, over the folds where it is defined for every model."""

    folds: tuple[Fold, ...]
    n_units: int

    @property
    def path(self) -> str:
        """Way of computing inside the folds."""
        return self.folds[0].kernel.path

    @property
    def n_models(self) -> int:
        """Number of models."""
        return self.folds[0].kernel.n_models

    def evaluate(self, weights: Weights) -> Values:
        """Evaluate the mean of every model for a block of unit weights."""
        of_folds = [
            fold.kernel.evaluate(Weights(weights.counts[:, fold.units])) for fold in self.folds
        ]
        values = np.stack([part.values for part in of_folds])
        lost = np.stack([part.undefined for part in of_folds])
        defined = np.logical_not(np.any(lost, axis=2, keepdims=True))
        zero_division = np.stack([part.zero_division for part in of_folds]).any(axis=0)
        averages = _mean_where(values, defined)
        messages = tuple(message for part in of_folds for message in part.messages)
        n_lost = int(np.count_nonzero(~defined))
        if n_lost:
            messages += ((LOST_FOLDS, n_lost),)
        undefined = np.isnan(averages)
        return Values(averages, undefined, zero_division & ~undefined, messages)

    def leave_one_out(self) -> LeaveOneOut:
        """Evaluate without each unit; only the folds that hold the unit change."""
        everything = Weights(np.ones((1, self.n_units), dtype=np.uint8))
        values = np.empty((len(self.folds), self.n_units, self.n_models))
        for number, fold in enumerate(self.folds):
            whole = Weights(everything.counts[:, fold.units])
            values[number] = fold.kernel.evaluate(whole).values
            part = fold.kernel.leave_one_out()
            if part.grouped:
                raise ValueError(
                    "the jackknife needs each unit left out singly in every fold, got folds with "
                    f"more units ({len(fold.units)}) than can be replayed one by one"
                )
            values[number, fold.units] = part.values
        defined = np.logical_not(np.any(np.isnan(values), axis=2, keepdims=True))
        return LeaveOneOut(_mean_where(values, defined))

    def unit_keys(self) -> Sequence[NDArray[Any]] | None:
        """Units of different folds are never merged."""
        return None

    def take_units(self, units: IntArray) -> AverageKernel:
        """Refuse: units are never merged here."""
        raise TypeError("units of cross-validated metrics are not merged")


LOST_FOLDS = "lost fold values"


def _mean_where(values: FloatArray, defined: NDArray[np.bool_]) -> FloatArray:
    n_defined = np.broadcast_to(defined, values.shape).sum(axis=0)
    total = np.where(defined, values, 0.0).sum(axis=0)
    means: FloatArray = np.full(total.shape, np.nan)
    np.divide(total, n_defined, out=means, where=n_defined > 0)
    return means
