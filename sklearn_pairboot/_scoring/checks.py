"""Checks of data: one clear error before any work, and arrays afterwards."""

from __future__ import annotations

import numbers
import reprlib
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any, cast

import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from sklearn_pairboot._engine.intervals import check_alpha
from sklearn_pairboot._engine.seeds import check_random_state, is_integer
from sklearn_pairboot._engine.weights import FloatArray, IntArray

SHOWN = 5
RANGE_OF_LARGEST_WEIGHT = 1e-50, 1e50


def shown(items: Iterable[Any], limit: int = SHOWN) -> str:
    """List the first few items of a message."""
    items = list(items)
    text = ", ".join(repr(item) for item in items[:limit])
    return text if len(items) <= limit else f"{text}, ... ({len(items)} in all)"


def brief(value: Any) -> str:
    """Write a value in a message: what is long, such as an array, by its beginning and end."""
    return " ".join(reprlib.repr(value).split())


def brief_reason(error: Exception, limit: int = 400) -> str:
    """Write why something failed on one line, of a long reason the beginning."""
    reason = " ".join(str(error).split())
    return reason if len(reason) <= limit else f"{reason[:limit]} ..."


def plain(values: Any) -> NDArray[Any]:
    """Turn a series, list or array into a one-dimensional or wider NumPy array.

    Lists of mixed types stay objects: NumPy alone would make ``"1"`` of ``1`` beside a string.
    """
    native = nw.from_native(values, series_only=True, pass_through=True)
    if isinstance(native, nw.Series):
        array: NDArray[Any] = native.to_numpy()
        return array
    if isinstance(values, np.ma.MaskedArray):
        return unmasked(values)
    if isinstance(values, list | tuple):
        kinds = {type(value) for value in values}
        if kinds and all(issubclass(kind, list | tuple | np.ndarray) for kind in kinds):
            return np.asarray(values)
        mixed = len(kinds) > 1 and not all(
            issubclass(kind, numbers.Real | np.bool_) for kind in kinds
        )
        array = np.asarray(values, dtype=object) if mixed else np.asarray(values)
        rounded = (
            array.dtype.kind == "f"
            and len(values) > 0
            and all(issubclass(k, numbers.Integral) for k in kinds)
        )
        return np.asarray(values, dtype=object) if rounded else array
    return np.asarray(values)


def plain_keys(keys: Any) -> NDArray[Any]:
    """Turn keys or labels into an array, tuples into single elements of it."""
    if not isinstance(keys, list | tuple) or not any(isinstance(key, tuple) for key in keys):
        return plain(keys)
    array: NDArray[Any] = np.empty(len(keys), dtype=object)
    array[:] = list(keys)
    return array


def unmasked(values: Any) -> NDArray[Any]:
    """Give the data of a masked array, ``None`` where it is masked."""
    mask = np.ma.getmaskarray(values)
    array: NDArray[Any] = values.data
    if mask.any():  # what stands behind the mask means nothing
        array = array.astype(object)
        array[mask] = None
    return array


def plain_columns(values: Any) -> NDArray[Any]:
    """Turn a dataframe, sparse matrix, series, list or array into an array.

    Columns of numbers of several types become numbers of one type.
    """
    if issparse(values):
        values = cast("Any", values).toarray()
    native = nw.from_native(values, eager_only=True, pass_through=True)
    array = native.to_numpy() if isinstance(native, nw.DataFrame) else plain(values)
    if array.ndim == 2 and array.dtype.kind == "O":
        kinds = {type(value) for value in array.ravel()}
        if all(issubclass(kind, bool | numbers.Real | np.bool_) for kind in kinds):
            return np.array(array.tolist())
    return array


def check_target(y: Any, name: str = "y_true", *, least: int = 2) -> NDArray[Any]:
    """Check truths: one or several columns, no missing values. Shape (n, 1) is ravelled."""
    array = plain_columns(y)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim not in (1, 2) or 0 in array.shape[1:]:
        raise ValueError(
            f"`{name}` must have shape (n_rows,), or (n_rows, n_columns) for several labels or "
            f"outputs, got {array.shape}."
        )
    if len(array) < least:
        rows = "1 row" if least == 1 else f"{least} rows"
        raise ValueError(f"`{name}` must have at least {rows}, got {len(array)}.")
    check_finite(array, f"`{name}`")
    if array.dtype.kind == "O" and array.ndim == 1:
        if all(isinstance(value, str) for value in array):
            return array.astype(str)
        if any(isinstance(value, str) for value in array):
            raise TypeError(
                f"`{name}` must hold labels of one kind, all of them strings or none, got "
                f"{shown(dict.fromkeys(array.tolist()))}."
            )
    return array


def is_constant(y: NDArray[Any]) -> bool:
    """Tell whether the truths, or those of one of several columns, are all equal."""
    columns = [y] if y.ndim == 1 else list(y.T)
    return any(bool(np.all(column == column[0])) for column in columns)


def one_hot_hint(y: NDArray[Any]) -> str:
    """Say what to do about truths that look one-hot encoded, where a metric cannot take them."""
    if y.ndim != 2 or y.dtype.kind not in "biuf":
        return ""
    if not np.all((y == 0) | (y == 1)) or np.any(y.sum(axis=1) != 1):
        return ""
    return (
        " Every row of the truths holds a single 1: if they are one-hot encoded classes, pass the "
        "classes themselves, such as y.argmax(axis=1)."
    )


def check_choice(name: str, value: Any, allowed: Sequence[str]) -> None:
    """Refuse what is not one of the words."""
    if not isinstance(value, str) or value not in allowed:
        raise ValueError(f"`{name}` must be one of {', '.join(map(repr, allowed))}, got {value!r}.")


def check_share(name: str, value: Any, example: str) -> float:
    """Check a number between 0 and 1, both left out."""
    number = isinstance(value, numbers.Real) and not isinstance(value, bool)
    if not number or not 0 < float(value) < 1:
        raise ValueError(f"`{name}` must be a number between 0 and 1, got {value!r}. {example}")
    return float(value)


def check_confidence_level(value: Any) -> float:
    """Check the level of an interval."""
    return check_share("confidence_level", value, "For 95 % pass 0.95.")


def check_resampling(
    n_resamples: Any, confidence_level: Any, random_state: Any
) -> tuple[int, float]:
    """Check a number of random resamples, the level that they are to give, and the seed."""
    level = check_confidence_level(confidence_level)
    if not is_integer(n_resamples, least=2):
        raise ValueError(f"`n_resamples` must be an integer of at least 2, got {n_resamples!r}.")
    check_alpha(int(n_resamples), level)
    check_random_state(random_state)
    return int(n_resamples), level


def check_finite(array: NDArray[Any], name: str, remedy: str = "") -> None:
    """Refuse missing and infinite values, naming how many and the first rows."""
    if array.dtype.kind == "f":
        bad = ~np.isfinite(array)
    elif array.dtype.kind in "Mm":
        bad = np.isnat(array)
    elif array.dtype.kind == "O":
        bad = np.array([is_missing(value) for value in array.ravel()]).reshape(array.shape)
    else:
        return
    if array.ndim > 1:
        bad = np.any(bad, axis=tuple(range(1, array.ndim)))
    if bad.any():
        rows = np.flatnonzero(bad).tolist()
        raise ValueError(
            f"{name} must be finite and present in every row, got {len(rows)} missing or "
            f"infinite, in row(s) {shown(rows)}.{' ' + remedy if remedy else ''}"
        )


def is_missing(value: Any) -> bool:
    """Tell whether a single value is None, NaN or another library's missing value."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    if isinstance(value, Decimal):
        return not value.is_finite()
    if isinstance(value, numbers.Integral):
        return False
    if isinstance(value, tuple):
        return any(is_missing(part) for part in value)
    return isinstance(value, numbers.Real | np.floating) and not np.isfinite(float(value))


def check_length(array: Any, n_rows: int, name: str) -> None:
    """Refuse what is no array, or one with another number of rows."""
    if np.ndim(array) == 0:
        what = array.item() if isinstance(array, np.ndarray) else array
        raise TypeError(
            f"{name} must be an array with one entry per row, got {brief(what)}. For a column "
            "of a dataframe pass frame[column]."
        )
    if len(array) != n_rows:
        raise ValueError(f"{name} must have one entry per row, {n_rows}, got {len(array)}.")


def check_sample_weight(sample_weight: Any, n_rows: int) -> FloatArray | None:
    """Check importance weights: finite, not negative, some positive."""
    if sample_weight is None:
        return None
    weight = plain(sample_weight)
    if weight.ndim == 2 and weight.shape[1] == 1:
        weight = weight[:, 0]
    if weight.ndim == 1 and weight.dtype.kind == "O":
        check_finite(weight, "`sample_weight`")
    if weight.ndim != 1 or weight.dtype.kind not in "iufb":
        raise ValueError(
            "`sample_weight` must be a one-dimensional array of numbers, got shape "
            f"{weight.shape} of dtype {weight.dtype}."
        )
    check_length(weight, n_rows, "`sample_weight`")
    weight = weight.astype(np.float64)
    check_finite(weight, "`sample_weight`")
    if (weight < 0).any():
        rows = np.flatnonzero(weight < 0).tolist()
        raise ValueError(f"`sample_weight` must not be negative, got it in row(s) {shown(rows)}.")
    if not weight.any():
        raise ValueError("`sample_weight` must be positive somewhere, got zeros only.")
    low, high = RANGE_OF_LARGEST_WEIGHT
    if not low <= weight.max() <= high:  # metrics multiply up to four sums of weights
        raise ValueError(
            f"The largest `sample_weight` must be between {low:g} and {high:g}, got "
            f"{weight.max():.3g}. Rescale them all: only their ratios matter."
        )
    return weight


def check_labels(labels: Any, n_rows: int, name: str) -> tuple[IntArray, list[Any]]:
    """Turn labels of groups or strata into numbers in sorted order, and give the distinct labels.

    Labels may be any hashable values. Equal labels are one group, ``1`` and ``"1"`` are two.
    """
    array = plain_keys(labels)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim > 1:
        remedy = ""
        if name == "groups":
            remedy = (
                " Pass one column, or a tuple of labels for each row. Two columns are two crossed "
                "factors, which comparisons take with resampling='auto'."
            )
        raise ValueError(f"`{name}` must be one-dimensional, got shape {array.shape}.{remedy}")
    check_length(array, n_rows, f"`{name}`")
    check_finite(array, f"`{name}`", "Give every row the label of its group.")
    if array.dtype.kind != "O":
        distinct, codes = np.unique(array, return_inverse=True)
        return codes.reshape(-1).astype(np.int64), distinct.tolist()
    try:
        found = dict.fromkeys(array.tolist())
    except TypeError:
        raise TypeError(
            f"`{name}` must hold hashable labels, got lists or other mutables."
        ) from None
    ordered = _sorted(list(found))
    number = {label: code for code, label in enumerate(ordered)}
    return np.array([number[label] for label in array.tolist()], dtype=np.int64), ordered


def _sorted(labels: list[Any]) -> list[Any]:
    try:
        return sorted(labels)
    except TypeError:
        return sorted(labels, key=lambda label: (type(label).__name__, repr(label)))


def check_same_index(named: Mapping[str, Any]) -> None:
    """Refuse pandas inputs whose indexes differ: rows are paired by position."""
    first: tuple[str, Any] | None = None
    for name, values in named.items():
        if not (
            nw.dependencies.is_pandas_series(values) or nw.dependencies.is_pandas_dataframe(values)
        ):
            continue
        if first is None:
            first = name, values.index
        elif len(values.index) == len(first[1]) and not values.index.equals(first[1]):
            raise ValueError(
                f"{first[0]} and {name} have different pandas indexes, but rows are paired by "
                "position. Align them first, by `ids=` where that is taken, or drop the indexes "
                "with `.to_numpy()`."
            )


def align(ids: Mapping[str, Any], reference: str) -> tuple[list[Any], dict[str, IntArray]]:
    """Find, for each name, the rows that match the reference's ids.

    Returns the ids in the reference's order and, for each name, row numbers in that order.
    Duplicates, missing and extra ids are listed in one error.
    """
    positions: dict[str, dict[Any, int]] = {}
    faults: list[str] = []
    for name, of_name in ids.items():
        keys = check_keys(of_name, f"`ids[{name!r}]`")
        gone = [row for row, key in enumerate(keys) if is_missing(key) or key == ""]
        if gone:
            faults.append(f"{name}: empty ids in row(s) {shown(gone)}")
        positions[name] = {}
        repeated: dict[Any, None] = {}
        for row, key in enumerate(keys):
            if key in positions[name]:
                repeated[key] = None
            positions[name][key] = row
        if repeated:
            faults.append(f"{name}: duplicate ids {shown(repeated)}")
    order = list(positions[reference])
    for name, of_name in positions.items():
        missing = [key for key in order if key not in of_name]
        extra = [key for key in of_name if key not in positions[reference]]
        if missing:
            faults.append(f"{name}: missing ids {shown(missing)}")
        if extra:
            faults.append(f"{name}: ids that {reference} lacks {shown(extra)}")
    if faults:
        raise ValueError(
            "`ids` must name the same items, each once, everywhere; got "
            + "; ".join(faults)
            + ". No row is dropped for one model alone: repair the inputs, or restrict all of "
            "them to common ids yourself and say so."
        )
    rows = {
        name: np.array([of_name[key] for key in order], dtype=np.int64)
        for name, of_name in positions.items()
    }
    return order, rows


def check_keys(keys: Any, name: str) -> list[Any]:
    """Check keys of items: one-dimensional and hashable."""
    array = plain_keys(keys)
    if array.ndim != 1:
        found = repr(array.item()) if array.ndim == 0 else f"shape {array.shape}"
        raise TypeError(f"{name} must be a one-dimensional array of keys, got {found}.")
    of_rows: list[Any] = array.tolist()
    for row, key in enumerate(of_rows):
        try:
            hash(key)
        except TypeError:
            raise TypeError(f"{name} must hold hashable keys, got {key!r} in row {row}.") from None
    return of_rows


def check_names(names: Sequence[Any]) -> tuple[str, ...]:
    """Check names of models: strings, not empty, unique."""
    for name in names:
        if not isinstance(name, str) or not name.strip():
            raise TypeError(f"Names of models must be non-empty strings, got {name!r}.")
    if len(set(names)) < len(names):
        repeated = sorted({name for name in names if list(names).count(name) > 1})
        raise ValueError(f"Names of models must be unique, got {shown(repeated)} more than once.")
    if not names:
        raise ValueError("At least one model must be given, got none.")
    return tuple(names)


def named(estimators: Any) -> dict[str, Any]:
    """Read a mapping or a list of (name, estimator)."""
    if isinstance(estimators, Mapping):
        pairs: list[Any] = list(estimators.items())
    elif isinstance(estimators, list | tuple):
        pairs = list(estimators)
        if not all(isinstance(pair, tuple | list) and len(pair) == 2 for pair in pairs):
            raise TypeError(
                "`estimators` must be a mapping or a list of (name, estimator) pairs, got a list "
                f"with {pairs!r}."
            )
    else:
        raise TypeError(
            "`estimators` must be a mapping or a list of (name, estimator) pairs, got "
            f"{type(estimators).__name__}."
        )
    check_names([name for name, _ in pairs])
    return dict(pairs)
