"""What a release and a model share: opened, fitted, counted, and refused before any search."""

from __future__ import annotations

import time
from dataclasses import replace

import polars as pl
import pytest
from tests.engines.open_job import open_job
from tests.jobs.people import PEOPLE, plain_schema

import shoal
from shoal import api
from shoal.core.errors import InputError, NoSolutionError, PrivacyError, SchemaError
from shoal.engines.counts import CountsHere
from shoal.jobs.clock import Clock
from shoal.jobs.requests import LearnRequest
from shoal.jobs.search import check_limit, check_values, fit, opened, promise_of
from shoal.methods.registry import method_named
from shoal.privacy import AlphaKAnonymity, KAnonymity, LDiversity

MASK = {"role": "quasi", "kind": "categorical", "hierarchy": {"mask": {"length": 300}}}
FEW = shoal.Schema.from_document(
    {"columns": {"a": MASK, "b": MASK}, "privacy": [{"model": "k-anonymity", "k": 5}],
     "suppression_limit": 1.0}
)  # fmt: skip


def three():
    texts = [letter * 300 for letter in "xyz"]
    return pl.DataFrame({"a": texts, "b": texts[::-1]})


@pytest.mark.parametrize("method", ["auto", *(method.name for method in api.methods())])
def test_fewer_records_than_k_are_seen_before_any_search(method, monkeypatch):
    def never(*args, **kwargs):
        raise AssertionError("searched")

    monkeypatch.setattr(CountsHere, "search", never)
    job = open_job(three(), FEW, method=method)
    with pytest.raises(NoSolutionError, match="all 3 records as one class reach 3"):
        job.search(learns=True)


def test_bfs_with_3_records_and_a_mask_of_300_levels_refuses_at_once():
    began = time.process_time()
    with pytest.raises(NoSolutionError, match="k-anonymity"):
        api.anonymize(three(), FEW, method="bfs")
    assert time.process_time() - began < 3


def fitted(schema, method="mondrian"):
    """Return what a schema is for the people, its promise, and the columns to count."""
    return fit(schema, PEOPLE.columns, method_named(method), "people")


def test_a_promise_is_needed_and_so_is_a_quasi_identifier():
    with pytest.raises(PrivacyError, match="no promise was given"):
        promise_of(plain_schema(privacy=[]))
    assert promise_of(plain_schema()) == (KAnonymity(4),)
    with pytest.raises(InputError, match="no quasi-identifier"):
        fitted(plain_schema(columns=dict.fromkeys(PEOPLE.columns, "neutral")))


def test_a_promise_is_bound_to_every_sensitive_column():
    columns = {**plain_schema().to_document()["columns"], "grade": "sensitive"}
    schema = replace(plain_schema(columns=columns), privacy=(LDiversity(2),))
    _, promise, counted = fitted(schema)
    assert promise == (LDiversity(2, column="grade"), LDiversity(2, column="ill"))
    assert counted == ["grade", "ill"]


def test_only_what_somebody_looks_at_is_counted():
    assert fitted(plain_schema())[2] == []
    assert fitted(plain_schema(target="grade"))[2] == ["grade"]
    assert fitted(plain_schema(target="age"))[2] == []  # a quasi-identifier is counted anyway
    spreading = [m.name for m in api.methods() if m.spreads]
    assert spreading
    for name in spreading:
        assert fitted(plain_schema(), name)[2] == ["ill"]


def test_a_table_is_open_while_its_job_runs(monkeypatch):
    closed = []
    monkeypatch.setattr(CountsHere, "close", lambda self: closed.append(True), raising=False)
    request = LearnRequest(table=PEOPLE, schema=plain_schema())
    with opened(request, Clock()) as job:
        assert job.counts.table.records == 40
        assert job.schema.quasi == ("age", "job")
        assert not closed
    with pytest.raises(ValueError, match="stop"), opened(request, Clock()):
        raise ValueError("stop")
    assert closed == [True, True]


def test_a_table_may_be_looked_at_before_any_work():
    def refused(table):
        raise InputError(where=table.where, problem="not this one")

    request = LearnRequest(table=PEOPLE, schema=plain_schema())
    with (
        pytest.raises(InputError, match="not this one"),
        opened(request, Clock(), check=refused),
    ):
        raise AssertionError("opened")


def test_values_that_a_promise_names_must_occur():
    for values, fault in ((["gout"], None), (["gout", "Alice"], "1 of 2 named values")):
        promise = AlphaKAnonymity(0.9, 2, column="ill", values=values)
        job = open_job(PEOPLE, replace(plain_schema(), privacy=(LDiversity(2, column="ill"),)))
        schema = replace(job.schema, privacy=(promise,))
        if fault is None:
            check_values(schema, job.counts.table)
            continue
        with pytest.raises(SchemaError, match=fault) as caught:
            check_values(schema, job.counts.table)
        assert "Alice" not in str(caught.value)


@pytest.mark.parametrize(
    ("suppressed", "records", "limit", "least"),
    [(0, 10, 0.0, None), (1, 10, 0.1, None), (2, 10, 0.1, "0.2"), (1, 3, 0.33, "0.333334"),
     (1, 3, 0.333334, None)],
)  # fmt: skip
def test_more_suppressed_records_than_allowed_are_refused(suppressed, records, limit, least):
    schema = plain_schema(suppression_limit=limit)
    if least is None:
        check_limit(suppressed, records, schema)
        return
    with pytest.raises(NoSolutionError, match=rf"--suppression-limit {least}$"):
        check_limit(suppressed, records, schema)


def test_what_is_out_of_reach_is_said_without_the_values_of_the_promise():
    promise = AlphaKAnonymity(0.01, 2, column="ill", values=["gout"])
    with pytest.raises(NoSolutionError, match=r"alpha=0\.01, k=2") as caught:
        open_job(PEOPLE, replace(plain_schema(), privacy=(promise,))).search(learns=True)
    assert "gout" not in str(caught.value)


def test_a_setting_is_what_schema_and_request_say():
    schema = plain_schema(suppression_limit=0.2, utility="dm", target="grade")
    search, classes = open_job(PEOPLE, schema, method="flash", seed=7, threads=1).search(
        learns=True
    )
    setting = search.setting
    assert (setting.suppression_limit, setting.utility, setting.target) == (0.2, "dm", "grade")
    assert (setting.seed, setting.threads, search.partitions) == (7, 1, None)
    assert classes.recoding.table.records == 40
