"""Where a table is, and how it is read."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Self

from shoal.cli import standard
from shoal.cli.options.groups import Group, argument, option
from shoal.core.errors import SchemaError

if TYPE_CHECKING:
    from shoal.api import CsvFile


def names(text: str | None) -> list[str]:
    """Split a list of column names; white space around a name is dropped."""
    return [] if not text else [name.strip() for name in text.split(",") if name.strip()]


def is_url(place: object) -> bool:
    """Return whether a place is a URL: a database, or where only Spark can look."""
    return "://" in str(place)


def refusal(where: str, fault: str) -> SchemaError:
    """Return the error of options that cannot be meant."""
    return SchemaError(where=where, faults=[fault])


@dataclass(frozen=True, kw_only=True)
class FileOptions(Group):
    """How a CSV file is read."""

    panel: ClassVar[str] = "Input"

    sep: str | None = option(None, "Separator of CSV files.", "C")
    encoding: str | None = option(
        None, "Encoding of a CSV file, such as cp1252 (default: UTF-8).", "NAME"
    )
    skip_lines: int = option(0, "Lines above the header of a CSV file or a sheet.", "N")
    sheet: str | None = option(None, "Sheet of an Excel file.", "NAME", shown="the first")

    def file(self, source: str) -> str | CsvFile:
        """Return a file, and how to read it where options say so; `-` is standard input."""
        if source == standard.MARK:
            source = str(standard.table())
        if self.encoding is None and not self.skip_lines and self.sheet is None:
            return source
        if is_url(source):
            raise refusal("options", "--encoding and --skip-lines go with a CSV file as INPUT")
        from shoal.api import CsvFile, ExcelFile

        if Path(source).suffix.lower() == ".xlsx":
            return ExcelFile(source, self.encoding, self.skip_lines, self.sheet)
        if self.sheet is not None:
            raise refusal("--sheet", "goes with an Excel file (.xlsx) as INPUT")

        return CsvFile(source, encoding=self.encoding, skip_lines=self.skip_lines)


@dataclass(frozen=True, kw_only=True)
class InputOptions(FileOptions):
    """Where a table is, and which engine reads it."""

    source: str = argument(
        "Table: .csv .parquet .xlsx .sav …, a database URI, or - (standard input)", "INPUT"
    )
    table: str | None = option(None, "INPUT is a database URI: its table.", "NAME")
    query: str | None = option(None, "INPUT is a database URI: a query.", "SQL")
    engine: str = option("local", "This machine, or a cluster.", "local|spark", panel="Engine")
    master: str | None = option(
        None, "With --engine spark: local[4], spark://host:7077 …", "URL", panel="Engine"
    )
    driver_rows: int | None = option(
        None, "On Spark: distinct tuples that the driver takes.", "N", panel="Engine"
    )

    @property
    def on_spark(self) -> bool:
        """Return whether Spark does the work; refuse other words."""
        if self.engine not in ("local", "spark"):
            raise refusal("--engine", "must be local or spark")
        if self.engine == "spark":
            return True
        for name, given in (("--master", self.master), ("--driver-rows", self.driver_rows)):
            if given is not None:
                raise refusal(name, "goes with --engine spark")
        return False

    def input(self) -> object:
        """Return what INPUT stands for: a file, a table in a database, or one of Spark's."""
        if self.on_spark and self.source == standard.MARK:
            raise refusal("--engine", "standard input needs the local engine; name a file")
        file, asks = self.file(self.source), self.table or self.query
        if self.on_spark:
            if asks:
                text = "--table and --query need the local engine; on Spark, INPUT is table:NAME"
                raise refusal("options", text)
            if not isinstance(file, str):
                text = "--encoding and --skip-lines need the local engine; Spark reads UTF-8"
                raise refusal("options", text)
            return self.beside(self.source)
        if is_url(file):
            from shoal.api import Database

            return Database(uri=self.source, table=self.table, query=self.query)
        if str(self.source).lower().endswith((".duckdb", ".ddb")):
            from shoal.api import Database

            path = Path(self.source).absolute()
            return Database(uri=f"duckdb:///{path}", table=self.table, query=self.query)
        if asks:
            raise refusal("options", "--table and --query go with a database URI as INPUT")
        return file

    def without_table(self) -> tuple[Self, str | None]:
        """Return the options, and the table that --table names where INPUT is a file."""
        if is_url(self.source) or self.table is None or self.query is not None:
            return self, None
        return replace(self, table=None), self.table

    def beside(self, source: str) -> object:
        """Return a further table, read by the same engine."""
        if not self.on_spark:
            return source
        from shoal.api import SparkTable

        return SparkTable(source, self.master, driver_rows=self.driver_rows)

    def files(self) -> tuple[Path, ...]:
        """Return what is read and must not be written to."""
        return () if is_url(self.source) else (Path(self.source),)
