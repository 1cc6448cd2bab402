"""Applying a recoding on Spark: a join on keys, then the order of the released values.

The driver knows every class and how many records it has. So it can say beforehand to which
partition each class belongs, all of them alike in size and one behind the other; each task
then sorts what it gets, and nothing has to be sampled.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from shoal.engines.spark.arrange import (
    FILED,
    PART,
    PLACES,
    RANK,
    arranger,
    find_places,
    look_up,
    marks,
)
from shoal.engines.spark.coding import small
from shoal.engines.spark.far import Far
from shoal.engines.spark.frequencies import Coded
from shoal.engines.spark.piles import ROWS, sent_piles, spread_out
from shoal.engines.spark.source import SparkSource
from shoal.methods.recoding import Recoding
from shoal.schema.schema import Kind, Schema

SORTED = 250_000  # records that a task sorts at once, or the records of one class
LARGE = 1_000_000  # a class with more records is sorted by Spark
KNOWN = 2_000_000  # keys that every task may hold
_CLASS, _ROW, _MARK, _PLACE = "class", "row", "mark", "place"
# Types whose texts every engine writes alike; a column of another one is left to Spark.
_PLAIN = {"string", "boolean", "byte", "short", "integer", "long", "float", "double", "decimal",
          "date", "timestamp", "timestamp_ntz", "char", "varchar"}  # fmt: skip


@dataclass(frozen=True)
class Order:
    """The classes in the order of their labels, dealt out to partitions.

    Attributes:
        texts: for each column, its distinct labels.
        cells: int32[classes, columns], the label of each class, the classes by rank.
        places: int64[classes]: where class i goes, its partition and its rank in one number;
            the last one is that of suppressed records, -1 where they are removed.
        parts: how many partitions there are.
    """

    texts: tuple[pl.Series, ...]
    cells: NDArray[np.int32]
    places: NDArray[np.int64]
    parts: int

    @classmethod
    def of(cls, texts: pl.DataFrame, sizes: NDArray[np.int64], *, star: bool) -> Order:
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
        far: the recoding, where the frequency table stays on Spark.
        most: then, the records of the commonest tuple.
    """

    source: SparkSource
    schema: Schema
    coded: Coded
    recoding: Recoding
    star: bool = False
    typed: bool = False
    far: Far | None = None
    most: int = 0

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """Names of the released columns, in the table's own order."""
        kept = set(self.schema.released)
        return tuple(name for name in self.source.columns if name in kept)

    @cached_property
    def _others(self) -> list[str]:
        """The plain names of the columns that are released as they are."""
        return [self.source.name(n) for n in self.columns if n not in self.schema.quasi]

    @cached_property
    def _sizes(self) -> NDArray[np.int64]:
        return np.append(self.recoding.sizes, self.recoding.suppressed if self.star else 0)

    @cached_property
    def order(self) -> Order:
        """The classes in the order in which they are released."""
        recoding = self.recoding
        texts = pl.DataFrame(
            {
                f"q{j}": pl.Series([*recoding.labels(j), domain.root], dtype=pl.String)
                for j, domain in enumerate(recoding.table.domains)
            }
        )
        return Order.of(texts, self._sizes, star=self.star)

    def frame(self) -> DataFrame:
        """Return the release, sorted by its released values; its columns are `columns`."""
        names = self.coded.packing.names
        records = self.coded.keyed.select(*names, *self._others)
        kinds = {field.name: field.dataType for field in records.schema.fields}
        is_plain = all(kinds[name].typeName() in _PLAIN for name in self._others)
        if int(self._sizes.max()) > LARGE or not is_plain:
            return self._sorted_by_spark(self._placed(records))
        apart, piled = self._apart(records)
        schema = [f"`{name}` {kinds[name].simpleString()}" for name in self._others]
        schema += [
            f"q{j} {'double' if j in self._numbers else 'string'}"
            for j in range(len(self.schema.quasi))
        ]
        labels = [text.to_arrow(compat_level=pl.CompatLevel.oldest()) for text in self._labels()]
        known = self.source.session.sparkContext.broadcast((labels, self.order.cells))
        made = apart.mapInArrow(arranger(self._others, known, piled=piled), ", ".join(schema))
        return made.select(*self._released())

    def _apart(self, records: DataFrame) -> tuple[DataFrame, bool]:
        """Return the records by the partition they belong to; say whether they are in piles."""
        names, parts = self.coded.packing.names, self.order.parts
        known = self._known()
        if known is not None and known.height <= KNOWN:
            sent = self.source.session.sparkContext.broadcast(known)
            found = look_up(records, sent, names, self._others)
            return found.repartitionById(parts, PART), True
        there, places = None, None
        if known is not None:
            there = sent_piles(self.source.session, known)
        elif self.far is not None and self.most <= LARGE:
            if self.far.shared:
                there = self.far.own
                places = self.source.session.sparkContext.broadcast(self.order.places)
            else:
                there = self.far.assign(self.order.places)
        if there is not None:
            least = str(self.source.session.conf.get("spark.sql.shuffle.partitions"))
            tasks = max(int(least), int(self._sizes.sum()) // FILED)
            found = find_places(records, there, names, self._others, parts=tasks, places=places)
            return found.repartitionById(parts, PART), True
        part = F.shiftright(_PLACE, 32).cast("int")
        placed = self._placed(records).repartitionById(parts, part)
        return placed.select(*self._others, _rank()), False

    def _known(self) -> pl.DataFrame | None:
        """Return the keys and their places, where the driver has them and no class shares one."""
        recoding, names = self.recoding, self.coded.packing.names
        if self.far is not None or len(recoding.row) > recoding.table.rows:
            return None
        keys = dict(zip(names, self._keys(), strict=True))
        found = pl.DataFrame({**keys, PLACES: self.order.places[recoding.label]})
        return found.filter(pl.col(PLACES) >= 0).sort(names)

    def _keys(self) -> list[NDArray[np.int64]]:
        table = self.recoding.table
        return self.coded.packing.pack(np.concatenate((table.codes, table.sensitive), axis=1))

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

    def _released(self) -> list[Column]:
        quasi = self.schema.quasi
        return [
            F.col(f"q{quasi.index(name)}" if name in quasi else self.source.name(name))
            for name in self.columns
        ]

    def _sorted_by_spark(self, records: DataFrame) -> DataFrame:
        """Return the release sorted by Spark: classes may be large, columns of any type."""
        cells = self.order.cells
        labels = pl.DataFrame(
            {f"q{j}": text.gather(cells[:, j]) for j, text in enumerate(self._labels())}
        ).with_columns(pl.Series(RANK, np.arange(len(cells), dtype=np.int32)))
        ranked = records.select(*self._others, _rank())
        joined = ranked.join(small(self.source, labels), RANK, "inner")
        texts = [F.col(name).cast("string").asc_nulls_first() for name in self._others]
        return joined.orderBy(RANK, *texts).select(*self._released())

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
        return found.join(small(self.source, known), RANK, "inner")

    def _placed(self, records: DataFrame, beside: Sequence[str] = ()) -> DataFrame:
        """Return the records that are released, with the place of each.

        beside: columns of `records` that are not released and yet wanted.
        """
        coded, recoding, places = self.coded, self.recoding, self.order.places
        names = coded.packing.names
        if self.far is not None and self.far.shared:
            return self._dealt_far(self.far, beside)
        if self.far is not None:
            known = spread_out(self.far.assign(places), [*names, PLACES])
            known = known.where(F.col(PLACES) >= 0).withColumnRenamed(PLACES, _PLACE)
            return records.join(known.hint("shuffle_hash"), names, "inner").drop(*names)
        table = recoding.table
        pieces = np.bincount(recoding.row, minlength=table.rows)
        first = np.concatenate(([0], np.cumsum(pieces)[:-1]))
        packed = dict(zip(names, self._keys(), strict=True))
        whole = pl.DataFrame({**packed, _PLACE: places[recoding.label[first]]})
        is_shared = pieces > 1
        alone = whole.filter(pl.Series(~is_shared) & (pl.col(_PLACE) >= 0))
        found = records.join(small(self.source, alone), names, "inner").drop(*names)
        if not is_shared.any():
            return found
        dealt = self._dealt(whole.select(names), is_shared, first, pieces, beside)
        return found.unionByName(dealt)

    def _dealt(
        self,
        keys: pl.DataFrame,
        is_shared: NDArray[np.bool_],
        first: NDArray[np.int64],
        pieces: NDArray[np.int64],
        beside: Sequence[str],
    ) -> DataFrame:
        """Return the records of rows that several classes share, dealt out to them.

        Sorted by a number that only their own other values decide, the first records of a
        row go to its first class, and so on; how Spark divides the table decides nothing.
        """
        rows = np.flatnonzero(is_shared)
        ends, places = [], []
        for row in rows.tolist():
            mine = slice(int(first[row]), int(first[row] + pieces[row]))
            ends.append(np.cumsum(self.recoding.count[mine]).tolist())
            places.append(self.order.places[self.recoding.label[mine]].tolist())
        known = keys[rows].with_columns(
            pl.Series(_ROW, np.arange(len(rows), dtype=np.int32)),
            pl.Series("ends", ends, dtype=pl.List(pl.Int64)),
            pl.Series("places", places, dtype=pl.List(pl.Int64)),
        )
        names, others = self.coded.packing.names, [*self._others, *beside]
        records = self.coded.keyed.select(*names, *others)
        found = records.join(small(self.source, known), names, "inner")
        dealt = self._in_turn(found.drop(*names), F.col(_ROW))
        return dealt.where(F.col(_PLACE) >= 0).select(*others, _PLACE)

    def _in_turn(self, found: DataFrame, *row: Column) -> DataFrame:
        """Return records with the place at which they are dealt out.

        found: records with `ends`, where the turns of each of their row's classes end, and
            the `places` of these classes.
        row: what records of one row have in common.
        """
        marked = with_marks(found, self._others)
        texts = [F.col(name).cast("string").asc_nulls_first() for name in self._others]
        turn = F.row_number().over(Window.partitionBy(*row).orderBy(_MARK, *texts))
        passed = F.size(F.filter("ends", lambda end: end < F.col("turn")))
        return marked.withColumn("turn", turn).withColumn(_PLACE, F.get("places", passed))

    def _dealt_far(self, far: Far, beside: Sequence[str]) -> DataFrame:
        """Return the records that are released, where classes share keys that stay on Spark."""
        names, others = self.coded.packing.names, [*self._others, *beside]
        classes = pl.DataFrame(
            {"class": np.append(np.arange(self.recoding.classes), -1), _PLACE: self.order.places}
        )
        pieces = spread_out(far.own, [*names, PLACES, ROWS])
        pieces = pieces.join(small(self.source, classes), F.col(PLACES) == F.col("class"))
        each = F.sort_array(F.collect_list(F.struct("class", ROWS, _PLACE))).alias("pieces")
        told = pieces.groupBy(*names).agg(each)
        before = F.transform(
            "pieces",
            lambda _, i: F.aggregate(
                F.slice("pieces", 1, i + 1), F.lit(0).cast("long"), lambda sum_, p: sum_ + p[ROWS]
            ),
        )
        told = told.select(*names, before.alias("ends"), F.col(f"pieces.{_PLACE}").alias("places"))
        records = self.coded.keyed.select(*names, *others)
        found = records.join(told.hint("shuffle_hash"), names, "inner")
        dealt = self._in_turn(found, *[F.col(name) for name in names])
        return dealt.where(F.col(_PLACE) >= 0).select(*others, _PLACE)


def _rank() -> Column:
    return F.expr(f"cast({_PLACE} & 4294967295L as int)").alias(RANK)


def with_marks(frame: DataFrame, others: list[str]) -> DataFrame:
    """Return the table with the number that the local engine, too, gives to a record."""
    if not others:
        return frame.withColumn(_MARK, F.lit(0).cast("long"))

    def marked(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        for batch in batches:
            whole = pl.from_arrow(pa.Table.from_batches([batch]))
            assert isinstance(whole, pl.DataFrame)
            told = marks(whole.select(pl.col(others).cast(pl.String)))
            columns = [*batch.columns, pa.array(told)]
            yield pa.RecordBatch.from_arrays(columns, names=[*batch.schema.names, _MARK])

    schema = ", ".join(
        f"`{field.name}` {field.dataType.simpleString()}" for field in frame.schema.fields
    )
    return frame.mapInArrow(marked, f"{schema}, {_MARK} long")


@dataclass(frozen=True)
class Labelled:
    """Puts the labels of classes in place of the quasi-identifiers."""

    source: SparkSource
    quasi: Sequence[str]  # in the order of the labels
    columns: Sequence[str]  # released

    def frame(self, records: DataFrame, labels: pl.DataFrame) -> DataFrame:
        """Return the released columns; records whose class has no labels are left out."""
        joined = records.join(small(self.source, labels), _CLASS, "inner")
        return joined.select(*[self._released(name) for name in self.columns])

    def _released(self, name: str) -> Column:
        if name in self.quasi:
            return F.col(f"q{self.quasi.index(name)}")
        return F.col(self.source.name(name))
