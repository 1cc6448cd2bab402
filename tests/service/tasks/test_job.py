from __future__ import annotations

import json

import pytest
from tests.service.conftest import SCHEMA, TABLE

from shoal.core.errors import UnsafeReleaseError
from shoal.service.tasks import NAMES, job


@pytest.fixture
def run(tmp_path):
    table = tmp_path / "1.csv"
    table.write_text(TABLE)

    def running(**request: object) -> dict:
        names = {str(table): "upload:1"}
        words = {key: request.pop(key, None) for key in ("format", "report")}
        asked = {"request": {"table": str(table), **request}, "out": str(tmp_path), "names": names}
        return job.run({**asked, **words}, lambda part: None)

    return running


def test_each_job_leaves_its_result_and_its_files(run, tmp_path):
    released = run(job="release", schema=SCHEMA, method="mondrian", format="jsonl")
    assert released["smallest_class"] >= 3
    assert released["request"]["table"] == "upload:1"
    assert released["request"]["output"]["out"] == "job/table.jsonl"
    learned = run(job="learn", schema=SCHEMA, method="mondrian")
    model = str(tmp_path / "model.json")
    assert learned["classes"] == released["classes"]
    assert run(job="encode", model=model, safe=True)["released"] == 240
    assert run(job="drift", model=model)["records"] == 240
    found = run(job="infer")
    assert set(found["columns"]) == {"age", "sex", "ill"}
    assert run(job="verify", schema=SCHEMA)["holds"] is True
    assert run(job="risk", schema=SCHEMA)["records"] == 240
    release = str(tmp_path / "table.jsonl")
    assert run(job="metrics", schema=SCHEMA, release=release)["records"] == 240
    names = {"1.csv", "table.jsonl", "table.csv", "model.json", "schema.yaml"}
    assert {each.name for each in tmp_path.iterdir()} == names


def test_a_report_names_no_place_of_this_machine(run, tmp_path):
    result = run(job="release", schema=SCHEMA, method="bestcut", report=".html")
    page = (tmp_path / "report.html").read_text()
    assert "upload:1" in page
    assert str(tmp_path) not in page + json.dumps(result)


def test_an_unsafe_release_is_an_error_and_no_file(run, tmp_path, monkeypatch):
    def unsafe(request, **words):
        raise UnsafeReleaseError(problem="a class is too small")

    monkeypatch.setattr(job.releasing, "release", unsafe)
    with pytest.raises(UnsafeReleaseError):
        run(job="release", schema=SCHEMA)
    assert [each.name for each in tmp_path.iterdir()] == ["1.csv"]
    assert NAMES == ("job",)
