"""Requests about linked tables: they check themselves and name all faults together."""

from __future__ import annotations

import pytest

from shoal.core.errors import SchemaError
from shoal.engines.base import Output
from shoal.jobs.documents import public_document, request_document, request_from
from shoal.jobs.linked_requests import LinkedRequest, LinkedVerifyRequest
from shoal.methods.registry import method_named
from shoal.schema.linked import LinkedSchema

TABLES = {
    "patients": {"key": "id", "columns": {"age": "quasi", "ward": {"role": "quasi",
                 "hierarchy": {"tree": {"*": ["north wing", "south wing"]}}}}},
    "stays": {"parent": "patients", "columns": {"illness": "sensitive"}},
}  # fmt: skip
SCHEMA = LinkedSchema.from_document(
    {"tables": TABLES, "privacy": [{"model": "k-anonymity", "k": 2}]}
)


def with_release(technique):
    """Return the schema with an identifying column that is replaced."""
    born = {"role": "identifying", "release": technique}
    tables = {**TABLES, "stays": {"parent": "patients", "columns": {"born": born}}}
    return LinkedSchema.from_document({"tables": tables})


def faults(**words):
    request = LinkedRequest(**{"tables": "folder", "schema": SCHEMA, **words})
    return [f"{fault.where}: {fault.problem}" for fault in request.faults()]


def test_a_plain_request_has_no_faults():
    assert faults() == []
    LinkedRequest(tables="folder", schema=SCHEMA).check()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ({"threads": 0}, "--threads: must be at least 1"),
        ({"key": "k"}, "--key: nothing depends on a key"),
        ({"schema": with_release("pseudonym")}, "release: pseudonym: rows are linked by new keys"),
        ({"schema": with_release({"shift": {"by": "id"}})}, "--key: needed for 'stays.born'"),
        ({"output": Output(suppressed="star")}, "--suppressed: a row as the root"),
        ({"output": Output(keep_order=True)}, "--keep-order: linked tables are sorted"),
        ({"output": Output(person_file="x")}, "--person-file: the tables themselves"),
        ({"output": Output(class_file="x")}, "--class-file: the tables themselves"),
    ],
)
def test_what_cannot_be_meant_is_a_fault(words, said):
    assert any(fault.startswith(said) for fault in faults(**words)), faults(**words)


@pytest.mark.parametrize(
    "words",
    [
        {"schema": with_release({"shift": {"by": "id"}}), "key": "k"},
        {"schema": with_release({"shift": {"by": "id", "fresh": True}})},
        {"schema": with_release({"mask": {"keep_last": 2}})},
        {"output": Output(out="x", suppressed="remove", spreadsheet_safe=True)},
    ],
)
def test_what_can_be_meant_is_none(words):
    assert faults(**words) == []


def test_all_faults_are_raised_together():
    request = LinkedRequest(
        tables="folder", schema=SCHEMA, threads=0, key="k", output=Output(keep_order=True)
    )
    with pytest.raises(SchemaError) as caught:
        request.check()
    assert len(caught.value.faults) == 3


@pytest.mark.parametrize(
    "request_",
    [
        LinkedRequest(tables="folder", schema=SCHEMA, seed=3, method=method_named("bestcut")),
        LinkedRequest(tables={"patients": "p.csv", "stays": "s.csv"}, schema=SCHEMA),
        LinkedRequest(tables="folder", schema=SCHEMA, output=Output(out="out"), infer=False),
        LinkedVerifyRequest(tables="folder", schema=SCHEMA, separator=";"),
    ],
)
def test_a_request_is_written_down_and_read_again(request_):
    assert request_from(request_document(request_)) == request_


def test_a_report_has_no_values_of_a_hierarchy():
    text = str(public_document(LinkedRequest(tables="folder", schema=SCHEMA)))
    assert "wing" not in text
    assert "wing" in str(request_document(LinkedRequest(tables="folder", schema=SCHEMA)))


def test_the_kind_of_schema_must_fit_the_job(tmp_path):
    one = {"columns": {"age": "quasi"}}
    for job, schema, said in (
        ("linked", one, "must be that of linked tables"),
        ("verify_linked", one, "must be that of linked tables"),
        ("verify", SCHEMA.to_document(), "must be that of one table"),
        ("release", SCHEMA.to_document(), "must be that of one table"),
    ):
        named = "tables" if "linked" in job else "table"
        with pytest.raises(SchemaError, match=said):
            request_from({"job": job, named: "x", "schema": schema})


def test_tables_in_memory_are_not_written_down():
    document = request_document(LinkedRequest(tables={"patients": object()}, schema=SCHEMA))
    with pytest.raises(SchemaError, match="name the file that holds it"):
        request_from(document)
