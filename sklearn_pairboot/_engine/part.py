"""A metric on part of the units: every resample counts those of them that it has drawn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_pairboot._engine.design import Design
from sklearn_pairboot._engine.weights import (
    FloatArray,
    IntArray,
    Kernel,
    LeaveOneOut,
    Values,
    Weights,
)


@dataclass(frozen=True)
class PartKernel:
    """The metric of ``kernel``, whose units are the ``units`` of ``n_units`` in all.

    ``design`` says how many of them there are of which size.
    """

    kernel: Kernel
    units: IntArray
    n_units: int
    design: Design | None = None

    @property
    def path(self) -> str:
        """Way of computing."""
        return self.kernel.path

    @property
    def n_models(self) -> int:
        """Number of models."""
        return self.kernel.n_models

    @property
    def scale(self) -> float:
        """Largest absolute item score of a mean, NaN for other metrics."""
        return float(getattr(self.kernel, "scale", np.nan))

    def evaluate(self, weights: Weights) -> Values:
        """Evaluate the metric of every model for a block of weights of all units."""
        return self.kernel.evaluate(Weights(weights.by_unit[self.units].T, weights.workspace))

    def influence(self, weights: Weights) -> FloatArray | None:
        """Differentiate by the weights of all units; those outside the part change nothing."""
        of_part = self.kernel.influence(Weights(weights.by_unit[self.units].T))
        if of_part is None:
            return None
        found = np.zeros((*of_part.shape[:2], self.n_units))
        found[:, :, self.units] = of_part
        return found

    def leave_one_out(self) -> LeaveOneOut:
        """Evaluate without each unit; those that are not in the part change nothing."""
        of_part = self.kernel.leave_one_out()
        if of_part.grouped:
            return of_part
        everything = Weights(np.ones((1, len(self.units)), dtype=np.uint8))
        values = np.repeat(self.kernel.evaluate(everything).values, self.n_units, axis=0)
        values[self.units] = of_part.values
        return LeaveOneOut(values)

    def unit_keys(self) -> Sequence[NDArray[Any]] | None:
        """Units are equal where they are in the part and equal there, or both outside."""
        of_part = self.kernel.unit_keys()
        if of_part is None:
            return None
        keys = [np.zeros(self.n_units, dtype=np.uint8)]
        keys[0][self.units] = 1
        for key in of_part:
            keys.append(np.zeros(self.n_units, dtype=key.dtype))
            keys[-1][self.units] = key
        return keys

    def take_units(self, units: IntArray) -> PartKernel:
        """Restrict the kernel to representatives of merged units."""
        place = np.full(self.n_units, -1, dtype=np.int64)
        place[self.units] = np.arange(len(self.units))
        inside = place[units] >= 0
        kernel = self.kernel.take_units(place[units][inside])
        return PartKernel(kernel, np.flatnonzero(inside), len(units))
