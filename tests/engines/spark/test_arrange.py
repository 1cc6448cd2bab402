"""Records find their classes and their order: against plain Python, without Spark."""

from __future__ import annotations

import random
from collections import Counter

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from tests.engines.spark.tasks import Broadcast, shuffled

pytest.importorskip("pyspark", reason="the package pyspark is not installed (shoal[spark])")

from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.core.errors import InputError
from shoal.engines.spark import arrange
from shoal.engines.spark.arrange import (
    DATA,
    PLACES,
    RANK,
    arranger,
    deal_records,
    dealing_order,
    record_hashes,
    release_order,
)
from shoal.engines.spark.chunks import ROWS, chunk_of


@settings(max_examples=60, deadline=None)
@given(
    pieces=st.lists(
        st.tuples(st.integers(0, 3), st.integers(-1, 4), st.integers(1, 3)), min_size=1
    ),
    salt=st.integers(0, 5),
)
def test_records_are_dealt_out_by_their_own_values(pieces, salt):
    known = pl.DataFrame(pieces, schema=["key0", PLACES, ROWS], orient="row")
    records = [key for key, _, n in pieces for _ in range(n)]
    table = pl.DataFrame({"key0": records, "id": [f"{i * 7919 % 5}" for i in range(len(records))]})
    found = {}
    for seed in (salt, salt + 1):  # in any order, records of the same values go to the same classes
        mixed = table.sample(fraction=1, shuffle=True, seed=seed)
        label = deal_records(mixed.to_arrow(), known.sort("key0", PLACES), ["key0"], ["id"])
        found[seed] = sorted(zip(*mixed.get_columns(), label.tolist(), strict=True))
        counted = mixed.with_columns(pl.Series(PLACES, label)).group_by("key0", PLACES).len()
        wanted = known.group_by("key0", PLACES).agg(pl.col(ROWS).sum())
        assert sorted(counted.rows()) == sorted(wanted.rows())
    assert found[salt] == found[salt + 1]
    more = pl.concat([table, table.head(1)])
    with pytest.raises(InputError, match="change"):
        deal_records(more.to_arrow(), known.sort("key0", PLACES), ["key0"], ["id"])


def place(partition, rank):
    return partition << 32 | rank


def batch_of(**columns):
    return pa.RecordBatch.from_pydict(columns)


def joined(records, known, names, places=None):
    """Return what a join by shuffle yields: by partition, the ranks and ids of its records."""
    columns = [*names, PLACES, *([] if places is None else [ROWS])]
    keys = arrange._key_sender(names, 3, columns, only_placed=places is None)(iter([known]))
    rows = arrange._record_sender(names, 3)(iter(records))
    there, here = shuffled(keys), shuffled(rows)
    work = arrange._joiner(names, ["id"], columns, None if places is None else Broadcast(places))
    found = Counter()
    for part, batches in here.items():
        whole = [with_columns(b, columns) for b in batches]
        whole += [with_columns(b, [DATA]) for b in there.get(part, [])]
        names_of = [DATA, *columns]
        for made in work(iter([b.select(["part", *names_of]) for b in whole])):
            for (number,), table in zip(
                zip(made.column("part").to_pylist(), strict=True),
                arrange._tables(made),
                strict=True,
            ):
                found.update((number, r, i) for r, i in pl.from_arrow(table)[[RANK, "id"]].rows())
    return found


def with_columns(batch, names):
    for name in names:
        batch = batch.append_column(name, pa.nulls(batch.num_rows, pa.binary()))
    return batch


@pytest.mark.parametrize("names", [["key0"], ["key0", "key1"]])
def test_both_joins_send_each_record_to_the_place_of_its_key(names):
    chance = random.Random(5)
    keys = [tuple(chance.randrange(4) for _ in names) for _ in range(60)]
    wanted_of = {key: place(chance.randrange(3), i) for i, key in enumerate(sorted(set(keys)))}
    lost = sorted(wanted_of)[0]
    wanted_of[lost] = -1  # suppressed, and removed
    table = {name: [key[j] for key in keys] for j, name in enumerate(names)}
    records = [batch_of(**table, id=list(range(60))).slice(0, 25),
               batch_of(**table, id=list(range(60))).slice(25)]  # fmt: skip
    ordered = sorted(wanted_of)
    known = {name: np.array([key[j] for key in ordered]) for j, name in enumerate(names)}
    known[PLACES] = np.array([wanted_of[key] for key in ordered])
    wanted = Counter(
        (wanted_of[key] >> 32, wanted_of[key] & 0xFFFFFFFF, i)
        for i, key in enumerate(keys)
        if key != lost
    )
    assert joined(records, chunk_of(known), names) == wanted
    frame = pl.DataFrame(known).filter(pl.col(PLACES) >= 0).sort(names)
    found = Counter()
    for whole in arrange._task_tables(iter(records), names):
        for made in arrange._placed(whole, frame, names, ["id"]):
            number = made.column("part")[0].as_py()
            (rows,) = arrange._tables(made)
            found.update((number, r, i) for r, i in pl.from_arrow(rows)[[RANK, "id"]].rows())
    assert found == wanted


def test_classes_that_share_a_key_get_as_many_records_as_they_counted():
    records = [batch_of(key0=[7] * 5 + [8], id=["a", "b", "c", "d", "e", "f"])]
    known = chunk_of({"key0": np.array([7, 7, 7, 8]), PLACES: np.array([0, 1, -1, 0]),
                      ROWS: np.array([2, 2, 1, 1])})  # fmt: skip
    places = np.array([place(0, 3), place(1, 4), -1])
    found = joined(records, known, ["key0"], places)
    assert Counter((part, rank) for part, rank, _ in found) == {(0, 3): 3, (1, 4): 2}


def test_a_record_without_a_key_is_refused_and_not_shown():
    batch = batch_of(key0=pa.array([1, None], pa.int64()), id=["Alice", "Bob"])
    with pytest.raises(InputError, match="did the table change") as caught:
        list(arrange._task_tables(iter([batch]), ["key0"]))
    assert "Bob" not in str(caught.value)


def test_nothing_is_placed_where_no_class_is_released():
    whole = pa.table({"key0": pa.array([1, 2], pa.int64()), "id": ["a", "b"]})
    known = pl.DataFrame({"key0": [], PLACES: []}, schema={"key0": pl.Int64, PLACES: pl.Int64})
    assert list(arrange._placed(whole, known, ["key0"], ["id"])) == []
    columns = [PLACES, "key0"]
    assert list(arrange._joiner(["key0"], ["id"], columns, None)(iter([]))) == []


def test_the_hash_of_a_record_is_decided_by_its_values_alone():
    table = pl.DataFrame({"a": ["x", None, "x"], "b": ["1", "2", "1"]})
    found = record_hashes(table)
    assert found[0] == found[2] != found[1]
    assert record_hashes(table.reverse()).tolist() == found.tolist()[::-1]
    assert (found >= 0).all()


def test_keys_stay_together_when_records_take_their_turns():
    key = np.array([1, 0, 1, 0])
    order, keys = dealing_order(pl.DataFrame({"a": ["d", "c", "b", None]}), key)
    assert keys.tolist() == [0, 0, 1, 1]
    assert sorted(order.tolist()) == [0, 1, 2, 3]
    order, keys = dealing_order(pl.DataFrame(), key)  # no other column: as they come
    assert (order.tolist(), keys.tolist()) == ([1, 3, 0, 2], [0, 0, 1, 1])


@pytest.mark.parametrize("in_chunks", [True, False])
def test_a_partition_is_sorted_by_class_then_by_its_other_values(monkeypatch, in_chunks):
    monkeypatch.setattr(arrange, "_BATCH", 2)
    rank = pa.array([1, 0, 1, 0], pa.int32())
    table = pa.table({"n": [9, 10, 10, None], RANK: rank})
    order, ranks = release_order(table, ["n"])
    assert order.tolist() == [3, 1, 2, 0]  # as texts, and a missing one first
    assert ranks.tolist() == [1, 0, 1, 0]
    labels = [pa.array(["a", "b"]), pa.array(["*"])]
    known = Broadcast((labels, np.array([[1, 0], [0, 0]], dtype=np.int32)))
    batches = table.to_batches()
    if in_chunks:
        batches = list(arrange._split(np.zeros(4, dtype=np.int64), table))
    made = pa.Table.from_batches(arranger(["n"], known, in_chunks=in_chunks)(iter(batches)))
    assert made.to_pydict() == {"n": [None, 10, 10, 9], "q0": ["b", "b", "a", "a"],
                                "q1": ["*"] * 4}  # fmt: skip
    assert list(arranger(["n"], known, in_chunks=in_chunks)(iter([]))) == []
