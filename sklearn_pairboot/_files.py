"""Columns of CSV and Parquet files, read so that nothing changes its meaning on the way."""

from __future__ import annotations

import importlib
import io
import os
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_pairboot._scoring.checks import shown

STDIN = "-"
_PARQUET = (".parquet", ".pq")
_CSV = (".csv", ".tsv", ".txt")
_COMPRESSED = (".gz", ".bz2", ".xz", ".zip")
# What stands for a missing value where numbers or labels are expected. In ids and groups only an
# empty cell does: "NA" may well be a country.
_MISSING = {"", "NA", "N/A", "n/a", "NaN", "nan", "NAN", "null", "NULL", "<NA>"}
# What tables are separated by; a header of one cell that holds one of them was cut wrongly.
_SEPARATORS = {",": '","', ";": '";"', "\t": "a tab", "|": '"|"'}
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
            raise InputError(
                f"{self.label} must hold numbers, got {self.texts[wrong]!r} in data row "
                f"{wrong + 1}."
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


@dataclass(frozen=True)
class Table:
    """The columns of one file."""

    path: str
    names: tuple[str, ...]
    frame: Any
    typed: bool

    @property
    def stem(self) -> str:
        """Name of the file without its folder and endings."""
        return Path(self.path).name.split(".")[0]

    def column(self, name: str, option: str) -> Column:
        """Read the column that an option names."""
        positions = [k for k, known in enumerate(self.names) if known == name]
        if not positions:
            raise InputError(
                f"{option} must name a column of {self.path}, got {name!r}. Its columns are: "
                f"{', '.join(self.names)}.{'' if self.typed else _separator_hint(self.names)}"
            )
        if len(positions) > 1:
            raise InputError(
                f"{option} must name one column of {self.path}, got {name!r}, of which there are "
                f"{len(positions)}. Rename them."
            )
        return _column(
            self.frame.iloc[:, positions[0]], f"Column {name!r} of {self.path}", self.typed
        )


def read_table(path: str, separator: str | None = None) -> Table:
    """Read a CSV or Parquet file; every failure is an `InputError` of one line."""
    suffixes = [suffix.lower() for suffix in Path(path).suffixes]
    if suffixes and suffixes[-1] in _COMPRESSED:
        suffixes.pop()
    suffix = suffixes[-1] if suffixes else ""
    if path != STDIN and suffix not in _PARQUET + _CSV:
        raise InputError(
            f"Cannot read {path}: its name must end in {', '.join(_CSV + _PARQUET)}, "
            "which tells CSV from Parquet; .gz may follow .csv."
        )
    typed = suffix in _PARQUET
    shown_path = "standard input" if path == STDIN else path
    pandas = _optional("pandas", shown_path)
    if typed:
        _optional("pyarrow", shown_path)
    source: Any = path
    try:
        if typed:
            frame = pandas.read_parquet(path)
            if any(name is not None for name in frame.index.names):
                frame = frame.reset_index()
            header = frame.columns.tolist()
        else:
            if path == STDIN:
                source = io.BytesIO(_standard_input())
            separator = separator or ("\t" if suffix == ".tsv" else ",")
            frame = _read_csv(pandas, source, separator)
            if frame.shape[1] == 1:  # an empty line is an empty cell then
                frame = _read_csv(pandas, source, separator, names=[0], skip_blank_lines=False)
                frame = frame.iloc[int((frame[0].fillna("").str.strip() != "").argmax()) :]
            header, frame = frame.iloc[0].tolist(), frame.iloc[1:]
    except OSError as error:
        raise InputError(f"Cannot read {shown_path}: {error.strerror or error}.") from error
    except UnicodeDecodeError as error:
        raise InputError(f"Cannot read {shown_path}: it is not UTF-8 text.") from error
    except Exception as error:  # parsers and decompressors have errors of many classes
        text = " ".join(str(error).split()).rstrip(".") or type(error).__name__
        hint = "" if typed or separator is None else _hint_of_header(pandas, source, separator)
        raise InputError(f"Cannot read {shown_path}: {text}.{hint}") from error
    if len(frame) == 0:
        raise InputError(f"Cannot read {shown_path}: it has no rows below its header.")
    return Table(shown_path, tuple(_name(name) for name in header), frame, typed)


def same_file(one: str, other: str) -> bool:
    """Tell whether two paths lead to one file, by whatever names."""
    if STDIN in (one, other):
        return one == other
    try:
        return os.path.samefile(one, other)
    except OSError:  # one of them does not exist
        return os.path.realpath(one) == os.path.realpath(other)


def _standard_input() -> bytes:
    if sys.stdin is None:
        raise OSError("it is closed")
    return sys.stdin.buffer.read()


def _read_csv(pandas: Any, source: Any, separator: str, **options: Any) -> Any:
    """Read everything as text, the header too.

    Pandas itself would make numbers of ids, missing values of "NA", new names of repeated ones,
    and an index where the header is too short.
    """
    if isinstance(source, io.BytesIO):
        source.seek(0)
        source = io.BytesIO(source.getbuffer())  # pandas may close what it reads
    return pandas.read_csv(
        source,
        sep=separator,
        header=None,
        dtype=str,
        keep_default_na=False,
        skipinitialspace=True,
        encoding="utf-8-sig",
        **options,
    )


def _hint_of_header(pandas: Any, source: Any, separator: str) -> str:
    try:
        header = _read_csv(pandas, source, separator, nrows=1).iloc[0]
    except Exception:  # the error that is being reported, again
        return ""
    return _separator_hint([_name(name) for name in header])


def _separator_hint(names: Sequence[str]) -> str:
    """Say what separates the cells where a header of one cell shows that it is something else."""
    found = [mark for mark in _SEPARATORS if len(names) == 1 and mark in names[0]]
    if not found:
        return ""
    return f" Its cells seem to be separated by {_SEPARATORS[found[0]]}: see --separator."


def _name(cell: Any) -> str:
    return "" if cell is None or cell != cell else str(cell).strip()


def _optional(package: str, path: str) -> Any:
    try:
        return importlib.import_module(package)
    except ImportError as error:
        raise InputError(
            f"Cannot read {path} without {package}. Install it with: "
            'pip install "sklearn-pairboot[cli]"'
        ) from error


def _column(series: Any, label: str, typed: bool) -> Column:
    """Turn a series of pandas into a column; the types of a Parquet file are kept."""
    missing = series.isna().to_numpy()
    if typed and getattr(series.dtype, "kind", "O") in "iufb":
        if missing.any():
            values = series.to_numpy(dtype=np.float64, na_value=np.nan)
        else:
            values = series.to_numpy()
        if values.dtype.kind == "b":
            values = values.astype(np.int64)
        return Column(label, [_text(value) for value in values.tolist()], values)
    cells = [
        "" if absent else str(cell).strip()
        for cell, absent in zip(series.tolist(), missing, strict=True)
    ]
    return Column(label, cells, None if typed else _numbers(cells))


def _text(value: Any) -> str:
    if isinstance(value, float) and np.isnan(value):
        return ""
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
