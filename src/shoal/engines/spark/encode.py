"""A learned model on Spark: values become numbers by join, tuples are decided once, by key.

Every distinct value is read by the same encoder that devices run, and every distinct
combination is decided by it here; a record is a join on one key. Where there are more
combinations than the driver takes, they are decided where they are.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from shoal.core.errors import NoSolutionError, UnsafeReleaseError
from shoal.core.spreadsheet import is_guarded
from shoal.engines.local.encode import Encoded, EncodeJob, _released, _unseen_error
from shoal.engines.local.encode_keys import Column
from shoal.engines.local.encode_settle import _COUNT as COUNT
from shoal.engines.local.encode_settle import Cover, Tuples
from shoal.engines.local.source import Source
from shoal.engines.spark.coding import (
    ColumnCodes,
    Packing,
    changed,
    distinct_values,
    small,
    with_keys,
)
from shoal.engines.spark.far import DRIVER_ROWS
from shoal.engines.spark.kept import check_kept
from shoal.engines.spark.piles import ROWS
from shoal.engines.spark.recode import Labelled
from shoal.engines.spark.source import SparkSource, open_table, open_written
from shoal.engines.spark.trial import FarBoard, FarTuples, single_rows
from shoal.engines.spark.verify import verify_table
from shoal.engines.spark.write import all_or_nothing, kind_of
from shoal.methods.infer.kept import beside
from shoal.model.batch import Judge, close_failing
from shoal.model.model import RecodingModel
from shoal.model.runtime import Encoder
from shoal.model.safe import for_safe
from shoal.model.sweep import sweep
from shoal.reports.release import Verification


def encode(
    table: Any,
    model: RecodingModel,
    *,
    out: str | Path | None = None,
    safe: bool = False,
    on_unseen: str | None = None,
    suppressed: str | None = None,
    separator: str | None = None,
    spreadsheet_safe: bool | None = None,
) -> Encoded:
    """Encode a table; with `safe`, suppress what would break the promise, then verify.

    Guarantee:
        The same released records as the local engine's. The records of one file keep their
        order.

    Raises:
        InputError: a column is missing or has no role, or, with `on_unseen="error"`,
            records that no class covers.
        NoSolutionError, UnsafeReleaseError: see the local engine's `encode_safe`.
    """
    word = suppressed or ("remove" if safe else "star")
    if out is not None:
        is_guarded(kind_of(out), spreadsheet_safe, where=str(out))
    model = for_safe(model) if safe else model
    job = SparkEncodeJob.on(open_table(table, separator=separator), model, on_unseen, word)
    job.spreadsheet_safe = spreadsheet_safe
    most = getattr(table, "driver_rows", None)
    judge = Judge.of(model.schema, model.privacy) if safe else None
    job.look(judge, DRIVER_ROWS if most is None else int(most))
    try:
        if judge is not None:
            job.settle(judge)
        frame = job.frame()
        if out is None:
            named = frame.toDF(*job.columns)
            verified = None
            if safe:
                named = named.persist()
                verified = job.judged(open_table(named))
            return job.encoded(named, verified)
        return job.write(frame, out, table, safe=safe)
    finally:
        if job.far is not None:
            job.far.tuples.piles.unpersist()


@dataclass
class SparkEncodeJob(EncodeJob):
    """One table on its way through a model, on Spark."""

    spark: SparkSource | None = None
    mapped: list[ColumnCodes] = field(default_factory=list)
    texts_of: list[list[str | None]] = field(default_factory=list)  # of the sensitive codes
    keyed: DataFrame | None = None
    packing: Packing = field(default_factory=lambda: Packing(()))
    present: tuple[NDArray[np.int32], NDArray[np.int64]] | None = None  # tuples, their records
    far: FarBoard | None = None

    @classmethod
    def on(
        cls, source: SparkSource, model: RecodingModel, on_unseen: str | None, suppressed: str
    ) -> SparkEncodeJob:
        """Check a table against a model, and number the values of its columns."""
        encoder = Encoder(model.to_document(), on_unseen, suppressed)
        plain = Source(where=source.where, columns=source.columns, format="frame")
        columns = _released(plain, model.schema)
        source.check(columns)
        kept = check_kept(source, beside(model.schema, columns), model.schema.waive)
        kept.refuse(source.where)
        sweep(encoder)
        coded, mapped = [], []
        for j, values in enumerate(distinct_values(source, encoder.names)):
            column = Column(j, encoder)
            present = values.drop_nulls()
            codes = column.codes(present)
            missing = None
            if values.null_count():
                missing = int(column.codes(pl.Series([None], dtype=pl.String))[0])
            size = max(len(column.values), 1)
            mapped.append(ColumnCodes(encoder.names[j], present, codes, missing, size))
            coded.append(column)
        return cls(
            plain, pl.LazyFrame(), model, encoder, columns, Cover(encoder, coded),
            starred=suppressed == "star", kept=kept, spark=source, mapped=mapped,
        )  # fmt: skip

    @property
    def table(self) -> SparkSource:
        """Return the table on Spark."""
        assert self.spark is not None
        return self.spark

    @property
    def keys(self) -> DataFrame:
        """Return the table with its keys."""
        assert self.keyed is not None
        return self.keyed

    def look(self, judge: Judge | None, most: int) -> None:
        """Count the distinct tuples, and for a judge the sensitive values of each.

        most: how many of them are brought here. More stay where they are.
        """
        named = () if judge is None else judge.columns
        secrets = [self._secret(name, judge) for name in named if name in self.columns]
        self.texts_of = [texts for _, texts in secrets]
        whole = [*self.mapped, *(codes for codes, _ in secrets)]
        self.packing = Packing(tuple(column.size for column in whole))
        self.keyed = with_keys(self.table, whole, self.packing)
        names = self.packing.names
        grouped = self.keys.select(*names).groupBy(*names).agg(F.count(F.lit(1)).alias(ROWS))
        piles = grouped.persist()
        if piles.count() > most:
            width = len(self.mapped)
            tuples = FarTuples(
                self.table, self.packing, piles, single_rows,
                [np.arange(column.size, dtype=np.int32) for column in self.mapped],
                range(width, width + len(secrets)), self.texts_of,
            )  # fmt: skip
            self.far = FarBoard(tuples, self.cover, most=most)
            self.extra = {home: i for i, home in enumerate(self.far.extra)}
            return
        found = self.table.polars(piles).sort(names, nulls_last=False)  # whichever task ended first
        piles.unpersist()
        if any(found[name].null_count() for name in names):
            raise changed(self.source.where)
        codes = self.packing.unpack([found[name].to_numpy() for name in names])
        self.present = codes, found[ROWS].to_numpy().astype(np.int64)

    def _secret(self, name: str, judge: Judge | None) -> tuple[ColumnCodes, list[str | None]]:
        """Return the codes of a sensitive column, and the text of each as a judge reads it."""
        assert judge is not None
        value = self.table.value(name)
        pairs = self.table.frame.select(value.alias("v"), value.cast("string").alias("t"))
        found = self.table.polars(pairs.where("v is not null").distinct()).sort("t")
        number: dict[str | None, int] = {None: 0}
        scale = judge.scales[judge.columns.index(name)]
        texts = [scale.text(text) for text in found["t"]]
        codes = [number.setdefault(text, len(number)) for text in texts]
        known = np.array(codes, dtype=np.int32)
        return ColumnCodes(name, found["v"], known, 0, len(number)), list(number)

    def count(self, judge: Judge) -> Tuples:
        """Return the distinct tuples of the whole table and their sensitive values."""
        assert self.present is not None
        width = len(self.mapped)
        tuples = Tuples(width, len(judge.columns))
        codes, records = self.present
        columns = []
        for place, texts in enumerate(self.texts_of):
            number = np.array(tuples.number(place, texts), dtype=np.int32)
            columns.append(pl.Series(f"s{place}", number[codes[:, width + place]]))
        columns.append(pl.Series(COUNT, records))
        columns += [pl.Series(f"q{j}", codes[:, j]) for j in range(width)]
        tuples.held.append(pl.DataFrame(columns))
        return tuples

    def settle(self, judge: Judge) -> None:
        """Close classes until those left keep the promise, here or where the tuples are."""
        if self.far is None or len(self.texts_of) < len(judge.columns):
            super().settle(judge)
            return
        self._refuse_unseen(self.far.unseen)
        self.notices = judge.check(self.texts_of)
        close_failing(self.far, judge)
        if not self.far.classes:
            raise NoSolutionError(problem="every record would have to be suppressed")
        self.settle_stars(judge, self.far.classes, self.far.lost)

    def _refuse_unseen(self, records: int) -> None:
        if self.encoder.on_unseen == "error" and records:
            raise _unseen_error(self.source.where, records)

    def frame(self) -> DataFrame:
        """Return the released records; fills the report."""
        names = self.packing.names
        if self.far is not None:
            lost, unseen = sum(self.far.lost.values()), self.far.unseen
            kept = sum(sum(spread.values()) for spread in self.far.classes.values())
            self._tell(kept + lost, lost, unseen)
            records = self.far.classed(self.keys)
        else:
            assert self.present is not None
            codes, sizes = self.present
            row, strange = self._rows(codes[:, : len(self.mapped)])
            lost, unseen = int(sizes[row < 0].sum()), int(sizes[strange].sum())
            self._tell(int(sizes.sum()), lost, unseen)
            keys = dict(zip(names, self.packing.pack(codes), strict=True))
            classes = pl.Series("class", row.astype(np.int32))
            known = small(self.table, pl.DataFrame(keys).with_columns(classes))
            records = self.keys.join(known, names, "inner")
        texts = self._texts().select(pl.all().cast(pl.String))
        texts.columns = [f"q{j}" for j in range(texts.width)]
        number = np.append(np.arange(texts.height - 1), -1).astype(np.int32)
        labels = texts.with_columns(pl.Series("class", number))
        labels = labels if self.starred else labels.head(texts.height - 1)
        labelled = Labelled(self.table, self.encoder.names, self.columns)
        return labelled.frame(records, labels)

    def _tell(self, records: int, lost: int, unseen: int) -> None:
        """Fill the report."""
        self.report.records, self.report.suppressed = records, lost
        self.report.unseen = unseen
        self.report.released = records - (0 if self.starred else lost)
        self._refuse_unseen(unseen)

    def write(self, frame: DataFrame, out: str | Path, table: Any, *, safe: bool) -> Encoded:
        """Write the records; verify what is written where something was promised."""
        place = getattr(table, "place", None)
        inputs = (place,) if isinstance(place, (str, Path)) else ()
        spark = self.table.session
        verified = None
        with all_or_nothing(
            spark, out, inputs=inputs, separator=self.table.separator,
            spreadsheet_safe=self.spreadsheet_safe,
        ) as goal:  # fmt: skip
            goal.write(frame, self.columns)
            if safe:
                written = open_written(
                    spark, goal.address(), goal.kind, columns=self.columns,
                    separator=goal.separator,
                )  # fmt: skip
                verified = self.judged(written)
        return self.encoded(None, verified)

    def judged(self, source: SparkSource) -> Verification:
        """Judge what was released; raise if it does not hold."""
        verified = verify_table(source, self.model.schema.judged(), self.model.privacy)
        if not verified.holds or verified.records != self.report.released:
            raise UnsafeReleaseError(
                problem=(
                    f"{verified.violating_records} of {verified.records} released records break "
                    "the promise; nothing was written"
                )
            )
        return verified
