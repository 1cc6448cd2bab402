"""Counted keys as piles: one row of Spark's holds the bytes of whole arrays.

What Spark does to a row, it then does once for a hundred thousand keys. A frequency table is
made of piles by sorting: each task joins equal keys, and sends the rest to where they belong.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from shoal.engines.spark.coding import Packing

ROWS = "rows"  # how many records have a key
HELD = 1_000_000  # keys that a task holds before it sorts them
_PILE = 250_000  # keys of a pile in the end

Keys = list[NDArray[np.int64]]
Work = Callable[[Iterator[Any]], Iterator[Any]]


@dataclass(frozen=True)
class Sums:
    """What is known of a frequency table without looking at its rows."""

    rows: int
    records: int
    tuples: int
    least: int  # records of the rarest tuple
    most: int
    unique: int
    strange: int  # records with a value that nobody knew


_SUMS = ("n", "records", "tuples", "least", "most", "once", "strange")


def kinds(packing: Packing) -> str:
    """Return the columns of piles, as Spark wants them said."""
    keys = ", ".join(f"{name} binary" for name in packing.names)
    return f"{keys}, {ROWS} binary"


def count_keys(keyed: DataFrame, packing: Packing, *, width: int) -> DataFrame:
    """Return the distinct keys of a table and how many records have each, in piles.

    Args:
        keyed: a table with the keys of its records.
        packing: how columns became keys.
        width: so many columns are quasi-identifiers; the rest are sensitive. The keys of one
            tuple go to one partition.
    """
    goal = Goal(packing, width, _parts(keyed))
    return goal.gather(keyed.select(*packing.names).mapInArrow(_sorter(goal), goal.kinds))


def roll_up(
    piles: DataFrame, packing: Packing, tables: Sequence[NDArray[np.int32]], sizes: Sequence[int]
) -> tuple[DataFrame, Packing]:
    """Return counted keys at a coarser node, in piles, and how its codes became keys.

    Args:
        piles: counted keys.
        packing: how columns became them.
        tables: for each of the first columns, what its codes become; the others stay.
        sizes: how many codes each of those columns has then.
    """
    width = len(tables)
    goal = Goal(Packing((*sizes, *packing.sizes[width:])), width, _parts(piles))
    work = _roller(packing, goal, list(tables))
    made = piles.select(*packing.names, ROWS).mapInArrow(work, goal.kinds)
    return goal.gather(made), goal.packing


def _parts(frame: DataFrame) -> int:
    return int(str(frame.sparkSession.conf.get("spark.sql.shuffle.partitions")))


@dataclass(frozen=True)
class Goal:
    """Where keys are gathered: those of one tuple in one partition."""

    packing: Packing
    width: int
    parts: int

    @property
    def kinds(self) -> str:
        """Return the columns of piles on their way, as Spark wants them said."""
        return f"part int, {kinds(self.packing)}, strange long"

    def gather(self, piles: DataFrame) -> DataFrame:
        """Join the piles of each partition."""
        sums = ", ".join(f"{name} long" for name in _SUMS)
        there = piles.repartitionById(self.parts, "part")
        return there.mapInArrow(_joiner(self), f"{kinds(self.packing)}, {sums}")

    def send(self, keys: Keys, counts: NDArray[np.int64]) -> Iterator[Any]:
        """Yield piles of joined keys by partition."""
        keys, counts = joined(keys, counts)
        part = part_of(_tuples(self.packing, self.width, keys), self.parts)
        for number, mine in by_part(part):
            own = {n: key[mine] for n, key in zip(self.packing.names, keys, strict=True)}
            yield pile({"part": np.int32(number), **own, ROWS: counts[mine], "strange": 0})


def by_part(part: NDArray[np.int64]) -> Iterator[tuple[int, NDArray[np.int64]]]:
    """Yield every number that occurs, and where."""
    order = np.argsort(part, kind="stable")
    ordered = part[order]
    starts = np.flatnonzero(np.diff(ordered, prepend=-1)).tolist()
    for start, end in zip(starts, [*starts[1:], len(order)], strict=True):
        yield int(ordered[start]), order[start:end]


def sums_of(piles: DataFrame) -> DataFrame:
    """Return the query whose one row `told` reads."""
    asked = {"least": F.min, "most": F.max}
    return piles.agg(*[asked.get(name, F.sum)(name).alias(name) for name in _SUMS])


def told(row: dict[str, Any]) -> Sums:
    """Return the sums of a frequency table."""
    return Sums(*[int(row[name] or 0) for name in _SUMS])


def collected(piles: Any, names: Sequence[str]) -> Keys:
    """Return the arrays of all piles that were brought here, one behind the other."""
    held = [each for batch in piles.to_batches() for each in arrays(batch, names)]
    if not held:
        return [np.zeros(0, dtype=np.int64) for _ in names]
    return [np.concatenate(each) for each in zip(*held, strict=True)]


def arrays(batch: Any, names: Sequence[str]) -> Iterator[Keys]:
    """Yield, for each pile of a batch, its arrays."""
    columns = [batch.column(name) for name in names]
    for i in range(batch.num_rows):
        yield [np.frombuffer(column[i].as_buffer(), dtype=np.int64) for column in columns]


def pile(columns: dict[str, Any]) -> Any:
    """Return a pile as a batch of one row: arrays become bytes, None an empty cell of them."""
    import pyarrow as pa

    made = []
    for value in columns.values():
        if value is None or isinstance(value, np.ndarray):
            cell = None if value is None else np.ascontiguousarray(value).tobytes()
            made.append(pa.array([cell], pa.binary()))
        else:
            made.append(pa.array([value]))
    return pa.RecordBatch.from_arrays(made, names=list(columns))


def joined(keys: Keys, counts: NDArray[np.int64]) -> tuple[Keys, NDArray[np.int64]]:
    """Return the distinct keys, sorted, and the sum of the counts of each."""
    order = np.argsort(keys[0], kind="stable") if len(keys) == 1 else np.lexsort(keys[::-1])
    keys = [key[order] for key in keys]
    starts = np.flatnonzero(_changes(keys))
    summed = np.add.reduceat(counts[order], starts) if len(starts) else counts[:0]
    return [key[starts] for key in keys], summed


def _changes(keys: Keys) -> NDArray[np.bool_]:
    fresh = np.ones(len(keys[0]), dtype=np.bool_)
    fresh[1:] = False
    for key in keys:
        fresh[1:] |= key[1:] != key[:-1]
    return fresh


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


def part_of(keys: Keys, parts: int) -> NDArray[np.int64]:
    """Return a partition for each key; every process says the same."""
    mixed = np.zeros(len(keys[0]), dtype=np.uint64)
    for key in keys:
        mixed = (mixed ^ key.view(np.uint64)) * np.uint64(0x9E3779B97F4A7C15)
        mixed ^= mixed >> np.uint64(32)
    return (mixed % np.uint64(parts)).astype(np.int64)


def _sorter(goal: Goal) -> Work:
    """Return the function that sorts the keys of a task and puts them on piles by partition."""
    names = goal.packing.names

    def flush(held: list[Keys]) -> Iterator[Any]:
        whole = [np.concatenate([keys[i] for keys in held]) for i in range(len(names))]
        yield from goal.send(whole, np.ones(len(whole[0]), dtype=np.int64))

    def work(batches: Iterator[Any]) -> Iterator[Any]:
        held: list[Keys] = []
        strange = waiting = 0
        for batch in batches:
            if any(batch.column(name).null_count for name in names):
                strange += batch.num_rows
                continue
            held.append([batch.column(name).to_numpy() for name in names])
            waiting += batch.num_rows
            if waiting >= HELD:
                yield from flush(held)
                held, waiting = [], 0
        if waiting:
            yield from flush(held)
        if strange:
            nothing = np.zeros(0, dtype=np.int64)
            own = dict.fromkeys(names, nothing)
            yield pile({"part": np.int32(0), **own, ROWS: nothing, "strange": strange})

    return work


def _roller(packing: Packing, goal: Goal, tables: Sequence[NDArray[np.int32]]) -> Work:
    """Return the function that gives keys the codes of a coarser node."""

    def work(batches: Iterator[Any]) -> Iterator[Any]:
        for batch in batches:
            for *keys, counts in arrays(batch, [*packing.names, ROWS]):
                codes = packing.unpack(keys)
                for j, table in enumerate(tables):
                    codes[:, j] = table[codes[:, j]]
                yield from goal.send(goal.packing.pack(codes), counts)

    return work


def _joiner(goal: Goal) -> Work:
    """Return the function that joins the piles of a partition and counts what is in them."""
    names = goal.packing.names

    def work(batches: Iterator[Any]) -> Iterator[Any]:
        held: list[Keys] = []
        strange = 0
        for batch in batches:
            held += arrays(batch, [*names, ROWS])
            strange += sum(batch.column("strange").to_pylist())
        if not held:
            return
        *whole, amounts = (np.concatenate(each) for each in zip(*held, strict=True))
        held.clear()
        keys, counts = joined(whole, amounts)
        starts = np.flatnonzero(_changes(_tuples(goal.packing, goal.width, keys)))
        sizes = np.add.reduceat(counts, starts) if len(starts) else counts
        least, most = (int(sizes.min()), int(sizes.max())) if len(sizes) else (None, None)
        once = int((sizes == 1).sum())
        facts = (len(counts), int(counts.sum()), len(sizes), least, most, once, strange)
        for start in range(0, max(len(counts), 1), _PILE):
            some = slice(start, start + _PILE)
            own = {name: key[some] for name, key in zip(names, keys, strict=True)}
            told_here = facts if start == 0 else (None,) * len(_SUMS)
            yield _with_sums({**own, ROWS: counts[some]}, told_here)

    return work


def _with_sums(columns: dict[str, Any], facts: Sequence[int | None]) -> Any:
    import pyarrow as pa

    made = pile(columns)
    for name, fact in zip(_SUMS, facts, strict=True):
        made = made.append_column(name, pa.array([fact], pa.int64()))
    return made


def spread_out(piles: DataFrame, names: Sequence[str]) -> DataFrame:
    """Return a row a key, for jobs that Spark does itself."""

    def work(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        for batch in batches:
            for each in arrays(batch, names):
                yield pa.RecordBatch.from_arrays([pa.array(x) for x in each], names=list(names))

    return piles.select(*names).mapInArrow(work, ", ".join(f"{name} long" for name in names))


def sent_piles(spark: SparkSession, frame: pl.DataFrame) -> DataFrame:
    """Return whole numbers of the driver as piles on Spark."""
    import pyarrow as pa

    batches = []
    for start in range(0, frame.height, _PILE):
        some = frame[start : start + _PILE]
        batches.append(pile({name: some[name].to_numpy() for name in frame.columns}))
    return spark.createDataFrame(pa.Table.from_batches(batches))
