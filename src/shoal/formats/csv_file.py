"""CSV files that are not plain: another encoding, lines above the header.

What reads a table afterwards sees UTF-8 and the header first. The text is copied chunk by
chunk into a file that nobody else can open and that, where the system allows it, has no
name: whatever ends the process, nothing stays behind.
"""

from __future__ import annotations

import codecs
import csv
import io
import os
import tempfile
import weakref
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO

from shoal.core.documents import reason
from shoal.core.errors import InputError
from shoal.formats.csv_check import damaged, guess_encoding, not_utf8
from shoal.formats.csv_header import DAMAGED, SEPARATORS, open_bytes

CHUNK = 2**20  # characters that are copied at once
_HEAD = 2**18  # bytes that a guess is made from
_MOST_LINES = 100  # above a header
_OPEN_FILES = Path("/proc/self/fd")


@dataclass(frozen=True, slots=True)
class CsvFile:
    """A CSV file and how to read it.

    Attributes:
        path: the file.
        encoding: such as cp1252; None: UTF-8, or UTF-16 where the file begins with its mark.
        skip_lines: lines above the header, as an editor counts them.

    Example:
        >>> str(CsvFile("ward.csv", encoding="cp1252", skip_lines=2))
        'ward.csv'
    """

    path: str | Path
    encoding: str | None = None
    skip_lines: int = 0

    def __post_init__(self) -> None:
        if self.skip_lines < 0:
            raise InputError(where="--skip-lines", problem="must be 0 or more")
        if self.encoding is None:
            return
        try:
            known = codecs.lookup(self.encoding)
        except LookupError:
            known = None
        if known is None or not getattr(known, "_is_text_encoding", True):
            raise InputError(
                where="--encoding", problem="no such encoding; say cp1252, latin-1, utf-16 …"
            )

    def flags(self) -> str:
        """Return the options by which a command reads the file so; empty where none is needed."""
        options = [] if self.encoding is None else [f"--encoding {self.encoding}"]
        return " ".join(
            [*options, f"--skip-lines {self.skip_lines}"] if self.skip_lines else options
        )

    def __fspath__(self) -> str:
        return os.fspath(self.path)

    def __str__(self) -> str:
        return str(self.path)


def plain_copy(file: CsvFile) -> tuple[Path, IO[bytes]] | None:
    """Return where the file can be read as UTF-8 from its header on, and what keeps that place.

    Returns:
        None where the file itself is such a place.

    Raises:
        InputError: the bytes do not fit the encoding, or there are fewer lines.
    """
    where = str(file)
    try:
        with open_bytes(Path(file)) as source:
            encoding = file.encoding or _marked(source)
            is_plain = encoding is None or codecs.lookup(encoding).name in ("utf-8", "ascii")
            is_packed = Path(file).suffix.lower() == ".zst"  # what Polars cannot scan
            if is_plain and not file.skip_lines and not is_packed:
                return None
            keeper, place = _private()
            _copy(source, keeper, "utf-8" if is_plain else str(encoding), file.skip_lines, where)
            return place, keeper
    except DAMAGED:
        raise damaged(where) from None
    except UnicodeError as error:
        if file.encoding is None:
            raise not_utf8(where, getattr(error, "object", b"")) from None
        raise InputError(
            where=where, problem=f"its bytes do not fit --encoding {file.encoding}; try another"
        ) from None
    except OSError as error:
        raise InputError(where=where, problem=reason(error)) from None


def _marked(source: IO[bytes]) -> str | None:
    """Return the encoding that a byte order mark names; the source stands at its begin again."""
    head = source.read(4)
    source.seek(0)
    if head.startswith((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)):
        return "utf-32"
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    return None


def _copy(source: IO[bytes], goal: IO[bytes], encoding: str, skip_lines: int, where: str) -> None:
    text = io.TextIOWrapper(source, encoding=encoding, newline="")
    mark = text.read(1)
    if mark != "\ufeff":
        text.seek(0)
    for _ in range(skip_lines):
        if not text.readline():
            raise InputError(where=where, problem="has fewer lines than --skip-lines says")
    while chunk := text.read(CHUNK):
        goal.write(chunk.encode("utf-8"))
    goal.flush()
    text.detach()


def _private() -> tuple[IO[bytes], Path]:
    """Return a new file of mode 0600 and its place; it is gone when nobody holds it."""
    if _OPEN_FILES.is_dir():
        nameless = tempfile.TemporaryFile(prefix="shoal-")  # noqa: SIM115
        return nameless, _OPEN_FILES / str(nameless.fileno())
    named = tempfile.NamedTemporaryFile(prefix="shoal-", suffix=".csv", delete=False)  # noqa: SIM115
    weakref.finalize(named, _remove, named.name)
    return named, Path(named.name)


def _remove(name: str) -> None:
    with suppress(OSError):
        os.unlink(name)


def proposed(file: CsvFile) -> CsvFile:
    """Return how the file seems to be meant, where that was not declared: encoding, first line."""
    try:
        with open_bytes(Path(file)) as source:
            known = file.encoding or _marked(source)
            head = source.read(_HEAD)
    except (OSError, *DAMAGED):
        return file  # the ordinary way in says what is wrong with it
    guess = None if known is not None else guess_encoding(head)
    text = head.decode(known or guess or "utf-8", errors="ignore").removeprefix("\ufeff")
    skip = file.skip_lines or lines_above(text)
    return replace(file, encoding=file.encoding or guess, skip_lines=skip)


def lines_above(text: str) -> int:
    r"""Return how many lines stand above the header; 0 where that is unknown.

    The header is the first line whose fields all have names and that every line below has as many
    fields as. Two names may be alike: whoever reads the header refuses it, where skipping the line
    would make names of the first record's values.

    Example:
        >>> lines_above("Ward 7, 2024\n\nage;sex;ill\n3;f;flu\n4;m;cold\n")
        2
    """
    lines = text.splitlines(keepends=True)[: _MOST_LINES + 50]
    best = (0, 0)  # fields, lines
    for separator in SEPARATORS:
        for start in range(min(len(lines), _MOST_LINES)):
            width = _table_below(lines[start:], separator)
            if width > best[0]:
                best = (width, start)
            if width:
                break
    return best[1]


def _table_below(lines: list[str], separator: str) -> int:
    """Return the number of fields if a table begins with the first line; 0 if none does."""
    reader = csv.reader(lines[:50], delimiter=separator)
    try:
        rows = [row for row in reader if row]
    except csv.Error:
        return 0
    if len(lines) > 50 and len(rows) > 1:
        rows.pop()  # it may go on in the next line
    if not lines[0].strip() or len(rows) < 2:
        return 0
    width = len(rows[0])
    is_header = width > 1 and all(name.strip() for name in rows[0])
    return width if is_header and all(len(row) == width for row in rows) else 0
