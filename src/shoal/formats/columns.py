"""The names of a table's columns, as cheaply as they can be had: a record is never parsed.

For shells that complete them while somebody types: a CSV file is not checked, only its header is
read, and Polars is loaded for Parquet and Arrow files alone.
"""

from __future__ import annotations

import codecs
import io
import json
from pathlib import Path

from shoal.core.errors import InputError
from shoal.formats.csv_header import DAMAGED, header, open_bytes
from shoal.formats.endings import format_of

_HEAD = 2**16  # bytes: a header, and the lines that tell its separator
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # begins like UTF-16
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


def column_names(
    path: str | Path,
    *,
    separator: str | None = None,
    encoding: str | None = None,
    skip_lines: int = 0,
) -> tuple[str, ...]:
    """Return the names of the columns of a file.

    Raises:
        InputError: no such file, an unknown ending or encoding, or no header.
    """
    place, where = Path(path), str(path)
    kind = format_of(place)
    try:
        if kind in ("csv", "csv.gz"):
            text = _begin(place, encoding, skip_lines)
            return header(text, where=where, separator=separator)[0] if text.strip() else ()
        if kind == "jsonl":
            with place.open(encoding="utf-8-sig") as lines:
                first = json.loads(next(lines, "{}"))
            return tuple(first) if isinstance(first, dict) else ()
        return _from_schema(place, kind)
    except (OSError, LookupError, ValueError, *DAMAGED):
        raise InputError(where=where, problem="its columns cannot be read") from None


def _begin(path: Path, encoding: str | None, skip_lines: int) -> str:
    """Return how a CSV file begins, from its header on."""
    with open_bytes(path) as file:
        head = file.read(_HEAD)
    marked = next((name for mark, name in _MARKS if head.startswith(mark)), "utf-8")
    text = head.decode(encoding or marked, errors="ignore").removeprefix("\ufeff")
    lines = io.StringIO(text, newline="")
    for _ in range(skip_lines):
        lines.readline()
    return lines.read()


def _from_schema(path: Path, kind: str) -> tuple[str, ...]:
    import polars as pl

    try:
        read = pl.read_parquet_schema if kind == "parquet" else pl.read_ipc_schema
        return tuple(read(path))
    except pl.exceptions.PolarsError:
        raise InputError(where=str(path), problem="its columns cannot be read") from None
