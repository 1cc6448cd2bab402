"""The command `anonymize`, and what it and others say of their own work."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import pytest

import shoal
from shoal.jobs.documents import request_from
from shoal.jobs.release import release

FLAGS = ("--qi", "age", "--numeric", "age")


@pytest.fixture
def table(tmp_path):
    place = tmp_path / "t.csv"
    place.write_text("age\n" + "".join(f"{20 + i % 30}\n" for i in range(300)))
    return place


def warning_of(run, tmp_path, *argv, word, releases=True):
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
    warning_of(run, tmp_path, "anonymize", table, *FLAGS, "-k", 1, *out, word="nothing is promised")
    alone = {"word": "nothing is promised", "releases": False}
    warning_of(run, tmp_path, "verify", table, *FLAGS, "-k", 1, **alone)
    warning_of(run, tmp_path, "learn", table, *FLAGS, "-k", 1, *model, **alone)
    answer = run("anonymize", table, *FLAGS, "-k", 2, *out)
    assert "WARNING" not in answer.out


def test_a_release_that_lost_everything_is_said_in_one_line(tmp_path, table, run):
    flags = (*FLAGS, "-k", 300, "--out", tmp_path / "o.csv", "--no-attacks")
    warning_of(run, tmp_path, "anonymize", table, *flags, word="everything is lost (NCP 1)")
    centroid = ("--method", "mdav", "--release", "aggregate")
    warning_of(
        run, tmp_path, "anonymize", table, *flags, *centroid, word="everything is lost: the cent"
    )


@pytest.fixture
def lonely(tmp_path):
    """A table in which four fifths of the records stand alone."""
    place = tmp_path / "l.csv"
    rows = [f"a{i}" for i in range(80)] + ["b"] * 20
    place.write_text("zip\n" + "\n".join(rows) + "\n")
    return place


def test_a_promise_met_by_suppressing_nearly_all_is_said_in_one_line(tmp_path, lonely, run):
    flags = ("--qi", "zip", "--categorical", "zip", "-k", 5, "--suppression-limit", 0.9)
    warning_of(
        run, tmp_path, "anonymize", lonely, *flags, "--no-infer", "--method", "flash", "--out",
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
    warning_of(run, tmp_path, "encode", model, lonely, "--safe", "--out", out, **words)
    warning_of(run, tmp_path, "encode", model, lonely, "--out", out, **words)
    xk = ("--method", "xk", "--xk", 5, "--suppression-limit", 0.9)
    warning_of(run, tmp_path, "anonymize", lonely, *flags, *xk, "--out", out, **words)


@pytest.mark.local("the request of a Spark table names it so")
def test_the_request_of_the_report_repeats_the_release(tmp_path, table, run):
    out, again = tmp_path / "o.csv", tmp_path / "again.csv"
    more = ("--method", "refine", "--effort", "fast", "--seed", 3, "--suppressed", "star")
    answer = run("anonymize", table, *FLAGS, "-k", 5, *more, "--out", out, "--quiet", "--json")
    asked = json.loads(answer.out)["request"]
    assert asked["method"] == {"name": "refine", "effort": "fast"}
    assert asked["output"] == {"out": str(out), "suppressed": "star", "inputs": [str(table)]}
    request = request_from({**asked, "output": {**asked["output"], "out": str(again)}})
    release(request)
    assert again.read_bytes() == out.read_bytes()


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (("--suppressed", "zap"), "--suppressed: must be remove or star"),
        (("--no-attacks", "--weights", "age"), "options: --weights: not with --no-attacks"),
        (("--xk", 3), "options: --xk: goes with --method xk"),
        (("--xk", 3, "--level", 2), "options: --xk, --level: go with --method xk"),
        (("--threads", 0, "--suppressed", "zap"), "options: 2 faults: (1) --threads must be"),
        (("--engine", "spark", "--attacks"), "--engine: --attacks need the local engine"),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else "",
)
@pytest.mark.local("the words of the local engine")
def test_options_that_cannot_be_meant_are_named_and_nothing_is_written(
    tmp_path, table, run, flags, words
):
    answer = run("anonymize", table, *FLAGS, "-k", 5, "--out", tmp_path / "o.csv", *flags)
    assert (answer.code, answer.out) == (2, "")
    assert words in answer.err
    assert [path.name for path in tmp_path.iterdir()] == ["t.csv"]


def test_the_function_of_anonymize_stays_short():
    source = (Path(shoal.__file__).parent / "cli" / "anonymize.py").read_text(encoding="utf-8")
    (function,) = (
        node
        for node in ast.parse(source).body
        if isinstance(node, ast.FunctionDef) and node.name == "anonymize"
    )
    assert function.end_lineno - function.lineno + 1 <= 40
