from __future__ import annotations

from pathlib import Path

import pytest

from shoal.core.errors import SchemaError
from shoal.service.asked import KEYS, local_request, needed

SCHEMA = {"columns": {"age": "quasi"}}


def find(reference: str) -> Path:
    return Path("/files") / reference.partition(":")[2]


def faults(document: object) -> list[str]:
    with pytest.raises(SchemaError) as caught:
        local_request(document, find)
    return list(caught.value.faults)


def test_references_become_files():
    columns = {"age": {"role": "quasi", "hierarchy": "upload:h.csv"}, "sex": "quasi"}
    found = local_request(
        {
            "job": "release",
            "table": {"file": "upload:t.csv", "separator": ";"},
            "schema": {"columns": columns},
            "checks": {"population": "upload:p.csv", "profile": "cms-cell-size"},
            "method": {"name": "refine", "threads": 64},
        },
        find,
    )
    assert found["table"] == {"file": "/files/t.csv", "separator": ";"}
    assert found["schema"]["columns"]["age"]["hierarchy"] == "/files/h.csv"
    assert found["checks"] == {"population": "/files/p.csv", "profile": "cms-cell-size"}
    assert found["method"] == {"name": "refine"}
    made = local_request({"job": "encode", "table": "upload:t", "model": "job:1/model.json"}, find)
    assert made["model"] == "/files/1/model.json"
    metrics = {"job": "metrics", "table": "upload:a", "release": "job:b/c", "schema": SCHEMA}
    assert local_request(metrics, find)["release"] == "/files/b/c"


@pytest.mark.parametrize("place", ["/etc/passwd", "t.csv", "../t.csv", "", None, 3, ["upload:t"],
                                   {"database": "postgresql://x/y"}, {"spark": "s3a://x"},
                                   {"file": "/etc/passwd"}, "http://x"])  # fmt: skip
@pytest.mark.parametrize("name", ["table", "population"])
def test_no_path_and_no_address_of_a_client_is_read(name, place):
    asked = {"job": "risk", "table": "upload:t", "schema": SCHEMA, name: place}
    assert any(name in fault for fault in faults(asked))


def test_no_path_hides_in_a_schema_or_a_profile():
    column = {"role": "quasi", "hierarchy": "/etc/passwd"}
    asked = {"job": "verify", "table": "upload:t", "schema": {"columns": {"age": column}}}
    assert faults(asked) == ["schema: column 'age': must be upload:ID, or job:ID/FILE"]
    assert faults({**asked, "schema": "/etc/passwd"}) == [
        "schema: must be the schema itself, with `columns`"
    ]
    asked = {"job": "release", "table": "upload:t", "schema": SCHEMA}
    assert "profile must be one of" in faults({**asked, "checks": {"profile": "/x.yaml"}})[0]


@pytest.mark.parametrize("key", ["ledger", "after", "nested_in", "key", "false_records", "threads"])
def test_what_would_write_or_read_elsewhere_is_no_key(key):
    asked = {"job": "release", "table": "upload:t", "schema": SCHEMA, key: "x"}
    assert faults(asked)[0].startswith(f"unknown key '{key}'")


@pytest.mark.parametrize("key", ["out", "inputs", "class_file", "person_file"])
def test_an_output_has_no_place(key):
    asked = {"job": "release", "table": "upload:t", "schema": SCHEMA, "output": {key: "x"}}
    assert faults(asked)[0].startswith(f"output: unknown key '{key}'")


@pytest.mark.parametrize(
    "document", [None, [], "x", 3, {}, {"job": "compose"}, {"job": ["release"]}]
)
def test_a_document_names_a_job(document):
    assert faults(document) == [f"`job` must be one of {', '.join(KEYS)}"]


@pytest.mark.parametrize("job", KEYS)
def test_what_a_job_cannot_do_without_is_named(job):
    assert faults({"job": job}) == [f"{name!r} is missing" for name in needed(job)]
    assert "table" in needed(job)
    assert ("schema" in needed(job)) == (job not in ("encode", "infer", "drift"))


def test_all_faults_are_named_together():
    assert len(faults({"job": "release", "table": 1, "schema": 2, "checks": 3, "zzz": 4})) == 4
