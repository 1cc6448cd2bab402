"""Formats by endings: one table for what is read and what is written."""

from __future__ import annotations

from pathlib import Path

import pytest

from shoal.core.errors import InputError, OutputError
from shoal.formats.endings import ENDINGS, format_of, format_to_write

KNOWN = {
    "t.csv": "csv", "t.tsv": "csv", "t.txt": "csv", "t.csv.gz": "csv.gz", "t.parquet": "parquet",
    "t.pq": "parquet", "t.jsonl": "jsonl", "t.ndjson": "jsonl", "t.arrow": "arrow",
    "t.feather": "arrow", "t.ipc": "arrow",
}  # fmt: skip


@pytest.mark.parametrize(("name", "kind"), KNOWN.items())
def test_an_ending_stands_for_a_format_whatever_its_case(name, kind):
    for written in (name, name.upper(), f"folder.csv/{name}", f"a.parquet.{name}"):
        assert format_of(Path(written)) == format_to_write(Path(written)) == kind


@pytest.mark.parametrize("name", ["t", "t.xlsx", "t.gz", "t.parquet.gz", ".csv", "csv", ""])
def test_an_unknown_ending_is_refused_with_those_that_are_known(name):
    with pytest.raises(InputError, match=r"shoal reads: \.csv, \.csv\.gz") as caught:
        format_of(Path(name))
    assert all(ending in str(caught.value) for ending in ENDINGS)
    with pytest.raises(OutputError, match=r"shoal writes: \.csv, \.orc"):
        format_to_write(Path(name), (".csv", ".orc"))


def test_every_ending_that_messages_name_is_known():
    assert {format_of(Path(f"t{ending}")) for ending in ENDINGS} == set(KNOWN.values())
