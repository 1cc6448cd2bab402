"""Records on their way into the order of a release, in chunks: Arrow tables as bytes in a cell.

A record is sent to a partition by its key, finds its class among the keys that were sent there
too, is sent on to the partition of its class, and is sorted there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import polars as pl
import pyarrow as pa
from numpy.typing import NDArray
from pyspark import Broadcast
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from shoal.engines.spark.chunks import (
    PART,
    ROWS,
    ArrowMap,
    Codes,
    Ints,
    by_partition,
    chunk_arrays,
    chunk_schema,
    concatenated,
    partition_of,
    sent,
)
from shoal.engines.spark.coding import table_changed

DATA, PLACES, RANK = "data", "places", "rank"
TASK_RECORDS = 500_000  # records that a task sends on at once
_BATCH = 50_000
_CHUNKS = f"{PART} int, {DATA} binary"


def join_places_by_shuffle(
    records: DataFrame,
    known: DataFrame,
    names: Sequence[str],
    others: Sequence[str],
    *,
    partitions: int,
    places: Broadcast[Ints] | None = None,
) -> DataFrame:
    """Return chunks of records by the partition of their place; those without one are left out.

    Args:
        records: keys and the other columns of every record.
        known: chunks of keys and places.
        names: of the keys.
        others: the other columns.
        partitions: how many tasks share the work.
        places: where classes share keys, the place of each class, the last one of suppressed
            records; `known` then holds classes and their records.
    """
    columns = [*names, PLACES, *([] if places is None else [ROWS])]
    sender = _key_sender(names, partitions, columns, only_placed=places is None)
    keys = known.select(*columns).mapInArrow(sender, f"{PART} int, {chunk_schema(columns)}")
    rows = records.select(*names, *others).mapInArrow(_record_sender(names, partitions), _CHUNKS)
    none = [F.lit(None).cast("binary").alias(name) for name in columns]
    together = rows.select(PART, DATA, *none).unionByName(
        keys.withColumn(DATA, F.lit(None).cast("binary"))
    )
    joiner = _joiner(list(names), list(others), columns, places)
    return together.repartitionById(partitions, PART).mapInArrow(joiner, _CHUNKS)


def join_places_by_broadcast(
    records: DataFrame, known: Broadcast[pl.DataFrame], names: Sequence[str], others: Sequence[str]
) -> DataFrame:
    """Return chunks of records by the partition of their place; those without one are left out.

    known: sorted keys and their places; every task holds it.
    """

    def work(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for table in _task_tables(batches, names):
            yield from _placed(table, known.value, names, others)

    return records.select(*names, *others).mapInArrow(work, _CHUNKS)


def _split(part: Ints, rows: pa.Table) -> Iterator[pa.RecordBatch]:
    """Yield an Arrow table as chunks, one a partition."""
    for number, mine in by_partition(part):
        table = rows.take(pa.array(mine))
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, table.schema) as writer:
            writer.write_table(table)
        cells = [pa.array([number], pa.int32()), pa.array([sink.getvalue().to_pybytes()])]
        yield pa.RecordBatch.from_arrays(cells, names=[PART, DATA])


def _tables(batch: pa.RecordBatch) -> Iterator[pa.Table]:
    """Yield the tables of the chunks of a batch."""
    for cell in batch.column(DATA):
        if cell.is_valid:
            with pa.ipc.open_stream(cell.as_buffer()) as reader:
                yield reader.read_all()


def _task_tables(batches: Iterator[pa.RecordBatch], names: Sequence[str]) -> Iterator[pa.Table]:
    """Yield batches together as tables; refuse records without a key."""
    held: list[pa.RecordBatch] = []
    rows = 0
    for batch in batches:
        if any(batch.column(name).null_count for name in names):
            raise table_changed("table")
        held.append(batch)
        rows += batch.num_rows
        if rows >= TASK_RECORDS:
            yield pa.Table.from_batches(held).combine_chunks()
            held, rows = [], 0
    if rows:
        yield pa.Table.from_batches(held).combine_chunks()


def _record_sender(names: Sequence[str], partitions: int) -> ArrowMap:
    """Return the function that sends records to partitions by their keys."""

    def work(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for table in _task_tables(batches, names):
            keys = [table.column(name).to_numpy() for name in names]
            yield from _split(partition_of(keys, partitions), table)

    return work


def _key_sender(
    names: Sequence[str], partitions: int, columns: Sequence[str], *, only_placed: bool
) -> ArrowMap:
    """Return the function that sends keys, and the columns beside them, to partitions."""

    def work(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for each in chunk_arrays(batch, columns):
                if only_placed and (each[-1] < 0).any():
                    is_placed = each[-1] >= 0
                    each = [column[is_placed] for column in each]
                part = partition_of(each[: len(names)], partitions)
                yield from sent(part, dict(zip(columns, each, strict=True)))

    return work


def _joiner(
    names: list[str], others: list[str], columns: list[str], places: Broadcast[Ints] | None
) -> ArrowMap:
    """Return the function that finds the place of every record of a partition."""

    def work(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        tables: list[pa.Table] = []
        keys: list[pa.RecordBatch] = []
        for batch in batches:
            tables += _tables(batch)
            keys.append(batch.filter(batch.column(PLACES).is_valid()))
        if not tables or not any(batch.num_rows for batch in keys):
            return
        arrays = concatenated(keys, columns)
        known = pl.DataFrame(dict(zip(columns, arrays, strict=True))).sort([*names, PLACES])
        whole = pa.concat_tables(tables).combine_chunks()
        tables.clear()
        if places is None:
            yield from _placed(whole, known, names, others)
        else:
            place = places.value[deal_records(whole, known, names, others)]
            yield from _sent_to_places(whole, place, place >= 0, others)

    return work


def deal_records(
    whole: pa.Table, known: pl.DataFrame, names: Sequence[str], others: Sequence[str]
) -> Ints:
    """Return the class of each record, where classes share keys.

    Sorted by a hash that only their own other values decide, the first records of a key go
    to its first class, and so on; how Spark divides the table decides nothing.

    Args:
        whole: records with their keys.
        known: classes (`places`) and their records (`rows`), sorted by keys and class.
        names: of the keys.
        others: the other columns.

    Raises:
        InputError: a key has other records than it had when they were counted.
    """
    keys = known.select(names)
    is_first = np.ones(known.height, dtype=np.bool_)
    is_same = (keys[1:] == keys[:-1]).select(pl.all_horizontal(pl.all())).to_series()
    is_first[1:] = ~is_same.to_numpy()
    starts = np.flatnonzero(is_first)
    distinct = keys[starts].with_columns(pl.Series("at", np.arange(len(starts))))
    asked = _polars(whole, names)
    found = asked.join(distinct, on=list(names), how="left", maintain_order="left")["at"]
    if found.null_count():
        raise table_changed("table")
    at = found.to_numpy()
    amounts = known[ROWS].to_numpy()
    if (np.bincount(at, minlength=len(starts)) != np.add.reduceat(amounts, starts)).any():
        raise table_changed("table")
    ends = np.cumsum(amounts)
    label = known[PLACES].to_numpy()
    classes: Ints = label[starts[at]]
    shared = np.flatnonzero((np.diff(starts, append=known.height) > 1)[at])
    if len(shared):
        order, key = dealing_order(_polars(whole, others)[shared], at[shared])
        begin = (ends - amounts)[starts[key]]  # the records of all keys before this one
        first = np.flatnonzero(np.diff(key, prepend=-1))
        turn = np.arange(len(key)) - np.repeat(first, np.diff(first, append=len(key)))
        classes[shared[order]] = label[np.searchsorted(ends, begin + turn, side="right")]
    return classes


def _polars(table: pa.Table, names: Sequence[str]) -> pl.DataFrame:
    found = pl.from_arrow(table.select(list(names)))
    assert isinstance(found, pl.DataFrame)
    return found


def dealing_order(frame: pl.DataFrame, key: Ints) -> tuple[Ints, Ints]:
    """Return the order in which records of keys take their turns, and the keys in that order."""
    if not frame.width:
        order = np.argsort(key, kind="stable")
        return order, key[order]
    texts = frame.select(pl.all().cast(pl.String))
    sorting = texts.insert_column(0, pl.Series("\x00hash", record_hashes(texts)))
    sorting = sorting.insert_column(0, pl.Series("\x00key", key))
    found = sorting.select(pl.arg_sort_by(sorting.columns, nulls_last=False)).to_series()
    order = found.to_numpy().astype(np.int64)
    return order, key[order]


def record_hashes(texts: pl.DataFrame) -> Ints:
    """Return the number that the local engine, too, gives to a record by its other values."""
    found: NDArray[np.uint64] = texts.hash_rows(seed=1).to_numpy() >> np.uint64(24)
    return found.astype(np.int64)


def _placed(
    whole: pa.Table, known: pl.DataFrame, names: Sequence[str], others: Sequence[str]
) -> Iterator[pa.RecordBatch]:
    """Yield the records that have a place as chunks by its partition; known: sorted by keys."""
    if len(names) == 1:
        keys, there = whole.column(names[0]).to_numpy(), known[names[0]].to_numpy()
        at = np.minimum(np.searchsorted(there, keys), max(len(there) - 1, 0))
        is_placed = there[at] == keys if len(there) else np.zeros(len(keys), dtype=np.bool_)
        place = known[PLACES].to_numpy()[at] if len(there) else keys
    else:
        asked = _polars(whole, names)
        found = asked.join(known, on=list(names), how="left", maintain_order="left")[PLACES]
        is_placed = found.is_not_null().to_numpy()
        place = found.fill_null(-1).to_numpy()
    yield from _sent_to_places(whole, place, is_placed, others)


def _sent_to_places(
    whole: pa.Table, place: Ints, is_placed: NDArray[np.bool_], others: Sequence[str]
) -> Iterator[pa.RecordBatch]:
    """Yield the records that have a place as chunks by its partition, with their rank there."""
    if not is_placed.all():
        place = place[is_placed]
    if not len(place):
        return
    rows = whole.select(list(others))
    rows = rows if is_placed.all() else rows.filter(pa.array(is_placed))
    rank = pa.array((place & 0xFFFFFFFF).astype(np.int32))
    # A table without columns does not know how many rows it has.
    ranked = rows.append_column(RANK, rank) if rows.num_columns else pa.table({RANK: rank})
    yield from _split(place >> 32, ranked)


def arranger(
    others: list[str], known: Broadcast[tuple[list[pa.Array], Codes]], *, in_chunks: bool
) -> ArrowMap:
    """Return the function that sorts the records of a partition and gives them labels.

    others: the columns that are released as they are.
    known: the labels of each column, and int32[classes, columns], the label of each class,
        the classes by rank.
    in_chunks: records come in chunks, not as rows.
    """

    def work(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        if in_chunks:
            held = [table for batch in batches for table in _tables(batch)]
        else:
            held = [pa.Table.from_batches([batch]) for batch in batches if batch.num_rows]
        if not held:
            return
        whole = pa.concat_tables(held).combine_chunks()
        held.clear()
        labels, cells = known.value
        order, ranks = release_order(whole, others)
        names = [*others, *[f"q{j}" for j in range(len(labels))]]
        for start in range(0, len(order), _BATCH):
            some = order[start : start + _BATCH]
            here = cells[ranks[some]]
            columns = [whole.column(name).chunk(0).take(pa.array(some)) for name in others]
            columns += [text.take(pa.array(here[:, j])) for j, text in enumerate(labels)]
            yield pa.RecordBatch.from_arrays(columns, names=names)

    return work


def release_order(whole: pa.Table, others: Sequence[str]) -> tuple[Ints, Codes]:
    """Return the order of records by rank, then by their texts, and the rank of each record.

    whole: the other columns and `rank`.
    """
    frame = _polars(whole, [*others, RANK])
    texts = frame.select(RANK, pl.col(list(others)).cast(pl.String))
    order = texts.select(pl.arg_sort_by(texts.columns, nulls_last=False)).to_series()
    return order.to_numpy().astype(np.int64), frame[RANK].to_numpy()
