"""How files seem to be meant: what is no text file and no workbook stays what it is."""

from __future__ import annotations

import polars as pl
import pytest

from shoal.formats.csv_file import CsvFile
from shoal.formats.database import Database
from shoal.formats.proposed import proposed_reading


def test_a_text_file_is_looked_into(tmp_path):
    place = tmp_path / "t.csv"
    place.write_bytes("Station\n\nAlter;Ort\n3;Köln\n4;Bonn\n".encode("cp1252"))
    assert proposed_reading(place) == CsvFile(place, encoding="cp1252", skip_lines=2)
    assert proposed_reading(str(place)).skip_lines == 2


@pytest.mark.parametrize("name", ["t.parquet", "t.sav", "t.jsonl"])
def test_another_file_stays_as_it_is(tmp_path, name):
    place = tmp_path / name
    assert proposed_reading(place) == CsvFile(place)


def test_what_is_no_file_stays_as_it_is():
    frame = pl.DataFrame({"a": [1]})
    assert proposed_reading(frame) is frame
    database = Database(uri="sqlite:///x.db", table="t")
    assert proposed_reading(database) is database
