"""Applying a recoding on Spark: a join on keys, then the order of the released values."""

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

from shoal.core.schema import Schema
from shoal.engines.spark.coding import small
from shoal.engines.spark.frequencies import Coded
from shoal.engines.spark.source import SparkSource
from shoal.methods.recoding import Recoding

_CLASS, _RANK, _ROW, _MARK = "class", "rank", "row", "mark"


@dataclass(frozen=True)
class Recoder:
    """Turns records into released records.

    Attributes:
        star: release suppressed records with every quasi-identifier as the root
            instead of removing them.
        assigned: keys and their classes, where the frequency table stays on Spark.
    """

    source: SparkSource
    schema: Schema
    coded: Coded
    recoding: Recoding
    star: bool = False
    assigned: DataFrame | None = None

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """Names of the released columns, in the table's own order."""
        kept = set(self.schema.released)
        return tuple(name for name in self.source.columns if name in kept)

    def frame(self) -> DataFrame:
        """Return the release, sorted by its released values; its columns are `columns`."""
        labelled = Labelled(self.source, self.schema.quasi, self.columns)
        return labelled.frame(self._with_classes(), self._labels())

    def _labels(self) -> pl.DataFrame:
        """One row a class, and a last one (class -1) for suppressed records."""
        texts = {
            f"q{j}": pl.Series([*self.recoding.labels(j), domain.root], dtype=pl.String)
            for j, domain in enumerate(self.recoding.table.domains)
        }
        return labels_of(pl.DataFrame(texts), last=self.star)

    def _with_classes(self) -> DataFrame:
        """Return the table with the class of each record."""
        coded, recoding = self.coded, self.recoding
        if self.assigned is not None:
            keys = coded.packing.names
            return coded.keyed.join(self.assigned, keys, "inner").drop(*keys)
        table = recoding.table
        pieces = np.bincount(recoding.row, minlength=table.rows)
        first = np.concatenate(([0], np.cumsum(pieces)[:-1]))
        full = np.concatenate((table.codes, table.sensitive), axis=1)
        names = coded.packing.names
        packed = dict(zip(names, coded.packing.pack(full), strict=True))
        whole = pl.DataFrame({**packed, _CLASS: recoding.label[first].astype(np.int32)})
        is_shared = pieces > 1
        alone = whole.filter(pl.Series(~is_shared))
        found = coded.keyed.join(small(self.source, alone), names, "inner").drop(*names)
        if not is_shared.any():
            return found
        return found.unionByName(self._dealt(whole.select(names), is_shared, first, pieces))

    def _dealt(
        self,
        keys: pl.DataFrame,
        is_shared: NDArray[np.bool_],
        first: NDArray[np.int64],
        pieces: NDArray[np.int64],
    ) -> DataFrame:
        """Return the records of rows that several classes share, dealt out to them.

        Sorted by a number that only their own other values decide, the first records of a
        row go to its first class, and so on; how Spark divides the table decides nothing.
        """
        rows = np.flatnonzero(is_shared)
        ends, labels = [], []
        for row in rows.tolist():
            mine = slice(int(first[row]), int(first[row] + pieces[row]))
            ends.append(np.cumsum(self.recoding.count[mine]).tolist())
            labels.append(self.recoding.label[mine].tolist())
        known = keys[rows].with_columns(
            pl.Series(_ROW, np.arange(len(rows), dtype=np.int32)),
            pl.Series("ends", ends, dtype=pl.List(pl.Int64)),
            pl.Series("labels", labels, dtype=pl.List(pl.Int32)),
        )
        names = self.coded.packing.names
        found = self.coded.keyed.join(small(self.source, known), names, "inner")
        others = [self.source.name(n) for n in self.columns if n not in self.schema.quasi]
        found = with_marks(found.drop(*names), others)
        texts = [F.col(name).cast("string").asc_nulls_first() for name in others]
        window = Window.partitionBy(_ROW).orderBy(_MARK, *texts)
        turn = F.row_number().over(window)
        passed = F.size(F.filter("ends", lambda end: end < F.col("turn")))
        return (
            found.withColumn("turn", turn)
            .withColumn(_CLASS, F.get("labels", passed))
            .drop("turn", "ends", "labels", _ROW, _MARK)
        )


def with_marks(frame: DataFrame, others: list[str]) -> DataFrame:
    """Return the table with the number that the local engine, too, gives to a record."""
    if not others:
        return frame.withColumn(_MARK, F.lit(0).cast("long"))

    def marked(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        for batch in batches:
            whole = pl.from_arrow(pa.Table.from_batches([batch]))
            assert isinstance(whole, pl.DataFrame)
            texts = whole.select(pl.col(others).cast(pl.String))
            marks = (texts.hash_rows(seed=1).to_numpy() >> np.uint64(24)).astype(np.int64)
            columns = [*batch.columns, pa.array(marks)]
            yield pa.RecordBatch.from_arrays(columns, names=[*batch.schema.names, _MARK])

    schema = ", ".join(
        f"`{field.name}` {field.dataType.simpleString()}" for field in frame.schema.fields
    )
    return frame.mapInArrow(marked, f"{schema}, {_MARK} long")


def labels_of(texts: pl.DataFrame, *, last: bool) -> pl.DataFrame:
    """Return labels with the number of each class and its place in the order of the labels.

    The last row is that of suppressed records, class -1; it is left out unless `last`.
    """
    order = texts.select(pl.arg_sort_by(texts.columns, nulls_last=False)).to_series().to_numpy()
    rank = np.empty(len(order), dtype=np.int32)
    rank[order] = np.arange(len(order))
    number = np.append(np.arange(len(order) - 1), -1).astype(np.int32)
    found = texts.with_columns(pl.Series(_CLASS, number), pl.Series(_RANK, rank))
    return found if last else found.head(found.height - 1)


@dataclass(frozen=True)
class Labelled:
    """Puts the labels of classes in place of the quasi-identifiers."""

    source: SparkSource
    quasi: Sequence[str]  # in the order of the labels
    columns: Sequence[str]  # released

    def frame(
        self, records: DataFrame, labels: pl.DataFrame, *, in_order: bool = True
    ) -> DataFrame:
        """Return the released columns; records whose class has no labels are left out."""
        joined = records.join(small(self.source, labels), _CLASS, "inner")
        if in_order:
            others = [self.source.name(n) for n in self.columns if n not in self.quasi]
            texts = [F.col(name).cast("string").asc_nulls_first() for name in others]
            joined = joined.orderBy(_RANK, *texts)
        return joined.select(*[self._released(name) for name in self.columns])

    def _released(self, name: str) -> Column:
        if name in self.quasi:
            return F.col(f"q{self.quasi.index(name)}")
        return F.col(self.source.name(name))
