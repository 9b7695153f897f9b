"""Cross-validation of models: splits made once, fitted fold models, kernels that average folds."""

from __future__ import annotations

import numbers
import threading
import warnings
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.model_selection import GroupKFold, StratifiedGroupKFold, check_cv
from sklearn.utils import _safe_indexing  # in scikit-learn's API reference despite the underscore
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.parallel import Parallel, delayed

from sklearn_pairboot._engine.average import AverageKernel, Fold
from sklearn_pairboot._engine.bootstrap import observe
from sklearn_pairboot._engine.units import Units
from sklearn_pairboot._engine.weights import FloatArray, Kernel
from sklearn_pairboot._scoring.build import build_kernel
from sklearn_pairboot._scoring.checks import check_labels, shown
from sklearn_pairboot._scoring.problem import Problem
from sklearn_pairboot._scoring.recorded import RecordedEstimator
from sklearn_pairboot._scoring.replay import ReplayKernel
from sklearn_pairboot._scoring.resolve import Metric
from sklearn_pairboot.comparison._named import is_frozen, tags_of
from sklearn_pairboot.comparison._routing import ScorerWithMetadata, of_rows

Rows = NDArray[np.intp]

_DEFAULT_SPLITS = 5
# Below this number of units in a test fold, its mean hardly varies between resamples.
_FEW_UNITS = 5


@dataclass(frozen=True)
class Split:
    """Rows of one training part and its test part."""

    train: Rows
    test: Rows


def check_cv_option(cv: Any) -> None:
    """Refuse what is neither a number of folds, a splitter, nor splits."""
    number = isinstance(cv, numbers.Integral) and not isinstance(cv, bool) and int(cv) >= 2
    if cv is None or number or (hasattr(cv, "split") and not isinstance(cv, str | type)):
        return
    if isinstance(cv, str | bytes | Mapping) or not isinstance(cv, Iterable):
        raise ValueError(
            "`cv` must be None, an integer of at least 2, a splitter with a method `split`, or "
            f"pairs of training and test rows, got {cv!r}."
        )


def make_splits(
    cv: Any, X: Any, y: NDArray[Any], groups: Any, *, classifier: bool, metadata: Mapping[str, Any]
) -> list[Split]:
    """Make the splits that all models share, once.

    Without a splitter of the caller's, groups are never torn apart.
    """
    if groups is not None and (cv is None or isinstance(cv, numbers.Integral)):
        n_splits = _DEFAULT_SPLITS if cv is None else int(cv)
        stratify = classifier and type_of_target(y) in ("binary", "multiclass")
        splitter = StratifiedGroupKFold(n_splits) if stratify else GroupKFold(n_splits)
    elif hasattr(cv, "split") or cv is None or isinstance(cv, numbers.Integral):
        splitter = check_cv(cv, y, classifier=classifier)
    else:
        return _checked(cv, len(y))
    return _checked(splitter.split(X, y, **metadata), len(y))


def _checked(pairs: Iterable[Any], n_rows: int) -> list[Split]:
    splits = []
    for number, pair in enumerate(pairs):
        try:
            train, test = (_row_numbers(rows, n_rows) for rows in pair)
        except (TypeError, ValueError, IndexError) as error:
            raise ValueError(
                "`cv` must give pairs of training and test rows, as row numbers or masks of the "
                f"{n_rows} rows, got something else as split {number}."
            ) from error
        if len(train) == 0 or len(test) == 0:
            part = "training" if len(train) == 0 else "test"
            raise ValueError(f"`cv` must give no empty part, got no {part} rows in split {number}.")
        splits.append(Split(train, test))
    if not splits:
        raise ValueError(
            "`cv` must give at least one split, got none. A generator can be used only once: pass "
            "list(generator)."
        )
    return splits


def _row_numbers(rows: Any, n_rows: int) -> Rows:
    found = np.asarray(rows)
    if found.dtype.kind == "b" and found.shape == (n_rows,):
        return np.flatnonzero(found)
    if found.ndim != 1 or (len(found) and found.dtype.kind not in "iu"):
        raise TypeError("not row numbers")
    return np.arange(n_rows)[found.astype(np.intp)]  # also checks their range


@dataclass(frozen=True)
class Task:
    """A model to be fitted on some rows, ``None`` for all."""

    name: str
    estimator: Any
    rows: Rows | None
    params: Mapping[str, Any]


def fit_models(
    tasks: Sequence[Task], X: Any, y: NDArray[Any], *, n_jobs: int | None, verbose: int
) -> list[Any]:
    """Fit a clone for every task; frozen models stay what they are.

    Each warning is shown once, with the number of fits that met it, wherever they ran.
    """
    parallel = Parallel(n_jobs=n_jobs, verbose=verbose)
    waiting = [task for task in tasks if not is_frozen(task.estimator)]
    fitted = iter(parallel(delayed(_fit)(task, X, y) for task in waiting))
    models, met = [], Counter[tuple[str, type[Warning], str]]()
    for task in tasks:
        if is_frozen(task.estimator):
            models.append(task.estimator)
            continue
        model, caught = next(fitted)
        models.append(model)
        met.update({(task.name, category, text): 1 for category, text in caught})
    for (name, category, text), count in met.items():
        warnings.warn(f"{text} (met in {count} fit(s) of {name})", category, stacklevel=3)
    return models


def _fit(task: Task, X: Any, y: NDArray[Any]) -> tuple[Any, list[tuple[type[Warning], str]]]:
    model = clone(task.estimator)
    params = of_rows(task.params, task.rows, len(y))
    X_part = X if task.rows is None else rows_for(model, X, task.rows, task.rows)
    y_part = y if task.rows is None else y[task.rows]
    # Warnings are caught by swapping hooks of the process, which only one thread may do.
    if threading.current_thread() is not threading.main_thread():
        return model.fit(X_part, y_part, **params), []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(X_part, y_part, **params)
    found = dict.fromkeys((warning.category, str(warning.message)) for warning in caught)
    return model, list(found)


def rows_for(model: Any, X: Any, rows: Rows, train: Rows) -> Any:
    """Rows of X as a model takes them: of a kernel matrix also the columns it was trained on."""
    part = _safe_indexing(X, rows)
    tags = tags_of(model)
    if tags is not None and tags.input_tags.pairwise:
        return _safe_indexing(part, train, axis=1)
    return part


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
        return cls(rows, kept)


def part_of_units(units: Units, rows: Rows) -> tuple[Units, NDArray[np.int64]]:
    """Units of some rows, numbered anew, and their numbers among all units."""
    codes = rows.astype(np.int64) if units.of_row is None else units.of_row[rows]
    kept, local = np.unique(codes, return_inverse=True)
    of_row: NDArray[np.int64] | None = local.reshape(-1).astype(np.int64)
    if units.of_row is None and len(kept) == len(rows):
        kept, of_row = codes, None  # rows are units, in their own order
    stratum = None
    if units.stratum is not None:
        _, stratum = np.unique(units.stratum[kept], return_inverse=True)
        stratum = stratum.reshape(-1).astype(np.int64)
    return Units(len(rows), len(kept), of_row, stratum), kept


def direct_kernels(
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


def fold_kernels(
    metrics: Sequence[Metric],
    models: Sequence[Mapping[str, Any]],
    splits: Sequence[Split],
    X: Any,
    y: NDArray[Any],
    kind: str,
    tested: Tested,
    metadata: Mapping[str, Mapping[str, Any]],
) -> tuple[list[AverageKernel], FloatArray]:
    """Build the kernel of every metric in every fold, and average over folds.

    Also gives the observed values, shape (n_metrics, n_splits, n_models), natural units.
    """
    place = np.zeros(len(y), dtype=np.intp)
    place[tested.rows] = np.arange(len(tested.rows))
    folds: list[list[Fold]] = [[] for _ in metrics]
    values = np.empty((len(metrics), len(splits), len(models[0])))
    for number, (split, of_split) in enumerate(zip(splits, models, strict=True)):
        X_test = _safe_indexing(X, split.test)
        records = {}
        for name, model in of_split.items():
            tags = tags_of(model)
            pairwise = tags is not None and tags.input_tags.pairwise
            own = rows_for(model, X, split.test, split.train) if pairwise else X_test
            records[name] = RecordedEstimator.from_estimator(model, own)
        units, of_fold = part_of_units(tested.units, place[split.test])
        y_test = y[split.test]
        of_rows_ = {
            name: of_rows(given, split.test, len(y)) for name, given in metadata.items()
        }
        kernels = direct_kernels(metrics, records, y_test, kind, units, of_rows_)
        for metric, kernel in enumerate(kernels):
            folds[metric].append(Fold(kernel, of_fold))
            replayed = isinstance(kernel, ReplayKernel)  # whose errors shall come out
            values[metric, number] = kernel.observed() if replayed else observe([kernel], units)[0]
    _refuse_undefined(values, metrics, tuple(models[0]), splits, y)
    return [AverageKernel(tuple(part), tested.units.n_units) for part in folds], values


def _refuse_undefined(
    values: FloatArray,
    metrics: Sequence[Metric],
    models: Sequence[str],
    splits: Sequence[Split],
    y: NDArray[Any],
) -> None:
    """A mean over some of the folds would be another metric: name the folds instead."""
    for metric, of_metric in zip(metrics, np.isnan(values), strict=True):
        lost = np.flatnonzero(of_metric.any(axis=1))
        if not len(lost):
            continue
        names = [name for name, bad in zip(models, of_metric.any(axis=0), strict=True) if bad]
        labels = np.unique(y[splits[lost[0]].test]).tolist()
        hint = (
            f" All truths of test fold {lost[0]} are {labels[0]!r}: use fewer folds, or a splitter "
            "that stratifies."
            if len(labels) == 1
            else ""
        )
        raise ValueError(
            f"{metric.name} must be defined in every test fold, got no value in fold(s) "
            f"{shown(lost.tolist())} for model(s) {shown(names)}.{hint}"
        )


def notes_on_splits(
    splits: Sequence[Split], tested: Tested, n_rows: int, groups: Any
) -> list[str]:
    """Say what a reader must know of the splits."""
    notes = []
    n_tested, n_never = len(tested.rows), n_rows - len(tested.rows)
    if n_never:
        notes.append(
            f"{n_tested} of {n_rows} rows were tested; {n_never} are in no test fold and take no "
            "part in the comparison."
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
