"""Records on their way into the order of a release, as piles: tables as bytes in a cell.

A record is filed by its key, finds its class among the keys that were filed there too, is
filed again by the partition of its class, and is put in order there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from shoal.engines.spark.coding import changed
from shoal.engines.spark.piles import ROWS, Keys, Work, arrays, by_part, part_of, pile

PART, DATA, PLACES, RANK = "part", "data", "places", "rank"
FILED = 500_000  # records that a task files at once
_BATCH = 50_000


def find_places(
    records: DataFrame,
    known: DataFrame,
    names: Sequence[str],
    others: Sequence[str],
    *,
    parts: int,
    places: Any = None,
) -> DataFrame:
    """Return piles of records by the partition of their place; those without one are left out.

    Args:
        records: keys and the other columns of every record.
        known: piles of keys and places.
        names: of the keys.
        others: the other columns.
        parts: how many tasks share the work.
        places: where classes share keys, a broadcast of the place of each class, the last
            one of suppressed records; `known` then holds classes and their records.
    """
    told = [*names, PLACES, *([] if places is None else [ROWS])]
    kinds = ", ".join([f"{PART} int", *[f"{name} binary" for name in told]])
    filer = _filer_of_keys(names, parts, told, only=places is None)
    there = known.select(*told).mapInArrow(filer, kinds)
    none = [F.lit(None).cast("binary").alias(name) for name in told]
    here = records.select(*names, *others).mapInArrow(
        _filer(names, parts), f"{PART} int, {DATA} binary"
    )
    whole = here.select(PART, DATA, *none).unionByName(
        there.withColumn(DATA, F.lit(None).cast("binary"))
    )
    finder = _finder(list(names), list(others), told, places)
    return whole.repartitionById(parts, PART).mapInArrow(finder, f"{PART} int, {DATA} binary")


def look_up(
    records: DataFrame, known: Any, names: Sequence[str], others: Sequence[str]
) -> DataFrame:
    """Return piles of records by the partition of their place; those without one are left out.

    known: a broadcast of sorted keys and their places, as a table; every task holds it.
    """

    def work(batches: Iterator[Any]) -> Iterator[Any]:
        for table in _held(batches, names):
            yield from _placed(table, known.value, names, others)

    asked = records.select(*names, *others)
    return asked.mapInArrow(work, f"{PART} int, {DATA} binary")


def _sliced(part: NDArray[np.int64], rows: Any) -> Iterator[Any]:
    """Yield an Arrow table as piles, one a partition."""
    import pyarrow as pa

    for number, mine in by_part(part):
        table = rows.take(pa.array(mine))
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, table.schema) as writer:
            writer.write_table(table)
        cells = [pa.array([number], pa.int32()), pa.array([sink.getvalue().to_pybytes()])]
        yield pa.RecordBatch.from_arrays(cells, names=[PART, DATA])


def _tables(batch: Any) -> Iterator[Any]:
    """Yield the tables of the piles of a batch."""
    import pyarrow as pa

    for cell in batch.column(DATA):
        if cell.is_valid:
            with pa.ipc.open_stream(cell.as_buffer()) as reader:
                yield reader.read_all()


def _filer(names: Sequence[str], parts: int) -> Work:
    """Return the function that files records by their keys."""

    def work(batches: Iterator[Any]) -> Iterator[Any]:
        for table in _held(batches, names):
            keys = [table.column(name).to_numpy() for name in names]
            yield from _sliced(part_of(keys, parts), table)

    return work


def _held(batches: Iterator[Any], names: Sequence[str]) -> Iterator[Any]:
    """Yield batches together as tables; refuse records without a key."""
    import pyarrow as pa

    held: list[Any] = []
    rows = 0
    for batch in batches:
        if any(batch.column(name).null_count for name in names):
            raise changed("table")
        held.append(batch)
        rows += batch.num_rows
        if rows >= FILED:
            yield pa.Table.from_batches(held).combine_chunks()
            held, rows = [], 0
    if rows:
        yield pa.Table.from_batches(held).combine_chunks()


def _filer_of_keys(names: Sequence[str], parts: int, told: Sequence[str], *, only: bool) -> Work:
    """Return the function that files keys and what is told of them; only: those with a place."""

    def work(batches: Iterator[Any]) -> Iterator[Any]:
        for batch in batches:
            for each in arrays(batch, told):
                if only and (each[-1] < 0).any():
                    kept = each[-1] >= 0
                    each = [column[kept] for column in each]
                for number, mine in by_part(part_of(each[: len(names)], parts)):
                    own = {name: column[mine] for name, column in zip(told, each, strict=True)}
                    yield pile({PART: np.int32(number), **own})

    return work


def _finder(names: list[str], others: list[str], told: list[str], places: Any) -> Work:
    """Return the function that finds the place of every record of a partition."""

    def work(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        tables: list[Any] = []
        found: list[Keys] = []
        for batch in batches:
            tables += _tables(batch)
            known = batch.filter(batch.column(PLACES).is_valid())
            found += arrays(known, told)
        if not tables or not found:
            return
        columns = [np.concatenate(each) for each in zip(*found, strict=True)]
        known = pl.DataFrame(dict(zip(told, columns, strict=True))).sort([*names, PLACES])
        whole = pa.concat_tables(tables).combine_chunks()
        tables.clear()
        if places is None:
            yield from _placed(whole, known, names, others)
        else:
            place = places.value[dealt(whole, known, names, others)]
            yield from _filed(whole, place, place >= 0, others)

    return work


def dealt(
    whole: Any, known: pl.DataFrame, names: Sequence[str], others: Sequence[str]
) -> NDArray[np.int64]:
    """Return the class of each record, where classes share keys.

    Sorted by a number that only their own other values decide, the first records of a key go
    to its first class, and so on; how Spark divides the table decides nothing.

    Args:
        whole: an Arrow table of records with their keys.
        known: classes (`places`) and their records (`rows`), sorted by keys and class.
        names: of the keys.
        others: the other columns.

    Raises:
        InputError: a key has other records than it had when they were counted.
    """
    keys = known.select(names)
    fresh = np.ones(known.height, dtype=np.bool_)
    fresh[1:] = ~(keys[1:] == keys[:-1]).select(pl.all_horizontal(pl.all())).to_series().to_numpy()
    starts = np.flatnonzero(fresh)
    distinct = keys[starts].with_columns(pl.Series("at", np.arange(len(starts))))
    asked = pl.from_arrow(whole.select(list(names)))
    assert isinstance(asked, pl.DataFrame)
    found = asked.join(distinct, on=list(names), how="left", maintain_order="left")["at"]
    if found.null_count():
        raise changed("table")
    at = found.to_numpy()
    amounts = known[ROWS].to_numpy()
    if (np.bincount(at, minlength=len(starts)) != np.add.reduceat(amounts, starts)).any():
        raise changed("table")
    ends = np.cumsum(amounts)
    label = known[PLACES].to_numpy()
    classes: NDArray[np.int64] = label[starts[at]]
    shared = np.flatnonzero((np.diff(starts, append=known.height) > 1)[at])
    if len(shared):
        frame = pl.from_arrow(whole.select(list(others)))
        assert isinstance(frame, pl.DataFrame)
        order, home = turns(frame[shared], at[shared])
        begin = (ends - amounts)[starts[home]]  # the records of all keys before this one
        first = np.flatnonzero(np.diff(home, prepend=-1))
        turn = np.arange(len(home)) - np.repeat(first, np.diff(first, append=len(home)))
        classes[shared[order]] = label[np.searchsorted(ends, begin + turn, side="right")]
    return classes


def turns(
    frame: pl.DataFrame, at: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the order in which records of keys take their turns, and the keys in that order."""
    if not frame.width:
        order = np.argsort(at, kind="stable")
        return order, at[order]
    texts = frame.select(pl.all().cast(pl.String))
    marked = texts.insert_column(0, pl.Series("\x00mark", marks(texts)))
    marked = marked.insert_column(0, pl.Series("\x00at", at))
    found = marked.select(pl.arg_sort_by(marked.columns, nulls_last=False)).to_series()
    order = found.to_numpy().astype(np.int64)
    return order, at[order]


def marks(texts: pl.DataFrame) -> NDArray[np.int64]:
    """Return the number that the local engine, too, gives to a record by its other values."""
    found: NDArray[np.int64] = (texts.hash_rows(seed=1).to_numpy() >> np.uint64(24)).astype(
        np.int64
    )
    return found


def _placed(
    whole: Any, known: pl.DataFrame, names: Sequence[str], others: Sequence[str]
) -> Iterator[Any]:
    """Yield the records that have a place as piles by its partition; known: sorted by keys."""
    if len(names) == 1:
        keys, there = whole.column(names[0]).to_numpy(), known[names[0]].to_numpy()
        at = np.minimum(np.searchsorted(there, keys), max(len(there) - 1, 0))
        is_found = there[at] == keys if len(there) else np.zeros(len(keys), dtype=np.bool_)
        place = known[PLACES].to_numpy()[at] if len(there) else keys
    else:
        asked = pl.from_arrow(whole.select(names))
        assert isinstance(asked, pl.DataFrame)
        found = asked.join(known, on=list(names), how="left", maintain_order="left")[PLACES]
        is_found = found.is_not_null().to_numpy()
        place = found.fill_null(-1).to_numpy()
    yield from _filed(whole, place, is_found, others)


def _filed(
    whole: Any, place: NDArray[np.int64], kept: NDArray[np.bool_], others: Sequence[str]
) -> Iterator[Any]:
    """Yield the records that are kept as piles by the partition of their place."""
    import pyarrow as pa

    if not kept.all():
        place = place[kept]
    if len(place):
        rows = whole.select(list(others))
        rows = rows if kept.all() else rows.filter(pa.array(kept))
        rank = pa.array((place & 0xFFFFFFFF).astype(np.int32))
        yield from _sliced(place >> 32, _with_rank(rows, rank))


def _with_rank(rows: Any, rank: Any) -> Any:
    import pyarrow as pa

    if not rows.num_columns:  # a table without columns does not know how many rows it has
        return pa.table({RANK: rank})
    return rows.append_column(RANK, rank)


def arranger(others: list[str], known: Any, *, piled: bool) -> Work:
    """Return the function that sorts the records of a partition and gives them labels.

    others: the columns that are released as they are.
    known: a broadcast of the labels of each column, and of int32[classes, columns], the
        label of each class, the classes by rank.
    piled: records come as piles, not as rows.
    """

    def work(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        if piled:
            held = [table for batch in batches for table in _tables(batch)]
        else:
            held = [pa.Table.from_batches([batch]) for batch in batches if batch.num_rows]
        if not held:
            return
        whole = pa.concat_tables(held).combine_chunks()
        held.clear()
        labels, cells = known.value
        order, ranks = in_order(whole, others)
        names = [*others, *[f"q{j}" for j in range(len(labels))]]
        for start in range(0, len(order), _BATCH):
            some = order[start : start + _BATCH]
            here = cells[ranks[some]]
            columns = [whole.column(name).chunk(0).take(pa.array(some)) for name in others]
            columns += [text.take(pa.array(here[:, j])) for j, text in enumerate(labels)]
            yield pa.RecordBatch.from_arrays(columns, names=names)

    return work


def in_order(whole: Any, others: Sequence[str]) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Return the order of records by rank, then by their texts, and the rank of each record.

    whole: an Arrow table with the other columns and `rank`.
    """
    frame = pl.from_arrow(whole)
    assert isinstance(frame, pl.DataFrame)
    texts = frame.select(RANK, pl.col(list(others)).cast(pl.String))
    order = texts.select(pl.arg_sort_by(texts.columns, nulls_last=False)).to_series()
    return order.to_numpy().astype(np.int64), frame[RANK].to_numpy()
