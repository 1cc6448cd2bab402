"""Where the ledger is: a file, a database, or memory."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from shoal.core.errors import MethodError
from shoal.dp.ledger import Ledger
from shoal.dp.ledger_postgres import PostgresLedger
from shoal.dp.ledger_sqlite import SqliteLedger


def default_ledger() -> str:
    """Return where the ledger lies when nobody says: $SHOAL_LEDGER, or the user's data folder."""
    named = os.environ.get("SHOAL_LEDGER")
    if named:
        return named
    base = os.environ.get("XDG_DATA_HOME") or str(Path.home() / ".local" / "share")
    return str(Path(base) / "shoal" / "ledger.sqlite")


@contextmanager
def open_ledger(place: str | Path | None = None, *, create: bool = True) -> Iterator[Ledger]:
    """Open a ledger by file name or URI; `:memory:` lives as long as it is open.

    Unless `create` is false, a file that does not exist is made.

    Raises:
        LedgerError: the place cannot be opened, or is no ledger.

    Example:
        >>> from shoal.dp.accounting import Accounting, open_account
        >>> with open_ledger(":memory:") as ledger:
        ...     ledger.open(open_account("register", Accounting.PURE, epsilon=1.0)).remaining
        1.0
    """
    text = str(place) if place is not None else default_ledger()
    ledger: Ledger
    if re.match(r"postgres(ql)?://", text):
        ledger = PostgresLedger(text)
    else:
        if "://" in text and not text.startswith("sqlite:///"):
            raise MethodError(problem="a ledger is a file, sqlite:///FILE or postgresql://…")
        ledger = SqliteLedger(text.removeprefix("sqlite:///"), create=create)
    try:
        yield ledger
    finally:
        ledger.close()
