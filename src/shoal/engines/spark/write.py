"""Writing on Spark: its own commit into a folder beside the goal, verified, then renamed.

A goal that ends in .csv or .jsonl and lies in a folder of this machine becomes one file, the
same bytes as the local engine's; everything else is a folder of part files, as Spark writes.
"""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Protocol

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from shoal.core.documents import reason
from shoal.core.errors import OutputError, ShoalError
from shoal.core.spreadsheet import FORMULA, NUMBER, check_names, is_guarded
from shoal.core.temporary import beside, open_private, publish
from shoal.engines.spark.source import address_of, guarded, is_url
from shoal.formats.endings import format_to_write

_CSV: dict[str, str | bool] = {"header": True, "escape": '"', "emptyValue": '""', "nullValue": "",
        "ignoreLeadingWhiteSpace": False, "ignoreTrailingWhiteSpace": False}  # fmt: skip


def kind_of(out: str | Path) -> str:
    """Return the format in which Spark writes a place.

    Raises:
        OutputError: it does not write such files.
    """
    place = str(out).rstrip("/")
    if place.lower().endswith(".orc"):
        return "orc"
    kind = format_to_write(Path(place), (".csv", ".parquet", ".jsonl", ".orc"))
    if kind not in ("csv", "csv.gz", "parquet", "jsonl"):
        named = "Arrow" if kind == "arrow" else kind
        raise OutputError(where=place, problem=f"Spark writes no {named} files; try .parquet")
    if kind == "csv.gz" and not is_url(out):
        raise OutputError(where=place, problem="on Spark, write .csv or .parquet")
    return kind


class _FileSystem(Protocol):
    """What is asked of Hadoop's file system, in its own words."""

    def rename(self, source: object, goal: object, /) -> bool: ...
    def delete(self, path: object, recursive: bool, /) -> bool: ...


class Goal:
    """Where a table goes: first to a folder beside it that readers do not see.

    On this machine that folder is in another one, made for it, which is this user's alone.
    """

    def __init__(
        self, spark: SparkSession, out: str | Path, separator: str, spreadsheet_safe: bool | None
    ) -> None:
        self.spark, self.out, self.separator = spark, str(out).rstrip("/"), separator
        self.kind = kind_of(out)
        self.is_guarded = is_guarded(self.kind, spreadsheet_safe, where=self.out)
        head, _, name = self.out.rpartition("/")
        self.folder = f"{head}/.{name}.{secrets.token_hex(4)}.tmp"

    @property
    def is_one_file(self) -> bool:
        """Say whether the parts become one file."""
        return self.kind in ("csv", "jsonl") and not is_url(self.out)

    def address(self, *, behind: bool = False) -> str:
        """Return what Spark calls the folder, or the one of who stands behind the records."""
        folder = f"{self.folder}.persons" if behind else self.folder
        return folder if is_url(folder) else address_of(Path(folder))

    def as_written(self, frame: DataFrame, columns: int) -> DataFrame:
        """Return a table whose first column is as it is written where it is the only one of them.

        Other readers skip a blank line of a CSV file: the only cell is quoted.
        """
        if columns > 1 or self.kind not in ("csv", "csv.gz"):
            return frame
        first = frame.columns[0]
        return frame.withColumn(first, F.coalesce(F.col(first).cast("string"), F.lit("")))

    def write(self, frame: DataFrame, names: Sequence[str], *, behind: bool = False) -> None:
        """Let Spark write; a task that is repeated or run twice leaves one part.

        behind: to the folder of who stands behind the records.
        """
        if self.is_guarded:
            check_names(names)
            frame = _guarded(frame)
        plain = frame.toDF(*[f"c{i}" for i in range(len(names))])
        writer = self.as_written(plain, len(names)).toDF(*names).write
        address = self.address(behind=behind)
        with guarded(self.out):
            if self.kind in ("csv", "csv.gz"):
                packed = {"compression": "gzip"} if self.kind == "csv.gz" else {}
                writer.options(sep=self.separator, **_CSV, **packed).csv(address)
            elif self.kind == "jsonl":
                writer.option("ignoreNullFields", False).json(address)
            elif self.kind == "orc":
                writer.orc(address)
            else:
                writer.parquet(address)

    def publish(self) -> None:
        """Rename what was written to its goal."""
        if self.is_one_file:
            self._join()
        elif is_url(self.out):
            self._rename()
        else:
            os.rename(self.folder, self.out)

    def _join(self) -> None:
        """Put the parts behind each other, the header once."""
        whole = Path(self.folder).with_name("whole")
        parts = sorted(Path(self.folder).glob("part-*"))
        with open(whole, "xb", opener=open_private) as file:
            for number, part in enumerate(parts):
                with part.open("rb") as lines:
                    if self.kind == "csv" and number:
                        _skip_header(lines)
                    shutil.copyfileobj(lines, file, 2**22)
            file.flush()
            os.fsync(file.fileno())
        publish(whole, Path(self.out))

    def _hadoop(self) -> tuple[Callable[[str], object], _FileSystem]:
        """Return Hadoop's paths, and the file system of the goal."""
        java, context = self.spark.sparkContext._jvm, self.spark.sparkContext._jsc
        assert java is not None
        path = java.org.apache.hadoop.fs.Path
        return path, path(self.out).getFileSystem(context.hadoopConfiguration())

    def _rename(self) -> None:
        path, files = self._hadoop()
        if not files.rename(path(self.folder), path(self.out)):
            raise OutputError(where=self.out, problem="could not be renamed into place")

    def clean(self) -> None:
        """Remove whatever is left of folders that are elsewhere."""
        for folder in (self.address(behind=True), self.address()):
            with suppress(Exception):
                path, files = self._hadoop()
                files.delete(path(folder), True)


def _guarded(frame: DataFrame) -> DataFrame:
    """Return the table with an apostrophe before every text that begins like a formula."""
    plain = frame.toDF(*[f"c{i}" for i in range(len(frame.columns))])
    columns = []
    for name, kind in plain.dtypes:
        cell = F.col(name)
        if kind == "string":
            is_formula = cell.rlike(FORMULA) & ~cell.rlike(NUMBER)
            cell = F.when(is_formula, F.concat(F.lit("'"), cell)).otherwise(cell).alias(name)
        columns.append(cell)
    return plain.select(*columns)


def _skip_header(lines: IO[bytes]) -> None:
    """Read past the header; a quoted name may hold line breaks."""
    quotes = 0
    while True:
        line = lines.readline()
        quotes += line.count(b'"')
        if not line or quotes % 2 == 0:
            return


@contextmanager
def all_or_nothing(
    spark: SparkSession,
    out: str | Path,
    *,
    inputs: Sequence[object] = (),
    separator: str = ",",
    spreadsheet_safe: bool | None = None,
) -> Iterator[Goal]:
    """Give a goal to write to; publish it if nothing was raised.

    Guarantee:
        At any moment the goal is what it was before, or the whole new table. Whatever is
        raised, what was written beside it is removed. A folder is never replaced.

    Raises:
        OutputError: the goal is an input or a folder that is there already, or cannot be written.
    """
    goal = Goal(spark, out, separator, spreadsheet_safe)
    for table in inputs:
        if _same(goal.out, str(table)):
            raise OutputError(
                where=str(out), problem="is also an input; choose another name for the output"
            )
    if not is_url(out) and not Path(out).absolute().parent.is_dir():
        raise OutputError(where=str(out), problem="lies in a folder that is not there; make it")
    if not is_url(out) and Path(out).is_dir():
        raise OutputError(where=str(out), problem="is a folder already; choose another name")
    if not is_url(out) and not goal.is_one_file and Path(out).exists():
        raise OutputError(where=str(out), problem="is there already; choose another name")
    try:
        with _room(goal):
            yield goal
            goal.publish()
    except ShoalError:
        raise
    except OSError as error:
        raise OutputError(where=str(out), problem=f"cannot be written: {reason(error)}") from None


@contextmanager
def _room(goal: Goal) -> Iterator[None]:
    """Make the place that a goal is written to first; remove what is left of it."""
    if is_url(goal.out):
        try:
            yield
        finally:
            goal.clean()
        return
    with beside(Path(goal.out).absolute(), is_folder=True) as private:
        goal.folder = str(private / "table")
        yield


def _same(goal: str, table: str) -> bool:
    if is_url(goal) or is_url(table):
        return goal == table.rstrip("/")
    try:
        return Path(goal).samefile(table)
    except OSError:
        return Path(goal).absolute() == Path(table).absolute()
