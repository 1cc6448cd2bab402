"""The page about requests: every example is a request, and runs."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path

import pytest

from shoal import api
from shoal.core.documents import parse_yaml
from shoal.core.errors import SchemaError
from shoal.jobs.documents import JOBS, LEFT_OUT, request_document, request_from
from shoal.jobs.places import write_model

PAGE = (Path(__file__).resolve().parents[2] / "docs/reference/requests.md").read_text("utf-8")
EXAMPLES = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)
ROWS = re.findall(r"^\| `(\w+)` \| .*? \| `([\w.]+)` \| `(\w+)` \|$", PAGE, re.MULTILINE)


def function_at(place):
    """Return the function of a dotted name."""
    module, _, name = place.rpartition(".")
    return getattr(import_module(module), name)


def test_every_job_is_listed_and_has_an_example():
    assert {job: kind for job, _, kind in ROWS} == {n: k.__name__ for n, k in JOBS.items()}
    assert [parse_yaml(text, where="page")["job"] for text in EXAMPLES] == [
        job for job, _, _ in sorted(ROWS, key=lambda row: order_of(row[0]))
    ]


def order_of(job):
    """Return where the example of a job stands."""
    return [f"job: {job}\n" in text for text in EXAMPLES].index(True)


@pytest.mark.local("drift, attacks and xk-anonymity")
def test_every_example_runs_in_its_order(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    api.sample("hospital", "patients.csv", records=300)
    api.linked_sample("hospital", patients=300)
    functions = {job: function_at(place) for job, place, _ in ROWS}
    for text in EXAMPLES:
        request = request_from(parse_yaml(text, where="page"))
        assert request_from(request_document(request)) == request
        job = parse_yaml(text, where="page")["job"]
        found = functions[job](request)
        assert found is not None
        if job == "learn":
            write_model(found.model, "model.json")
        if job in ("verify", "verify_linked"):
            assert found.holds
    names = {path.name for path in tmp_path.iterdir()}
    assert {"release.csv", "encoded.csv", "xk.csv", "hospital_release"} <= names


def test_every_table_of_the_page_can_be_read():
    cells = re.findall(r"^\| `(table: .*?)` \|", PAGE, re.MULTILINE)
    assert len(cells) == 4
    for cell in cells:
        document = {"job": "infer", **parse_yaml(cell, where="page")}
        request = request_from(document)
        assert request_document(request) == document


def test_the_message_about_what_was_left_out_is_the_one_of_the_page():
    document = {
        "job": "verify", "table": "t.csv",
        "schema": {"columns": {"size": {"role": "quasi", "kind": "ordinal", "order": LEFT_OUT}}},
    }  # fmt: skip
    with pytest.raises(SchemaError) as caught:
        request_from(document)
    (fault,) = caught.value.faults
    assert fault in PAGE
