"""Formats of files by their endings: one table for every engine."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from shoal.core.errors import InputError, OutputError

ENDINGS = (".csv", ".csv.gz", ".tsv", ".parquet", ".jsonl", ".ndjson", ".arrow", ".feather")


def format_of(path: Path) -> str:
    """Return the format that a file's ending stands for.

    Raises:
        InputError: the ending is not one that shoal knows.
    """
    known = _format(path)
    if known is None:
        raise InputError(
            where=str(path),
            problem=f"unknown ending; save it as one that shoal reads: {', '.join(ENDINGS)}",
        )
    return known


def format_to_write(path: Path, endings: Collection[str] = ENDINGS) -> str:
    """Return the format in which a file is written, by its ending.

    Raises:
        OutputError: the ending is not one that is written.
    """
    known = _format(path)
    if known is None:
        raise OutputError(
            where=str(path),
            problem=f"unknown ending; choose one that shoal writes: {', '.join(endings)}",
        )
    return known


def _format(path: Path) -> str | None:
    name = path.name.lower()
    if name.endswith(".csv.gz"):
        return "csv.gz"
    known = {".csv": "csv", ".tsv": "csv", ".txt": "csv", ".parquet": "parquet", ".pq": "parquet",
             ".jsonl": "jsonl", ".ndjson": "jsonl", ".arrow": "arrow", ".feather": "arrow",
             ".ipc": "arrow"}  # fmt: skip
    return known.get(path.suffix.lower())
