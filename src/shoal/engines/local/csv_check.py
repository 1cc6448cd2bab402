"""The shape of a CSV file, checked before it is read."""

from __future__ import annotations

import csv
import gzip
import io
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import numpy as np

from shoal.core.documents import reason
from shoal.core.errors import InputError
from shoal.kernels import csv_shape

CHUNK = 16 * 2**20
SEPARATORS = (",", ";", "\t", "|")
DAMAGED = (EOFError, gzip.BadGzipFile, zlib.error)  # what a broken gzip file raises

_FAULTS = {
    csv_shape.SHORT: "has fewer fields than the header; mend the line, or quote its separators",
    csv_shape.LONG: "has more fields than the header; mend the line, or quote its separators",
    csv_shape.STRAY_QUOTE: (
        "has a quote inside a field; put the whole field in quotes and double the quote"
    ),
    csv_shape.BLANK_INSIDE: "is blank; remove blank lines between records",
    csv_shape.NUL: "holds a zero byte; is this a text file?",
}


@dataclass(frozen=True, slots=True)
class CsvShape:
    """What is known about a CSV file before it is parsed."""

    columns: tuple[str, ...]
    separator: str
    records: int
    has_blank_end: bool
    size: int  # bytes of text, unpacked


def open_bytes(path: Path) -> IO[bytes]:
    """Open a file for reading, unpacked if its name ends in .gz."""
    return gzip.open(path, "rb") if path.suffix.lower() == ".gz" else path.open("rb")  # type: ignore[return-value]


def check_csv(path: Path, *, separator: str | None = None) -> CsvShape:
    """Read a CSV file once and say what shape it has.

    Raises:
        InputError: unreadable, empty, not UTF-8, or a line that does not fit the header.
    """
    where = str(path)
    try:
        with open_bytes(path) as file:
            return _check(file, where=where, separator=separator)
    except DAMAGED:
        raise InputError(
            where=where, problem="the gzip file is damaged or cut off; get it again"
        ) from None
    except OSError as error:
        raise InputError(where=where, problem=reason(error)) from None


def check_bytes(text: bytes, *, where: str, separator: str | None = None) -> CsvShape:
    """Do the same for a file that is in memory."""
    return _check(io.BytesIO(text), where=where, separator=separator)


def _check(file: IO[bytes], *, where: str, separator: str | None) -> CsvShape:
    head = file.read(2**20)
    if not head.strip():
        raise InputError(where=where, problem="the file is empty; give it a header and records")
    columns, used = _header(head, where=where, separator=separator)
    if head.startswith(b"\xef\xbb\xbf"):
        head = head[3:]
    size = 0

    def chunks() -> Iterator[bytes]:
        nonlocal size
        for chunk in _chunks(head, file):
            size += len(chunk)
            yield chunk

    state = _scan(chunks(), used, fields=len(columns), where=where)
    return CsvShape(
        columns=columns,
        separator=used,
        records=int(state[csv_shape.RECORDS]) - 1,
        has_blank_end=bool(state[csv_shape.BLANKS]),
        size=size,
    )


def _chunks(head: bytes, file: IO[bytes]) -> Iterator[bytes]:
    chunk = head
    last = b""
    while chunk:
        last = chunk[-1:]
        yield chunk
        chunk = file.read(CHUNK)
    if last != b"\n":
        yield b"\n"


def _header(head: bytes, *, where: str, separator: str | None) -> tuple[tuple[str, ...], str]:
    text = head.decode("utf-8-sig", errors="ignore")
    first = text.splitlines()[0] if text.splitlines() else ""
    if separator is None:
        separator = max(SEPARATORS, key=lambda mark: _outside_quotes(first, mark))
    if len(separator) != 1 or ord(separator) > 127 or separator in '"\r\n':
        raise InputError(where="--sep", problem="the separator must be one plain character")
    try:
        columns = next(csv.reader(io.StringIO(text), delimiter=separator, strict=True), [])
    except csv.Error:
        raise InputError(where=where, problem="the header has an open or stray quote") from None
    unnamed = sum(1 for name in columns if not name.strip())
    if unnamed:
        raise InputError(where=where, problem=f"{unnamed} columns have no name in the header")
    return tuple(columns), separator


def _outside_quotes(line: str, mark: str) -> int:
    return sum(part.count(mark) for part in line.split('"')[::2])


def _scan(
    chunks: Iterator[bytes], separator: str, *, fields: int, where: str
) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    state = csv_shape.fresh_state()
    rest = b""
    for chunk in chunks:
        state[csv_shape.HIGH] = 0
        view = np.frombuffer(chunk, dtype=np.uint8)
        if not csv_shape.scan(view, ord(separator), fields, state):
            line, fault = int(state[csv_shape.BAD_LINE]), int(state[csv_shape.FAULT])
            raise InputError(where=f"{where}, line {line}", problem=_FAULTS[fault])
        rest = _check_utf8(rest, chunk, high=bool(state[csv_shape.HIGH]), where=where)
    if rest:
        raise _not_utf8(where)
    if state[csv_shape.PLACE] == csv_shape.QUOTED:
        raise InputError(where=where, problem="a quote is opened and never closed; close it")
    return state


def _check_utf8(rest: bytes, chunk: bytes, *, high: bool, where: str) -> bytes:
    """Check a chunk's text; return the bytes of a character that goes on in the next chunk."""
    if not high:
        if rest:
            raise _not_utf8(where)
        return b""
    text = rest + chunk
    try:
        text.decode("utf-8")
    except UnicodeDecodeError as error:
        if (
            error.end == len(text)
            and len(text) - error.start < 4
            and "unexpected end" in error.reason
        ):
            return text[error.start :]
        raise _not_utf8(where) from None
    return b""


def _not_utf8(where: str) -> InputError:
    return InputError(where=where, problem="not UTF-8 text; save it as UTF-8 and try again")
