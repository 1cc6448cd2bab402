"""A ledger in PostgreSQL: for a team that shares one budget."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from shoal.core.errors import MissingExtraError
from shoal.dp.errors import LedgerError
from shoal.dp.ledger import Cell, Cursor, Ledger, Row

if TYPE_CHECKING:
    import psycopg

WAIT_SECONDS = 60

# Creating tables "if not exists" twice at the same moment fails in PostgreSQL;
# an advisory lock of our own makes the second one wait.
_SET_UP_LOCK = 7_302_148_215


class PostgresLedger(Ledger):
    """Every transaction is a connection of its own; the account's row is locked while it counts.

    The URI may hold a password, so no message ever repeats it.
    """

    where = "PostgreSQL ledger"
    _mark = "%s"
    _serial = "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY"

    def __init__(self, uri: str) -> None:
        try:
            import psycopg
        except ImportError:
            raise MissingExtraError(
                feature="a PostgreSQL ledger", package="psycopg", extra="shoal[db]"
            ) from None
        self._driver = psycopg
        self._uri = uri
        with self._transaction() as cursor:
            cursor.execute("SELECT to_regclass('shoal_ledger') IS NULL")
            if cursor.fetchone() == (True,):
                cursor.execute("SELECT pg_advisory_xact_lock(%s)", (_SET_UP_LOCK,))
            self._set_up(cursor)

    def _locked(self) -> str:
        return "FOR UPDATE"

    @contextmanager
    def _transaction(self) -> Iterator[Cursor]:
        try:
            with (
                self._driver.connect(
                    self._uri, connect_timeout=WAIT_SECONDS, application_name="shoal"
                ) as connection,
                connection.cursor() as cursor,
            ):
                # Whatever the server's default is: a charge must survive its crash.
                cursor.execute("SET LOCAL synchronous_commit = on")
                cursor.execute(f"SET LOCAL lock_timeout = '{WAIT_SECONDS}s'".encode())
                yield _Cursor(cursor)
        except self._driver.Error as error:
            raise LedgerError(where=self.where, problem=_problem(error)) from None


class _Cursor:
    """The driver's cursor; it takes statements that are not literals as bytes only."""

    def __init__(self, cursor: psycopg.Cursor[Row]) -> None:
        self._cursor = cursor

    def execute(self, statement: str, parameters: Sequence[Cell] = (), /) -> object:
        return self._cursor.execute(statement.encode(), parameters or None)

    def fetchone(self) -> Row | None:
        return self._cursor.fetchone()

    def fetchall(self) -> list[Row]:
        return self._cursor.fetchall()


def _problem(error: Exception) -> str:
    state = getattr(error, "sqlstate", None)
    if state is None:
        return "cannot be reached, or the connection broke; an answer was not computed"
    if state == "55P03":
        return f"was locked by others for {WAIT_SECONDS} s; try again"
    return f"cannot be used (SQLSTATE {state})"
