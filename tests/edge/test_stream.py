"""Streams: one line in, one line out, bad lines aside."""

from __future__ import annotations

import io
import json
import os
import random
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from tests.golden.generate import lines, table

from shoal import edge
from shoal.core.errors import InputError
from shoal.edge.stream import MOST_LINE, encode_stream

GOLDEN = Path(__file__).resolve().parents[1] / "golden"
SOURCE = Path(__file__).resolve().parents[2] / "src"
MODEL = GOLDEN / "mondrian.model.json"


def run(source, *, model=MODEL, **options):
    out, rejects = io.BytesIO(), io.BytesIO()
    choices = {k: options.pop(k) for k in ("on_unseen", "suppressed") if k in options}
    report = encode_stream(
        edge.load(model, **choices), io.BytesIO(source), out, rejects=rejects, **options
    )
    aside = [json.loads(line) for line in rejects.getvalue().splitlines()]
    return out.getvalue().decode().split("\n")[:-1], aside, report.to_document()


def test_lines_of_json_come_out_as_the_golden_ones():
    given = (GOLDEN / "lines.jsonl").read_bytes()
    wanted = (GOLDEN / "mondrian.expected.jsonl").read_bytes().decode().split("\n")[:-1]
    out, aside, report = run(given)
    assert out == [line for line in wanted if not line.startswith("!")]
    # a blank line has a reason of its own in a stream
    assert len(aside) == sum(line.startswith("!") for line in wanted)
    assert report["records"] == len(wanted) == report["released"] + report["rejected"]
    assert report["rejected"] == len(aside)


def test_one_percent_of_broken_lines_cost_no_other_line():
    chance = random.Random(2)
    good = [line.encode() for line in lines(records=3000, seed=9)]
    mixed, broken = [], 0
    for line in good:
        if chance.random() < 0.01:
            junk = [b"", b"\xff\xfe", line[:-5], b'"' + line, b"{" * 500, b"[1,2]", b"\x00" * 9]
            mixed.append(chance.choice(junk))
            broken += 1
        mixed.append(line)
    whole, _, _ = run(b"\n".join(good) + b"\n")
    out, aside, report = run(b"\n".join(mixed))
    assert out == whole
    assert report["rejected"] == broken == len(aside)
    assert all(entry["reason"] and entry["line"] for entry in aside)


def test_csv_keeps_its_header_order_and_quotes():
    frame = table().select("note", "zip", "job", "place", "grade", "born", "age", "illness", "name")
    out, aside, report = run(frame.head(40).write_csv(separator=";").encode())
    assert out[0] == "note;zip;job;place;grade;born;age;illness"
    assert len(out) == 41
    assert not aside
    by_line, _, _ = run(
        "".join(json.dumps(row) + "\n" for row in frame.head(40).to_dicts()).encode()
    )
    encoder = edge.load(MODEL)
    for row, line in zip(out[1:], by_line, strict=True):
        released = json.loads(line)
        fields = row.split(";")
        assert fields[1] == released["zip"]
        assert fields[6] == (released["age"] or "")
    assert set(encoder.names) < set(out[0].split(";"))
    assert report["released"] == 40


def test_broken_lines_of_csv_do_not_swallow_their_neighbours():
    text = table().head(3).write_csv().encode().split(b"\n")
    text.insert(2, b'"never closed,1,2,3')
    text.insert(2, b"too,few")
    text.insert(2, b",".join([b"x"] * 30))
    out, aside, report = run(b"\n".join(text))
    assert len(out) == 4
    assert report["rejected"] == 3
    assert [entry["line"] for entry in aside] == [3, 4, 5]


def test_a_csv_header_that_does_not_fit_is_refused():
    with pytest.raises(InputError, match="has no column 'age'"):
        run(b"born,note\n")
    document = json.loads(MODEL.read_text(encoding="utf-8"))
    document["schema"]["others"] = "fault"
    del document["fingerprint"]
    header = ",".join([*edge.load(MODEL).names, "x"]).encode()
    with pytest.raises(InputError, match="1 columns have no role: 'x'"):
        run(header + b"\n", model=document)


def test_a_line_too_long_is_rejected_and_not_held():
    good = lines(records=1)[0].encode()
    out, aside, report = run(good + b"\n" + b"x" * (MOST_LINE + 10) + b"\n" + good)
    assert len(out) == 2
    assert report["rejected"] == 1
    assert "longer than" in aside[0]["reason"]


def test_unseen_records_follow_the_declaration():
    unseen = b'{"age":"no","born":"no","grade":"no","place":"no","job":"no","zip":"no"}\n'
    assert run(unseen)[2]["suppressed"] == 1
    assert run(unseen, suppressed="remove")[0] == []
    _, aside, report = run(unseen, on_unseen="error")
    assert (report["unseen"], report["rejected"], len(aside)) == (1, 1, 1)


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
