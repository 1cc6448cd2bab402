"""Encoding on Spark as far as it needs no session: counted keys, and the report."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("pyspark", reason="the package pyspark is not installed (shoal[spark])")

from shoal.core.errors import InputError
from shoal.edge.stream import EncodeReport
from shoal.engines.spark.encode import CountedKeys, SparkEncoding


def encoding(*, star=False, refused=None, counted=None):
    def refuse(records):
        if refused is not None and records:
            raise InputError(where="t", problem="unseen")

    batch = SimpleNamespace(report=EncodeReport(), star=star, refuse_unseen=refuse, notices=("n",))
    return SparkEncoding(None, batch, None, ["a", "b"], counted)


@pytest.mark.parametrize(("star", "released"), [(False, 7), (True, 10)])
def test_the_report_counts_what_is_released(star, released):
    made = encoding(star=star)
    made._fill_report(10, 3, 1)
    found = made.report
    assert (found.records, found.suppressed, found.unseen) == (10, 3, 1)
    assert found.released == released
    assert made.notices == ("n",)


def test_unseen_records_are_refused_where_that_was_asked_for():
    encoding(refused=True)._fill_report(10, 0, 0)
    with pytest.raises(InputError):
        encoding(refused=True)._fill_report(10, 1, 1)


def test_collected_keys_are_counted_as_the_local_engine_counts_them():
    rows = np.array([[0, 1, 0], [0, 1, 2], [2, 0, 1]], dtype=np.int32)
    keys = CountedKeys(None, None, [["x", None, "y"]], rows, np.array([4, 5, 6]))
    counts = encoding()._tuples(keys)
    codes, key, records = counts.arrays()
    assert codes.tolist() == [[0, 1], [0, 1], [2, 0]]
    found = [dict(counts.histogram([k], [n])) for k, n in zip(key.tolist(), records.tolist())]  # noqa: B905
    assert found == [{("x",): 4}, {("y",): 5}, {(None,): 6}]


def test_closing_lets_go_of_tuples_on_the_cluster_only():
    dropped = []
    chunks = SimpleNamespace(unpersist=lambda: dropped.append("chunks"))
    there = SimpleNamespace(tuples=SimpleNamespace(chunks=chunks))
    none = np.zeros((0, 2), dtype=np.int32), np.zeros(0, dtype=np.int64)
    encoding().close()
    encoding(counted=CountedKeys(None, None, [], *none)).close()
    assert dropped == []
    encoding(counted=CountedKeys(None, None, [], *none, there)).close()
    assert dropped == ["chunks"]
