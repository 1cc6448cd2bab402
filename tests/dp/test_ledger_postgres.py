"""The ledger in a real PostgreSQL that the test starts, where one is installed."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.dp.crowd import crowd, kills
from tests.postgres import postgres

from shoal.dp.accounting import Accounting, Loss, open_account
from shoal.dp.errors import BudgetError, LedgerError
from shoal.dp.ledgers import open_ledger

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with postgres() as address:
        yield address


@pytest.fixture
def fresh(server: str) -> str:
    import psycopg

    with psycopg.connect(server) as connection:
        connection.execute("DROP TABLE IF EXISTS shoal_entry, shoal_account, shoal_ledger")
    return server


def test_fifty_processes_and_room_for_twenty_questions(fresh: str):
    pytest.importorskip("opendp", reason="needs the extra shoal[dp]")
    crowd(fresh)


def test_killing_at_random_moments_never_gives_budget_back(fresh: str):
    kills(fresh)


def test_an_account_is_opened_charged_limited_and_logged(fresh: str):
    with open_ledger(fresh) as ledger:
        ledger.open(open_account("d", Accounting.APPROXIMATE, epsilon=1.0, delta=1e-6))
        after = ledger.charge("d", Loss.of(epsilon=0.4, delta=1e-7), {"statistic": "count"})
        assert after.remaining == 0.6
        with pytest.raises(BudgetError, match="is left"):
            ledger.charge("d", Loss.of(epsilon=0.7), {})
        ledger.set_limit(open_account("d", Accounting.APPROXIMATE, epsilon=2.0, delta=1e-6))
        assert [e.event for e in ledger.entries("d")] == ["limit", "charge", "limit"]
        assert [a.remaining for a in ledger.accounts()] == [1.6]


def test_a_server_that_is_not_there_is_named_without_its_password():
    pytest.importorskip("psycopg", reason="needs the package psycopg (extra shoal[db])")
    uri = "postgresql://steward:hunter2@127.0.0.1:1/none"
    with pytest.raises(LedgerError) as caught, open_ledger(uri):
        pass
    assert "hunter2" not in str(caught.value)
