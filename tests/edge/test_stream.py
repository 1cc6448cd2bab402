"""Streams: one line in, one line out, bad lines aside."""

from __future__ import annotations

import io
import json
import random
from pathlib import Path

import pytest
from tests.golden.generate import lines, table

from shoal import edge
from shoal.core.errors import InputError, OutputError
from shoal.edge.stream import MOST_LINE, EncodeReport, encode_stream

GOLDEN = Path(__file__).resolve().parents[1] / "golden"
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


def test_a_stream_of_nothing_is_empty():
    assert run(b"") == (
        [],
        [],
        {"records": 0, "released": 0, "suppressed": 0, "unseen": 0, "rejected": 0},
    )
    header = ",".join(edge.load(MODEL).names).encode()
    out, _, report = run(header)
    assert (len(out), report["records"]) == (1, 0)


def test_reasons_of_a_stream_never_hold_a_value_and_rejects_are_cut():
    _, aside, _ = run(
        b'{"age":"Alice"\n\xffAlice\n\n{"age": 1, "x": ' + b"[" * 60 + b"\n" + b"y" * 70_000
    )
    reasons = [entry["reason"] for entry in aside]
    assert reasons == [
        "not one JSON object", "not UTF-8 text", "a blank line", "nested too deeply",
        "not one JSON object",
    ]  # fmt: skip
    assert [entry["line"] for entry in aside] == [1, 2, 3, 4, 5]
    assert len(aside[4]["text"]) == 65536


def small(**changes):
    """Return a model of one column x, whose class covers 1 to 3, and a note that is kept."""
    made = {
        "format": "shoal-model", "version": 2, "method": "made", "records": 4, "suppressed": 0,
        "on_unseen": "suppress", "utility": {}, "released": ["x", "note"], "removed": [],
        "counts": None, "regions": [[0], [1]],
        "schema": {
            "columns": {"x": {"role": "quasi"}, "note": {"role": "neutral"}}, "others": "keep",
        },
        "columns": [{"name": "x", "scale": "number", "root": "*",
                     "cells": [{"low": "1", "high": "3"}, {"missing": True}]}],
    }  # fmt: skip
    return {**made, **changes}


def test_csv_fields_are_quoted_where_they_must_be_and_an_empty_line_is_none():
    given = b'note;x;more\n"a;b";2;"say ""hi"""\n;9;\n'
    out, _, report = run(given, model=small())
    assert out == ["note;x;more", '"a;b";[1, 3];"say ""hi"""', ";*;"]
    assert report["suppressed"] == report["unseen"] == 1
    bare = small(released=["x"], schema={"columns": {"x": {"role": "quasi"}}, "others": "drop"})
    out, _, _ = run(b'x\n""\n', model=bare, form="csv")
    assert out == ["x", '""']  # the missing value: other readers skip a blank line
    assert run(b"x\n9\n", model=bare, suppressed="remove")[0] == ["x"]


def test_a_spreadsheet_runs_nothing_that_was_released():
    given = b"x,note\n1,=1+1\n2,plain\n"
    out, _, _ = run(given, model=small(), spreadsheet_safe=True)
    assert out == ["x,note", '"[1, 3]",\'=1+1', '"[1, 3]",plain']
    with pytest.raises(OutputError, match="goes with CSV"):
        run(b'{"x":1}\n', model=small(), spreadsheet_safe=True)
    with pytest.raises(OutputError, match="begins like a formula"):
        run(b"x,=note\n", model=small(), spreadsheet_safe=True)


def test_the_form_and_the_separator_may_be_given():
    assert run(b"x|note\n1|a\n", model=small())[0] == ["x|note", "[1, 3]|a"]
    assert run(b"x|note\n1|a,b;c\n", model=small(), separator="|")[0] == ["x|note", "[1, 3]|a,b;c"]
    out, aside, _ = run(b"x,note\n1,a\n", model=small(), form="jsonl")
    assert (out, len(aside)) == ([], 2)
    out, _, _ = run(b"\xef\xbb\xbfx,note\r\n1,a\r\n", model=small())
    assert out == ["x,note", '"[1, 3]",a']


def test_a_header_that_cannot_be_read_is_refused():
    with pytest.raises(InputError, match="its header is not UTF-8 text"):
        run(b"\xff\n", form="csv")
    with pytest.raises(InputError, match="a column name stands twice in the header"):
        run(b"x,x\n", model=small())


def test_a_report_counts_and_says_what_it_warns_of():
    report = EncodeReport(warnings=("two spellings",))
    report.records = 2
    assert report.to_document()["warnings"] == ["two spellings"]
    assert "'records': 2" in repr(report)
    assert "warnings" not in EncodeReport().to_document()
