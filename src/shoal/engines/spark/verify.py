"""Verification on Spark: what is written is read again, counted there, and judged.

Where few cells are left after the group-by, they are judged here by the same lines as the
local engine's; where there are many, every executor judges the classes it holds. Where persons
are counted, cells are those of persons: all cells of a class come together in one task.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import reduce
from typing import NamedTuple, TypedDict

import polars as pl
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import DateType, TimestampNTZType, TimestampType

from shoal.engines.person_key import PERSON as CELL_PERSON
from shoal.engines.refusals import no_record, nobody
from shoal.engines.spark.answers import ask_tasks
from shoal.engines.spark.chunks import ROWS
from shoal.engines.spark.coding import broadcast_frame
from shoal.engines.spark.frequencies import cells
from shoal.engines.spark.persons import PERSON, with_person
from shoal.engines.spark.source import SparkSource
from shoal.engines.verification import ROWS as CELL_ROWS
from shoal.engines.verification import (
    PlacedColumn,
    judge_cells,
    judge_some_classes,
    judged_columns,
)
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
from shoal.schema.sensitive import Scale, Values, notices

_TIMES = (DateType, TimestampType, TimestampNTZType)
FEW = 250_000  # cells that the driver judges by itself: some 150 MB there


def verify_table(
    source: SparkSource, schema: Schema, models: Sequence[Promise], *, few: int = FEW
) -> Verification:
    """Judge a table as it is written.

    Args:
        source: the table; with PERSON beside its columns, that is who its records are about.
        schema: names quasi-identifiers and sensitive columns.
        models: the promise.
        few: cells that are collected on the driver; more of them are judged by the executors.

    Raises:
        InputError: a column is missing, there is no record, or none says who it is about.
    """
    if schema.person and PERSON not in source.frame.columns:
        source = with_person(source, schema.person, schema.missing)
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
        self.by_person = bool(schema.person)
        self.cells = cells(source, columns, *([PERSON] if self.by_person else [])).persist()
        self.judged = models  # their named values as they are counted
        self.notices: tuple[str, ...] = ()

    def size(self) -> int:
        """Return the number of cells; they are counted once and kept."""
        return self._number_of(self.cells)

    def collect(self) -> pl.DataFrame:
        """Collect the cells on the driver, under the names of the table."""
        names = {f"g{j}": name for j, name in enumerate(self.columns)}
        named = {**names, ROWS: CELL_ROWS, **({PERSON: CELL_PERSON} if self.by_person else {})}
        return self.source.polars(self.cells).rename(named)

    def judge(self) -> Verification:
        """Return the same verdict as the local engine's."""
        if self.by_person:
            return self._judge_persons()
        if all(model.column is None for model in self.models):
            return self._judge_sizes()
        columns = self._columns()
        frame = self._with_places(columns)
        entries = F.array(*[F.col(f"p{s}") for s in range(len(columns))])
        packed = F.struct(entries.alias("at"), F.col(ROWS).alias("n"))
        classes = frame.groupBy(*self.quasi).agg(F.collect_list(packed).alias("cells"))
        references = [column.values.reference(column.totals) for column in columns]
        ask = _judged(self.judged, [column.name for column in columns], references)
        return self._merged(ask_tasks(classes.select("cells"), ask, where=self.source.where))

    def _with_places(self, columns: Sequence[_Column]) -> DataFrame:
        """Return the cells with the place of each sensitive value (p0, p1 …)."""
        frame = self.cells
        for s, column in enumerate(columns):
            at, place = f"g{self.columns.index(column.name)}", f"p{s}"
            known = pl.DataFrame(
                {"text": list(column.places), place: list(column.places.values())},
                schema={"text": pl.String, place: pl.Int32},
            )
            here = F.col(at).cast("string")
            frame = frame.join(
                broadcast_frame(self.source, known), here.eqNullSafe(F.col("text")), "left"
            )
            frame = frame.drop("text")
        return frame

    def _judge_persons(self) -> Verification:
        """Judge classes by their persons: a task has all cells of a class."""
        columns = self._columns()
        frame = self._with_places(columns)
        known = frame.where(F.col(PERSON).isNotNull())
        persons = self._number_of(known.select(PERSON).distinct())
        if not persons:
            raise nobody(self.source.where, self.schema.person)
        placed = {}
        for s, column in enumerate(columns):
            pairs = known.select(f"p{s}", PERSON).distinct().groupBy(f"p{s}")
            found = self.source.polars(pairs.agg(F.count(F.lit(1)).alias("n")))
            totals = [0] * len(column.values.labels)
            for place, people in found.iter_rows():
                totals[place] = people
            reference = column.values.reference(totals, persons=persons)
            placed[column.name] = PlacedColumn(f"p{s}", column.scale, reference)
        needed = [*self.quasi, *[f"p{s}" for s in range(len(columns))], PERSON, ROWS]
        apart = frame.select(*needed).repartition(*self.quasi)
        ask = _judged_persons(self.models, self.quasi, placed)
        whole = self._merged(ask_tasks(apart, ask, where=self.source.where))
        return replace(whole, persons=persons)

    def _number_of(self, frame: DataFrame) -> int:
        return int(self.source.polars(frame.agg(F.count(F.lit(1)).alias("n")))["n"][0])

    def _judge_sizes(self) -> Verification:
        """Judge classes of which nothing but their size is asked: each cell is a class."""
        found = self.source.polars(self.cells.groupBy(ROWS).agg(F.count(F.lit(1)).alias("many")))
        sizes, many = found[ROWS].to_list(), found["many"].to_list()
        verdicts = [
            judge_classes(model, map(EquivalenceClass, sizes), times=many) for model in self.models
        ]
        return self._merged([_verification(sizes, verdicts, many)] if sizes else [])

    def _columns(self) -> list[_Column]:
        """Return the sensitive columns: the place of every text, and its records."""
        columns = []
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
            places = {text: values.place[plain] for text, plain in texts.items()}
            columns.append(_Column(str(name), scale, values, places, totals))
            self.notices += notices({str(name): values})
            self.judged = tuple(scale.named(m) if m.column == name else m for m in self.judged)
        return columns

    def _merged(self, found: Sequence[Verification]) -> Verification:
        if not found:
            raise no_record(self.source.where)
        whole = reduce(Verification.merge, found)
        # As they were asked for: what was judged may name its values as they are counted.
        asked = zip(whole.privacy, self.models, strict=True)
        privacy = tuple(replace(verdict, model=model) for verdict, model in asked)
        return replace(whole, privacy=privacy, warnings=self.notices)


class _Column(NamedTuple):
    """A sensitive column: what its values are, the place of each text, records of each place."""

    name: str
    scale: Scale
    values: Values
    places: dict[str | None, int]
    totals: list[int]


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


def _judged_persons(
    models: Sequence[Promise], quasi: Sequence[str], columns: Mapping[str, PlacedColumn]
) -> Callable[[Iterator[pa.RecordBatch]], Iterator[Verification]]:
    """Return the function that judges the classes of a partition by their persons."""

    def ask(batches: Iterator[pa.RecordBatch]) -> Iterator[Verification]:
        held = [batch for batch in batches if batch.num_rows]
        if held:
            found = pl.from_arrow(pa.Table.from_batches(held))
            assert isinstance(found, pl.DataFrame)
            cells = found.rename({PERSON: CELL_PERSON, ROWS: CELL_ROWS})
            whole = judge_some_classes(cells, quasi, columns, models)
            plain = tuple(replace(verdict, failing=()) for verdict in whole.privacy)
            yield replace(whole, privacy=plain)

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
