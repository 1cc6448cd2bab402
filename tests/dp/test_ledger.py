"""Ledgers: what is charged, refused, limited and written down."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from shoal.dp.accounting import Accounting, Loss, open_account
from shoal.dp.errors import BudgetError
from shoal.dp.ledgers import open_ledger


@pytest.fixture(params=["file", "uri", "memory"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    file = tmp_path / "folder" / "ledger.sqlite"
    return {"file": str(file), "uri": f"sqlite:///{file}", "memory": ":memory:"}[request.param]


def pure(epsilon: float):
    return open_account("d", Accounting.PURE, epsilon=epsilon)


def test_ten_tenths_are_one(place: str):
    with open_ledger(place) as ledger:
        ledger.open(pure(1.0))
        for _ in range(10):
            after = ledger.charge("d", Loss.of(epsilon=0.1), {})
        assert after.remaining == 0.0
        with pytest.raises(BudgetError, match="0 is left of 1") as caught:
            ledger.charge("d", Loss.of(epsilon=1e-12), {})
        assert caught.value.facts["remaining"]["epsilon"] == 0.0
        assert caught.value.exit_code == 1


def test_a_refused_charge_leaves_no_trace(place: str):
    with open_ledger(place) as ledger:
        ledger.open(pure(1.0))
        before = ledger.entries()
        with pytest.raises(BudgetError):
            ledger.charge("d", Loss.of(epsilon=1.1), {})
        assert ledger.entries() == before
        assert ledger.account("d").remaining == 1.0


def test_nothing_is_charged_to_a_data_set_without_a_budget(place: str):
    with open_ledger(place) as ledger, pytest.raises(BudgetError, match="no budget was set"):
        ledger.charge("unknown", Loss.of(epsilon=0.1), {})


def test_the_first_limit_counts_until_it_is_changed_on_purpose(place: str):
    with open_ledger(place) as ledger:
        ledger.open(pure(1.0))
        assert ledger.open(pure(50.0)).remaining == 1.0
        ledger.charge("d", Loss.of(epsilon=0.5), {})
        assert ledger.set_limit(pure(2.0)).remaining == 1.5
        with pytest.raises(BudgetError, match="has been spent already"):
            ledger.set_limit(pure(0.25))
        assert [e.event for e in ledger.entries("d")] == ["limit", "charge", "limit"]


def test_the_way_of_counting_cannot_change(place: str):
    with open_ledger(place) as ledger:
        ledger.open(pure(1.0))
        with pytest.raises(BudgetError, match="counted as pure"):
            ledger.set_limit(open_account("d", Accounting.ZCDP, rho=1.0, delta=1e-6))


def test_delta_is_counted_too(place: str):
    with open_ledger(place) as ledger:
        ledger.open(open_account("d", Accounting.APPROXIMATE, epsilon=9.0, delta=1e-6))
        ledger.charge("d", Loss.of(epsilon=0.1, delta=9e-7), {})
        with pytest.raises(BudgetError, match="delta"):
            ledger.charge("d", Loss.of(epsilon=0.1, delta=2e-7), {})


def test_data_sets_have_budgets_of_their_own(place: str):
    with open_ledger(place) as ledger:
        ledger.open(pure(1.0))
        ledger.open(open_account("e", Accounting.PURE, epsilon=2.0))
        ledger.charge("d", Loss.of(epsilon=1.0), {"statistic": "count"})
        assert [a.remaining for a in ledger.accounts()] == [0.0, 2.0]
        assert [e.question for e in ledger.entries("d")] == [{}, {"statistic": "count"}]


def test_threads_share_one_budget(place: str):
    outcomes: list[bool] = []
    with open_ledger(place) as ledger:
        ledger.open(pure(1.0))

        def spend() -> None:
            for _ in range(5):
                try:
                    ledger.charge("d", Loss.of(epsilon=0.1), {})
                    outcomes.append(True)
                except BudgetError:
                    outcomes.append(False)

        threads = [threading.Thread(target=spend) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert (len(outcomes), sum(outcomes)) == (20, 10)


def test_what_was_spent_is_still_there_the_next_day(tmp_path: Path):
    place = tmp_path / "ledger.sqlite"
    with open_ledger(place) as ledger:
        ledger.open(pure(1.0))
        ledger.charge("d", Loss.of(epsilon=0.75), {})
    with open_ledger(place) as ledger:
        assert ledger.account("d").remaining == 0.25
