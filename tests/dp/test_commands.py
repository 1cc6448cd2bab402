"""What `shoal stats` and `shoal budget` do."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

pytest.importorskip("opendp", reason="needs the extra shoal[dp]")

from shoal.core.errors import MethodError
from shoal.dp.commands import answer, groups_from_text, ledger_log, ledger_set, ledger_show
from shoal.dp.errors import BudgetError, LedgerError

TABLE = pl.LazyFrame({"age": [20, 30, 40] * 100, "sex": ["F", "M", "M"] * 100})


@pytest.fixture
def place(tmp_path: Path) -> str:
    return str(tmp_path / "ledger.sqlite")


def count(place: str, epsilon: float, **options):
    return answer(TABLE, "count", epsilon=epsilon, ledger=place, fingerprint="d", **options)


def test_the_first_question_opens_a_limit_and_says_so(place: str):
    found = count(place, 0.75)
    assert found.remaining == 0.25
    assert any("opened with epsilon 1" in note for note in found.notes)
    again = count(place, 0.25)
    assert again.remaining == 0.0
    assert not any("opened" in note for note in again.notes)
    with pytest.raises(BudgetError, match="is left"):
        count(place, 0.01)


def test_a_steward_sets_shows_and_logs(place: str):
    ledger_set("d", epsilon=3.0, ledger=place)
    count(place, 0.5)
    ledger_set("d", epsilon=2.0, ledger=place)
    assert [a.remaining for a in ledger_show("d", ledger=place)] == [1.5]
    assert ledger_show(ledger=place) == ledger_show("d", ledger=place)
    events = [(e.event, e.to_document()["epsilon"]) for e in ledger_log("d", ledger=place)]
    assert events == [("limit", 3.0), ("charge", 0.5), ("limit", 2.0)]
    with pytest.raises(BudgetError, match="spent already"):
        ledger_set("d", epsilon=0.1, ledger=place)
    with pytest.raises(BudgetError, match="no budget was set"):
        ledger_show("other", ledger=place)
    with pytest.raises(LedgerError, match="no such ledger"):
        ledger_show(ledger=place + ".typo")


def test_a_limit_is_changed_without_repeating_its_delta(place: str):
    ledger_set("d", epsilon=1.0, delta=1e-6, ledger=place)
    assert ledger_set("d", epsilon=2.0, ledger=place).limit.to_document()["delta"] == 1e-6
    ledger_set("z", epsilon=1.0, delta=1e-6, accounting="zcdp", ledger=place)
    assert ledger_set("z", epsilon=2.0, ledger=place).delta == 1e-6


def test_another_accounting_than_the_ledgers_is_refused(place: str):
    count(place, 0.5)
    with pytest.raises(MethodError, match="counted as pure"):
        count(place, 0.1, accounting="zcdp")


def test_a_concentrated_account_opens_with_the_first_question(place: str):
    found = count(place, 0.25, accounting="zcdp")
    assert found.accounting == "zcdp"
    assert found.delta == 1e-6
    assert 0 < found.remaining < 1


def test_groups_of_a_histogram_are_its_categories(place: str):
    found = answer(TABLE, "histogram", column="sex", groups=["F", "M"], epsilon=0.5,
                   ledger=place, fingerprint="d")  # fmt: skip
    assert list(found.value) == ["F", "M", "(others)"]


def test_groups_are_read_from_text():
    assert groups_from_text(["sex"], ["F, M"]) == {"sex": ["F", "M"]}
    assert groups_from_text(["sex"], ["sex=F"]) == {"sex": ["F"]}
    assert groups_from_text(["size"], ["a=b,c"]) == {"size": ["a=b", "c"]}
    with pytest.raises(MethodError, match="COLUMN=A,B"):
        groups_from_text(["sex", "ward"], ["F,M"])
    with pytest.raises(MethodError, match="named twice"):
        groups_from_text(["sex"], ["F", "M"])


def test_a_rule_for_missing_cells_may_be_a_number_in_text(place: str):
    table = pl.LazyFrame({"x": [None, 5.0] * 200})
    ledger_set("x", epsilon=1000.0, ledger=place)
    found = answer(table, "mean", column="x", lower=0, upper=10, epsilon=900.0, missing="3",
                   ledger=place, fingerprint="x")  # fmt: skip
    assert found.value == pytest.approx(4.0, abs=0.1)


def test_a_refused_question_opens_nothing(place: str):
    with pytest.raises(MethodError):
        answer(TABLE, "mean", column="sex", lower=0, upper=1, epsilon=0.5, ledger=place,
               fingerprint="d")  # fmt: skip
    with pytest.raises(BudgetError, match="is left of 1"):
        count(place, 1.5)
    assert [a.remaining for a in ledger_show(ledger=place)] == [1.0]
