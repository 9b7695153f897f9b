"""Files of text as streams of bytes that end before they fill the memory."""

from __future__ import annotations

import bz2
import codecs
import gzip
import io
import lzma
import os
import stat
import sys
from collections.abc import Callable, Mapping
from typing import IO, Any, cast

from sklearn_pairboot._cli.columns import InputError

STDIN = "-"
COMPRESSED: Mapping[str, Callable[[Any], Any]] = {
    ".gz": gzip.open,
    ".bz2": bz2.open,
    ".xz": lzma.open,
}
# Cells of text take many times their size in memory.
MOST_BYTES = 2 * 10**9
# A header in UTF-16 or UTF-32 has either the mark of one or a zero in every letter.
_LONGEST_LETTER = 4
_MARKS_OF_UTF_16 = (b"\xff\xfe", b"\xfe\xff")


class Text:
    """The bytes of a file of text or of standard input, which can be read more than once."""

    def __init__(self, path: str, compression: str) -> None:
        self._open: Callable[[], IO[bytes]]
        if path == STDIN:
            content = _all_of(_standard_input())
            self._open = lambda: io.BytesIO(content)
        elif stat.S_ISFIFO(os.stat(path).st_mode):  # which can be read once
            with open(path, "rb") as stream:
                content = _all_of(stream)
            decompressed = COMPRESSED.get(compression, lambda content: content)
            self._open = lambda: cast(IO[bytes], decompressed(io.BytesIO(content)))
        elif compression:
            self._open = lambda: cast(IO[bytes], COMPRESSED[compression](path))
        else:
            self._open = lambda: open(path, "rb")
            if os.path.getsize(path) > MOST_BYTES:
                raise too_large(os.path.getsize(path))
        with self.open() as stream:
            start = stream.read(_LONGEST_LETTER)
        if start.removeprefix(codecs.BOM_UTF8) == b"":
            raise InputError("it is empty.")
        if start.startswith(_MARKS_OF_UTF_16) or b"\0" in start:
            raise InputError("it is UTF-16 or UTF-32, not UTF-8 text. Save it as UTF-8.")

    def open(self) -> IO[bytes]:
        """Open it from its beginning."""
        return cast(IO[bytes], io.BufferedReader(_Limited(self._open())))


class _Limited(io.RawIOBase):
    """A stream that refuses to go on beyond what fits: small archives may hold large files."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream, self._read = stream, 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        content = self._stream.read(len(buffer))
        buffer[: len(content)] = content
        self._read += len(content)
        if self._read > MOST_BYTES:
            raise too_large(None)
        return len(content)

    def close(self) -> None:
        self._stream.close()
        super().close()


def too_large(n_bytes: int | None) -> InputError:
    size = "more than" if n_bytes is None else f"{n_bytes / 1e9:.1f} GB, more than"
    return InputError(
        f"it holds {size} the {MOST_BYTES / 1e9:.1f} GB of cells that are read. Keep the columns "
        "and rows that are compared, or save it as Parquet, of which only those columns are read."
    )


def _standard_input() -> IO[bytes]:
    if sys.stdin is None:
        raise OSError("it is closed")
    return sys.stdin.buffer


def _all_of(stream: IO[bytes]) -> bytes:
    content = stream.read(MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        raise too_large(None)
    return content
