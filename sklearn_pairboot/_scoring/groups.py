"""Groups of rows: named by a column of X or by its index, or of two crossed factors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from sklearn.utils import _safe_indexing  # in scikit-learn's API reference despite the underscore

from sklearn_pairboot._scoring.checks import plain, plain_keys, shown


def crossed_columns(groups: Any) -> dict[str, NDArray[Any]] | None:
    """Give the two columns of groups that have two, by name; ``None`` for other groups.

    Tuples are labels, not columns.
    """
    if nw.dependencies.is_pandas_dataframe(groups):  # whose columns may have any names
        if groups.shape[1] != 2:
            return None
        names = [str(name) for name in groups.columns]
        if names[0] == names[1]:
            raise ValueError(
                f"`groups` must have columns of different names, got {names[0]!r} twice. Rename "
                "one of them."
            )
        return {name: groups.iloc[:, number].to_numpy() for number, name in enumerate(names)}
    frame = nw.from_native(groups, eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        if len(frame.columns) != 2:
            return None
        return {name: frame.get_column(name).to_numpy() for name in frame.columns}
    if isinstance(groups, list) and groups and all(map(_is_pair, groups)):
        # In one array 1 would become "1" beside a string.
        columns = [plain_keys([row[number] for row in groups]) for number in (0, 1)]
    elif isinstance(groups, np.ndarray) and groups.ndim == 2 and groups.shape[1] == 2:
        columns = list(plain(groups).T)
    else:
        return None
    return {f"column {number}": column for number, column in enumerate(columns)}


def _is_pair(row: Any) -> bool:
    return isinstance(row, list | np.ndarray) and len(row) == 2


def labels_of_rows(labels: Any, rows: NDArray[np.intp]) -> Any:
    """Take the labels of some rows, if there are any."""
    return None if labels is None else _safe_indexing(labels, rows)


def named_groups(groups: Any, X: Any) -> Any:
    """Look up the group of every row of ``X``.

    ``groups`` is the name of a column of X, or a mapping or pandas Series from the labels of X's
    index to groups.
    """
    if isinstance(groups, str):
        return _of_column(groups, X)
    is_series = nw.dependencies.is_pandas_series(groups)
    if not is_series and not isinstance(groups, Mapping):
        raise TypeError(
            "`groups` must be the name of a column of X, or a mapping or pandas Series that is "
            f"looked up by X's index, got {type(groups).__name__}. An array cannot follow X into "
            "the folds of a cross-validation; pass it when the scorer is called, or by metadata "
            "routing."
        )
    if not (nw.dependencies.is_pandas_dataframe(X) or nw.dependencies.is_pandas_series(X)):
        raise TypeError(
            "`X` must be a pandas DataFrame for `groups` that are looked up by its index, got "
            f"{type(X).__name__}. Name a column of X instead, or pass groups when the scorer is "
            "called."
        )
    return _of_series(groups, X.index) if is_series else _of_mapping(groups, X.index)


def _of_column(column: str, X: Any) -> Any:
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if not isinstance(frame, nw.DataFrame):
        raise TypeError(
            f"`X` must be a dataframe for `groups`={column!r} to name one of its columns, got "
            f"{type(X).__name__}."
        )
    if column not in frame.columns:
        raise ValueError(
            f"`groups` must name a column of X, got {column!r}. X has the columns "
            f"{shown(frame.columns, 20)}."
        )
    return frame.get_column(column).to_native()


def _of_mapping(groups: Mapping[Any, Any], index: Any) -> list[Any]:
    labels = index.tolist()
    _refuse_missing([label for label in labels if label not in groups])
    return [groups[label] for label in labels]


def _of_series(groups: Any, index: Any) -> NDArray[Any]:
    repeated = groups.index.duplicated()
    known = groups[~repeated]
    if repeated.any():
        # A label may come again, as an index of patients does, while it means the same group.
        again = groups[repeated]
        first = known.to_numpy()[known.index.get_indexer(again.index)]
        ambiguous = again.index[np.asarray(first != again.to_numpy(), dtype=bool)]
        if len(ambiguous):
            raise ValueError(
                "`groups` must give every index label one group, got several for "
                f"{shown(dict.fromkeys(ambiguous.tolist()))}."
            )
    positions = known.index.get_indexer(index)
    _refuse_missing(index[positions < 0].tolist())
    found: NDArray[Any] = known.to_numpy()[positions]
    return found


def _refuse_missing(labels: list[Any]) -> None:
    if labels:
        raise ValueError(
            f"`groups` must hold every label of X's index, got none for {shown(labels)}."
        )
