"""Roles of columns as a job, and the schema and preset that follow from them."""

from __future__ import annotations

from datetime import date

import polars as pl
import pytest
from tests.jobs.people import PEOPLE, files_in

from shoal.core.errors import OutputError, ShoalError
from shoal.formats.csv_file import CsvFile
from shoal.jobs.infer import PresetRequest, infer, write_preset
from shoal.jobs.requests import InferRequest
from shoal.schema.schema import Schema

PATIENTS = pl.DataFrame(
    {
        "name": [f"Ann Example{i}" for i in range(40)],
        "birth_date": [f"19{20 + i}-0{1 + i % 9}-11" for i in range(40)],
        "zip": [f"{10000 + i * 37}" for i in range(40)],
        "diagnosis": ["flu", "gout"] * 20,
    }
)


def test_every_column_gets_a_role_and_a_reason():
    found = infer(InferRequest(table=PATIENTS)).to_document()
    assert set(found["columns"]) == set(PATIENTS.columns)
    assert found["columns"]["name"]["role"] == "identifying"
    assert found["columns"]["birth_date"]["role"] == "quasi"
    assert all(about["why"] for about in found["columns"].values())
    assert "Example1" not in str(found)


def test_what_is_asked_bounds_the_search_for_sets():
    for most in (1, 2):
        found = infer(InferRequest(table=PEOPLE, max_size=most, threshold=9.0)).to_document()
        assert max((len(each["columns"]) for each in found["sets"]), default=0) <= most


def test_how_a_file_was_read_is_said(tmp_path):
    path = tmp_path / "odd.csv"
    path.write_bytes("Bericht\n\nName,Größe\n".encode("cp1252") + b"a,1\nb,2\n" * 20)
    found = infer(InferRequest(table=path))
    assert isinstance(found.read_as, CsvFile)
    assert any("--skip-lines" in text for text in found.notices())
    assert infer(InferRequest(table=PEOPLE)).read_as is None


def test_the_proposed_schema_is_one(tmp_path):
    files = files_in(tmp_path)
    text = infer(InferRequest(table=files.table, separator=",")).schema_text()
    path = tmp_path / "proposed.yaml"
    path.write_text(text, encoding="utf-8")
    assert {a.name for a in Schema.load(path).attributes} == set(PEOPLE.columns)


@pytest.mark.local("presets")
def test_a_preset_is_carried_out(tmp_path):
    table, out, schema = tmp_path / "t.csv", tmp_path / "p.csv", tmp_path / "s.yaml"
    PATIENTS.write_csv(table)
    asked = PresetRequest(
        table=table, name="hipaa-safe-harbor", as_of=date(2024, 6, 30), schema_out=schema,
        table_out=out,
    )  # fmt: skip
    found = infer(InferRequest(table=table))
    notices = write_preset(asked, found)
    assert notices == found.preset("hipaa-safe-harbor", as_of=date(2024, 6, 30)).notices
    prepared = pl.read_csv(out, infer_schema=False)
    assert prepared.rows() == sorted(prepared.rows(), key=lambda r: [v or "" for v in r])
    assert "name" not in prepared.columns
    assert not any("1960-" in str(value) for value in prepared["birth_date"])
    assert set(Schema.load(schema).released) <= set(prepared.columns)


@pytest.mark.local("presets")
def test_a_preset_overwrites_no_input_and_nothing_is_written_unasked(tmp_path):
    table = tmp_path / "t.csv"
    PATIENTS.write_csv(table)
    found = infer(InferRequest(table=table))
    asked = {"table": table, "name": "hipaa-safe-harbor", "as_of": date(2024, 6, 30)}
    write_preset(PresetRequest(**asked), found)
    for words in ({"table_out": table}, {"schema_out": table}):
        with pytest.raises(OutputError):
            write_preset(PresetRequest(**asked, **words), found)
    with pytest.raises(ShoalError):
        write_preset(PresetRequest(**{**asked, "name": "hippa"}), found)
    assert [path.name for path in tmp_path.iterdir()] == ["t.csv"]
