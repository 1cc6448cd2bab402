"""All or nothing on disk: a temporary file in the same folder, flushed, verified, renamed."""

from __future__ import annotations

import errno
import gzip
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import polars as pl
from polars.io.plugins import register_io_source

from shoal.core.documents import reason
from shoal.core.errors import OutputError, ShoalError
from shoal.core.spreadsheet import check_names, is_guarded
from shoal.core.temporary import beside, publish
from shoal.engines.local.guard import guarded
from shoal.engines.local.recode import Part
from shoal.engines.local.source import format_to_write

BLOCK = 4 * 2**20  # bytes of repeated lines that are written at once


@contextmanager
def all_or_nothing(
    out: str | Path, *, inputs: tuple[str | Path, ...] = (), private: bool = False
) -> Iterator[Path]:
    """Give a temporary path to write to; rename it to `out` if nothing was raised.

    Args:
        out: where the file will be.
        inputs: files that must not be overwritten.
        private: only this user may read it, whatever the umask says.

    Guarantee:
        At any moment `out` is what it was before, or the whole new file. An input is
        never overwritten. Whatever is raised, the temporary file is removed; until it is
        renamed, nobody else can read it. A file that was there keeps its mode.
    """
    goal = Path(out)
    for table in inputs:
        if _same(goal, Path(table)):
            raise OutputError(
                where=str(out), problem="is also an input; choose another name for the output"
            )
    if goal.is_dir():
        raise OutputError(where=str(out), problem="is a folder; name a file in it")
    # The ending stays last: it tells readers the format.
    ending = "".join(goal.suffixes[-2:]) if goal.name.endswith(".gz") else goal.suffix
    try:
        with beside(goal, ending=ending) as temporary:
            yield temporary
            with temporary.open("rb+") as file:
                os.fsync(file.fileno())
            publish(temporary, goal, private=private)
            _sync_folder(goal.parent)
    except ShoalError:
        raise
    except OSError as error:
        raise OutputError(where=str(out), problem=f"cannot be written: {reason(error)}") from None


def _same(goal: Path, table: Path) -> bool:
    try:
        return goal.samefile(table)
    except OSError:
        return goal.absolute() == table.absolute()


def _sync_folder(folder: Path) -> None:
    with suppress(OSError):  # some file systems cannot flush a folder
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def write_text(out: str | Path, text: str, *, inputs: tuple[str | Path, ...] = ()) -> None:
    """Write a small text file, all or nothing."""
    with all_or_nothing(out, inputs=inputs) as temporary:
        temporary.write_text(text, encoding="utf-8")


def write_parts(
    parts: Iterator[Part],
    path: Path,
    *,
    separator: str = ",",
    spreadsheet_safe: bool | None = None,
) -> int:
    """Write frames behind each other into one file; return the number of records.

    spreadsheet_safe: see `core.spreadsheet`; None: what is right for the format.

    Raises:
        OutputError: the disk is full or the folder cannot be written to.
    """
    kind = format_to_write(path)
    if is_guarded(kind, spreadsheet_safe, where=str(path)):
        parts = _guarded(parts)
    counted = _Counted(parts)
    if kind in ("csv", "csv.gz"):
        with gzip.open(path, "wb", 6) if kind == "csv.gz" else path.open("wb") as file:
            for number, part in enumerate(counted):
                _write_csv(part, file, separator=separator, header=number == 0)
    elif kind == "jsonl":
        with path.open("wb") as file:
            for part in counted:
                part.whole().write_ndjson(file)
    else:
        _sink(counted, path, kind)
    return counted.records


def _guarded(parts: Iterator[Part]) -> Iterator[Part]:
    for part in parts:
        check_names(part.frame.columns)
        yield Part(guarded(part.frame), part.counts)


class _Counted:
    """Counts the records of the parts that pass."""

    def __init__(self, parts: Iterator[Part]) -> None:
        self.parts = parts
        self.records = 0

    def __iter__(self) -> Iterator[Part]:
        for part in self.parts:
            self.records += part.frame.height if part.counts is None else int(part.counts.sum())
            yield part


def _write_csv(part: Part, file: Any, *, separator: str, header: bool) -> None:
    """Write a part; equal records are formatted once and their line repeated."""
    if part.frame.width == 1:  # other readers skip a blank line: the only cell is quoted
        part = Part(part.frame.select(pl.all().cast(pl.String).fill_null("")), part.counts)
    if part.counts is None:
        part.frame.write_csv(file, separator=separator, include_header=header)
        return
    text = part.frame.write_csv(separator=separator, include_header=header).encode()
    lines = text.split(b"\n")
    if len(lines) != part.frame.height + header + 1:  # a value holds a line break
        part.whole().write_csv(file, separator=separator, include_header=header)
        return
    if header:
        file.write(lines[0] + b"\n")
    for line, times in zip(lines[header:-1], part.counts, strict=True):
        most = max(BLOCK // (len(line) + 1), 1)
        whole, rest = divmod(int(times), most)
        if whole:
            block = (line + b"\n") * most
            for _ in range(whole):
                file.write(block)
        file.write((line + b"\n") * rest)


def _sink(parts: _Counted, path: Path, kind: str) -> None:
    """Stream parts into one columnar file; only one part is in memory at a time."""
    ahead = iter(parts)
    first = _plain(next(ahead).whole())

    failed: list[BaseException] = []

    def frames(*_: object) -> Iterator[pl.DataFrame]:
        yield first
        try:
            for part in ahead:
                yield _plain(part.whole())
        except BaseException as error:  # Polars would wrap it and lose its kind
            failed.append(error)
            raise

    lazy = register_io_source(frames, schema=first.schema)
    try:
        if kind == "parquet":
            lazy.sink_parquet(path, engine="streaming")
        else:
            lazy.sink_ipc(path, engine="streaming")
    except pl.exceptions.PolarsError as error:
        if failed:
            raise failed[0] from None
        raise OSError(*_system_error(error)) from None


def _system_error(error: Exception) -> tuple[int, str]:
    """Return the error of the operating system that Polars wrapped; the text is not shown."""
    found = re.search(r"os error (\d+)", str(error))
    number = int(found[1]) if found else errno.EIO
    return number, os.strerror(number)


def _plain(frame: pl.DataFrame) -> pl.DataFrame:
    """Return the frame with texts as texts: each part has its own dictionary of labels."""
    return frame.with_columns(pl.col(pl.Enum, pl.Categorical).cast(pl.String))
