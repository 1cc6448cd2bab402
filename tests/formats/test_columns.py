"""Column names, cheaply."""

from __future__ import annotations

import gzip
import subprocess
import sys

import polars as pl
import pytest

from shoal.core.errors import InputError
from shoal.engines.local.source import open_source
from shoal.formats.columns import column_names
from shoal.formats.csv_file import CsvFile

FRAME = pl.DataFrame({"age": [34, 41], "größe": ["a;b", "c"], "zip code": ["75275", "75201"]})
WRITERS = {
    "t.csv": lambda path: FRAME.write_csv(path),
    "semicolon.csv": lambda path: FRAME.write_csv(path, separator=";"),
    "t.tsv": lambda path: FRAME.write_csv(path, separator="\t"),
    "t.csv.gz": lambda path: path.write_bytes(gzip.compress(FRAME.write_csv().encode())),
    "marked.csv": lambda path: FRAME.write_csv(path, include_bom=True),
    "utf16.csv": lambda path: path.write_bytes(FRAME.write_csv().encode("utf-16")),
    "t.parquet": lambda path: FRAME.write_parquet(path),
    "t.arrow": lambda path: FRAME.write_ipc(path),
    "t.jsonl": lambda path: FRAME.write_ndjson(path),
}


@pytest.mark.local("files")
@pytest.mark.parametrize("name", WRITERS)
def test_they_are_those_that_the_engine_finds(tmp_path, name):
    path = tmp_path / name
    WRITERS[name](path)
    assert column_names(path) == open_source(str(path)).columns == tuple(FRAME.columns)


@pytest.mark.local("files")
def test_separator_encoding_and_lines_above_are_heeded(tmp_path):
    path = tmp_path / "ward.csv"
    path.write_bytes("Ward 7\n\nage;größe;a,b\n1;2;3\n".encode("cp1252"))
    found = column_names(path, separator=";", encoding="cp1252", skip_lines=2)
    file = CsvFile(path, encoding="cp1252", skip_lines=2)
    assert found == open_source(file, separator=";").columns == ("age", "größe", "a,b")
    assert column_names(path, separator="/", encoding="cp1252", skip_lines=2) == ("age;größe;a,b",)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("none.csv", None),
        ("t.xyz", b"a,b\n"),
        ("broken.parquet", b"PAR1 and nothing"),
        ("broken.arrow", b"nothing"),
        ("broken.csv.gz", b"\x1f\x8bnothing"),
        ("broken.jsonl", b"{"),
        ("twice.csv", b"a,a\n1,2\n"),
    ],
)
def test_what_cannot_be_read_is_refused_in_one_way(tmp_path, name, content):
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(InputError):
        column_names(path)


@pytest.mark.parametrize("content", [b"", b"\n\n", b"[1]\n"])
def test_what_is_empty_has_no_columns(tmp_path, content):
    path = tmp_path / ("t.jsonl" if content[:1] == b"[" else "t.csv")
    path.write_bytes(content)
    assert column_names(path) == ()


def test_an_unknown_encoding_is_refused(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n")
    with pytest.raises(InputError):
        column_names(path, encoding="no-such")


def test_a_csv_header_needs_no_library(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n")
    code = (
        "import sys; from shoal.formats.columns import column_names\n"
        f"assert column_names({str(path)!r}) == ('a', 'b')\n"
        "sys.exit(any(name in sys.modules for name in ('polars', 'numpy', 'numba')))"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
