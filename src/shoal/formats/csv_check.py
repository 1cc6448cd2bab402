"""The shape of a CSV file, checked before it is read."""

from __future__ import annotations

import codecs
import io
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import numpy as np

from shoal.core.documents import reason
from shoal.core.errors import InputError
from shoal.core.watch import watcher
from shoal.formats.csv_header import DAMAGED, LINES_ABOVE, header, open_bytes, share_read
from shoal.kernels.encoding import csv_shape

CHUNK = 16 * 2**20

EARLY = 100  # lines: what does not fit there may be above the table
_FAULTS = {
    csv_shape.SHORT: "has fewer fields than the header; mend the line, or quote its separators",
    csv_shape.LONG: "has more fields than the header; mend the line, or quote its separators",
    csv_shape.STRAY_QUOTE: (
        "has a quote inside a field; put the whole field in quotes and double the quote"
    ),
    csv_shape.BLANK_INSIDE: "is blank; remove blank lines between records",
    csv_shape.NUL: "holds a zero byte: no text, or UTF-16 (--encoding utf-16-le)",
}


@dataclass(frozen=True, slots=True)
class CsvShape:
    """What is known about a CSV file before it is parsed."""

    columns: tuple[str, ...]
    separator: str
    records: int
    has_blank_end: bool
    size: int  # bytes of text, unpacked


def damaged(where: str) -> InputError:
    """Return the error of a broken packed file."""
    kind = "Zstandard" if where.lower().endswith(".zst") else "gzip"
    return InputError(where=where, problem=f"the {kind} file is damaged or cut off; get it again")


def check_csv(
    path: Path, *, separator: str | None = None, where: str | None = None, above: int = 0
) -> CsvShape:
    """Read a CSV file once and say what shape it has.

    Args:
        path: the file.
        separator: found out if None.
        where: what messages call the file, if not by its path.
        above: lines that stood above the header; messages count them.

    Raises:
        InputError: unreadable, empty, not UTF-8, or a line that does not fit the header.
    """
    where = where or str(path)
    try:
        with open_bytes(path) as file:
            return _check(file, where=where, separator=separator, above=above)
    except DAMAGED:
        raise damaged(where) from None
    except OSError as error:
        raise InputError(where=where, problem=reason(error)) from None


def check_bytes(text: bytes, *, where: str, separator: str | None = None) -> CsvShape:
    """Do the same for a file that is in memory."""
    return _check(io.BytesIO(text), where=where, separator=separator)


def _check(file: IO[bytes], *, where: str, separator: str | None, above: int = 0) -> CsvShape:
    head = file.read(2**20)
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise InputError(where=where, problem="UTF-16 text; save it as UTF-8 and try again")
    if not head.strip():
        raise InputError(where=where, problem="the file is empty; give it a header and records")
    text = head.decode("utf-8-sig", errors="ignore")
    columns, used = header(text, where=where, separator=separator)
    if head.startswith(b"\xef\xbb\xbf"):
        head = head[3:]
    size = 0

    def chunks() -> Iterator[bytes]:
        nonlocal size
        for chunk in _chunks(head, file):
            size += len(chunk)
            yield chunk

    state = _scan(chunks(), used, fields=len(columns), where=where, above=above, file=file)
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


def _scan(
    chunks: Iterator[bytes], separator: str, *, fields: int, where: str, above: int, file: IO[bytes]
) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    state, watch = csv_shape.fresh_state(), watcher()
    rest = b""
    for chunk in chunks:
        state[csv_shape.HIGH] = 0
        view = np.frombuffer(chunk, dtype=np.uint8)
        if not csv_shape.scan(view, ord(separator), fields, state):
            line, fault = int(state[csv_shape.BAD_LINE]), int(state[csv_shape.FAULT])
            is_early = fault in (csv_shape.LONG, csv_shape.SHORT, csv_shape.BLANK_INSIDE)
            hint = LINES_ABOVE if is_early and line <= EARLY and not above else ""
            raise InputError(where=f"{where}, line {line + above}", problem=_FAULTS[fault] + hint)
        rest = _check_utf8(rest, chunk, high=bool(state[csv_shape.HIGH]), where=where)
        watch.advance(max(int(state[csv_shape.RECORDS]) - 1, 0), share=share_read(file))
    if rest:
        raise not_utf8(where, rest)
    if state[csv_shape.PLACE] == csv_shape.QUOTED:
        raise InputError(where=where, problem="a quote is opened and never closed; close it")
    return state


def _check_utf8(rest: bytes, chunk: bytes, *, high: bool, where: str) -> bytes:
    """Check a chunk's text; return the bytes of a character that goes on in the next chunk."""
    if not high:
        if rest:
            raise not_utf8(where, rest + chunk[: 2**16])
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
        raise not_utf8(where, text[max(error.start - 2**16, 0) : error.start + 2**16]) from None
    return b""


def not_utf8(where: str, around: bytes) -> InputError:
    """Return the error of a text in another encoding; it names one that would fit."""
    name = guess_encoding(around) or "cp1252"
    return InputError(
        where=where,
        problem=f"not UTF-8 text; {name} would fit: say --encoding {name}, or save it as UTF-8",
    )


def guess_encoding(head: bytes) -> str | None:
    """Return an encoding that fits bytes which are not UTF-8; None where they are."""
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head)
        return None
    except UnicodeDecodeError:
        pass
    undefined = (0x81, 0x8D, 0x8F, 0x90, 0x9D)  # in cp1252, and control characters in latin-1
    return "latin-1" if any(byte in head for byte in undefined) else "cp1252"
