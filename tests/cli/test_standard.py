"""`-`: a table from standard input, a verified release to standard output."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
import tempfile

import polars as pl
import pytest
from tests.conftest import ROOT

TABLE = "age,zip,dx\n" + "".join(f"{20 + i % 7},Z{i % 3},d{i % 2}\n" for i in range(60))
ASK = ("--qi", "age,zip", "--sensitive", "dx", "-k", "3", "--quiet")
GIVEN = TABLE.encode()
pytestmark = pytest.mark.local("standard streams need the local engine")


@pytest.fixture
def pipe(tmp_path):
    """Return the command line as a process whose standard streams are pipes."""
    scratch = tmp_path / "scratch"
    scratch.mkdir()

    def run(*words, given=GIVEN):
        environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "TMPDIR": str(scratch)}
        done = subprocess.run(
            [sys.executable, "-m", "shoal", *map(str, words)], input=given, env=environment,
            capture_output=True, cwd=tmp_path,
        )  # fmt: skip
        assert list(scratch.iterdir()) == [], "a copy of the table was left behind"
        return done

    return run


def test_a_pipe_releases_what_files_release(pipe, tmp_path):
    (tmp_path / "t.csv").write_text(TABLE)
    assert pipe("anonymize", "t.csv", *ASK, "--out", "r.csv").returncode == 0
    done = pipe("anonymize", "-", *ASK, "--out", "-")
    assert done.returncode == 0
    assert done.stdout == (tmp_path / "r.csv").read_bytes()
    assert done.stderr == b""
    assert pipe("verify", "-", "--qi", "age,zip", "-k", "3", given=done.stdout).returncode == 0
    assert pipe("verify", "-", "--qi", "age,zip", "-k", "3").returncode == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["r.csv", "scratch", "t.csv"]


def test_the_summary_and_the_document_stay_out_of_the_release(pipe):
    plain = pipe("anonymize", "-", *ASK[:-1], "--out", "-")
    assert b"records released in standard output" in plain.stderr
    told = pipe("anonymize", "-", *ASK[:-1], "--out", "-", "--json")
    assert told.stdout == plain.stdout
    document = json.loads(told.stderr.splitlines()[-1])
    assert document["request"]["table"] == "-"
    assert document["request"]["output"]["out"] == "-"


@pytest.mark.parametrize("json_too", [(), ("--json",)], ids=["text", "json"])
@pytest.mark.parametrize(("k", "code"), [("99", 1), ("0", 2)])
def test_nothing_reaches_standard_output_unless_it_is_verified(pipe, k, code, json_too):
    done = pipe("anonymize", "-", *ASK[:4], "-k", k, "--out", "-", *json_too)
    assert done.returncode == code
    assert done.stdout == b""
    assert done.stderr.count(b"\n") == 1
    if json_too:
        assert json.loads(done.stderr)["error"]["exit_code"] == code


def test_a_release_that_fails_its_verification_is_not_printed(tmp_path, monkeypatch, capsysbinary):
    from shoal.cli import standard
    from shoal.cli.main import main
    from shoal.core.errors import UnsafeReleaseError

    def refuse(*_):
        raise UnsafeReleaseError(problem="broken; nothing was written")

    (tmp_path / "t.csv").write_text(TABLE)
    monkeypatch.setattr("shoal.jobs.release.check_verified", refuse)
    assert main(["anonymize", str(tmp_path / "t.csv"), *ASK, "--out", "-"]) == 1
    assert capsysbinary.readouterr().out == b""
    assert standard._now.folder is None


@pytest.mark.parametrize("kind", ["csv", "gzip", "parquet", "arrow", "jsonl"])
def test_what_comes_in_says_itself_what_it_is(pipe, tmp_path, kind):
    frame = pl.read_csv(TABLE.encode())
    place = tmp_path / "scratch-free.bin"
    {"csv": lambda: place.write_text(TABLE),
     "gzip": lambda: place.write_bytes(gzip.compress(TABLE.encode())),
     "parquet": lambda: frame.write_parquet(place),
     "arrow": lambda: frame.write_ipc(place),
     "jsonl": lambda: frame.write_ndjson(place)}[kind]()  # fmt: skip
    done = pipe("verify", "-", "--qi", "zip", "-k", "2", "--json", given=place.read_bytes())
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["records"] == 60


@pytest.mark.parametrize(
    ("given", "words"),
    [(b"", b"empty"), (b"age,zip,dx\n1,2\n", b"line 2"), (b"age,zip,dx\n1,\xff,2\n", b"UTF-8")],
)
def test_a_message_names_standard_input_and_no_private_path(pipe, given, words):
    done = pipe("anonymize", "-", *ASK, "--out", "-", given=given)
    assert done.returncode == 2
    assert b"standard input" in done.stderr
    assert words in done.stderr
    assert tempfile.gettempprefix().encode() + b"shoal" not in done.stderr
    assert b"standard-input" not in done.stderr


def test_a_safe_batch_goes_through_a_pipe(pipe, tmp_path):
    (tmp_path / "t.csv").write_text(TABLE)
    learned = pipe("learn", "t.csv", *ASK, "--model", "m.json")
    assert learned.returncode == 0, learned.stderr
    assert pipe("encode", "m.json", "t.csv", "--safe", "--out", "e.csv", "--quiet").returncode == 0
    done = pipe("encode", "m.json", "-", "--safe", "--out", "-", "--quiet")
    assert done.returncode == 0, done.stderr
    assert done.stdout == (tmp_path / "e.csv").read_bytes()
    done = pipe("encode", "m.json", "-", "--out", "f.csv", "--quiet")
    assert (done.returncode, done.stdout) == (0, b"")
    assert (tmp_path / "f.csv").is_file()
