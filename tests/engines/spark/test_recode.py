"""The order of a release: which partition and rank each class has; no Spark is started."""

from __future__ import annotations

from collections import Counter
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("pyspark", reason="the package pyspark is not installed (shoal[spark])")

from shoal.engines.spark.recode import SORTED, ReleaseOrder, released_columns

LAW = settings(max_examples=60, deadline=None)
TEXT = st.one_of(st.none(), st.sampled_from(["a", "b", "ä", "10", "9"]))


@LAW
@given(
    classes=st.lists(
        st.tuples(st.tuples(TEXT, TEXT), st.integers(1, SORTED)), min_size=1, max_size=8,
        unique_by=lambda each: each[0],
    ),
    star=st.booleans(),
)  # fmt: skip
def test_classes_are_ordered_by_their_labels_and_dealt_out_in_that_order(classes, star):
    labels = [*(label for label, _ in classes), ("*", "*")]
    sizes = np.array([*(size for _, size in classes), 7 if star else 0], dtype=np.int64)
    texts = pl.DataFrame(labels, schema={"q0": pl.String, "q1": pl.String}, orient="row")
    order = ReleaseOrder.of(texts, sizes, star=star)
    assert (order.places[-1] >= 0) == star
    kept = range(len(labels) if star else len(classes))

    def key(label):
        return [(text is not None, (text or "").encode()) for text in label]

    by_place = sorted(kept, key=lambda i: order.places[i])
    assert by_place == sorted(kept, key=lambda i: key(labels[i]))
    held = Counter()
    for i in by_place:
        part, rank = order.places[i] >> 32, order.places[i] & 0xFFFFFFFF
        cells = order.cells[rank]
        assert tuple(t[int(c)] for t, c in zip(order.texts, cells, strict=True)) == labels[i]
        assert 0 <= part < order.partitions
        held[part] += int(sizes[i])
    assert all(size <= 2 * SORTED for size in held.values())


def test_one_class_and_nobody_suppressed():
    texts = pl.DataFrame({"q0": ["a", "*"]})
    order = ReleaseOrder.of(texts, np.array([5, 0], dtype=np.int64), star=False)
    assert order.partitions == 1
    assert order.places[-1] == -1
    assert order.places[0] >= 0


def test_a_large_class_has_a_partition_of_its_own():
    texts = pl.DataFrame({"q0": ["a", "b", "c", "*"]})
    sizes = np.array([3, 5 * SORTED, 4, 0], dtype=np.int64)
    order = ReleaseOrder.of(texts, sizes, star=False)
    part = (order.places[:3] >> 32).tolist()
    assert part == sorted(part)
    assert part[1] != part[2]
    assert order.partitions == part[-1] + 1  # none of them is empty


def test_released_columns_are_labels_and_the_rest_as_it_is(spark):
    source = SimpleNamespace(name={"a": "c0", "s": "c1", "b": "c2"}.get)
    table = spark.createDataFrame([("x", 1, "y")], "q0 string, c1 int, q1 string")
    found = table.select(*released_columns(source, ["b", "a"], ["a", "s", "b"]))
    assert found.columns == ["q1", "c1", "q0"]
