"""A ledger in one SQLite file: the default, for one machine."""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from shoal.core.documents import reason
from shoal.dp.errors import LedgerError
from shoal.dp.ledger import Cursor, Ledger

WAIT_SECONDS = 60.0


class SqliteLedger(Ledger):
    """Every transaction is a connection of its own, so threads and forks need no care.

    BEGIN IMMEDIATE takes the write lock before the account is read, which is
    what keeps two processes from both seeing the last bit of budget.
    synchronous=EXTRA puts the charge, and the folder entry of the journal, on
    disk before the transaction ends.
    """

    _serial = "INTEGER PRIMARY KEY AUTOINCREMENT"

    def __init__(self, path: str, *, create: bool = True) -> None:
        self.path = path
        self.where = f"ledger {path}"
        self._lock = threading.Lock()
        self._kept: sqlite3.Connection | None = None
        self._owner = os.getpid()
        if path == ":memory:":
            self._kept = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        elif not create and not Path(path).exists():
            raise LedgerError(where=self.where, problem="no such ledger; name it with --ledger")
        else:
            try:
                Path(path).absolute().parent.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise LedgerError(where=self.where, problem=reason(error)) from None
        with self._transaction() as cursor:
            self._set_up(cursor)

    def _locked(self) -> str:
        return ""

    def close(self) -> None:
        """Forget a ledger that lived in memory."""
        if self._kept is not None:
            self._kept.close()

    def _refuse_copy(self) -> None:
        """Refuse a forked copy of a ledger in memory: both would spend the same budget."""
        if os.getpid() != self._owner:
            raise LedgerError(
                where=self.where, problem="belongs to another process; use a ledger file to share"
            )

    @contextmanager
    def _transaction(self) -> Iterator[Cursor]:
        try:
            if self._kept is not None:
                self._refuse_copy()
                with self._lock, _immediate(self._kept) as cursor:
                    yield cursor
                return
            connection = sqlite3.connect(self.path, timeout=WAIT_SECONDS, isolation_level=None)
            with closing(connection):
                connection.execute("PRAGMA synchronous = EXTRA")
                with _immediate(connection) as cursor:
                    yield cursor
        except sqlite3.Error as error:
            raise LedgerError(where=self.where, problem=_problem(error)) from None


@contextmanager
def _immediate(connection: sqlite3.Connection) -> Iterator[Cursor]:
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield connection.cursor()
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def _problem(error: sqlite3.Error) -> str:
    name = getattr(error, "sqlite_errorname", "") or type(error).__name__
    known = {
        "SQLITE_BUSY": f"was locked by others for {WAIT_SECONDS:g} s; try again",
        "SQLITE_NOTADB": "this file is not a ledger; name another one with --ledger",
        "SQLITE_CANTOPEN": "cannot be opened; does the folder exist, and may you write there?",
        "SQLITE_READONLY": "may not be written to",
        "SQLITE_FULL": "the disk is full; nothing was charged",
        "SQLITE_CORRUPT": "is damaged; restore it from a copy",
    }
    for prefix, words in known.items():
        if name.startswith(prefix):
            return words
    return f"cannot be used ({name})"
