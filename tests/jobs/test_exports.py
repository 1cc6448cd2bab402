"""Scripts for other tools, and the files that they read."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from shoal.cli.main import main
from shoal.core.errors import OutputError, SchemaError
from shoal.jobs.exports import ExportRequest, export_script
from shoal.schema.schema import Schema

pytestmark = pytest.mark.local("exporters")
SCHEMA = Schema.from_document(
    {
        "columns": {
            "zip": {"role": "quasi", "hierarchy": {"mask": {}}},
            "sex": {"role": "quasi", "hierarchy": {"tree": {"*": ["f", "m"]}}},
            "ill": "sensitive",
        },
        "privacy": [{"model": "k-anonymity", "k": 2}],
    }
)


@pytest.fixture
def table(tmp_path: Path) -> Path:
    pl.DataFrame({"zip": ["01", "02"] * 4, "sex": ["f", "m"] * 4, "ill": ["a"] * 8}).write_csv(
        tmp_path / "t.csv", separator=";"
    )
    return tmp_path / "t.csv"


def test_a_script_and_its_hierarchies_are_written(table, tmp_path):
    out = tmp_path / "compare.R"
    files = export_script(ExportRequest(table=table, schema=SCHEMA, out=out))
    assert files == ("compare.R", "compare_hierarchy_1.csv", "compare_hierarchy_2.csv")
    script = out.read_text(encoding="utf-8")
    assert "sep = ';'" in script
    assert "'compare_hierarchy_1.csv', 1)  # of 2" in script
    rows = (tmp_path / files[1]).read_text().splitlines()
    assert rows == ["01;0*;*", "02;0*;*"]


def test_the_command(table, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    asked = ["export", "t.csv", "--qi", "zip,sex", "--sensitive", "ill", "-k", "2"]
    assert main([*asked, "--out", "x.R"]) == 0
    assert "written: x.R" in capsys.readouterr().out
    assert main([*asked, "--out", "x.txt"]) == 2
    assert main([*asked, "--out", "x.R", "--to", "spss"]) == 2


def test_what_r_does_not_read_as_it_is_is_refused(table, tmp_path):
    pl.read_csv(table, separator=";").write_parquet(tmp_path / "t.parquet")
    with pytest.raises(SchemaError, match="R reads a CSV file"):
        export_script(
            ExportRequest(table=tmp_path / "t.parquet", schema=SCHEMA, out=tmp_path / "x.R")
        )
    with pytest.raises(OutputError, match=r"name it NAME\.R"):
        export_script(ExportRequest(table=table, schema=SCHEMA, out=table))
    assert not (tmp_path / "x.R").exists()
