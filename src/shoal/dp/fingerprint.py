"""Naming a data set by its content, so that a copy or a new name is not a fresh budget."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

import polars as pl

from shoal.core.documents import reason
from shoal.core.errors import InputError

_BLOCK = 2**20


def fingerprint_file(path: str | Path) -> str:
    """Return the fingerprint of a file: the SHA-256 of its bytes.

    Raises:
        InputError: the file cannot be read.
    """
    digest = hashlib.sha256()
    try:
        with Path(path).open("rb") as file:
            while block := file.read(_BLOCK):
                digest.update(block)
    except OSError as error:
        raise InputError(where=str(path), problem=reason(error)) from None
    return f"sha256:{digest.hexdigest()}"


def fingerprint_frame(table: pl.LazyFrame) -> str:
    """Return the fingerprint of a table in memory: of its column names and its sorted rows.

    Example:
        >>> a = pl.LazyFrame({"x": [1, 2], "y": ["a", None]})
        >>> fingerprint_frame(a) == fingerprint_frame(a.reverse())
        True
    """
    digest = hashlib.sha256()
    types = table.collect_schema()
    if any(kind.is_nested() for kind in types.values()):
        raise InputError(where="table", problem="has lists or records; give the data set a name")
    for name in types.names():
        digest.update(name.encode() + b"\x1f")
    for block in _sorted_rows(table, types.names()):
        digest.update(block)
    return f"sha256:{digest.hexdigest()}"


def _sorted_rows(table: pl.LazyFrame, names: list[str]) -> Iterator[bytes]:
    """Yield the rows as text, each cell with its length, so that no two tables look alike."""
    if not names:
        return
    texts = [pl.col(name).cast(pl.String) for name in names]
    cells = [pl.format("{}:{}", text.str.len_bytes(), text).fill_null("-") for text in texts]
    rows = table.select(
        pl.concat_str([cell.alias(str(i)) for i, cell in enumerate(cells)]).alias("row")
    )
    try:
        found = rows.sort("row").collect(engine="streaming")["row"]
    except pl.exceptions.PolarsError as error:
        problem = f"cannot be read as text ({type(error).__name__}); give the data set a name"
        raise InputError(where="table", problem=problem) from None
    for start in range(0, found.len(), _BLOCK):
        yield ("\n".join(found[start : start + _BLOCK]) + "\n").encode()
