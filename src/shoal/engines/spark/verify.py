"""Verification on Spark: what is written is read again, counted there, and judged.

Where few cells are left after the group-by, they are judged here by the same lines as the
local engine's; where there are many, every executor judges the classes it holds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import reduce
from typing import TypedDict

import polars as pl
import pyarrow as pa
from pyspark.sql import functions as F
from pyspark.sql.types import DateType, TimestampNTZType, TimestampType

from shoal.engines.refusals import no_record
from shoal.engines.spark.answers import ask_tasks
from shoal.engines.spark.chunks import ROWS
from shoal.engines.spark.coding import broadcast_frame
from shoal.engines.spark.frequencies import cells
from shoal.engines.spark.source import SparkSource
from shoal.engines.verification import ROWS as CELL_ROWS
from shoal.engines.verification import judge_cells, judged_columns
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
FEW = 250_000  # cells that the driver judges by itself: some 150 MB there


def verify_table(
    source: SparkSource, schema: Schema, models: Sequence[Promise], *, few: int = FEW
) -> Verification:
    """Judge a table as it is written.

    Args:
        source: the table.
        schema: names quasi-identifiers and sensitive columns.
        models: the promise.
        few: cells that are collected on the driver; more of them are judged by the executors.

    Raises:
        InputError: a column is missing, or there is no record.
    """
    asked = tuple(expand(models, schema.sensitive))
    columns = judged_columns(schema, models)
    source.check(columns)
    classes = _DistributedJudge(source, schema, asked, tuple(columns))
    try:
        if any(Needs.SUPERSETS in m.needs for m in asked) or classes.size() <= few:
            # (n,t)-closeness compares a class with sets of other classes, so it needs them all.
            return judge_cells(classes.collect(), schema, models, where=source.where)
        return classes.judge()
    finally:
        classes.cells.unpersist()


class _DistributedJudge:
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
        self.notices: tuple[str, ...] = ()

    def size(self) -> int:
        """Return the number of cells; they are counted once and kept."""
        return int(self.source.polars(self.cells.agg(F.count(F.lit(1)).alias("n")))["n"][0])

    def collect(self) -> pl.DataFrame:
        """Collect the cells on the driver, under the names of the table."""
        names = {f"g{j}": name for j, name in enumerate(self.columns)}
        return self.source.polars(self.cells).rename({**names, ROWS: CELL_ROWS})

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
            frame = frame.join(
                broadcast_frame(self.source, known), here.eqNullSafe(F.col("text")), "left"
            )
            frame = frame.drop("text")
            entries.append(F.col(place))
        packed = F.struct(F.array(*entries).alias("at"), F.col(ROWS).alias("n"))
        classes = frame.groupBy(*self.quasi).agg(F.collect_list(packed).alias("cells"))
        ask = _judged(self.judged, [str(name) for name in named], references)
        return self._merged(ask_tasks(classes.select("cells"), ask, where=self.source.where))

    def _judge_sizes(self) -> Verification:
        """Judge classes of which nothing but their size is asked: each cell is a class."""
        found = self.source.polars(self.cells.groupBy(ROWS).agg(F.count(F.lit(1)).alias("many")))
        sizes, many = found[ROWS].to_list(), found["many"].to_list()
        verdicts = [
            judge_classes(model, map(EquivalenceClass, sizes), times=many) for model in self.models
        ]
        return self._merged([_verification(sizes, verdicts, many)] if sizes else [])

    def _columns(self) -> tuple[list[dict[str | None, int]], list[Reference]]:
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
            self.notices += notices({str(name): values})
            self.judged = tuple(scale.named(m) if m.column == name else m for m in self.judged)
        return places, references

    def _merged(self, found: Sequence[Verification]) -> Verification:
        if not found:
            raise no_record(self.source.where)
        whole = reduce(Verification.merge, found)
        # As they were asked for: what was judged may name its values as they are counted.
        asked = zip(whole.privacy, self.models, strict=True)
        privacy = tuple(replace(verdict, model=model) for verdict, model in asked)
        return replace(whole, privacy=privacy, warnings=self.notices)


class _Cell(TypedDict):
    """Records of a class that share their sensitive values: the place of each, and how many."""

    at: list[int]
    n: int


def _judged(
    models: Sequence[Promise], names: Sequence[str], references: Sequence[Reference]
) -> Callable[[Iterator[pa.RecordBatch]], Iterator[Verification]]:
    """Return the function that judges the classes of a partition."""

    def ask(batches: Iterator[pa.RecordBatch]) -> Iterator[Verification]:
        for batch in batches:
            classes = batch.column(0).to_pylist()
            if classes:
                yield _judge_batch(classes, models, names, references)

    return ask


def _judge_batch(
    classes: Sequence[Sequence[_Cell]],
    models: Sequence[Promise],
    names: Sequence[str],
    references: Sequence[Reference],
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


def _seen(cells: Sequence[_Cell], column: int, reference: Reference) -> EquivalenceClass:
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
