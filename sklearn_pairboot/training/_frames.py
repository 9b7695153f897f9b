"""A comparison of methods as data frames."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from sklearn_pairboot._tables.frames import frame_of

if TYPE_CHECKING:
    from sklearn_pairboot.training.result import MethodComparison, MethodEstimate

TABLES = ("differences", "scores", "variances")
_TARGETS = ("average", "one_model", "crossed", "test_rows_only")
_NAMES = {"metric": "str", "model": "str", "baseline": "str"}
_ESTIMATES = {
    "target": "str",
    "variant": "str",
    "estimate": "float",
    "std_error": "float",
    "ci_low": "float",
    "ci_high": "float",
    "p_value": "float",
    "df": "float",
    "p_adjusted": "float",
    "verdict": "str",
}
_SHARES = {
    "source": "str",
    "variance": "float",
    "contribution": "float",
    "share": "float",
    "share_low": "float",
    "share_high": "float",
}


def frame(result: MethodComparison, which: str, backend: Any) -> Any:
    """Build one of the tables."""
    if which not in TABLES:
        raise ValueError(f"`which` must be one of {list(TABLES)}, got {which!r}.")
    if which == "variances":
        types = _NAMES | _SHARES
        rows = [
            _names(row) | dataclasses.asdict(part)
            for row in (*result.differences, *result.scores)
            for part in row.variances
        ]
    else:
        types = _NAMES | _ESTIMATES
        rows = [
            _of_target(row, target)
            for row in (result.differences if which == "differences" else result.scores)
            for target in _TARGETS
        ]
    return frame_of({column: [row[column] for row in rows] for column in types}, types, backend)


def _names(row: MethodEstimate) -> dict[str, Any]:
    return {name: getattr(row, name) for name in _NAMES}


def _of_target(row: MethodEstimate, target: str) -> dict[str, Any]:
    """One estimate; adjusted p-value and verdict are those of the average alone."""
    judged = target == "average"
    return {
        **_names(row),
        "target": target,
        "estimate": row.estimate,
        "p_adjusted": row.p_adjusted if judged else float("nan"),
        "verdict": row.verdict if judged else "",
        **dataclasses.asdict(getattr(row, target)),
    }
