"""Counted keys in chunks: one row of Spark's holds the bytes of whole arrays.

Such a row has a binary cell for each key of the packed codes (`key0`, `key1` …) and one for
`rows`, how many records have each key: int64 arrays, all of one length. What Spark does to a row,
it then does once for a hundred thousand keys. A frequency table is made of chunks by sorting: each
task sums equal keys, and sends the rest to the partition where they belong.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from shoal.engines.spark.coding import Packing

PART = "part"  # the partition that a chunk belongs to
ROWS = "rows"  # how many records have a key
TASK_KEYS = 1_000_000  # keys that a task holds before it sorts them
CHUNK_KEYS = 250_000  # keys of a chunk in the end
_UNKNOWN = "unknown"  # records of a task that have no key

Ints = NDArray[np.int64]
Codes = NDArray[np.int32]
Keys = list[Ints]
Cell = Ints | NDArray[np.uint8] | int | np.int32 | None
ArrowMap = Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]


@dataclass(frozen=True)
class Totals:
    """What is known of a frequency table without looking at its rows."""

    rows: int
    records: int
    tuples: int
    rarest: int  # records of the rarest tuple
    commonest: int
    unique: int
    unknown: int  # records with a value that was not among the distinct ones


_TOTALS = ("n", "records", "tuples", "rarest", "commonest", "unique", _UNKNOWN)


def chunk_schema(names: Iterable[str]) -> str:
    """Return the schema of columns of chunks, as Spark writes it."""
    return ", ".join(f"{name} binary" for name in names)


def chunk_of(columns: Mapping[str, Cell]) -> pa.RecordBatch:
    """Return a chunk as a batch of one row: arrays become bytes, None an empty cell of them."""
    made = []
    for value in columns.values():
        if value is None or isinstance(value, np.ndarray):
            cell = None if value is None else np.ascontiguousarray(value).tobytes()
            made.append(pa.array([cell], pa.binary()))
        else:
            made.append(pa.array([value]))
    return pa.RecordBatch.from_arrays(made, names=list(columns))


def chunk_arrays(batch: pa.RecordBatch, names: Sequence[str]) -> Iterator[Keys]:
    """Yield, for each chunk of a batch, its arrays."""
    columns = [batch.column(name) for name in names]
    for i in range(batch.num_rows):
        yield [np.frombuffer(column[i].as_buffer(), dtype=np.int64) for column in columns]


def concatenated(batches: Iterable[pa.RecordBatch], names: Sequence[str]) -> Keys:
    """Return the arrays of all chunks, one behind the other."""
    return _end_to_end([each for batch in batches for each in chunk_arrays(batch, names)], names)


def _end_to_end(chunks: Sequence[Keys], names: Sequence[str]) -> Keys:
    if not chunks:
        return [np.zeros(0, dtype=np.int64) for _ in names]
    return [np.concatenate(each) for each in zip(*chunks, strict=True)]


def by_task_partition(
    batches: Iterable[pa.RecordBatch], names: Sequence[str]
) -> Iterator[tuple[int, Keys]]:
    """Yield each partition that a task was sent, in order, with the arrays of all its chunks."""
    held: dict[int, list[Keys]] = {}
    for batch in batches:
        numbers = batch.column(PART).to_pylist()
        for number, each in zip(numbers, chunk_arrays(batch, names), strict=True):
            held.setdefault(number, []).append(each)
    for number in sorted(held):
        yield number, _end_to_end(held.pop(number), names)


def decode_chunks(
    packing: Packing, batches: Iterable[pa.RecordBatch]
) -> Iterator[tuple[Codes, Ints]]:
    """Yield the codes and the records of the keys of each chunk."""
    for batch in batches:
        for *keys, counts in chunk_arrays(batch, [*packing.names, ROWS]):
            yield packing.unpack(keys), counts


def sliced(columns: Mapping[str, Ints | None]) -> Iterator[dict[str, Ints | None]]:
    """Yield columns cut to the size of a chunk; of empty ones, one empty slice."""
    keys = max(len(column) for column in columns.values() if column is not None)
    for start in range(0, max(keys, 1), CHUNK_KEYS):
        some = slice(start, start + CHUNK_KEYS)
        yield {n: None if column is None else column[some] for n, column in columns.items()}


def by_partition(number: Ints) -> Iterator[tuple[int, Ints]]:
    """Yield every number that occurs, and where."""
    order = np.argsort(number, kind="stable")
    ordered = number[order]
    starts = np.flatnonzero(np.diff(ordered, prepend=-1)).tolist()
    for start, end in zip(starts, [*starts[1:], len(order)], strict=True):
        yield int(ordered[start]), order[start:end]


def sent(number: Ints, columns: Mapping[str, Ints], **same: int) -> Iterator[pa.RecordBatch]:
    """Yield a chunk a partition; number: the partition of each key; same: cells of every chunk."""
    for part, mine in by_partition(number):
        own = {name: column[mine] for name, column in columns.items()}
        yield chunk_of({PART: np.int32(part), **own, **same})


def partition_of(keys: Keys, partitions: int) -> Ints:
    """Return a partition for each key; every process says the same."""
    mixed = np.zeros(len(keys[0]), dtype=np.uint64)
    for key in keys:
        mixed = (mixed ^ key.view(np.uint64)) * np.uint64(0x9E3779B97F4A7C15)
        mixed ^= mixed >> np.uint64(32)
    return (mixed % np.uint64(partitions)).astype(np.int64)


def sum_equal_keys(keys: Keys, counts: Ints) -> tuple[Keys, Ints]:
    """Return the distinct keys, sorted, and the sum of the counts of each."""
    order = np.argsort(keys[0], kind="stable") if len(keys) == 1 else np.lexsort(keys[::-1])
    keys = [key[order] for key in keys]
    starts = run_starts(keys)
    summed = np.add.reduceat(counts[order], starts) if len(starts) else counts[:0]
    return [key[starts] for key in keys], summed


def run_starts(keys: Keys) -> Ints:
    """Return where each run of equal keys begins."""
    is_start = np.ones(len(keys[0]), dtype=np.bool_)
    is_start[1:] = False
    for key in keys:
        is_start[1:] |= key[1:] != key[:-1]
    return np.flatnonzero(is_start)


def tuple_steps(packing: Packing, width: int) -> list[int]:
    """Return what each key is divided by to forget the columns from `width` on."""
    found = []
    for group in packing.groups:
        step = 1
        for j in group:
            step *= max(packing.sizes[j], 1) if j >= width else 1
        found.append(step)
    return found


def _tuples(packing: Packing, width: int, keys: Keys) -> Keys:
    """Return the keys of the quasi-identifiers alone."""
    steps = zip(keys, tuple_steps(packing, width), strict=True)
    return [key if step == 1 else key // step for key, step in steps]


@dataclass(frozen=True)
class Shuffle:
    """Brings the keys of one tuple to one partition, and sums equal keys on the way.

    Attributes:
        width: so many columns are quasi-identifiers; the rest are sensitive.
    """

    packing: Packing
    width: int
    partitions: int

    @property
    def schema(self) -> str:
        """Return the schema of chunks on their way."""
        return f"{PART} int, {chunk_schema([*self.packing.names, ROWS])}, {_UNKNOWN} long"

    def send(self, keys: Keys, counts: Ints) -> Iterator[pa.RecordBatch]:
        """Yield chunks of distinct keys by partition."""
        keys, counts = sum_equal_keys(keys, counts)
        number = partition_of(_tuples(self.packing, self.width, keys), self.partitions)
        yield from sent(number, {**self.packing.named(keys), ROWS: counts}, **{_UNKNOWN: 0})

    def gather(self, chunks: DataFrame) -> DataFrame:
        """Sum the equal keys of each partition; the first chunk of one has its totals."""
        totals = ", ".join(f"{name} long" for name in _TOTALS)
        there = chunks.repartitionById(self.partitions, PART)
        schema = f"{chunk_schema([*self.packing.names, ROWS])}, {totals}"
        return there.mapInArrow(self._gathered, schema)

    def _gathered(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        held = [batch for batch in batches if batch.num_rows]
        if not held:
            return
        names = [*self.packing.names, ROWS]
        unknown = sum(sum(batch.column(_UNKNOWN).to_pylist()) for batch in held)
        *keys, counts = concatenated(held, names)
        held.clear()
        keys, counts = sum_equal_keys(keys, counts)
        totals: Sequence[int | None] = self._totals(keys, counts, unknown)
        for some in sliced({**self.packing.named(keys), ROWS: counts}):
            made = chunk_of(some)
            for name, total in zip(_TOTALS, totals, strict=True):
                made = made.append_column(name, pa.array([total], pa.int64()))
            yield made
            totals = [None] * len(_TOTALS)

    def _totals(self, keys: Keys, counts: Ints, unknown: int) -> list[int | None]:
        starts = run_starts(_tuples(self.packing, self.width, keys))
        sizes = np.add.reduceat(counts, starts) if len(starts) else counts
        ends = (int(sizes.min()), int(sizes.max())) if len(sizes) else (None, None)
        unique = int((sizes == 1).sum())
        return [len(counts), int(counts.sum()), len(sizes), *ends, unique, unknown]


def count_keys(keyed: DataFrame, packing: Packing, *, width: int) -> DataFrame:
    """Return the distinct keys of a table and how many records have each, in chunks.

    Args:
        keyed: a table with the keys of its records.
        packing: how columns became keys.
        width: so many columns are quasi-identifiers, see `Shuffle`.
    """
    shuffle = Shuffle(packing, width, shuffle_partitions(keyed.sparkSession))
    counted = keyed.select(*packing.names).mapInArrow(_key_counter(shuffle), shuffle.schema)
    return shuffle.gather(counted)


def shuffle_partitions(spark: SparkSession) -> int:
    """Return into how many partitions Spark shuffles."""
    return int(str(spark.conf.get("spark.sql.shuffle.partitions")))


def _key_counter(shuffle: Shuffle) -> ArrowMap:
    """Return the function that counts the keys of a task and sends them on."""
    names = shuffle.packing.names

    def flush(held: list[Keys]) -> Iterator[pa.RecordBatch]:
        keys = _end_to_end(held, names)
        yield from shuffle.send(keys, np.ones(len(keys[0]), dtype=np.int64))

    def count(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        held: list[Keys] = []
        unknown = waiting = 0
        for batch in batches:
            if any(batch.column(name).null_count for name in names):
                unknown += batch.num_rows
                continue
            held.append([batch.column(name).to_numpy() for name in names])
            waiting += batch.num_rows
            if waiting >= TASK_KEYS:
                yield from flush(held)
                held, waiting = [], 0
        if waiting:
            yield from flush(held)
        if unknown:
            nothing = dict.fromkeys([*names, ROWS], np.zeros(0, dtype=np.int64))
            yield chunk_of({PART: np.int32(0), **nothing, _UNKNOWN: unknown})

    return count


def roll_up(
    chunks: DataFrame, packing: Packing, tables: Sequence[Codes], sizes: Sequence[int]
) -> tuple[DataFrame, Packing]:
    """Return counted keys at a coarser node, in chunks, and how its codes became keys.

    Args:
        chunks: counted keys.
        packing: how columns became them.
        tables: for each of the first columns, what its codes become; the others stay.
        sizes: how many codes each of those columns has then.
    """
    width = len(tables)
    coarse = Packing((*sizes, *packing.sizes[width:]))
    shuffle = Shuffle(coarse, width, shuffle_partitions(chunks.sparkSession))

    def generalize(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for codes, counts in decode_chunks(packing, batches):
            for j, table in enumerate(tables):
                codes[:, j] = table[codes[:, j]]
            yield from shuffle.send(coarse.pack(codes), counts)

    made = chunks.select(*packing.names, ROWS).mapInArrow(generalize, shuffle.schema)
    return shuffle.gather(made), coarse


def totals_query(chunks: DataFrame) -> DataFrame:
    """Return the query whose one row `totals_of` reads."""
    extremes = {"rarest": F.min, "commonest": F.max}
    return chunks.agg(*[extremes.get(name, F.sum)(name).alias(name) for name in _TOTALS])


def totals_of(row: Mapping[str, int | None]) -> Totals:
    """Return the totals of a frequency table."""
    return Totals(*[int(row[name] or 0) for name in _TOTALS])


def unchunked(chunks: DataFrame, names: Sequence[str]) -> DataFrame:
    """Return a row a key, for jobs that Spark does itself."""

    def work(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for each in chunk_arrays(batch, names):
                yield pa.RecordBatch.from_arrays([pa.array(x) for x in each], names=list(names))

    return chunks.select(*names).mapInArrow(work, ", ".join(f"{name} long" for name in names))


def send_chunks(spark: SparkSession, frame: pl.DataFrame) -> DataFrame:
    """Return whole numbers of the driver as chunks on Spark."""
    columns = {name: frame[name].to_numpy() for name in frame.columns}
    return spark.createDataFrame(pa.Table.from_batches([chunk_of(x) for x in sliced(columns)]))
