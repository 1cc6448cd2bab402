"""Opening tables: files and frames become one kind of lazy scan."""

from __future__ import annotations

import glob
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

import polars as pl

from shoal.core.documents import reason
from shoal.core.errors import InputError
from shoal.core.suggest import no_file
from shoal.core.watch import watcher
from shoal.engines.coding import with_codes
from shoal.formats.csv_check import CsvShape, check_csv
from shoal.formats.csv_file import CsvFile, plain_copy
from shoal.formats.database import Database
from shoal.formats.endings import STATISTICS, check_extra, format_of
from shoal.formats.excel import read_excel
from shoal.formats.frames import to_lazy
from shoal.formats.spreadsheet import is_guarded, unguarded
from shoal.formats.statistics import Dictionary, read_statistics
from shoal.formats.types import check_types, plain_types

# A table up to this size (of text, or of unpacked columns) is kept in memory between the
# passes; a larger one is read again for every pass.
KEEP_BYTES = 400 * 2**20
BATCH_BYTES = 8 * 2**20  # of records that are read at a time from a larger one
_SAMPLES, _SAMPLE_ROWS = 5, 500  # places of a columnar file that tell how wide its records are


@dataclass(frozen=True)
class Source:
    """A table that can be scanned again and again."""

    where: str
    columns: tuple[str, ...]
    format: str
    separator: str = ","
    path: Path | None = None
    frame: pl.LazyFrame | None = None
    shape: CsvShape | None = None
    weight: str | None = None  # a column that says for how many records a row stands
    is_guarded: bool = False  # labels may have an apostrophe for spreadsheets, to be left out
    given: object = field(default=None, repr=False, compare=False)  # what the caller opened
    keeper: object = field(default=None, repr=False, compare=False)  # of a file without a name
    dictionary: Dictionary | None = field(default=None, repr=False, compare=False)

    @property
    def records(self) -> pl.Expr:
        """Return the expression that counts the records of a group."""
        return pl.len() if self.weight is None else pl.col(self.weight).sum()

    def scan(self, columns: Collection[str], *, coded: Collection[str] = ()) -> pl.LazyFrame:
        """Return a lazy scan of some columns; `coded` text columns come dictionary-coded."""
        lazy = self._csv(coded) if self.shape is not None else self.frame
        if lazy is None:
            raise InputError(where=self.where, problem="there is nothing to scan")
        weights = [] if self.weight is None else [self.weight]
        lazy = lazy.select([*columns, *weights])
        if self.is_guarded:
            lazy = unguarded(lazy)
        elif self.shape is not None:
            return lazy
        check_types(lazy.collect_schema(), columns)
        return with_codes(lazy, [name for name in columns if name in coded])

    def as_labels(self) -> Source:
        """Return a release to be understood: without the apostrophes of --spreadsheet-safe.

        What is judged is the release as it is written, not this.
        """
        found = self.collect(is_guarded(self.scan(self.columns))).item()
        return replace(self, is_guarded=bool(found))

    def _csv(self, coded: Collection[str]) -> pl.LazyFrame:
        assert self.shape is not None
        types = {c: pl.Categorical if c in coded else pl.String for c in self.columns}
        return pl.scan_csv(
            self.path,  # type: ignore[arg-type]
            separator=self.separator,
            schema=types,
            n_rows=self.shape.records if self.shape.has_blank_end else None,
            glob=False,
        )

    def fits_memory(self) -> bool:
        """Say whether the table is small enough to be kept between two passes."""
        return self.path is None or self.size <= KEEP_BYTES

    @property
    def size(self) -> int:
        """Return about how many bytes the records take, unpacked."""
        return self._extent[1]

    @property
    def _known_records(self) -> int | None:
        """Return how many records a file has; None where that is a guess."""
        return None if self.path is None or self.format == "jsonl" else self._extent[0]

    @cached_property
    def _extent(self) -> tuple[int, int]:
        """Return about how many records a file has, and how many bytes they take.

        The size of a columnar file says little: repeated values are stored once, so that 27 MB
        may stand for 1.4 GB. Its number of records is known, and a few of them tell their width.
        """
        assert self.path is not None
        if self.shape is not None:
            return self.shape.records, self.shape.size
        packed = self.path.stat().st_size
        if self.format == "jsonl" or self.frame is None:
            with self.path.open("rb") as file:
                head = file.read(2**20)
            return packed * max(head.count(b"\n"), 1) // max(len(head), 1), packed
        records = int(self.collect(self.frame.select(pl.len())).item())
        step = max(records // _SAMPLES, 1)
        widths = [
            _width(self.collect(self.frame.slice(start, min(step, _SAMPLE_ROWS))))
            for start in range(0, records, step)
        ]
        return records, max(packed, int(records * max(widths, default=0)))

    def batches(self, lazy: pl.LazyFrame, most: int) -> Iterator[pl.DataFrame]:
        """Run a lazy query batch by batch, in the table's own order.

        A batch has at most so many records, and fewer where they are wide: Polars reads
        several batches ahead.
        """
        if self.path is not None:
            records, size = self._extent
            most = min(most, max(BATCH_BYTES * records // max(size, 1), 1))
        done, known, watch = 0, self._known_records, watcher()
        try:
            for batch in lazy.collect_batches(chunk_size=most, maintain_order=True):
                done += batch.height
                watch.advance(done, known)
                yield batch
        except (pl.exceptions.PolarsError, OSError) as error:
            raise InputError(where=self.where, problem=_safe(error)) from None

    def collect(self, lazy: pl.LazyFrame) -> pl.DataFrame:
        """Run a lazy query; what Polars says of the data stays inside."""
        try:
            return lazy.collect(engine="streaming")
        except (pl.exceptions.PolarsError, OSError) as error:
            raise InputError(where=self.where, problem=_safe(error)) from None


def _width(sample: pl.DataFrame) -> float:
    """Return the bytes that a record takes in memory, on average."""
    total = 0
    for series in sample:
        if series.dtype in (pl.String, pl.Binary):  # its own bytes: buffers may be shared
            lengths = series.str.len_bytes() if series.dtype == pl.String else series.bin.size()
            total += 16 * series.len() + int(lengths.sum() or 0)
        elif isinstance(series.dtype, (pl.Categorical, pl.Enum)):
            total += 4 * series.len()
        else:
            total += int(series.estimated_size())
    return total / max(sample.height, 1)


def _safe(error: Exception) -> str:
    """Say what went wrong without the data that Polars likes to quote."""
    if isinstance(error, OSError):
        return reason(error)
    return (
        f"the file cannot be read as a table ({type(error).__name__}); is it damaged? Get it again"
    )


def open_source(table: object, *, separator: str | None = None) -> Source:
    """Open a path, a CsvFile, a Database or a frame (Polars, pandas or Arrow).

    Raises:
        InputError: no such file, an unknown ending, or a file that is not what it says.
    """
    if isinstance(table, (str, Path, CsvFile)):
        file = table if isinstance(table, CsvFile) else CsvFile(table)
        return replace(_open_path(file, separator=separator), given=table)
    if isinstance(table, Database):
        where, lazy = table.where, plain_types(table.read().lazy())
    else:
        where, lazy = "table", plain_types(to_lazy(table))
    columns = tuple(lazy.collect_schema().names())
    return Source(where=where, columns=columns, format="frame", frame=lazy, given=table)


def _open_path(file: CsvFile, *, separator: str | None) -> Source:
    path = Path(file)
    where = str(path)
    if path.is_dir():
        raise InputError(where=where, problem="a folder, not a file; name a file in it")
    kind = format_of(path)
    if not path.exists():
        raise InputError(where=where, problem=no_file(path))
    check_extra(kind)
    if kind.startswith("csv"):
        copied = plain_copy(file)
        place, keeper = (path, None) if copied is None else copied
        shape = check_csv(place, separator=separator, where=where, above=file.skip_lines)
        return Source(
            where=where, columns=shape.columns, format=kind if copied is None else "csv",
            separator=shape.separator, path=place, shape=shape, keeper=keeper,
        )  # fmt: skip
    if kind == "xlsx":
        return _held(where, kind, read_excel(file))
    if file.encoding is not None or file.skip_lines:
        raise InputError(where=where, problem="only CSV files take --encoding and --skip-lines")
    if kind in STATISTICS:
        frame, dictionary = read_statistics(path, kind)
        return replace(_held(where, kind, frame), dictionary=dictionary)
    try:
        if kind == "jsonl":
            lazy = pl.scan_ndjson(glob.escape(where), infer_schema_length=None)
        else:
            lazy = (
                pl.scan_parquet(path, glob=False)
                if kind == "parquet"
                else pl.scan_ipc(path, glob=False)
            )
        lazy = plain_types(lazy)
        names = tuple(lazy.collect_schema().names())
    except (pl.exceptions.PolarsError, OSError) as error:
        raise InputError(where=where, problem=_safe(error)) from None
    return Source(where=where, columns=names, format=kind, path=path, frame=lazy)


def _held(where: str, kind: str, frame: pl.DataFrame) -> Source:
    """Return a table that was read as a whole."""
    return Source(where=where, columns=tuple(frame.columns), format=kind, frame=frame.lazy())
