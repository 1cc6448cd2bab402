"""The person file: who each record of a table is about, for a table that does not say it.

A release has no person in it, and yet must be judged by persons. So who stands behind each
written record is written to a file of its own, line by line in the order of the release, that
only its owner can read; whoever verifies reads both.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import polars as pl

from shoal.core.errors import InputError
from shoal.engines.local.recode import Chunk
from shoal.engines.local.source import Source, open_source
from shoal.engines.person_key import PERSON

_MARK = "\x00"  # before the name of a column: a table may have one of that name


def divided(chunks: Iterator[Chunk], file: Path) -> Iterator[Chunk]:
    """Write the last column of released records to a person file; yield the others.

    A record of nobody has an empty line, in quotes, so that no reader leaves it out.
    """
    with file.open("wb") as lines:
        lines.write(b"person\n")
        for chunk in chunks:
            whole = chunk.whole()
            who = whole.select(pl.col(PERSON).cast(pl.String))
            who.write_csv(lines, include_header=False, quote_style="always")
            yield Chunk(whole.drop(PERSON), None)


def write_persons(released: pl.DataFrame, file: Path, *, is_kept: bool) -> None:
    """Write who stands behind the records of a release in memory, if that is kept."""
    if is_kept:
        for _ in divided(iter([Chunk(released, None)]), file):
            pass


def with_persons(source: Source, file: str | Path) -> tuple[Source, tuple[str, ...]]:
    """Return a table with the columns of its person file beside it, and their names.

    Raises:
        InputError: the file has another number of records than the table.
    """
    beside = open_source(file, separator=",")
    lines, records = _records(beside), _records(source)
    if lines != records:
        raise InputError(
            where=str(file),
            problem=f"has {lines} lines for {records} records, so it belongs to another table; "
            "name the one that was written with this release",
        )
    names = {name: _MARK + name for name in beside.columns}
    both = pl.concat(
        [source.scan(source.columns), beside.scan(beside.columns).rename(names)], how="horizontal"
    )
    joined = replace(
        source, columns=(*source.columns, *names.values()), frame=both, shape=None, path=None
    )
    return joined, tuple(names.values())


def _records(source: Source) -> int:
    if source.shape is not None:
        return source.shape.records
    return int(source.collect(source.scan(source.columns[:1]).select(source.records)).item())
