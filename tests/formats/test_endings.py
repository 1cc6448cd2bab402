"""Formats by endings: one table for what is read and what is written."""

from __future__ import annotations

from pathlib import Path

import pytest

from shoal.core.errors import InputError, MissingExtraError, OutputError
from shoal.formats import endings
from shoal.formats.endings import (
    BY_NAME,
    ENDINGS,
    FORMATS,
    TYPED,
    check_extra,
    format_of,
    format_to_write,
    separator_for,
)

KNOWN = {
    "t.csv": "csv", "t.tsv": "csv", "t.txt": "csv", "t.csv.gz": "csv.gz", "t.parquet": "parquet",
    "t.pq": "parquet", "t.jsonl": "jsonl", "t.ndjson": "jsonl", "t.arrow": "arrow",
    "t.feather": "arrow", "t.ipc": "arrow", "t.tsv.gz": "csv.gz", "t.csv.zst": "csv.zst",
    "t.xlsx": "xlsx", "t.sav": "spss", "t.zsav": "spss", "t.dta": "stata", "t.xpt": "xpt",
}  # fmt: skip


@pytest.mark.parametrize(("name", "kind"), KNOWN.items())
def test_an_ending_stands_for_a_format_whatever_its_case(name, kind):
    for written in (name, name.upper(), f"folder.csv/{name}", f"a.parquet.{name}"):
        assert format_of(Path(written)) == format_to_write(Path(written)) == kind


@pytest.mark.parametrize("name", ["t", "t.xls", "t.gz", "t.parquet.gz", ".csv", "csv", ""])
def test_an_unknown_ending_is_refused_with_those_that_are_known(name):
    with pytest.raises(InputError, match=r"shoal reads: \.csv, \.tsv, \.csv\.gz") as caught:
        format_of(Path(name))
    assert all(ending in str(caught.value) for ending in ENDINGS)
    with pytest.raises(OutputError, match=r"shoal writes: \.csv, \.orc"):
        format_to_write(Path(name), (".csv", ".orc"))


def test_every_ending_that_messages_name_is_known():
    assert {format_of(Path(f"t{ending}")) for ending in ENDINGS} == {*KNOWN.values(), "sas"}


def test_what_is_only_read_is_not_written():
    assert format_of(Path("t.sas7bdat")) == "sas"
    with pytest.raises(OutputError, match=r"shoal writes: .*\.xpt$"):
        format_to_write(Path("t.sas7bdat"))


@pytest.mark.parametrize(("name", "package"), [
    ("t.xlsx", "fastexcel"), ("t.sav", "pyreadstat"), ("t.csv.zst", "zstandard"),
])  # fmt: skip
def test_what_is_not_installed_is_named_with_its_extra(name, package, monkeypatch):
    monkeypatch.setattr(endings, "find_spec", lambda _: None)
    with pytest.raises(MissingExtraError, match=rf"{package}.*shoal\[files\]"):
        check_extra(format_of(Path(name)))
    with pytest.raises(MissingExtraError, match=r"shoal\[files\]"):
        format_to_write(Path(name))


def test_a_tab_stands_in_files_that_say_so():
    assert separator_for(Path("T.TSV"), ";") == separator_for(Path("t.tsv.zst"), ";") == "\t"
    assert separator_for(Path("t.csv"), ";") == ";"


def test_the_table_of_formats_is_whole():
    assert set(BY_NAME) == {each.name for each in FORMATS}
    assert all((each.package is None) == (each.extra is None) for each in FORMATS)
    assert {"parquet", "arrow", "xlsx", "spss"} <= TYPED
    assert not TYPED & {"csv", "jsonl"}
