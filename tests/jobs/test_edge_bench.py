"""The command `edge bench`: every runtime that is here is measured, and none that is not."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from tests.golden.generate import table

from shoal.core.errors import InputError, ModelFormatError
from shoal.jobs import edge_bench as module
from shoal.jobs.edge_bench import bench

MODEL = Path(__file__).resolve().parents[1] / "golden" / "cuts.model.json"


@pytest.fixture
def records(tmp_path):
    place = tmp_path / "new.jsonl"
    rows = [json.dumps(row) + "\n" for row in table().to_dicts()[:200]]
    place.write_text("".join(rows), encoding="utf-8")
    return place


@pytest.fixture
def only_python(monkeypatch):
    monkeypatch.setattr(module, "RUNTIMES", {"python": module.RUNTIMES["python"]})


@pytest.mark.local("exported files")
def test_each_runtime_that_is_here_is_measured(records):
    found = bench(MODEL, records)
    here = {name for name, (command, _) in module.RUNTIMES.items() if shutil.which(command[0])}
    assert set(found["runtimes"]) == here
    assert "python" in here
    assert found["records"] == 200
    assert found["bytes"] == MODEL.stat().st_size
    assert found["classes"] == len(json.loads(MODEL.read_text(encoding="utf-8"))["counts"])
    for facts in found["runtimes"].values():
        assert facts["records_a_second"] > 0
        assert facts["export_bytes"] > found["bytes"] // 2
        assert 0 <= facts["megabytes"] < 500
        assert 0 <= facts["seconds_to_load"] < 60


@pytest.mark.local("exported files")
def test_a_runtime_that_is_not_here_is_left_out(records, monkeypatch):
    monkeypatch.setattr(module, "RUNTIMES", {"python": (("no such program",), "py")})
    assert bench(MODEL, records)["runtimes"] == {}


@pytest.mark.local("exported files")
def test_an_export_that_fails_is_said(records, only_python, monkeypatch):
    monkeypatch.setattr(module, "export", lambda *_: "raise SystemExit(3)\n")
    with pytest.raises(InputError, match="ended with a fault"):
        bench(MODEL, records)


@pytest.mark.local("exported files")
@pytest.mark.parametrize("text", ["", "\n", "age,place\n"])
def test_without_records_nothing_is_measured(tmp_path, text):
    place = tmp_path / "none.csv"
    place.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match="there is no record"):
        bench(MODEL, place)


@pytest.mark.local("exported files")
def test_what_is_no_model_is_refused(records, tmp_path):
    (tmp_path / "m.json").write_text("{}", encoding="utf-8")
    with pytest.raises(ModelFormatError):
        bench(tmp_path / "m.json", records)


@pytest.mark.local("exported files")
def test_the_command_prints_a_line_a_runtime(records, run, only_python):
    answer = run("edge", "bench", MODEL, records)
    assert answer.code == 0
    assert "records a second" in answer.out
    found = json.loads(run("edge", "bench", MODEL, records, "--json").out)
    assert set(found) == {"bytes", "classes", "records", "runtimes"}
