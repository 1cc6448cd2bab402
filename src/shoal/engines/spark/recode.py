"""Applying a recoding on Spark: a join on keys, then the order of the released values.

The driver knows every class and how many records it has. So it can say beforehand to which
partition each class belongs, all of them alike in size and one behind the other; each task
then sorts what it gets, and nothing has to be sampled.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl
import pyarrow as pa
from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from shoal.engines.spark.arrange import (
    PLACES,
    RANK,
    TASK_RECORDS,
    arranger,
    join_places_by_broadcast,
    join_places_by_shuffle,
    record_hashes,
)
from shoal.engines.spark.chunks import (
    PART,
    ROWS,
    Codes,
    Ints,
    send_chunks,
    shuffle_partitions,
    unchunked,
)
from shoal.engines.spark.coding import broadcast_frame
from shoal.engines.spark.distributed import DistributedRecoding
from shoal.engines.spark.frequencies import Coded
from shoal.engines.spark.source import SparkSource
from shoal.schema.schema import Kind, Schema
from shoal.table.recoding import Recoding

SORTED = 250_000  # records that a task sorts at once, or the records of one class
LARGE = 1_000_000  # a class with more records is sorted by Spark
KNOWN = 2_000_000  # keys that every task may hold
_CLASS, _ROW, _HASH, _PLACE = "class", "row", "hash", "place"
# Types whose texts every engine writes alike; a column of another one is left to Spark.
_PLAIN = {"string", "boolean", "byte", "short", "integer", "long", "float", "double", "decimal",
          "date", "timestamp", "timestamp_ntz", "char", "varchar"}  # fmt: skip


@dataclass(frozen=True)
class ReleaseOrder:
    """The classes in the order of their labels, dealt out to partitions.

    Attributes:
        texts: for each column, its distinct labels.
        cells: int32[classes, columns], the label of each class, the classes by rank.
        places: int64[classes]: where class i goes, its partition and its rank in one number;
            the last one is that of suppressed records, -1 where they are removed.
        partitions: how many there are.
    """

    texts: tuple[pl.Series, ...]
    cells: Codes
    places: Ints
    partitions: int

    @classmethod
    def of(cls, texts: pl.DataFrame, sizes: Ints, *, star: bool) -> ReleaseOrder:
        """Order classes whose last one is that of suppressed records."""
        found = texts.select(pl.arg_sort_by(texts.columns, nulls_last=False)).to_series()
        order = found.to_numpy().astype(np.int64)
        rank = np.empty(len(order), dtype=np.int64)
        rank[order] = np.arange(len(order))
        before = np.cumsum(sizes[order]) - sizes[order]
        part = np.unique(before // SORTED, return_inverse=True)[1]
        places = part[rank] << 32 | rank
        if not star:
            places[-1] = -1
        distinct, cells = [], np.empty(texts.shape, dtype=np.int32)
        for j, column in enumerate(texts):
            values = column.unique(maintain_order=True)
            known = pl.DataFrame({"text": values, "at": np.arange(len(values), dtype=np.int32)})
            each = column.to_frame("text").join(
                known, on="text", how="left", nulls_equal=True, maintain_order="left"
            )
            cells[:, j] = each["at"].to_numpy()[order]
            distinct.append(values)
        return cls(tuple(distinct), cells, places, int(part.max()) + 1)


@dataclass(frozen=True)
class Recoder:
    """Turns records into released records.

    Attributes:
        star: release suppressed records with every quasi-identifier as the root
            instead of removing them.
        typed: release centroids of numbers as numbers.
        distributed: the recoding, where the frequency table stays on Spark.
        commonest: then, the records of the commonest tuple.
        beside: a column of the coded table that stands behind the released ones, for who
            verifies them.
    """

    source: SparkSource
    schema: Schema
    coded: Coded
    recoding: Recoding
    star: bool = False
    typed: bool = False
    distributed: DistributedRecoding | None = None
    commonest: int = 0
    beside: str | None = None

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """Names of the released columns, in the table's own order."""
        released = set(self.schema.released)
        return tuple(name for name in self.source.columns if name in released)

    @cached_property
    def _others(self) -> list[str]:
        """The plain names of the columns that are released as they are."""
        return [self.source.name(n) for n in self.columns if n not in self.schema.quasi]

    @cached_property
    def _carried(self) -> list[str]:
        """What a record has beside its labels; equal records are sorted by who they are about."""
        return [*self._others, *self._behind]

    @property
    def _behind(self) -> tuple[str, ...]:
        return () if self.beside is None else (self.beside,)

    @property
    def _released(self) -> list[Column]:
        columns = released_columns(self.source, self.schema.quasi, self.columns)
        return [*columns, *map(F.col, self._behind)]

    @cached_property
    def _sizes(self) -> Ints:
        return np.append(self.recoding.sizes, self.recoding.suppressed if self.star else 0)

    @cached_property
    def order(self) -> ReleaseOrder:
        """The classes in the order in which they are released."""
        recoding = self.recoding
        texts = pl.DataFrame(
            {
                f"q{j}": pl.Series([*recoding.labels(j), domain.root], dtype=pl.String)
                for j, domain in enumerate(recoding.table.domains)
            }
        )
        return ReleaseOrder.of(texts, self._sizes, star=self.star)

    def frame(self) -> DataFrame:
        """Return the release, sorted by its released values: `columns`, then `beside`."""
        names = self.coded.packing.names
        records = self.coded.keyed.select(*names, *self._carried)
        kinds = {field.name: field.dataType for field in records.schema.fields}
        is_plain = all(kinds[name].typeName() in _PLAIN for name in self._carried)
        if int(self._sizes.max()) > LARGE or not is_plain:
            return self._sorted_by_spark(self._placed(records, self._behind))
        apart, in_chunks = self._by_partition(records)
        schema = [f"`{name}` {kinds[name].simpleString()}" for name in self._carried]
        schema += [
            f"q{j} {'double' if j in self._numbers else 'string'}"
            for j in range(len(self.schema.quasi))
        ]
        labels = [text.to_arrow(compat_level=pl.CompatLevel.oldest()) for text in self._labels()]
        known = self.source.session.sparkContext.broadcast((labels, self.order.cells))
        made = apart.mapInArrow(
            arranger(self._carried, known, in_chunks=in_chunks), ", ".join(schema)
        )
        return made.select(*self._released)

    def _by_partition(self, records: DataFrame) -> tuple[DataFrame, bool]:
        """Return the records by the partition they belong to; say whether in chunks."""
        names, partitions = self.coded.packing.names, self.order.partitions
        known = self._known()
        if known is not None and known.height <= KNOWN:
            sent = self.source.session.sparkContext.broadcast(known)
            found = join_places_by_broadcast(records, sent, names, self._carried)
            return found.repartitionById(partitions, PART), True
        there, places = None, None
        if known is not None:
            there = send_chunks(self.source.session, known)
        elif self.distributed is not None and self.commonest <= LARGE:
            if self.distributed.shares_keys:
                there = self.distributed.labelled
                places = self.source.session.sparkContext.broadcast(self.order.places)
            else:
                there = self.distributed.assign(self.order.places)
        if there is not None:
            least = shuffle_partitions(self.source.session)
            tasks = max(least, int(self._sizes.sum()) // TASK_RECORDS)
            found = join_places_by_shuffle(
                records, there, names, self._carried, partitions=tasks, places=places
            )
            return found.repartitionById(partitions, PART), True
        part = F.shiftright(_PLACE, 32).cast("int")
        placed = self._placed(records, self._behind).repartitionById(partitions, part)
        return placed.select(*self._carried, _rank()), False

    def _known(self) -> pl.DataFrame | None:
        """Return the keys and their places, where the driver has them and no class shares one."""
        recoding, names = self.recoding, self.coded.packing.names
        if self.distributed is not None or len(recoding.row) > recoding.table.rows:
            return None
        found = pl.DataFrame({**self._keys(), PLACES: self.order.places[recoding.label]})
        return found.filter(pl.col(PLACES) >= 0).sort(names)

    def _keys(self) -> dict[str, Ints]:
        """Return the keys of the recoding's table by their names."""
        return self.coded.pack(self.recoding.table)

    @cached_property
    def _numbers(self) -> set[int]:
        """The columns whose centroids are released as numbers."""
        if not self.typed or self.recoding.released is None or self.star:
            return set()
        domains = enumerate(self.recoding.table.domains)
        return {j for j, domain in domains if domain.kind is Kind.NUMERIC}

    def _labels(self) -> list[pl.Series]:
        """The distinct labels of each column, in the type that is released."""
        found = list(self.order.texts)
        for j in self._numbers:  # the root is the label of suppressed records, and nobody's here
            found[j] = found[j].cast(pl.Float64, strict=False)
        return found

    def _sorted_by_spark(self, records: DataFrame) -> DataFrame:
        """Return the release sorted by Spark: classes may be large, columns of any type."""
        cells = self.order.cells
        labels = pl.DataFrame(
            {f"q{j}": text.gather(cells[:, j]) for j, text in enumerate(self._labels())}
        ).with_columns(pl.Series(RANK, np.arange(len(cells), dtype=np.int32)))
        ranked = records.select(*self._carried, _rank())
        joined = ranked.join(broadcast_frame(self.source, labels), RANK, "inner")
        texts = [F.col(name).cast("string").asc_nulls_first() for name in self._others]
        return joined.orderBy(RANK, *texts).select(*self._released)

    def classed(self, column: str, value: Column) -> DataFrame:
        """Return the released records with their `class` and the value of one more column.

        column: its plain name in the table.
        """
        names = self.coded.packing.names
        records = self.coded.keyed.select(*names, *self._others, column)
        placed = self._placed(records, beside=(column,))
        # Classes of the same labels are one, whatever their number.
        cells = [tuple(row) for row in self.order.cells.tolist()]
        number: dict[tuple[int, ...], int] = {}
        ranks = np.array([number.setdefault(row, len(number)) for row in cells], dtype=np.int32)
        known = pl.DataFrame({RANK: np.arange(len(cells), dtype=np.int32), _CLASS: ranks})
        found = placed.select(value, _rank())
        return found.join(broadcast_frame(self.source, known), RANK, "inner")

    def _placed(self, records: DataFrame, beside: Sequence[str] = ()) -> DataFrame:
        """Return the records that are released, with the place of each.

        beside: columns of `records` that are not released and yet wanted.
        """
        coded, recoding, places = self.coded, self.recoding, self.order.places
        names = coded.packing.names
        if self.distributed is not None and self.distributed.shares_keys:
            return self._dealt_on_spark(self.distributed, beside)
        if self.distributed is not None:
            known = unchunked(self.distributed.assign(places), [*names, PLACES])
            known = known.where(F.col(PLACES) >= 0).withColumnRenamed(PLACES, _PLACE)
            return records.join(known.hint("shuffle_hash"), names, "inner").drop(*names)
        table = recoding.table
        shares = np.bincount(recoding.row, minlength=table.rows)  # classes that share a row
        first = np.concatenate(([0], np.cumsum(shares)[:-1]))
        whole = pl.DataFrame({**self._keys(), _PLACE: places[recoding.label[first]]})
        is_shared = shares > 1
        alone = whole.filter(pl.Series(~is_shared) & (pl.col(_PLACE) >= 0))
        found = records.join(broadcast_frame(self.source, alone), names, "inner").drop(*names)
        if not is_shared.any():
            return found
        dealt = self._dealt(whole.select(names), first, shares, beside)
        return found.unionByName(dealt)

    def _dealt(
        self, keys: pl.DataFrame, first: Ints, shares: Ints, beside: Sequence[str]
    ) -> DataFrame:
        """Return the records of rows that several classes share, dealt out to them.

        Sorted by a hash that only their own other values decide, the first records of a
        row go to its first class, and so on; how Spark divides the table decides nothing.

        Args:
            keys: of all rows.
            first: where the shares of each row begin in the recoding.
            shares: how many classes share each row.
            beside: see `_placed`.
        """
        rows = np.flatnonzero(shares > 1)
        ends, places = [], []
        for row in rows.tolist():
            mine = slice(int(first[row]), int(first[row] + shares[row]))
            ends.append(np.cumsum(self.recoding.count[mine]).tolist())
            places.append(self.order.places[self.recoding.label[mine]].tolist())
        known = keys[rows].with_columns(
            pl.Series(_ROW, np.arange(len(rows), dtype=np.int32)),
            pl.Series("ends", ends, dtype=pl.List(pl.Int64)),
            pl.Series("places", places, dtype=pl.List(pl.Int64)),
        )
        names, others = self.coded.packing.names, [*self._others, *beside]
        records = self.coded.keyed.select(*names, *others)
        found = records.join(broadcast_frame(self.source, known), names, "inner")
        dealt = self._in_turn(found.drop(*names), F.col(_ROW))
        return dealt.where(F.col(_PLACE) >= 0).select(*others, _PLACE)

    def _in_turn(self, found: DataFrame, *row: Column) -> DataFrame:
        """Return records with the place at which they are dealt out.

        found: records with `ends`, where the turns of each of their row's classes end, and
            the `places` of these classes.
        row: what records of one row have in common.
        """
        hashed = with_record_hashes(found, self._others)
        texts = [F.col(name).cast("string").asc_nulls_first() for name in self._others]
        turn = F.row_number().over(Window.partitionBy(*row).orderBy(_HASH, *texts))
        passed = F.size(F.filter("ends", lambda end: end < F.col("turn")))
        return hashed.withColumn("turn", turn).withColumn(_PLACE, F.get("places", passed))

    def _dealt_on_spark(self, found: DistributedRecoding, beside: Sequence[str]) -> DataFrame:
        """Return the records that are released, where classes share keys that stay on Spark."""
        names, others = self.coded.packing.names, [*self._others, *beside]
        classes = pl.DataFrame(
            {_CLASS: np.append(np.arange(self.recoding.classes), -1), _PLACE: self.order.places}
        )
        shares = unchunked(found.labelled, [*names, PLACES, ROWS])
        shares = shares.join(broadcast_frame(self.source, classes), F.col(PLACES) == F.col(_CLASS))
        each = F.sort_array(F.collect_list(F.struct(_CLASS, ROWS, _PLACE))).alias("shares")
        by_key = shares.groupBy(*names).agg(each)
        ends = F.transform(
            "shares",
            lambda _, i: F.aggregate(
                F.slice("shares", 1, i + 1), F.lit(0).cast("long"), lambda sum_, p: sum_ + p[ROWS]
            ),
        )
        known = by_key.select(*names, ends.alias("ends"), F.col(f"shares.{_PLACE}").alias("places"))
        records = self.coded.keyed.select(*names, *others)
        joined = records.join(known.hint("shuffle_hash"), names, "inner")
        dealt = self._in_turn(joined, *[F.col(name) for name in names])
        return dealt.where(F.col(_PLACE) >= 0).select(*others, _PLACE)


def _rank() -> Column:
    return F.expr(f"cast({_PLACE} & 4294967295L as int)").alias(RANK)


def with_record_hashes(frame: DataFrame, others: list[str]) -> DataFrame:
    """Return the table with the number that the local engine, too, gives to a record."""
    if not others:
        return frame.withColumn(_HASH, F.lit(0).cast("long"))

    def hashed(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            whole = pl.from_arrow(pa.Table.from_batches([batch]))
            assert isinstance(whole, pl.DataFrame)
            found = record_hashes(whole.select(pl.col(others).cast(pl.String)))
            columns = [*batch.columns, pa.array(found)]
            yield pa.RecordBatch.from_arrays(columns, names=[*batch.schema.names, _HASH])

    schema = ", ".join(
        f"`{field.name}` {field.dataType.simpleString()}" for field in frame.schema.fields
    )
    return frame.mapInArrow(hashed, f"{schema}, {_HASH} long")


def released_columns(
    source: SparkSource, quasi: Sequence[str], columns: Sequence[str]
) -> list[Column]:
    """Return the columns of a release: labels (q0, q1 …) for quasi-identifiers, others as read."""
    return [
        F.col(f"q{quasi.index(name)}" if name in quasi else source.name(name)) for name in columns
    ]


@dataclass(frozen=True)
class Labelled:
    """Puts the labels of classes in place of the quasi-identifiers."""

    source: SparkSource
    quasi: Sequence[str]  # in the order of the labels
    columns: Sequence[str]  # released
    beside: Sequence[str] = ()  # further columns of the records, behind the released ones

    def frame(self, records: DataFrame, labels: pl.DataFrame) -> DataFrame:
        """Return the released columns; records whose class has no labels are left out."""
        joined = records.join(broadcast_frame(self.source, labels), _CLASS, "inner")
        released = released_columns(self.source, self.quasi, self.columns)
        return joined.select(*released, *self.beside)
