"""Several test sets: the average of a metric over them, each resampled on its own units."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sklearn_pairboot._engine.average import AverageKernel, Fold
from sklearn_pairboot._engine.bootstrap import observe
from sklearn_pairboot._engine.jackknife import jackknife_groups
from sklearn_pairboot._engine.merging import first_of_each
from sklearn_pairboot._engine.units import Units, part_of_units
from sklearn_pairboot._engine.weights import FloatArray, IntArray, Kernel
from sklearn_pairboot._scoring.build import build_kernel, positive_class
from sklearn_pairboot._scoring.checks import check_labels, shown
from sklearn_pairboot._scoring.problem import Problem
from sklearn_pairboot._scoring.replay import ReplayKernel
from sklearn_pairboot._scoring.resolve import Metric
from sklearn_pairboot._scoring.shares import check_by_label, weights_for_shares
from sklearn_pairboot.resampling import ClusterBootstrap, RowBootstrap, StratifiedBootstrap
from sklearn_pairboot.resampling._whole import ResamplingPlan

_PLANS = (RowBootstrap, ClusterBootstrap, StratifiedBootstrap)


class OneSet(NamedTuple):
    """Rows of one test set, their units, and the numbers of these among all units."""

    label: Any
    rows: IntArray
    units: Units
    of_all: IntArray


@dataclass(frozen=True)
class SeveralSets:
    """Test sets, their weights with sum one, and all units in the strata that they are."""

    sets: tuple[OneSet, ...]
    of_row: IntArray
    weights: FloatArray
    units: Units

    @classmethod
    def of(
        cls, test_sets: Any, weights: Any, units: Units, plan: ResamplingPlan
    ) -> SeveralSets | None:
        """Read the test sets of a comparison, if there are any."""
        if test_sets is None:
            if weights is not None:
                raise ValueError(
                    "`test_set_weights` must be None without `test_sets`, got "
                    f"{weights!r}. Pass the label of each row's test set."
                )
            return None
        if type(plan) not in _PLANS or getattr(plan, "shares", None) is not None:
            raise ValueError(
                "`resampling` must draw rows or clusters, also within strata, where there are "
                f"`test_sets`, got {type(plan).__name__}. Compare on one test set at a time for "
                "other plans and for declared shares of strata."
            )
        of_row, labels = check_labels(test_sets, units.n_rows, "test_sets")
        if weights is None:
            shares = np.ones(len(labels))
        else:
            shares = check_by_label("test_set_weights", weights, labels)
            shares /= shares.max()  # whose sum may be beyond float64
        units = _within(units, of_row, labels)
        sets = []
        for number, label in enumerate(labels):
            rows = np.flatnonzero(of_row == number)
            own, of_all = part_of_units(units, rows)
            if own.n_units < 2:
                raise ValueError(
                    "`test_sets` must have at least 2 rows or clusters each, got 1 in "
                    f"{label!r}: what varies cannot be seen in one."
                )
            sets.append(OneSet(label, rows, own, of_all))
        return cls(tuple(sets), of_row, shares / shares.sum(), units)

    def average(
        self,
        build: Callable[[OneSet], Sequence[Kernel]],
        metrics: Sequence[str],
        models: Sequence[str],
    ) -> list[AverageKernel]:
        """Average the kernels of all metrics, which ``build`` makes for each test set."""
        folds: list[list[Fold]] = [[] for _ in metrics]
        for part in self.sets:
            for of_metric, name, kernel in zip(folds, metrics, build(part), strict=True):
                if isinstance(kernel, ReplayKernel):  # whose errors shall come out
                    values = kernel.observed()
                else:
                    values = observe([kernel], part.units)[0]
                lost = [model for model, bad in zip(models, np.isnan(values), strict=True) if bad]
                if lost:
                    raise ValueError(
                        f"{name} must be defined in every test set, got no value in "
                        f"{part.label!r} for model(s) {shown(lost)}. Leave this set out, or "
                        "choose a metric that is defined on it."
                    )
                of_metric.append(Fold(kernel, part.of_all))
        group_of, stratum, _ = jackknife_groups(self.units)
        weights = tuple(self.weights.tolist())
        return [
            AverageKernel(tuple(of_metric), self.units.n_units, group_of, stratum, weights)
            for of_metric in folds
        ]

    def weights_of_mean(self, weight: FloatArray) -> FloatArray:
        """Weigh rows so that a mean over all of them is the average of the sets' means."""
        labels = [part.label for part in self.sets]
        return weights_for_shares(self.of_row, self.weights, labels, weight, "test set")

    def note(self, subgroups: bool) -> str:
        """Say which test sets are averaged, and that subgroups, if there are any, are not."""
        kind = "rows" if self.units.of_row is None else "clusters"
        listed = ", ".join(
            f"{part.label!r} (weight {weight:.4g}, {len(part.rows)} rows"
            + (f" in {part.units.n_units} clusters)" if kind == "clusters" else ")")
            for part, weight in zip(self.sets, self.weights, strict=True)
        )
        return (
            f"Scores are averages over {len(self.sets)} test sets: {listed}. The {kind} of each "
            "are drawn on their own. It speaks of these test sets, not of others."
            + " Subgroups are no such averages: they have the rows of all test sets."
            * subgroups
        )


def kernels_of_part(
    metrics: Sequence[Metric], whole: Problem, models: tuple[str, ...], part: OneSet
) -> list[Kernel]:
    """Build the kernels of all metrics on one test set, with the positive class of all data."""
    asked = [name for metric in metrics for name in metric.responses]
    problem = Problem(
        whole.y[part.rows],
        whole.kind,
        tuple(record._part(part.rows, asked) for record in whole.records),
        part.units,
        None if whole.sample_weight is None else whole.sample_weight[part.rows],
        unweighted=whole.unweighted,
    )
    return [
        build_kernel(metric, replace(problem, pos_label=_positive_class(metric, whole)), models)
        for metric in metrics
    ]


def _positive_class(metric: Metric, whole: Problem) -> Any:
    """Find the positive class, which one test set alone need not show."""
    if whole.pos_label is not None or metric.function is None or whole.kind != "binary":
        return whole.pos_label
    default = inspect.signature(metric.function).parameters.get("pos_label")
    named = positive_class(metric, metric.function, whole)
    return named.get("pos_label", None if default is None else default.default)


def _within(units: Units, of_row: IntArray, labels: Sequence[Any]) -> Units:
    """Make test sets the strata of the units, or split the strata that there are by them."""
    of_unit: NDArray[np.int64] = of_row
    if units.of_row is not None:
        of_unit = of_row[first_of_each(units.of_row, units.n_units)]
        torn = np.flatnonzero(of_unit[units.of_row] != of_row)
        if len(torn):
            row = int(torn[0])
            first = labels[of_unit[units.of_row[row]]]
            raise ValueError(
                "`test_sets` must be constant inside each cluster of `groups`, got a cluster in "
                f"{first!r} and {labels[of_row[row]]!r} (row {row}). Sets that share clusters do "
                "not vary on their own."
            )
    if units.stratum is not None:
        _, of_unit = np.unique(units.stratum * len(labels) + of_unit, return_inverse=True)
    return replace(units, stratum=of_unit.reshape(-1).astype(np.int64))
