from __future__ import annotations

import builtins

from tests.conftest import call as shoal

from shoal.service.tokens import read_tokens


def test_a_client_is_added_and_its_token_shown_once(tmp_path):
    path = tmp_path / "clients.txt"
    added = shoal("serve", "--tokens", str(path), "--add", "research")
    assert added.code == 0
    assert read_tokens(path).client(f"Bearer {added.out.strip()}") == "research"
    again = shoal("serve", "--tokens", str(path), "--add", "research")
    assert (again.code, again.out) == (2, "")
    assert "already" in again.err


def test_what_would_let_others_in_is_refused(tmp_path):
    answer = shoal("serve", "--host", "0.0.0.0")
    assert answer.code == 2
    assert "--tls-cert" in answer.err
    answer = shoal("serve", "--max-upload", "0")
    assert answer.code == 2
    assert "upload must be above 0" in answer.err


def test_without_its_packages_it_names_the_extra(monkeypatch):
    real = builtins.__import__

    def absent(name, *rest, **more):
        if name == "shoal.service.serve":
            raise ModuleNotFoundError("No module named 'uvicorn'", name="uvicorn")
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", absent)
    answer = shoal("serve")
    assert answer.code == 2
    assert "shoal[serve]" in answer.err
