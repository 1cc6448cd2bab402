"""Verification on Spark: what is written is read again, counted there, and judged.

Where few cells are left after the group-by, they are judged here by the same lines as the
local engine's; where there are many, every executor judges the classes it holds.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import polars as pl
from pyspark.sql import functions as F
from pyspark.sql.types import DateType, TimestampNTZType, TimestampType

from shoal.core.errors import InputError
from shoal.core.privacy import (
    ClassSummary,
    KAnonymity,
    NTCloseness,
    PrivacyModel,
    expand,
)
from shoal.core.report import ModelResult, Verification
from shoal.core.schema import Kind, Schema
from shoal.core.sensitive import Scale, notices
from shoal.engines.local.source import Source
from shoal.engines.local.verify import verify_source
from shoal.engines.spark.coding import small
from shoal.engines.spark.frequencies import cells
from shoal.engines.spark.piles import ROWS
from shoal.engines.spark.source import SparkSource

_TIMES = (DateType, TimestampType, TimestampNTZType)
WEIGHT = "\x00weight"
_TOLD = {"model": pl.Int32, "worst": pl.Float64, "classes": pl.Int64, "records": pl.Int64,
         "smallest": pl.Int64, "wrong": pl.Int64}  # fmt: skip
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
    source: SparkSource, schema: Schema, models: Sequence[PrivacyModel], *, few: int = FEW
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
        if any(isinstance(m, NTCloseness) for m in spread) or far.size() <= few:
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
        models: tuple[PrivacyModel, ...],
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
        schema = "model int, worst double, classes long, records long, smallest long, wrong long"
        found = self.source.polars(classes.select("cells").mapInArrow(work, schema))
        return self._sum_up(found)

    def _judge_sizes(self) -> Verification:
        """Judge classes of which nothing but their size is asked: each cell is a class."""
        found = self.source.polars(self.cells.groupBy(ROWS).agg(F.count(F.lit(1)).alias("many")))
        tally = _Tally(self.models)
        for size, many in found.select(ROWS, "many").iter_rows():
            tally.add([{"n": size}], (), (), many=many)
        return self._sum_up(pl.DataFrame(tally.rows() if tally.classes else [], _TOLD))

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

    def _sum_up(self, found: pl.DataFrame) -> Verification:
        every = found.filter(pl.col("model") == len(self.models))
        if not every.height:
            raise InputError(
                where=self.source.where, problem="the table has a header but no record; bring some"
            )
        results = []
        for number, model in enumerate(self.models):
            mine = found.filter(pl.col("model") == number)
            worst: Any = mine["worst"].min() if model.better == "high" else mine["worst"].max()
            wrong = int(mine["wrong"].sum())
            value = int(worst) if isinstance(model, KAnonymity) else worst
            results.append(
                ModelResult(model=model, holds=not wrong, value=value, violating_records=wrong)
            )
        return Verification(
            records=int(every["records"].sum()),
            classes=int(every["classes"].sum()),
            smallest_class=int(every["smallest"].min()),  # type: ignore[arg-type]
            violating_records=int(every["wrong"].sum()),
            privacy=tuple(results),
            warnings=self.said,
        )


def _judged(models: Sequence[PrivacyModel], names: Sequence[str], references: Sequence[Any]) -> Any:
    """Return the function that judges the classes of a partition."""

    def work(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        tally = _Tally(models)
        for batch in batches:
            for each in batch.column(0).to_pylist():
                tally.add(each, names, references)
        if tally.classes:
            kinds = {"model": pa.int32(), "worst": pa.float64()}
            sums = dict.fromkeys(("classes", "records", "smallest", "wrong"), pa.int64())
            schema = pa.schema({**kinds, **sums})
            yield pa.RecordBatch.from_pylist(tally.rows(), schema=schema)

    return work


class _Tally:
    """What the classes of one partition come to."""

    def __init__(self, models: Sequence[PrivacyModel]) -> None:
        self.models = models
        self.worst: list[float | None] = [None] * len(models)
        self.wrong = [0] * (len(models) + 1)
        self.classes = self.records = 0
        self.smallest = 2**62

    def add(
        self, each: list[Any], names: Sequence[str], references: Sequence[Any], *, many: int = 1
    ) -> None:
        """Judge a class, or many that are alike."""
        size = sum(cell["n"] for cell in each)
        self.classes += many
        self.records += size * many
        self.smallest = min(self.smallest, size)
        histograms = []
        for s in range(len(names)):
            counts = [0] * len(references[s].counts)
            for cell in each:
                counts[cell["at"][s]] += cell["n"]
            histograms.append(counts)
        failed = False
        for number, model in enumerate(self.models):
            summary = ClassSummary(size)
            if model.column is not None:
                s = names.index(model.column)
                summary = ClassSummary(size, histograms[s], reference=references[s])
            value = model.measure(summary)
            of_two = min if model.better == "high" else max
            worst = self.worst[number]
            self.worst[number] = value if worst is None else of_two(worst, value)
            if not model.holds(summary):
                self.wrong[number] += size * many
                failed = True
        self.wrong[-1] += size * many if failed else 0

    def rows(self) -> list[dict[str, Any]]:
        """Return a row a model, and a last one for all of them."""
        shared = {"classes": self.classes, "records": self.records, "smallest": self.smallest}
        return [
            {"model": number, "worst": None if worst is None else float(worst), **shared,
             "wrong": wrong}
            for number, (worst, wrong) in enumerate(
                zip([*self.worst, None], self.wrong, strict=True)
            )
        ]  # fmt: skip
