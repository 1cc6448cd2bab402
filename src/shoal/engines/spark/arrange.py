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
from shoal.engines.spark.piles import Work, arrays, by_part, part_of, pile

PART, DATA, PLACES, RANK = "part", "data", "places", "rank"
FILED = 500_000  # records that a task files at once
_BATCH = 50_000


def find_places(
    records: DataFrame, known: DataFrame, names: Sequence[str], others: Sequence[str], *, parts: int
) -> DataFrame:
    """Return piles of records by the partition of their place; those without one are left out.

    Args:
        records: keys and the other columns of every record.
        known: piles of keys and places.
        names: of the keys.
        others: the other columns.
        parts: how many tasks share the work.
    """
    kinds = ", ".join([f"{PART} int", *[f"{n} binary" for n in names], f"{PLACES} binary"])
    there = known.select(*names, PLACES).mapInArrow(_filer_of_keys(names, parts), kinds)
    none = [F.lit(None).cast("binary").alias(name) for name in (*names, PLACES)]
    here = records.select(*names, *others).mapInArrow(
        _filer(names, parts), f"{PART} int, {DATA} binary"
    )
    whole = here.select(PART, DATA, *none).unionByName(
        there.withColumn(DATA, F.lit(None).cast("binary"))
    )
    finder = _finder(list(names), list(others))
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


def _filer_of_keys(names: Sequence[str], parts: int) -> Work:
    """Return the function that files keys and their places."""

    def work(batches: Iterator[Any]) -> Iterator[Any]:
        for batch in batches:
            for *keys, places in arrays(batch, [*names, PLACES]):
                for number, mine in by_part(part_of(keys, parts)):
                    own = {name: key[mine] for name, key in zip(names, keys, strict=True)}
                    yield pile({PART: np.int32(number), **own, PLACES: places[mine]})

    return work


def _finder(names: list[str], others: list[str]) -> Work:
    """Return the function that finds the place of every record of a partition."""

    def work(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        tables: list[Any] = []
        found: list[list[NDArray[np.int64]]] = []
        for batch in batches:
            tables += _tables(batch)
            known = batch.filter(batch.column(PLACES).is_valid())
            found += arrays(known, [*names, PLACES])
        if not tables or not found:
            return
        columns = [np.concatenate(each) for each in zip(*found, strict=True)]
        known = pl.DataFrame(dict(zip([*names, PLACES], columns, strict=True))).sort(names)
        whole = pa.concat_tables(tables).combine_chunks()
        tables.clear()
        yield from _placed(whole, known, names, others)

    return work


def _placed(
    whole: Any, known: pl.DataFrame, names: Sequence[str], others: Sequence[str]
) -> Iterator[Any]:
    """Yield the records that have a place as piles by its partition; known: sorted by keys."""
    import pyarrow as pa

    if len(names) == 1:
        keys, there = whole.column(names[0]).to_numpy(), known[names[0]].to_numpy()
        at = np.minimum(np.searchsorted(there, keys), max(len(there) - 1, 0))
        is_found = there[at] == keys if len(there) else np.zeros(len(keys), dtype=np.bool_)
        place = known[PLACES].to_numpy()[at[is_found]]
    else:
        asked = pl.from_arrow(whole.select(names))
        assert isinstance(asked, pl.DataFrame)
        found = asked.join(known, on=list(names), how="left", maintain_order="left")[PLACES]
        is_found = found.is_not_null().to_numpy()
        place = found.drop_nulls().to_numpy()
    if len(place):
        rows = whole.select(list(others))
        rows = rows if is_found.all() else rows.filter(pa.array(is_found))
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
