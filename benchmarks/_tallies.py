"""The numbers of coverage.json, as rows that can be selected, pooled and named."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import sqrt
from typing import Any, NamedTuple

NOMINAL = 0.95
VALUE, EQUAL, DIFFERENT = "value of one model", "no difference", "difference"
DIFFERENCES = (EQUAL, DIFFERENT)
CONTRAST = "ignored"  # in the name of a test that is shown as a warning


class Tally(NamedTuple):
    """Intervals of one scenario, target, metric and method."""

    n_rows: int
    n_clusters: int | None
    unequal: bool
    icc: float
    target: str
    metric: str
    method: str
    n: int
    below: int
    above: int
    undefined: int
    fallback: int
    rejected: int
    mean_width: float


class Tested(NamedTuple):
    """Rejections of one test in one scenario."""

    n_rows: int
    n_clusters: int | None
    unequal: bool
    icc: float
    test: str
    rejected: int
    n: int


def read(result: dict[str, Any]) -> tuple[list[Tally], list[Tested]]:
    """Read both kinds of rows; learners have rows of tests without an ICC."""
    tallies, tests = [], []
    for cell in result["cells"]:
        where = [cell.get(key) for key in ("n_rows", "n_clusters", "unequal", "icc")]
        tallies += [Tally(*where, *row) for row in cell.get("intervals", ())]
        tests += [Tested(*where, name, *counts) for name, counts in cell["tests"].items()]
    return tallies, tests


def where(rows: Iterable[Any], **wanted: Any) -> list[Any]:
    """Select rows by values, or by what a function says of a value."""
    return [
        row
        for row in rows
        if all(
            value(getattr(row, key)) if callable(value) else getattr(row, key) == value
            for key, value in wanted.items()
        )
    ]


def is_difference(target: str) -> bool:
    """Tell differences of two models from values of one."""
    return target in DIFFERENCES


def share(rows: Sequence[Any], *counted: str) -> float:
    """Share of the pooled data sets in which one of these things happened."""
    return sum(getattr(row, what) for row in rows for what in counted) / sum(row.n for row in rows)


def coverage(rows: Sequence[Tally]) -> float:
    """Share of the intervals that cover the truth; an undefined one does not."""
    return 1 - share(rows, "below", "above", "undefined")


def rejection(rows: Sequence[Any]) -> float:
    """Share of the tests that reject."""
    return share(rows, "rejected")


def simulation_error(n: int, at: float = NOMINAL) -> float:
    """Give the standard error of a share of ``n`` data sets."""
    return sqrt(at * (1 - at) / n)


def n_data_sets(rows: Sequence[Tally]) -> int:
    """Count the data sets behind pooled rows of one method: one serves all targets and metrics."""
    return sum({row[:4]: row.n for row in rows}.values())


def extreme(
    rows: Sequence[Tally], measure: Callable[[Sequence[Tally]], float], pick: Callable[..., Any]
) -> tuple[float, str]:
    """Give the lowest (``min``) or highest (``max``) of a measure, and its metric."""
    return pick((measure(where(rows, metric=name)), name) for name in distinct(rows, "metric"))


def distinct(rows: Iterable[Any], key: str) -> list[Any]:
    """List the values of a column in their order."""
    return list(dict.fromkeys(getattr(row, key) for row in rows))


def percent(value: float) -> str:
    """Write a share in per cent with one decimal."""
    return f"{100 * value:.1f}"
