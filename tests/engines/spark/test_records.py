"""Records on Spark without Spark: how many tuples a driver takes, and where a release goes."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

pytest.importorskip("pyspark", reason="the package pyspark is not installed (shoal[spark])")

from shoal.core.errors import OutputError
from shoal.engines.base import Output
from shoal.engines.spark.distributed import DRIVER_ROWS
from shoal.engines.spark.records import SparkRecords, driver_rows, judged_of
from shoal.engines.spark.written import goal_of
from shoal.formats.spark_table import SparkTable
from shoal.schema.schema import Schema


def source(given=None):
    return SimpleNamespace(session=None, separator=";", given=given)


def test_a_table_says_how_many_tuples_the_driver_takes():
    assert driver_rows(SparkTable("t")) == driver_rows("t") == DRIVER_ROWS
    assert driver_rows(SparkTable("t", driver_rows=7)) == 7
    assert driver_rows(SparkTable("t", driver_rows=0)) == 0


def test_no_input_is_overwritten_and_the_separator_stays(tmp_path):
    out = tmp_path / "r.csv"
    out.write_text("a\n")
    with pytest.raises(OutputError, match="is also an input"):
        goal_of(source(SparkTable(out)), Output(out=out)).__enter__()
    with pytest.raises(OutputError, match="is also an input"):
        goal_of(source(), Output(out=out, inputs=(out,))).__enter__()
    writing = goal_of(source(SparkTable("elsewhere")), Output(out=out, spreadsheet_safe=True))
    goal = writing.__enter__()
    assert (goal.separator, goal.is_guarded) == (";", True)
    assert not writing.__exit__(KeyError, KeyError(), None)


def test_a_table_that_is_returned_has_no_place():
    with goal_of(source(), Output()) as goal:
        assert goal is None


def test_what_is_judged_of_persons_is_what_a_promise_may_look_at():
    columns = {"n": "neutral", "q": "quasi", "s": "sensitive", "id": "person"}
    schema = Schema.from_document({"columns": columns})
    assert judged_of(schema, ["s", "n", "q"]) == ["s", "q"]
    assert judged_of(schema.without_person(), ["s", "n", "q"]) == []


def test_where_persons_are_counted_no_other_column_is_asked_whose_a_record_is():
    schema = Schema.from_document({"columns": {"q": "quasi", "id": "person", "i": "identifying"}})
    assert SparkRecords(source(), schema, ()).repeats(None, 5, star=False) is None
