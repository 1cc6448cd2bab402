"""Frequency tables that stay on Spark: the same classes as where they fit the driver."""

from __future__ import annotations

from collections import Counter
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.engines.open_job import open_job
from tests.engines.spark.tables import CLOSE, FEW, PROMISE, counted, frame, schema
from tests.engines.spark.tasks import Broadcast

import shoal
from shoal import api
from shoal.engines.counts import CountsHere
from shoal.engines.spark.arrange import PLACES
from shoal.engines.spark.chunks import PART, ROWS, chunk_arrays, chunk_of
from shoal.engines.spark.coding import Packing
from shoal.engines.spark.counts import DistributedCounts
from shoal.engines.spark.distributed import (
    LABELS,
    CodeCounter,
    DistributedRecoding,
    class_histograms,
    recoding_of_classes,
    rows_with_histograms,
    sorted_table,
    split_columns,
    with_class_numbers,
)
from shoal.methods.catalogue import Mondrian
from shoal.privacy import KAnonymity
from shoal.table.recoding import recoding_of


@pytest.mark.sampled
@pytest.mark.parametrize("rows", [None, 200])
@pytest.mark.parametrize("limit", [0.3, 0.02])
@pytest.mark.parametrize("promise", [PROMISE, CLOSE], ids=["l", "t"])
def test_stars_are_judged_by_the_whole_promise(spark, tmp_path, rows, limit, promise):
    options = {"method": "flash", "suppressed": "star"}
    asked = schema(FEW, suppression_limit=limit)
    here, there = tmp_path / "here.csv", tmp_path / "there.csv"
    wanted = api.anonymize(frame(), asked, privacy=promise, **options)
    wanted.table.write_csv(here)
    table = api.SparkTable(frame(), driver_rows=rows)
    made = api.anonymize(table, asked, privacy=promise, out=there, **options)
    assert there.read_bytes() == here.read_bytes()
    assert made.report.released == wanted.report.released
    found = [notice for notice in made.report.notices if "released as *" in notice]
    assert found == [notice for notice in wanted.report.notices if "released as *" in notice]


@pytest.mark.parametrize("rows", [1, 100])
def test_fewer_records_than_k_are_seen_before_any_search(spark, monkeypatch, rows):
    monkeypatch.setattr(DistributedCounts, "search", None)
    monkeypatch.setattr(CountsHere, "search", None)
    table = api.SparkTable(frame(8), driver_rows=rows)
    job = open_job(table, schema(FEW), [shoal.KAnonymity(9)], method="bfs")
    with pytest.raises(shoal.ShoalError, match="all 8 records as one class reach 8"):
        job.search(learns=True)
    job.counts.close()


COLUMNS = st.integers(1, 3).flatmap(
    lambda columns: st.lists(st.tuples(*[st.integers(0, 3)] * columns), min_size=1, max_size=20)
)


@settings(max_examples=60, deadline=None)
@given(rows=COLUMNS)
def test_rows_with_the_histograms_of_a_table_are_few_and_as_many_records(rows):
    columns = np.array(rows).T
    wanted = [np.bincount(column, minlength=4) for column in columns]
    found, amounts = rows_with_histograms(wanted, len(rows))
    assert len(amounts) <= 4 * len(columns)
    for s, histogram in enumerate(wanted):
        assert np.bincount(found[:, s], amounts, 4).tolist() == histogram.tolist()


def test_no_sensitive_column_is_one_row_and_no_record_is_none():
    found, amounts = rows_with_histograms([], 9)
    assert (found.shape, amounts.tolist()) == ((1, 0), [9])
    assert rows_with_histograms([np.zeros(2, dtype=np.int64)], 0)[1].tolist() == []


@settings(max_examples=60, deadline=None)
@given(rows=st.lists(st.tuples(st.integers(-1, 3), st.integers(0, 2), st.integers(1, 9))))
def test_classes_are_counted_by_their_sensitive_values(rows):
    label, sensitive, counts = np.array(rows, dtype=np.int64).reshape(-1, 3).T
    found = class_histograms(label, sensitive[:, None].astype(np.int32), counts, [3])
    wanted = Counter()
    for key, value, n in rows:
        wanted[key, value] += n
    pairs = zip(found.label.tolist(), found.sensitive[:, 0].tolist(), strict=True)
    assert dict(zip(pairs, found.counts.tolist(), strict=True)) == wanted


def test_counters_of_tasks_are_those_of_the_table():
    packing = Packing((2, 3))
    rows = np.array([[0, 2], [1, 1], [0, 0]], dtype=np.int32)
    counts = np.array([4, 5, 6])
    chunk = chunk_of({**packing.named(packing.pack(rows)), ROWS: counts})
    counter = CodeCounter(packing, 3, lambda codes, counts: iter([(codes[:, 1], counts)]))
    (found,) = counter(iter([chunk, chunk]))
    assert found.to_pydict() == {"counter": [0, 1, 2], "n": [12, 10, 8]}
    assert list(counter(iter([]))) == []
    assert [x.tolist() for x in split_columns(np.arange(5), [2, 3])] == [[0, 1], [2, 3, 4]]


def test_rows_become_a_table_in_the_order_of_their_codes():
    table = counted()
    codes = np.concatenate((table.codes, table.sensitive), axis=1)
    mixed = np.random.default_rng(1).permutation(table.rows)
    found, order = sorted_table(
        table.domains, table.sensitive_domains, codes[mixed], table.counts[mixed]
    )
    assert found.codes.tolist() == table.codes.tolist()
    assert found.sensitive.tolist() == table.sensitive.tolist()
    assert found.counts.tolist() == table.counts.tolist()
    assert mixed[order].tolist() == list(range(table.rows))


def test_a_recoding_of_classes_has_the_sizes_and_labels_of_the_one_of_tuples():
    table = counted()
    recoding = Mondrian().search(table, [KAnonymity(9)])
    histograms = class_histograms(
        recoding.label, table.sensitive[recoding.row], recoding.count,
        [len(domain) for domain in table.sensitive_domains],
    )  # fmt: skip
    known = SimpleNamespace(
        summary=table, coded=SimpleNamespace(sensitive_domains=table.sensitive_domains)
    )
    found, final = recoding_of_classes(known, (recoding.low, recoding.high), histograms)
    assert found.sizes.tolist() == recoding.sizes.tolist()
    assert [found.labels(j) for j in range(3)] == [recoding.labels(j) for j in range(3)]
    assert final.tolist() == [*range(recoding.classes), -1]
    assert found.table.records == table.records


def test_keys_follow_their_classes_when_these_are_merged():
    table = counted()
    before = Mondrian().search(table, [KAnonymity(9)])
    merged = np.minimum(before.label, 1)  # all but the first become one class
    low = np.array([before.low[0], before.low[1:].min(axis=0)])
    high = np.array([before.high[0], before.high[1:].max(axis=0)])
    after = recoding_of(table, low, high, (before.row, merged, before.count))
    found = DistributedRecoding(before, lambda numbers: numbers[before.label])
    assert found.labelled.tolist() == before.label.tolist()
    moved = found.with_classes(after)
    assert moved.recoding is after
    assert moved.labelled.tolist() == after.label.tolist()


def test_labels_of_partitions_become_numbers_of_classes():
    packing = Packing((9,))
    chunks = [
        chunk_of({PART: np.int32(part), "key0": np.array(keys), ROWS: np.ones(2, dtype=np.int64),
                  LABELS: np.array(labels)})
        for part, keys, labels in ((0, [1, 2], [0, -1]), (1, [3, 4], [1, 0]), (2, [5, 6], [0, 0]))
    ]  # fmt: skip

    class Frame:
        def select(self, *names):
            assert names == (PART, "key0", ROWS, LABELS)
            return self

        def mapInArrow(self, work, schema):
            return list(work(iter(chunks)))

    context = SimpleNamespace(broadcast=Broadcast)
    session = SimpleNamespace(sparkContext=context)
    coded = SimpleNamespace(packing=packing, source=SimpleNamespace(session=session))
    numbers = {0: np.array([40, -1]), 1: np.array([50, 51, -1])}  # partition 2 was learned anew
    made = with_class_numbers(coded, Frame(), numbers)
    arrays = [each for batch in made for each in chunk_arrays(batch, ["key0", PLACES])]
    assert [[a.tolist() for a in each] for each in arrays] == [
        [[1, 2], [40, -1]],
        [[3, 4], [51, 50]],
    ]
