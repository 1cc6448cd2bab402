from __future__ import annotations

from pathlib import Path

import pytest

from shoal.core.documents import parse_json, parse_yaml, read_document, read_text
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
