"""Schemas proposed from verdicts."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.inference.test_roles import facts

from shoal.core.documents import parse_yaml
from shoal.inference.propose import hierarchy_for, schema_document, schema_text
from shoal.inference.roles import Verdict, decide
from shoal.schema.schema import Kind, Role, Schema


def verdict(kind, concept=None, **more):
    return Verdict(role=Role.QUASI, kind=kind, confidence=1.0, why="", concept=concept, **more)


@pytest.mark.parametrize(
    ("low", "high", "form", "width"),
    [
        (0, 100, "integer", 10), (0, 1, "decimal", 0.1), (0, 15, "integer", 2),
        (1e6, 9e6, "integer", 500000), (-3, 5, "integer", 2), (0, 1600, "integer", 100),
    ],
)  # fmt: skip
def test_widths_are_round_numbers_about_a_sixteenth_of_the_range(low, high, form, width):
    column = facts("x", map(str, range(40)), form=form, lowest=low, highest=high)
    found = hierarchy_for(column, verdict(Kind.NUMERIC))
    assert found == {"intervals": {"width": width, "levels": 3}}


def test_few_values_and_other_roles_get_no_hierarchy():
    column = facts("x", "1234", form="integer", lowest=1, highest=4)
    assert hierarchy_for(column, verdict(Kind.NUMERIC)) is None
    wide = facts("x", map(str, range(40)), form="integer", lowest=0, highest=40)
    neutral = Verdict(role=Role.NEUTRAL, kind=Kind.NUMERIC, confidence=1, why="")
    assert hierarchy_for(wide, neutral) is None


def test_zips_dates_ages_places_and_bands_get_the_hierarchy_that_fits():
    zips = facts("zip", ["01234", "75275"], widths=1)
    assert hierarchy_for(zips, verdict(Kind.CATEGORICAL, "zip")) == {"mask": {}}
    days = facts("x", ["2024-01-01"] * 1, form="date")
    assert hierarchy_for(days, verdict(Kind.DATE)) == {"dates": {}}
    ages = facts("age", map(str, range(90)), form="integer", lowest=0, highest=89)
    assert hierarchy_for(ages, verdict(Kind.NUMERIC, "age")) == {
        "intervals": {"width": [5, 10, 20]}
    }
    old = facts("age", map(str, range(99)), form="integer", lowest=0, highest=98)
    assert "top_bottom" in hierarchy_for(old, verdict(Kind.NUMERIC, "age"))
    bands = facts("age", [f"[{i}-{i + 10})" for i in range(0, 100, 10)])
    assert hierarchy_for(bands, verdict(Kind.CATEGORICAL, "age")) == {"order": {"fanout": 3}}
    written = facts("x", ["17.03.2024"])
    shape = verdict(Kind.CATEGORICAL, date_format="%d.%m.%Y")
    assert hierarchy_for(written, shape) == {"mask": {"direction": "left"}}


def test_the_text_is_yaml_that_reads_back_as_the_document_whatever_the_headers():
    names = ["age", "no", "a: b", "#x", 'say "hi"', "Größe", "two\nlines", "null", "1", "- x"]
    columns = [facts(name, ["aa", "bb", "cc"]) for name in names]
    verdicts = {column.name: decide(column) for column in columns}
    document = schema_document(columns, verdicts)
    read = parse_yaml(schema_text(document, verdicts), where="test")
    assert read == document
    assert Schema.from_document(read).quasi == tuple(names)


@settings(deadline=None)
@given(st.floats(-1e9, 1e9), st.floats(1e-6, 1e9), st.sampled_from(["integer", "decimal"]))
def test_every_width_is_round_and_cuts_the_range_into_a_few_parts(low, span, form):
    column = facts("x", map(str, range(40)), form=form, lowest=low, highest=low + span)
    found = hierarchy_for(column, verdict(Kind.NUMERIC))
    if not column.highest > column.lowest:
        assert found is None  # the sum was rounded away
        return
    width = found["intervals"]["width"]
    assert width > 0
    if form == "integer":
        assert width == int(width) >= 2
    else:
        digits = width / 10 ** math.floor(math.log10(width) + 1e-9)
        assert min(abs(digits - step) for step in (1, 2, 5, 10)) < 1e-6
        assert 6 <= (column.highest - column.lowest) / width <= 16.01


@pytest.mark.parametrize(("low", "high"), [(None, None), (5, 5), (0, math.inf), (math.nan, 1)])
def test_a_range_that_is_none_gets_no_hierarchy(low, high):
    column = facts("x", map(str, range(40)), form="integer", lowest=low, highest=high)
    assert hierarchy_for(column, verdict(Kind.NUMERIC)) is None


@pytest.mark.parametrize(
    ("column", "what", "builder"),
    [
        (facts("zip", ["1", "22"], widths=2), verdict(Kind.CATEGORICAL, "zip"),
         {"mask": {"pad": "left", "fill": "0"}}),
        (facts("born", ["2024-01-01"], form="date"), verdict(Kind.DATE, "birth"),
         {"dates": {"levels": ["month", "quarter", "year", "decade"]}}),
        (facts("x", ["2024/03/17"]), verdict(Kind.CATEGORICAL, date_format="%Y/%m/%d"),
         {"mask": {}}),
        (facts("lat", map(str, range(40))), verdict(Kind.NUMERIC, "geo"),
         {"intervals": {"width": [0.01, 0.1, 1]}}),
        (facts("x", map(str, range(40))), verdict(Kind.CATEGORICAL), None),
    ],
)  # fmt: skip
def test_every_concept_has_its_builder(column, what, builder):
    assert hierarchy_for(column, what) == builder


def test_the_promise_takes_the_surest_sensitive_column_that_is_spread():
    columns = [
        facts("constant", ["a"], commonest=1000),
        facts("rare", ["a", "b"], commonest=900),
        facts("spread", ["a", "b"], commonest=500),
        facts("sure", ["a", "b"], commonest=700),
    ]
    verdicts = {
        column.name: Verdict(role=Role.SENSITIVE, kind=Kind.CATEGORICAL, why="",
                             confidence=0.9 if column.name == "sure" else 0.8)
        for column in columns
    }  # fmt: skip
    assert schema_document(columns, verdicts)["privacy"] == [
        {"model": "k-anonymity", "k": 5},
        {"model": "l-diversity", "l": 2, "column": "sure"},
    ]
    del verdicts["sure"]
    found = schema_document(columns[:3], verdicts)["privacy"]
    assert found[1]["column"] == "spread"
    assert schema_document(columns[:2], verdicts)["privacy"] == [{"model": "k-anonymity", "k": 5}]


def test_marks_of_missing_values_are_named_once_and_in_order():
    columns = [facts("x", ["a"], marks=("?", "NA")), facts("y", ["a"], marks=("-", "?"))]
    verdicts = {column.name: decide(column) for column in columns}
    assert schema_document(columns, verdicts)["missing"] == ["-", "?", "NA"]
    assert "missing" not in schema_document([facts("x", ["a"])], verdicts)


@settings(deadline=None, max_examples=60)
@given(
    st.lists(
        st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=12),
        min_size=1, max_size=5, unique=True,
    ),
    st.lists(st.sampled_from(["?", "NA", "a: b", "#", "no", "1.0", "it's"]), unique=True),
)  # fmt: skip
def test_any_header_and_any_mark_reads_back(names, marks):
    columns = [facts(name, ["aa", "bb", "cc"], marks=tuple(marks)) for name in names]
    verdicts = {column.name: decide(column) for column in columns}
    document = schema_document(columns, verdicts)
    text = schema_text(document, verdicts, notices=["read it"])
    assert parse_yaml(text, where="test") == document
    assert "# read it" in text.splitlines()
