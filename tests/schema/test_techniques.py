"""Pseudonyms, masks and shifted dates, value by value."""

from __future__ import annotations

import hashlib
import hmac
from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.core.errors import SchemaError
from shoal.core.secret_keys import Keys
from shoal.schema.schema import Schema
from shoal.schema.techniques import Mask, Pseudonym, Shift, shifted

KEYS = Keys(bytes(range(32)))


def naive_pseudonym(text, column, characters=20):
    """RFC 2104 by hand, over the key that is derived for the column."""

    def mac(key, message):
        block = key.ljust(64, b"\0")
        inner = hashlib.sha256(bytes(b ^ 0x36 for b in block) + message).digest()
        return hashlib.sha256(bytes(b ^ 0x5C for b in block) + inner).digest()

    words = b"\0\0\0\x09pseudonym" + len(column).to_bytes(4, "big") + column.encode()
    number = int.from_bytes(mac(mac(bytes(range(32)), b"shoal/1/" + words), text.encode()), "big")
    digits = "abcdefghijklmnopqrstuvwxyz234567"
    return "".join(digits[(number >> (251 - 5 * i)) & 31] for i in range(characters))


@given(st.text(max_size=20))
def test_a_pseudonym_is_the_beginning_of_the_hmac(text):
    if all(ord(c) < 0xD800 or ord(c) > 0xDFFF for c in text):
        assert Pseudonym().cell("id", KEYS)(text) == naive_pseudonym(text, "id")


def test_domains_decide_what_can_be_compared():
    one = Pseudonym().cell("id", KEYS)("x")
    assert Pseudonym().cell("mrn", KEYS)("x") != one
    assert Pseudonym(domain="id").cell("mrn", KEYS)("x") == one
    assert Pseudonym(fresh=True).cell("id", KEYS)("x") != one
    assert Pseudonym(characters=12).cell("id", KEYS)("x") == one[:12]
    assert hmac.compare_digest(one, Pseudonym().cell("id", Keys(bytes(range(32))))("x"))


@pytest.mark.parametrize(
    ("mask", "text", "released"),
    [
        (Mask(keep_first=1), "Smith", "S****"),
        (Mask(keep_last=4), "078-05-1120", "***-**-1120"),
        (Mask(keep_last=4), "1120", "****"),
        (Mask(keep_first=2, keep_last=2), "abcd", "****"),
        (Mask(keep_first=1, keep_last=1, char="#"), "abc", "a#c"),
        (Mask(keep_first=1, length="hidden"), "Smith", "S***"),
        (Mask(keep_last=2, length="hidden"), "12-34-56", "***56"),
        (Mask(), "a b", "* *"),
        (Mask(length="hidden"), "a b", "***"),
        (Mask(keep_first=1), "Åsa", "Å**"),
    ],
)
def test_masks(mask, text, released):
    assert mask.cell("c", KEYS)(text) == released


@given(st.text(max_size=12), st.integers(0, 4), st.integers(0, 4))
def test_a_mask_shows_no_more_than_it_says_and_never_all(text, first, last):
    shown = Mask(keep_first=first, keep_last=last).hidden(text)
    letters = sum(c.isalnum() for c in shown)
    assert letters <= first + last
    assert letters < sum(c.isalnum() for c in text) or letters == 0
    assert len(shown) == len(text)


@given(st.integers(1, 400), st.text(min_size=1, max_size=8))
def test_a_shift_is_never_nothing_and_within_its_days(days, person):
    moved = Shift(by="id", days=days, fresh=True).days_of(KEYS)(person)
    assert 1 <= abs(moved) <= days


def test_every_shift_occurs():
    days = Shift(by="id", days=3).days_of(KEYS)
    assert {days(str(i)) for i in range(200)} == {-3, -2, -1, 1, 2, 3}


@given(st.dates(date(1900, 1, 1), date(2100, 1, 1)), st.integers(-400, 400))
def test_dates_move_by_their_days(day, days):
    assert shifted(day.isoformat(), days, None, same=False) == str(day + timedelta(days))
    form = "%d.%m.%Y"
    moved = shifted(day.strftime(form), days, form, same=True)
    assert moved == (day + timedelta(days)).strftime(form)


def test_times_stay_and_what_is_no_date_is_none():
    assert shifted("2020-01-31 10:30:00", 1, None, same=False) == "2020-02-01 10:30:00"
    assert shifted("soon", 1, None, same=False) is None
    assert shifted("9999-12-31", 1, None, same=False) is None


@pytest.mark.parametrize(
    ("entry", "problem"),
    [
        ({"role": "quasi", "release": "pseudonym"}, "is for identifying and person columns"),
        ({"role": "neutral", "release": {"mask": {"keep_first": 1}}}, "is for identifying"),
        ({"role": "identifying", "release": "rot13"}, "release must be one of pseudonym, mask"),
        ({"role": "identifying", "release": {"mask": {"char": "x"}}}, "neither a letter"),
        ({"role": "identifying", "release": {"mask": {"keep": 1}}}, "unknown option 'keep'"),
        ({"role": "identifying", "release": {"pseudonym": {"characters": 4}}}, "from 10 to 25"),
        ({"role": "identifying", "release": "shift"}, "needs the column of the person"),
        ({"role": "identifying", "release": {"shift": {"by": "c", "days": 0}}}, "from 1 to"),
        ({"role": "identifying", "release": {"shift": {"by": "c"}}}, "by themselves"),
        ({"role": "identifying", "release": "zip3"}, "is for quasi and sensitive"),
    ],
)
def test_what_cannot_be_meant_is_refused(entry, problem):
    with pytest.raises(SchemaError, match=problem):
        Schema.from_document({"columns": {"c": entry}})


def test_a_schema_with_techniques_reads_back():
    document = {
        "columns": {
            "id": {"role": "identifying", "release": "pseudonym"},
            "ssn": {"role": "identifying", "release": {"mask": {"keep_last": 4}}},
            "day": {"role": "identifying", "release": {"shift": {"by": "id", "days": 9}}},
            "zip": {"role": "quasi", "release": "zip3"},
            "name": "identifying",
        }
    }
    schema = Schema.from_document(document)
    assert Schema.from_document(schema.to_document()) == schema
    assert schema.to_document()["columns"]["ssn"] == document["columns"]["ssn"]
    assert schema.released == ("id", "ssn", "day", "zip")
    assert schema.kept == ("id", "ssn", "day")
