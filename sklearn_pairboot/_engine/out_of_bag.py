"""Selection inside the bootstrap: chosen on the units drawn, scored on those left out."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from sklearn_pairboot._engine.units import Units
from sklearn_pairboot._engine.weights import IntArray, Kernel, LeaveOneOut, Values, Weights


@dataclass(frozen=True)
class OutOfBagKernel:
    """Score, on the units that a resample leaves out, of the candidate that is best on the rest.

    Each resample gives a value to the chosen candidate alone; the others are undefined there. None
    is chosen where all are undefined on the drawn units. ``sign`` is -1 where less is better.
    """

    kernel: Kernel
    sign: float

    @property
    def path(self) -> str:
        """Way of computing the metric."""
        return self.kernel.path

    @property
    def n_models(self) -> int:
        """Number of candidates."""
        return self.kernel.n_models

    def evaluate(self, weights: Weights) -> Values:
        """Choose in every resample, and score what was chosen."""
        drawn = self.kernel.evaluate(weights)
        ranked = np.where(drawn.undefined, -np.inf, self.sign * drawn.values)
        left_out = Weights((weights.counts == 0).astype(np.uint8), weights.workspace.part(0))
        scored = self.kernel.evaluate(left_out)
        chosen = np.zeros(ranked.shape, dtype=bool)
        # The first of equals, as on the observed data.
        np.put_along_axis(chosen, ranked.argmax(axis=1)[:, np.newaxis], True, axis=1)
        chosen &= ~drawn.undefined & ~scored.undefined
        return Values(
            np.where(chosen, scored.values, np.nan),
            ~chosen,
            scored.zero_division & chosen,
            (*drawn.messages, *scored.messages),
        )

    def influence(self, weights: Weights) -> None:
        """Give none: units that are drawn play no part in the score."""
        return None

    def leave_one_out(self) -> LeaveOneOut:
        """Refuse: with one unit left out nothing is drawn."""
        raise TypeError("a selection inside the bootstrap has no jackknife")

    def unit_keys(self) -> None:
        """Units are never merged: of equal ones some may be drawn and some left out."""
        return None

    def take_units(self, units: IntArray) -> OutOfBagKernel:
        """Refuse: units are never merged here."""
        raise TypeError("units of a selection inside the bootstrap are not merged")


def shrinkage_to_all_units(units: Units) -> float:
    """Factor from the spread of means of the units left out to that of means of all units.

    A resample leaves out m of n units, as if drawn without replacement: given the units, their
    mean has the variance S^2 (1/m - 1/n), and the mean of n units drawn anew S^2 / n.
    """
    sizes = np.array([units.n_units]) if units.stratum is None else np.bincount(units.stratum)
    sizes = sizes[sizes > 0]
    left_out = float(np.sum(sizes * (1 - 1 / sizes) ** sizes)) / units.n_units
    return math.sqrt(left_out / (1 - left_out))
