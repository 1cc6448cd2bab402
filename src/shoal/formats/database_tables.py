"""A table of a database while it is being made: what each kind of database does in its own way.

PostgreSQL, SQLite and DuckDB make and fill a table within one transaction. MySQL ends a transaction
with every CREATE TABLE, so there the table is made under a name of its own and renamed at the end,
which happens at once.
"""

from __future__ import annotations

import secrets
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import polars as pl

from shoal.formats.database import Database, connect_mysql, quoted

if TYPE_CHECKING:
    from adbc_driver_postgresql.dbapi import Connection as Postgres
    from duckdb import DuckDBPyConnection
    from pymysql.connections import Connection as MySql


class Table(Protocol):
    """A table that nobody else sees until it is committed."""

    def exists(self) -> bool:
        """Say whether a table of its name is there."""
        ...

    def create(self, empty: pl.DataFrame) -> None:
        """Make it, with the columns of an empty frame; one that is there gives way."""
        ...

    def add(self, frame: pl.DataFrame) -> None:
        """Put records into it."""
        ...

    def read(self) -> pl.DataFrame:
        """Return what is in it."""
        ...

    def commit(self) -> None:
        """Let everybody see it."""
        ...


@contextmanager
def connected(goal: Database) -> Iterator[Table]:
    """Give the table of a database; what is not committed at the end was never there."""
    if goal.kind == "postgresql":
        from adbc_driver_postgresql.dbapi import connect

        with connect(goal.uri) as postgres:
            try:
                yield _InPostgres(postgres, str(goal.table))
            finally:
                postgres.rollback()
    elif goal.kind == "mysql":
        with closing(connect_mysql(goal)) as mysql:
            table = _InMySql(mysql, goal)
            try:
                yield table
            finally:
                table.drop_made()
    else:
        with _new_file_removed(Path(goal.file)) as path:
            if goal.kind == "duckdb":
                import duckdb

                with duckdb.connect(str(path)) as connection:
                    connection.begin()
                    yield _InDuckDb(connection, goal)
            else:
                with closing(sqlite3.connect(path, isolation_level=None)) as sqlite:
                    sqlite.execute("begin immediate")
                    yield _InSqlite(sqlite, goal)


@contextmanager
def _new_file_removed(path: Path) -> Iterator[Path]:
    """Remove a file that was not there, if something is raised."""
    is_new = not path.exists()
    try:
        yield path
    except BaseException:
        if is_new:
            path.unlink(missing_ok=True)
        raise


class _InPostgres:
    def __init__(self, connection: Postgres, table: str) -> None:
        self.connection, self.cursor = connection, connection.cursor()
        schema, _, self.name = table.rpartition(".")
        self.schema = schema or None
        self.quoted = quoted(table)

    def exists(self) -> bool:
        self.cursor.execute("select to_regclass($1) is not null", (self.quoted,))
        row = self.cursor.fetchone()
        return bool(row and row[0])

    def create(self, empty: pl.DataFrame) -> None:
        if self.exists():
            self.cursor.execute(f"drop table {self.quoted}")
        self._ingest(empty, is_new=True)
        for name, dtype in empty.schema.items():
            if isinstance(dtype, pl.Decimal):  # the driver makes it a numeric without a scale
                column, digits = quoted_word(name), f"numeric({dtype.precision}, {dtype.scale})"
                self.cursor.execute(
                    f"alter table {self.quoted} alter column {column} type {digits}"
                )

    def add(self, frame: pl.DataFrame) -> None:
        self._ingest(frame, is_new=False)

    def _ingest(self, frame: pl.DataFrame, *, is_new: bool) -> None:
        wide = [n for n, t in frame.schema.items() if t in (pl.UInt64, pl.Int128, pl.UInt128)]
        frame = frame.with_columns(pl.col(wide).cast(pl.Decimal(38, 0)), pl.col(pl.Null).cast(str))
        self.cursor.adbc_ingest(
            self.name, frame.to_arrow(), mode="create" if is_new else "append",
            db_schema_name=self.schema,
        )  # fmt: skip

    def read(self) -> pl.DataFrame:
        self.cursor.execute(f"select * from {self.quoted}")
        return _frame(self.cursor.fetch_arrow_table())

    def commit(self) -> None:
        self.connection.commit()


class _InDuckDb:
    def __init__(self, connection: DuckDBPyConnection, goal: Database) -> None:
        self.connection, self.name = connection, goal.name()
        self.schema, _, self.table = str(goal.table).rpartition(".")

    def exists(self) -> bool:
        found = self.connection.execute(
            "select count(*) from information_schema.tables where table_name = ? "
            "and table_schema = coalesce(?, current_schema())",
            [self.table, self.schema or None],
        ).fetchall()
        return bool(found[0][0])

    def create(self, empty: pl.DataFrame) -> None:
        self._run(empty, f"create or replace table {self.name} as select * from frame")

    def add(self, frame: pl.DataFrame) -> None:
        self._run(frame, f"insert into {self.name} select * from frame")

    def _run(self, frame: pl.DataFrame, statement: str) -> None:
        self.connection.register("frame", frame.with_columns(pl.col(pl.Null).cast(str)).to_arrow())
        self.connection.execute(statement)
        self.connection.unregister("frame")

    def read(self) -> pl.DataFrame:
        return _frame(self.connection.sql(f"select * from {self.name}").to_arrow_table())

    def commit(self) -> None:
        self.connection.commit()


class _InSqlite:
    def __init__(self, connection: sqlite3.Connection, goal: Database) -> None:
        self.connection, self.name, self.table = connection, goal.name(), str(goal.table)
        self.columns: list[str] = []

    def exists(self) -> bool:
        asked = "select count(*) from sqlite_master where name = ?"
        return bool(self.connection.execute(asked, (self.table,)).fetchone()[0])

    def create(self, empty: pl.DataFrame) -> None:
        self.connection.execute(f"drop table if exists {self.name}")
        self.columns = empty.columns
        typed = ", ".join(f"{quoted_word(n)} {_sqlite_type(t)}" for n, t in empty.schema.items())
        self.connection.execute(f"create table {self.name} ({typed})")

    def add(self, frame: pl.DataFrame) -> None:
        marks = ", ".join("?" * frame.width)
        plain = frame.select(_as_written(series, nested=False) for series in frame)
        self.connection.executemany(f"insert into {self.name} values ({marks})", plain.iter_rows())

    def read(self) -> pl.DataFrame:
        rows = self.connection.execute(f"select * from {self.name}").fetchall()
        return pl.DataFrame(rows, schema=self.columns, orient="row", infer_schema_length=None)

    def commit(self) -> None:
        self.connection.execute("commit")


class _InMySql:
    """MySQL commits with every CREATE TABLE: the table gets its name at the very end."""

    def __init__(self, connection: MySql, goal: Database) -> None:
        self.connection, self.goal = connection, goal
        schema, dot, table = str(goal.table).rpartition(".")
        self.schema, self.table = schema, table
        own = f"_shoal_{secrets.token_hex(8)}"
        self.made = Database(uri=goal.uri, table=f"{schema}{dot}{own}")
        self.old = quoted(f"{schema}{dot}{own}_old", "`")
        self.is_made = False

    def _run(self, statement: str, *values: object) -> tuple[tuple[object, ...], ...]:
        with self.connection.cursor() as cursor:
            cursor.execute(statement, values or None)
            return tuple(cursor.fetchall())

    def exists(self) -> bool:
        found = self._run(
            "select count(*) from information_schema.tables where table_name = %s "
            "and table_schema = coalesce(nullif(%s, ''), database())",
            self.table, self.schema,
        )  # fmt: skip
        return bool(found[0][0])

    def create(self, empty: pl.DataFrame) -> None:
        typed = ", ".join(
            f"{quoted_word(n, '`')} {_mysql_type(t)}" for n, t in empty.schema.items()
        )
        self.is_made = True
        self._run(f"create table {self.made.name()} ({typed}) character set utf8mb4")

    def add(self, frame: pl.DataFrame) -> None:
        marks = ", ".join(["%s"] * frame.width)
        plain = frame.select(_as_written(series, nested=True) for series in frame)
        with self.connection.cursor() as cursor:
            cursor.executemany(f"insert into {self.made.name()} values ({marks})", plain.rows())

    def read(self) -> pl.DataFrame:
        self.connection.commit()  # another connection reads it
        return self.made.read()

    def commit(self) -> None:
        goal, made = self.goal.name(), self.made.name()
        if self.exists():
            self._run(f"rename table {goal} to {self.old}, {made} to {goal}")
            self.is_made = False
            self._run(f"drop table {self.old}")
        else:
            self._run(f"rename table {made} to {goal}")
            self.is_made = False

    def drop_made(self) -> None:
        if self.is_made:
            with suppress(Exception):  # what went wrong before is what is told
                self._run(f"drop table if exists {self.made.name()}")


def _frame(table: object) -> pl.DataFrame:
    found = pl.from_arrow(table)
    assert isinstance(found, pl.DataFrame)
    return found


def quoted_word(name: str, mark: str = '"') -> str:
    """Return the name of a column as SQL takes it; a dot in it is a dot."""
    return mark + name.replace(mark, mark * 2) + mark


def _sqlite_type(dtype: pl.DataType) -> str:
    if dtype == pl.Boolean:
        return "BOOLEAN"
    if dtype.is_integer() and dtype not in (pl.UInt64, pl.Int128, pl.UInt128):
        return "INTEGER"
    if dtype.is_float():
        return "REAL"
    if dtype == pl.Date:
        return "DATE"
    return "TIMESTAMP" if isinstance(dtype, pl.Datetime) else "TEXT"


def _mysql_type(dtype: pl.DataType) -> str:
    if dtype == pl.Boolean:
        return "boolean"
    if dtype.is_integer():
        small = dtype in (pl.Int8, pl.Int16, pl.UInt8, pl.Int32, pl.UInt16)
        wide = dtype in (pl.UInt64, pl.Int128, pl.UInt128)
        return "decimal(38,0)" if wide else "int" if small else "bigint"
    if isinstance(dtype, pl.Decimal):
        return f"decimal(38,{dtype.scale})"
    if dtype.is_float():
        return "double"
    if dtype == pl.Date:
        return "date"
    if isinstance(dtype, pl.Datetime):
        return "datetime(6)"
    return "time(6)" if dtype == pl.Time else "longtext"


def _as_written(series: pl.Series, *, nested: bool) -> pl.Series:
    """Return the values as a driver takes them. nested: it knows dates, times and decimals."""
    dtype = series.dtype
    if dtype.is_float():
        return series.cast(pl.Float64).fill_nan(None)
    if isinstance(dtype, pl.Datetime):
        zoned = series.dt.convert_time_zone("UTC") if dtype.time_zone else series
        local = zoned.dt.replace_time_zone(None)
        return local if nested else local.dt.to_string("%Y-%m-%d %H:%M:%S%.6f")
    if dtype == pl.Time:
        return series.dt.to_string("%H:%M:%S%.6f")
    if dtype == pl.Boolean:
        return series.cast(pl.Int64)
    if dtype == pl.Date or dtype.is_decimal():
        return series if nested else series.cast(pl.String)
    is_wide = dtype in (pl.UInt64, pl.Int128, pl.UInt128)
    return series if dtype.is_integer() and not (is_wide and not nested) else series.cast(pl.String)
