"""A model as a whole job: learned, judged, described."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.jobs.people import PEOPLE, files_in, plain_schema

from shoal.core.errors import MethodError, NoSolutionError, ShoalError, UnsafeReleaseError
from shoal.engines import counts
from shoal.jobs.documents import request_from
from shoal.jobs.encode import encode
from shoal.jobs.learn import learn
from shoal.jobs.model import RecodingModel
from shoal.jobs.requests import EncodeRequest, LearnRequest
from shoal.methods.registry import METHODS, method_named
from shoal.privacy import KAnonymity, LDiversity
from shoal.schema.schema import Schema

ASKED = LearnRequest(table=PEOPLE, schema=plain_schema())


def promised(*promise):
    """Return the request under another promise."""
    return replace(ASKED, schema=replace(ASKED.schema, privacy=promise))


def test_a_model_and_its_account_say_the_same():
    found = learn(ASKED)
    assert found.report.method == found.model.to_document()["method"]
    assert found.report.records == found.report.released + found.report.suppressed == 40
    assert found.report.smallest_class >= 4
    assert all(verdict.holds for verdict in found.report.privacy)
    assert [a.name for a in found.model.schema.attributes] == PEOPLE.columns
    assert RecodingModel.from_document(found.model.to_document()) == found.model


def test_a_model_keeps_its_promise_on_the_table_it_was_learned_from():
    model = learn(promised(KAnonymity(3), LDiversity(2, column="ill"))).model
    done = encode(EncodeRequest(table=PEOPLE, model=model, safe=True))
    assert done.verification.holds
    assert done.report.suppressed == 0


def test_stages_are_told_and_timed():
    told = []
    found = learn(ASKED, progress=told.append)
    assert [s for s in told if s != "compile"] == [
        "read", "learn", "model", "verify", "measure", "model",
    ]  # fmt: skip
    assert {"read", "learn", "verify", "measure", "model", "total"} <= set(found.report.seconds)
    assert set(found.report.facts["cpu_seconds"]) >= {"learn", "model"}


def test_the_request_of_the_report_gives_the_same_model(tmp_path):
    files = files_in(tmp_path)
    request = LearnRequest(
        table=files.table, schema=Schema.load(files.schema), method=method_named("mondrian"), seed=3
    )
    first = learn(request)
    again = request_from(first.report.request)
    assert again == replace(request, table=str(files.table))
    assert learn(again).model.to_json() == first.model.to_json()


@pytest.mark.parametrize("name", [n for n, m in METHODS.items() if m.family == "mondrian"])
def test_partitioned_methods_learn(name):
    assert learn(replace(ASKED, method=method_named(name))).report.method == name


def test_parts_that_are_learned_side_by_side_are_joined():
    found = learn(replace(ASKED, partitions=2))
    assert found.report.records == 40
    assert found.report.smallest_class >= 4


@pytest.mark.parametrize(
    ("request_", "error"),
    [
        (promised(), ShoalError),
        (promised(KAnonymity(41)), NoSolutionError),
        (replace(ASKED, partitions=0), MethodError),
        (replace(ASKED, table=PEOPLE.head(0)), ShoalError),
        (replace(ASKED, table="nowhere.csv"), ShoalError),
    ],
)
def test_what_cannot_be_learned_is_refused(request_, error):
    with pytest.raises(error):
        learn(request_)


@pytest.mark.local("judges the classes that this machine holds")
def test_classes_that_do_not_keep_the_promise_are_no_model(monkeypatch):
    real = counts.ClassesHere.judge

    def failing(self, promise):
        return tuple(replace(verdict, holds=False) for verdict in real(self, promise))

    monkeypatch.setattr(counts.ClassesHere, "judge", failing)
    with pytest.raises(UnsafeReleaseError, match="do not keep the promise"):
        learn(ASKED)
