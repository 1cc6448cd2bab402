"""The ledger in a file: together, alone, and killed."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

import pytest
from tests.dp.crowd import crowd, kills

from shoal.dp.accounting import Accounting, Loss, open_account
from shoal.dp.errors import LedgerError
from shoal.dp.ledgers import open_ledger


@pytest.mark.slow
def test_fifty_processes_and_room_for_twenty_questions(tmp_path: Path):
    pytest.importorskip("opendp", reason="needs the extra shoal[dp]")
    crowd(str(tmp_path / "ledger.sqlite"))


@pytest.mark.slow
def test_killing_at_random_moments_never_gives_budget_back(tmp_path: Path):
    kills(str(tmp_path / "ledger.sqlite"))


def test_a_file_that_is_no_ledger_is_refused(tmp_path: Path):
    place = tmp_path / "notes.txt"
    place.write_text("this is not a database, but it is long enough to look at" * 20)
    with pytest.raises(LedgerError, match="not a ledger"), open_ledger(place):
        pass
    assert place.read_text().startswith("this is not")


def test_a_newer_ledger_is_refused(tmp_path: Path):
    place = tmp_path / "ledger.sqlite"
    with open_ledger(place):
        pass
    with sqlite3.connect(place) as connection:
        connection.execute("UPDATE shoal_ledger SET version = 2")
    connection.close()
    with pytest.raises(LedgerError, match="version 2"), open_ledger(place):
        pass


def test_a_folder_that_cannot_be_made_is_refused(tmp_path: Path):
    (tmp_path / "file").write_text("")
    with pytest.raises(LedgerError), open_ledger(tmp_path / "file" / "ledger.sqlite"):
        pass


def test_looking_does_not_make_a_ledger(tmp_path: Path):
    place = tmp_path / "typo.sqlite"
    with pytest.raises(LedgerError, match="no such ledger"), open_ledger(place, create=False):
        pass
    assert not place.exists()


def test_the_database_itself_refuses_to_overspend(tmp_path: Path):
    place = tmp_path / "ledger.sqlite"
    with open_ledger(place) as ledger:
        ledger.open(open_account("d", Accounting.PURE, epsilon=1.0))
    with sqlite3.connect(place) as connection, pytest.raises(sqlite3.IntegrityError):
        connection.execute("UPDATE shoal_account SET epsilon_spent = epsilon_limit + 1")
    connection.close()


def test_a_fork_cannot_spend_a_budget_that_lives_in_memory():
    with open_ledger(":memory:") as ledger:
        ledger.open(open_account("d", Accounting.PURE, epsilon=1.0))
        ledger._owner = os.getpid() + 1  # what a forked child sees
        with pytest.raises(LedgerError, match="another process"):
            ledger.charge("d", Loss.of(epsilon=0.1), {})
