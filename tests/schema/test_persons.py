"""What names a person: edges, normal forms, and what other programs write for nobody."""

from __future__ import annotations

import unicodedata

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.engines.person_key import person_spelling, present
from shoal.privacy import AlphaKAnonymity, KAnonymity, LDiversity, MUniqueness, TCloseness
from shoal.schema.persons import (
    NOBODY,
    leaves_nobody_out,
    ordered_words,
    person_text,
    why_empty,
    why_ordered,
)

PIECES = st.sampled_from(
    ["p", "P", "7", "ö", "o\u0308", " ", "\t", "\u00a0", "\ufeff", "\u200b", "\x1f", "nan", "NULL",
     "N/A", "<na>", "?", "'", "-", "\u3000", "İ", "ﬁ", "\u0308"]
)  # fmt: skip


@pytest.mark.parametrize("text", ["\ufeffp7", "p7\u200b", " p7\u00a0", "p7\x1f"])
def test_what_no_eye_sees_makes_no_other_person(text):
    assert person_text(text, ()) == "p7"


def test_the_normal_forms_of_a_text_are_one_person():
    assert person_text(unicodedata.normalize("NFD", "Jörg"), ()) == person_text("Jörg", ())


@pytest.mark.parametrize("text", [*NOBODY, "NaN", "NULL", "None", "<NA>", " \ufeff", "?"])
def test_what_stands_for_a_missing_value_is_nobody(text):
    assert person_text(text, ["?"]) is None


@given(texts=st.lists(st.lists(PIECES, max_size=4).map("".join), max_size=8))
def test_a_column_is_read_as_each_of_its_texts(texts):
    frame = pl.DataFrame({"who": texts}, schema={"who": pl.String})
    found = frame.select(present(pl.col("who"), ["?"]))["who"].to_list()
    assert found == [person_text(text, ["?"]) for text in texts]


def test_spellings_of_a_key_differ_in_case_spaces_and_zeros():
    frame = pl.DataFrame({"who": ["p 7", "P7", "007", "7.0", "7", "70", "0"]})
    found = frame.select(person_spelling("who"))["who"].to_list()
    assert found == ["p7", "p7", "7", "7", "7", "70", "0"]


@pytest.mark.parametrize("model", [LDiversity(2), TCloseness(0.2), AlphaKAnonymity(0.5, 2)])
def test_what_is_promised_of_persons_values_leaves_nobody_out(model):
    assert leaves_nobody_out([KAnonymity(5), model])
    assert not leaves_nobody_out([KAnonymity(5)])
    assert not leaves_nobody_out([])


def test_beside_m_uniqueness_values_are_those_of_records():
    assert not leaves_nobody_out([KAnonymity(5), MUniqueness(2), LDiversity(2)])


def test_records_of_nobody_are_counted_not_named():
    assert why_empty(2_000, 10_000).startswith("2,000 of 10,000. They make no class larger")


@pytest.mark.parametrize(
    ("persons", "is_told"),
    [
        (sorted("abcdefghij" * 10), True),
        (sorted("abcde" * 3), False),  # a few records say little
        (["a", "b"] * 50, False),
        ([None] * 100, False),  # nobody is not one person
        ([str(number) for number in range(100)], False),
        ([], False),
        (["a"] * 100, False),  # one person alone: no order could be another
        ([str(number // 2) for number in range(100)], True),
    ],
)
def test_an_order_that_puts_the_records_of_a_person_together_is_told(persons, is_told):
    assert (why_ordered(persons) is not None) == is_told


def test_a_twentieth_is_told_and_less_is_not():
    assert ordered_words(50, 1000, 0.0) is not None
    assert ordered_words(49, 1000, 0.0) is None
    assert ordered_words(50, 1000, 25.1) is None
