"""The account of a release: numbers and words in the page's language."""

from __future__ import annotations

import pytest

from shoal.reports.fidelity import WAYS, fidelity_words
from shoal.reports.words import KNOWS, MEASURES, QUESTIONS
from shoal.web.panels.account import _decimal, number, promises, worded
from shoal.web.texts import LANGUAGES, Texts, catalogue

ENGLISH, GERMAN = Texts("en"), Texts("de")


@pytest.mark.parametrize(
    ("group", "said"), [("says", MEASURES), ("knows", KNOWS), ("question", QUESTIONS)]
)
def test_every_word_of_the_reports_has_one_in_the_catalogue(group, said):
    for name, english in said.items():
        assert worded(ENGLISH, group, name, "none") == english
        assert worded(GERMAN, group, name, "none") not in ("none", english)


def test_what_the_catalogue_does_not_know_is_said_as_the_report_does():
    assert worded(GERMAN, "attack", "brand-new attack") == "brand-new attack"
    assert worded(GERMAN, "says", "unheard", "its sentence") == "its sentence"


@pytest.mark.parametrize(
    ("text", "german"),
    [("7,872.57", "7.872,57"), ("0.224931", "0,224931"), ("29,086", "29.086"), ("-1.5", "−1,5"),
     ("3 of 4", "3 of 4"), ("", ""), ("1e-9", "1e-9")],
)  # fmt: skip
def test_numbers_of_a_report_are_read_in_the_pages_language(text, german):
    assert _decimal(text, GERMAN) == german


def test_the_three_numbers_are_said_in_both_languages():
    risk = {"name": "risk", "text": "20 %", "share": 0.2, "sentence": "for the record"}
    records = {"name": "records", "text": "5,000", "share": 1.0, "sentence": "released"}
    squared = {"name": "loss", "text": "3 %", "share": 0.03, "sentence": "(squared error)"}
    assert number(risk, {}, "record", GERMAN)[:2] == ("Risiko", "20,0\u00a0%")
    assert "person" in number(risk, {}, "person", ENGLISH)[2]
    assert number(records, {"released": 5000}, "record", GERMAN)[1] == "5.000"
    assert number(records, {}, "record", GERMAN)[1] == "5,000"  # as the report says it
    assert "quadratisch" in number(squared, {}, "record", GERMAN)[2]


def test_promises_are_said_in_plain_words_with_what_was_found():
    run = {"privacy": [
        {"model": "k-anonymity", "parameters": {"k": 5}, "holds": True, "value": 7},
        {"model": "l-diversity", "parameters": {"l": 2, "column": "diagnosis"}, "value": 2},
    ]}  # fmt: skip
    first, second = promises({}, run, ENGLISH)
    assert "with at least 5 records" in first
    assert first.endswith("Found: 7.")
    assert second.startswith("l-diversity (diagnosis): ")
    assert promises({"promises": [{"model": "x", "words": "y"}]}, {}, ENGLISH) == ["x: y"]


def test_every_group_of_words_has_both_languages():
    keys = [key for key in catalogue() if key.startswith("account.")]
    assert len(keys) > 30
    assert all(set(catalogue()[key]) == set(LANGUAGES) for key in keys)


def test_what_is_said_of_fidelity_and_of_models_has_words_in_both_languages():
    found = {
        "k_marginal": 900.0, "query_error": {"mean": 0.1, "median": 0.1}, "pmse_ratio": 2.0,
        "total_variation": {"a": 0.1}, "kolmogorov_smirnov": {"a": 0.1},
        "correlation_change": {"mean": 0.1, "largest": 0.2},
        "association_change": {"mean": 0.1, "largest": 0.2},
        "unique_exact_matches": {"records": 1, "unique": 4},
    }  # fmt: skip
    lines = fidelity_words(found)
    assert len(lines) == 8
    for name, _, says in lines:
        assert worded(ENGLISH, "fidelity", name, "none") == says
        assert worded(GERMAN, "fidelity", name, "none") not in ("none", says)
    for way in WAYS.values():
        assert worded(ENGLISH, "way", way) == way
        assert worded(GERMAN, "way", way) != way
