"""Metrics averaged over folds, every row weighted once for all its folds, or over test sets."""

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
    """Mean over folds of a metric, over the folds where it is defined for every model.

    With ``weights``, one for each fold and with sum one, a mean that needs all of them.
    ``group_of`` and ``stratum`` number the group of each unit and the stratum of each group, for
    a jackknife that leaves units out in groups where there are too many to go one by one.
    """

    folds: tuple[Fold, ...]
    n_units: int
    group_of: IntArray | None = None
    stratum: IntArray | None = None
    weights: tuple[float, ...] | None = None

    @property
    def path(self) -> str:
        """Way of computing inside the folds, ``"replay"`` if any of them has to."""
        paths = [fold.kernel.path for fold in self.folds]
        return "replay" if "replay" in paths else paths[0]

    @property
    def n_models(self) -> int:
        """Number of models."""
        return self.folds[0].kernel.n_models

    def evaluate(self, weights: Weights) -> Values:
        """Evaluate the mean of every model for a block of unit weights."""
        of_folds = [
            fold.kernel.evaluate(
                Weights(weights.by_unit[fold.units].T, weights.workspace.part(number))
            )
            for number, fold in enumerate(self.folds)
        ]
        values = np.stack([part.values for part in of_folds])
        lost = np.stack([part.undefined for part in of_folds])
        defined = np.logical_not(np.any(lost, axis=2, keepdims=True))
        zero_division = np.stack([part.zero_division for part in of_folds]).any(axis=0)
        averages = self._average(values, defined)
        messages = tuple(message for part in of_folds for message in part.messages)
        lost_of_resample = np.count_nonzero(~defined, axis=(0, 2))
        if self.weights is None and lost_of_resample.any():
            messages += ((LOST_FOLDS, lost_of_resample),)
        undefined = np.isnan(averages)
        return Values(averages, undefined, zero_division & ~undefined, messages)

    def influence(self, weights: Weights) -> FloatArray | None:
        """Average the folds' derivatives, over the folds that are defined in a resample.

        A mean with weights is undefined where one of its folds is.
        """
        shape = len(weights.counts), self.n_models, self.n_units
        total, n_defined = np.zeros(shape), np.zeros((shape[0], 1, 1))
        shares = (1.0,) * len(self.folds) if self.weights is None else self.weights
        for fold, share in zip(self.folds, shares, strict=True):
            of_fold = Weights(weights.by_unit[fold.units].T)
            found = fold.kernel.influence(of_fold)
            if found is None:
                return None
            defined = ~np.any(fold.kernel.evaluate(of_fold).undefined, axis=1)
            total[:, :, fold.units] += share * np.where(defined[:, None, None], found, 0.0)
            n_defined += defined[:, None, None]
        if self.weights is not None:
            return np.where(n_defined < len(self.folds), np.nan, total)
        with np.errstate(all="ignore"):  # no fold is defined: not a number
            return np.asarray(total / n_defined)

    def leave_one_out(self) -> LeaveOneOut:
        """Evaluate without each unit; only the folds that hold the unit change."""
        if self.path == "replay" and self._has_groups():
            return self._leave_groups_out()
        everything = Weights(np.ones((1, self.n_units), dtype=np.uint8))
        values = np.empty((len(self.folds), self.n_units, self.n_models))
        for number, fold in enumerate(self.folds):
            whole = Weights(everything.counts[:, fold.units])
            values[number] = fold.kernel.evaluate(whole).values
            part = fold.kernel.leave_one_out()
            if part.grouped:
                return self._leave_groups_out()
            values[number, fold.units] = part.values
        defined = np.logical_not(np.any(np.isnan(values), axis=2, keepdims=True))
        return LeaveOneOut(self._average(values, defined))

    def _average(self, values: FloatArray, defined: NDArray[np.bool_]) -> FloatArray:
        if self.weights is None:
            return _mean_where(values, defined)
        mean: FloatArray = np.tensordot(self.weights, values, axes=1)
        return mean

    def _has_groups(self) -> bool:
        return self.group_of is not None and int(self.group_of.max()) + 1 < self.n_units

    def _leave_groups_out(self) -> LeaveOneOut:
        if self.group_of is None:
            raise ValueError(
                "`group_of` must be given where a fold cannot leave out its units one by one."
            )
        values = [
            self.evaluate(Weights((self.group_of != group)[np.newaxis].astype(np.uint8))).values
            for group in range(int(self.group_of.max()) + 1)
        ]
        return LeaveOneOut(np.concatenate(values), self.stratum, grouped=True)

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
