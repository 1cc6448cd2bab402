"""Did you mean …?"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.core.suggest import did_you_mean, nearest, no_file

COLUMNS = ["age", "sex", "zip_code", "diagnosis", "date of birth", "größe"]


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("agee", "age"),
        ("AGE", "age"),
        ("zip", "zip_code"),
        ("zip-code", "zip_code"),
        ("ZipCode", "zip_code"),
        ("diagnoses", "diagnosis"),
        ("daignosis", "diagnosis"),
        ("birth date", None),
        ("grosse", "größe"),
        ("", None),
        ("x", None),
        ("---", None),
    ],
)
def test_the_nearest_word_is_found_or_none(word: str, meant: str | None) -> None:
    assert nearest(word, COLUMNS) == meant


def test_no_choices_no_suggestion() -> None:
    assert nearest("age", []) is None
    assert did_you_mean("age", []) == ""


def test_a_message_ends_with_the_question() -> None:
    assert did_you_mean("sxe", COLUMNS) == "; did you mean 'sex'?"
    assert did_you_mean("sxe", COLUMNS, before=", ") == ", did you mean 'sex'?"


@given(st.lists(st.text(min_size=1), min_size=1), st.text())
def test_what_is_found_is_one_of_the_choices_and_a_word_is_nearest_to_itself(
    choices: list[str], word: str
) -> None:
    assert nearest(word, choices) in (None, *choices)
    alone = choices[0]
    assert nearest(alone, [alone]) == alone


def test_a_file_beside_the_one_that_is_not_there_may_be_meant(tmp_path):
    for name in ("stays.csv", "new.csv"):
        (tmp_path / name).touch()
    assert no_file(tmp_path / "stay.csv") == "no such file; did you mean 'stays.csv'?"
    assert no_file(tmp_path / "stays.parquet") == "no such file; did you mean 'stays.csv'?"
    assert no_file(tmp_path / "inside.csv") == "no such file; check the path"
    assert no_file(tmp_path / "none" / "stays.csv") == "no such file; check the path"
