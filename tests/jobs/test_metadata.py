"""Metadata beside a release: what is found out of the release itself."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

import shoal
from shoal.cli.main import main
from shoal.core.errors import OutputError
from shoal.jobs.metadata import check_metadata, describe, write_metadata

pytestmark = pytest.mark.local("metadata")
TABLE = pl.DataFrame(
    {
        "age": [30 + i % 10 for i in range(60)], "ill": ["Morbus Alice", "flu"] * 30,
        "cost": [str(i) + ".5" for i in range(60)], "zip": ["01067"] * 60,
        "seen": ["2024-01-02"] * 60, "ok": ["true", "false"] * 30,
    }
)  # fmt: skip
ENDS = ("datapackage.json", "croissant.json", "ddi.xml")
FLAGS = ["--qi", "age", "--sensitive", "ill", "--neutral", "cost,zip,seen,ok", "-k", "3"]


@pytest.fixture
def made(tmp_path: Path):
    out = tmp_path / "release.csv"
    keep = ["cost", "zip", "seen", "ok"]
    found = shoal.anonymize(TABLE, qi=["age"], sensitive=["ill"], neutral=keep, k=3, out=out)
    return found, out


def test_types_are_what_all_values_are_and_a_code_is_no_number(made):
    about = describe(*made)
    assert {each.name: each.type for each in about.variables} == {
        "age": "integer", "ill": "string", "cost": "number", "zip": "string", "seen": "date",
        "ok": "boolean",
    }  # fmt: skip
    assert about.records == 60
    assert about.promise == ("k-anonymity (k = 3)",)


def test_types_of_a_file_that_has_types(tmp_path):
    frame = TABLE.with_columns(pl.col("cost").cast(pl.Float64), pl.col("seen").str.to_date())
    out = tmp_path / "r.parquet"
    keep = ["cost", "seen"]
    found = shoal.anonymize(frame, qi=["age"], sensitive=["ill"], neutral=keep, k=3, out=out)
    types = {each.name: each.type for each in describe(found, out).variables}
    assert (types["cost"], types["seen"]) == ("number", "date")


def test_every_description_is_written_and_none_holds_a_value(made, tmp_path):
    places = [tmp_path / f"release.{end}" for end in ENDS]
    write_metadata(*made, places)
    for place in places:
        text = place.read_text(encoding="utf-8")
        assert "Alice" not in text
        assert "zip" in text


def test_nothing_is_written_where_nothing_was_asked_for(made, tmp_path):
    before = sorted(tmp_path.iterdir())
    write_metadata(*made, [])
    assert sorted(tmp_path.iterdir()) == before


def test_other_names_are_refused_before_any_work(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    TABLE.write_csv("t.csv")
    asked = ["anonymize", "t.csv", *FLAGS, "--quiet"]
    assert main([*asked, "--out", "r.csv", "--metadata", "about.json"]) == 2
    assert "NAME.datapackage.json" in capsys.readouterr().err
    assert main([*asked, "--out", "-", "--metadata", "r.ddi.xml"]) == 2
    assert main([*asked, "--out", "r.csv", "--metadata", "r.csv"]) == 2
    assert main([*asked, "--out", "r.csv", "--method", "xk", "--metadata", "r.ddi.xml"]) == 2
    assert not Path("r.csv").exists()
    with pytest.raises(OutputError, match="a folder"):
        check_metadata(["none/r.ddi.xml"])


def test_a_release_that_is_handed_back_has_no_place_to_describe(made):
    with pytest.raises(OutputError, match="needs a release in a file or a database"):
        describe(made[0], None)


def test_mlcroissant_and_frictionless_take_them(made, tmp_path):
    mlcroissant = pytest.importorskip("mlcroissant", reason="needs the package mlcroissant")
    frictionless = pytest.importorskip("frictionless", reason="needs the package frictionless")
    places = [tmp_path / f"release.{end}" for end in ENDS]
    write_metadata(*made, places)
    assert frictionless.validate(str(places[0])).valid
    dataset = mlcroissant.Dataset(jsonld=str(places[1]))
    assert not dataset.metadata.issues.errors
    assert json.loads(places[1].read_text())["recordSet"][0]["field"][2]["dataType"] == "sc:Float"
    assert next(iter(dataset.records("records")))["records/cost"] == pytest.approx(
        float(pl.read_csv(made[1])["cost"][0])
    )
