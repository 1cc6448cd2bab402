"""What jobs say in English is said in German on a German page, whatever it is about."""

from __future__ import annotations

import re

import pytest

from shoal.inference.column import ColumnFacts
from shoal.inference.headers import CONCEPTS
from shoal.inference.kept import judge_kept
from shoal.inference.patterns import EMBEDDED
from shoal.inference.roles import decide
from shoal.web.reasons import reason
from shoal.web.texts import Texts

GERMAN, ENGLISH = Texts("de"), Texts("en")
ENGLISH_WORDS = re.compile(
    r"\b(the|is|are|of|with|different|value|values|cells|missing|header|says|and|records)\b"
)


def facts(name, *values, records=1000, distinct=None):
    """A column with these values, over and over."""
    distinct = len(set(values)) if distinct is None else distinct
    return ColumnFacts(name=name, records=records, missing=3, distinct=distinct, commonest=1,
                       sample=values)  # fmt: skip


COLUMNS = [
    facts("plz", "12345", "12346"),
    facts("birth", "17.03.2024", "01.12.1999"),
    facts("when", "2024-03-17", "2024-12-01"),
    facts("mail", "a@b.org", "c@d.net"),
    facts("x", "red", "green"),
    facts("sex", "m", "f"),
    facts("name", "Anna Example", "Bert Example", distinct=997),
    facts("kosten", "1", "2"),
    facts("town", "Berlin", "Bonn", distinct=996),
    facts("notes", "she came in late and left", "a long way from home again", distinct=900),
    facts("same", "x", records=10, distinct=1),
    facts("ssn", "yes", "no"),
    facts("patient_id", "4711", "4712", distinct=997),
    facts("diagnosis", "K40", "J45"),
]


@pytest.mark.parametrize("column", COLUMNS, ids=lambda column: column.name)
def test_why_a_column_has_its_role_is_said_in_german(column):
    said = decide(column).why
    assert reason(ENGLISH, said) == said
    german = reason(GERMAN, said)
    assert german != said
    assert not ENGLISH_WORDS.search(german), german


@pytest.mark.parametrize("column", COLUMNS, ids=lambda column: column.name)
def test_what_a_kept_column_gives_away_is_said_in_german(column):
    found = judge_kept(column)
    if found is not None:
        german = reason(GERMAN, found.text)
        assert german.startswith("Die Spalte")
        assert not ENGLISH_WORDS.search(german), german


@pytest.mark.parametrize("concept", CONCEPTS.values(), ids=lambda concept: concept.key)
def test_everything_that_a_header_can_say_has_a_german_word(concept):
    german = reason(GERMAN, f"the header says {concept.says}")
    assert german.startswith("die Überschrift nennt ")
    assert concept.says not in german


@pytest.mark.parametrize("pattern", EMBEDDED.values(), ids=lambda pattern: pattern.words)
def test_what_texts_hide_has_a_german_word(pattern):
    german = reason(GERMAN, f"hides {pattern.words} in 3 different values")
    assert german.startswith("enthält ")
    assert german.endswith(" in 3 verschiedenen Werten")


def test_numbers_are_written_as_the_language_does():
    assert reason(GERMAN, "5 to 9") == "5 bis 9"
    assert reason(GERMAN, "1,200 others") == "1.200 weitere"
    said = "it repeats, 1.4 records a value: records are not people, so persons are counted"
    assert reason(GERMAN, said).startswith("es wiederholt sich, 1,4 Datensätze")


def test_what_nobody_translated_stays_as_it_is():
    for said in ("", "a sentence of another day", "3 things; 4 others", "{what}", "x" * 100_000):
        assert reason(GERMAN, said) == said or "weitere" in reason(GERMAN, said)


def test_values_are_shown_and_no_pattern_is_made_of_them():
    said = "column '{0}' is kept but nearly identifies people by itself: 9 different values in 9 cells. Round it, or recode it (--qi {0}); if it is meant as it is: --waive {0}"  # noqa: E501
    assert "'.*[('" in reason(GERMAN, said.format(".*[("))
