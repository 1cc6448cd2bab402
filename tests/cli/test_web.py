from __future__ import annotations

import builtins

import pytest
from tests.conftest import call as shoal

from shoal.web import serve as serving


@pytest.fixture
def asked(monkeypatch) -> list:
    found: list = []
    monkeypatch.setattr(serving, "serve", lambda request: found.append(request) or 0)
    monkeypatch.delenv("SHOAL_WEB_PASSWORD", raising=False)
    return found


def test_words_become_a_request(asked):
    assert shoal("web", "a.csv", "--port", "8600", "--no-open", "--project", "p").code == 0
    (request,) = asked
    assert (request.table, request.port, request.opens, request.project) == (
        "a.csv", 8600, False, "p"
    )  # fmt: skip
    assert request.host is request.password is None


def test_a_password_comes_from_the_environment_and_leaves_it(asked, monkeypatch):
    monkeypatch.setenv("SHOAL_WEB_PASSWORD", "correct horse battery")
    words = ("--host", "w.example", "--tls-cert", "c.pem", "--tls-key", "k.pem", "--no-open")
    assert shoal("web", *words).code == 0
    import os

    assert asked[0].password == "correct horse battery"
    assert "SHOAL_WEB_PASSWORD" not in os.environ


def test_without_a_terminal_a_host_needs_the_password_first(asked, monkeypatch):
    monkeypatch.setattr("sys.stdin.isatty", lambda: False, raising=False)
    answer = shoal("web", "--host", "w.example")
    assert answer.code == 2
    assert "SHOAL_WEB_PASSWORD" in answer.err
    assert not asked


def test_without_the_extra_it_says_what_to_install(monkeypatch):
    real = builtins.__import__

    def absent(name, *rest, **more):
        if name == "shoal.web.serve":
            raise ModuleNotFoundError("No module named 'nicegui'", name="nicegui")
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", absent)
    answer = shoal("web")
    assert answer.code == 2
    assert "shoal[web]" in answer.err


def test_faults_are_named_together():
    answer = shoal("web", "--port", "99999", "--tls-cert", "c.pem")
    assert answer.code == 2
    assert "--port" in answer.err
    assert "--tls-cert" in answer.err


def test_help_says_what_is_safe():
    text = shoal("web", "--help").out
    for word in ("below this folder", "--no-open", "--host", "SHOAL_WEB_PASSWORD"):
        assert word in " ".join(text.split())
