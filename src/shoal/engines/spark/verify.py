"""Verification on Spark: what is written is read again, counted there, and judged.

Where few cells are left after the group-by, they are judged here by the same lines as the
local engine's; where there are many, every executor judges the classes it holds.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import reduce
from typing import Any

import polars as pl
from pyspark.sql import functions as F
from pyspark.sql.types import DateType, TimestampNTZType, TimestampType

from shoal.core.errors import InputError
from shoal.engines.local.source import Source
from shoal.engines.local.verify import verify_source
from shoal.engines.spark.coding import small
from shoal.engines.spark.frequencies import cells
from shoal.engines.spark.piles import ROWS
from shoal.engines.spark.source import SparkSource
from shoal.privacy import (
    EquivalenceClass,
    Needs,
    Promise,
    Reference,
    Verdict,
    expand,
    judge_classes,
    judge_sizes,
)
from shoal.reports.release import Verification
from shoal.schema.schema import Kind, Schema
from shoal.schema.sensitive import Scale, notices

_TIMES = (DateType, TimestampType, TimestampNTZType)
WEIGHT = "\x00weight"
FEW = 250_000  # cells that the driver judges by itself: some 150 MB there


def local_source(source: SparkSource, columns: Sequence[str], found: pl.DataFrame) -> Source:
    """Return counted cells (g0, g1, … and rows) as a table of the local engine."""
    names = {f"g{j}": name for j, name in enumerate(columns)}
    frame = found.rename({**names, ROWS: WEIGHT})
    return Source(
        where=source.where, columns=tuple(columns), format="frame", frame=frame.lazy(),
        weight=WEIGHT,
    )  # fmt: skip


def verify_table(
    source: SparkSource, schema: Schema, models: Sequence[Promise], *, few: int = FEW
) -> Verification:
    """Judge a table as it is written.

    Args:
        source: the table.
        schema: names quasi-identifiers and sensitive columns.
        models: the promise.
        few: cells that are brought here; more of them are judged where they are.

    Raises:
        InputError: a column is missing, or there is no record.
    """
    spread = expand(models, schema.sensitive)
    columns = [*schema.quasi, *dict.fromkeys(m.column for m in spread if m.column is not None)]
    source.check(columns)
    far = _Far(source, schema, tuple(spread), tuple(columns))
    try:
        if any(Needs.SUPERSETS in m.needs for m in spread) or far.size() <= few:
            # (n,t)-closeness compares a class with sets of other classes, so it needs them all.
            return verify_source(far.here(), schema, models)
        return far.judge()
    finally:
        far.cells.unpersist()


class _Far:
    """Judges classes where they are: only sums come back."""

    def __init__(
        self,
        source: SparkSource,
        schema: Schema,
        models: tuple[Promise, ...],
        columns: tuple[str, ...],
    ) -> None:
        self.source, self.schema, self.models, self.columns = source, schema, models, columns
        self.quasi = [f"g{j}" for j in range(len(schema.quasi))]
        self.cells = cells(source, columns).persist()
        self.judged = models  # their named values as they are counted
        self.said: tuple[str, ...] = ()

    def size(self) -> int:
        """Return the number of cells; they are counted once and kept."""
        return int(self.source.polars(self.cells.agg(F.count(F.lit(1)).alias("n")))["n"][0])

    def here(self) -> Source:
        """Return the cells as a local table that knows how often each one is."""
        return local_source(self.source, self.columns, self.source.polars(self.cells))

    def judge(self) -> Verification:
        """Return the same verdict as the local engine's."""
        if all(model.column is None for model in self.models):
            return self._judge_sizes()
        places, references = self._columns()
        frame = self.cells
        named = dict.fromkeys(m.column for m in self.models if m.column is not None)
        entries = []
        for s, name in enumerate(named):
            at, place = f"g{self.columns.index(str(name))}", f"p{s}"
            texts = list(places[s].items())
            known = pl.DataFrame(
                {"text": [t for t, _ in texts], place: [p for _, p in texts]},
                schema={"text": pl.String, place: pl.Int32},
            )
            here = F.col(at).cast("string")
            frame = frame.join(small(self.source, known), here.eqNullSafe(F.col("text")), "left")
            frame = frame.drop("text")
            entries.append(F.col(place))
        packed = F.struct(F.array(*entries).alias("at"), F.col(ROWS).alias("n"))
        classes = frame.groupBy(*self.quasi).agg(F.collect_list(packed).alias("cells"))
        work = _judged(self.judged, [str(name) for name in named], references)
        found = self.source.polars(classes.select("cells").mapInArrow(work, "found binary"))
        return self._merged([pickle.loads(blob) for blob in found["found"]])

    def _judge_sizes(self) -> Verification:
        """Judge classes of which nothing but their size is asked: each cell is a class."""
        found = self.source.polars(self.cells.groupBy(ROWS).agg(F.count(F.lit(1)).alias("many")))
        sizes, many = found[ROWS].to_list(), found["many"].to_list()
        verdicts = [
            judge_classes(model, map(EquivalenceClass, sizes), times=many) for model in self.models
        ]
        return self._merged([_verification(sizes, verdicts, many)] if sizes else [])

    def _columns(self) -> tuple[list[dict[str | None, int]], list[Any]]:
        """Return the place of every sensitive text, and how often each place occurs."""
        places, references = [], []
        for name in dict.fromkeys(m.column for m in self.models if m.column is not None):
            at = f"g{self.columns.index(str(name))}"
            counted = self.source.polars(
                self.cells.groupBy(F.col(at).cast("string").alias("text")).agg(
                    F.sum(ROWS).alias(ROWS)
                )
            )
            scale = Scale.of(self.schema, str(name), self.models)
            if isinstance(self.cells.schema[at].dataType, _TIMES):
                scale = scale.declared(Kind.DATE)
            texts = {text: scale.text(text) for text in counted["text"].to_list()}
            values = scale.read(texts.values())
            totals = [0] * len(values.labels)
            for text, records in zip(texts, counted[ROWS].to_list(), strict=True):
                totals[values.place[texts[text]]] += records
            places.append({text: values.place[plain] for text, plain in texts.items()})
            references.append(values.reference(totals))
            self.said += notices({str(name): values})
            self.judged = tuple(scale.named(m) if m.column == name else m for m in self.judged)
        return places, references

    def _merged(self, found: Sequence[Verification]) -> Verification:
        if not found:
            raise InputError(
                where=self.source.where, problem="the table has a header but no record; bring some"
            )
        whole = reduce(Verification.merge, found)
        # As they were asked for: what was judged may name its values as they are counted.
        asked = zip(whole.privacy, self.models, strict=True)
        privacy = tuple(replace(verdict, model=model) for verdict, model in asked)
        return replace(whole, privacy=privacy, warnings=self.said)


def _judged(models: Sequence[Promise], names: Sequence[str], references: Sequence[Any]) -> Any:
    """Return the function that judges the classes of a partition."""

    def work(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        for batch in batches:
            classes = batch.column(0).to_pylist()
            if classes:
                found = _judge_batch(classes, models, names, references)
                yield pa.RecordBatch.from_pydict({"found": [pickle.dumps(found)]})

    return work


def _judge_batch(
    classes: Sequence[Sequence[Any]],
    models: Sequence[Promise],
    names: Sequence[str],
    references: Sequence[Any],
) -> Verification:
    """Judge classes, each given as its cells: places of sensitive values, and records."""
    sizes = [sum(cell["n"] for cell in each) for each in classes]
    verdicts = []
    for model in models:
        if model.column is None:
            verdicts.append(judge_sizes(model, sizes))
            continue
        s = names.index(model.column)
        seen = (_seen(each, s, references[s]) for each in classes)
        verdicts.append(judge_classes(model, seen))
    return _verification(sizes, verdicts)


def _seen(cells: Sequence[Any], column: int, reference: Reference) -> EquivalenceClass:
    counts = [0] * len(reference.counts)
    for cell in cells:
        counts[cell["at"][column]] += cell["n"]
    return EquivalenceClass(sum(counts), counts, reference=reference)


def _verification(
    sizes: Sequence[int], verdicts: Sequence[Verdict], many: Sequence[int] | None = None
) -> Verification:
    """Return the verification of some classes; many: how often each of them is there."""
    times = many or [1] * len(sizes)
    failed = set().union(*(verdict.failing for verdict in verdicts))
    return Verification(
        records=sum(size * n for size, n in zip(sizes, times, strict=True)),
        classes=sum(times),
        smallest_class=min(sizes),
        violating_records=sum(sizes[place] * times[place] for place in failed),
        privacy=tuple(replace(verdict, failing=()) for verdict in verdicts),
    )
