"""The release ledger: what went out of a table, when, and in which class every record was.

One SQLite file that only its owner can read. A release is entered before it is published and
confirmed afterwards, so that a crash can leave an entry too many and never one too few. Records
are known by a keyed hash: the key is made with the ledger and never leaves it.
"""

from __future__ import annotations

import json
import os
import secrets
import sqlite3
import stat
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from shoal.core.documents import Document, reason
from shoal.core.errors import InputError, OutputError
from shoal.core.secret_keys import SIZE
from shoal.core.temporary import open_private

VERSION = 1
WAIT_SECONDS = 60.0
BEGUN, PUBLISHED = "begun", "published"
"""States of an entry; one that was begun and never confirmed may have been published."""

_ANYBODY = stat.S_IRWXG | stat.S_IRWXO
_TABLES = (
    "CREATE TABLE ledger (version INTEGER NOT NULL, secret BLOB NOT NULL)",
    """CREATE TABLE entry (
      number INTEGER PRIMARY KEY AUTOINCREMENT,
      at TEXT NOT NULL, state TEXT NOT NULL, facts TEXT NOT NULL, members BLOB NOT NULL)""",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerEntry:
    """One release.

    Attributes:
        number: counts from 1 on; 0: it is not entered yet.
        at: the day and time at which it was entered, UTC.
        name: of the released file; of a table in memory, nothing.
        records, released, classes, smallest_class: as in its report.
        promise: what it keeps, as documents.
        quasi: the columns that were recoded.
        shown: the columns that it released as they are.
        identity: the columns that its records are recognised by.
        is_key: these are a key, such as a patient's number; otherwise, the whole record.
        persons: the columns that say who a record is about, if persons were counted.
        waived: earlier releases that it was published beside all the same.
        request: what was asked for, without values of the data.
        over_time: of a release over time, what it promises beside the others: m, the sensitive
            column, and how many counterfeits it has.
    """

    number: int = 0
    at: str = ""
    state: str = BEGUN
    name: str
    records: int
    released: int
    classes: int
    smallest_class: int
    promise: list[Document]
    quasi: list[str]
    shown: list[str]
    identity: list[str]
    is_key: bool
    persons: list[str] = field(default_factory=list)
    waived: list[int] = field(default_factory=list)
    request: Document = field(default_factory=dict)
    over_time: Document = field(default_factory=dict)

    def to_document(self) -> dict[str, object]:
        """Return the entry as plain data."""
        return {name: getattr(self, name) for name in self.__slots__}

    @property
    def title(self) -> str:
        """Return what it is called in messages."""
        named = f" ({self.name})" if self.name else ""
        return f"release {self.number}{named} of {self.at[:10]}"


class ReleaseLedger:
    """The ledger of a project; see the module."""

    def __init__(self, path: str | Path, *, create: bool = False) -> None:
        """Open a ledger.

        create: make a new one where there is none.

        Raises:
            InputError: there is none, others can read it, or it is not one.
        """
        self.path = Path(path)
        if create and not self.path.exists():
            self._make()
        self._check_file()
        with self.transaction() as ledger:
            self.key = ledger.secret()

    def _make(self) -> None:
        try:
            with open(self.path, "xb", opener=open_private):
                pass
        except FileExistsError:
            return  # somebody else was faster
        except OSError as error:
            problem = f"no ledger can be made there: {reason(error)}"
            raise OutputError(where=str(self.path), problem=problem) from None

    def _check_file(self) -> None:
        try:
            about = self.path.stat()
        except OSError as error:
            raise InputError(
                where=str(self.path), problem=f"no ledger: {reason(error)}; name it with --ledger"
            ) from None
        if os.name == "posix" and stat.S_IMODE(about.st_mode) & _ANYBODY:
            raise InputError(
                where=str(self.path),
                problem="others can read this ledger, which says who is in which class; make it "
                "yours alone with chmod 600",
            )

    @contextmanager
    def transaction(self) -> Iterator[LedgerTransaction]:
        """Read and write with no other writer between: all of it is kept, or nothing.

        Raises:
            InputError: it is locked, damaged or not a ledger.
        """
        try:
            connection = sqlite3.connect(self.path, timeout=WAIT_SECONDS, isolation_level=None)
            with closing(connection):
                connection.execute("PRAGMA synchronous = EXTRA")
                connection.execute("BEGIN IMMEDIATE")
                try:
                    yield LedgerTransaction(connection.cursor(), str(self.path))
                except BaseException:
                    connection.execute("ROLLBACK")
                    raise
                connection.execute("COMMIT")
        except sqlite3.Error as error:
            name = getattr(error, "sqlite_errorname", "") or type(error).__name__
            raise InputError(where=str(self.path), problem=_problem(name)) from None


@dataclass(frozen=True)
class LedgerTransaction:
    """What can be asked of a ledger, and entered, in one transaction."""

    cursor: sqlite3.Cursor
    where: str

    def secret(self) -> bytes:
        """Return the key of the hashes; an empty file becomes a ledger."""
        known = self.cursor.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        if not {"ledger", "entry"} <= (names := {name for (name,) in known.fetchall()}):
            if names:
                raise InputError(where=self.where, problem=_problem("SQLITE_NOTADB"))
            for statement in _TABLES:
                self.cursor.execute(statement)
            row = (VERSION, secrets.token_bytes(SIZE))
            self.cursor.execute("INSERT INTO ledger VALUES (?, ?)", row)
        found = self.cursor.execute("SELECT version, secret FROM ledger").fetchall()
        if len(found) != 1 or not 1 <= found[0][0] <= VERSION:
            raise InputError(
                where=self.where, problem="a newer version of shoal wrote this ledger; update shoal"
            )
        return bytes(found[0][1])

    def entries(self) -> list[LedgerEntry]:
        """Return all entries, the oldest first."""
        rows = self.cursor.execute("SELECT number, at, state, facts FROM entry ORDER BY number")
        return [
            LedgerEntry(number=number, at=at, state=state, **json.loads(facts))
            for number, at, state, facts in rows.fetchall()
        ]

    def members(self, number: int) -> bytes:
        """Return what was entered of the records of a release."""
        row = self.cursor.execute("SELECT members FROM entry WHERE number = ?", (number,))
        found = row.fetchone()
        if found is None:
            raise InputError(where=self.where, problem=f"has no release {number}")
        return bytes(found[0])

    def begin(self, entry: LedgerEntry, members: bytes) -> int:
        """Enter a release that is about to be published; return its number."""
        facts = entry.to_document()
        for name in ("number", "at", "state"):
            del facts[name]
        now = datetime.now(UTC).isoformat(timespec="seconds")
        self.cursor.execute(
            "INSERT INTO entry (at, state, facts, members) VALUES (?, ?, ?, ?)",
            (now, BEGUN, json.dumps(facts), members),
        )
        return int(self.cursor.lastrowid or 0)

    def confirm(self, number: int) -> None:
        """Say that a release was published."""
        self.cursor.execute("UPDATE entry SET state = ? WHERE number = ?", (PUBLISHED, number))

    def withdraw(self, number: int) -> None:
        """Take back an entry whose release was not published."""
        self.cursor.execute("DELETE FROM entry WHERE number = ? AND state = ?", (number, BEGUN))


def entry_of(entries: Sequence[LedgerEntry], number: str, *, where: str) -> LedgerEntry:
    """Return the entry with a number, as people write it.

    Raises:
        InputError: there is none.
    """
    found = [each for each in entries if str(each.number) == number.strip()]
    if not found:
        known = ", ".join(str(each.number) for each in entries) or "none"
        raise InputError(where=where, problem=f"has no such release; it has {known}")
    return found[0]


def _problem(name: str) -> str:
    known = {
        "SQLITE_BUSY": f"was locked by others for {WAIT_SECONDS:g} s; try again",
        "SQLITE_NOTADB": "this file is not a release ledger; name another one with --ledger",
        "SQLITE_CANTOPEN": "cannot be opened; does the folder exist, and may you write there?",
        "SQLITE_READONLY": "may not be written to",
        "SQLITE_FULL": "the disk is full; nothing was entered",
        "SQLITE_CORRUPT": "is damaged; restore it from a copy",
    }
    for prefix, words in known.items():
        if name.startswith(prefix):
            return words
    return f"cannot be used ({name})"
