"""Files with one row a line: CSV, Parquet and JSON lines. Nothing in them is ever run."""

from __future__ import annotations

import importlib
import io
import json
import os
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sklearn_pairboot._cli.columns import Column, InputError, column_of_text, column_of_values
from sklearn_pairboot._cli.streams import COMPRESSED, MOST_BYTES, STDIN, Text, too_large

_CSV = (".csv", ".tsv", ".txt")
_PARQUET = (".parquet", ".pq")
_JSON_LINES = (".jsonl", ".ndjson")
# What tables are separated by; a header of one cell that holds one of them was cut wrongly.
_SEPARATORS = {",": '","', ";": '";"', "\t": "a tab", "|": '"|"'}
_ROWS_AT_ONCE = 100_000


@dataclass(frozen=True)
class Table:
    """Names of all columns of a file, and the cells of those that are needed."""

    path: str
    names: tuple[str, ...]
    cells: Mapping[int, Sequence[Any]]
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
        column = column_of_values if self.typed else column_of_text
        return column(self.cells[positions[0]], f"Column {name!r} of {self.path}")


def read_table(path: str, separator: str | None, needed: Collection[str]) -> Table:
    """Read the needed columns of a file; every failure is an `InputError` of one line."""
    shown_path = "standard input" if path == STDIN else path
    suffixes = [suffix.lower() for suffix in Path(path).suffixes]
    compression = suffixes.pop() if suffixes and suffixes[-1] in COMPRESSED else ""
    suffix = suffixes[-1] if suffixes else ""
    known = suffix in _CSV + _JSON_LINES or (suffix in _PARQUET and not compression)
    if path != STDIN and not known:
        raise InputError(
            f"Cannot read {path}: its name must end in {', '.join(_CSV + _JSON_LINES + _PARQUET)}, "
            "which tells CSV, JSON lines and Parquet apart; .gz may follow those of text."
        )
    if suffix not in _JSON_LINES:
        _optional("pandas", shown_path)
    if suffix in _PARQUET:
        _optional("pyarrow", shown_path)
    try:
        if suffix in _PARQUET:
            names, cells, n_rows = _parquet(path, needed)
        elif suffix in _JSON_LINES:
            names, cells, n_rows = _json_lines(Text(path, compression), needed)
        else:
            text = Text(path, compression)
            mark = separator or ("\t" if suffix == ".tsv" else ",")
            names, cells, n_rows = _csv(text, mark, needed)
    except InputError as error:
        raise InputError(f"Cannot read {shown_path}: {error}") from error
    except UnicodeDecodeError as error:
        raise InputError(f"Cannot read {shown_path}: it is not UTF-8 text.") from error
    except OSError as error:
        raise InputError(f"Cannot read {shown_path}: {error.strerror or error}.") from error
    except Exception as error:  # parsers and decompressors have errors of many classes
        text_of_error = " ".join(str(error).split()).rstrip(".") or type(error).__name__
        raise InputError(f"Cannot read {shown_path}: {text_of_error}.") from error
    if n_rows == 0:
        raise InputError(f"Cannot read {shown_path}: it has no rows below its header.")
    return Table(shown_path, names, cells, suffix in _PARQUET + _JSON_LINES)


def same_file(one: str, other: str) -> bool:
    """Tell whether two paths lead to one file, by whatever names."""
    if STDIN in (one, other):
        return one == other
    try:
        return os.path.samefile(one, other)
    except OSError:  # one of them does not exist
        return os.path.realpath(one) == os.path.realpath(other)


_Found = tuple[tuple[str, ...], dict[int, Sequence[Any]], int]


def _csv(text: Text, separator: str, needed: Collection[str]) -> _Found:
    """Read everything as text, the header too, and keep the columns needed.

    Pandas itself would make numbers of ids, missing values of "NA", new names of repeated ones,
    and an index where the header is too short.
    """
    names: tuple[str, ...] = ()
    parts: dict[int, list[Any]] = {}
    n_rows = 0
    try:
        for chunk in _chunks(text, separator):
            if not names:
                names = tuple(_name(name) for name in chunk.iloc[0])
                parts = {k: [] for k, name in enumerate(names) if name in needed}
                chunk = chunk.iloc[1:]
            n_rows += len(chunk)
            for k, cells in parts.items():
                # Equal texts are one object: a column of ten labels takes little memory.
                cells.extend(map(sys.intern, map(_cell, chunk.iloc[:, k])))
    except ValueError as error:
        if isinstance(error, InputError | UnicodeDecodeError):
            raise
        message = " ".join(str(error).split()).rstrip(".")
        raise InputError(f"{message}.{_hint_of_header(text, separator)}") from error
    return names, dict(parts), n_rows


def _chunks(text: Text, separator: str) -> Iterator[Any]:
    first, *_ = _parsed(text, separator, nrows=1)
    if first.shape[1] > 1:
        yield from _parsed(text, separator, chunksize=_ROWS_AT_ONCE)
        return
    # An empty line is an empty cell where there is one column, but for those above the header.
    seen = False
    options = {"names": [0], "skip_blank_lines": False}
    for chunk in _parsed(text, separator, chunksize=_ROWS_AT_ONCE, **options):
        filled = chunk[0].map(_cell).str.strip() != ""
        if not seen and filled.any():
            chunk = chunk.iloc[int(filled.argmax()) :]
            seen = True
        if seen:
            yield chunk


def _parsed(text: Text, separator: str, **options: Any) -> Iterator[Any]:
    pandas = importlib.import_module("pandas")
    with text.open() as stream:
        found = pandas.read_csv(
            stream,
            sep=separator,
            header=None,
            dtype=str,
            keep_default_na=False,
            skipinitialspace=True,
            encoding="utf-8-sig",
            **options,
        )
        yield from [found] if "nrows" in options else found


def _hint_of_header(text: Text, separator: str) -> str:
    try:
        first, *_ = _parsed(text, separator, nrows=1)
    except Exception:  # the error that is being reported, again
        return ""
    return _separator_hint([_name(name) for name in first.iloc[0]])


def _separator_hint(names: Sequence[str]) -> str:
    """Say what separates the cells where a header of one cell shows that it is something else."""
    found = [mark for mark in _SEPARATORS if len(names) == 1 and mark in names[0]]
    if not found:
        return ""
    return f" Its cells seem to be separated by {_SEPARATORS[found[0]]}: see --separator."


def _parquet(path: str, needed: Collection[str]) -> _Found:
    """Read the columns that are needed; an index that pandas has stored is one of them."""
    parquet = importlib.import_module("pyarrow.parquet")
    with parquet.ParquetFile(path) as file:
        names = tuple(_name(name) for name in file.schema_arrow.names)
        wanted = [name for name in names if name in needed]
        n_bytes = sum(
            group.column(k).total_uncompressed_size
            for group in (file.metadata.row_group(g) for g in range(file.metadata.num_row_groups))
            for k in range(group.num_columns)
            if group.column(k).path_in_schema in needed
        )
        if n_bytes > MOST_BYTES:
            raise too_large(n_bytes)
        unique = [name for name in wanted if names.count(name) == 1]
        frame = file.read(columns=unique).to_pandas(ignore_metadata=True)
        n_rows = file.metadata.num_rows
    return names, {names.index(name): frame[name].tolist() for name in unique}, n_rows


def _json_lines(text: Text, needed: Collection[str]) -> _Found:
    """Read one object a line; a key that a line lacks is a missing value."""
    names: dict[str, None] = {}
    rows: dict[str, list[Any]] = {name: [] for name in needed}
    n_rows = 0
    with text.open() as stream:
        for number, line in enumerate(io.TextIOWrapper(stream, encoding="utf-8-sig"), start=1):
            if not line.strip():
                continue
            try:
                row = json.loads(line)
            except ValueError as error:
                raise InputError(f"line {number} is not JSON: {error}.") from error
            if not isinstance(row, dict):
                raise InputError(
                    f"line {number} must hold one object, such as "
                    f'{{"item": 1, "score": 0.5}}, got a {type(row).__name__}.'
                )
            names.update(dict.fromkeys(row))
            for name, values in rows.items():
                values.append(row.get(name))
            n_rows += 1
    found = tuple(names)
    return found, {k: rows[name] for k, name in enumerate(found) if name in rows}, n_rows


def _cell(cell: Any) -> str:
    return cell if isinstance(cell, str) else ""


def _name(cell: Any) -> str:
    return _cell(cell).strip()


def _optional(package: str, path: str) -> None:
    try:
        importlib.import_module(package)
    except ImportError as error:
        raise InputError(
            f"Cannot read {path} without {package}. Install it with: "
            'pip install "sklearn-pairboot[cli]"'
        ) from error
