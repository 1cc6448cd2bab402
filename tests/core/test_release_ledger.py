"""The file of a release ledger."""

from __future__ import annotations

import os
import sqlite3
import stat
import threading

import pytest

from shoal.core.errors import InputError, OutputError
from shoal.core.release_ledger import (
    BEGUN,
    PUBLISHED,
    LedgerEntry,
    ReleaseLedger,
    entry_of,
)

ENTRY = LedgerEntry(
    name="a.csv", records=10, released=9, classes=2, smallest_class=4,
    promise=[{"model": "k-anonymity", "k": 4}], quasi=["age"], shown=["ill"], identity=["id"],
    is_key=True, waived=[7], request={"job": "release"},
)  # fmt: skip


@pytest.fixture
def ledger(tmp_path):
    return ReleaseLedger(tmp_path / "l.db", create=True)


def entered(ledger, entry=ENTRY, members=b"abc"):
    with ledger.transaction() as entries:
        return entries.begin(entry, members)


def test_a_new_ledger_is_its_owners_alone_and_keeps_its_key(ledger):
    assert stat.S_IMODE(ledger.path.stat().st_mode) == 0o600
    assert len(ledger.key) == 32
    assert ReleaseLedger(ledger.path).key == ledger.key
    other = ReleaseLedger(ledger.path.with_name("other.db"), create=True)
    assert other.key != ledger.key


def test_an_entry_is_read_as_it_was_written(ledger):
    number = entered(ledger)
    with ledger.transaction() as entries:
        (found,) = entries.entries()
        assert entries.members(number) == b"abc"
    assert found.to_document() == {
        **ENTRY.to_document(), "number": 1, "at": found.at, "state": BEGUN
    }  # fmt: skip
    assert found.at.endswith("+00:00")
    assert found.title == f"release 1 (a.csv) of {found.at[:10]}"


def test_what_was_begun_is_confirmed_or_withdrawn(ledger):
    first, second = entered(ledger), entered(ledger)
    with ledger.transaction() as entries:
        entries.confirm(first)
        entries.withdraw(first)  # it is out: nothing takes it back
        entries.withdraw(second)
    with ledger.transaction() as entries:
        assert [(e.number, e.state) for e in entries.entries()] == [(1, PUBLISHED)]
    assert entered(ledger) == 3  # numbers are never used again


def test_a_transaction_is_kept_whole_or_not_at_all(ledger):
    def fails():
        with ledger.transaction() as entries:
            entries.begin(ENTRY, b"")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fails()
    with ledger.transaction() as entries:
        assert entries.entries() == []


def test_writers_wait_for_each_other(ledger):
    numbers = []

    def write():
        numbers.extend(entered(ledger) for _ in range(5))

    threads = [threading.Thread(target=write) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(numbers) == list(range(1, 21))


@pytest.mark.skipif(os.name != "posix", reason="modes are POSIX's")
def test_a_ledger_that_others_can_read_is_refused(ledger):
    ledger.path.chmod(0o640)
    with pytest.raises(InputError, match="chmod 600"):
        ReleaseLedger(ledger.path)


def test_what_is_no_ledger_is_refused(tmp_path):
    with pytest.raises(InputError, match="no ledger"):
        ReleaseLedger(tmp_path / "none.db")
    with pytest.raises(OutputError, match="no ledger can be made there"):
        ReleaseLedger(tmp_path / "none" / "l.db", create=True)
    text = tmp_path / "t.csv"
    text.write_text("age\n" * 1000, encoding="ascii")
    text.chmod(0o600)
    with pytest.raises(InputError, match="not a release ledger"):
        ReleaseLedger(text, create=True)
    assert text.read_text(encoding="ascii") == "age\n" * 1000
    other = tmp_path / "o.db"
    with sqlite3.connect(other) as connection:
        connection.execute("CREATE TABLE budget (x)")
    other.chmod(0o600)
    with pytest.raises(InputError, match="not a release ledger"):
        ReleaseLedger(other, create=True)


def test_a_newer_ledger_is_refused(ledger):
    with sqlite3.connect(ledger.path) as connection:
        connection.execute("UPDATE ledger SET version = 99")
    with pytest.raises(InputError, match="newer version"):
        ReleaseLedger(ledger.path)


def test_a_number_that_is_not_there_is_refused(ledger):
    entered(ledger)
    with ledger.transaction() as entries:
        with pytest.raises(InputError, match="no release 5"):
            entries.members(5)
        found = entries.entries()
    assert entry_of(found, " 1 ", where="l").number == 1
    for number in ("2", "", "x", "-1"):
        with pytest.raises(InputError, match="it has 1"):
            entry_of(found, number, where="l")
    with pytest.raises(InputError, match="it has none"):
        entry_of([], "1", where="l")
