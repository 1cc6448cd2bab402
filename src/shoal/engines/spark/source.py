"""Opening tables on Spark: whatever it reads becomes a DataFrame with plain column names."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from shoal.core.documents import reason
from shoal.core.errors import InputError, ShoalError
from shoal.core.spreadsheet import BARE, GUARDED, NUMBER
from shoal.core.suggest import no_file
from shoal.engines.refusals import check_columns
from shoal.engines.spark.session import require, session
from shoal.formats.csv_check import CHUNK, check_bytes, check_csv
from shoal.formats.csv_header import open_bytes
from shoal.formats.endings import format_of
from shoal.formats.frames import to_lazy
from shoal.formats.spark_table import SparkTable

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession
    from pyspark.sql.types import StructType

NO_TEXT = "\x00\x01"  # stands for an empty field while Spark reads CSV; no text holds it
SMALL = 64 * 2**20  # bytes; a smaller CSV file is one task anyway, quoted line breaks and all
TABLE = "table:"
READ = ("csv", "csv.gz", "jsonl", "parquet", "orc")


_NESTED = ("array", "map", "struct", "binary", "variant")


@dataclass(frozen=True)
class SparkSource:
    """An open table.

    Its columns are called c0, c1, … in `frame`, so that no name needs quoting and none is
    taken for another; `columns` are the names that the table gives them.
    """

    where: str
    columns: tuple[str, ...]
    frame: DataFrame
    format: str = "frame"
    separator: str = ","
    records: int | None = None  # where somebody counted them before Spark
    given: object = field(default=None, repr=False, compare=False)  # what the caller opened

    @property
    def session(self) -> SparkSession:
        """Return the session that the table belongs to."""
        return self.frame.sparkSession

    def name(self, column: str) -> str:
        """Return the plain name of a column in `frame`."""
        return f"c{self.columns.index(column)}"

    def value(self, column: str) -> Column:
        """Return a column's values as they are counted.

        Not-a-number is a missing value, a decimal its digits, a moment the local time of the
        session's zone.
        """
        from pyspark.sql import functions as F
        from pyspark.sql.types import (
            BooleanType,
            DecimalType,
            DoubleType,
            FloatType,
            NullType,
            TimestampType,
        )

        name = self.name(column)
        kind = self.frame.schema[name].dataType
        found = F.col(name)
        if isinstance(kind, (FloatType, DoubleType)):
            return F.when(~F.isnan(found), found)
        if isinstance(kind, (BooleanType, NullType, DecimalType)):
            return found.cast("string")
        if isinstance(kind, TimestampType):
            return found.cast("timestamp_ntz")
        return found

    def check(self, columns: Sequence[str]) -> None:
        """Refuse columns that are not there, or hold lists and the like."""
        check_columns(self.where, self.columns, columns)
        for name in columns:
            kind = self.frame.schema[self.name(name)].dataType.typeName()
            if kind in _NESTED or "interval" in kind:
                where = f"column {name!r}"
                raise InputError(where=where, problem=f"holds {kind} values, not plain ones")

    def as_labels(self) -> SparkSource:
        """Return a release to be understood: see the local engine's source."""
        from pyspark.sql import functions as F

        texts = [name for name, kind in self.frame.dtypes if kind == "string"]
        some, bare = F.lit(False), F.lit(False)
        for name in texts:
            cell = F.col(name)
            is_formula = cell.rlike(BARE) & ~cell.rlike(NUMBER)
            some = some | F.coalesce(F.bool_or(cell.rlike(GUARDED)), F.lit(False))
            bare = bare | F.coalesce(F.bool_or(is_formula), F.lit(False))
        with guarded(self.where):
            found = self.frame.agg(some.alias("some"), bare.alias("bare")).collect()[0]
        if not found["some"] or found["bare"]:
            return self
        plain = {name: F.regexp_replace(name, GUARDED, "$1") for name in texts}
        return replace(self, frame=self.frame.withColumns(plain))

    def polars(self, frame: DataFrame) -> pl.DataFrame:
        """Run a query and collect its rows by Arrow."""
        with guarded(self.where):
            found = pl.from_arrow(frame.toArrow())
        assert isinstance(found, pl.DataFrame)
        return found


@contextmanager
def guarded(where: str) -> Iterator[None]:
    """Keep what Spark says of the data inside: its messages quote rows."""
    try:
        yield
    except ShoalError:
        raise
    except Exception as error:
        name = type(error).__name__
        if not type(error).__module__.startswith(("pyspark", "py4j")):
            raise
        own = _own_error(str(error))
        if own is not None:
            raise own from None
        raise InputError(
            where=where, problem=f"Spark could not finish the work on it ({name}); see its log"
        ) from None


def _own_error(text: str) -> ShoalError | None:
    """Return the error of ours that a worker raised, if the text of Spark's error names one."""
    from shoal.core import errors

    for line in text.splitlines():
        kind, _, rest = line.strip().partition(": ")
        if not kind.startswith("shoal.core.errors."):
            continue
        found = getattr(errors, kind.rpartition(".")[2], None)
        if isinstance(found, type) and issubclass(found, ShoalError):
            own = found.__new__(found)
            Exception.__init__(own, rest)
            own.facts = {}
            return own
    return None


def open_table(table: object, *, separator: str | None = None) -> SparkSource:
    """Open a Spark DataFrame, or what a `SparkTable` names.

    Raises:
        InputError: no such file or table, or one that Spark does not read.
        MissingExtraError: Spark is not installed.
    """
    require()
    asked = table if isinstance(table, SparkTable) else SparkTable(table)
    return replace(_opened(asked, separator or asked.separator), given=table)


def _opened(asked: SparkTable, separator: str | None) -> SparkSource:
    from pyspark.sql import DataFrame

    if isinstance(asked.place, DataFrame):
        return _plain("table", asked.place)
    spark = session(asked.master)
    if isinstance(asked.place, (str, Path)):
        text = str(asked.place)
        if text.startswith(TABLE):
            with _readable(text):
                return _plain(text, spark.table(text.removeprefix(TABLE)))
        return _open_path(spark, text, separator=separator)
    frame = to_lazy(asked.place).collect()
    plain = frame.with_columns(pl.col(pl.Categorical, pl.Enum).cast(pl.String))
    return _plain("table", spark.createDataFrame(plain.to_arrow()))


def _plain(where: str, frame: DataFrame, *, format: str = "frame") -> SparkSource:
    names = tuple(frame.columns)
    _refuse_twice(where, names)
    plain = frame.toDF(*[f"c{i}" for i in range(len(names))])
    return SparkSource(where=where, columns=names, frame=plain, format=format)


def _refuse_twice(where: str, names: Sequence[str]) -> None:
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        named = ", ".join(repr(name) for name in twice)
        problem = f"the columns {named} stand there twice; rename one of them"
        raise InputError(where=where, problem=problem)


@contextmanager
def _readable(where: str) -> Iterator[None]:
    try:
        yield
    except ShoalError:
        raise
    except Exception as error:
        if not type(error).__module__.startswith(("pyspark", "py4j")):
            raise
        raise InputError(
            where=where,
            problem=f"Spark cannot read it ({type(error).__name__}); is it there, and a table?",
        ) from None


def is_url(place: object) -> bool:
    """Say whether a place is somewhere else than in this machine's folders."""
    return "://" in str(place)


def address_of(path: Path) -> str:
    """Return what Spark calls a place of this machine; it takes every character as it is."""
    return f"file://{path.absolute()}"


def exactly(address: str) -> str:
    """Return an address to read from whose name is no pattern."""
    return re.sub(r"([\\*?{}\[\]])", r"\\\1", address)


def _open_path(spark: SparkSession, text: str, *, separator: str | None) -> SparkSource:
    name = text.rstrip("/")
    local = None if is_url(text) else Path(text)
    if local is not None and not local.exists():
        raise InputError(where=text, problem=no_file(local))
    if name.lower().endswith(".orc"):
        kind = "orc"
    elif local is not None and local.is_dir() and not local.suffix:
        kind = "parquet"
    else:
        kind = format_of(Path(name))
    if kind not in READ:
        raise InputError(
            where=text,
            problem=f"Spark does not read {'Arrow' if kind == 'arrow' else kind} files; give it "
            "Parquet, or leave --engine spark out",
        )
    address = text if local is None else exactly(address_of(local))
    with _readable(text):
        if kind in ("csv", "csv.gz"):
            return _open_csv(spark, text, address, local, separator=separator)
        if kind == "jsonl":
            frame = spark.read.json(address, mode="FAILFAST")
            return _plain(text, frame.select(*_json_order(local, frame.columns)), format=kind)
        read = spark.read.orc(address) if kind == "orc" else spark.read.parquet(address)
        return _plain(text, read, format=kind)


def open_written(
    spark: SparkSession, address: str, kind: str, *, columns: Sequence[str], separator: str
) -> SparkSource:
    """Open the part files that Spark has just written, to judge them."""
    address = exactly(address)
    with _readable("release"):
        if kind in ("csv", "csv.gz"):
            frame = _read_csv(spark, address, len(columns), separator=separator, multi=True)
            return SparkSource("release", tuple(columns), frame, kind, separator)
        if kind == "jsonl":
            plain = spark.read.json(address, mode="FAILFAST", schema=_texts(columns))
        else:
            plain = spark.read.orc(address) if kind == "orc" else spark.read.parquet(address)
        return _plain("release", plain, format=kind)


def _texts(columns: Sequence[str]) -> StructType:
    from pyspark.sql.types import StringType, StructField, StructType

    return StructType([StructField(name, StringType()) for name in columns])


def _read_csv(
    spark: SparkSession, address: str, fields: int, *, separator: str, multi: bool
) -> DataFrame:
    return spark.read.csv(
        address, schema=_texts([f"c{i}" for i in range(fields)]), sep=separator, header=True,
        quote='"', escape='"', nullValue=NO_TEXT, emptyValue="", mode="FAILFAST",
        multiLine=multi, maxCharsPerColumn=-1, enforceSchema=True,
    )  # fmt: skip


def _json_order(local: Path | None, columns: Sequence[str]) -> list[str]:
    """Return the columns in the order of the first line; Spark has them in the alphabet's."""
    first: list[str] = []
    if local is not None and local.is_file():
        with local.open(encoding="utf-8") as file:
            found = json.loads(file.readline() or "{}")
        first = [name for name in found if name in columns]
    quoted = [name.replace("`", "``") for name in dict.fromkeys([*first, *columns])]
    return [f"`{name}`" for name in quoted]


def _open_csv(
    spark: SparkSession, where: str, address: str, local: Path | None, *, separator: str | None
) -> SparkSource:
    """Open CSV files; one that this machine can see is checked as the local engine does."""
    records = None
    if local is not None and local.is_file():
        shape = check_csv(local, separator=separator)
        records = shape.records
        is_small = local.stat().st_size <= SMALL and not _has_mixed_ends(local)
    else:
        head = _head(spark, address, local)
        shape = check_bytes(head, where=where, separator=separator)
        is_small = False
    _refuse_twice(where, shape.columns)
    frame = _read_csv(spark, address, len(shape.columns), separator=shape.separator, multi=is_small)
    return SparkSource(
        where=where, columns=shape.columns, frame=frame, format="csv",
        separator=shape.separator, records=records,
    )  # fmt: skip


def _has_mixed_ends(local: Path) -> bool:
    """Say whether some records end as lines do on Windows and others do not.

    Where fields may hold line breaks, Spark takes the first line's end for that of all.

    Raises:
        InputError: some do, and fields hold line breaks.
    """
    feeds, _, pairs, _ = _line_ends(local)
    if pairs in (0, feeds):
        return False
    feeds, returns, pairs, inside = _line_ends(local, outside=True)
    if pairs in (0, feeds):
        return False
    if inside or returns != pairs:
        problem = "its lines end in two ways, and fields hold line breaks; save it with one way"
        raise InputError(where=str(local), problem=problem)
    return True


def _line_ends(local: Path, *, outside: bool = False) -> tuple[int, int, int, int]:
    """Count line feeds, returns and pairs of both, everywhere or outside quotes; and the rest."""
    feeds = returns = pairs = rest = 0
    is_quoted, last = False, b""
    with open_bytes(local) as file:
        while chunk := file.read(CHUNK):
            plain = chunk
            if outside:
                whole = b'"' + chunk if is_quoted else chunk
                is_quoted = whole.count(b'"') % 2 == 1
                plain = re.sub(rb'"[^"]*"', b'"', whole + b'"' if is_quoted else whole)
            feeds, returns = feeds + plain.count(b"\n"), returns + plain.count(b"\r")
            rest += sum(chunk.count(mark) - plain.count(mark) for mark in (b"\n", b"\r"))
            pairs += (last + plain).count(b"\r\n")
            last = plain[-1:] if plain.endswith(b"\r") else b""
    return feeds, returns, pairs, rest


def _head(spark: SparkSession, address: str, local: Path | None) -> bytes:
    """Return the header line of a folder of CSV files, or of files elsewhere."""
    if local is not None:
        files = sorted(p for p in local.glob("*.csv*") if not p.name.startswith((".", "_")))
        if not files:
            raise InputError(where=str(local), problem="a folder without CSV files")
        try:
            with open_bytes(files[0]) as file:
                return bytes(file.readline())
        except OSError as error:
            raise InputError(where=str(files[0]), problem=reason(error)) from None
    lines = spark.read.text(address).limit(1).collect()
    return (str(lines[0][0]) + "\n").encode() if lines else b""
