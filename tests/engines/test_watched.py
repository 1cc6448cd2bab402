"""What a watcher hears of real jobs: counts that fit the table, in an order that can be shown."""

from __future__ import annotations

import gzip
from itertools import pairwise

import polars as pl
import pytest
from tests.core.test_watch import Heard

import shoal
from shoal import api
from shoal.core.watch import watched_by
from shoal.engines.local import recode, source, write
from shoal.formats import csv_check
from shoal.formats.csv_header import open_bytes, share_read

RECORDS = 500
FRAME = pl.DataFrame(
    {
        "age": [20 + (i * 7) % 60 for i in range(RECORDS)],
        "sex": ["fm"[i % 2] for i in range(RECORDS)],
        "ill": [f"illness {i % 9}" for i in range(RECORDS)],
    }
)
ASKED = {"qi": ["age", "sex"], "sensitive": ["ill"], "k": 5, "infer": False}


def passes(steps, stage):
    """Return the counts of a stage, pass by pass: one that falls begins another pass."""
    found, last = [], None
    for where, done, of, _ in steps:
        if where != stage or done is None:
            continue
        if last is None or done < last:
            found.append([])
        found[-1].append((done, of))
        last = done
    return found


@pytest.mark.local("files of this machine")
@pytest.mark.parametrize("ending", [".csv", ".jsonl", ".parquet", ".arrow"])
def test_what_is_written_is_counted_to_the_last_record(tmp_path, monkeypatch, ending):
    monkeypatch.setattr(write, "SLICE", 100)
    FRAME.write_csv(tmp_path / "t.csv")
    heard = Heard()
    with watched_by(heard):
        shoal.anonymize(str(tmp_path / "t.csv"), out=tmp_path / f"out{ending}", **ASKED)
    (written,) = passes(heard.steps, "writing")
    assert written[-1] == (RECORDS, RECORDS)
    assert all(before < after for (before, _), (after, _) in pairwise(written))
    order = ["read", "count", "learn", "encode", "writing", "verify", "measure"]
    told = [stage for stage in dict.fromkeys(heard.stages) if stage in order]
    assert told == order


@pytest.mark.local("files of this machine")
def test_slices_change_no_byte(tmp_path, monkeypatch):
    FRAME.write_csv(tmp_path / "t.csv")
    made = []
    for rows in (7, 500_000):
        monkeypatch.setattr(write, "SLICE", rows)
        for ending in (".csv", ".jsonl"):
            out = tmp_path / f"out-{rows}{ending}"
            shoal.anonymize(str(tmp_path / "t.csv"), out=out, **ASKED)
            made.append(out.read_bytes())
    assert made[:2] == made[2:]


@pytest.mark.local("files of this machine")
@pytest.mark.parametrize("ending", [".csv", ".parquet", ".jsonl"])
def test_a_table_that_does_not_fit_memory_is_counted_batch_by_batch(tmp_path, monkeypatch, ending):
    monkeypatch.setattr(source, "KEEP_BYTES", 0)
    monkeypatch.setattr(recode, "BATCH", 100)
    path = tmp_path / f"t{ending}"
    {".csv": FRAME.write_csv, ".parquet": FRAME.write_parquet, ".jsonl": FRAME.write_ndjson}[
        ending
    ](path)
    heard = Heard()
    with watched_by(heard):
        shoal.anonymize(str(path), out=tmp_path / "out.csv", **ASKED)
    recoded = [*passes(heard.steps, "encode"), *passes(heard.steps, "writing")]
    known = None if ending == ".jsonl" else RECORDS  # a guess is not told as a number
    assert any(each[-1] == (RECORDS, known) for each in recoded)
    assert all(of in (None, RECORDS) and done <= RECORDS for each in recoded for done, of in each)


@pytest.mark.local("files of this machine")
@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz"])
def test_of_a_text_file_the_share_that_was_read_is_told(tmp_path, monkeypatch, name):
    monkeypatch.setattr(csv_check, "CHUNK", 1024)
    path, text = tmp_path / name, FRAME.write_csv().encode() * 1
    path.write_bytes(gzip.compress(text) if name.endswith("gz") else text)
    heard = Heard()
    with watched_by(heard):
        csv_check.check_csv(path)
    shares = [share for _, _, _, share in heard.steps]
    assert shares == sorted(shares)
    assert shares[-1] == 1.0
    assert heard.steps[-1][1] == RECORDS
    csv_check.check_bytes(text, where="t")  # bytes in memory have no length to tell


def test_a_file_without_a_length_has_no_share(tmp_path):
    import io

    assert share_read(io.BytesIO(b"abc")) is None
    path = tmp_path / "t.csv"
    path.write_bytes(b"abcd")
    with open_bytes(path) as file:
        file.read(1)
        assert share_read(file) == 0.25


@pytest.mark.local("frames in memory")
def test_the_time_limit_of_a_search_is_told():
    heard = Heard()
    with watched_by(heard):
        shoal.anonymize(FRAME, method=shoal.Refine(seconds=2.0), **ASKED)
        shoal.infer(FRAME, seconds=7.0)
    assert heard.limits == [2.0, 7.0]


@pytest.mark.local("frames in memory")
def test_nothing_told_is_a_value():
    heard = Heard()
    with watched_by(heard):
        shoal.anonymize(FRAME, **ASKED)
        shoal.verify(FRAME, qi=["age", "sex"], k=1)
    assert not any("illness" in stage for stage in heard.stages)
    assert all(of is None or isinstance(of, int) for _, _, of, _ in heard.steps)
    assert "judge" in heard.stages


def test_a_sample_says_how_many_records_are_made(tmp_path):
    heard = Heard()
    with watched_by(heard):
        api.sample("hospital", tmp_path / "h.csv", records=RECORDS)
    assert heard.steps[-1][1:3] == (RECORDS, RECORDS)
