"""Which model files the commands take: flags, streams and refusals that say how to go on."""

from __future__ import annotations

import json

import pytest

pytestmark = pytest.mark.local("model files")
FLAGS = ("--qi", "age,place", "--numeric", "age", "-k", 4)


@pytest.fixture
def model(tmp_path, run):
    """Return a model file and the table that it was learned from."""
    table, place = tmp_path / "t.csv", tmp_path / "m.json"
    rows = [f"{20 + i % 9},P{i % 3}\n" for i in range(200)]
    table.write_text("age,place\n" + "".join(rows))
    assert run("learn", table, *FLAGS, "--model", place).code == 0
    return place, table


def without_fingerprint(place):
    """Take the fingerprint out of a file."""
    document = json.loads(place.read_text(encoding="utf-8"))
    del document["fingerprint"]
    place.write_text(json.dumps(document), encoding="utf-8")


def changed(place):
    """Let the file say that it was learned otherwise."""
    document = json.loads(place.read_text(encoding="utf-8"))
    place.write_text(json.dumps({**document, "method": "other"}), encoding="utf-8")


@pytest.mark.parametrize(
    ("spoil", "problem"),
    [
        (without_fingerprint, "it has no fingerprint"),
        (changed, "its fingerprint does not fit it; it was changed"),
    ],
)
def test_a_spoilt_model_is_taken_only_where_that_is_said(tmp_path, run, model, spoil, problem):
    place, table = model
    spoil(place)
    out = tmp_path / "o.csv"
    refused = run("encode", place, table, "--out", out)
    assert refused.code == 2
    assert problem in refused.err
    assert not out.exists()
    assert run("encode", place, table, "--out", out, "--unsigned").code == 0
    assert out.read_text(encoding="utf-8").count("\n") == 201


def test_nothing_is_called_safe_by_a_spoilt_model(tmp_path, run, model):
    place, table = model
    without_fingerprint(place)
    out = tmp_path / "o.csv"
    refused = run("encode", place, table, "--out", out, "--unsigned", "--safe")
    assert refused.code == 2
    assert "fingerprint" in refused.err
    assert not out.exists()


def test_a_collector_takes_no_spoilt_model(tmp_path, run, model):
    place, table = model
    sent = tmp_path / "sent.jsonl"
    assert run("encode", place, table, "--out", sent).code == 0
    without_fingerprint(place)
    refused = run("settle", place, sent, "--out", tmp_path / "o.csv")
    assert refused.code == 2
    assert "fingerprint" in refused.err


def test_a_key_that_is_none_is_refused_before_the_model_is_used(tmp_path, run, model):
    place, table = model
    (tmp_path / "key.pub").write_text("Alice", encoding="ascii")
    refused = run("encode", place, table, "--out", tmp_path / "o.csv", "--trust", "key.pub")
    assert refused.code == 2
    assert "Alice" not in refused.err


@pytest.mark.parametrize(("least", "code"), [(4, 0), (5000, 2)])
def test_the_least_that_a_model_must_do(tmp_path, run, model, least, code):
    place, table = model
    assert run("encode", place, table, "--out", tmp_path / "o.csv", "--min-k", least).code == code
