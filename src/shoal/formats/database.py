"""Tables in a database: read through ADBC, whole, into a frame."""

from __future__ import annotations

from dataclasses import dataclass, field

import polars as pl

from shoal.core.errors import InputError, MissingExtraError


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

    def statement(self) -> str:
        """Return the SQL to run; a table's name is quoted, its schema apart by a dot."""
        if self.query is not None:
            return self.query
        parts = str(self.table).split(".")
        return "SELECT * FROM " + ".".join('"' + part.replace('"', '""') + '"' for part in parts)

    def read(self) -> pl.DataFrame:
        """Run the statement.

        Raises:
            MissingExtraError: the driver is not installed.
            InputError: the database refused; its own words stay inside, they may quote data.
        """
        driver = self.uri.partition("://")[0].partition("+")[0]
        try:
            frame = self._ask(self.statement())
            return self._local(frame) if driver.startswith("postgres") else frame
        except ImportError:
            raise _no_driver(driver, self.where) from None
        except InputError:
            raise
        except Exception as error:
            raise InputError(
                where=self.where,
                problem=f"no table came back ({type(error).__name__}); check address and name",
            ) from None

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


def _no_driver(scheme: str, where: str) -> MissingExtraError | InputError:
    """Say which package is missing; an extra is named only where it has the driver."""
    known = {"postgres": "postgresql", "postgresql": "postgresql", "sqlite": "sqlite"}
    if scheme in known:
        return MissingExtraError(
            feature="reading from a database",
            package=f"adbc-driver-{known[scheme]}",
            extra="shoal[db]",
        )
    return InputError(
        where=where,
        problem=(
            f"there is no driver for {scheme}://; shoal[db] reads postgresql:// and sqlite://. "
            f"Install an ADBC driver for it (adbc-driver-{scheme}), if there is one, or export "
            "the table to a Parquet or CSV file"
        ),
    )
