"""Naming a data set by its content, so that a copy or a new name is not a fresh budget."""

from __future__ import annotations

import hashlib
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
    try:
        types = table.collect_schema()
        for name in types.names():
            digest.update(name.encode() + b"\x1f")
        texts = [
            pl.format("{}:{}", pl.col(name).cast(pl.String).str.len_bytes(), pl.col(name))
            .fill_null("-")
            .alias(f"text_{i}")
            if not types[name].is_nested()
            else pl.col(name).hash().cast(pl.String).fill_null("-").alias(f"text_{i}")
            for i, name in enumerate(types.names())
        ]
        rows = table.select(pl.concat_str(texts, separator="\x1f").alias("row")) if texts else table
        found = rows.sort("row").collect(engine="streaming") if texts else pl.DataFrame()
    except pl.exceptions.PolarsError as error:
        raise InputError(
            where="table", problem=f"cannot be read ({type(error).__name__})"
        ) from None
    for start in range(0, found.height, _BLOCK):
        digest.update("\n".join(found["row"][start : start + _BLOCK]).encode() + b"\n")
    return f"sha256:{digest.hexdigest()}"
