"""All or nothing on disk: a temporary file in the same folder, flushed, verified, renamed."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import polars as pl

from shoal.core.documents import reason
from shoal.core.errors import OutputError
from shoal.engines.local.source import format_of


@contextmanager
def all_or_nothing(out: str | Path, *, inputs: tuple[str | Path, ...] = ()) -> Iterator[Path]:
    """Give a temporary path to write to; rename it to `out` if nothing was raised.

    Guarantee:
        At any moment `out` is what it was before, or the whole new file. An input is
        never overwritten. Whatever is raised, the temporary file is removed.
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
    temporary = goal.with_name(f".{goal.name}.{secrets.token_hex(4)}.tmp{ending}")
    try:
        with temporary.open("xb"):
            pass
        yield temporary
        with temporary.open("rb+") as file:
            os.fsync(file.fileno())
        os.replace(temporary, goal)
        _sync_folder(goal.parent)
    except OSError as error:
        raise OutputError(where=str(out), problem=f"cannot be written: {reason(error)}") from None
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


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


def write_parts(parts: Iterator[pl.DataFrame], path: Path, *, separator: str = ",") -> int:
    """Write frames behind each other into one file; return the number of records.

    Raises:
        OutputError: the disk is full or the folder cannot be written to.
    """
    kind = format_of(path)
    try:
        if kind == "csv":
            return _append(parts, path, _csv_bytes(separator))
        if kind == "jsonl":
            return _append(parts, path, lambda frame, file, _: frame.write_ndjson(file))
        frames = list(parts)
        frame = pl.concat(frames) if len(frames) != 1 else frames[0]
        frame = frame.with_columns(pl.col(pl.Enum).cast(pl.String)) if kind != "csv.gz" else frame
        if kind == "parquet":
            frame.write_parquet(path)
        elif kind == "arrow":
            frame.write_ipc(path)
        else:
            frame.write_csv(path, separator=separator, compression="gzip", check_extension=False)
        return frame.height
    except pl.exceptions.PolarsError as error:
        raise OutputError(where=path.name, problem=f"cannot be written ({type(error).__name__})") from None


def _csv_bytes(separator: str) -> Callable[[pl.DataFrame, Any, bool], None]:
    def write(frame: pl.DataFrame, file: Any, is_first: bool) -> None:
        frame.write_csv(file, separator=separator, include_header=is_first)

    return write


def _append(
    parts: Iterator[pl.DataFrame], path: Path, write: Callable[[pl.DataFrame, Any, bool], None]
) -> int:
    records = 0
    with path.open("wb") as file:
        for number, frame in enumerate(parts):
            write(frame, file, number == 0)
            records += frame.height
    return records
