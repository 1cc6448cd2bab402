"""The command `warm`: what it did, for people and as JSON."""

from __future__ import annotations

import json

import pytest

from shoal.jobs import warm as jobs

DONE = [jobs.Warmed("mondrian", 2, 1, 0.5), jobs.Warmed("encode", 0, 3, 0.25)]


@pytest.fixture(autouse=True)
def pretend(monkeypatch, tmp_path):
    monkeypatch.setattr(jobs, "warm", lambda: iter(DONE))
    monkeypatch.setattr(jobs, "folder", lambda: tmp_path)


def test_it_says_what_each_job_compiled_and_where_that_is_kept(run, tmp_path):
    done = run("warm")
    assert done.code == 0
    first, second, last = done.out.splitlines()
    assert first.split() == ["mondrian", "2", "compiled", "1", "loaded", "0.5", "s"]
    assert second.split()[0] == "encode"
    assert last == f"2 kernels compiled, 4 loaded in 0.8 s; kept in {tmp_path}"


def test_json_is_one_document(run, tmp_path):
    document = json.loads(run("warm", "--json").out)
    assert document["compiled"] == 2
    assert document["loaded"] == 4
    assert document["folder"] == str(tmp_path)
    assert document["seconds"] == 0.75
    assert document["jobs"][0] == {"job": "mondrian", "compiled": 2, "loaded": 1, "seconds": 0.5}


def test_quiet_prints_nothing(run):
    assert run("warm", "--quiet").out == ""


def test_without_a_folder_that_is_said(run, monkeypatch):
    monkeypatch.setattr(jobs, "folder", lambda: None)
    assert run("warm").out.splitlines()[-1].endswith("not kept")
    assert json.loads(run("warm", "--json").out)["folder"] is None
