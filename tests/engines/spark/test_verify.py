"""Classes judged by executors: as the driver judges their cells, in whatever batches."""

from __future__ import annotations

from collections import Counter
from functools import reduce

import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("pyspark", reason="the package pyspark is not installed (shoal[spark])")

from shoal.engines.spark.verify import _judge_batch, _judged, _verification
from shoal.engines.verification import ROWS, judge_cells
from shoal.privacy import KAnonymity, LDiversity, TCloseness, expand, judge_sizes
from shoal.reports.release import Verification
from shoal.schema.schema import Schema
from shoal.schema.sensitive import Scale

SCHEMA = Schema.from_document(
    {"columns": {"q": "quasi", "s": {"role": "sensitive", "kind": "numeric"}}}
)
PROMISE = [KAnonymity(2), LDiversity(2), TCloseness(0.3)]
RECORDS = st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("123")), min_size=1)


def classes_of(records):
    """Return the classes as Spark collects them, the column's reference, and the promise."""
    models = expand(PROMISE, SCHEMA.sensitive)
    scale = Scale.of(SCHEMA, "s", models)
    totals = Counter(s for _, s in records)
    values = scale.read(totals)
    counted = Counter(records)
    classes = {}
    for (q, s), n in counted.items():
        classes.setdefault(q, []).append({"at": [values.place[s]], "n": n})
    return list(classes.values()), [values.reference(values.totals(totals))], models


@settings(max_examples=30, deadline=None)
@given(RECORDS, st.integers(1, 3))
def test_executors_find_what_the_driver_finds(records, size):
    classes, references, models = classes_of(records)
    batches = [classes[i : i + size] for i in range(0, len(classes), size)]
    kind = pa.list_(pa.struct([("at", pa.list_(pa.int32())), ("n", pa.int64())]))
    columns = [pa.RecordBatch.from_arrays([pa.array(b, kind)], ["cells"]) for b in ([], *batches)]
    found = list(_judged(models, ["s"], references)(iter(columns)))
    assert len(found) == len(batches)  # an empty batch has nothing to say
    whole = reduce(Verification.merge, found)
    counted = Counter(records)
    cells = pl.DataFrame(
        {"q": [q for q, _ in counted], "s": [s for _, s in counted], ROWS: list(counted.values())}
    )
    wanted = judge_cells(cells, SCHEMA, PROMISE, where="t")
    assert (whole.records, whole.classes) == (wanted.records, wanted.classes)
    assert whole.smallest_class == wanted.smallest_class
    assert whole.violating_records == wanted.violating_records
    for mine, theirs in zip(whole.privacy, wanted.privacy, strict=True):
        assert mine.holds == theirs.holds
        assert mine.value == pytest.approx(theirs.value)
        assert mine.violating_records == theirs.violating_records


def test_one_batch_is_judged_whole():
    classes, references, models = classes_of([("a", "1"), ("a", "2"), ("b", "1")])
    found = _judge_batch(classes, models, ["s"], references)
    assert (found.records, found.classes, found.smallest_class) == (3, 2, 1)
    assert found.violating_records == 1
    assert not any(verdict.failing for verdict in found.privacy)  # places mean nothing elsewhere


def test_classes_of_one_size_count_as_often_as_they_are_there():
    verdict = judge_sizes(KAnonymity(3), [2, 5])
    found = _verification([2, 5], [verdict], [10, 1])
    assert (found.records, found.classes, found.smallest_class) == (25, 11, 2)
    assert found.violating_records == 20
