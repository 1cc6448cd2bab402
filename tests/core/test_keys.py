"""Keys of numbers and dates: they sort as what they stand for, and refuse everything else."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.core.keys import date_key, iso_of, number_key

NUMBERS = st.decimals(-(10**6), 10**6, places=4) | st.integers(-(10**20), 10**20).map(Decimal)
MOMENTS = st.datetimes(datetime(1, 1, 1), datetime(9999, 12, 31))


def key_of(text):
    """Return the key, which must be there."""
    found = number_key(text)
    assert found is not None
    return found


@given(NUMBERS, NUMBERS)
@settings(max_examples=200)
def test_keys_of_numbers_sort_as_the_numbers_do(one, other):
    first, second = key_of(str(one)), key_of(str(other))
    assert (first < second, first == second) == (one < other, one == other)


@given(NUMBERS, st.integers(-5, 5))
def test_spellings_of_a_number_share_a_key(number, shift):
    scaled = f"{number.scaleb(-shift):f}e{shift}"
    zeros = f"{'-' if number < 0 else ''}000{abs(number):f}"
    assert key_of(scaled) == key_of(zeros) == key_of(f"  {number}\n")


def test_keys_take_more_digits_than_a_float_has():
    long = "12345678901234567890123456789012345"
    assert key_of(long) < key_of(long + ".0000000000000000000000000000000000001")


@pytest.mark.parametrize(
    "text", ["", " ", "-", "+", ".", "1.2.3", "e5", "1e", "1e+", "1e1234567", "1 000", "٣", "--1"]
)
def test_what_is_no_number_has_no_key(text):
    assert number_key(text) is None


@given(MOMENTS, MOMENTS)
def test_keys_of_moments_sort_as_the_moments_do(one, other):
    first, second = (date_key(moment.isoformat()) for moment in (one, other))
    assert first is not None
    assert second is not None
    assert (first < second) == (one < other)


@given(MOMENTS)
def test_a_day_is_its_own_midnight(moment):
    day = moment.date().isoformat()
    assert date_key(day) == date_key(f"{day}T00:00") == f"{day} 00:00:00.000000"


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("2024-02-29", "2024-02-29 00:00:00.000000"),
        ("2024-03-17T13:45", "2024-03-17 13:45:00.000000"),
        ("2024-03-17 13:45:06.5", "2024-03-17 13:45:06.500000"),
        ("2024-03-17T13:45Z", "2024-03-17 13:45:00.000000"),
        ("2024-03-17T13:45+02", "2024-03-17 13:45:00.000000"),
        ("2024-03-17T13:45-0230", "2024-03-17 13:45:00.000000"),
        ("2024-03-17T13:45+02:30", "2024-03-17 13:45:00.000000"),
        ("13:45", "13:45:00.000000"),
    ],
)
def test_a_time_of_day_and_a_zone_may_follow(text, key):
    assert date_key(text) == key


@pytest.mark.parametrize(
    "text",
    [
        "",
        "2023-02-29",
        "1900-02-29",
        "2024-13-01",
        "2024-00-01",
        "0000-01-01",
        "2024-1-1",
        "2024-03-17X13:45",
        "2024-03-17T24:00",
        "2024-03-17T13:60",
        "2024-03-17T13:45Zulu",
        "2024-03-17T13:45+25",
        "2024-03-17T13:45+2:30",
        "2024-03-17T13:45.5",
        "2024-03-17T13:45:06.1234567",
        "2024-03-17TZ",
        "25:00",
    ],
)
def test_what_is_no_date_has_no_key(text):
    assert date_key(text) is None


@pytest.mark.parametrize(
    ("text", "form", "iso"),
    [
        ("13.9.1967", "%d.%m.%Y", "1967-09-13"),
        ("13-sep-1967", "%d-%b-%Y", "1967-09-13"),
        ("01/02/69", "%m/%d/%y", "1969-01-02"),
        ("01/02/68", "%m/%d/%y", "2068-01-02"),
        ("13.09.1967 08:15", "%d.%m.%Y", "1967-09-13 08:15"),
        ("13.09.67", "%d.%m.%Y", None),
        ("13-xyz-1967", "%d-%b-%Y", None),
        ("13/09/1967", "%d.%m.%Y", None),
        ("", "%d.%m.%Y", None),
    ],
)
def test_a_date_in_a_form_becomes_an_iso_date(text, form, iso):
    assert iso_of(text, form) == iso
    if iso is not None:
        assert date_key(text, form) == date_key(iso)
