"""What the tests share: checks of their arguments, and the normal distribution."""

from __future__ import annotations

import math
import numbers
import sys
from collections.abc import Mapping
from typing import Any, Literal, cast, get_args

import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from scipy import stats

from sklearn_pairboot._scoring.checks import (
    check_choice,
    check_finite,
    check_length,
    check_names,
    check_same_index,
    plain,
    shown,
)

Alternative = Literal["two-sided", "greater", "less"]
ALTERNATIVES = get_args(Alternative)
# Numbers that agree to this share of their size differ by rounding only.
ROUNDING = 1e-12


def check_alternative(value: Any) -> Alternative:
    """Check the direction of a test."""
    check_choice("alternative", value, ALTERNATIVES)
    return cast("Alternative", value)


def check_correctness(values: Any, name: str) -> NDArray[np.bool_]:
    """Check whether each answer is right: booleans, or the numbers 0 and 1."""
    array = plain(values)
    if array.ndim != 1 or len(array) == 0:
        raise ValueError(
            f"{name} must have one entry for each row, at least 1, got shape {array.shape}."
        )
    check_finite(array, name)
    if array.dtype.kind in "iuf":
        wrong = np.unique(array[(array != 0) & (array != 1)]).tolist()
    elif array.dtype.kind != "b":
        distinct = {repr(value): value for value in array.tolist()}
        wrong = [value for value in distinct.values() if not _is_0_or_1(value)]
    else:
        wrong = []
    if wrong:
        raise ValueError(
            f"{name} must say for each row whether the answer is right, True or False (or 1 or "
            f"0), got {shown(wrong)}. Compare predictions with the truth first: y_pred == y_true."
        )
    return array.astype(bool)


def _is_0_or_1(value: Any) -> bool:
    return isinstance(value, numbers.Real | np.bool_) and value in (0, 1)


def named_columns(values: Any, name: str) -> dict[str, Any]:
    """Turn a mapping or a dataframe into a dictionary of columns of equal length, one a model."""
    frame = nw.from_native(values, eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        columns = {column: frame[column].to_native() for column in frame.columns}
    elif isinstance(values, Mapping):
        columns = dict(values)
    else:
        raise TypeError(
            f"`{name}` must be a mapping from names of models to arrays, or a dataframe, got "
            f"{type(values).__name__}."
        )
    check_names(list(columns))
    if len(columns) < 2:
        raise ValueError(f"`{name}` must hold at least 2 models, got {shown(columns)}.")
    check_same_index({f"`{name}[{model!r}]`": column for model, column in columns.items()})
    arrays = {model: plain(column) for model, column in columns.items()}
    first = next(iter(arrays.values()))
    for model, array in arrays.items():
        check_length(array, np.size(first), f"`{name}[{model!r}]`")
    return arrays


def never_zero(p_value: float) -> float:
    """Keep an exact p-value within (0, 1]: it cannot be 0, only too small for a float."""
    return min(max(float(p_value), sys.float_info.min), 1.0)


def normal_p_value(z: float, alternative: str) -> float:
    """Tail of the standard normal distribution."""
    if alternative == "two-sided":
        return float(2 * stats.norm.sf(abs(z)))
    return float(stats.norm.sf(z if alternative == "greater" else -z))


def one_or_two_sided(low: float, high: float, alternative: str) -> tuple[float, float]:
    """Open the end of an interval that a one-sided alternative leaves free."""
    return (
        -math.inf if alternative == "less" else float(low),
        math.inf if alternative == "greater" else float(high),
    )


def normal_quantile(confidence_level: float, alternative: str) -> float:
    """Give the number of standard errors between the estimate and an end of its interval."""
    sides = 2 if alternative == "two-sided" else 1
    return float(stats.norm.isf((1 - confidence_level) / sides))
