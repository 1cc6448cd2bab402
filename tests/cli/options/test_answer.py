"""How a command answers: for a program, for a person, or not at all."""

from __future__ import annotations

import io
import json

import pytest

from shoal.cli.options.answer import AnswerOptions, JsonOptions, writable

DOCUMENT = {"größe": 1}


@pytest.mark.parametrize("kind", [JsonOptions, AnswerOptions])
def test_json_is_one_document_and_else_there_are_words(capsys, kind):
    kind(json=True).print(DOCUMENT, "words")
    assert json.loads(capsys.readouterr().out) == DOCUMENT
    kind().print(DOCUMENT, "words\nmore")
    assert capsys.readouterr() == ("words\nmore\n", "")


def test_quiet_silences_words_but_not_json(capsys):
    AnswerOptions(quiet=True).print(DOCUMENT, "words")
    assert capsys.readouterr() == ("", "")
    AnswerOptions(quiet=True, json=True).print(DOCUMENT, "words")
    assert json.loads(capsys.readouterr().out) == DOCUMENT


@pytest.mark.parametrize("json_", [True, False])
@pytest.mark.parametrize("quiet", [True, False])
def test_progress_is_shown_only_to_who_reads_words(json_, quiet):
    assert AnswerOptions(json=json_, quiet=quiet).is_silent == (json_ or quiet)


@pytest.mark.parametrize(
    ("encoding", "text"), [("utf-8", "● 1 → 2"), ("ascii", "? 1 ? 2"), ("cp1252", "? 1 ? 2")]
)
def test_a_terminal_without_a_letter_gets_a_question_mark(encoding, text):
    stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    assert writable("● 1 → 2", stream) == text
    assert writable("plain", stream) == "plain"
    assert writable("● 1", object()) == "● 1"
