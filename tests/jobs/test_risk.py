"""How easily people are found, and attacks that are carried out."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.jobs.people import PEOPLE, plain_schema

from shoal.core.errors import MethodError, ShoalError
from shoal.jobs.release import release
from shoal.jobs.requests import AttackRequest, ReleaseRequest, RiskRequest
from shoal.jobs.risk import attack, risk

SCHEMA = plain_schema()


@given(st.lists(st.integers(0, 5), min_size=1, max_size=30))
@settings(max_examples=20, deadline=None)
def test_risk_is_counted_as_a_reader_would(values):
    table = pl.DataFrame({"age": values, "job": "a", "grade": "b", "ill": "c"})
    sizes = Counter(values)
    found = risk(RiskRequest(table=table, schema=SCHEMA)).to_document()
    assert found["records"] == len(values)
    assert found["classes"] == len(sizes)
    assert found["global_risk"] == pytest.approx(len(sizes) / len(values))
    assert found["prosecutor"]["maximum"] == pytest.approx(1 / min(sizes.values()))
    for bound in (2, 3, 5):
        assert found["below"][str(bound)] == sum(n for n in sizes.values() if n < bound)


def test_what_is_known_of_the_people_changes_the_risk_of_the_journalist():
    plain = risk(RiskRequest(table=PEOPLE, schema=SCHEMA))
    sample = risk(RiskRequest(table=PEOPLE, schema=SCHEMA, sampling_fraction=0.1))
    everybody = risk(RiskRequest(table=PEOPLE, schema=SCHEMA, population=pl.concat([PEOPLE] * 4)))
    documents = [each.to_document()["journalist"] for each in (plain, sample, everybody)]
    assert len({str(each) for each in documents}) == 3


@pytest.mark.parametrize(
    "words",
    [
        {"weights": "nobody"},
        {"sampling_fraction": 2.0},
        {"household": "nobody"},
        {"sampling_fraction": 0.5, "population": PEOPLE},
    ],
)
def test_a_question_that_cannot_be_answered_is_refused(words):
    with pytest.raises(ShoalError):
        risk(RiskRequest(table=PEOPLE, schema=SCHEMA, **words))


def test_people_who_have_several_records_are_counted():
    columns = {**SCHEMA.to_document()["columns"], "who": "identifying"}
    table = PEOPLE.with_columns(who=pl.Series([f"P{i // 4}" for i in range(40)]))
    found = risk(RiskRequest(table=table, schema=plain_schema(columns=columns)))
    assert found.repeats is not None
    assert "P1" not in str(found.to_document())
    assert risk(RiskRequest(table=PEOPLE, schema=SCHEMA)).repeats is None


@pytest.mark.local("attacks")
class TestAttacks:
    """The local engine attacks."""

    made = AttackRequest(table=PEOPLE, release=PEOPLE, schema=SCHEMA, targets=40)

    def test_a_release_is_harder_to_attack_than_its_table(self):
        table = PEOPLE.with_columns(age=pl.Series(range(40)))
        done = release(ReleaseRequest(table=table, schema=SCHEMA)).table
        found = attack(replace(self.made, table=table, release=done))
        assert [each.before.attack for each in found] == [each.after.attack for each in found]
        single = found[0]
        assert single.before.success > single.after.success == 0

    def test_three_questions_or_every_attack(self):
        assert len(attack(self.made)) == 3
        assert len(attack(replace(self.made, everything=True))) == 12

    def test_the_attacker_may_hold_a_register(self):
        table = PEOPLE.with_columns(key=pl.Series([f"K{i}" for i in range(40)]))
        columns = {**SCHEMA.to_document()["columns"], "key": "identifying"}
        register = table.select("key", "age").head(10)
        asked = replace(
            self.made, table=table, schema=plain_schema(columns=columns), register=register,
            key="key",
        )  # fmt: skip
        assert len(attack(asked)) == 3
        with pytest.raises(MethodError, match="go together"):
            attack(replace(asked, key=None))
        with pytest.raises(ShoalError, match="needs a key column"):
            attack(replace(asked, key="nobody"))
