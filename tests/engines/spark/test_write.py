"""Where Spark writes: formats, the folder beside a goal, one file of many parts."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

pytest.importorskip("pyspark", reason="the package pyspark is not installed (shoal[spark])")

from shoal.core.errors import OutputError
from shoal.engines.spark.write import Goal, _skip_header, all_or_nothing, kind_of


@pytest.mark.parametrize(("place", "kind"), [
    ("r.csv", "csv"), ("r.parquet", "parquet"), ("r.jsonl", "jsonl"), ("r.orc", "orc"),
    ("r.ORC/", "orc"), ("s3a://ward/r.csv.gz", "csv.gz"), (Path("r.parquet"), "parquet"),
])  # fmt: skip
def test_the_format_of_a_place(place, kind):
    assert kind_of(place) == kind


@pytest.mark.parametrize(("place", "problem"), [
    ("r.arrow", "no Arrow files"), ("r.csv.gz", r"write \.csv or \.parquet"),
    ("r.docx", "unknown ending"),
])  # fmt: skip
def test_what_spark_does_not_write_is_refused(place, problem):
    with pytest.raises(OutputError, match=problem):
        kind_of(place)


@pytest.mark.parametrize("header", [b"a,b\n", b'"a\nb",c\n', b'"say ""x""\n",c\r\n'])
def test_a_header_is_skipped_whatever_breaks_its_names_hold(header):
    part = io.BytesIO(header + b"1,2\n")
    _skip_header(part)
    assert part.read() == b"1,2\n"
    empty = io.BytesIO(b"")
    _skip_header(empty)
    assert empty.read() == b""


def write_parts(goal, *parts):
    folder = Path(goal.folder)
    folder.mkdir()
    for number, text in enumerate(parts):
        (folder / f"part-{number:05}").write_text(text)


def test_parts_become_one_file_with_one_header(tmp_path):
    out = tmp_path / "r.csv"
    with all_or_nothing(None, out) as goal:
        assert goal.is_one_file
        assert goal.address() == f"file://{goal.folder}"
        write_parts(goal, "a,b\n1,2\n", "a,b\n", "a,b\n3,4\n")
        assert not out.exists()
    assert out.read_text() == "a,b\n1,2\n3,4\n"
    assert list(tmp_path.iterdir()) == [out]


def test_a_columnar_goal_is_a_folder_of_parts(tmp_path):
    out = tmp_path / "r.parquet"
    with all_or_nothing(None, out) as goal:
        assert not goal.is_one_file
        write_parts(goal, "x", "y")
    assert sorted(p.name for p in out.iterdir()) == ["part-00000", "part-00001"]
    with pytest.raises(OutputError, match="is a folder already"):
        all_or_nothing(None, out).__enter__()


def test_nothing_is_left_of_what_was_raised_over(tmp_path):
    out = tmp_path / "r.csv"
    out.write_text("the old release\n")
    writing = all_or_nothing(None, out)
    write_parts(writing.__enter__(), "a\n1\n")
    assert not writing.__exit__(KeyError, KeyError(), None)
    assert out.read_text() == "the old release\n"
    assert list(tmp_path.iterdir()) == [out]


def test_inputs_and_places_that_are_not_there_are_refused(tmp_path):
    out = tmp_path / "r.csv"
    out.write_text("a\n")
    for given in (out, str(out), tmp_path / "." / "r.csv"):
        with pytest.raises(OutputError, match="is also an input"):
            all_or_nothing(None, out, inputs=(given,)).__enter__()
    with pytest.raises(OutputError, match="is also an input"):
        all_or_nothing(None, "s3a://w/r.csv", inputs=("s3a://w/r.csv/",)).__enter__()
    with pytest.raises(OutputError, match="a folder that is not there"):
        all_or_nothing(None, tmp_path / "none" / "r.csv").__enter__()


class Hadoop:
    """Hadoop's file system as the gateway shows it."""

    def __init__(self, *, renames=True):
        self.renames, self.done = renames, []

    @property
    def sparkContext(self):
        return self

    _jvm = _jsc = org = apache = hadoop = fs = sparkContext

    def Path(self, place):
        self.place = place
        return self

    def getFileSystem(self, _):
        return self

    def hadoopConfiguration(self):
        return None

    def rename(self, source, goal):
        self.done.append("rename")
        return self.renames

    def delete(self, path, recursive):
        assert recursive
        self.done.append("delete")
        return True


def test_a_place_elsewhere_is_renamed_by_hadoop_and_what_is_left_removed():
    hadoop = Hadoop()
    with all_or_nothing(hadoop, "s3a://ward/r.parquet/") as goal:
        assert goal.out == "s3a://ward/r.parquet"
        assert goal.address().startswith("s3a://ward/.r.parquet.")
    assert hadoop.done == ["rename", "delete", "delete"]
    stuck = Hadoop(renames=False)
    with (
        pytest.raises(OutputError, match="could not be renamed"),
        all_or_nothing(stuck, "s3a://ward/r.parquet"),
    ):
        pass
    assert stuck.done == ["rename", "delete", "delete"]


def test_only_texts_for_spreadsheets_are_guarded():
    assert Goal(None, "r.csv", ",", True).is_guarded
    assert not Goal(None, "r.parquet", ",", None).is_guarded
