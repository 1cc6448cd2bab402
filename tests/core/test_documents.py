from __future__ import annotations

import errno
import sys
from datetime import date
from enum import StrEnum
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.core.documents import (
    Json,
    as_json,
    parse_json,
    parse_yaml,
    read_document,
    read_text,
    reason,
    to_yaml,
)
from shoal.core.errors import InputError


def test_yaml_and_json_say_the_same(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("k: [1, two]\n")
    (tmp_path / "a.json").write_text('{"k": [1, "two"]}')
    assert read_document(tmp_path / "a.yaml") == read_document(tmp_path / "a.json")


def test_a_byte_order_mark_is_dropped(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_bytes(b'\xef\xbb\xbf{"a": 1}')
    assert read_document(tmp_path / "a.json") == {"a": 1}


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{", "not JSON"),
        ('{"a": 1, "a": 2}', "named twice: 'a'"),
        ("[" * 100_000, "nested too deeply"),
    ],
)
def test_bad_json_is_refused(text: str, problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        parse_json(text, where="x.json")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("a: [", "not YAML"),
        ("a: 1\na: 2", "named twice"),
        ("!!python/object/apply:os.system ['true']", "not YAML"),
        ("? [1, 2]\n: x", "plain name"),
    ],
)
def test_bad_or_hostile_yaml_is_refused(text: str, problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        parse_yaml(text, where="x.yaml")


def test_a_file_that_is_too_large_absent_or_not_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "big").write_text("x" * 100)
    with pytest.raises(InputError, match="larger than"):
        read_text(tmp_path / "big", most_bytes=10)
    with pytest.raises(InputError, match="no such file"):
        read_text(tmp_path / "none")
    (tmp_path / "bytes").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="not UTF-8"):
        read_text(tmp_path / "bytes")


TEXTS = st.text(max_size=8) | st.sampled_from(
    ["no", "1", "1e3", "2024-03-17", "~", "", " a", "a: b"]
)
DOCUMENTS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)


@given(document=DOCUMENTS)
@settings(max_examples=150, deadline=None)
def test_what_is_written_as_yaml_reads_back(document: Json) -> None:
    assert parse_yaml(to_yaml(document), where="x.yaml") == document


def test_yaml_repeats_a_part_instead_of_pointing_at_it() -> None:
    shared: list[Json] = ["a", "b"]
    assert to_yaml({"one": shared, "two": shared}) == "one:\n- a\n- b\ntwo:\n- a\n- b\n"


def test_keys_keep_the_order_in_which_they_were_given() -> None:
    assert list(to_yaml({"b": 1, "a": 2}).splitlines()) == ["b: 1", "a: 2"]


class Word(StrEnum):
    ONE = "one"


def test_plain_data_becomes_what_json_has() -> None:
    given = {"a": (1, 2.5, None), 3: [True, Word.ONE], "b": {"c": ()}}
    found = as_json(given)
    assert found == {"a": [1, 2.5, None], "3": [True, "one"], "b": {"c": []}}
    assert type(as_json(Word.ONE)) is str
    assert type(as_json(np.float64(0.5))) is float


@given(document=DOCUMENTS)
@settings(max_examples=50, deadline=None)
def test_a_document_is_plain_already(document: Json) -> None:
    assert as_json(document) == document


@pytest.mark.parametrize("value", [{1, 2}, object(), b"x", date(2024, 3, 17), [lambda: 0]])
def test_what_json_does_not_know_is_refused(value: object) -> None:
    with pytest.raises(TypeError, match="is nothing that JSON knows"):
        as_json(value)


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (OSError(errno.ENOSPC, ""), "no space left on device; free some space"),
        (OSError(errno.ENOENT, ""), "no such file or directory; check the path"),
        (OSError("x (os error 13)"), "permission denied; choose another folder"),
        (OSError("in words only"), "oserror"),
    ],
)
def test_a_refusal_of_the_system_is_said_with_what_helps(error: OSError, words: str) -> None:
    assert reason(error).startswith(words)


def test_a_document_without_pyyaml_is_json(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "yaml", None)
    assert parse_json(to_yaml({"k": [1, "a"]}), where="x") == {"k": [1, "a"]}
    with pytest.raises(InputError, match="reading YAML needs PyYAML"):
        parse_yaml("k: 1", where="x.yaml")


def test_numbers_and_dates_that_cannot_be_read_are_refused() -> None:
    with pytest.raises(InputError, match="holds a number or date that cannot be read"):
        parse_yaml("day: 2024-02-99", where="x.yaml")
    with pytest.raises(InputError, match="holds a number that cannot be read"):
        parse_json("9" * 5000, where="x.json")
