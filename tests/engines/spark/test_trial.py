"""Records in the classes of a model, where they are: the same as where they are at hand."""

from __future__ import annotations

from collections import Counter
from contextlib import nullcontext
from types import SimpleNamespace

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from tests.engines.spark.tables import PROMISE, frame, schema, without_cuts
from tests.engines.spark.tasks import Broadcast

pytest.importorskip("pyspark", reason="the package pyspark is not installed (shoal[spark])")

import shoal
from shoal import api
from shoal.core.errors import InputError
from shoal.engines.encoding.columns import ColumnCoder
from shoal.engines.encoding.tuples import Cover
from shoal.engines.spark.chunks import ROWS
from shoal.engines.spark.coding import Packing
from shoal.engines.spark.trial import (
    DistributedAssignment,
    DistributedTuples,
    Uncovered,
    decode_rows,
)
from shoal.model.batch import Judge, close_failing
from shoal.model.coverage import precompute_coverage
from shoal.model.sets import SetEncoder


@pytest.mark.parametrize("rows", [220, 70])
def test_learning_gives_the_same_model(spark, rows, monkeypatch):
    monkeypatch.setattr("shoal.engines.spark.mondrian.TASK_ROWS", 100)
    if rows == 70:  # as with very many classes
        monkeypatch.setattr("shoal.engines.spark.trial.SETS", 0)
    promise = [shoal.KAnonymity(12)]
    few = ("whole", "tree", "steps")
    with without_cuts() if rows == 70 else nullcontext():
        wanted = shoal.learn(frame(), schema(few), privacy=promise)
    assert (wanted.tree is None) == (rows == 70)
    table = api.SparkTable(frame(), driver_rows=rows)
    assert shoal.learn(table, schema(few), privacy=promise).to_json() == wanted.to_json()


class Frame:
    """Counted keys as Spark's tables answer: one task a batch."""

    def __init__(self, batches):
        self.batches = batches

    def select(self, *names):
        return Frame([batch.select(list(names)) for batch in self.batches])

    def mapInArrow(self, work, schema):
        return Frame([made for batch in self.batches for made in work(iter([batch]))])

    def groupBy(self, *names):
        whole = polars(self).group_by(names).agg(pl.col(ROWS).sum()).to_arrow()
        empty = pa.RecordBatch.from_pylist([], schema=whole.schema)
        return SimpleNamespace(agg=lambda _: Frame([empty, *whole.to_batches()]))


def polars(frame):
    return pl.from_arrow(pa.Table.from_batches(frame.batches))


@pytest.fixture(scope="module")
def model():
    with without_cuts():  # classes of a tree are joined, not closed
        return shoal.learn(frame(), schema(("flat", "tree")), privacy=PROMISE)


def assignment_of(model, table, most):
    """Return an assignment of a table at hand, and the tuples that it holds."""
    encoder = SetEncoder(model.to_document(), "suppress")
    precompute_coverage(encoder)
    columns = [ColumnCoder(j, encoder) for j in range(2)]
    quasi = [column.codes(table[name]) for column, name in zip(columns, encoder.names, strict=True)]
    texts = [None, *sorted(set(table["s"].drop_nulls()))]
    secret = np.array([texts.index(text) for text in table["s"]], dtype=np.int32)
    packing = Packing((*(max(len(column.values), 1) for column in columns), len(texts)))
    keys = packing.pack(np.stack([*quasi, secret], axis=1))
    counted = (
        pl.DataFrame(packing.named(keys)).group_by("key0").agg(pl.len().cast(pl.Int64).alias(ROWS))
    )
    session = SimpleNamespace(sparkContext=SimpleNamespace(broadcast=Broadcast))
    tuples = DistributedTuples(
        SimpleNamespace(session=session, where="t", polars=polars), packing,
        Frame(counted.to_arrow().to_batches()), decode_rows,
        [np.arange(size, dtype=np.int32) for size in packing.sizes[:2]], [2], [texts],
    )  # fmt: skip
    return DistributedAssignment(tuples, Cover(encoder, columns), most=most)


def alias(name):
    return SimpleNamespace(alias=lambda _: name)


@pytest.mark.parametrize("most", [10_000, 0])
def test_classes_are_closed_as_where_the_tuples_are_at_hand(monkeypatch, model, most):
    monkeypatch.setattr("shoal.engines.spark.trial.F.sum", alias)
    fresh = frame(60, seed=8)
    found = assignment_of(model, fresh, most)
    before = dict(found.classes)
    judge = Judge.of(model.schema, model.privacy)
    close_failing(found, judge)
    assert found.counts_anew == (most == 0)
    assert len(found.classes) < len(before)  # or nothing was tried
    wanted = api.encode(fresh, model, safe=True, suppressed="remove")
    names = [name for name in wanted.table.columns if name in ("flat", "tree")]
    rows = Counter(wanted.table.select(names).cast(pl.String).rows())
    assert {label: spread.total() for label, spread in found.classes.items()} == rows
    assert found.lost.total() == 60 - sum(rows.values())


def test_rows_that_are_not_in_chunks_are_decoded():
    packing = Packing((3, 4))
    codes = np.array([[2, 3], [0, 1]], dtype=np.int32)
    batch = pa.RecordBatch.from_pydict({**packing.named(packing.pack(codes)), ROWS: [5, 6]})
    ((found, counts),) = decode_rows(packing, iter([batch]))
    assert found.tolist() == codes.tolist()
    assert counts.tolist() == [5, 6]


class NearestCover(Cover):
    """Covers nothing; everything is released as what its first code says."""

    def __init__(self):
        self.closed = set()
        self.encoder = SimpleNamespace(tuple_of=lambda values: (["near"] if values[0] else None, 0))

    def regions(self, codes, *, closed=True):
        return np.full(len(codes), -1, dtype=np.int64)

    def values(self, key):
        return list(key)


def test_uncovered_tuples_are_in_the_class_that_releases_the_same():
    sets = np.array([[1], [0], [1]], dtype=np.int32)
    nobody = Uncovered("t")
    assert nobody.assign(NearestCover(), sets, {}).tolist() == [-1, -1, -1]
    known = Uncovered("t", {("near",): 4})
    assert known.assign(NearestCover(), sets, {}).tolist() == [4, -1, 4]
    known.closed.add(4)
    assert known.assign(NearestCover(), sets, {}).tolist() == [-1, -1, -1]
    assert known.assign(NearestCover(), sets, {}, closed=False).tolist() == [4, -1, 4]
    with pytest.raises(InputError, match="did the table change") as caught:
        Uncovered("t", {("else",): 1}).assign(NearestCover(), sets, {})
    assert "near" not in str(caught.value)
