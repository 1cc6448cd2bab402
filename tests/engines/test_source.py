from __future__ import annotations

import gzip
from pathlib import Path

import polars as pl
import pytest

from shoal.core.errors import InputError
from shoal.engines.local.source import open_source
from shoal.formats.endings import format_of

pytestmark = pytest.mark.local("a part of the local engine itself")


def test_every_format_reads_as_the_same_table(tmp_path: Path) -> None:
    frame = pl.DataFrame({"a": ["x", "y", None], "b": ["1", "2", "3"]})
    frame.write_csv(tmp_path / "t.csv")
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress((tmp_path / "t.csv").read_bytes()))
    frame.write_parquet(tmp_path / "t.parquet")
    frame.write_ndjson(tmp_path / "t.jsonl")
    frame.write_ipc(tmp_path / "t.arrow")
    for name in ("t.csv", "t.csv.gz", "t.parquet", "t.jsonl", "t.arrow"):
        source = open_source(tmp_path / name)
        assert source.columns == ("a", "b")
        read = source.collect(source.scan(["a", "b"])).with_columns(pl.all().cast(pl.String))
        assert read.equals(frame), name


@pytest.mark.parametrize("name", ["t.parquet", "t.arrow", "t.csv.gz"])
def test_what_a_packed_file_takes_follows_its_records_not_its_bytes(
    tmp_path: Path, name: str
) -> None:
    half = 50_000
    texts = ["a text that stands there again and again"] * half + ["another"] * half
    frame = pl.DataFrame({"n": [7] * (2 * half), "text": texts})
    if name == "t.parquet":
        frame.write_parquet(tmp_path / name)
    elif name == "t.arrow":
        frame.write_ipc(tmp_path / name, compression="zstd")
    else:
        (tmp_path / name).write_bytes(gzip.compress(frame.write_csv().encode()))
    text = len(frame.write_csv())
    source = open_source(tmp_path / name)
    assert (tmp_path / name).stat().st_size < text / 50
    assert text <= source.size < 4 * text


def test_a_columnar_file_without_a_record_has_a_size(tmp_path: Path) -> None:
    pl.DataFrame({"a": []}, schema={"a": pl.String}).write_parquet(tmp_path / "t.parquet")
    assert open_source(tmp_path / "t.parquet").fits_memory()


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_the_separator_is_found(tmp_path: Path, separator: str) -> None:
    (tmp_path / "t.csv").write_text(f'a{separator}"b,;x"\n1{separator}2\n')
    source = open_source(tmp_path / "t.csv")
    assert source.separator == separator
    assert source.columns == ("a", "b,;x")


def test_a_byte_order_mark_windows_lines_and_blank_ends_are_read_through(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes(b"\xef\xbb\xbfa,b\r\n1,2\r\n3,4\r\n\r\n\r\n")
    source = open_source(tmp_path / "t.csv")
    rows = source.collect(source.scan(["a", "b"])).rows()
    assert rows == [("1", "2"), ("3", "4")]


def test_quotes_separators_and_line_breaks_inside_values_survive(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text('a,b\n"x,1","say ""hi""\nthere"\n')
    source = open_source(tmp_path / "t.csv")
    assert source.collect(source.scan(["a", "b"])).rows() == [("x,1", 'say "hi"\nthere')]


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "the file is empty"),
        (b"\n\n", "the file is empty"),
        (b"a,b\n1\n", "line 2: has fewer fields"),
        (b"a,b\n1,2,3\n", "line 2: has more fields"),
        (b"a,b\n1,\xff\n", "not UTF-8"),
        (b"a,b\n1,\xc3", "not UTF-8"),
        (b'a,b\n"1,2\n', "never closed"),
        (b"a,\n1,2\n", "1 columns have no name"),
        (b'a,b\n1,x"y\n', "a quote inside a field"),
    ],
)
def test_a_file_that_would_be_misread_is_refused(
    tmp_path: Path, content: bytes, problem: str
) -> None:
    (tmp_path / "t.csv").write_bytes(content)
    with pytest.raises(InputError, match=problem):
        open_source(tmp_path / "t.csv")


def test_a_character_cut_by_a_chunk_is_not_a_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shoal.formats.csv_check.CHUNK", 3)
    text = "a,b\n" + "é,ü\n" * 300_000
    (tmp_path / "t.csv").write_text(text, encoding="utf-8")
    assert open_source(tmp_path / "t.csv").shape.records == 300_000  # type: ignore[union-attr]


@pytest.mark.parametrize("name", ["t.parquet", "t.arrow", "t.jsonl", "t.csv.gz"])
def test_a_damaged_file_is_refused_without_its_content(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"secret \x00\x01 not a table")

    def read() -> None:
        source = open_source(tmp_path / name)
        source.collect(source.scan(source.columns))

    with pytest.raises(InputError) as caught:
        read()
    assert "secret" not in str(caught.value)


def test_unknown_endings_folders_absent_files_and_strange_objects_are_refused(
    tmp_path: Path,
) -> None:
    with pytest.raises(InputError, match="unknown ending"):
        format_of(Path("table.docx"))
    with pytest.raises(InputError, match="no such file"):
        open_source(tmp_path / "none.csv")
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(InputError, match="a folder"):
        open_source(tmp_path / "folder.csv")
    with pytest.raises(InputError, match="not a table"):
        open_source([1, 2, 3])


def test_pandas_and_arrow_tables_open_like_polars_ones() -> None:
    pandas = pytest.importorskip("pandas")
    pyarrow = pytest.importorskip("pyarrow")
    frame = pandas.DataFrame({"a": [1, 2]}, index=["secret", "index"])
    source = open_source(frame)
    assert source.columns == ("a",)
    assert source.collect(source.scan(["a"])).rows() == [(1,), (2,)]
    assert open_source(pyarrow.table({"a": [1]})).columns == ("a",)
    twice = pandas.DataFrame([[1, 2]], columns=["a", "a"])
    with pytest.raises(InputError, match="stands twice"):
        open_source(twice)
