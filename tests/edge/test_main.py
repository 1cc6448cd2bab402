"""The command of small machines: lines through standard input and output, and exit codes."""

from __future__ import annotations

import io
import json
import os
import stat
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from tests.golden.generate import lines

from shoal.edge.__main__ import USAGE, main

GOLDEN = Path(__file__).resolve().parents[1] / "golden"
SOURCE = Path(__file__).resolve().parents[2] / "src"
MODEL = GOLDEN / "mondrian.model.json"


def command(*words, source=b"", **more):
    environment = {**os.environ, "PYTHONPATH": str(SOURCE)}
    return subprocess.run(
        [sys.executable, "-m", "shoal.edge", *map(str, words)],
        input=source, capture_output=True, timeout=60, env=environment, check=False, **more,
    )  # fmt: skip


def test_the_command_encodes_a_stream(tmp_path):
    given = (GOLDEN / "lines.jsonl").read_bytes()
    aside = tmp_path / "rejects.jsonl"
    done = command("encode", MODEL, "--rejects", aside, "--json", source=given)
    assert done.returncode == 0, done.stderr
    counts = json.loads(done.stderr)
    assert counts["released"] == len(done.stdout.decode().split("\n")) - 1
    assert counts["rejected"] == len(aside.read_bytes().splitlines())
    assert stat.S_IMODE(aside.stat().st_mode) == 0o600  # lines as they came in
    assert command("verify", MODEL, source=done.stdout).returncode == 1
    assert command("metrics", MODEL, source=b"\n".join(given.split(b"\n")[:20])).returncode == 0


def test_the_command_says_what_is_wrong():
    assert command().returncode == 2
    assert command("--help").returncode == 0
    for words in (
        ["encode"], ["fly", MODEL], ["encode", MODEL, "--fast"], ["encode", "no-such-file.json"],
        ["encode", MODEL, "--on-unseen", "guess"], ["encode", MODEL, "--sep"],
    ):  # fmt: skip
        done = command(*words)
        assert done.returncode == 2
        assert done.stderr.startswith(b"shoal.edge: ")
        assert b"Traceback" not in done.stderr


def test_a_line_is_handed_on_before_the_next_one_comes():
    environment = {**os.environ, "PYTHONPATH": str(SOURCE)}
    process = subprocess.Popen(
        [sys.executable, "-m", "shoal.edge", "encode", str(MODEL)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment,
    )  # fmt: skip
    for line in lines(records=3):
        process.stdin.write(line.encode() + b"\n")
        process.stdin.flush()
        assert process.stdout.readline().endswith(b"}\n")
    process.stdin.close()
    process.stdout.close()
    assert process.wait(30) == 0


@pytest.fixture
def call(monkeypatch):
    """Run the command in this process: exit code, output and what it says."""

    def run(*words, source=b""):
        out, err = io.BytesIO(), io.StringIO()
        text = io.TextIOWrapper(out, encoding="utf-8", write_through=True)
        monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(source)))
        monkeypatch.setattr(sys, "stdout", text)
        monkeypatch.setattr(sys, "stderr", err)
        code = main([str(word) for word in words])
        return code, out.getvalue().decode(), err.getvalue()

    return run


def rows(size):
    given = (GOLDEN / "lines.jsonl").read_text(encoding="utf-8").splitlines()[:size]
    return [{k: v for k, v in json.loads(line).items() if k != "name"} for line in given]


def test_help_is_the_usage(call):
    assert call("--help") == (0, USAGE, "")
    assert call("encode", MODEL, "-h")[0] == 0
    assert call() == (2, USAGE, "")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["encode"], "give a command and a model file"),
        (["fly", MODEL], "give a command and a model file"),
        (["encode", MODEL, MODEL], "give a command and a model file"),
        (["encode", MODEL, "--fast"], "--fast: no such option; see --help"),
        (["encode", MODEL, "--sep"], "--sep needs a value"),
        (["encode", MODEL, "--on-unseen", "guess"], "on_unseen must be suppress, nearest or error"),
        (["encode", MODEL, "--suppressed", "hide"], "suppressed must be star or remove"),
        (["verify", MODEL], "there is no record"),
    ],
)
def test_a_fault_is_one_line_and_exit_2(call, words, says):
    code, out, err = call(*words)
    assert (code, out) == (2, "")
    assert err == f"shoal.edge: {says}\n"


def test_counts_are_said_where_records_are_not_released_as_they_should(call):
    unseen = json.dumps(dict.fromkeys(rows(1)[0], "none of this")).encode()
    assert call("encode", MODEL, source=unseen)[2] == (
        "1 records, 1 released, 1 suppressed, 1 unseen, 0 rejected\n"
    )
    code, out, err = call("encode", MODEL, "--suppressed", "remove", "--json", source=unseen)
    assert (code, out) == (0, "")
    assert json.loads(err) == {
        "records": 1, "released": 0, "suppressed": 1, "unseen": 1, "rejected": 0,
    }  # fmt: skip


def test_verify_exits_1_where_the_promise_is_broken(call):
    one = [{**row, "note": "x"} for row in rows(1)]
    for size, wanted in ((3, 1), (4, 0)):
        source = "\n".join(json.dumps(row) for row in one * size).encode()
        code, out, err = call("verify", MODEL, source=source)
        assert (code, err) == (wanted, "")
        assert json.loads(out)["holds"] is (wanted == 0)
        assert json.loads(out)["smallest_class"] == size


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_records_may_be_csv_with_any_separator(call, separator):
    names = list(rows(1)[0])
    text = separator.join(names) + "\n" + (separator.join(["1"] * len(names)) + "\n") * 5
    code, out, _ = call("verify", MODEL, source=b"\xef\xbb\xbf" + text.encode())
    assert (code, json.loads(out)["records"]) == (0, 5)
    code, out, _ = call("metrics", MODEL, source=text.encode())
    assert (code, json.loads(out)["records"]) == (0, 5)


def test_metrics_prints_one_document(call):
    source = "\n".join(json.dumps(row) for row in rows(20)).encode()
    code, out, err = call("metrics", MODEL, source=source)
    assert (code, err) == (0, "")
    assert set(json.loads(out)) == {
        "records", "released", "suppressed", "unseen", "rejected", "classes",
        "smallest_class", "ncp",
    }  # fmt: skip


def test_a_reader_that_goes_away_ends_the_command(monkeypatch):
    class Gone(io.RawIOBase):
        def write(self, _):
            raise BrokenPipeError

    err = io.StringIO()
    line = json.dumps(rows(1)[0]).encode()
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(line)))
    monkeypatch.setattr(sys, "stdout", SimpleNamespace(buffer=Gone()))
    monkeypatch.setattr(sys, "stderr", err)
    assert main(["encode", str(MODEL)]) == 2
    assert err.closed
