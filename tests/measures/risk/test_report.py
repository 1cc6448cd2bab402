"""RiskReport from classes alone: what each number means, on tables that can be counted by hand."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.naive import risk as naive

from shoal.core.errors import MethodError
from shoal.measures.risk.persons import Repeats
from shoal.measures.risk.population import Population
from shoal.measures.risk.question import RiskQuestion
from shoal.measures.risk.report import Classes, risk_report

NAMES = ("x", "y")


def classes_of(rows, **more):
    """Return the classes of rows of small numbers."""
    codes, sizes = np.unique(np.array(rows, dtype=np.int32), axis=0, return_counts=True)
    return Classes(names=NAMES, codes=codes, sizes=sizes.astype(np.int64), **more)


def report(rows, question=None, **more):
    return risk_report(classes_of(rows, **more), question or RiskQuestion(quasi=NAMES))


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=1, max_size=25))
def test_numbers_agree_with_sums_over_records(rows):
    found = report(rows)
    assert (found.records, found.classes) == (len(rows), len(set(rows)))
    assert found.global_risk == pytest.approx(naive.global_risk(rows))
    assert found.expected_reidentifications == pytest.approx(len(set(rows)))
    assert found.smallest_class == min(rows.count(row) for row in rows)
    assert found.unique == found.below["2"] == naive.records_below(rows, 2)
    assert found.special["records"] == sum(bool(mine) for mine in naive.minimal_uniques(rows))
    assert (found.journalist, found.population, found.household) == (None, None, None)
    for j, name in enumerate(NAMES):
        without = [(row[1 - j],) for row in rows]
        column = found.columns[name]
        assert column.global_risk_without == pytest.approx(len(set(without)) / len(rows))
        assert column.unique_because == found.unique - naive.records_below(without, 2)


def test_one_record_and_one_column():
    codes, sizes = np.zeros((1, 1), dtype=np.int32), np.ones(1, dtype=np.int64)
    classes = Classes(names=("x",), codes=codes, sizes=sizes)
    found = risk_report(classes, RiskQuestion(quasi=("x",)))
    assert (found.global_risk, found.unique, found.maximum, found.average) == (1.0, 1, 1.0, 1.0)
    assert found.columns["x"].global_risk_without == 1.0
    assert found.columns["x"].unique_because == 0


def test_no_record_is_no_risk():
    empty = Classes(
        names=NAMES, codes=np.zeros((0, 2), dtype=np.int32), sizes=np.zeros(0, dtype=np.int64)
    )
    found = risk_report(empty, RiskQuestion(quasi=NAMES))
    assert (found.records, found.global_risk, found.smallest_class) == (0, 0.0, 0)
    assert found.individual["maximum"] == 0.0


def test_without_special_uniques_there_are_no_columns():
    found = report([(0, 0), (0, 1)], RiskQuestion(quasi=NAMES, special=False))
    assert (found.special, found.columns, found.notices) == ({}, {}, ())


def test_a_search_that_was_cut_short_says_so(monkeypatch):
    from shoal.measures.risk import special

    monkeypatch.setattr(special, "MOST_MARKS", 1)
    found = report([(0, 0), (0, 1), (1, 0)], population=Population(notices=("first",)))
    assert found.notices == ("first", "special uniques: sets of more than 1 columns left out")
    assert not found.special["complete"]


def test_a_known_population_is_taken_as_it_is_and_an_estimated_one_as_a_chance():
    rows = [(0, 0), (1, 1), (1, 1)]
    people = np.array([10.0, 1.0])
    known = classes_of(rows, population=Population(people=people))
    assert known.risks.tolist() == [0.1, 0.5]  # never above one over the class
    estimated = classes_of(rows, population=Population(people=people, estimated=True))
    assert estimated.risks[0] > 0.1
    assert estimated.risks[1] == 0.5
    assert classes_of(rows).risks.tolist() == [1.0, 0.5]


def test_the_gate_looks_at_the_journalist_where_the_population_is_known():
    rows = [(0, 0)]
    alone = report(rows)
    assert (alone.maximum, alone.average) == (1.0, 1.0)
    among = report(rows, population=Population(people=np.array([20.0])))
    assert (among.maximum, among.average) == (0.05, 0.05)
    assert among.within(0.05)
    assert not among.within(0.04)
    assert among.within(0.05, measure="average")
    with pytest.raises(MethodError, match="max-risk must be a number from 0 to 1"):
        among.within(1.5)
    with pytest.raises(MethodError, match="the gate looks at the maximum or the average"):
        among.within(0.5, measure="median")


def test_the_document_is_plain_data_and_holds_the_warning():
    from dataclasses import replace

    repeats = Repeats.counted("patient", (5, 9), 5, (1, 4, 0))
    found = replace(report([(0, 0), (0, 1), (0, 1)]), repeats=repeats)
    document = json.loads(json.dumps(found.to_document()))
    assert document["warnings"] == [repeats.text]
    assert document["repeats"]["classes"] == 1
    assert document["individual"] == {
        "estimated": False, "maximum": 1.0, "average": 2 / 3, "high_risk_above": 0.05,
        "high_risk_records": 3,
    }  # fmt: skip
    assert document["special_uniques"] == {
        "records": 1, "by_size": {"1": 1}, "max_size": 2, "complete": True,
    }  # fmt: skip
    assert document["sizes"][0] == {"from": 1, "to": 1, "classes": 1, "records": 1}
