"""A release measured against its table, by its labels alone."""

from __future__ import annotations

import polars as pl
import pytest
from tests.jobs.people import PEOPLE, files_in, plain_schema

from shoal.core.errors import SchemaError
from shoal.engines.base import Output
from shoal.jobs.measure import measure
from shoal.jobs.release import release
from shoal.jobs.requests import MetricsRequest, ReleaseRequest


def measured(made, **words):
    """Measure a release of the people."""
    return measure(MetricsRequest(table=PEOPLE, release=made, schema=plain_schema(), **words))


def test_what_the_labels_say_is_what_the_release_reported():
    done = release(ReleaseRequest(table=PEOPLE, schema=plain_schema()))
    found = measured(done.table)
    assert found["records"] == 40
    assert found["suppressed"] == 0
    assert found["classes"] == done.report.classes
    for name in ("il", "ncp", "dm", "aecs", "loss"):
        assert found["utility"][name] == pytest.approx(done.report.utility[name]), name


def test_a_table_that_is_released_as_it_is_loses_nothing():
    found = measured(PEOPLE)
    assert found["utility"]["ncp"] == found["utility"]["loss"] == 0


def test_starred_records_are_suppressed_or_a_class_of_their_own():
    star = PEOPLE.with_columns(
        age=pl.when(pl.int_range(pl.len()) < 8)
        .then(pl.lit("*"))
        .otherwise(pl.col("age").cast(str)),
        job=pl.when(pl.int_range(pl.len()) < 8).then(pl.lit("*")).otherwise(pl.col("job")),
    )
    assert measured(star, starred=True)["suppressed"] == 8
    assert measured(star, starred=False)["suppressed"] == 0
    assert measured(star)["suppressed"] == 8
    assert measured(star)["classes"] == measured(star, starred=False)["classes"] - 1


def test_files_are_measured_with_their_separator(tmp_path):
    files = files_in(tmp_path)
    table, out = files.path("t.csv"), files.path("r.csv")
    PEOPLE.write_csv(table, separator=";")
    asked = {"table": table, "schema": plain_schema(), "separator": ";"}
    release(ReleaseRequest(**asked, output=Output(out=out)))
    found = measure(MetricsRequest(**asked, release=out))
    assert found["records"] == 40


def test_the_promise_of_the_schema_is_not_needed_but_its_columns_are():
    schema = plain_schema(privacy=[])
    assert measure(MetricsRequest(table=PEOPLE, release=PEOPLE, schema=schema))["records"] == 40
    with pytest.raises(SchemaError, match="grade"):
        measure(MetricsRequest(table=PEOPLE.drop("grade"), release=PEOPLE, schema=schema))


def test_loss_weighs_records_whoever_they_are_about():
    who = pl.Series("who", [f"p{i % 7}" for i in range(PEOPLE.height)])
    table = PEOPLE.with_columns(who)
    schema = plain_schema().with_person(["who"])
    made = release(ReleaseRequest(table=table, schema=schema)).table
    assert "who" not in made.columns
    found = measure(MetricsRequest(table=table, release=made, schema=schema))
    plain = MetricsRequest(table=table, release=made, schema=schema.without_person())
    assert found == measure(plain)
