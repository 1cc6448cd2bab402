"""Tables in a database: read whole into a frame; written by `formats.database_out`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from urllib.parse import parse_qsl, unquote, urlsplit

import polars as pl

from shoal.core.errors import InputError, MissingExtraError
from shoal.formats.endings import require

DUCKDB_ENDINGS = (".duckdb", ".ddb")
_SCHEMES = {
    "postgresql": ("adbc_driver_postgresql", "adbc-driver-postgresql"),
    "sqlite": ("adbc_driver_sqlite", "adbc-driver-sqlite"),
    "duckdb": ("duckdb", "duckdb"),
    "mysql": ("pymysql", "pymysql"),
}
"""What reads each kind of database: for import, and as a package."""
_MANY = 50_000  # rows of MySQL that are turned into a frame at a time


@dataclass(frozen=True, slots=True, kw_only=True)
class Database:
    """A table, or the result of a query, in a database.

    Example:
        >>> Database(uri="sqlite:///ward.db", table="stays").statement()
        'SELECT * FROM "stays"'
    """

    uri: str = field(repr=False)  # may have a password
    table: str | None = None
    query: str | None = None

    def __post_init__(self) -> None:
        if (self.table is None) == (self.query is None):
            raise InputError(
                where=self.where, problem="name what to read: either --table NAME or --query SQL"
            )

    @property
    def where(self) -> str:
        """Return the address without what could be a password in it."""
        scheme, _, rest = self.uri.partition("://")
        address, mark, words = rest.rpartition("@")[2].partition("?")
        return f"{scheme}://{address}" + ("" if "password" in words.lower() else mark + words)

    @property
    def kind(self) -> str:
        """Return the kind of database: postgresql, sqlite, duckdb, mysql, or another scheme."""
        scheme = self.uri.partition("://")[0].partition("+")[0].lower()
        return {"postgres": "postgresql", "mariadb": "mysql"}.get(scheme, scheme)

    @property
    def file(self) -> str:
        """Return the file that a SQLite or DuckDB database is in."""
        path = self.uri.partition("://")[2].partition("?")[0]
        return unquote(path[1:] if path.startswith("/") else path)

    def statement(self) -> str:
        """Return the SQL to run; a table's name is quoted, its schema apart by a dot."""
        return self.query if self.query is not None else f"SELECT * FROM {self.name()}"

    def name(self) -> str:
        """Return the table's name as the database takes it."""
        mark = "`" if self.kind == "mysql" else '"'
        return quoted(str(self.table), mark)

    def read(self) -> pl.DataFrame:
        """Run the statement.

        Raises:
            MissingExtraError: the driver is not installed.
            InputError: the database refused; its own words stay inside, they may quote data.
        """
        self.check_driver("reading from a database")
        readers = {"duckdb": self._from_duckdb, "mysql": self._from_mysql}
        try:
            if self.kind in readers:
                return readers[self.kind]()
            frame = self._ask(self.statement())
            return self._local(frame) if self.kind == "postgresql" else frame
        except ImportError:
            raise self._no_driver("reading from a database") from None
        except InputError:
            raise
        except Exception as error:
            raise InputError(
                where=self.where,
                problem=f"no table came back ({type(error).__name__}); check address and name",
            ) from None

    def check_driver(self, feature: str) -> None:
        """Refuse a database whose driver is not installed."""
        if self.kind in ("duckdb", "mysql"):
            module, package = _SCHEMES[self.kind]
            require(module, "shoal[db]", feature=f"{feature} ({package})")

    def _ask(self, statement: str) -> pl.DataFrame:
        try:
            return pl.read_database_uri(statement, self.uri, engine="adbc")
        except pl.exceptions.PanicException:  # no Exception: nobody else would catch it
            raise InputError(
                where=self.where,
                problem=(
                    "a column has a type that cannot be read, such as interval; name the columns "
                    "in --query and make it a number: extract(epoch from stay) as stay"
                ),
            ) from None

    def _local(self, frame: pl.DataFrame) -> pl.DataFrame:
        """Return moments in the zone in which the database shows them; the driver has UTC."""
        moments = [n for n, t in frame.schema.items() if isinstance(t, pl.Datetime) and t.time_zone]
        if not moments:
            return frame
        zone = str(self._ask("SELECT current_setting('TimeZone')").item())
        try:
            return frame.with_columns(pl.col(moments).dt.convert_time_zone(zone))
        except pl.exceptions.PolarsError:  # a zone without a name, such as <+02>-02
            return frame

    def _from_duckdb(self) -> pl.DataFrame:
        import duckdb

        if not Path(self.file).is_file():
            raise InputError(where=self.where, problem="there is no such file; check the path")
        # A view, or a query, could read any file of this machine.
        own = duckdb.connect(self.file, read_only=True, config={"enable_external_access": "false"})
        with own as connection:
            try:
                found = pl.from_arrow(connection.sql(self.statement()).to_arrow_table())
            except duckdb.PermissionException:
                raise InputError(
                    where=self.where,
                    problem=(
                        "the query, or a view, reads files beside the database; read those files "
                        "themselves, or copy them into a table of it"
                    ),
                ) from None
        assert isinstance(found, pl.DataFrame)
        return found

    def _from_mysql(self) -> pl.DataFrame:
        from pymysql.cursors import SSCursor

        connection = connect_mysql(self)
        try:
            with connection.cursor(SSCursor) as cursor:
                cursor.execute(self.statement())
                schema = mysql_schema(cursor.description)
                parts = [_rows_frame((), schema)]
                while rows := cursor.fetchmany(_MANY):
                    parts.append(_rows_frame(rows, schema))
        finally:
            connection.close()
        return pl.concat(parts)

    def _no_driver(self, feature: str) -> MissingExtraError | InputError:
        """Say which package is missing; an extra is named only where it has the driver."""
        if self.kind in _SCHEMES:
            package = _SCHEMES[self.kind][1]
            return MissingExtraError(feature=feature, package=package, extra="shoal[db]")
        scheme = self.uri.partition("://")[0]
        return InputError(
            where=self.where,
            problem=(
                f"there is no driver for {scheme}://; shoal[db] reads postgresql://, mysql://, "
                f"sqlite:// and duckdb://. Install an ADBC driver for it (adbc-driver-{scheme}), "
                "if there is one, or export the table to a Parquet or CSV file"
            ),
        )


def quoted(name: str, mark: str = '"') -> str:
    """Return a name as SQL takes it, its schema apart by a dot.

    Example:
        >>> quoted("study.stays")
        '"study"."stays"'
    """
    return ".".join(mark + part.replace(mark, mark * 2) + mark for part in name.split("."))


def connect_mysql(database: Database):  # type: ignore[no-untyped-def]  # PyMySQL has no types
    """Return a connection to a MySQL or MariaDB server by host and port, or by `?socket=…`."""
    import pymysql

    address = urlsplit(database.uri)
    words = dict(parse_qsl(address.query))
    return pymysql.connect(
        host=address.hostname or "localhost",
        port=address.port or 3306,
        user=unquote(address.username or ""),
        password=unquote(address.password or ""),
        database=unquote(address.path.lstrip("/")),
        unix_socket=words.get("socket"),
        charset="utf8mb4",
        conv=_conversions(),
    )


def _conversions() -> dict[object, object]:
    """Return how values come back: times of day as texts; they may be durations there."""
    from pymysql.constants import FIELD_TYPE
    from pymysql.converters import conversions

    return {**conversions, FIELD_TYPE.TIME: str}


def mysql_schema(description: tuple[tuple[object, ...], ...]) -> Mapping[str, pl.DataType]:
    """Return the types of a result; a number with digits behind the point keeps them."""
    from pymysql.constants import FIELD_TYPE as F

    whole = {F.TINY, F.SHORT, F.LONG, F.LONGLONG, F.INT24, F.YEAR}
    found: dict[str, pl.DataType] = {}
    for name, code, _, _, _, scale, _ in description:
        if code in whole:
            found[str(name)] = pl.Int64()
        elif code in (F.FLOAT, F.DOUBLE):
            found[str(name)] = pl.Float64()
        elif code in (F.DECIMAL, F.NEWDECIMAL):
            found[str(name)] = pl.Decimal(38, int(str(scale or 0)))
        elif code in (F.DATE, F.NEWDATE):
            found[str(name)] = pl.Date()
        elif code in (F.DATETIME, F.TIMESTAMP):
            found[str(name)] = pl.Datetime("us")
        elif code == F.TIME:
            found[str(name)] = pl.Time()
        elif code in (F.BIT, F.GEOMETRY):
            found[str(name)] = pl.Binary()
        else:
            found[str(name)] = pl.String()
    return found


def _rows_frame(
    rows: tuple[tuple[object, ...], ...], schema: Mapping[str, pl.DataType]
) -> pl.DataFrame:
    read = {n: pl.String() if t == pl.Time else t for n, t in schema.items()}
    frame = pl.DataFrame([_plain(row) for row in rows], schema=read, orient="row")
    times = [name for name, dtype in schema.items() if dtype == pl.Time]
    return frame.with_columns(pl.col(times).str.to_time("%H:%M:%S%.f")) if times else frame


def _plain(row: tuple[object, ...]) -> tuple[object, ...]:
    """Return a row with bytes as texts: some servers send texts so.

    Raises:
        InputError: bytes that are no text; a value that is not what it was is worse than none.
    """
    try:
        return tuple(_text(cell) for cell in row)
    except UnicodeDecodeError:
        problem = "a column holds bytes, not text; leave it out of --query, or take its hex()"
        raise InputError(where="mysql", problem=problem) from None


def _text(cell: object) -> object:
    if isinstance(cell, (bytes, bytearray)):
        return cell.decode()
    return cell if not isinstance(cell, Decimal) or cell.is_finite() else None
