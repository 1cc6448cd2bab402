"""The local engine: what it opens, and which outputs it refuses before any work is done."""

from __future__ import annotations

import polars as pl
import pytest

from shoal.core.errors import InputError, OutputError, ShoalError
from shoal.engines.base import Output
from shoal.engines.local.engine import LocalEngine
from shoal.engines.local.runs import WEIGHT
from shoal.formats.csv_file import CsvFile

pytestmark = pytest.mark.local("the local engine itself")

ENGINE = LocalEngine()


@pytest.mark.parametrize("name", ["r.csv", "r.csv.gz", "r.parquet", "r.jsonl", "r.arrow"])
def test_every_format_may_be_written(name, tmp_path):
    ENGINE.check_output(Output(out=tmp_path / name))
    ENGINE.check_output(Output(out=str(tmp_path / name), keep_order=True))


def test_an_unknown_ending_is_refused_and_a_table_needs_none():
    with pytest.raises(OutputError, match=r"r\.docx: unknown ending"):
        ENGINE.check_output(Output(out="r.docx"))
    ENGINE.check_output(Output())
    ENGINE.check_output(Output(out="r.csv", spreadsheet_safe=True))
    with pytest.raises(ShoalError, match="spreadsheet"):
        ENGINE.check_output(Output(out="r.parquet", spreadsheet_safe=True))


def test_paths_files_and_frames_are_opened(tmp_path):
    place = tmp_path / "t.csv"
    place.write_text("a;b\n1;x\n")
    for table in (place, str(place), CsvFile(place), pl.read_csv(place, separator=";")):
        assert ENGINE.open(table).columns == ("a", "b")
    assert ENGINE.open(place, separator=",").columns == ("a;b",)
    assert ENGINE.open(place).where == str(place)
    with pytest.raises(InputError, match="no such file"):
        ENGINE.open(tmp_path / "none.csv")
    with pytest.raises(InputError, match="not a table"):
        ENGINE.open(7)


def test_a_sorted_release_is_read_run_by_run_and_any_other_as_it_is(tmp_path):
    place = tmp_path / "r.csv"
    place.write_text("a,b\n" + "1,x\n" * 5 + "2,y\n" * 4)
    release = ENGINE.open_release(place)
    assert (release.columns, release.source.weight) == (("a", "b"), WEIGHT)
    assert release.source.frame.collect()[WEIGHT].to_list() == [5, 4]
    frame = pl.DataFrame({"a": [1]})
    assert ENGINE.open_release(frame).source.weight is None
    frame.write_parquet(tmp_path / "r.parquet")
    assert ENGINE.open_release(tmp_path / "r.parquet").source.weight is None
