"""Splits made once for all models, and models fitted on their training parts."""

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

from sklearn_pairboot._engine.progress import follow, stage
from sklearn_pairboot._scoring.checks import brief, brief_reason
from sklearn_pairboot.comparison._named import is_frozen, is_pairwise
from sklearn_pairboot.comparison._routing import of_rows

Rows = NDArray[np.intp]

_DEFAULT_SPLITS = 5


@dataclass(frozen=True)
class Split:
    """Rows of one training part and its test part."""

    train: Rows
    test: Rows


def check_cv_option(cv: Any) -> None:
    """Refuse what is neither a number of folds, a splitter, nor splits."""
    if isinstance(cv, bool | numbers.Integral):
        known = cv is not True and int(cv) >= 2
    elif isinstance(cv, str | bytes | Mapping | type):
        known = False
    else:
        known = cv is None or hasattr(cv, "split") or isinstance(cv, Iterable)
    if not known:
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
        return check_splits(cv, len(y))
    try:
        return check_splits(splitter.split(X, y, **metadata), len(y))
    except ValueError as error:
        if groups is None and "'groups' parameter should not be None" in str(error):
            raise ValueError(
                f"`groups` must be given where `cv` splits by groups, as {brief(splitter)} does, "
                "got None. Pass the group of each row."
            ) from error
        raise


def check_splits(pairs: Iterable[Any], n_rows: int, name: str = "`cv`") -> list[Split]:
    """Check pairs of training and test rows, and give their row numbers."""
    splits = []
    for number, pair in enumerate(pairs):
        try:
            train, test = (_row_numbers(rows, n_rows) for rows in pair)
        except (TypeError, ValueError, IndexError) as error:
            raise ValueError(
                f"{name} must give pairs of training and test rows, as row numbers or masks of the "
                f"{n_rows} rows, got something else as split {number}."
            ) from error
        if len(train) == 0 or len(test) == 0:
            part = "training" if len(train) == 0 else "test"
            raise ValueError(
                f"{name} must give no empty part, got no {part} rows in split {number}."
            )
        splits.append(Split(train, test))
    if not splits:
        raise ValueError(
            f"{name} must give at least one split, got none. A generator can be used only once: "
            "pass list(generator)."
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
    """A model to be fitted on some rows, ``None`` for all; ``fold`` numbers their split."""

    name: str
    estimator: Any
    rows: Rows | None
    params: Mapping[str, Any]
    fold: int | None = None


def fit_models(
    tasks: Sequence[Task], X: Any, y: NDArray[Any], *, n_jobs: int | None, verbose: int
) -> list[Any]:
    """Fit a clone for every task; frozen models stay what they are.

    Each warning is shown once, with the number of fits that met it, wherever they ran.
    """
    waiting = [task for task in tasks if not is_frozen(task.estimator)]
    with stage(len(waiting), "fitting", verbose) as done:
        parallel = follow(Parallel(n_jobs=n_jobs), done)
        fitted = iter(parallel(delayed(_fit_named)(task, X, y) for task in waiting))
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


def _fit_named(task: Task, X: Any, y: NDArray[Any]) -> tuple[Any, list[tuple[type[Warning], str]]]:
    """Fit, and say which model and which fold failed: all rows are refused in its own words."""
    try:
        return fit_one(task, X, y)
    except MemoryError:
        raise
    except Exception as error:
        if task.fold is None:
            error.add_note(f"This was met while model {task.name!r} was fitted on all rows.")
            raise
        raise ValueError(
            f"Model {task.name!r} could not be fitted on the training part of fold {task.fold} "
            f"(counted from 0): {type(error).__name__}: {brief_reason(error)}"
        ) from error


def fit_one(task: Task, X: Any, y: NDArray[Any]) -> tuple[Any, list[tuple[type[Warning], str]]]:
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
    return _safe_indexing(part, train, axis=1) if is_pairwise(model) else part
