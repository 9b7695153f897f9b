"""Rows that are equal, found by keys."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np
from scipy import sparse

from sklearn_pairboot._engine.kernels import csr_array
from sklearn_pairboot._scoring.checks import plain_columns


def keys_of_rows(X: Any) -> list[Hashable]:
    """Give a key of every row of features, equal where these are equal."""
    if sparse.issparse(X):
        rows = csr_array(X).copy()
        rows.sum_duplicates()
        rows.eliminate_zeros()
        values, ends = rows.data.astype(np.float64), rows.indptr
        columns = rows.indices.astype(np.int64)
        return [
            (columns[start:end].tobytes(), values[start:end].tobytes())
            for start, end in zip(ends[:-1], ends[1:], strict=True)
        ]
    table = plain_columns(X)
    if table.dtype.kind in "biuf":
        numbers = table.reshape(len(table), -1).astype(np.float64) + 0.0  # no negative zero
        return [row.tobytes() for row in numbers]
    return [repr(row) for row in table.tolist()]
