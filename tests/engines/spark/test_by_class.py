"""Work on whole classes: the tuples of a class meet in one task, and answers are in order."""

from __future__ import annotations

import numpy as np
import pytest
from tests.engines.spark.tables import counted
from tests.engines.spark.tasks import shuffled

pytest.importorskip("pyspark", reason="the package pyspark is not installed (shoal[spark])")

import polars as pl
from tests.engines.spark.tables import PROMISE, frame, schema

from shoal import api
from shoal.engines.spark.arrange import PLACES
from shoal.engines.spark.by_class import _sender, _TaskClasses
from shoal.engines.spark.chunks import ROWS, chunk_of
from shoal.engines.spark.coding import Packing
from shoal.methods.catalogue import Mondrian
from shoal.methods.microaggregation.centroids import centroids
from shoal.privacy import KAnonymity


def test_centroids_of_a_distributed_table(spark, tmp_path):
    options = {"method": "mondrian", "release": "aggregate"}
    wanted = api.anonymize(frame(), schema(), privacy=PROMISE, **options)
    table = api.SparkTable(frame(), driver_rows=10)
    found = api.anonymize(table, schema(), privacy=PROMISE, **options)
    assert pl.from_arrow(found.table.toArrow()).rows() == wanted.table.rows()
    assert found.report.classes == wanted.report.classes
    assert found.report.utility == wanted.report.utility


def test_modes_of_a_distributed_table(spark):
    options = {"method": "kmodes"}
    table = api.SparkTable(frame(), driver_rows=40)
    found = api.anonymize(table, schema(("flat", "tree")), privacy=PROMISE, **options)
    released = pl.from_arrow(found.table.toArrow())
    assert set(released["tree"].cast(pl.String)) <= set(frame()["tree"])  # no inner node


def tasks_of(table, recoding, ask, tasks):
    """Return the answers of all tasks about the classes of a recoding, whose chunks are split."""
    packing = Packing(tuple(len(d) for d in (*table.domains, *table.sensitive_domains)))
    keys = packing.pack(np.concatenate((table.codes, table.sensitive), axis=1))
    ends = np.arange(tasks + 1) * recoding.classes // tasks
    chunks = []
    for some in np.array_split(np.arange(len(recoding.row)), 3):
        own = packing.named([key[recoding.row[some]] for key in keys])
        chunks.append(chunk_of({**own, PLACES: recoding.label[some], ROWS: recoding.count[some]}))
    sent = shuffled(_sender(packing, ends)(iter(chunks)))
    work = _TaskClasses(packing, table.domains, table.sensitive_domains, ends, ask)
    answers = [answer for batches in sent.values() for answer in work(iter(batches))]
    return [answer for _, answer in sorted(answers, key=lambda each: each[0])]


@pytest.mark.parametrize("tasks", [1, 3])
def test_a_task_has_the_whole_of_its_classes(tasks):
    table = counted()
    recoding = Mondrian().search(table, [KAnonymity(9)])
    sizes = tasks_of(table, recoding, lambda classes: classes.sizes.tolist(), tasks)
    assert [size for some in sizes for size in some] == recoding.sizes.tolist()
    assert len(sizes) == tasks
    found = tasks_of(table, recoding, centroids, tasks)
    wanted = centroids(recoding)
    for j, column in enumerate(wanted):
        assert tuple(text for answer in found for text in answer[j]) == column


def test_suppressed_records_are_in_no_class():
    table = counted()
    recoding = Mondrian().search(table, [KAnonymity(9)])
    recoding.label[:5] = -1
    records = tasks_of(table, recoding, lambda classes: int(classes.count.sum()), 2)
    assert sum(records) == table.records - int(recoding.count[:5].sum())
