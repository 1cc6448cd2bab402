"""Laws on small random tables: Spark and the local engine write the same bytes, and they hold."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.laws.dirty import Dirty, dirty_tables
from tests.laws.test_release_laws import cases, folder
from tests.naive import release as naive

from shoal import api
from shoal.core.errors import InputError, NoSolutionError, UnknownValueError
from shoal.engines.spark.source import open_table
from shoal.engines.spark.verify import verify_table

LAW = settings(
    max_examples=4, deadline=None, derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)  # fmt: skip


def written(case, place, table):
    """Return the bytes of a release; None where even one class for all breaks the promise."""
    out = place / "o.csv"
    try:
        api.anonymize(table, case.schema(), out=out, method="mondrian-relaxed")
    except NoSolutionError:
        assert not out.exists()
        return None
    return out.read_bytes()


@LAW
@given(case=cases(fewest=12))
def test_both_engines_write_the_same_release_and_it_holds(spark, case):
    with folder() as here, folder() as there:
        wanted = written(case, here, case.write(here / "t.csv"))
        found = written(case, there, api.SparkTable(case.write(there / "t.csv")))
        assert found == wanted
        if found is not None:
            rows = naive.read(there / "o.csv")
            assert naive.broken(rows, case.quasi, case.promise, columns=case.facts) == 0


# Columns whose scale comes from numbers, dates, an order, a tree, a builder, and from nothing.
SCALES = (
    "numbers, tree", "dates, built", "order", "words, tree", "undeclared numbers",
    "undeclared words",
)  # fmt: skip


@pytest.mark.parametrize("column", SCALES)
@settings(LAW, max_examples=3)
@given(data=st.data())
def test_spark_judges_a_dirty_column_as_the_local_engine_does_or_refuses_it(spark, column, data):
    """Cells that are brought to the driver, and classes that are judged where they are."""
    table = data.draw(dirty_tables(column))
    frame = spark.createDataFrame(table.frame.to_arrow())
    source = open_table(frame)
    schema = table.schema.judged()
    try:
        wanted = api.verify(table.frame, table.schema)
    except (InputError, UnknownValueError):
        for few in (0, 1000):
            with pytest.raises((InputError, UnknownValueError)):
                verify_table(source, schema, table.schema.privacy, few=few)
        return
    for few in (0, 1000):
        found = verify_table(source, schema, table.schema.privacy, few=few)
        assert replace(found, warnings=wanted.warnings) == wanted
        assert set(found.warnings) <= set(wanted.warnings)


def test_what_does_not_fit_the_scale_is_refused_on_spark(spark):
    rows = [{"q0": "a", "q1": "x", "s": cell} for cell in ("1", "2", "10", "unknown")]
    promise = [
        {"model": "k-anonymity", "k": 1},
        {"model": "t-closeness", "t": 1.0, "distance": "ordered", "column": "s"},
    ]
    table = Dirty("numbers", rows, promise, fold=False)
    frame = spark.createDataFrame(table.frame.to_arrow())
    for work in (
        lambda: api.anonymize(frame, table.schema, method="mondrian"),
        lambda: api.learn(frame, table.schema, method="mondrian"),
        lambda: api.verify(frame, table.schema),
        lambda: api.encode(frame, table.model, safe=True),
    ):
        with pytest.raises(InputError, match="1 of 4 distinct values are not numbers") as caught:
            work()
        assert "unknown" not in str(caught.value)


def test_spellings_are_one_value_on_spark(spark):
    rows = [{"q0": "a", "q1": "x", "s": cell} for cell in ("HIV", "HIV ", "\u00a0HIV", "hiv")]
    promise = [{"model": "l-diversity", "l": 2, "column": "s"}]
    table = Dirty("words", rows, promise, fold=False)
    frame = spark.createDataFrame(table.frame.to_arrow())
    found = api.verify(frame, table.schema)
    assert found.privacy[0].value == 2
    assert any("2 values of column 's' differ" in said for said in found.warnings)
    assert not api.verify(frame, table._replace(fold=True).schema).holds
