"""Verification of a table as it stands, whoever made it."""

from __future__ import annotations

from dataclasses import replace

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.jobs.people import PEOPLE, plain_schema

from shoal.core.errors import PrivacyError, SchemaError
from shoal.jobs.requests import VerifyRequest
from shoal.jobs.verify import verify
from shoal.privacy import KAnonymity, LDiversity

LABELS = PEOPLE.with_columns(
    age=pl.lit("20-29"), job=pl.when(pl.col("job") == "baker").then(pl.lit("food")).otherwise("job")
)


def promised(*promise):
    """Return a schema with this promise."""
    return replace(plain_schema(), privacy=promise)


@given(st.lists(st.integers(1, 6), min_size=1, max_size=6), st.integers(1, 6))
@settings(max_examples=25, deadline=None)
def test_classes_are_counted_as_a_reader_would(sizes, k):
    labels = [str(at) for at, size in enumerate(sizes) for _ in range(size)]
    table = pl.DataFrame({"age": labels, "job": labels, "grade": "x", "ill": "y"})
    found = verify(VerifyRequest(table=table, schema=promised(KAnonymity(k))))
    assert found.holds == (min(sizes) >= k)
    assert found.smallest_class == min(sizes)
    assert found.classes == len(sizes)
    assert found.violating_records == sum(size for size in sizes if size < k)


def test_every_promise_is_judged():
    schema = promised(KAnonymity(10), LDiversity(4, column="ill"))
    found = verify(VerifyRequest(table=LABELS, schema=schema))
    assert [verdict.holds for verdict in found.privacy] == [True, False]
    assert not found.holds


def test_columns_beside_change_no_verdict_but_bring_a_warning():
    mails = pl.Series("mail", [f"p{i}@example.org" for i in range(40)])
    schema = promised(KAnonymity(10))
    plain = verify(VerifyRequest(table=LABELS, schema=schema))
    beside = verify(VerifyRequest(table=LABELS.with_columns(mails), schema=schema))
    assert beside.privacy == plain.privacy
    assert any("mail" in text for text in beside.warnings)
    assert not any("example.org" in text for text in beside.warnings)
    assert not any("mail" in text for text in plain.warnings)


def test_a_promise_that_promises_nothing_is_named():
    found = verify(VerifyRequest(table=LABELS, schema=promised(KAnonymity(1))))
    assert found.holds
    assert found.warnings


@pytest.mark.parametrize("name", ["mail", "\x00mail"])
def test_a_column_that_identifies_is_a_warning_whatever_it_is_called(name):
    mails = [f"somebody{number:09d}@example.org" for number in range(60)]
    told = {"age": ["20-29"] * 60, "job": ["food"] * 60, "ill": ["flu"] * 60}
    table = pl.DataFrame({**told, name: mails})
    asked = VerifyRequest(table=table, schema=promised(KAnonymity(3)))
    assert any("is an identifier" in line for line in verify(asked).warnings)


def test_an_identifying_column_that_was_left_in_is_a_warning():
    columns = {**plain_schema().to_document()["columns"], "grade": "identifying"}
    schema = replace(plain_schema(columns=columns), privacy=(KAnonymity(10),))
    found = verify(VerifyRequest(table=LABELS, schema=schema))
    assert any("grade" in text for text in found.warnings)


@pytest.mark.local("--blanked")
def test_a_class_whose_sensitive_cells_are_blank_passes_where_that_is_said():
    blank = LABELS.with_columns(
        ill=pl.when(pl.col("job") == "food").then(None).otherwise(pl.col("ill"))
    )
    request = VerifyRequest(table=blank, schema=promised(LDiversity(2, column="ill")))
    assert not verify(request).holds
    assert verify(replace(request, blanked=True)).holds


def test_a_question_without_a_promise_or_a_column_is_refused():
    with pytest.raises(PrivacyError, match="no promise was given"):
        verify(VerifyRequest(table=LABELS, schema=promised()))
    with pytest.raises(SchemaError, match="no such column"):
        verify(VerifyRequest(table=LABELS.drop("job"), schema=promised(KAnonymity(2))))


def test_a_file_is_read_with_its_separator(tmp_path):
    path = tmp_path / "r.csv"
    LABELS.write_csv(path, separator="|")
    request = VerifyRequest(table=path, schema=promised(KAnonymity(10)), separator="|")
    assert verify(request).holds
