"""The ledger: what every data set may lose, has lost, and to which questions.

One set of SQL serves SQLite and PostgreSQL; each room only says how to open a
transaction that no other process can interleave with. A charge is one
transaction and is on disk before the question is answered, so a crash can
cost budget but never privacy.
"""

from __future__ import annotations

import getpass
import json
from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Protocol

from shoal.dp.accounting import Account, Accounting, Loss
from shoal.dp.errors import BudgetError, LedgerError

VERSION = 1

_ACCOUNTS = """CREATE TABLE IF NOT EXISTS shoal_account (
  dataset TEXT PRIMARY KEY,
  accounting TEXT NOT NULL,
  at_delta DOUBLE PRECISION NOT NULL,
  epsilon_limit BIGINT NOT NULL, delta_limit BIGINT NOT NULL, rho_limit BIGINT NOT NULL,
  epsilon_spent BIGINT NOT NULL, delta_spent BIGINT NOT NULL, rho_spent BIGINT NOT NULL,
  CHECK (epsilon_spent <= epsilon_limit OR accounting = 'zcdp'),
  CHECK (delta_spent <= delta_limit OR accounting = 'zcdp'),
  CHECK (rho_spent <= rho_limit))"""

_ENTRIES = """CREATE TABLE IF NOT EXISTS shoal_entry (
  number {serial},
  dataset TEXT NOT NULL REFERENCES shoal_account (dataset),
  at TEXT NOT NULL,
  who TEXT NOT NULL,
  event TEXT NOT NULL,
  epsilon BIGINT NOT NULL, delta BIGINT NOT NULL, rho BIGINT NOT NULL,
  question TEXT NOT NULL)"""

_VERSION = "CREATE TABLE IF NOT EXISTS shoal_ledger (version INTEGER NOT NULL)"

_FIELDS = (
    "dataset, accounting, at_delta, epsilon_limit, delta_limit, rho_limit, "
    "epsilon_spent, delta_spent, rho_spent"
)


Cell = str | int | float
Row = tuple[Cell, ...]


class Cursor(Protocol):
    """What both database drivers offer."""

    def execute(self, statement: str, parameters: Sequence[Cell] = ..., /) -> object:
        """Run one statement."""

    def fetchone(self) -> Row | None:
        """Return the next row or None."""

    def fetchall(self) -> list[Row]:
        """Return all rows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One line of the ledger: a charge, or a limit that was set."""

    number: int
    dataset: str
    at: str
    who: str
    event: str
    amount: Loss
    question: dict[str, object]

    def to_document(self) -> dict[str, object]:
        """Return the line as plain data."""
        return {
            "number": self.number,
            "dataset": self.dataset,
            "at": self.at,
            "who": self.who,
            "event": self.event,
            **self.amount.to_document(),
            "question": self.question,
        }


class Ledger(ABC):
    """Accounts of data sets, shared by processes.

    Guarantee:
        `charge` is atomic across processes: the spent sum never exceeds the
        limit and never goes down, whatever is killed and whenever.
    """

    where: str = "ledger"
    _mark = "?"  # how the driver writes a parameter
    _serial = ""

    @abstractmethod
    def _transaction(self) -> AbstractContextManager[Cursor]:
        """Open a transaction that excludes every other writer of the same account."""

    @abstractmethod
    def _locked(self) -> str:
        """Return what a SELECT needs at its end to lock the row."""

    def close(self) -> None:  # noqa: B027  (most ledgers hold nothing open)
        """Let go of whatever is held open."""

    def _sql(self, statement: str) -> str:
        return statement.replace("?", self._mark)

    def _set_up(self, cursor: Cursor) -> None:
        cursor.execute(_VERSION)
        cursor.execute(_ACCOUNTS)
        cursor.execute(_ENTRIES.format(serial=self._serial))
        cursor.execute("SELECT version FROM shoal_ledger")
        row = cursor.fetchone()
        if row is None:
            cursor.execute(self._sql("INSERT INTO shoal_ledger VALUES (?)"), (VERSION,))
        elif row[0] != VERSION:
            raise LedgerError(
                where=self.where, problem=f"ledger version {row[0]} is not {VERSION}; update shoal"
            )

    def account(self, dataset: str) -> Account | None:
        """Return the account of a data set, or None if nobody opened one."""
        with self._transaction() as cursor:
            return self._find(cursor, dataset)

    def accounts(self) -> list[Account]:
        """Return all accounts, in the order of their names."""
        with self._transaction() as cursor:
            cursor.execute(f"SELECT {_FIELDS} FROM shoal_account ORDER BY dataset")
            return [_account(row) for row in cursor.fetchall()]

    def open(self, account: Account) -> Account:
        """Open an account unless there is one; return the one that counts."""
        with self._transaction() as cursor:
            return self._open(cursor, account)

    def set_limit(self, wanted: Account) -> Account:
        """Open an account or change its limit; every change stands in the log.

        Raises:
            BudgetError: more has been spent already, or the accounting differs.
        """
        with self._transaction() as cursor:
            found = self._find(cursor, wanted.dataset)
            if found is None:
                return self._open(cursor, wanted)
            if found.accounting is not wanted.accounting:
                raise BudgetError(
                    problem=f"this data set is counted as {found.accounting}; that cannot change",
                    remaining=found.left.to_document(),
                )
            changed = found.limited(wanted.limit, delta=wanted.delta)
            self._write(cursor, changed)
            self._enter(cursor, changed.dataset, event="limit", amount=changed.limit, question={})
            return changed

    def charge(self, dataset: str, cost: Loss, question: dict[str, object]) -> Account:
        """Charge one question; once this returns, the charge is on disk.

        Raises:
            BudgetError: there is no account, or it does not cover the cost.
            LedgerError: the ledger could not say that the charge is safe on disk.
        """
        with self._transaction() as cursor:
            found = self._find(cursor, dataset)
            if found is None:
                raise BudgetError(
                    problem="no budget was set for this data set (shoal budget set)", remaining={}
                )
            after = found.charged(cost)
            self._write(cursor, after)
            self._enter(cursor, dataset, event="charge", amount=cost, question=question)
        return after

    def entries(self, dataset: str | None = None) -> list[Entry]:
        """Return the lines of one data set, or of all, oldest first."""
        fields = "number, dataset, at, who, event, epsilon, delta, rho, question"
        where, parameters = ("WHERE dataset = ?", (dataset,)) if dataset is not None else ("", ())
        with self._transaction() as cursor:
            cursor.execute(
                self._sql(f"SELECT {fields} FROM shoal_entry {where} ORDER BY number"),
                parameters,
            )
            rows = cursor.fetchall()
        return [
            Entry(
                number=int(row[0]), dataset=str(row[1]), at=str(row[2]), who=str(row[3]),
                event=str(row[4]), amount=_loss(row[5:8]), question=json.loads(str(row[8])),
            )
            for row in rows
        ]  # fmt: skip

    def _find(self, cursor: Cursor, dataset: str) -> Account | None:
        cursor.execute(
            self._sql(f"SELECT {_FIELDS} FROM shoal_account WHERE dataset = ? {self._locked()}"),
            (dataset,),
        )
        row = cursor.fetchone()
        return _account(row) if row is not None else None

    def _open(self, cursor: Cursor, account: Account) -> Account:
        marks = ", ".join("?" * 9)
        cursor.execute(
            self._sql(
                f"INSERT INTO shoal_account ({_FIELDS}) VALUES ({marks}) "
                "ON CONFLICT (dataset) DO NOTHING RETURNING dataset"
            ),
            (account.dataset, str(account.accounting), account.delta, *_amounts(account)),
        )
        if cursor.fetchone() is not None:
            self._enter(cursor, account.dataset, event="limit", amount=account.limit, question={})
        return self._find(cursor, account.dataset) or account

    def _write(self, cursor: Cursor, account: Account) -> None:
        cursor.execute(
            self._sql(
                "UPDATE shoal_account SET at_delta = ?, epsilon_limit = ?, delta_limit = ?, "
                "rho_limit = ?, epsilon_spent = ?, delta_spent = ?, rho_spent = ? "
                "WHERE dataset = ?"
            ),
            (account.delta, *_amounts(account), account.dataset),
        )

    def _enter(
        self, cursor: Cursor, dataset: str, *, event: str, amount: Loss, question: dict[str, object]
    ) -> None:
        cursor.execute(
            self._sql(
                "INSERT INTO shoal_entry (dataset, at, who, event, epsilon, delta, rho, question) "
                "VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
            ),
            (
                dataset, datetime.now(UTC).isoformat(timespec="milliseconds"), _who(), event,
                amount.epsilon, amount.delta, amount.rho, json.dumps(question),
            ),
        )  # fmt: skip


def _amounts(account: Account) -> tuple[int, ...]:
    limit, spent = account.limit, account.spent
    return (limit.epsilon, limit.delta, limit.rho, spent.epsilon, spent.delta, spent.rho)


def _account(row: Row) -> Account:
    return Account(
        dataset=str(row[0]),
        accounting=Accounting(str(row[1])),
        delta=float(row[2]),
        limit=_loss(row[3:6]),
        spent=_loss(row[6:9]),
    )


def _loss(amounts: Row) -> Loss:
    epsilon, delta, rho = map(int, amounts)
    return Loss(epsilon=epsilon, delta=delta, rho=rho)


def _who() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a container without a password file
        return "unknown"
