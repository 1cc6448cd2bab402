"""Chunks of keys: what tasks count, send and sum, against plain Python; no Spark is started."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.engines.spark.tasks import shuffled

pytest.importorskip("pyspark", reason="the package pyspark is not installed (shoal[spark])")

from shoal.engines.spark import chunks
from shoal.engines.spark.chunks import (
    ROWS,
    Shuffle,
    Totals,
    _key_counter,
    by_partition,
    by_task_partition,
    chunk_arrays,
    chunk_of,
    concatenated,
    decode_chunks,
    partition_of,
    run_starts,
    sent,
    sliced,
    sum_equal_keys,
    totals_of,
    tuple_steps,
)
from shoal.engines.spark.coding import Packing

LAW = settings(max_examples=60, deadline=None)
SIZES = st.lists(st.sampled_from([1, 2, 5, 2**20, 2**31 - 1]), min_size=1, max_size=6)


@st.composite
def coded(draw):
    sizes = draw(SIZES)
    row = st.tuples(*[st.integers(0, size - 1) for size in sizes])
    few = draw(st.lists(row, min_size=1, max_size=5))
    rows = draw(st.lists(st.sampled_from(few), min_size=1, max_size=20))
    return Packing(tuple(sizes)), rows


@LAW
@given(table=coded())
def test_joined_keys_are_counted_as_by_hand(table):
    packing, rows = table
    keys = packing.pack(np.array(rows, dtype=np.int32))
    found, counts = sum_equal_keys(keys, np.ones(len(rows), dtype=np.int64))
    codes = [tuple(row) for row in packing.unpack(found).tolist()]
    assert dict(zip(codes, counts.tolist(), strict=True)) == Counter(rows)
    assert len(set(codes)) == len(codes)


@LAW
@given(table=coded(), data=st.data())
def test_keys_forget_columns_and_nothing_else(table, data):
    packing, rows = table
    width = data.draw(st.integers(0, len(packing.sizes)))
    keys = packing.pack(np.array(rows, dtype=np.int32))
    steps = tuple_steps(packing, width)
    short = list(zip(*[(k // s).tolist() for k, s in zip(keys, steps, strict=True)], strict=True))
    for one in range(len(rows)):
        for two in range(one):
            same = rows[one][:width] == rows[two][:width]
            assert (short[one] == short[two]) == same


@LAW
@given(table=coded(), parts=st.integers(1, 7))
def test_a_key_has_one_partition_and_a_chunk_comes_back(table, parts):
    packing, rows = table
    keys = packing.pack(np.array(rows, dtype=np.int32))
    part = partition_of(keys, parts)
    home = {}
    for row, number in zip(rows, part.tolist(), strict=True):
        assert 0 <= number < parts
        assert home.setdefault(row, number) == number
    there = [(number, place) for number, mine in by_partition(part) for place in mine.tolist()]
    assert sorted(place for _, place in there) == list(range(len(rows)))
    assert all(part[place] == number for number, place in there)
    named = dict(zip(packing.names, keys, strict=True))
    (back,) = chunk_arrays(chunk_of(named), packing.names)
    assert all((a == b).all() for a, b in zip(back, keys, strict=True))


def chunks_of(packing, rows, counts=None):
    keys = packing.named(
        packing.pack(np.array(rows, dtype=np.int32).reshape(-1, len(packing.sizes)))
    )
    amounts = np.ones(len(rows), dtype=np.int64) if counts is None else np.array(counts)
    return chunk_of({**keys, ROWS: amounts})


def counted(shuffle, batches):
    """Return what a shuffle gathers: keys, records and totals of each partition."""
    found, totals = Counter(), []
    for part in shuffled(batches).values():
        made = list(shuffle._gathered(iter(part)))
        for codes, counts in decode_chunks(shuffle.packing, made):
            rows = [tuple(row) for row in codes.tolist()]
            assert not set(rows) & set(found)  # a key is in one chunk of one partition
            found.update(dict(zip(rows, counts.tolist(), strict=True)))
        first, *others = made
        totals.append([first.column(name)[0].as_py() for name in first.schema.names[-7:]])
        assert all(other.column(other.schema.names[-1])[0].as_py() is None for other in others)
    return found, totals


@settings(max_examples=25, deadline=None)
@given(table=coded(), data=st.data())
def test_a_shuffle_counts_every_record_once(table, data):
    packing, rows = table
    width = data.draw(st.integers(0, len(packing.sizes)))
    shuffle = Shuffle(packing, width, data.draw(st.integers(1, 3)))
    cut = data.draw(st.integers(0, len(rows)))
    keys = packing.pack(np.array(rows, dtype=np.int32))
    batches = [pa.RecordBatch.from_pydict(packing.named([key[some] for key in keys]))
               for some in (slice(0, cut), slice(cut, None))]  # fmt: skip
    sent = [made for batch in batches for made in _key_counter(shuffle)(iter([batch]))]
    found, totals = counted(shuffle, sent)
    assert found == Counter(rows)
    tuples = Counter(row[:width] for row in rows)
    summed = [sum(each) for each in zip(*[t[:3] + t[5:] for t in totals], strict=True)]
    assert summed == [len(found), len(rows), len(tuples), sum(n == 1 for n in tuples.values()), 0]
    assert min(t[3] for t in totals) == min(tuples.values())
    assert max(t[4] for t in totals) == max(tuples.values())


def test_records_without_a_key_are_counted_as_unknown(monkeypatch):
    monkeypatch.setattr(chunks, "TASK_KEYS", 2)
    shuffle = Shuffle(Packing((5,)), 1, 2)
    known = pa.RecordBatch.from_pydict({"key0": pa.array([1, 1, 2], pa.int64())})
    unknown = pa.RecordBatch.from_pydict({"key0": pa.array([1, None], pa.int64())})
    found, totals = counted(shuffle, _key_counter(shuffle)(iter([known, unknown, known])))
    assert found == {(1,): 4, (2,): 2}
    assert sum(total[-1] for total in totals) == 2
    assert list(_key_counter(shuffle)(iter([]))) == []
    assert list(shuffle._gathered(iter([]))) == []


def test_long_columns_are_sliced_and_empty_ones_are_one_slice(monkeypatch):
    monkeypatch.setattr(chunks, "CHUNK_KEYS", 2)
    found = list(sliced({"a": np.arange(5), "b": None}))
    assert [each["a"].tolist() for each in found] == [[0, 1], [2, 3], [4]]
    assert all(each["b"] is None for each in found)
    assert [each["a"].tolist() for each in sliced({"a": np.zeros(0, dtype=np.int64)})] == [[]]


def test_a_task_sees_its_partitions_in_order_with_all_their_chunks():
    number = np.array([2, 0, 2, 0, 2])
    sent_ = [*sent(number, {"key0": np.arange(5)}), *sent(number[:2], {"key0": np.array([7, 8])})]
    found = [(part, key.tolist()) for part, (key,) in by_task_partition(sent_, ["key0"])]
    assert found == [(0, [1, 3, 8]), (2, [0, 2, 4, 7])]
    assert list(by_task_partition([], ["key0"])) == []


def test_no_chunk_is_empty_arrays():
    assert [each.tolist() for each in concatenated([], ["a", "b"])] == [[], []]
    packing = Packing((2, 2))
    batches = [chunks_of(packing, [(0, 1)]), chunks_of(packing, [(1, 1), (0, 0)], [3, 4])]
    keys, counts = concatenated(batches, ["key0", ROWS])
    assert packing.unpack([keys]).tolist() == [[0, 1], [1, 1], [0, 0]]
    assert counts.tolist() == [1, 3, 4]


def test_runs_of_equal_keys():
    keys = [np.array([1, 1, 1, 2]), np.array([5, 5, 6, 6])]
    assert run_starts(keys).tolist() == [0, 2, 3]
    assert run_starts([np.zeros(0, dtype=np.int64)]).tolist() == []


def test_totals_of_no_row_are_zero():
    names = ("n", "records", "tuples", "rarest", "commonest", "unique", "unknown")
    assert totals_of(dict.fromkeys(names)) == Totals(0, 0, 0, 0, 0, 0, 0)
    assert totals_of(dict(zip(names, range(7), strict=True))).commonest == 4
