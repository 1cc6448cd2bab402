"""A learned model on Spark: values become numbers by join, tuples are decided once, by key.

Every distinct value is read by the same encoder that devices run, and every distinct
combination is decided by it here; a record is a join on one key. Where there are more
combinations than the driver takes, they are decided where they are.

The released records are those of the local engine, and the records of one file keep their order.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np
import polars as pl
from numpy.typing import NDArray
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from shoal.core.errors import NoSolutionError
from shoal.edge.stream import EncodeReport
from shoal.engines.base import Output
from shoal.engines.encoding.batch import Batch, released_columns
from shoal.engines.encoding.columns import ColumnCoder
from shoal.engines.encoding.tuples import COUNT, Cover, TupleCounts
from shoal.engines.spark.chunks import ROWS
from shoal.engines.spark.coding import (
    ColumnCodes,
    Packing,
    broadcast_frame,
    distinct_values,
    table_changed,
    with_keys,
)
from shoal.engines.spark.kept import check_kept
from shoal.engines.spark.links import check_links
from shoal.engines.spark.persons import PERSON, code_persons, too_many_persons, with_person
from shoal.engines.spark.recode import Labelled
from shoal.engines.spark.records import driver_rows, judged_of
from shoal.engines.spark.source import SparkSource
from shoal.engines.spark.trial import DistributedAssignment, DistributedTuples, decode_rows
from shoal.engines.spark.written import SparkWritten, goal_of, write_release
from shoal.inference.kept import KeptCheck, beside
from shoal.model.batch import EACH, Judge, close_failing
from shoal.model.coverage import precompute_coverage
from shoal.model.model import RecodingModel
from shoal.model.sets import SetEncoder


@dataclass(frozen=True)
class CountedKeys:
    """The keys of a table, and how many records have each.

    Attributes:
        keyed: the table with its keys beside the columns.
        texts: of each sensitive column that a judge asked for, the texts of its codes.
        tuples, records: the distinct tuples of codes; none where they stay on the cluster. Where
            persons are counted, the last code is the person's, and `texts` has what a judge
            reads of it.
        assignment: then: their classes, found by the executors.
    """

    packing: Packing
    keyed: DataFrame = field(repr=False)
    texts: Sequence[list[str | None]]
    tuples: NDArray[np.int32]
    records: NDArray[np.int64]
    assignment: DistributedAssignment | None = None


@dataclass
class SparkEncoding:
    """One table on its way through a model, on Spark.

    Attributes:
        mapped: the codes of each quasi-identifier's values.
    """

    source: SparkSource
    batch: Batch
    kept: KeptCheck
    mapped: Sequence[ColumnCodes]
    _counted: CountedKeys | None = None

    @classmethod
    def open(
        cls, source: SparkSource, model: RecodingModel, *, on_unseen: str | None, star: bool
    ) -> SparkEncoding:
        """Check a table against a model, and number the values of its columns."""
        encoder = SetEncoder(
            model.to_document(), on_unseen, "star" if star else "remove", regions=model.regions
        )
        columns = released_columns(source.where, source.columns, model.schema)
        source.check([*columns, *model.schema.person])
        others = beside(model.schema, columns)
        kept = check_kept(source, others, model.schema.waive)
        kept = kept.with_links(check_links(source, model.schema, others))
        kept.refuse(source.where)
        precompute_coverage(encoder)
        coded, mapped = [], []
        for j, values in enumerate(distinct_values(source, encoder.names)):
            column = ColumnCoder(j, encoder)
            present = values.drop_nulls()
            codes = column.codes(present)
            missing = None
            if values.null_count():
                missing = int(column.codes(pl.Series([None], dtype=pl.String))[0])
            size = max(len(column.values), 1)
            mapped.append(ColumnCodes(encoder.names[j], present, codes, missing, size))
            coded.append(column)
        batch = Batch(source.where, model, encoder, columns, Cover(encoder, coded), star)
        return cls(source, batch, kept, mapped)

    @property
    def notices(self) -> tuple[str, ...]:
        """Return what is to be known of the batch."""
        return self.batch.notices

    @property
    def report(self) -> EncodeReport:
        """Return the counts, complete once the batch is written."""
        return self.batch.report

    def _count(self, judge: Judge | None) -> CountedKeys:
        """Count the distinct tuples, and for a judge the sensitive values and persons of each.

        As many as the driver takes are collected; more stay where they are.

        Raises:
            MethodError: persons are to be counted, and the driver does not take their tuples.
        """
        if self._counted is not None:
            return self._counted
        most = driver_rows(self.source.given)
        named = () if judge is None else judge.columns
        sensitive = [
            self._sensitive(name, judge)
            for name in named
            if judge is not None and name in self.batch.columns
        ]
        source = self.source
        if judge is not None and judge.persons:
            schema = self.batch.model.schema
            source = with_person(source, schema.person, schema.missing)
            sensitive.append(_persons(source, most))
        texts = [each for _, each in sensitive]
        whole = [*self.mapped, *(codes for codes, _ in sensitive)]
        packing = Packing(tuple(column.size for column in whole))
        keyed = with_keys(source, whole, packing)
        names, width = packing.names, len(self.mapped)
        grouped = keyed.select(*names).groupBy(*names).agg(F.count(F.lit(1)).alias(ROWS))
        counts = grouped.persist()
        rows = counts.count()
        if rows > most and source is not self.source:
            counts.unpersist()
            raise too_many_persons(f"there are {rows:,} distinct tuples of persons", most)
        if rows > most:
            tuples = DistributedTuples(
                self.source, packing, counts, decode_rows,
                [np.arange(column.size, dtype=np.int32) for column in self.mapped],
                range(width, width + len(sensitive)), texts,
            )  # fmt: skip
            assignment = DistributedAssignment(tuples, self.batch.cover, most=most)
            self.batch.widened = {label: i for i, label in enumerate(assignment.extra)}
            none = np.zeros((0, len(whole)), dtype=np.int32), np.zeros(0, dtype=np.int64)
            self._counted = CountedKeys(packing, keyed, texts, *none, assignment)
            return self._counted
        found = self.source.polars(counts).sort(names, nulls_last=False)  # in whichever order
        counts.unpersist()
        if any(found[name].null_count() for name in names):
            raise table_changed(self.source.where)
        codes = packing.unpack([found[name].to_numpy() for name in names])
        records = found[ROWS].to_numpy().astype(np.int64)
        self._counted = CountedKeys(packing, keyed, texts, codes, records)
        return self._counted

    def _sensitive(self, name: str, judge: Judge) -> tuple[ColumnCodes, list[str | None]]:
        """Return the codes of a sensitive column, and the text of each as a judge reads it."""
        value = self.source.value(name)
        pairs = self.source.frame.select(value.alias("v"), value.cast("string").alias("t"))
        found = self.source.polars(pairs.where("v is not null").distinct()).sort("t")
        number: dict[str | None, int] = {None: 0}
        scale = judge.scales[judge.columns.index(name)]
        texts = [scale.text(text) for text in found["t"]]
        codes = [number.setdefault(text, len(number)) for text in texts]
        known = np.array(codes, dtype=np.int32)
        return ColumnCodes(name, found["v"], known, 0, len(number)), list(number)

    def _tuples(self, counted: CountedKeys) -> TupleCounts:
        """Return the distinct tuples of the whole table, their sensitive values and persons."""
        width = len(self.mapped)
        tuples = TupleCounts(width, len(counted.texts))
        columns = []
        for place, texts in enumerate(counted.texts):
            number = np.array(tuples.number(place, texts), dtype=np.int32)
            columns.append(pl.Series(f"s{place}", number[counted.tuples[:, width + place]]))
        columns.append(pl.Series(COUNT, counted.records))
        columns += [pl.Series(f"q{j}", counted.tuples[:, j]) for j in range(width)]
        tuples.held.append(pl.DataFrame(columns))
        return tuples

    def suppress_failing(self, judge: Judge) -> None:
        """Close classes until those left keep the promise, here or where the tuples are."""
        self.batch.check_judged(judge)
        counted = self._count(judge)
        if counted.assignment is None:
            self.batch.suppress_failing(self._tuples(counted), judge)
            return
        self.batch.refuse_unseen(counted.assignment.unseen)
        self.batch.notices = judge.check(counted.texts)
        if self.batch.joins:
            self.batch.join_failing(counted.assignment.classes, counted.assignment.lost, judge)
            return
        close_failing(counted.assignment, judge)
        if not counted.assignment.classes:
            raise NoSolutionError(problem="every record would have to be suppressed")
        self.batch.judge_star(judge, counted.assignment.classes, counted.assignment.lost)

    def _frame(self) -> DataFrame:
        """Return the released records; fills the report."""
        counted, batch = self._count(None), self.batch
        names = counted.packing.names
        if counted.assignment is not None:
            lost, unseen = sum(counted.assignment.lost.values()), counted.assignment.unseen
            kept = sum(sum(histogram.values()) for histogram in counted.assignment.classes.values())
            self._fill_report(kept + lost, lost, unseen)
            records = counted.assignment.classed(counted.keyed)
        else:
            sizes = counted.records
            row, is_unseen = batch.rows(counted.tuples[:, : len(self.mapped)])
            lost, unseen = int(sizes[row < 0].sum()), int(sizes[is_unseen].sum())
            self._fill_report(int(sizes.sum()), lost, unseen)
            keys = dict(zip(names, counted.packing.pack(counted.tuples), strict=True))
            classes = pl.Series("class", row.astype(np.int32))
            known = broadcast_frame(self.source, pl.DataFrame(keys).with_columns(classes))
            records = counted.keyed.join(known, names, "inner")
        texts = batch.labels().select(pl.all().cast(pl.String))
        texts.columns = [f"q{j}" for j in range(texts.width)]
        rows = np.append(np.arange(texts.height - 1), -1)
        number = rows.copy()
        if counted.assignment is not None and batch.joined is not None:
            rows = np.append(batch.joined, -1)  # what the executors say is a region
            number = np.append(np.arange(len(batch.joined)), -1)
        labels = texts[rows % texts.height].with_columns(pl.Series("class", number, dtype=pl.Int32))
        labels = labels if batch.star else labels.filter(pl.Series(rows >= 0))
        behind = [PERSON] if batch.model.schema.person else []
        labelled = Labelled(self.source, batch.encoder.names, batch.columns, behind)
        return labelled.frame(records, labels)

    def _fill_report(self, records: int, lost: int, unseen: int) -> None:
        report = self.batch.report
        report.records, report.suppressed, report.unseen = records, lost, unseen
        report.released = records - (0 if self.batch.star else lost)
        self.batch.refuse_unseen(unseen)

    @contextmanager
    def write(self, output: Output) -> Iterator[SparkWritten]:
        """Encode; what is written is published at the end, if nothing was raised."""
        frame, columns = self._frame(), self.batch.columns
        with (
            goal_of(self.source, output) as goal,
            write_release(
                frame, columns, goal, judged=judged_of(self.batch.model.schema, columns)
            ) as written,
        ):
            yield written

    def close(self) -> None:
        """Let Spark drop what it kept for the batch."""
        if self._counted is not None and self._counted.assignment is not None:
            self._counted.assignment.tuples.chunks.unpersist()


def _persons(source: SparkSource, most: int) -> tuple[ColumnCodes, list[str | None]]:
    """Return the codes of persons, and what a judge reads of each: nobody, each, then persons."""
    codes = code_persons(source, most=most)
    return codes, [None, EACH, *map(str, range(len(codes.codes)))]
