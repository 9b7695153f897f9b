"""Labels as numbers: a million rows of labels are a handful of cells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_pairboot._engine.merging import first_of_each, number_rows, number_values
from sklearn_pairboot._engine.weights import IntArray


@dataclass(frozen=True)
class Labels:
    """Truths and predictions as numbers of the ``distinct`` labels in any of them, by cell.

    A cell holds the rows with the same truth and the same predictions of all models; ``cells``
    says which cell each row is in.
    """

    cells: IntArray
    truth: IntArray
    predictions: tuple[IntArray, ...]
    distinct: NDArray[Any]

    @property
    def n_labels(self) -> int:
        """Number of distinct labels."""
        return len(self.distinct)


def encode(truth: NDArray[Any], predictions: Sequence[NDArray[Any]]) -> Labels | None:
    """Encode labels; ``None`` where they are no labels, or cannot be compared."""
    kinds = {"S" if array.dtype.kind in "US" else array.dtype.kind for array in predictions}
    truth_kind = "S" if truth.dtype.kind in "US" else truth.dtype.kind
    numeric = set("biuf")
    if not (kinds | {truth_kind}) <= numeric and kinds != {truth_kind}:
        return None
    if any(array.ndim != 1 or is_real(array) for array in predictions):
        return None
    try:
        distinct, codes = number(np.concatenate([truth, *predictions]))
    except TypeError:
        return None
    columns = np.split(codes, 1 + len(predictions))
    cells, n_cells = number_rows(columns)
    some_row = first_of_each(cells, n_cells)
    of_truth, *of_models = (column[some_row] for column in columns)
    return Labels(cells, of_truth, tuple(of_models), distinct)


def number(values: NDArray[Any]) -> tuple[NDArray[Any], IntArray]:
    """Give the distinct values in ascending order, and the number of each value among them."""
    codes, n_distinct = number_values(values)
    distinct = np.empty(n_distinct, dtype=values.dtype)
    distinct[codes] = values
    return distinct, codes


def is_real(array: NDArray[Any]) -> bool:
    """Tell values of a regression from labels, which may be floats too."""
    return array.dtype.kind == "f" and bool(np.any(array != np.floor(array)))
