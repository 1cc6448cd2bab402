from __future__ import annotations

from inspect import signature
from typing import TypedDict

import pytest

from shoal.jobs.spelled import spelled


class Words(TypedDict, total=False):
    k: int | None
    method: str | None


@spelled(Words)
def asked(table: object, *, out: str | None = None, **words: object) -> object:
    """Do it."""
    return table, out, words


def test_every_keyword_stands_in_the_signature():
    found = signature(asked)
    assert list(found.parameters) == ["table", "out", "k", "method"]
    assert found.parameters["k"].default is None
    assert found.parameters["k"].annotation == "int | None"
    assert asked.__doc__ == "Do it."


def test_keywords_that_are_known_go_through():
    assert asked("t", out="o", k=3) == ("t", "o", {"k": 3})


@pytest.mark.parametrize(
    ("word", "said"),
    [("methd", "method"), ("effort", r"method=shoal\.Refine\(effort="), ("zzzzzz", "unexpected")],
)
def test_a_word_that_is_not_known_is_answered_with_what_is_near(word, said):
    with pytest.raises(TypeError, match=rf"asked\(\) got an unexpected keyword.*{word}") as caught:
        asked("t", **{word: 1})
    assert caught.match(said)
