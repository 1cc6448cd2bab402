"""What the processes of the ledger tests do; a module of its own, so that they start fast."""

from __future__ import annotations

from multiprocessing.connection import Connection
from typing import Any

from shoal.dp.accounting import Accounting, Loss, open_account
from shoal.dp.errors import BudgetError
from shoal.dp.ledgers import open_ledger

DATASET = "register"


def open_with(place: str, epsilon: float) -> None:
    with open_ledger(place) as ledger:
        ledger.open(open_account(DATASET, Accounting.PURE, epsilon=epsilon))


def spend_forever(place: str, epsilon: float, tell: Connection) -> None:
    """Charge until killed or refused, telling of each charge only after it was made."""
    with open_ledger(place) as ledger:
        while True:
            try:
                ledger.charge(DATASET, Loss.of(epsilon=epsilon), {})
            except BudgetError:
                return
            tell.send_bytes(b"1")


def ask_once(place: str, epsilon: float, results: Any) -> None:
    """Ask one real question and say whether there was an answer."""
    import polars as pl

    from shoal.dp.commands import answer

    table = pl.LazyFrame({"age": [30, 40, 50]})
    try:
        found = answer(table, "count", epsilon=epsilon, ledger=place, fingerprint=DATASET)
    except BudgetError:
        results.put("refused")
    else:
        results.put(("answered", found.value))
