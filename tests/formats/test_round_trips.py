"""Every format that is written gives back what went in: values, types, missing ones, records."""

from __future__ import annotations

import subprocess
import sys
from datetime import date, datetime
from pathlib import Path

import polars as pl
import pytest

from shoal.engines.local.source import open_source
from shoal.engines.local.write import write_frame
from shoal.formats.endings import FORMATS, TYPED

pytestmark = pytest.mark.local("files of one machine")
WRITTEN = [ending for each in FORMATS if each.writes for ending in each.endings]
STREAMED = [each.endings[0] for each in FORMATS if each.writes and each.streams]
MOST = 700 * 2**20  # bytes; the table of the test takes more as a whole


def table(records: int) -> pl.DataFrame:
    """Return a table of every type that all formats have, with missing values."""
    number = pl.int_range(records, eager=True)
    day = pl.Series([date(1990, 1, 1)] * records, dtype=pl.Date)
    words = pl.Series(["Grün \U0001f41f", 'a "b", c', "x;y", "Zeile\nzwei", "007"])
    frame = pl.DataFrame(
        {
            "whole": number,
            "number": number / 7,
            "text": words[(number % 5).cast(pl.UInt32)] if records else words[:0],
            "day": day,
            "ok": number % 2 == 0,
        }
    )
    moment = pl.lit(datetime(2024, 1, 1)) + pl.duration(seconds=pl.col("whole") % 86_400)
    return frame.with_columns(
        (pl.col("day") + pl.duration(days=pl.col("whole") % 9_000)).alias("day"),
        moment.alias("moment"),
    ).with_columns(
        pl.when(pl.col("whole") % 11 != 3).then(pl.col(name)).alias(name)
        for name in ("number", "text", "day", "ok", "moment")
    )


def kept(ending: str) -> bool:
    kind = next(each for each in FORMATS if ending in each.endings)
    return kind.name in TYPED


def check(frame: pl.DataFrame, place: Path, ending: str) -> None:
    write_frame(frame, place, spreadsheet_safe=False)
    source = open_source(place)
    found = source.collect(source.scan(source.columns))
    assert found.columns == frame.columns
    if kept(ending):
        expected = frame.with_columns(pl.col("ok").cast(pl.Int64)) if ending == ".xpt" else frame
        same = found.schema == expected.schema
        assert same, (found.schema, expected.schema)
        if ending in (".xpt", ".xlsx"):  # IBM's floats, and 16 digits of a cell
            apart = ((found["number"] - frame["number"]) / frame["number"]).abs().fill_nan(0).max()
            assert isinstance(apart, float)
            assert apart < 1e-13
            found, expected = found.drop("number"), expected.drop("number")
        assert found.equals(expected)
    else:
        assert found.height == frame.height
        assert found["whole"].cast(pl.Int64).equals(frame["whole"])
        assert found["text"].cast(pl.String).equals(frame["text"])
        assert found["number"].cast(pl.Float64).equals(frame["number"])


@pytest.mark.parametrize("ending", WRITTEN)
def test_what_goes_in_comes_out(tmp_path, ending):
    check(table(500), tmp_path / f"t{ending}", ending)


@pytest.mark.parametrize("ending", [".csv.gz", ".csv.zst", ".xlsx", ".parquet", ".arrow"])
def test_the_same_table_gives_the_same_bytes(tmp_path, ending):
    places = [tmp_path / f"{name}{ending}" for name in "ab"]
    for place in places:
        write_frame(table(50), place)
    assert places[0].read_bytes() == places[1].read_bytes()


@pytest.mark.nightly
@pytest.mark.parametrize("ending", [each.endings[0] for each in FORMATS if each.writes])
def test_a_million_records_come_back(tmp_path, ending):
    check(table(1_000_000), tmp_path / f"t{ending}", ending)


@pytest.mark.nightly
@pytest.mark.parametrize("ending", STREAMED)
def test_memory_is_bounded_where_it_says_streaming(tmp_path, ending):
    """A release of a table of 10^7 records of text is made in less memory than they take."""
    place, out = tmp_path / f"t{ending}", tmp_path / f"r{ending}"
    source = tmp_path / "t.csv"
    with source.open("w", encoding="utf-8") as file:
        file.write("age,note\n")
        for block in range(100):
            note = f"{'ä' * 60}{block % 10}"
            file.write("".join(f"{i % 50},{note}\n" for i in range(100_000)))
    if ending != ".csv":
        lazy = pl.scan_csv(source, schema={"age": pl.String, "note": pl.String})
        sinks = {".parquet": lazy.sink_parquet, ".arrow": lazy.sink_ipc, ".jsonl": lazy.sink_ndjson}
        if ending in sinks:
            sinks[ending](place)
        else:
            _pack(source, place)
    asked = [sys.executable, "-c", _PROGRAM, str(place), str(out)]
    done = subprocess.run(asked, capture_output=True, text=True, check=True)
    assert int(done.stdout.split()[-1]) < MOST, done.stdout


def _pack(source: Path, place: Path) -> None:
    from shoal.formats.csv_header import open_to_write

    with source.open("rb") as plain, open_to_write(place) as packed:
        while chunk := plain.read(2**20):
            packed.write(chunk)


_PROGRAM = """
import resource, sys
from shoal.cli.main import main
code = main(["anonymize", sys.argv[1], "--qi", "age", "--neutral", "note", "-k", "5", "--waive",
             "note", "--method", "mondrian", "--no-attacks", "--quiet", "--out", sys.argv[2]])
assert code == 0, code
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)
"""
