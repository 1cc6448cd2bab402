"""The schema that carries Safe Harbor out, and its checklist, from facts about columns."""

from __future__ import annotations

from datetime import date

import pytest

from shoal.inference.column import ColumnFacts
from shoal.inference.presets import apply_preset
from shoal.inference.roles import decide
from shoal.inference.safe_harbor import checklist, harbor_schema, remains

DAY = date(2026, 11, 18)


def facts(name, sample, form="text", **more):
    values = tuple(sample)
    return ColumnFacts(
        name=name, records=100, missing=0, distinct=len(values), commonest=100 // len(values),
        sample=values, form=form, **more,
    )  # fmt: skip


def planned(*columns, removed=()):
    verdicts = {column.name: decide(column) for column in columns}
    preset = apply_preset("hipaa-safe-harbor", columns, verdicts, as_of=DAY)
    schema = harbor_schema(preset, columns, verdicts, removed)
    return schema, checklist(schema, verdicts)


def test_a_zip_code_and_an_age_are_replaced():
    schema, _ = planned(
        facts("zip", ["75275", "02134"]),
        facts("age", ["12", "95"], form="integer", lowest=12.0, highest=95.0),
    )
    assert {name: each.name for name, each in schema.replaced.items()} == {
        "zip": "zip3",
        "age": "top_age",
    }


def test_ages_that_nobody_understands_are_removed():
    schema, lines = planned(facts("age", ["young", "old", "very old"]), facts("sex", ["m", "f"]))
    assert schema.released == ("sex",)
    assert lines[2]["columns"] == {"age": "removed"}


@pytest.mark.parametrize("mixed", ["5 Jan 2020", "1/5/20", "2020-01-05", "05.01.2020"])
def test_a_label_that_is_a_date_removes_its_column(mixed):
    schema, _ = planned(facts("colour", ["red", "blue", mixed]), facts("sex", ["m", "f"]))
    assert schema.released == ("sex",)


def test_a_county_is_smaller_than_a_state_and_goes():
    schema, lines = planned(facts("county", ["Kent", "Essex"]), facts("state", ["TX", "NY"]))
    assert schema.released == ("state",)
    assert lines[1]["columns"] == {"county": "removed"}


def test_what_somebody_removes_stands_in_the_last_line():
    schema, lines = planned(facts("sex", ["m", "f"]), facts("x", ["a", "b"]), removed=["x"])
    assert schema.released == ("sex",)
    assert lines[-1]["columns"] == {"x": "removed"}


def test_no_label_is_taken_for_more_than_it_is():
    assert remains("north", None) is None
    assert remains("*", None) is None
    assert remains("www.example.org/x", None) == "web addresses"


def test_the_checklist_names_the_kind_that_the_header_says_where_two_have_one_form():
    schema, lines = planned(
        facts("fax", [f"+1 555-{i:03}-{i + 7:04}" for i in range(200, 260)]),
        facts("photo_url", [f"https://img.example/{i}.jpg" for i in range(60)]),
        facts("health_plan_id", [f"HP{i:09}" for i in range(60)]),
        facts("sex", ["m", "f"]),
    )
    assert schema.released == ("sex",)
    named = {line["letter"]: line["columns"] for line in lines if line["columns"]}
    assert {letter: [*columns] for letter, columns in named.items() if letter in "DEINQ"} == {
        "E": ["fax"], "I": ["health_plan_id"], "Q": ["photo_url"],
    }  # fmt: skip
