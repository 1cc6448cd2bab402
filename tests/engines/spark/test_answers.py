"""Python objects from tasks: every answer comes to the driver, errors of ours as they are."""

from __future__ import annotations

import pytest

pytest.importorskip("pyspark", reason="the package pyspark is not installed (shoal[spark])")

from shoal.core.errors import InputError
from shoal.engines.spark.answers import ask_tasks
from shoal.engines.spark.coding import table_changed


def test_every_task_answers_as_often_as_it_likes(spark):
    table = spark.range(0, 60, numPartitions=3)

    def ask(batches):
        total = 0
        for batch in batches:
            total += sum(batch.column("id").to_pylist())
        yield {"sum": total}
        if total < 200:
            yield (None, "few")

    found = ask_tasks(table, ask, where="t")
    assert sorted(each["sum"] for each in found if isinstance(each, dict)) == [190, 590, 990]
    assert [each for each in found if not isinstance(each, dict)] == [(None, "few")]


def test_an_error_of_a_task_says_where_and_shows_no_value(spark):
    table = spark.createDataFrame([("Alice",)], "name string")

    def ours(batches):
        raise table_changed("t")
        yield from batches

    def bug(batches):
        raise ValueError(next(batches).column("name")[0].as_py())
        yield

    with pytest.raises(InputError, match="did the table change"):
        ask_tasks(table, ours, where="t")
    with pytest.raises(InputError, match="could not finish") as caught:
        ask_tasks(table, bug, where="t")
    assert "Alice" not in str(caught.value)
