"""Estimates with bootstrap intervals of items, or of clusters of them, as this package reports."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_pairboot._engine.bootstrap import bootstrap, observe
from sklearn_pairboot._engine.distribution import BootstrapDistribution
from sklearn_pairboot._engine.intervals import interval
from sklearn_pairboot._engine.sample import Sample
from sklearn_pairboot._engine.seeds import entropy_of
from sklearn_pairboot._engine.units import Units
from sklearn_pairboot._engine.weights import Kernel
from sklearn_pairboot._scoring.checks import (
    check_finite,
    check_length,
    check_resampling,
    check_same_index,
    plain,
)
from sklearn_pairboot._tables import zero_width_note
from sklearn_pairboot.resampling import ClusterBootstrap, RowBootstrap


@dataclass(frozen=True)
class Estimate:
    """A number and its bootstrap interval.

    Parameters
    ----------
    value : float
        The estimate; NaN where the items do not define it.
    std_error : float
        Standard deviation of the resampled values.
    ci_low : float
        Lower end of the percentile interval.
    ci_high : float
        Upper end of the percentile interval.
    n_undefined : int
        Resamples in which it has no value; they are left out.

    Examples
    --------
    >>> from sklearn_pairboot.agreement import judge_agreement
    >>> judge_agreement([1, 0, 1, 1], [1, 0, 0, 1], random_state=0).agreement.value
    0.75
    """

    value: float
    std_error: float
    ci_low: float
    ci_high: float
    n_undefined: int = 0

    def __str__(self) -> str:
        if np.isnan(self.value):
            return "undefined"
        return f"{self.value:.3f} [{self.ci_low:.3f}, {self.ci_high:.3f}]"


def notes_on_width(estimates: Mapping[str, Estimate | None], unit: str) -> list[str]:
    """Note the intervals without width, if there are any."""
    names = [name for name, found in estimates.items() if found and found.ci_low == found.ci_high]
    return [zero_width_note(names, unit)] if names else []


@dataclass(frozen=True)
class Resampling:
    """How intervals are to be made: checked once, before any work."""

    units: Units
    n_resamples: int
    confidence_level: float
    entropy: int

    @classmethod
    def of(
        cls, n_items: int, groups: Any, n_resamples: Any, confidence_level: Any, random_state: Any
    ) -> Resampling:
        """Check the keywords that all functions share."""
        n_drawn, level = check_resampling(n_resamples, confidence_level, random_state)
        plan = RowBootstrap() if groups is None else ClusterBootstrap()
        units = plan.resampling_units(n_items, groups=groups)
        return cls(units, n_drawn, level, entropy_of(random_state))

    @property
    def unit(self) -> str:
        """What is drawn."""
        return "items" if self.units.of_row is None else "clusters"

    def draw(self, kernel: Kernel) -> Drawn:
        """Evaluate a kernel on the resamples, which are the same for all kernels."""
        distribution = bootstrap(
            [kernel],
            self.units,
            observe([kernel], self.units),
            n_resamples=self.n_resamples,
            entropy=self.entropy,
            scales=np.array([getattr(kernel, "scale", np.nan)]),
        )
        return Drawn(distribution, self.confidence_level)


@dataclass(frozen=True)
class Drawn:
    """Replicates of one kernel, a column for each thing that it measures."""

    distribution: BootstrapDistribution
    confidence_level: float

    def value(self, column: int = 0) -> Estimate:
        """Estimate one column."""
        return self._estimate(
            float(self.distribution.observed[0, column]),
            self.distribution.undefined[:, 0, [column]],
            lambda: self.distribution.model_sample(0, column),
        )

    def difference(self, column: int, other: int) -> Estimate:
        """Estimate one column less another."""
        return self._estimate(
            self.distribution.difference_estimate(0, column, other),
            self.distribution.undefined[:, 0, [column, other]],
            lambda: self.distribution.difference_sample(0, column, other),
        )

    def _estimate(
        self, observed: float, undefined: NDArray[np.bool_], sample: Callable[[], Sample]
    ) -> Estimate:
        lost = np.any(undefined, axis=1)
        n_undefined = int(np.count_nonzero(lost))
        if np.isnan(observed) or lost.all():
            return Estimate(observed, np.nan, np.nan, np.nan, n_undefined)
        found = interval(
            sample(), observed, method="percentile", confidence_level=self.confidence_level
        )
        return Estimate(observed, found.std_error, found.low, found.high, n_undefined)


def check_items(named: Mapping[str, Any], groups: Any) -> dict[str, NDArray[Any]]:
    """Check one-dimensional arrays of equal length, paired by position."""
    check_same_index({**named, "`groups`": groups})
    arrays = {name: plain(values) for name, values in named.items()}
    n_items = None
    for name, array in arrays.items():
        if array.ndim != 1 or len(array) < 2:
            raise ValueError(
                f"{name} must have one entry for each of at least 2 items, got shape {array.shape}."
            )
        n_items = len(array) if n_items is None else n_items
        check_length(array, n_items, name)
        check_finite(array, name)
    return arrays


def check_zero_or_one(array: NDArray[Any], name: str, meaning: str) -> NDArray[np.float64]:
    """Check answers to a question that only "yes" and "no" answer."""
    wrong = [value for value in dict.fromkeys(array.tolist()) if value not in (0, 1)]
    if wrong:
        raise ValueError(f"{name} must be 1 where {meaning}, else 0, got {wrong[0]!r}.")
    return array.astype(np.float64)
