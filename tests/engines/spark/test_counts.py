"""Counts that stay on the cluster: who searches them, and what is let go of."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("pyspark", reason="the package pyspark is not installed (shoal[spark])")

from shoal.engines.base import Search
from shoal.engines.spark import counts as module
from shoal.engines.spark.counts import DistributedClasses, DistributedCounts, learning_task
from shoal.methods.coarse import Coarse
from shoal.methods.method import Setting
from shoal.methods.registry import method_named
from shoal.privacy import KAnonymity
from shoal.schema.schema import Attribute, Kind, Role, Schema
from shoal.table.domain import line_domain
from shoal.table.frequency import from_codes

AGE = line_domain("age", Kind.NUMERIC, ["1", "2"], [1, 2])
SCHEMA = Schema(attributes=(Attribute(name="age", role=Role.QUASI),))
TABLE = from_codes((AGE,), np.array([[0], [1]], dtype=np.int32), np.array([4, 5], dtype=np.int64))


def search(method, partitions=None):
    return Search(method=method_named(method), release="generalize", promise=(KAnonymity(2),),
                  setting=Setting(threads=4, seed=3), partitions=partitions)  # fmt: skip


@pytest.fixture
def asked(monkeypatch):
    """Return what is called instead of the cluster's searches, and with what."""
    seen = []

    def stand_in(name):
        def call(*given, **more):
            seen.append((name, more))
            recoding = SimpleNamespace(classes=3, released=None)
            return SimpleNamespace(recoding=recoding, persisted=[f"frame of {name}"])

        return call

    for name in ("mondrian", "lattice"):
        monkeypatch.setattr(module, f"distributed_{name}", stand_in(name))
    monkeypatch.setattr(module, "learn_distributed_partitions", stand_in("partitions"))
    return seen


def distributed(most=10):
    return DistributedCounts(SCHEMA, SimpleNamespace(rows=95, summary=TABLE, chunks=None), most)


@pytest.mark.parametrize(("method", "partitions", "by"), [
    ("mondrian", None, "mondrian"), ("flash", None, "lattice"),
    ("mondrian", Coarse(2, "kmeans", 0), "partitions"), ("mdav", None, "partitions"),
])  # fmt: skip
def test_each_method_is_searched_where_the_tuples_are(asked, method, partitions, by):
    counts = distributed()
    found = counts.search(search(method, partitions)) if method != "mdav" else None
    if found is None:  # its classes are joined afterwards
        counts._found(search(method, partitions))
    else:
        assert isinstance(found, DistributedClasses)
        assert counts._held == [f"frame of {by}"]
        assert found.sse_loss() is None
    assert [name for name, _ in asked] == [by]


def test_a_method_that_needs_all_tuples_is_learned_on_parts_and_says_so(asked):
    _, (notice,) = distributed()._found(search("mdav"))
    assert "95 distinct tuples are more than the driver takes (10)" in notice
    assert "--partitions" in notice
    assert asked[0][1]["coarse"].partitions > 1
    _, nothing = distributed()._found(search("mdav", Coarse(2, "kmeans", 0)))
    assert nothing == ()  # it was asked for


def test_an_executor_learns_on_one_thread():
    task = learning_task(TABLE, search("mondrian"))
    assert (task.setting.threads, task.setting.seed) == (1, 3)
    assert (task.domains, task.models) == ((AGE,), (KAnonymity(2),))


def test_counts_on_the_cluster_are_let_go_with_all_that_was_found_in_them():
    dropped = []
    frames = [SimpleNamespace(unpersist=lambda n=n: dropped.append(n)) for n in range(3)]
    frequencies = SimpleNamespace(chunks=frames[0], summary="summary", risk="risk")
    counts = DistributedCounts(None, frequencies, most=10)
    counts._held.extend(frames[1:])
    assert (counts.table, counts.risk, counts.is_distributed) == ("summary", "risk", True)
    counts.close()
    assert dropped == [0, 1, 2]
    assert counts._large(10) == ()
    (notice,) = counts._large(11)
    assert "11 classes, more than the driver takes (10)" in notice
