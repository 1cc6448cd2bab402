"""HIPAA Safe Harbor as steps."""

from datetime import date

import pytest
from tests.methods.infer.test_roles import facts

from shoal.core.errors import MethodError
from shoal.methods.infer.presets import SMALL_ZIPS, ZIP_LISTS, Step, apply_preset
from shoal.methods.infer.roles import decide
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
    assert len(ZIP_LISTS["Census 2000, guidance of the Department of Health of 2012-11-26"]) == 17
    assert all("Census" in name for name in ZIP_LISTS)
    assert {"036", "893", "205"} <= set(SMALL_ZIPS)
    assert all(len(area) == 3 and area.isdigit() for area in SMALL_ZIPS)


def test_an_unknown_preset_is_refused():
    with pytest.raises(MethodError, match="there are hipaa-safe-harbor"):
        apply_preset("gdpr", COLUMNS, {})
