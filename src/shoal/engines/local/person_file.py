"""The person file: who each record of a table is about, for a table that does not say it.

A release has no person in it, and yet must be judged by persons. So who stands behind each
written record is written to a file of its own, line by line in the order of the release, that
only its owner can read; whoever verifies reads both.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import polars as pl

from shoal.core.errors import InputError
from shoal.engines.local.recode import Chunk
from shoal.engines.local.source import Source, open_source
from shoal.engines.person_key import PERSON, person_key

_MARK = "\x00"  # before the name of a column: a table may have one of that name
_NUMBER, _FALSE = "\x00number", "\x00false"
_FALSE_ROWS = "false_row"  # the column of a file of false records


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
    lines, records = records_of(beside), records_of(source)
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


def with_made_up(
    source: Source, names: Sequence[str], false_rows: Sequence[int]
) -> tuple[Source, tuple[str, ...]]:
    """Return a table in which each false record is about a person of its own, who is made up.

    Args:
        source: the table with its persons.
        names: the columns that say who a record is about.
        false_rows: the numbers of the false records, the first record is 1.

    Returns:
        The table, and the column that says who each record is about now.
    """
    number = pl.int_range(1, pl.len() + 1, dtype=pl.Int64)
    made_up = pl.concat_str(pl.lit(_FALSE), number.cast(pl.String))
    who = pl.when(number.is_in(list(false_rows))).then(made_up).otherwise(person_key(names, ()))
    lazy = source.scan(source.columns).with_columns(who.alias(_FALSE))
    columns = (*source.columns, _FALSE)
    return replace(source, columns=columns, frame=lazy, shape=None, path=None), (_FALSE,)


def read_false_rows(file: str | Path, records: int) -> list[int]:
    """Return the numbers of the false records of a table, the first record is 1.

    Raises:
        InputError: the file does not hold such numbers, or not of this table.
    """
    beside = open_source(file, separator=",")
    if beside.columns != (_FALSE_ROWS,):
        raise InputError(
            where=str(file),
            problem=f"is not a list of false records, which has one column, {_FALSE_ROWS!r}; name "
            "the file that --false-records wrote with this release",
        )
    texts = beside.collect(beside.scan([_FALSE_ROWS]))[_FALSE_ROWS].cast(pl.String)
    numbers = texts.cast(pl.Int64, strict=False)
    wrong = numbers.is_null() | (numbers < 1) | (numbers > records) | numbers.is_duplicated()
    if wrong.any():
        raise InputError(
            where=str(file),
            problem=f"{int(wrong.sum())} of {numbers.len()} lines are not numbers of different "
            f"records of a table of {records}, so it belongs to another table; name the one that "
            "was written with this release",
        )
    return numbers.to_list()


def records_of(source: Source) -> int:
    """Return the number of records of a table."""
    if source.shape is not None:
        return source.shape.records
    return int(source.collect(source.scan(source.columns[:1]).select(source.records)).item())
