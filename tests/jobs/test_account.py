"""The account of a release: what was promised, lost, warned of and found."""

from __future__ import annotations

from dataclasses import replace

import polars as pl
import pytest
from tests.jobs.people import PEOPLE, plain_schema

from shoal.jobs.account import Judged, account
from shoal.jobs.clock import Clock
from shoal.jobs.release import release
from shoal.jobs.requests import LearnRequest, ReleaseRequest
from shoal.jobs.search import opened
from shoal.privacy import KAnonymity


def reported(table=PEOPLE, **words):
    """Release a table; return the report."""
    schema = words.pop("schema", plain_schema())
    return release(ReleaseRequest(table=table, schema=schema, **words)).report


def test_the_account_is_made_of_what_was_judged():
    request = LearnRequest(table=PEOPLE, schema=plain_schema())
    with opened(request, Clock()) as job:
        search, classes = job.search(learns=True)
        verdicts = classes.judge(job.promise)
        judged = Judged(verdicts, classes=77, smallest_class=3, notices=("a notice",))
        found = account(job, search, classes, judged)
    assert (found.classes, found.smallest_class) == (77, 3)  # not counted once more
    assert found.privacy == verdicts
    assert found.notices[0] == "a notice"
    assert found.records == 40
    assert found.risk_before.records == found.risk_after.records == 40
    assert set(found.seconds) >= {"read", "learn", "encode", "verify", "write", "measure", "total"}
    assert found.seconds["write"] == 0.0
    assert found.request is None


def test_every_quasi_identifier_has_its_loss_and_every_column_its_role():
    found = reported()
    assert set(found.columns) == {"age", "job"}
    assert all(0 <= loss <= 1 for loss in found.columns.values())
    assert {name: about["role"] for name, about in found.roles.items()} == {
        "age": "quasi", "job": "quasi", "grade": "neutral", "ill": "sensitive",
    }  # fmt: skip


def test_columns_without_a_role_are_named():
    table = PEOPLE.with_columns(pl.lit(1).alias("extra"))
    found = reported(table, schema=plain_schema(others="drop"))
    assert any("'extra'" in text and "--neutral" in text for text in found.notices)
    assert not any("'age'" in text for text in found.notices)


@pytest.mark.parametrize("name", ["entropy", "height"])
def test_an_old_name_of_a_measure_is_said(name):
    found = reported(schema=plain_schema(utility=name))
    assert any(f"--utility {name} is an old name" in text for text in found.notices)


def test_the_classification_metric_needs_a_target_or_a_column_that_was_counted():
    assert reported().utility["cm"] is None
    assert reported(schema=plain_schema(target="grade")).utility["cm"] is not None
    counted = plain_schema(privacy=[{"model": "l-diversity", "l": 2, "column": "ill"}])
    assert reported(schema=counted).utility["cm"] is not None


def test_centroids_have_a_squared_loss_and_boxes_have_none():
    assert reported().utility["sse_loss"] is None
    assert 0 <= reported(release="aggregate").utility["sse_loss"] <= 100


def test_a_promise_of_nothing_and_a_release_of_nothing_are_warned_of():
    void = replace(plain_schema(), privacy=(KAnonymity(1),))
    assert reported(schema=void).warnings
    one_class = replace(plain_schema(), privacy=(KAnonymity(40),))
    assert len(reported(schema=one_class).warnings) == 1
    assert reported().warnings == ()


def test_people_with_several_records_are_warned_of():
    columns = {**plain_schema().to_document()["columns"], "who": "identifying"}
    table = PEOPLE.with_columns(who=pl.Series([f"P{i // 10}" for i in range(40)]))
    found = reported(table, schema=plain_schema(columns=columns))
    assert found.repeats["column"] == "who"
    assert any("who" in text for text in found.warnings)
    assert not any("P1" in text for text in found.warnings)
