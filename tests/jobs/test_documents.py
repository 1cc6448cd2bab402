"""Requests as documents: read back as they were, with all faults, and without values in reports."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.jobs.people import GRADES, ILLS, JOBS, PEOPLE, TREE_LABELS, files_in, plain_schema
from tests.jobs.requests_by_chance import requests_of

from shoal.core.documents import parse_yaml
from shoal.core.errors import SchemaError
from shoal.engines.base import Checks, Output
from shoal.formats.csv_file import CsvFile
from shoal.formats.database import Database
from shoal.formats.spark_table import SparkTable
from shoal.jobs import documents
from shoal.jobs.documents import (
    FRAME,
    LEFT_OUT,
    load_request,
    public_document,
    request_document,
    request_from,
    request_text,
)
from shoal.jobs.learn import learn
from shoal.jobs.release import release
from shoal.jobs.requests import (
    AttackRequest,
    DriftRequest,
    EncodeRequest,
    InferRequest,
    LearnRequest,
    ReleaseRequest,
    RiskRequest,
    VerifyRequest,
)
from shoal.privacy import AlphaKAnonymity, KAnonymity
from shoal.reports.html import to_html
from shoal.reports.of_release import of_release
from shoal.schema.schema import Schema

ASKED = ReleaseRequest(table="people.csv", schema=plain_schema())


def faults_of(document):
    """Return the faults that reading a document raises."""
    with pytest.raises(SchemaError) as caught:
        request_from(document)
    return list(caught.value.faults)


@pytest.mark.parametrize("job", documents.JOBS)
@settings(max_examples=15, deadline=None)
@given(data=st.data())
def test_a_request_is_read_back_as_it_was_written(job, data):
    request = data.draw(requests_of(job))
    document = request_document(request)
    assert request_from(document) == request
    assert request_from(json.loads(json.dumps(document))) == request
    assert request_from(parse_yaml(request_text(request), where="text")) == request


@pytest.mark.parametrize("job", documents.JOBS)
@settings(max_examples=10, deadline=None)
@given(data=st.data())
def test_a_public_document_is_the_same_but_for_what_is_marked(job, data):
    request = data.draw(requests_of(job))
    public, whole = public_document(request), request_document(request)
    if LEFT_OUT in json.dumps(public):
        assert all("was left out of the report" in fault for fault in faults_of(public))
    else:
        assert public == whole


def test_what_is_as_by_default_is_not_written():
    assert request_document(InferRequest(table="t.csv")) == {"job": "infer", "table": "t.csv"}
    assert set(request_document(ASKED)) == {"job", "table", "schema"}


@pytest.mark.parametrize("ending", ["yaml", "json"])
def test_a_file_holds_a_request(tmp_path, ending):
    path = tmp_path / f"request.{ending}"
    text = request_text(ASKED) if ending == "yaml" else json.dumps(request_document(ASKED))
    path.write_text(text, encoding="utf-8")
    assert load_request(path) == ASKED


def test_a_schema_may_be_the_name_of_its_file(tmp_path):
    files = files_in(tmp_path)
    found = request_from({"job": "verify", "table": "t.csv", "schema": str(files.schema)})
    assert found == VerifyRequest(table="t.csv", schema=Schema.load(files.schema))


# What cannot be written down.


@pytest.mark.parametrize(
    "request_",
    [
        ReleaseRequest(table=PEOPLE, schema=plain_schema()),
        ReleaseRequest(table=SparkTable(PEOPLE), schema=plain_schema()),
        AttackRequest(table=PEOPLE, release="r.csv", schema=plain_schema()),
        RiskRequest(table=PEOPLE, schema=plain_schema(), population="p.csv"),
        InferRequest(table=PEOPLE.to_arrow()),
    ],
    ids=lambda request: type(request).__name__,
)
def test_a_frame_is_named_as_such_and_refused_on_reading(request_):
    document = request_document(request_)
    assert FRAME in json.dumps(document)
    assert not any(text in json.dumps(document) for text in (*JOBS, *GRADES, *ILLS))
    assert faults_of(document) == [f"table: was {FRAME}: name the file that holds it"]


def test_every_frame_of_a_request_is_named():
    request = AttackRequest(
        table=PEOPLE, release=PEOPLE, schema=plain_schema(), register=PEOPLE, key="id"
    )
    found = faults_of(request_document(request))
    assert [fault.split(":")[0] for fault in found] == ["table", "release", "register"]


def test_a_frame_of_everybody_is_named_too():
    request = replace(ASKED, checks=Checks(attacks="all", population=PEOPLE))
    assert faults_of(request_document(request)) == [
        f"checks: population: was {FRAME}: name the file that holds it"
    ]


def test_a_model_in_memory_is_refused_on_reading(tmp_path):
    model = learn(LearnRequest(table=PEOPLE, schema=plain_schema())).model
    for request in (
        EncodeRequest(table="t.csv", model=model),
        DriftRequest(table="t", model=model),
    ):
        document = request_document(request)
        assert faults_of(document) == ["model: was a model in memory: name the file that holds it"]


@pytest.mark.parametrize(
    "uri",
    [
        "postgresql://ann:hunter2@host:5432/ward",
        "postgresql://ann:hun@ter2@host:5432/ward",
        "postgresql://host:5432/ward?user=ann&password=hunter2",
        "postgresql://host:5432/ward?sslPassword=hunter2",
    ],
)
def test_the_address_of_a_database_has_no_password(uri):
    request = replace(ASKED, table=Database(uri=uri, table="stays"))
    document = request_document(request)
    assert document["table"] == {"database": "postgresql://host:5432/ward", "table": "stays"}
    assert "ter2" not in json.dumps(public_document(request))
    assert request_from(document).table == Database(
        uri="postgresql://host:5432/ward", table="stays"
    )


def test_an_address_that_spark_reads_has_no_secret():
    request = replace(ASKED, table=SparkTable("s3a://key:hunter2@bucket/a@b.parquet"))
    assert request_document(request)["table"] == {"spark": "s3a://bucket/a@b.parquet"}
    for place in ("abfss://ward@account.dfs/x.parquet", "s3a://bucket/a:1@b.parquet", "table:a"):
        request = replace(ASKED, table=SparkTable(place))
        assert request_from(request_document(request)) == request


def test_an_address_without_a_password_is_kept_whole():
    table = Database(uri="sqlite:///ward.db?mode=ro", query="select 1")
    request = replace(ASKED, table=table)
    assert request_from(request_document(request)) == request


# Faults.


def test_the_job_must_be_known():
    wanted = [f"`job` must be one of {', '.join(documents.JOBS)}"]
    assert faults_of({}) == faults_of([]) == faults_of({"job": "anonymise"}) == wanted
    assert faults_of({"job": ["release"]}) == wanted


@pytest.mark.parametrize("job", documents.JOBS)
def test_every_job_says_what_is_missing_and_what_was_meant(job):
    needed = "tables" if "linked" in job else "table"
    found = faults_of({"job": job, "tabel": "t.csv"})
    assert f"unknown key 'tabel'; did you mean {needed!r}?" in found
    assert f"{needed!r} is missing" in found


def test_all_faults_are_named_together():
    found = faults_of(
        {
            "job": "release",
            "schema": {"columns": {"age": "quazi"}, "privacy": [{"model": "k-anonymity"}]},
            "method": {"name": "flash", "second": 3},
            "output": {"outt": "x.csv", "keep_order": "yes"},
            "checks": ["all"],
            "seeds": 1,
            "threads": "two",
        }
    )
    texts = "\n".join(found)
    for part in (
        "schema: ",
        "k-anonymity",
        "method: ",
        "'second'",
        "output: unknown key 'outt'; did you mean 'out'?",
        "output: keep_order: must be true or false",
        "checks: must be a mapping",
        "unknown key 'seeds'; did you mean 'seed'?",
        "threads: must be a whole number",
        "'table' is missing",
    ):
        assert part in texts


@pytest.mark.parametrize(
    ("words", "fault"),
    [
        ({"seed": True}, "seed: must be a whole number"),
        ({"seed": 1.5}, "seed: must be a whole number"),
        ({"separator": 3}, "separator: must be a text"),
        ({"method": "mondriaan"}, "mondriaan"),
        ({"method": 3}, "method: must be a mapping"),
        ({"table": {"fiel": "t.csv"}}, "name a `file`, a `database` or a table of `spark`"),
        ({"table": {"file": "t.csv", "skip_line": 2}}, "did you mean 'skip_lines'?"),
        ({"table": {"file": "t.csv", "skip_lines": -1}}, "must be 0 or more"),
        ({"table": {"database": "sqlite:///x.db"}}, "either --table NAME or --query SQL"),
        ({"schema": "nowhere.yaml"}, "schema: nowhere.yaml: no such file"),
        ({"output": {"inputs": "a.csv"}}, "output: inputs: must be a list"),
    ],
)
def test_a_wrong_value_is_a_fault(words, fault):
    (found,) = faults_of({**request_document(ASKED), **words})
    assert fault in found


def test_a_list_is_not_a_text():
    document = {"job": "encode", "table": "t.csv", "model": "m.json", "waive": "id"}
    assert faults_of(document) == ["waive: must be a list"]
    assert request_from({**document, "waive": ["id"]}).waive == ("id",)


# What reports do not say.


def told(schema, table, **words):
    """Return everything that the reports of a release and of a model say."""
    request = ReleaseRequest(table=table, schema=schema, **words)
    done = release(request)
    model = learn(LearnRequest(table=table, schema=schema))
    reports = (done.report, model.report)
    return "".join(
        json.dumps(r.to_document(), ensure_ascii=False) + to_html(of_release(r)) for r in reports
    )


def test_labels_orders_and_promised_values_stand_in_no_report(tmp_path):
    files = files_in(tmp_path)
    columns = {
        "age": {"role": "quasi", "hierarchy": {"order": {"fanout": 3, "order": [*range(20, 30)]}}},
        "job": {"role": "quasi", "hierarchy": {"tree": {"*": {"shop": ["florist", "baker"],
                "craft": ["welder", "glazier"]}}}},
        "grade": {"role": "quasi", "kind": "ordinal", "order": list(GRADES)},
        "ill": "sensitive",
    }  # fmt: skip
    promise = AlphaKAnonymity(0.9, 4, values=["gout"]).to_document()
    schema = plain_schema(columns=columns, privacy=[promise])
    for table in (files.table, PEOPLE):
        text = told(schema, table)
        assert LEFT_OUT in text
        for value in (*TREE_LABELS, *GRADES, *ILLS, "20 … 22", '"21"', "[20, 21"):
            assert value not in text, value
    # The user who asks has them all.
    whole = request_text(ReleaseRequest(table=files.table, schema=schema))
    assert all(value in whole for value in (*TREE_LABELS, *GRADES, "gout", "21"))


def test_a_hierarchy_from_a_file_is_named_by_it(tmp_path):
    files = files_in(tmp_path)
    schema = Schema.load(files.schema)
    request = ReleaseRequest(table=files.table, schema=schema)
    for document in (request_document(request), public_document(request)):
        assert document["schema"]["columns"]["job"]["hierarchy"] == str(files.tree)
        assert request_from(document).schema == schema
    text = told(schema, files.table)
    assert not any(label in text for label in (*TREE_LABELS, *GRADES, *ILLS))
    assert str(files.tree) in text
    assert LEFT_OUT not in text


def test_builders_without_values_are_written_in_full():
    columns = {
        "age": {"role": "quasi", "hierarchy": {"intervals": {"width": [5, 10]}}},
        "job": {"role": "quasi", "hierarchy": {"mask": {"length": 6}}},
        "grade": {"role": "quasi", "hierarchy": {"order": {"groups": [2]}}},
        "ill": "sensitive",
    }
    request = ReleaseRequest(table="t.csv", schema=plain_schema(columns=columns))
    assert public_document(request) == request_document(request)


def test_what_a_promise_beside_the_model_names_and_sql_are_left_out():
    promise = (AlphaKAnonymity(0.5, 4, values=["gout"]), KAnonymity(3))
    request = EncodeRequest(
        table=Database(uri="sqlite:///x.db", query="select * from t where name = 'Alice'"),
        model="m.json", safe=True, privacy=promise,
    )  # fmt: skip
    assert request_from(request_document(request)) == request
    text = json.dumps(public_document(request))
    assert "gout" not in text
    assert "Alice" not in text
    assert faults_of(public_document(request)) == [
        "table.query was left out of the report: write it in again",
        "privacy.1.values was left out of the report: write it in again",
    ]


def test_a_report_that_left_something_out_says_where(tmp_path):
    columns = {
        "job": {"role": "quasi", "hierarchy": {"tree": {"*": list(JOBS)}}},
        "grade": {"role": "quasi", "kind": "ordinal", "order": list(GRADES)},
        "age": {"role": "quasi", "hierarchy": {"order": {"fanout": 3, "order": [1, 2]}}},
    }
    request = VerifyRequest(table="t.csv", schema=plain_schema(columns=columns))
    assert faults_of(public_document(request)) == [
        "schema.columns.job.hierarchy was left out of the report: write it in again",
        "schema.columns.grade.order was left out of the report: write it in again",
        "schema.columns.age.hierarchy.order.order was left out of the report: write it in again",
    ]


def test_the_request_of_a_report_gives_the_same_bytes_again(tmp_path):
    files = files_in(tmp_path)
    first, second = files.path("first.csv"), files.path("second.csv")
    request = ReleaseRequest(
        table=CsvFile(files.table), schema=Schema.load(files.schema), seed=3,
        output=Output(out=first), checks=Checks(attacks="some"),
    )  # fmt: skip
    report = release(request).report
    page = files.path("request.yaml")
    page.write_text(request_text(replace(request, output=Output(out=second))), encoding="utf-8")
    release(load_request(page))
    assert first.read_bytes() == second.read_bytes()
    again = request_from(report.request)
    assert again == replace(request, table=str(files.table), output=Output(out=str(first)))
    first.unlink()
    release(again)
    assert first.read_bytes() == second.read_bytes()
