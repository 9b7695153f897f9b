"""Rows of a table as a data frame."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any

import narwhals as nw

from sklearn_pairboot._tables.rows import Row

BACKENDS = ("pandas", "polars", "pyarrow")
TYPES = {"str": nw.String, "float": nw.Float64, "int": nw.Int64, "bool": nw.Boolean}


def frame(kind: type[Row], rows: Sequence[Row], backend: Any) -> Any:
    """Build a data frame with the columns of one kind of row, also from no rows at all."""
    data = {column: [row[column] for row in rows] for column in kind.columns()}
    return frame_of(data, kind.column_types(), backend)


def frame_of(data: dict[str, list[Any]], types: dict[str, str], backend: Any) -> Any:
    """Build a data frame of columns and the names of their types."""
    for column, values in data.items():
        # Enumerations may count more sequences than any integer type of a data frame can.
        if types[column] == "int" and max(values, default=0) >= 2**63:
            types[column], data[column] = "float", [float(value) for value in values]
    schema = {column: TYPES[name]() for column, name in types.items()}
    return nw.from_dict(data, schema, backend=_installed(backend)).to_native()


def _installed(backend: Any) -> Any:
    if isinstance(backend, str):
        if backend not in BACKENDS:
            raise ValueError(f"`backend` must be one of {list(BACKENDS)} or None, got {backend!r}.")
        candidates: Sequence[str] = (backend,)
    elif backend is None:
        candidates = BACKENDS
    else:
        return backend
    for name in candidates:
        if find_spec(name) is not None:
            return name
    raise ImportError(
        f"`to_frame` needs {' or '.join(candidates)}, which cannot be imported. Install pandas and "
        "pyarrow with `pip install sklearn-pairboot[cli]`, or use `to_dict`."
    )
