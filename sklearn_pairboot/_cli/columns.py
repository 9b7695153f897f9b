"""Columns of tables, read so that nothing changes its meaning on the way."""

from __future__ import annotations

import datetime
import numbers
import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_pairboot._scoring.checks import shown

# What stands for a missing value where numbers or labels are expected. In ids and groups only an
# empty cell does: "NA" may well be a country.
_MISSING = {"", "NA", "N/A", "n/a", "NaN", "nan", "NAN", "null", "NULL", "<NA>"}
_TRUTH = {"true": 1, "false": 0}
_WHOLE = re.compile(r"[\d+\n-]+")
# Python would read 1_000 as a number; and digits after a leading zero are a name.
_NAME = re.compile(r"_|^[+-]?0\d", re.MULTILINE)


class InputError(ValueError):
    """An error that speaks of files and options already: nothing in it is to be reworded."""


@dataclass(frozen=True)
class Column:
    """One column: as text and, where every cell is a number or a truth value, as numbers."""

    label: str
    texts: list[str]
    numbers: NDArray[Any] | None

    def __len__(self) -> int:
        return len(self.texts)

    def as_keys(self) -> list[str]:
        """Give ids: always text, so that "01" is not "1"."""
        self._refuse_empty([text == "" for text in self.texts])
        return self.texts

    def as_groups(self) -> NDArray[Any]:
        """Give clusters: numbers where that loses nothing, so that they sort as numbers do."""
        self._refuse_empty([text == "" for text in self.texts])
        if all(re.fullmatch(r"0|-?[1-9]\d{0,17}", text) for text in self.texts):
            return np.array([int(text) for text in self.texts], dtype=np.int64)
        return np.array(self.texts)

    def as_numbers(self) -> NDArray[Any]:
        """Give numbers, finite and present in every row."""
        if self.numbers is None:
            self._refuse_empty([text in _MISSING for text in self.texts])
            # A Parquet file may declare digits to be text.
            wrong = next((row for row, text in enumerate(self.texts) if _is_text(text)), 0)
            # Nothing is taken for a decimal comma: 1,234 may be a thousand.
            hint = " Write decimals with a point." if "," in self.texts[wrong] else ""
            raise InputError(
                f"{self.label} must hold numbers, got {self.texts[wrong]!r} in data row "
                f"{wrong + 1}.{hint}"
            )
        self._refuse_empty(~np.isfinite(self.numbers))
        return self.numbers

    def as_labels(self) -> NDArray[Any]:
        """Give labels or values: numbers where all cells are numbers, else text."""
        if self.numbers is not None:
            return self.as_numbers()
        self._refuse_empty([text in _MISSING for text in self.texts])
        return np.array(self.texts)

    def as_answers(self, labels: NDArray[Any]) -> NDArray[Any]:
        """Give a model's answers in the type that they can be compared with the labels in."""
        if labels.dtype.kind != "U":
            return self.as_numbers()
        if self.numbers is None or set(self.texts) <= set(labels.tolist()):
            self._refuse_empty([text in _MISSING for text in self.texts])
            return np.array(self.texts)
        return self.as_numbers()

    def _refuse_empty(self, missing: Sequence[bool] | NDArray[np.bool_]) -> None:
        rows = [row + 1 for row in np.flatnonzero(np.asarray(missing)).tolist()]
        if rows:
            raise InputError(
                f"{self.label} must have a finite value in every row, got none in {len(rows)} of "
                f"{len(self)}, in data row(s) {shown(rows)}."
            )


def column_of_text(cells: Sequence[str], label: str) -> Column:
    """Make a column of cells of a CSV file, whose types are to be found."""
    texts = [cell.strip() for cell in cells]
    return Column(label, texts, _numbers(texts))


def column_of_values(values: Sequence[Any], label: str) -> Column:
    """Make a column of values that have types; ``None`` and NaN are missing ones."""
    kinds: dict[str, tuple[int, Any]] = {}
    for row, value in enumerate(values):
        if not (value is None or value != value):
            kinds.setdefault(_kind(value), (row, value))
    for kind, (row, _) in kinds.items():
        if kind.startswith("a "):
            raise InputError(f"{label} must hold single values, got {kind} in data row {row + 1}.")
    if len(kinds) > 1:
        seen = " and ".join(
            f"{kind} such as {value!r} in data row {row + 1}"
            for kind, (row, value) in kinds.items()
        )
        raise InputError(f"{label} must hold values of one kind, got {seen}.")
    texts = [_text(value) for value in values]
    if not kinds.keys() & {"numbers", "truth values"}:
        return Column(label, [text.strip() for text in texts], None)
    found = np.array([np.nan if text == "" else float(text) for text in texts])
    whole = all(isinstance(value, int) and abs(value) < 2**53 for value in values)
    return Column(label, texts, found.astype(np.int64) if whole else found)


def _kind(value: Any) -> str:
    if isinstance(value, bool):
        return "truth values"
    if isinstance(value, numbers.Number | Decimal):
        return "numbers"
    if isinstance(value, str | datetime.date | datetime.time):
        return "text"
    return f"a {type(value).__name__}"


def _text(value: Any) -> str:
    """Write a value so that it is the same in files of all kinds."""
    if value is None or value != value:
        return ""
    if isinstance(value, bool):
        return str(int(value))
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _numbers(texts: list[str]) -> NDArray[Any] | None:
    """Read every cell as a number, integers where all are; ``None`` where one is text."""
    kinds = {text.lower() for text in set(texts) - _MISSING}
    if not kinds:
        return None
    if kinds <= _TRUTH.keys():
        texts = [str(_TRUTH.get(text.lower(), "")) for text in texts]
    joined = "\n".join(texts)
    if _NAME.search(joined):
        return None
    try:
        values = np.array([np.nan if text in _MISSING else float(text) for text in texts])
    except ValueError:
        return None
    whole = _WHOLE.fullmatch(joined) is not None and bool((np.abs(values) < 2**53).all())
    return values.astype(np.int64) if whole else values


def _is_text(text: str) -> bool:
    """Tell whether a cell is what makes a column text: no number, or a word for a truth value."""
    return text.lower() in _TRUTH or (text not in _MISSING and _numbers([text]) is None)
