"""The command `encode`."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest

import shoal
from shoal.model.document import fingerprint_of

QI = ["--qi", "age,place", "--numeric", "age", "--sensitive", "dx", "-k", "4"]


def people(n: int, shift: int = 0) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "age": [str(20 + (i // 3 + shift) % 4) for i in range(n)],
            "place": [["Oslo", "Rome", "Bern"][i % 3] for i in range(n)],
            "dx": [["flu", "gout"][i % 2] for i in range(n)],
        }
    )


@pytest.fixture
def files(tmp_path: Path, run: Any) -> SimpleNamespace:
    people(300).write_csv(tmp_path / "old.csv")
    people(120, shift=3).write_csv(tmp_path / "new.csv")
    answer = run("learn", tmp_path / "old.csv", *QI, "--model", tmp_path / "m.json")
    assert answer.code == 0, answer
    return SimpleNamespace(model=tmp_path / "m.json", new=tmp_path / "new.csv", folder=tmp_path)


def test_encode_and_encode_safe_have_the_fields_of_the_design(files: Any, run: Any) -> None:
    out = files.folder / "o.csv"
    found = json.loads(run("encode", files.model, files.new, "--out", out, "--json").out)
    assert {"records", "released", "suppressed", "unseen", "rejected"} <= set(found)
    assert found["records"] == 120
    found = json.loads(run("encode", files.model, files.new, "--out", out, "--safe", "--json").out)
    assert found["released"] + found["suppressed"] == 120
    assert run("verify", out, "--qi", "age,place", "-k", 4).code == 0


def test_a_frame_is_encoded_to_a_frame_of_the_same_kind(files: Any) -> None:
    model = shoal.RecodingModel.load(files.model)
    done = shoal.encode(people(60), model, safe=True)
    assert isinstance(done.table, pl.DataFrame)
    assert done.table.schema["place"] == pl.String
    found = shoal.verify(done.table, model.schema, privacy=model.privacy)
    assert found.holds


@pytest.mark.local("standard input")
def test_a_stream_goes_line_by_line_and_bad_lines_aside(
    files: Any, run: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = files.new.read_bytes() + b"only one field\n"
    program = [sys.executable, "-m", "shoal", "encode", str(files.model), "-",
               "--rejects", str(files.folder / "bad.jsonl")]  # fmt: skip
    done = subprocess.run(program, input=text, capture_output=True, check=True)
    assert len(done.stdout.splitlines()) == 121
    counts = json.loads(done.stderr.splitlines()[-1])
    assert (counts["records"], counts["rejected"]) == (121, 1)
    assert len((files.folder / "bad.jsonl").read_text().splitlines()) == 1


@pytest.mark.parametrize(
    "arguments",
    [
        ["encode", "m.json", "new.csv"],
        ["encode", "m.json", "-", "--safe"],
        ["encode", "none.json", "new.csv", "--out", "o.csv"],
        ["encode", "new.csv", "new.csv", "--out", "o.csv"],
        ["encode", "m.json", "new.csv", "--out", "new.csv"],
        ["encode", "m.json", "new.csv", "--out", "m.json"],
        ["encode", "m.json", "new.csv", "--out", "o.csv", "--on-unseen", "guess"],
    ],
)
def test_a_question_that_cannot_be_asked_gets_one_line(
    files: Any, run: Any, monkeypatch: pytest.MonkeyPatch, arguments: list[str]
) -> None:
    monkeypatch.chdir(files.folder)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"")))
    before = {path.name: path.read_bytes() for path in files.folder.iterdir()}
    answer = run(*arguments)
    assert answer.code == 2, answer
    assert answer.err.count("\n") == 1, answer
    assert {path.name: path.read_bytes() for path in files.folder.iterdir()} == before


def test_encode_safe_needs_a_promise_and_keeps_those_of_flags(files: Any, run: Any) -> None:
    document = json.loads(files.model.read_text())
    document["schema"]["privacy"] = []
    document["fingerprint"] = fingerprint_of(document)
    bare = files.folder / "bare.json"
    bare.write_text(json.dumps(document))
    out = files.folder / "o.csv"
    answer = run("encode", bare, files.new, "--out", out, "--safe")
    assert answer.code == 2
    assert "promises nothing" in answer.err
    assert not out.exists()
    mixed = people(120).with_columns(dx=pl.Series(["flu", "gout"] * 60).sort())
    mixed.write_csv(files.new)
    more = ["--safe", "-k", 6, "--l", 2, "--json"]
    answer = run("encode", bare, files.new, "--out", out, *more)
    assert answer.code == 0, answer.err
    found = json.loads(answer.out)
    assert found["verification"]["holds"]
    assert found["verification"]["smallest_class"] >= 6
    assert len(found["verification"]["privacy"]) == 2
    answer = run("encode", files.model, files.new, "--out", out, "--safe", "-k", 3)
    assert answer.code == 2
    assert "k=4" in answer.err
    assert "k=3" in answer.err
    assert run("encode", files.model, files.new, "--out", out, "-k", 6).code == 2


def test_encode_enforces_the_roles_of_a_schema(files: Any, run: Any) -> None:
    out = files.folder / "o.csv"
    schema = files.folder / "s.yaml"
    columns = {"age": "{role: quasi, kind: numeric}", "place": "quasi", "dx": "sensitive"}
    text = "columns: {" + ", ".join(f"{n}: {r}" for n, r in columns.items()) + "}"
    schema.write_text(text)
    safe = ["--out", out, "--safe", "--schema", schema]
    assert run("encode", files.model, files.new, *safe).code == 0
    schema.write_text(text.replace("dx: sensitive", "dx: identifying"))
    answer = run("encode", files.model, files.new, *safe)
    assert answer.code == 2
    assert "'dx' is identifying here, and sensitive in the model" in answer.err
    assert run("encode", files.model, files.new, "--out", out, "--schema", schema).code == 2


def test_encode_safe_refuses_a_model_file_without_its_fingerprint(files: Any, run: Any) -> None:
    document = json.loads(files.model.read_text())
    del document["fingerprint"]
    files.model.write_text(json.dumps(document))
    out = files.folder / "o.csv"
    answer = run("encode", files.model, files.new, "--out", out, "--safe")
    assert (answer.code, out.exists()) == (2, False)
    assert "fingerprint" in answer.err


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (["-k", 9], "options: a promise (-k, --l, --t) goes with --safe"),
        (["--fold-case"], "--fold-case: goes with --safe"),
        (["--suppressed", "zap"], "--suppressed: must be remove or star"),
        (["--on-unseen", "zap"], "shoal: --on-unseen must be suppress, nearest or error"),
        (["--driver-rows", 9], "--driver-rows: goes with --engine spark"),
        (["--rejects", "x"], "--rejects: goes with a stream: give - as INPUT"),
        (["-k", 9, "--fold-case"], "2 faults: (1) a promise"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
@pytest.mark.local("the words of the local engine")
def test_faults_are_named_by_their_option(
    files: Any, run: Any, flags: list[object], words: str
) -> None:
    out = files.folder / "o.csv"
    answer = run("encode", files.model, files.new, "--out", out, *flags)
    assert answer.code == 2
    assert words in answer.err
    assert not out.exists()


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (["--safe"], "encode needs --out FILE, or --out - for standard output"),
        (["--engine", "spark"], "--engine: a stream needs the local engine"),
        (["--skip-lines", 1], "--encoding and --skip-lines go with a CSV file as INPUT"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_a_stream_cannot_be_asked(
    files: Any, run: Any, flags: list[object], words: str
) -> None:
    asked = ["encode", files.model, "-", *flags]
    answer = run(*asked) if "--engine" in flags else run(*asked, "--engine", "local")
    assert (answer.code, answer.out) == (2, "")
    assert words in answer.err


@pytest.mark.local("persons are counted by the local engine")
def test_who_stands_behind_each_record_of_a_batch_is_kept_for_verify(run, tmp_path):
    table, model, people = tmp_path / "t.csv", tmp_path / "m.json", tmp_path / "inside.csv"
    rows = "".join(f"{20 + i % 10},p{i // 2}\n" for i in range(60))
    table.write_text(f"age,who\n{rows}", encoding="utf-8")
    asked = ("--qi", "age", "--numeric", "age", "-k", "3")
    assert run("learn", table, *asked, "--person", "who", "--model", model).code == 0
    out = tmp_path / "encoded.csv"
    done = run("encode", model, table, "--safe", "--out", out, "--person-file", people)
    assert done.code == 0, done.err
    assert run("verify", out, *asked, "--person-file", people).code == 0
    refused = run("encode", model, table, "--out", tmp_path / "x.csv", "--person-file", people)
    assert refused.code == 2
    assert "--person-file: goes with --safe" in refused.err
    streamed = run("encode", model, "-", "--person-file", people)
    assert "--person-file: goes with --safe" in streamed.err
