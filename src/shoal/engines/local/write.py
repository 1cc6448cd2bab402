"""All or nothing on disk: a temporary file in the same folder, flushed, verified, renamed."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import polars as pl
from polars.io.plugins import register_io_source

from shoal.core.documents import reason
from shoal.core.errors import OutputError, ShoalError
from shoal.core.spreadsheet import check_names, is_guarded
from shoal.core.temporary import beside, flush, flush_folder, publish
from shoal.core.watch import watcher
from shoal.engines.local.recode import Chunk
from shoal.formats.csv_header import open_to_write
from shoal.formats.endings import format_to_write, separator_for
from shoal.formats.excel import ExcelWriter
from shoal.formats.spreadsheet import guarded
from shoal.formats.statistics import Dictionary, write_statistics

BLOCK = 4 * 2**20  # bytes of repeated lines that are written at once
SLICE = 500_000  # rows of a table in memory that are written at once


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
    check_output(goal, inputs=inputs)
    # The ending stays last: it tells readers the format.
    ending = (
        "".join(goal.suffixes[-2:]) if goal.name.lower().endswith((".gz", ".zst")) else goal.suffix
    )
    try:
        with beside(goal, ending=ending) as temporary:
            yield temporary
            flush(temporary)
            publish(temporary, goal, private=private)
            flush_folder(goal.parent)
    except ShoalError:
        raise
    except OSError as error:
        raise OutputError(where=str(out), problem=f"cannot be written: {reason(error)}") from None


def check_output(goal: Path, *, inputs: tuple[str | Path, ...] = ()) -> None:
    """Refuse to write where an input, a folder, or nothing is.

    Raises:
        OutputError: it is one of them.
    """
    for table in inputs:
        if _same(goal, Path(table)):
            raise OutputError(
                where=str(goal), problem="is also an input; choose another name for the output"
            )
    if goal.is_dir():
        raise OutputError(where=str(goal), problem="is a folder; name a file in it")
    if not goal.absolute().parent.exists():
        raise OutputError(where=str(goal), problem="lies in a folder that is not there; make it")


def _same(goal: Path, table: Path) -> bool:
    try:
        return goal.samefile(table)
    except OSError:
        return goal.absolute() == table.absolute()


def write_text(out: str | Path, text: str, *, inputs: tuple[str | Path, ...] = ()) -> None:
    """Write a small text file, all or nothing."""
    with all_or_nothing(out, inputs=inputs) as temporary:
        temporary.write_text(text, encoding="utf-8")


def write_chunks(
    chunks: Iterator[Chunk],
    path: Path,
    *,
    separator: str = ",",
    spreadsheet_safe: bool | None = None,
    expected: int | None = None,
    dictionary: Dictionary | None = None,
) -> int:
    """Write frames behind each other into one file; return the number of records.

    spreadsheet_safe: see `core.spreadsheet`; None: what is right for the format.
    expected: how many records there will be, for whoever watches.
    dictionary: the names of numbers, for a file of statistics.

    Raises:
        OutputError: the disk is full or the folder cannot be written to.
    """
    kind = format_to_write(path)
    if is_guarded(kind, spreadsheet_safe, where=str(path)):
        chunks = _guarded(chunks)
    counted = _Counted(chunks, expected)
    if kind.startswith("csv"):
        separator = separator_for(path, separator)
        with open_to_write(path) as file:
            for number, chunk in enumerate(counted.sliced()):
                _write_csv(chunk, file, separator=separator, header=number == 0)
    elif kind == "jsonl":
        with path.open("wb") as file:
            for chunk in counted.sliced():
                chunk.whole().write_ndjson(file)
    elif kind == "xlsx":
        book = ExcelWriter(path)
        for chunk in counted.sliced():
            book.write(_plain(chunk.whole()))
        book.close()
    elif kind in ("parquet", "arrow"):
        _sink(counted, path, kind)
    else:
        whole = pl.concat([_plain(chunk.whole()) for chunk in counted])
        write_statistics(whole, path, kind, dictionary)
    return counted.records


def write_frame(
    frame: pl.DataFrame,
    path: Path,
    *,
    separator: str = ",",
    spreadsheet_safe: bool | None = None,
) -> None:
    """Write one table; see `write_chunks`."""
    chunks = iter([Chunk(frame, None)])
    write_chunks(chunks, path, separator=separator, spreadsheet_safe=spreadsheet_safe)


def _guarded(chunks: Iterator[Chunk]) -> Iterator[Chunk]:
    for chunk in chunks:
        check_names(chunk.frame.columns)
        yield Chunk(guarded(chunk.frame), chunk.counts)


class _Counted:
    """Counts the records of the chunks that pass, and tells how many have been written."""

    def __init__(self, chunks: Iterator[Chunk], expected: int | None) -> None:
        self.chunks, self.expected = chunks, expected
        self.records = 0
        self.watch = watcher()  # columnar files are written by threads of Polars

    def __iter__(self) -> Iterator[Chunk]:
        for chunk in self.chunks:
            yield from self._passed(chunk)

    def sliced(self) -> Iterator[Chunk]:
        """Yield the chunks in slices, so that a table in memory is not written at one go."""
        for chunk in self.chunks:
            for part in chunk.slices(SLICE):
                yield from self._passed(part)

    def _passed(self, chunk: Chunk) -> Iterator[Chunk]:
        if not self.records:
            self.watch("writing")
        yield chunk
        self.records += chunk.records
        self.watch.advance(self.records, self.expected)


def _write_csv(chunk: Chunk, file: IO[bytes], *, separator: str, header: bool) -> None:
    """Write a chunk; equal records are formatted once and their line repeated."""
    if chunk.frame.width == 1:  # other readers skip a blank line: the only cell is quoted
        chunk = Chunk(chunk.frame.select(pl.all().cast(pl.String).fill_null("")), chunk.counts)
    if chunk.counts is None:
        chunk.frame.write_csv(file, separator=separator, include_header=header)
        return
    text = chunk.frame.write_csv(separator=separator, include_header=header).encode()
    lines = text.split(b"\n")
    if len(lines) != chunk.frame.height + header + 1:  # a value holds a line break
        chunk.whole().write_csv(file, separator=separator, include_header=header)
        return
    if header:
        file.write(lines[0] + b"\n")
    for line, times in zip(lines[header:-1], chunk.counts, strict=True):
        most = max(BLOCK // (len(line) + 1), 1)
        whole, rest = divmod(int(times), most)
        if whole:
            block = (line + b"\n") * most
            for _ in range(whole):
                file.write(block)
        file.write((line + b"\n") * rest)


def _sink(chunks: _Counted, path: Path, kind: str) -> None:
    """Stream chunks into one columnar file; only one chunk is in memory at a time."""
    ahead = iter(chunks)
    first = _plain(next(ahead).whole())

    failed: list[BaseException] = []

    def frames(*_: object) -> Iterator[pl.DataFrame]:
        yield first
        try:
            for chunk in ahead:
                yield _plain(chunk.whole())
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
    """Return the frame with texts as texts: each chunk has its own dictionary of labels."""
    return frame.with_columns(pl.col(pl.Enum, pl.Categorical).cast(pl.String))
