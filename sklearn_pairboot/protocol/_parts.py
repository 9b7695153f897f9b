"""The parts of the data: their checks, and rows or groups that two parts share."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import narwhals as nw
from numpy.typing import NDArray

from sklearn_pairboot._engine.weights import IntArray
from sklearn_pairboot._scoring.checks import (
    check_labels,
    check_length,
    check_same_index,
    check_target,
    shown,
)
from sklearn_pairboot._scoring.rows import keys_of_rows


@dataclass(frozen=True)
class Part:
    """One part of the data: train, val or test."""

    name: str
    X: Any
    y: NDArray[Any]
    group_of_row: IntArray | None
    groups: tuple[Any, ...]

    @classmethod
    def of(cls, name: str, X: Any, y: Any, groups: Any) -> Part:
        """Check one part."""
        if X is None or y is None:
            missing = f"X_{name}" if X is None else f"y_{name}"
            raise ValueError(f"`{missing}` must be given, got None.")
        check_same_index({f"`X_{name}`": X, f"`y_{name}`": y, f"`groups_{name}`": groups})
        truths = check_target(y, f"y_{name}")
        if truths.ndim > 1:
            raise ValueError(f"`y_{name}` must have one column, got shape {truths.shape}.")
        check_length(truths, _n_rows(X), f"`y_{name}`")
        if groups is None:
            return cls(name, X, truths, None, ())
        codes, labels = check_labels(groups, len(truths), f"groups_{name}")
        return cls(name, X, truths, codes, tuple(labels))


def _n_rows(X: Any) -> int:
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)


def check_apart(parts: Sequence[Part]) -> None:
    """Refuse parts that share rows or groups, naming how many and which."""
    faults = []
    grouped = [part for part in parts if part.group_of_row is not None]
    if grouped and len(grouped) < len(parts):
        missing = [f"`groups_{part.name}`" for part in parts if part.group_of_row is None]
        raise ValueError(
            f"{' and '.join(missing)} must be given where `groups_{grouped[0].name}` are, got "
            "None: whether parts share groups is seen only so."
        )
    for one, other in combinations(grouped, 2):
        both = [label for label in other.groups if label in set(one.groups)]
        if both:
            faults.append(f"{len(both)} group(s) in {one.name} and {other.name}: {shown(both)}")
    keys = {part.name: _keys(part) for part in parts}
    for one, other in combinations(parts, 2):
        by_label = _has_own_index(one.X) and _has_own_index(other.X)
        seen = set(_with_labels(one, keys[one.name], by_label))
        again = [
            row
            for row, key in enumerate(_with_labels(other, keys[other.name], by_label))
            if key in seen
        ]
        if again:
            which = other.X.index[again].tolist() if by_label else again
            named = "index" if by_label else "row(s)"
            faults.append(
                f"{len(again)} row(s) of {other.name} that are also in {one.name}, "
                f"{named} {shown(which)}"
            )
    if faults:
        raise ValueError(
            "The parts must not share rows or groups, got "
            + "; ".join(faults)
            + ". What a model, a calibration or a threshold has seen cannot judge it. Split anew, "
            "or drop these from one part. Where different items look alike, pass pandas "
            "dataframes whose index names the items."
        )


def _with_labels(part: Part, keys: list[Hashable], by_label: bool) -> list[Hashable]:
    if not by_label:
        return keys
    return list(zip(part.X.index.tolist(), keys, strict=True))


def _has_own_index(X: Any) -> bool:
    """Tell whether the index of a pandas dataframe says more than the numbers of its rows."""
    if not (nw.dependencies.is_pandas_dataframe(X) or nw.dependencies.is_pandas_series(X)):
        return False
    return bool(X.index.tolist() != list(range(len(X))))


def _keys(part: Part) -> list[Hashable]:
    """Give a key of every row, equal where features and truth are equal."""
    return list(zip(keys_of_rows(part.X), part.y.tolist(), strict=True))
