"""Metrics of the out-of-fold answers of all folds together, a row's weight shared by its tests."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.utils import _safe_indexing  # in scikit-learn's API reference despite the underscore

from sklearn_pairboot._engine.units import Units
from sklearn_pairboot._engine.weights import FloatArray, IntArray, Kernel
from sklearn_pairboot._scoring.build import build_kernel
from sklearn_pairboot._scoring.checks import brief_reason
from sklearn_pairboot._scoring.out_of_fold import out_of_fold_record
from sklearn_pairboot._scoring.problem import Problem
from sklearn_pairboot._scoring.recorded import RecordedEstimator
from sklearn_pairboot._scoring.resolve import Metric
from sklearn_pairboot.comparison._folds import Folds, Tested
from sklearn_pairboot.comparison._routing import takes_weights_in_scores
from sklearn_pairboot.comparison._slices import Slices, Subgroup, slices_of_records
from sklearn_pairboot.comparison._splits import Rows


@dataclass(frozen=True)
class Pooled:
    """The problems and kernels of the metrics that can be computed on all answers together.

    ``places`` says which tested row each answer is for, ascending.
    """

    metrics: list[Metric]
    problems: list[Problem]
    kernels: list[Kernel]
    places: Rows
    notes: list[str]

    @property
    def n_answers(self) -> int:
        """Number of answers, one for each test of a row."""
        return len(self.places)

    def slices(self, subgroups: tuple[Subgroup, ...], models: tuple[str, ...]) -> Slices:
        """Prepare the metrics in subgroups of the tested rows: all answers to their rows."""
        of_answers = slices_of_records(subgroups, self.metrics, self.problems[0], models)
        n_tested = int(self.places[-1]) + 1
        if self.n_answers == n_tested:
            return of_answers

        def build(rows: IntArray, own: Units) -> Callable[[int], Kernel]:
            place_in_part = np.full(n_tested, -1)
            place_in_part[rows] = np.arange(len(rows))
            answers = np.flatnonzero(place_in_part[self.places] >= 0)
            units = own.of_each_row[place_in_part[self.places[answers]]]
            return of_answers.build(answers, Units(len(answers), own.n_units, units, own.stratum))

        return Slices(subgroups, build)


def pool_folds(
    metrics: Sequence[Metric],
    folds: Folds,
    records: Sequence[Mapping[str, RecordedEstimator]],
    X: Any,
    y: NDArray[Any],
    kind: str,
    tested: Tested,
    sample_weight: FloatArray | None,
) -> Pooled:
    """Join the answers of all folds, and build the kernel of every metric on them.

    ``records`` are those of the kept splits. A row that is tested m times has m answers, each with
    1 / m of its weight; they are drawn together.
    """
    rows = np.concatenate([folds.splits[number].test for number in folds.kept])
    order = np.argsort(rows, kind="stable")
    rows = rows[order]
    # Only scorers that are no metric of the answers look at X.
    X_rows = _safe_indexing(X, rows) if any(m.function is None for m in metrics) else rows
    names = tuple(records[0])
    joined = tuple(
        out_of_fold_record([of_fold[name] for of_fold in records], order, X_rows) for name in names
    )
    place = np.searchsorted(tested.rows, rows)
    n_tests = np.bincount(place)
    units, weight = tested.units, None if sample_weight is None else sample_weight[rows]
    if len(rows) > len(tested.rows):
        of_row = place if units.of_row is None else units.of_row[place]
        units = Units(len(rows), units.n_units, of_row.astype(np.int64), units.stratum)
    if np.ptp(n_tests) > 0:  # else all shares are equal, and change no metric
        _check_shares(metrics)
        weight = (1.0 if weight is None else weight) / n_tests[place]
    built = []
    notes = []
    for k, metric in enumerate(metrics):
        problem = Problem(y[rows], kind, joined, units, weight)
        try:
            built.append((metric, problem, build_kernel(metric, problem, names)))
        except Exception as error:
            never = all(folds.forgives(k, number) for number in folds.kept)
            if not never or len(metrics) == 1:
                raise
            reason = brief_reason(error)
            notes.append(f"{metric.name} has no value in any test fold, and is left out: {reason}")
            warnings.warn(notes[-1], UndefinedMetricWarning, stacklevel=4)
    if not built:
        raise ValueError(f"`scoring` must hold a metric that can be computed. {' '.join(notes)}")
    return Pooled(
        [metric for metric, _, _ in built],
        [problem for _, problem, _ in built],
        [kernel for _, _, kernel in built],
        place,
        notes,
    )


def _check_shares(metrics: Sequence[Metric]) -> None:
    for metric in metrics:
        if not takes_weights_in_scores(metric):
            raise ValueError(
                f"{metric.name} cannot share the weight of a row among its tests, since its scorer "
                "takes no weights. Pass aggregate='folds', or splits that test every row equally "
                "often."
            )
