"""Kernels of cross-validated metrics: one a fold, averaged, every row weighted once for all."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import compress
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.utils import _safe_indexing  # in scikit-learn's API reference despite the underscore

from sklearn_pairboot._engine.average import AverageKernel, Fold
from sklearn_pairboot._engine.bootstrap import observe
from sklearn_pairboot._engine.jackknife import jackknife_groups
from sklearn_pairboot._engine.units import Units, part_of_units
from sklearn_pairboot._engine.weights import FloatArray, Kernel
from sklearn_pairboot._scoring.build import build_kernel
from sklearn_pairboot._scoring.checks import brief_reason, check_labels, is_constant, shown
from sklearn_pairboot._scoring.problem import Problem
from sklearn_pairboot._scoring.recorded import RecordedEstimator
from sklearn_pairboot._scoring.replay import ReplayKernel
from sklearn_pairboot._scoring.resolve import Metric
from sklearn_pairboot.comparison._design import Weighing
from sklearn_pairboot.comparison._named import is_pairwise
from sklearn_pairboot.comparison._recorded_answers import record_on_fold
from sklearn_pairboot.comparison._routing import ScorerWithMetadata, of_rows
from sklearn_pairboot.comparison._splits import Rows, Split, rows_for

# With fewer units than this in a test fold, the bootstrap varies its mean too little.
_FEW_UNITS = 5


@dataclass(frozen=True)
class Data:
    """Rows as the estimators get them, and truths as the metrics get them."""

    X: Any
    y: NDArray[Any]
    truths: NDArray[Any]
    groups: Any
    units: Units
    weighing: Weighing = Weighing()

    def scored(self, given: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
        """Give each metric's scorer the weights with which the rows count."""
        found = {name: dict(params) for name, params in given.items()}
        if self.weighing.is_needed:
            for params in found.values():
                weight = params.get("sample_weight")
                params["sample_weight"] = self.weighing(weight, len(self.truths))
        return found


@dataclass(frozen=True)
class Tested:
    """The rows that are in some test fold, and the units they make up."""

    rows: Rows
    units: Units

    @classmethod
    def of(cls, splits: Sequence[Split], units: Units) -> Tested:
        """Keep the units that are tested, numbered anew."""
        rows = np.unique(np.concatenate([split.test for split in splits]))
        if len(rows) == units.n_rows:
            return cls(rows, units)
        kept, _ = part_of_units(units, rows)
        if kept.n_units < 2:
            raise ValueError(
                f"`cv` must test at least 2 {'rows' if units.of_row is None else 'clusters'}, got "
                f"{kept.n_units}: nothing can be resampled."
            )
        if units.scheme is not None:
            kept = replace(kept, scheme=units.scheme.part(rows, kept.n_units))
        return cls(rows, kept)


def kernels_of(
    metrics: Sequence[Metric],
    records: Mapping[str, RecordedEstimator],
    y: NDArray[Any],
    kind: str,
    units: Units,
    metadata: Mapping[str, Mapping[str, Any]],
) -> list[Kernel]:
    """Build the kernel of every metric on one set of test rows."""
    kernels: list[Kernel] = []
    for metric in metrics:
        given = dict(metadata[metric.name])
        weight = given.pop("sample_weight", None)
        problem = Problem(y, kind, tuple(records.values()), units, weight)
        if not given:
            kernels.append(build_kernel(metric, problem, tuple(records)))
            continue
        # What else a scorer asks for no kernel knows: the scorer is called.
        kernels.append(
            ReplayKernel(
                problem.records,
                y,
                ScorerWithMetadata(metric.scorer, given, len(y)),
                sign=metric.sign,
                uses_row_numbers=metric.function is not None,
                units=units,
                sample_weight=weight,
                name=metric.name,
                models=tuple(records),
            )
        )
    return kernels


def problem_of(
    metadata: Mapping[str, Any],
    records: Mapping[str, RecordedEstimator],
    y: NDArray[Any],
    kind: str,
    units: Units,
) -> Problem | None:
    """Give the problem of a metric; ``None`` where its scorer is given more than weights."""
    if set(metadata) - {"sample_weight"}:
        return None
    return Problem(y, kind, tuple(records.values()), units, metadata.get("sample_weight"))


@dataclass(frozen=True)
class Folds:
    """Models fitted on the training parts of splits that all of them share.

    ``failed`` are the numbers of splits for which some model is missing. Where ``forgiven``,
    shape (n_metrics, n_splits), is true, an error while scoring makes a value that is missing.
    """

    splits: Sequence[Split]
    models: Sequence[Mapping[str, Any]]
    failed: frozenset[int] = frozenset()
    forgiven: NDArray[np.bool_] | None = None

    @property
    def kept(self) -> list[int]:
        """Numbers of the splits that all models were fitted on."""
        return [number for number in range(len(self.splits)) if number not in self.failed]

    def forgives(self, metric: int, split: int) -> bool:
        """Tell whether an error there is a missing value."""
        return self.forgiven is not None and bool(self.forgiven[metric, split])


@dataclass(frozen=True)
class Scored:
    """What all folds make of the metrics that have values, and where the others have none.

    ``values`` are those of the folds in natural units, shape (n_metrics, n_splits, n_models).
    ``records`` are those of the kept splits.
    """

    metrics: list[Metric]
    kernels: list[AverageKernel]
    values: FloatArray
    records: list[dict[str, RecordedEstimator]]
    notes: list[str]


def score_folds(
    metrics: Sequence[Metric],
    folds: Folds,
    X: Any,
    y: NDArray[Any],
    kind: str,
    tested: Tested,
    metadata: Mapping[str, Mapping[str, Any]],
    *,
    required: bool = True,
) -> Scored:
    """Build the kernel of every metric in every fold, and average over folds.

    Folds without a value are left out of the mean. A metric without any is an error, except where
    that is forgiven and other metrics remain. Where no mean is ``required``, nothing is said.
    """
    place = np.zeros(len(y), dtype=np.intp)
    place[tested.rows] = np.arange(len(tested.rows))
    of_metrics: list[list[Fold]] = [[] for _ in metrics]
    names = tuple(folds.models[folds.kept[0]])
    values = np.full((len(metrics), len(folds.splits), len(names)), np.nan)
    reasons: list[dict[int, str]] = [{} for _ in metrics]
    all_records = []
    for number in folds.kept:
        split, of_split = folds.splits[number], folds.models[number]
        X_test = _safe_indexing(X, split.test)
        records = {}
        for name, model in of_split.items():
            pairwise = is_pairwise(model)
            own = rows_for(model, X, split.test, split.train) if pairwise else X_test
            records[name] = record_on_fold(model, own)
        all_records.append(records)
        units, of_fold = part_of_units(tested.units, place[split.test])
        y_test = y[split.test]
        for k, metric in enumerate(metrics):
            given = {metric.name: of_rows(metadata[metric.name], split.test, len(y))}
            try:
                (kernel,) = kernels_of([metric], records, y_test, kind, units, given)
                if isinstance(kernel, ReplayKernel):  # whose errors shall come out
                    values[k, number] = kernel.observed()
                else:
                    values[k, number] = observe([kernel], units)[0]
            except Exception as error:
                if required and not folds.forgives(k, number):
                    raise
                reasons[k][number] = brief_reason(error)
            else:
                of_metrics[k].append(Fold(kernel, of_fold))
    notes: list[str] = []
    kept = list(range(len(metrics)))
    if required:
        notes, kept = _look_at_undefined(values, metrics, names, folds, y, reasons)
    # A fold without a value on the data as they are would have none in any resample.
    group_of, stratum, _ = jackknife_groups(tested.units)
    averages = []
    for k in kept if required else ():
        built = [number for number in folds.kept if number not in reasons[k]]
        defined = ~np.isnan(values[k, built]).any(axis=1)
        parts = tuple(compress(of_metrics[k], defined))
        averages.append(AverageKernel(parts, tested.units.n_units, group_of, stratum))
    return Scored([metrics[k] for k in kept], averages, values[kept], all_records, notes)


def _look_at_undefined(
    values: FloatArray,
    metrics: Sequence[Metric],
    models: Sequence[str],
    folds: Folds,
    y: NDArray[Any],
    reasons: Sequence[Mapping[int, str]],
) -> tuple[list[str], list[int]]:
    """Warn of folds that a mean leaves out, once for each metric; refuse where all are.

    Also gives the numbers of the metrics that have a value.
    """
    kept_folds, notes, kept = folds.kept, [], []
    undefined = np.isnan(values[:, kept_folds])
    somewhere = [not bool(of_metric.any(axis=1).all()) for of_metric in undefined]
    for k, (metric, of_metric) in enumerate(zip(metrics, undefined, strict=True)):
        lost = [kept_folds[place] for place in np.flatnonzero(of_metric.any(axis=1))]
        if not lost:
            kept.append(k)
            continue
        names = [name for name, bad in zip(models, of_metric.any(axis=0), strict=True) if bad]
        single = [number for number in lost if is_constant(y[folds.splits[number].test])]
        where = "fold(s)" if y.ndim == 1 else "some column in fold(s)"
        why = f" All truths are equal in {where} {shown(single)}." if single else ""
        if reasons[k]:
            number, reason = next(iter(reasons[k].items()))
            why += f" Scoring failed in fold(s) {shown(list(reasons[k]))}, in {number} by: {reason}"
            why += "" if why.endswith(".") else "."
        if somewhere[k]:
            note = (
                f"{metric.name} is undefined in {len(lost)} of {len(kept_folds)} test folds, "
                f"{shown(lost)} (counted from 0), which its mean leaves out.{why}"
            )
            kept.append(k)
        elif any(somewhere) and all(folds.forgives(k, number) for number in lost):
            note = (
                f"{metric.name} has no value in any test fold for model(s) {shown(names)}, and is "
                f"left out.{why}"
            )
        else:
            raise ValueError(
                f"{metric.name} must be defined in some test fold, got no value in any for "
                f"model(s) {shown(names)}.{why} Use fewer folds, or a splitter that stratifies."
            )
        warnings.warn(note, UndefinedMetricWarning, stacklevel=5)
        notes.append(note)
    return notes, kept


def notes_on_splits(
    splits: Sequence[Split], tested: Tested, n_rows: int, groups: Any, *, failed: bool
) -> list[str]:
    """Say what a reader must know of the splits, those that no fit ``failed`` on."""
    notes = []
    n_tested, n_never = len(tested.rows), n_rows - len(tested.rows)
    if n_never:
        notes.append(
            f"{n_tested} of {n_rows} rows were tested; {n_never} are in no test fold"
            f"{' of those kept' if failed else ''} and take no part in the comparison."
        )
    total = sum(len(split.test) for split in splits)
    if total > n_tested:
        notes.append(
            f"Rows are tested {total / n_tested:.3g} times on average. A row is drawn once for all "
            "its folds: repeated tests are not counted as more rows."
        )
    smallest = min(part_of_units(tested.units, _placed(tested, s.test))[0].n_units for s in splits)
    if smallest < _FEW_UNITS:
        kind = "rows" if tested.units.of_row is None else "clusters"
        notes.append(
            f"A test fold holds only {smallest} of the {kind}. With fewer than {_FEW_UNITS} in a "
            "fold the intervals are too narrow; use larger folds."
        )
    seen = [int(np.isin(split.test, split.train).sum()) for split in splits]
    if any(seen):
        notes.append(
            f"{sum(seen)} of {total} tests are of rows that the same split trains on, in "
            f"{np.count_nonzero(seen)} of {len(splits)} splits: scores are too good."
        )
    if groups is not None:
        codes, labels = check_labels(groups, n_rows, "groups")
        torn = {
            code
            for split in splits
            for code in np.intersect1d(codes[split.train], codes[split.test]).tolist()
        }
        if torn:
            notes.append(
                f"{len(torn)} of {len(labels)} groups have rows in the training and the test part "
                "of the same split: the given `cv` tears them apart, and scores may be too good."
            )
    return notes


def _placed(tested: Tested, rows: Rows) -> Rows:
    return np.searchsorted(tested.rows, rows)
