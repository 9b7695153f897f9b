"""The check of numbers, one a row, that planning starts from."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_pairboot._scoring.checks import check_finite, plain


def check_numbers(values: Any, name: str) -> NDArray[np.float64]:
    """Take finite numbers of at least two rows."""
    array = plain(values)
    if array.ndim != 1 or len(array) < 2 or array.dtype.kind not in "biuf":
        raise ValueError(
            f"`{name}` must hold a number for each of at least 2 rows, got an array of shape "
            f"{array.shape} and type {array.dtype}."
        )
    check_finite(array, f"`{name}`")
    return array.astype(np.float64)
