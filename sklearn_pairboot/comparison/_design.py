"""How rows count in a score: the weights that the estimand and the plan ask for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_pairboot._engine.weights import FloatArray, IntArray
from sklearn_pairboot._scoring.checks import check_labels
from sklearn_pairboot._scoring.problem import UNWEIGHTED
from sklearn_pairboot._scoring.shares import weights_for_shares
from sklearn_pairboot.resampling._whole import ResamplingPlan

ESTIMANDS = ("rows", "clusters")


@dataclass(frozen=True)
class Weighing:
    """Turns the weights that rows were given into those that scores are computed with.

    ``cluster`` numbers the cluster of each row where clusters count the same.
    """

    plan: ResamplingPlan | None = None
    y: NDArray[Any] | None = None
    cluster: IntArray | None = None
    labels: Sequence[Any] = ()

    @classmethod
    def of(
        cls, plan: ResamplingPlan, estimand: str, groups: Any, n_rows: int, y: Any = None
    ) -> Weighing:
        """Find out how the rows of a comparison count."""
        if estimand == "rows":
            return cls(plan, y)
        return cls(plan, y, *check_labels(groups, n_rows, "groups"))

    @property
    def is_needed(self) -> bool:
        """Whether rows count differently from the weights that they were given."""
        return self.cluster is not None or getattr(self.plan, "shares", None) is not None

    @property
    def unweighted(self) -> str:
        """What must be so for a scorer that takes no weights."""
        if self.cluster is not None:
            return "`estimand` must be 'rows'"
        return "`shares` must be None" if self.is_needed else UNWEIGHTED

    def __call__(self, sample_weight: FloatArray | None, n_rows: int) -> FloatArray | None:
        """Give the weights of all rows."""
        if self.cluster is not None:
            ratios = np.ones(len(self.labels))
            sample_weight = weights_for_shares(
                self.cluster, ratios, self.labels, sample_weight, "cluster"
            )
        reweigh = getattr(self.plan, "row_weight", None)
        if reweigh is None:
            return sample_weight
        weight: FloatArray | None = reweigh(n_rows, y=self.y, sample_weight=sample_weight)
        return weight

    def notes(self) -> list[str]:
        """Say which population the scores speak of, where that was declared."""
        shares = getattr(self.plan, "shares", None)
        if shares is None:
            return []
        listed = ", ".join(f"{label!r} {float(share):.4g}" for label, share in shares.items())
        return [
            f"Scores are those of a target population with declared shares of strata: {listed}. "
            "Rows are weighted to these shares (post-stratification), which count as known."
        ]
