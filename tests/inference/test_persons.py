"""The column that says whose a record is."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.inference.column import ColumnFacts
from shoal.inference.persons import person_column, propose_person
from shoal.inference.roles import decide
from shoal.schema.schema import Role

COUNTS = st.integers(0, 9).flatmap(lambda n: st.tuples(st.just(n), st.integers(n, 9)))


@pytest.mark.parametrize(
    ("counted", "found"),
    [
        ({"patient_id": (5, 9), "hospital_id": (2, 9), "name": (8, 9)}, "patient_id"),
        ({"name": (8, 9), "row": (9, 9)}, "name"),
        ({"name": (8, 9), "phone": (7, 9)}, "name"),
        ({"email": (9, 9), "last_name": (5, 9)}, None),  # everybody once: equal names are chance
        ({"email": (0, 0), "last_name": (5, 9)}, "last_name"),  # an empty column says nothing
        ({"patient_name": (5, 9), "address": (8, 9)}, "patient_name"),
        ({"name": (0, 0)}, None),
        ({}, None),
    ],
)
def test_the_best_candidate_is_found(counted, found):
    assert person_column(counted) == found


@settings(deadline=None)
@given(st.dictionaries(st.sampled_from(["id", "patient_id", "name", "phone", "x"]), COUNTS))
def test_only_a_column_that_repeats_is_ever_named(counted):
    found = person_column(counted)
    if found is not None:
        distinct, present = counted[found]
        assert 0 < distinct < present


def facts(name, distinct, present):
    return ColumnFacts(
        name=name, records=present, missing=0, distinct=distinct, commonest=2,
        sample=tuple(f"{100 + i}" for i in range(min(distinct, 50))), form="integer",
    )  # fmt: skip


def proposed(*columns):
    found = propose_person(columns, {column.name: decide(column) for column in columns})
    return [name for name, verdict in found.items() if verdict.role is Role.PERSON]


def test_a_number_of_people_that_repeats_is_proposed_with_its_evidence():
    columns = facts("encounter_id", 900, 900), facts("patient_nbr", 300, 900)
    assert proposed(*columns) == ["patient_nbr"]
    found = propose_person(columns, {column.name: decide(column) for column in columns})
    why = found["patient_nbr"].why
    assert "300 different values in 900 cells" in why
    assert "3.0 records a value" in why
    assert found["encounter_id"].role is Role.IDENTIFYING


def test_the_number_of_a_visit_or_a_thing_is_nobodys():
    assert proposed(facts("visit_id", 890, 900), facts("order_no", 800, 900)) == []
    assert proposed(facts("patient_id", 900, 900)) == []
    both = facts("visit_id", 899, 900), facts("patient_id", 300, 900)
    assert proposed(*both) == ["patient_id"]
