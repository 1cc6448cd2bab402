"""An answer as plain data."""

from __future__ import annotations

import json

import pytest

from shoal.core.errors import MethodError
from shoal.dp.answer import Answer, NoisyNumber, Result


def answer(**changes) -> Answer:
    facts = {
        "statistic": "mean", "column": "age", "results": (Result(value=None, within=None),),
        "epsilon": 0.5, "delta": 0.0, "rho": None, "accounting": "pure",
        "mechanism": "discrete laplace", "scale": 2.0, "scale_unit": "records", "unit": "column",
        "confidence": 0.95, "remaining": 0.5, "privacy_unit": "one row", "dataset": "d",
    }  # fmt: skip
    return Answer(**{**facts, **changes})


def test_no_value_is_null_and_said_in_words():
    found = answer()
    assert found.to_document()["value"] is None
    assert found.to_document()["accuracy"]["within"] is None
    assert "no answer" in str(found)


def test_the_widest_bar_stands_for_all_groups():
    results = tuple(Result(value=1.0, within=w, label=(str(w),)) for w in (1.0, 3.0, 2.0))
    found = answer(results=results)
    assert found.within == 3.0
    assert found.to_document()["groups"][1]["group"] == ["3.0"]


def test_parts_are_listed():
    part = NoisyNumber(of="count", value=3, scale=1.0, mechanism="discrete laplace")
    found = answer(results=(Result(value=3, within=2, parts=(part,), missing=1, missing_within=2),))
    assert found.to_document()["parts"] == [part.to_document()]
    assert found.to_document()["missing"] == {"value": 1, "within": 2}


def grouped(*labels, others=None, **more):
    results = tuple(Result(value=i, within=1, label=label) for i, label in enumerate(labels))
    return answer(statistic="count", results=results, others=others, **more)


def test_the_value_of_groups_is_a_mapping_by_name():
    found = grouped(("F", "A"), ("M", "A"))
    assert found.value == {"F / A": 0, "M / A": 1}
    assert found.group("M", "A").value == 1
    with pytest.raises(MethodError, match="not named in the question") as caught:
        found.group("X")
    assert "X" not in str(caught.value)


def test_the_value_of_a_histogram_is_a_mapping_by_cell_and_by_group_and_cell():
    cells = ("young", "old")
    assert grouped(("young",), ("old",), cells=cells).value == {"young": 0, "old": 1}
    both = grouped(("F", "young"), ("F", "old"), cells=cells)
    assert both.value == {"F / young": 0, "F / old": 1}


def test_every_answer_is_plain_data():
    others = Result(value=4, within=1)
    found = grouped(("F",), ("M",), others=others, bounds=(0, 1), notes=("one", "two"))
    document = json.loads(json.dumps(found.to_document()))
    assert [each["group"] for each in document["groups"]] == [["F"], ["M"]]
    assert document["others"] == {"value": 4, "within": 1, "parts": []}
    assert (document["bounds"], document["notes"]) == ([0, 1], ["one", "two"])
    alone = json.loads(json.dumps(answer().to_document()))
    assert "groups" not in alone
    assert alone["parts"] == []
    assert alone["bounds"] is None


def test_a_noisy_number_says_what_it_is_and_how_noisy():
    part = NoisyNumber(of="sum", value=12, scale=2.5, mechanism="discrete laplace")
    assert part.to_document() == {
        "of": "sum", "value": 12, "scale": 2.5, "mechanism": "discrete laplace",
    }  # fmt: skip


def test_an_answer_in_words_has_its_bar_its_price_and_its_notes():
    one = Result(value=41.25, within=0.5, missing=3, missing_within=2)
    found = str(answer(results=(one,), delta=1e-6, rho=0.125, notes=("be careful",)))
    assert found.splitlines() == [
        "mean of age: 41.25, within ±0.5 with 95 %",
        "  records without a value: 3 ±2",
        "cost epsilon 0.5, delta 1e-06 (rho 0.125); discrete laplace, scale 2 (records); "
        "0.5 of epsilon left",
        "note: be careful",
    ]


def test_groups_are_listed_under_the_name_of_the_question():
    others = Result(value=9, within=1)
    lines = str(grouped(("F",), ("M",), others=others, column=None)).splitlines()
    assert lines[:4] == [
        "count", "F: 0, within ±1 with 95 %", "M: 1, within ±1 with 95 %",
        "others: 9, within ±1 with 95 %",
    ]  # fmt: skip


def test_an_accuracy_in_rank_is_called_so():
    found = answer(unit="records in rank", results=(Result(value=7, within=12.0),))
    assert "within ±12 in rank (records)" in str(found)


def test_without_a_bar_there_is_no_widest_one():
    assert answer().within is None
