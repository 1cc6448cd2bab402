"""Colours on a terminal, none in a pipe."""

from __future__ import annotations

import io

import pytest

from shoal.cli import colour


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture(autouse=True)
def _plain(monkeypatch):
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm")


@pytest.mark.parametrize(
    ("given", "terminal", "pipe"),
    [
        ({}, True, False),
        ({"NO_COLOR": "1"}, False, False),
        ({"NO_COLOR": ""}, True, False),
        ({"FORCE_COLOR": "1"}, True, True),
        ({"FORCE_COLOR": "0"}, True, False),
        ({"NO_COLOR": "1", "FORCE_COLOR": "1"}, False, False),
        ({"TERM": "dumb"}, False, False),
    ],
)
def test_who_decides(monkeypatch, given, terminal, pipe):
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    assert colour.is_coloured(Terminal()) is terminal
    assert colour.is_coloured(io.StringIO()) is pipe


def test_an_answer_says_the_same_in_colours():
    text = "NOT safe\n  WARNING     column\n  promise     k-anonymity k=5: BROKEN (worst class: 1)"
    shown = colour.answer(text, Terminal())
    assert "\x1b[1;31mNOT safe\x1b[0m" in shown
    assert "\x1b[1;31m: BROKEN\x1b[0m" in shown
    assert "\x1b[1;33m  WARNING\x1b[0m" in shown
    assert colour.answer(text, io.StringIO()) == text
