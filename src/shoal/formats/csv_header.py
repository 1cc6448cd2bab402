"""The header of a CSV file: its separator and the names of its columns.

Only the standard library is loaded, so that a shell that completes column names need not wait.
"""

from __future__ import annotations

import csv
import gzip
import io
import os
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import IO, cast

from shoal.core.errors import InputError
from shoal.formats.endings import require

SEPARATORS = (",", ";", "\t", "|")
DAMAGED = (EOFError, gzip.BadGzipFile, zlib.error)  # what a broken gzip file raises
LINES_ABOVE = (
    ". If lines stand above the table, say how many: --skip-lines N (shoal infer finds them)"
)


def open_bytes(path: Path) -> IO[bytes]:
    """Open a file for reading, unpacked if its name ends in .gz or .zst."""
    if path.suffix.lower() == ".zst":
        return _unpacked(path)
    return gzip.open(path, "rb") if path.suffix.lower() == ".gz" else path.open("rb")  # type: ignore[return-value]


def _unpacked(path: Path) -> IO[bytes]:
    """Return what a Zstandard file holds, as a file that has no name and can be read again."""
    require("zstandard", "shoal[files]", feature="a file that ends in .zst")
    import zstandard

    plain = tempfile.TemporaryFile(prefix="shoal-")  # noqa: SIM115
    try:
        with path.open("rb") as packed:
            zstandard.ZstdDecompressor().copy_stream(packed, plain)
            if not packed.tell():
                raise EOFError
    except zstandard.ZstdError:
        plain.close()
        raise EOFError from None
    plain.seek(0)
    return plain


@contextmanager
def open_to_write(path: Path) -> Iterator[IO[bytes]]:
    """Open a file for writing, packed if its name ends in .gz or .zst.

    Law:
        The same text gives the same bytes: neither a name nor a time is packed with it.
    """
    ending = path.suffix.lower()
    with path.open("wb") as file:
        if ending == ".gz":
            # Typeshed does not call a GzipFile what it is.
            with gzip.GzipFile("", "wb", 6, file, mtime=0) as packed:
                yield cast("IO[bytes]", packed)
        elif ending == ".zst":
            import zstandard

            writer = zstandard.ZstdCompressor().stream_writer(file, closefd=False)
            with writer as packed:
                yield cast("IO[bytes]", packed)
        else:
            yield file


def share_read(file: IO[bytes]) -> float | None:
    """Return what share of a file has been read, packed or not; None where it has no length."""
    source = getattr(file, "fileobj", None) or file  # the packed bytes of a gzip file
    try:
        return float(source.tell()) / max(os.fstat(file.fileno()).st_size, 1)
    except OSError:
        return None


def header(text: str, *, where: str, separator: str | None) -> tuple[tuple[str, ...], str]:
    """Return the names of the columns and the separator, which is found out if None.

    text: how the file begins.

    Raises:
        InputError: no such separator, a stray quote, a column without a name or two with one.
    """
    first = text.splitlines()[0] if text.splitlines() else ""
    if separator is None:
        separator = _sniffed(text, first)
    if len(separator) != 1 or ord(separator) > 127 or separator in '"\r\n':
        raise InputError(
            where="--sep", problem="the separator must be one plain character, such as ;"
        )
    try:
        columns = next(csv.reader(io.StringIO(text), delimiter=separator, strict=True), [])
    except csv.Error:
        raise InputError(
            where=where, problem="the header has an open or stray quote; mend it"
        ) from None
    unnamed = sum(1 for name in columns if not name.strip())
    if unnamed:
        raise InputError(
            where=where, problem=f"{unnamed} columns have no name in the header{LINES_ABOVE}"
        )
    twice = sorted({name for name in columns if columns.count(name) > 1})
    if twice:
        named = ", ".join(repr(name) for name in twice)
        raise InputError(where=where, problem=f"the header names {named} twice; rename one of them")
    return tuple(columns), separator


def _sniffed(text: str, first: str) -> str:
    """Return the separator that stands in the header, and as often in the lines below it."""

    def fitness(mark: str) -> tuple[bool, int]:
        fields = _outside_quotes(first, mark)
        try:
            rows = list(islice(csv.reader(io.StringIO(text), delimiter=mark), 20))[:-1]
        except csv.Error:
            return False, fields
        return fields > 0 and all(len(row) in (0, fields + 1) for row in rows), fields

    return max(SEPARATORS, key=fitness)


def _outside_quotes(line: str, mark: str) -> int:
    return sum(part.count(mark) for part in line.split('"')[::2])
