"""A comparison of methods as plain values, and put together again from them."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from sklearn_pairboot._engine.components import Components, Layout, MeanSquares
from sklearn_pairboot.report.storage import integer, number

if TYPE_CHECKING:
    from sklearn_pairboot.training.result import MethodComparison, MethodEstimate

FORMAT = "sklearn-pairboot method comparison"
FORMAT_VERSION = 1
_TYPES: Mapping[str, type] = {
    "format_version": int,
    "models": list,
    "baseline": str,
    "n_sets": int,
    "n_units": int,
    "unit": str,
    "resampled_training": bool,
    "training": dict,
    "notes": list,
    "versions": dict,
}
_TARGETS = ("average", "one_model", "crossed", "test_rows_only")


def plain(value: Any) -> Any:
    """Turn records, arrays and NumPy's numbers into what Python knows by itself."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return value.tolist()
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {item.name: plain(getattr(value, item.name)) for item in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {str(key): plain(part) for key, part in value.items()}
    if isinstance(value, tuple | list):
        return [plain(part) for part in value]
    return value


def dump(result: MethodComparison) -> dict[str, Any]:
    """Give everything that is known of a comparison."""
    return {"format": FORMAT, "format_version": FORMAT_VERSION, **plain(result)}


def load(kind: type[MethodComparison], data: Mapping[str, Any]) -> MethodComparison:
    """Put a comparison together from what JSON gave back."""
    from sklearn_pairboot.training.result import MethodEstimate

    for name, expected in _TYPES.items():
        value = data[name]
        if not isinstance(value, expected) or (expected is int and isinstance(value, bool)):
            raise ValueError(f"{name} is no {expected.__name__}")
    for name in ("models", "notes"):
        if not all(isinstance(text, str) for text in data[name]):
            raise ValueError(f"{name} holds something else than texts")
    n_resamples = data["n_resamples"]
    kept = {item.name: data[item.name] for item in dataclasses.fields(kind)}
    rows = {
        name: tuple(_load_row(MethodEstimate, row) for row in data[name])
        for name in ("scores", "differences")
    }
    return kind(
        **kept
        | rows
        | {
            "models": tuple(data["models"]),
            "notes": tuple(data["notes"]),
            "n_seeds": number(data["n_seeds"]),
            "n_resamples": n_resamples if n_resamples == "exact" else integer(n_resamples),
            "confidence_level": number(data["confidence_level"]),
            "random_state_entropy": integer(data["random_state_entropy"]),
            "training": dict(data["training"]),
            "versions": dict(data["versions"]),
        }
    )


def _load_row(kind: type[MethodEstimate], row: Mapping[str, Any]) -> MethodEstimate:
    from sklearn_pairboot.training.result import TargetEstimate, VarianceShare

    squares = row["components"]["mean_squares"]
    n_sets, within, n_units = squares["layout"]
    found = {
        **row,
        "estimate": number(row["estimate"]),
        "p_adjusted": number(row["p_adjusted"]),
        **{name: TargetEstimate(**_numbers(row[name], "variant")) for name in _TARGETS},
        "variances": tuple(VarianceShare(**_numbers(part, "source")) for part in row["variances"]),
        "components": Components(
            MeanSquares(
                np.array(squares["values"], dtype=np.float64),
                np.array(squares["df"], dtype=np.float64),
                Layout(int(n_sets), number(within), int(n_units)),
            ),
            row["components"]["resampled"],
        ),
    }
    return kind(**found)


def _numbers(record: Mapping[str, Any], word: str) -> dict[str, Any]:
    """Read every value but a word as a number."""
    return {key: value if key == word else number(value) for key, value in record.items()}
