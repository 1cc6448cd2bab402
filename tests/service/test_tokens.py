from __future__ import annotations

import stat

import pytest

from shoal.core.errors import InputError, OutputError
from shoal.service.tokens import add_client, new_token, read_tokens, tokens_of


def test_a_client_is_added_and_known_by_the_token_alone(tmp_path):
    path = tmp_path / "clients.txt"
    one, two = add_client(path, "ward-1"), add_client(path, "ward-2")
    tokens = read_tokens(path)
    assert tokens.client(f"Bearer {one}") == "ward-1"
    assert tokens.client(f"bearer {two}") == "ward-2"
    assert tokens.client(f"Basic {one}") is None
    assert tokens.client("") is None
    assert tokens.client(f"Bearer {one}x") is None
    assert one not in path.read_text()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_tokens_cannot_be_guessed():
    assert len({new_token() for _ in range(100)}) == 100
    assert len(new_token()) >= 43
    assert tokens_of(a="x").client("Bearer x") == "a"


@pytest.mark.parametrize("name", ["", "a b", "../x", "ü", "a" * 65])
def test_a_name_is_a_word(tmp_path, name):
    with pytest.raises(InputError, match="--add"):
        add_client(tmp_path / "clients.txt", name)


def test_a_client_is_not_added_twice(tmp_path):
    add_client(tmp_path / "clients.txt", "ward")
    with pytest.raises(InputError, match="already"):
        add_client(tmp_path / "clients.txt", "ward")
    with pytest.raises(OutputError):
        add_client(tmp_path / "no" / "clients.txt", "ward")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "names no client"),
        ("# a comment\n", "names no client"),
        ("ward\n", "line 1 is no NAME"),
        (f"a {'0' * 64}\na {'1' * 64}\n", "line 2 names"),
        (f"a {'0' * 64}\nb {'0' * 64}\n", "line 2 names"),
        (f"a {'0' * 63}\n", "line 1"),
    ],
)
def test_a_file_of_tokens_that_cannot_be_meant_is_refused(tmp_path, text, problem):
    path = tmp_path / "clients.txt"
    path.write_text(text)
    with pytest.raises(InputError, match=problem):
        read_tokens(path)
