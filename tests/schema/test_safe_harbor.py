"""Zip codes, ages and years as Safe Harbor asks for them; hostile ones, too."""

from __future__ import annotations

import pytest

from shoal.schema.safe_harbor import SMALL_ZIPS, ZIP_LISTS, TopAge, Year, Zip3, ages, years_of


@pytest.mark.parametrize(
    ("text", "area"),
    [
        ("75275", "752"), ("75275-0001", "752"), ("752750001", "752"), (" 75275 ", "752"),
        ("2134", "021"), ("2134.0", "021"), ("21340001", "021"), ("2134-0001", "021"),
        ("82190", "000"), ("3601", "000"), ("09012", "000"), ("00501", "000"),
        ("752", "000"), ("12", "000"), ("SW1A 1AA", "000"), ("-75275", "000"), ("7527٣", "000"),
    ],
)  # fmt: skip
def test_zip_codes(text, area):
    assert Zip3().area(text) == area


def test_every_list_of_small_areas_is_replaced():
    assert [len(areas) for areas in ZIP_LISTS.values()] == [17, 16, 18]
    for areas in ZIP_LISTS.values():
        assert set(areas) <= SMALL_ZIPS
        assert {Zip3().area(f"{area}99") for area in areas} == {"000"}


@pytest.mark.parametrize(
    ("text", "group"),
    [
        ("0", "0"), ("89", "89"), ("89.9", "89"), ("90", "90+"), ("92", "90+"), ("104", "90+"),
        ("90+", "90+"), ("95+", "90+"), (">= 90", "90+"), (">89", "90+"), ("92 years", "90+"),
        ("-3", None), ("151", None), ("old", None), ("", None), ("9 2", None),
        ("40-49", "40-49"), ("80-89", "80-89"), ("[80-90)", "[80-90)"), ("[90-100)", "90+"),
        ("85-94", "85+"), ("80s", "80s"), ("90s", "90+"), ("<30", "<30"), ("91 or older", "90+"),
    ],
)  # fmt: skip
def test_ages(text, group):
    assert TopAge().group(text) == group
    assert group is None or TopAge().group(group) == group


@pytest.mark.parametrize(
    ("form", "text", "year"),
    [
        (None, "1999-12-31", "1999"), (None, "1999-12-31T10:00", "1999"), (None, "1999", "1999"),
        (None, "1934-01-01", "<=1934"), (None, "1935-01-01", "1935"), (None, "9999-12-31", None),
        (None, "31/12/1999", None), ("%d/%m/%Y", "31/12/1999", "1999"), (None, "soon", None),
        ("%d.%m.%y", "01.02.34", "<=1934"), ("%d.%m.%y", "01.02.24", "2024"),
        ("%m/%d/%Y", "1999-12-31", None),
    ],
)  # fmt: skip
def test_years(form, text, year):
    technique = Year(as_of="2024-06-30", date_format=form)
    assert technique.year(text) == year


def test_orders_hold_what_is_released():
    from datetime import date

    day = date(2024, 6, 30)
    year = Year(as_of=day.isoformat())
    assert {year.year(f"{y}-05-05") for y in range(1850, 2035)} == set(years_of(day))
    assert {TopAge().group(str(age)) for age in range(151)} == set(ages())
    with pytest.raises(ValueError, match="as_of"):
        Year()
