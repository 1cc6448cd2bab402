"""Mondrian on Spark: counters and blocks against plain Python, releases against the local ones."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from tests.engines.spark.tables import PROMISE, counted

pytest.importorskip("pyspark", reason="the package pyspark is not installed (shoal[spark])")

from tests.engines.spark.tables import frame, schema

from shoal import api
from shoal.engines.spark.chunks import ROWS, by_task_partition, chunk_of
from shoal.engines.spark.coding import Packing
from shoal.engines.spark.cuts import Cut, Tree
from shoal.engines.spark.distributed import LABELS
from shoal.engines.spark.mondrian import _batches, _block_counter, _cutter, _sender, _side_counter
from shoal.engines.spark.partitions import LearningTask
from shoal.methods.catalogue import Mondrian
from shoal.methods.method import Setting
from shoal.privacy import expand


def test_mondrian_with_cuts_by_jobs(spark, tmp_path, monkeypatch):
    monkeypatch.setattr("shoal.engines.spark.mondrian.TASK_ROWS", 60)
    here, there = tmp_path / "here.csv", tmp_path / "there.csv"
    options = {"method": "mondrian"}
    wanted = api.anonymize(frame(), schema(), privacy=PROMISE, **options)
    wanted.table.write_csv(here)
    table = api.SparkTable(frame(), driver_rows=10)
    made = api.anonymize(table, schema(), privacy=PROMISE, out=there)  # auto: what is cut by jobs
    assert made.report.method == "mondrian"
    assert there.read_bytes() == here.read_bytes()
    assert made.report.risk_before == wanted.report.risk_before
    assert made.report.utility == wanted.report.utility


MODELS = tuple(expand(PROMISE, ["s"]))


@pytest.fixture(scope="module")
def table():
    return counted()


def chunked(table):
    """Return a frequency table as one chunk, and the packing of its keys."""
    sizes = [len(domain) for domain in (*table.domains, *table.sensitive_domains)]
    packing = Packing(tuple(sizes))
    rows = np.concatenate((table.codes, table.sensitive), axis=1)
    return packing, chunk_of({**packing.named(packing.pack(rows)), ROWS: table.counts})


def counters_of(counter, chunk):
    (batch,) = counter(iter([chunk]))
    found = np.zeros(counter.size, dtype=np.int64)
    found[batch.column("counter").to_numpy()] = batch.column("n").to_numpy()
    return found


def cut_once(table):
    tree = Tree()
    tree.grow({0: Cut(1, len(table.domains[1]) // 2)})
    return tree


def test_codes_are_counted_in_each_block(table):
    packing, chunk = chunked(table)
    tree, sizes = cut_once(table), [len(domain) for domain in table.domains]
    found = counters_of(_block_counter(packing, tree, [2, 1], sizes), chunk).reshape(2, 2, -1)
    block = tree.block_of(table.codes)
    starts = np.cumsum([0, *sizes])
    for place, number in enumerate((2, 1)):
        records, rows = Counter(), Counter()
        for i in np.flatnonzero(block == number).tolist():
            for j, code in enumerate(table.codes[i].tolist()):
                records[starts[j] + code] += int(table.counts[i])
                rows[starts[j] + code] += 1
        assert {i: n for i, n in enumerate(found[place, 0].tolist()) if n} == records
        assert {i: n for i, n in enumerate(found[place, 1].tolist()) if n} == rows


def test_sensitive_values_are_counted_on_both_sides_of_a_cut(table):
    packing, chunk = chunked(table)
    tree, sizes = cut_once(table), [len(domain) for domain in table.sensitive_domains]
    cut = Cut(0, 2)
    found = counters_of(_side_counter(packing, tree, {2: cut}, sizes), chunk).reshape(2, -1)
    inside = tree.block_of(table.codes) == 2
    for side, is_here in enumerate((table.codes[:, 0] < 2, table.codes[:, 0] >= 2)):
        mine = inside & is_here
        wanted = np.bincount(table.sensitive[mine, 0], table.counts[mine], sizes[0])
        assert found[side].tolist() == wanted.tolist()


def test_a_block_is_cut_as_the_local_engine_cuts_it(table):
    packing, chunk = chunked(table)
    whole = tuple(table.reference(s) for s in range(len(table.sensitive_domains)))
    task = LearningTask(
        domains=table.domains, sensitive_domains=table.sensitive_domains, whole=whole,
        models=MODELS, method=Mondrian(), setting=Setting(),
    )  # fmt: skip
    sent = list(_sender(packing, Tree())(iter([chunk])))
    cut = pa.Table.from_batches(list(_cutter(task, packing)(iter(sent))))
    wanted = Mondrian().search(table, MODELS)
    classes = cut.filter(cut.column("top0").is_valid()).to_batches()
    names = [*packing.names, "top0", ROWS, LABELS]
    ((_, (low, high, records, labels)),) = by_task_partition(classes, names)
    width = len(table.domains)
    sizes = np.bincount(labels, records).tolist()
    corners = [packing.unpack([key])[:, :width] for key in (low, high)]
    assert sizes == wanted.sizes.tolist()
    for label, box in zip(labels.tolist(), zip(*corners, strict=True), strict=True):
        assert box[0].tolist() == wanted.low[label].tolist()
        assert box[1].tolist() == wanted.high[label].tolist()
    keys = cut.filter(cut.column("top0").is_null()).to_batches()
    ((_, (key, counts, labels)),) = by_task_partition(keys, [*packing.names, ROWS, LABELS])
    assert counts.sum() == table.records
    assert labels.tolist() == wanted.label.tolist()
    assert len(set(key.tolist())) == table.rows


def test_as_many_blocks_are_counted_at_a_time_as_counters_fit(monkeypatch):
    monkeypatch.setattr("shoal.engines.spark.mondrian.COUNTERS", 100)
    assert list(_batches([1, 2, 3, 4, 5], [10, 15])) == [[1, 2], [3, 4], [5]]
    assert list(_batches([1, 2], [1000])) == [[1], [2]]
