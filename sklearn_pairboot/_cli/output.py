"""What is written, and how: whole or not at all, and nothing in it that a reader would run."""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from sklearn_pairboot._cli.columns import InputError
from sklearn_pairboot._tables.names import visible_text
from sklearn_pairboot.result import ComparisonResult

FORMATS = ("text", "markdown", "html", "latex", "json")
_OF_ENDING = {
    ".json": "json",
    ".html": "html",
    ".htm": "html",
    ".md": "markdown",
    ".tex": "latex",
}
# Spreadsheets take what begins with one of these, or its full-width form, for a formula, also when
# it is pasted.
_FORMULA = tuple("=+-@\uff1d\uff0b\uff0d\uff20")


def neutral(name: str) -> str:
    """Give a name that neither a terminal nor a spreadsheet acts upon."""
    text = visible_text(name)
    return f"'{text}" if text.lstrip().startswith(_FORMULA) else text


def format_of(path: str | None, form: str | None) -> str:
    """Find the format: the one asked for, else that of the file's ending, else text."""
    return form or _OF_ENDING.get(Path(path or "").suffix.lower(), "text")


def formatted(result: ComparisonResult, form: str, *, replicates: bool = False) -> str:
    """Write a result in one of the formats."""
    if form == "json":
        text = result.to_json(replicates)
    else:
        text = str(getattr(result, "summary" if form == "text" else f"to_{form}")())
    return text.rstrip("\n") + "\n"


def write_files(texts: Mapping[str, str]) -> None:
    """Write all files or none: each beside its place first, and then put there."""
    written: list[tuple[str, str]] = []
    try:
        for path, text in texts.items():
            with _named(path):
                if os.path.exists(path) and not os.path.isfile(path):
                    # No file that could be replaced: a folder, which fails, or a device.
                    Path(path).write_text(text, encoding="utf-8")
                    continue
                place = os.path.realpath(path)
                handle, beside = tempfile.mkstemp(prefix=".", dir=os.path.dirname(place))
                written.append((beside, place))
                with open(handle, "w", encoding="utf-8") as file:
                    file.write(text)
                os.chmod(beside, _mode(place))
        while written:
            beside, place = written[0]
            with _named(place):
                os.replace(beside, place)
            del written[0]
    finally:
        for beside, _ in written:
            os.unlink(beside)


def write_standard_output(text: str) -> None:
    """Write to standard output."""
    with _standard_output():
        sys.stdout.write(text)


def _mode(place: str) -> int:
    """Permissions that a file has, or a new one gets."""
    if os.path.exists(place):
        return os.stat(place).st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


@contextlib.contextmanager
def _named(path: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise InputError(f"Cannot write {path}: {error.strerror or error}.") from error


@contextlib.contextmanager
def _standard_output() -> Iterator[None]:
    """Write to standard output, where every failure but a broken pipe is an `InputError`."""
    if sys.stdout is None:
        raise InputError("Cannot write standard output: it is closed. See --output.")
    try:
        yield
        sys.stdout.flush()
    except UnicodeEncodeError as error:
        raise InputError(
            f"Cannot write standard output: its encoding, {error.encoding}, has no "
            f"{error.object[error.start]!a}. See --output, which writes UTF-8."
        ) from error
    except OSError as error:
        # Python would try again at its end, and complain in several lines.
        with contextlib.suppress(OSError):  # an output that is no file of the system
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(error, BrokenPipeError):
            raise
        raise InputError(f"Cannot write standard output: {error.strerror or error}.") from error
