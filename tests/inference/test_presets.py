"""HIPAA Safe Harbor as steps."""

from datetime import date

import pytest
from tests.inference.test_roles import facts

from shoal.core.errors import MethodError
from shoal.inference.presets import (
    Step,
    apply_preset,
    birth_years,
    is_text,
)
from shoal.inference.roles import decide
from shoal.schema.safe_harbor import SMALL_ZIPS, ZIP_LISTS
from shoal.schema.schema import Schema

COLUMNS = [
    facts("name", [f"Zq{i} Xw{i}" for i in range(900)]),
    facts("email", [f"zz{i}@example.org" for i in range(50)]),
    facts("age", map(str, range(100)), form="integer", lowest=0, highest=99),
    facts("birth_date", [f"19{i}-03-17" for i in range(30, 99)], form="date"),
    facts("admission", [f"2024-03-{i:02}" for i in range(1, 29)], form="date"),
    facts("zip", [f"{i}" for i in range(10000, 10900)], form="integer", widths=1),
    facts("city", [f"Zqtown{i}" for i in range(40)]),
    facts("state", ["ZA", "ZB", "ZC"]),
    facts("latitude", ["37.1", "37.2"] * 20, form="decimal", lowest=37, highest=38),
    facts("sex", ["F", "M"]),
    facts("diagnosis", ["I21", "J18", "S72"]),
]


def preset(**more):
    verdicts = {column.name: decide(column) for column in COLUMNS}
    return apply_preset("hipaa-safe-harbor", COLUMNS, verdicts, **more)


def test_each_column_takes_the_step_that_the_rule_asks_for():
    assert {rule.column: rule.step for rule in preset().rules} == {
        "name": Step.REMOVE,
        "email": Step.REMOVE,
        "age": Step.TOP_AGE,
        "birth_date": Step.BIRTH_YEAR,
        "admission": Step.YEAR,
        "zip": Step.ZIP3,
        "city": Step.REMOVE,
        "state": Step.KEEP,
        "latitude": Step.REMOVE,
        "sex": Step.KEEP,
        "diagnosis": Step.KEEP,
    }


def test_the_schema_is_whole_and_knows_the_joined_ages():
    schema = Schema.from_document(preset(as_of=date(2024, 6, 30)).schema)
    assert schema.attribute("age").order[-2:] == ("89", "90+")
    assert schema.attribute("birth_date").order[0] == "<=1934"
    assert schema.quasi == ("age", "birth_date", "admission", "zip", "state", "sex")


def test_small_zip_areas_come_from_dated_lists():
    assert [len(areas) for areas in ZIP_LISTS.values()] == [17, 16, 18]
    assert all("Census" in name for name in ZIP_LISTS)
    assert {"036", "893", "205"} <= set(SMALL_ZIPS)
    assert all(len(area) == 3 and area.isdigit() for area in SMALL_ZIPS)


def test_an_unknown_preset_is_refused():
    with pytest.raises(MethodError, match="there are hipaa-safe-harbor"):
        apply_preset("gdpr", COLUMNS, {})


def step_of(column):
    (rule,) = apply_preset("hipaa-safe-harbor", [column], {column.name: decide(column)}).rules
    return rule.step


@pytest.mark.parametrize(
    ("column", "step"),
    [
        (facts("birth_year", map(str, range(1930, 2000)), form="integer", lowest=1930,
               highest=1999), Step.BIRTH_YEAR),
        (facts("birth", ["spring", "autumn", "winter"]), Step.REMOVE),
        (facts("death_year", map(str, range(1990, 2020)), form="integer", lowest=1990,
               highest=2019), Step.KEEP),
        (facts("age", [f"[{i}-{i + 10})" for i in range(0, 90, 10)]), Step.KEEP),
        (facts("age", ["young", "old", "older"]), Step.REMOVE),
        (facts("visited", [f"{i:02}.03.2024" for i in range(1, 29)]), Step.YEAR),
        (facts("county", ["ZA", "ZB"] * 3), Step.REMOVE),
        (facts("remarks", ["ok", "late"], records=30), Step.REMOVE),
        (facts("x", ["the first of four words", "short"], records=15, most_words=5), Step.REMOVE),
        (facts("x", ["the first of four words", "short"], records=900, most_words=5), Step.KEEP),
        (facts("insulin", ["up", "down"]), Step.KEEP),
    ],
)  # fmt: skip
def test_doubt_removes_a_column(column, step):
    assert step_of(column) is step


@pytest.mark.parametrize(
    ("distinct", "records", "words", "is_note"),
    [
        (20, 200, 4, False), (21, 210, 4, True), (20, 199, 4, True), (300, 300, 3, False),
        (0, 10, 9, False),
    ],
)  # fmt: skip
def test_a_list_of_labels_is_short_and_repeats(distinct, records, words, is_note):
    column = facts("x", ["a"], distinct=distinct, records=records, most_words=words)
    assert is_text(column) is is_note


def test_numbers_are_no_notes_and_a_header_may_say_that_texts_are():
    assert not is_text(facts("x", ["1"], form="integer", most_words=9))
    assert is_text(facts("comment", ["a"], most_words=1))


@pytest.mark.parametrize("year", [1990, 2024, 2025])
def test_nobody_over_89_has_a_birth_year_of_their_own(year):
    for day in (date(year, 1, 1), date(year, 12, 31)):
        first, *others = birth_years(day)
        assert first == f"<={year - 90}"
        assert others == [str(y) for y in range(year - 89, year + 1)]
        # whoever is born in a year that stands alone is at most 89 on that day
        assert all(year - int(other) <= 89 for other in others)


def test_removed_columns_are_in_no_promise():
    columns = [*COLUMNS[:3], facts("diagnosis", [f"a long remark about {i}" for i in range(50)],
                                   records=60, most_words=5, commonest=2)]  # fmt: skip
    verdicts = {column.name: decide(column) for column in columns}
    found = apply_preset("hipaa-safe-harbor", columns, verdicts)
    assert "diagnosis" not in found.schema["columns"]
    assert all(model.get("column") != "diagnosis" for model in found.schema["privacy"])
    assert found.schema["others"] == "drop"


def test_what_a_person_must_still_do_is_said_without_a_value():
    found = preset(as_of=date(2024, 6, 30))
    assert any("2024-06-30" in notice for notice in found.notices)
    assert any("check for newer data" in notice for notice in found.notices)
    assert not any("Zqtown" in notice for notice in found.notices)
    assert preset().as_of == date.today()
