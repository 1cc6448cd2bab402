"""Partitions of a table at the driver that tasks learn on: the same, whoever holds them."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from tests.engines.spark.tables import PROMISE, counted

pytest.importorskip("pyspark", reason="the package pyspark is not installed (shoal[spark])")

from tests.engines.spark.tables import frame, schema

from shoal import api
from shoal.core.errors import NoSolutionError
from shoal.engines.spark.counts import learning_task
from shoal.engines.spark.partitions import _NO_TABLE, LearningTask, _learned, packed_codes
from shoal.methods.coarse import learn_partition, subtable
from shoal.methods.method import Setting
from shoal.methods.partition import Partition
from shoal.methods.registry import method_named
from shoal.privacy import KAnonymity, expand
from shoal.table.frequency import NOBODY, ONCE


def test_parts_on_executors_are_deterministic_and_hold(spark):
    models = []
    for slices, rows in ((1, None), (6, 60)):  # at the driver, and where it does not take them
        table = spark.createDataFrame(frame().to_arrow()).repartition(slices)
        made = api.learn_with_report(
            api.SparkTable(table, driver_rows=rows), schema(), privacy=PROMISE,
            method="oka", partitions=3, partition_by="kmeans", seed=4,
        )  # fmt: skip
        assert made[1].facts["partitions"] in (1, 2, 3)
        assert all(result.holds for result in made[1].privacy)
        models.append(made[0].to_json())
    assert models[0] == models[1]


def task_of(table, models, method="mondrian"):
    return LearningTask(
        domains=table.domains, sensitive_domains=table.sensitive_domains,
        whole=tuple(table.reference(s) for s in range(len(table.sensitive_domains))),
        models=tuple(models), method=method_named(method), setting=Setting(seed=1),
    )  # fmt: skip


def test_a_partition_is_a_table_that_knows_the_whole():
    table = counted()
    task = task_of(table, PROMISE)
    codes = np.concatenate((table.codes, table.sensitive), axis=1)[::2]
    found = task.table(codes, table.counts[::2])
    assert found.codes.tolist() == table.codes[::2].tolist()
    assert found.sensitive.tolist() == table.sensitive[::2].tolist()
    assert found.reference(0).tolist() == table.reference(0).tolist()
    assert found.records < table.records


@pytest.mark.parametrize("method", ["mondrian", "flash"])
def test_what_a_task_found_stands_on_the_table_of_the_driver(method):
    table = counted()
    task = task_of(table, expand([KAnonymity(3)], []), method)
    part = Partition(np.arange(0, table.rows, 2), table.counts[::2])
    wanted = learn_partition(table, task.models, part, task.search)
    sent = replace(wanted.recoding, table=_NO_TABLE)
    found = _learned(table, part, sent)
    assert found.rows.tolist() == part.rows.tolist()
    assert found.recoding.table.codes.tolist() == wanted.recoding.table.codes.tolist()
    for j in range(len(table.domains)):
        assert found.recoding.labels(j) == wanted.recoding.labels(j)
    assert _learned(table, part, None) is None


def test_a_task_says_what_the_method_says():
    table = counted(models=[KAnonymity(2)])
    with pytest.raises(NoSolutionError):
        task_of(table, [KAnonymity(1000)], "flash").search(table)


def with_persons(table):
    """Return a table whose rows are of nobody, of somebody else each, and of three persons."""
    who = np.resize(np.array([ONCE, NOBODY, 0, 1, 2, 0], dtype=np.int32), table.rows)
    return replace(table, persons=who)


def test_a_partition_of_persons_travels_with_them_and_knows_everybody():
    table = with_persons(counted())
    search = SimpleNamespace(promise=(), method=None, alone=None)
    task = learning_task(table, search)
    codes, packing = packed_codes(table)
    sent = packing.unpack(packing.pack(codes))
    some = slice(3, None, 2)
    found = task.table(sent[some], table.counts[some])
    assert found.persons.tolist() == table.persons[some].tolist()
    assert found.codes.tolist() == table.codes[some].tolist()
    assert found.sensitive.tolist() == table.sensitive[some].tolist()
    assert found.people < table.people
    part = subtable(found, Partition(np.arange(found.rows), found.counts))
    wanted = subtable(table, Partition(np.arange(3, table.rows, 2), table.counts[some]))
    for each in (found, part):
        assert each.whole_people[1] == wanted.whole_people[1] == table.people
        assert each.people_by_value(0).tolist() == table.people_by_value(0).tolist()


def test_without_persons_none_travel():
    codes, packing = packed_codes(counted())
    assert codes.shape[1] == len(packing.sizes) == 4
    assert learning_task(
        counted(), SimpleNamespace(promise=(), method=None, alone=None)
    ).whole_people is None  # fmt: skip
