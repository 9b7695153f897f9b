"""Fits of every method on the same training rows with the same seeds."""

from __future__ import annotations

import math
import os
import pickle
import warnings
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import joblib
import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.exceptions import FitFailedWarning
from sklearn.utils import _safe_indexing  # in scikit-learn's API reference despite the underscore
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_memory

from sklearn_pairboot._engine.progress import follow, stage
from sklearn_pairboot._engine.units import Units
from sklearn_pairboot._engine.weights import IntArray
from sklearn_pairboot._scoring.checks import brief_reason, shown
from sklearn_pairboot._scoring.recorded import RecordedEstimator
from sklearn_pairboot._scoring.resolve import Metric
from sklearn_pairboot.comparison._named import is_pairwise
from sklearn_pairboot.comparison._splits import Rows, Task, fit_one

# Streams of random numbers beside those of the bootstrap of test rows.
_STREAM_OF_SEEDS, _STREAM_OF_ROWS = 2, 3
_LARGEST_SEED = 2**31 - 1


@dataclass(frozen=True)
class Cell:
    """One training set and seed, which the fits of all methods share."""

    set: int
    seed: int

    def __str__(self) -> str:
        return f"training set {self.set}, seed {self.seed}"


@dataclass(frozen=True)
class Fitted:
    """Records of all fits, and where each stands: methods without randomness have fewer.

    ``columns`` has shape (n_models, n_cells) and holds numbers of records.
    """

    records: tuple[RecordedEstimator, ...]
    names: tuple[str, ...]
    columns: IntArray
    cells: tuple[Cell, ...]
    notes: tuple[str, ...]

    @property
    def set_of_fit(self) -> IntArray:
        """Training set of each cell, numbered anew without gaps; of single seeds the seed."""
        sets = [cell.set for cell in self.cells]
        if len(set(sets)) == 1:
            return np.arange(len(sets))
        return np.unique(sets, return_inverse=True)[1].reshape(-1).astype(np.int64)


def random_parameters(estimator: Any) -> list[str]:
    """Names of the parameters that seed an estimator, also of those nested in it."""
    if not hasattr(estimator, "get_params"):
        return []
    names = estimator.get_params(deep=True)
    return sorted(n for n in names if n == "random_state" or n.endswith("__random_state"))


def shuffling_splitters(estimator: Any) -> list[str]:
    """Names of the parameters that are splitters which shuffle; no parameter seeds these."""
    if not hasattr(estimator, "get_params"):
        return []
    return sorted(
        name
        for name, value in estimator.get_params(deep=True).items()
        if hasattr(value, "split")
        and hasattr(value, "random_state")
        and not hasattr(value, "get_params")
        and getattr(value, "shuffle", True)
    )


def is_random(estimator: Any) -> bool:
    """Tell whether seeds change what an estimator becomes."""
    return bool(random_parameters(estimator) or shuffling_splitters(estimator))


def seeds_for(entropy: int, cell: Cell, n_seeds: int) -> list[int]:
    """Give the seeds of one cell, the same ones for every method."""
    source = np.random.SeedSequence(entropy, spawn_key=(_STREAM_OF_SEEDS, cell.set, cell.seed))
    return [int(seed) & _LARGEST_SEED for seed in source.generate_state(n_seeds)]


def training_rows(units: Units, resampling: str, entropy: int, number: int) -> Rows:
    """Resample rows or whole clusters: as many with replacement, or half without."""
    source = np.random.SeedSequence(entropy, spawn_key=(_STREAM_OF_ROWS, number))
    generator = np.random.default_rng(source)
    if resampling == "bootstrap":
        drawn = generator.integers(units.n_units, size=units.n_units)
    else:
        drawn = generator.permutation(units.n_units)[: math.ceil(units.n_units / 2)]
    if units.of_row is None:
        return drawn.astype(np.intp)
    by_unit = np.split(np.argsort(units.of_row, kind="stable"), np.cumsum(units.rows_per_unit)[:-1])
    return np.concatenate([by_unit[unit] for unit in drawn]).astype(np.intp)


def fit_all(
    estimators: Mapping[str, Any],
    metrics: Sequence[Metric],
    X_train: Any,
    y_train: NDArray[Any],
    X_test: Any,
    rows_of_set: Sequence[Rows | None],
    n_seeds: int,
    entropy: int,
    *,
    n_jobs: int | None,
    memory: Any,
    verbose: int,
) -> Fitted:
    """Fit every method in every cell; a cell in which one fails is left out for all."""
    cells = [Cell(t, s) for t in range(len(rows_of_set)) for s in range(n_seeds)]
    random = {name: is_random(estimator) for name, estimator in estimators.items()}
    asked = [
        (name, cell)
        for cell in cells
        for name in estimators
        if random[name] or cell.seed == 0  # without randomness all seeds give the same
    ]
    place = os.fspath(memory) if isinstance(memory, os.PathLike) else memory
    data, responses = (X_train, y_train, X_test), _responses(metrics)
    work = check_memory(place).cache(fit_and_answer, ignore=list(_KNOWN_BY_KEY))
    origin = None if place is None else joblib.hash((data, responses))
    tasks = []
    for name, cell in asked:
        model, rows = _seeded(estimators[name], entropy, cell), rows_of_set[cell.set]
        key = "" if origin is None else _key(name, model, rows, origin)
        tasks.append(delayed(_attempt)(work, key, model, rows, data, responses))
    outcomes = dict(zip(asked, _run(tasks, len(asked), n_jobs, verbose), strict=True))
    kept = [
        cell
        for cell in cells
        if all(not isinstance(outcomes[_place(n, cell, random)], str) for n in estimators)
    ]
    notes = _report_failures(outcomes, kept, len(cells))
    _report_warnings(outcomes)
    used = [key for key in asked if any(_place(key[0], c, random) == key for c in kept)]
    number = {key: place for place, key in enumerate(used)}
    columns = [[number[_place(name, cell, random)] for cell in kept] for name in estimators]
    return Fitted(
        records=tuple(outcomes[key][0] for key in used),
        names=tuple(f"{name} ({cell})" for name, cell in used),
        columns=np.array(columns, dtype=np.int64),
        cells=tuple(kept),
        notes=notes,
    )


def _place(name: str, cell: Cell, random: Mapping[str, Any]) -> tuple[str, Cell]:
    """Name the fit that stands for a method in a cell."""
    return name, cell if random[name] else Cell(cell.set, 0)


def _seeded(estimator: Any, entropy: int, cell: Cell) -> Any:
    """Clone an estimator, and seed its parameters and the splitters in it."""
    model = clone(estimator)
    parameters, splitters = random_parameters(model), shuffling_splitters(model)
    seeds = seeds_for(entropy, cell, len(parameters) + len(splitters))
    if parameters:
        model.set_params(**dict(zip(parameters, seeds[: len(parameters)], strict=True)))
    for name, seed in zip(splitters, seeds[len(parameters) :], strict=True):
        model.get_params(deep=True)[name].random_state = seed  # a copy, made by clone
    return model


def _responses(metrics: Sequence[Metric]) -> tuple[tuple[str, ...], ...] | None:
    """Responses that the metrics take, by preference; ``None`` where a scorer takes the model."""
    if any(metric.function is None or not metric.responses for metric in metrics):
        return None
    return tuple(metric.responses for metric in metrics)


_KNOWN_BY_KEY = ("estimator", "rows", "X_train", "y_train", "X_test", "responses")


def _key(name: str, model: Any, rows: Rows | None, origin: str) -> str:
    """Name a fit in the cache, here and not in a worker: that knows no class of a notebook."""
    try:
        return str(joblib.hash((model, rows, origin)))
    except pickle.PicklingError as error:
        raise ValueError(
            f"`memory` must be None where an estimator cannot be pickled, got {name!r}, which "
            "holds a lambda or something else that has no name to be found by. Define it with a "
            "name at the top of a module."
        ) from error


def fit_and_answer(
    key: str,
    estimator: Any,
    rows: Rows | None,
    X_train: Any,
    y_train: NDArray[Any],
    X_test: Any,
    responses: tuple[tuple[str, ...], ...] | None,
) -> tuple[RecordedEstimator, list[tuple[type[Warning], str]]]:
    """Fit on some rows and answer the test rows; what is cached when a cache is given.

    ``key`` stands for all other arguments in a cache, which hashes it alone. Models are kept only
    where a scorer asks for them: answers are far smaller.
    """
    task = Task(type(estimator).__name__, estimator, rows, {})
    model, met = fit_one(task, X_train, y_train)
    _check_classes(model, y_train)
    if rows is not None and is_pairwise(model):
        X_test = _safe_indexing(X_test, rows, axis=1)
    record = RecordedEstimator.from_estimator(model, X_test)
    if responses is None:
        return record, met
    for preferred in responses:
        known = next((name for name in preferred if name in record.responses), None)
        if known is not None:
            record.response(known)
    return record._answers_only(), met


def _check_classes(model: Any, y: NDArray[Any]) -> None:
    """Refuse a classifier that met fewer classes than there are."""
    classes = getattr(model, "classes_", None)
    if not isinstance(classes, np.ndarray) or y.ndim > 1:
        return
    if type_of_target(y) in ("binary", "multiclass") and len(classes) < len(np.unique(y)):
        missing = sorted(set(np.unique(y).tolist()) - set(classes.tolist()))
        raise ValueError(f"the training resample lacks class(es) {shown(missing)}")


def _attempt(
    work: Any,
    key: str,
    estimator: Any,
    rows: Rows | None,
    data: tuple[Any, Any, Any],
    responses: Any,
) -> Any:
    """Fit, or give the reason why it failed."""
    try:
        return work(key, estimator, rows, *data, responses)
    except Exception as error:
        return f"{type(error).__name__}: {brief_reason(error)}"


def _run(tasks: Iterable[Any], n_tasks: int, n_jobs: int | None, verbose: int) -> list[Any]:
    with stage(n_tasks, "fitting", verbose) as done:
        return list(follow(Parallel(n_jobs=n_jobs), done)(tasks))


def _report_failures(
    outcomes: Mapping[tuple[str, Cell], Any], kept: Sequence[Cell], n_cells: int
) -> tuple[str, ...]:
    """Warn of fits that failed, once for each reason; refuse where too few are left."""
    reasons: dict[tuple[str, str], list[Cell]] = {}
    for (name, cell), outcome in outcomes.items():
        if isinstance(outcome, str):
            reasons.setdefault((name, outcome), []).append(cell)
    told = [
        f"{len(cells)} fit(s) of {name} failed, such as {cells[0]}: {reason}"
        for (name, reason), cells in reasons.items()
    ]
    if len(kept) < 2:
        raise ValueError(
            f"All methods must be fitted at least twice, got {len(kept)} of {n_cells} training "
            f"sets and seeds in which all succeeded. {'; '.join(told)}"
        )
    if not told:
        return ()
    left_out = (
        f"{n_cells - len(kept)} of {n_cells} training sets and seeds are left out for all methods, "
        "to keep fits paired."
    )
    notes = [f"{text}. {left_out}" for text in told]
    for note in notes:
        warnings.warn(note, FitFailedWarning, stacklevel=4)
    return tuple(notes)


def _report_warnings(outcomes: Mapping[tuple[str, Cell], Any]) -> None:
    """Show each warning once, with the number of fits that met it."""
    met = Counter(
        (name, category, text)
        for (name, _), outcome in outcomes.items()
        if not isinstance(outcome, str)
        for category, text in outcome[1]
    )
    for (name, category, text), count in met.items():
        warnings.warn(f"{text} (met in {count} fit(s) of {name})", category, stacklevel=4)
