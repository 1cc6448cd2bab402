"""Schemas proposed from verdicts."""

import pytest
from tests.methods.infer.test_roles import facts

from shoal.core.documents import parse_yaml
from shoal.methods.infer.propose import hierarchy_for, schema_document, schema_text
from shoal.methods.infer.roles import Verdict, decide
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
    assert hierarchy_for(bands, verdict(Kind.CATEGORICAL, "age")) == {"order": {"fanout": 2}}
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
