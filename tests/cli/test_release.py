"""What `anonymize` and `learn` say of their own work."""

from __future__ import annotations

import json
import time

import pytest

from shoal import api
from shoal.pipeline import Job

FLAGS = ("--qi", "age", "--numeric", "age")


@pytest.fixture
def table(tmp_path):
    place = tmp_path / "t.csv"
    place.write_text("age\n" + "".join(f"{20 + i % 30}\n" for i in range(300)))
    return place


def test_learn_json_has_the_time_of_building_the_model_in_a_phase_and_in_the_total(
    tmp_path, table, run, monkeypatch
):
    build, write = Job.model, api.write_model

    def slow_build(*given, **more):
        time.sleep(0.4)
        return build(*given, **more)

    def slow_write(*given, **more):
        time.sleep(0.3)
        return write(*given, **more)

    monkeypatch.setattr(Job, "model", slow_build)
    monkeypatch.setattr(api, "write_model", slow_write)
    began = time.perf_counter()
    answer = run("learn", table, *FLAGS, "--json", "-k", 5, "--model", tmp_path / "m.json")
    whole = time.perf_counter() - began
    found = json.loads(answer.out)
    seconds = found["seconds"]
    assert seconds["model"] >= 0.4
    assert seconds["write"] >= 0.3
    phases = sum(spent for name, spent in seconds.items() if name != "total")
    assert phases - 0.001 <= seconds["total"] <= whole
    assert phases > 0.9 * seconds["total"]
    assert found["cpu_seconds"]["model"] >= 0


def told(run, tmp_path, *argv, word, releases=True):
    """Run a command; return its one warning, which stands before every number."""
    page = tmp_path / "r.html"
    report = ("--report", page) if releases else ()
    found = json.loads(run(*argv, *report, "--json").out)
    (text,) = [warning for warning in found["warnings"] if word in warning]
    plain = run(*argv)
    assert plain.code == 0
    assert plain.out.splitlines()[1] == f"  WARNING     {text}"
    if releases:
        assert text in page.read_text().partition("The promise")[0]
    return text


def test_k_1_is_said_in_one_line(tmp_path, table, run):
    out, model = ("--out", tmp_path / "o.csv", "--no-attacks"), ("--model", tmp_path / "m.json")
    told(run, tmp_path, "anonymize", table, *FLAGS, "-k", 1, *out, word="nothing is promised")
    alone = {"word": "nothing is promised", "releases": False}
    told(run, tmp_path, "verify", table, *FLAGS, "-k", 1, **alone)
    told(run, tmp_path, "learn", table, *FLAGS, "-k", 1, *model, **alone)
    answer = run("anonymize", table, *FLAGS, "-k", 2, *out)
    assert "WARNING" not in answer.out


def test_a_release_that_lost_everything_is_said_in_one_line(tmp_path, table, run):
    flags = (*FLAGS, "-k", 300, "--out", tmp_path / "o.csv", "--no-attacks")
    told(run, tmp_path, "anonymize", table, *flags, word="everything is lost (NCP 1)")
    centroid = ("--method", "mdav", "--release", "aggregate")
    told(run, tmp_path, "anonymize", table, *flags, *centroid, word="everything is lost: the cent")


@pytest.fixture
def lonely(tmp_path):
    """A table in which four fifths of the records stand alone."""
    place = tmp_path / "l.csv"
    rows = [f"a{i}" for i in range(80)] + ["b"] * 20
    place.write_text("zip\n" + "\n".join(rows) + "\n")
    return place


def test_a_promise_met_by_suppressing_nearly_all_is_said_in_one_line(tmp_path, lonely, run):
    flags = ("--qi", "zip", "--categorical", "zip", "-k", 5, "--suppression-limit", 0.9)
    told(
        run, tmp_path, "anonymize", lonely, *flags, "--method", "flash", "--out",
        tmp_path / "o.csv", "--no-attacks", word="80 of 100 records (80.0 %) are suppressed",
    )  # fmt: skip


@pytest.mark.local("streams and xk")
def test_encode_and_xk_say_that_nearly_all_is_suppressed(tmp_path, lonely, run):
    flags = ("--qi", "zip", "--categorical", "zip", "-k", 5)
    known = tmp_path / "known.csv"
    known.write_text("zip\n" + "b\n" * 20)
    model, out = tmp_path / "m.json", tmp_path / "o.csv"
    assert run("learn", known, *flags, "--model", model, "--quiet").code == 0
    words = {"word": "80 of 100 records", "releases": False}
    told(run, tmp_path, "encode", model, lonely, "--safe", "--out", out, **words)
    told(run, tmp_path, "encode", model, lonely, "--out", out, **words)
    xk = ("--method", "xk", "--xk", 5, "--suppression-limit", 0.9)
    told(run, tmp_path, "anonymize", lonely, *flags, *xk, "--out", out, **words)
