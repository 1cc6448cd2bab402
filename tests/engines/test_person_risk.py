"""Risk by persons from cells: what the naive twin counts record by record."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.naive import risk as naive

from shoal.core.errors import InputError
from shoal.engines.person_key import PERSON
from shoal.engines.person_risk import risk_of_persons
from shoal.engines.verification import ROWS
from shoal.measures.risk.population import Population
from shoal.measures.risk.question import RiskQuestion

RECORD = st.tuples(st.sampled_from("12"), st.sampled_from(["a", None]), st.sampled_from("pqrs-"))
QUESTION = RiskQuestion(quasi=("a", "b"), person=("who",))


def cells_of(records):
    """Return the cells of records; "-" is nobody."""
    rows = [(a, b, None if who == "-" else who) for a, b, who in records]
    kinds = dict.fromkeys(["g0", "g1", PERSON], pl.String)
    frame = pl.DataFrame(rows, schema=kinds, orient="row")
    return frame.group_by("g0", "g1", PERSON).agg(pl.len().alias(ROWS))


def risk_of(records, question=QUESTION, matched=None):
    return risk_of_persons(cells_of(records), ["g0", "g1"], question, where="t", matched=matched)


@given(st.lists(RECORD, min_size=1, max_size=20))
@settings(max_examples=100, deadline=None)
def test_risk_agrees_with_the_naive_count(records):
    people = [None if who == "-" else who for *_, who in records]
    if not any(people):
        with pytest.raises(InputError, match="no record says who"):
            risk_of(records)
        return
    wanted = naive.persons_at_risk([record[:2] for record in records], people)
    found = risk_of(records)
    assert found.persons == len(set(people) - {None})
    assert found.expected_reidentifications == pytest.approx(sum(wanted.values()))
    assert found.unique == sum(risk == 1 for risk in wanted.values())
    assert set(found.columns) == {"a", "b"}


def test_records_whose_classes_name_nobody_are_left_out_and_said():
    found = risk_of([("1", "a", "p"), ("1", "a", "q"), ("2", "a", "-"), ("2", "a", "-")])
    assert (found.records, found.persons, found.classes) == (2, 2, 1)
    assert any("2 records whose classes name nobody" in said for said in found.notices)


def test_a_population_is_asked_for_each_class_by_its_persons():
    asked = []

    def matched(grouped):
        asked.extend(sorted(grouped.select("g0", ROWS).rows()))
        sizes = grouped[ROWS].to_numpy()
        return Population.match(sizes, sizes * 4.0, 100)

    found = risk_of([("1", "a", "p"), ("1", "a", "p"), ("1", "a", "q"), ("2", "a", "p")],
                    matched=matched)  # fmt: skip
    assert asked == [("1", 2), ("2", 1)]
    assert found.journalist.maximum == pytest.approx(1 / 4)


def test_no_record_is_refused():
    with pytest.raises(InputError, match="no record"):
        risk_of([])
