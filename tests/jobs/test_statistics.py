"""Statistics as a whole job: the table is opened, asked, charged and answered."""

from __future__ import annotations

import polars as pl
import pytest

pytest.importorskip("opendp", reason="needs the extra shoal[dp]")

import shoal
from shoal.core.errors import MethodError
from shoal.dp.errors import BudgetError
from shoal.jobs.statistics import budget_log, budget_set, budget_show, fingerprint, stats

pytestmark = pytest.mark.local("differentially private statistics")
PEOPLE = pl.DataFrame({"age": [20, 30, 40, 50] * 500, "sex": ["F", "M"] * 1000})
SCHEMA = shoal.Schema.from_document(
    {
        "columns": {
            "age": {"role": "quasi", "kind": "numeric", "bounds": [0, 100]},
            "sex": {"role": "quasi", "kind": "ordinal", "order": ["F", "M"]},
        }
    }
)


@pytest.fixture
def ledger(tmp_path):
    place = str(tmp_path / "ledger.sqlite")
    budget_set(PEOPLE, ledger=place, epsilon=100.0)
    return place


def test_a_question_is_answered_and_charged(ledger):
    found = stats(PEOPLE, "mean", column="age", lower=0, upper=100, epsilon=50.0, ledger=ledger)
    assert found.value == pytest.approx(35, abs=1)
    assert [a.remaining for a in budget_show(PEOPLE, ledger=ledger)] == [50.0]
    assert [e.event for e in budget_log(PEOPLE, ledger=ledger)] == ["limit", "charge"]
    with pytest.raises(BudgetError):
        stats(PEOPLE, "count", epsilon=51.0, ledger=ledger)


def test_what_the_schema_declares_need_not_be_said(ledger):
    asked = {"column": "age", "schema": SCHEMA, "ledger": ledger, "epsilon": 10.0}
    assert stats(PEOPLE, "mean", **asked).bounds == (0, 100)
    assert stats(PEOPLE, "mean", lower=10, upper=None, **asked).bounds == (10, 100)
    assert list(stats(PEOPLE, "mean", by=["sex"], **asked).value) == ["F", "M"]


@pytest.mark.parametrize("groups", [["F,M"], ["sex=F,M"], {"sex": ["F", "M"]}])
def test_groups_are_texts_or_names(ledger, groups):
    found = stats(PEOPLE, "count", by=["sex"], groups=groups, epsilon=10.0, ledger=ledger)
    assert list(found.value) == ["F", "M"]


def test_options_that_do_not_exist_are_refused(ledger):
    with pytest.raises(MethodError, match="no such option: epsilom"):
        stats(PEOPLE, "count", epsilon=1.0, epsilom=1.0, ledger=ledger)
    assert [a.remaining for a in budget_show(ledger=ledger)] == [100.0]


def test_a_data_set_is_known_by_its_name_its_bytes_or_its_rows(tmp_path):
    path = tmp_path / "t.csv"
    PEOPLE.write_csv(path)
    assert fingerprint(None, "register") == fingerprint(PEOPLE, "register") == "register"
    assert fingerprint(path, None).startswith("sha256:")
    assert fingerprint(PEOPLE, None) == fingerprint(PEOPLE.reverse(), None)
    with pytest.raises(MethodError, match="name the data set"):
        fingerprint(None, None)
