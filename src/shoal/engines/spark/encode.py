"""A learned model on Spark: values become numbers by join, tuples are decided once, by key.

Every distinct value is read by the same encoder that devices run, and every distinct
combination is decided by it here; a record is a broadcast join on one key.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from shoal.core.errors import UnsafeReleaseError
from shoal.core.model import RecodingModel
from shoal.core.model_judge import Judge
from shoal.core.model_sweep import sweep
from shoal.core.report import Verification
from shoal.core.schema import Others, Role
from shoal.edge.fast import FastEncoder
from shoal.engines.local.encode import Encoded, EncodeJob, _released, _unseen_error
from shoal.engines.local.encode_keys import Column
from shoal.engines.local.encode_settle import _COUNT as COUNT
from shoal.engines.local.encode_settle import Cover, Tuples
from shoal.engines.local.source import Source
from shoal.engines.spark.coding import ColumnCodes, Packing, distinct_values, small, with_keys
from shoal.engines.spark.piles import ROWS
from shoal.engines.spark.recode import Labelled
from shoal.engines.spark.source import SparkSource, open_table, open_written
from shoal.engines.spark.verify import verify_table
from shoal.engines.spark.write import all_or_nothing


def encode(
    table: Any,
    model: RecodingModel,
    *,
    out: str | Path | None = None,
    safe: bool = False,
    on_unseen: str | None = None,
    suppressed: str | None = None,
    separator: str | None = None,
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
    job = SparkEncodeJob.on(open_table(table, separator=separator), model, on_unseen, word)
    judge = Judge.of(model.schema, model.privacy) if safe else None
    job.look(judge)
    if judge is not None:
        job.settle(judge)
    frame = job.frame()
    if out is None:
        named = frame.toDF(*job.columns)
        verified = None
        if safe:
            named = named.persist()
            verified = job.judged(open_table(named))
        return Encoded(table=named, report=job.report, verification=verified)  # type: ignore[arg-type]
    return job.write(frame, out, table, safe=safe)


@dataclass
class SparkEncodeJob(EncodeJob):
    """One table on its way through a model, on Spark."""

    spark: SparkSource | None = None
    keyed: DataFrame | None = None
    packing: Packing = field(default_factory=lambda: Packing(()))
    looked: pl.DataFrame = field(default_factory=pl.DataFrame)

    @classmethod
    def on(
        cls, source: SparkSource, model: RecodingModel, on_unseen: str | None, suppressed: str
    ) -> SparkEncodeJob:
        """Check a table against a model, and number the values of its columns."""
        encoder = FastEncoder(model.to_document(), on_unseen, suppressed)
        plain = Source(where=source.where, columns=source.columns, format="frame")
        columns = _released(plain, model.schema)
        source.check(encoder.names)
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
        packing = Packing(tuple(column.size for column in mapped))
        return cls(
            plain, pl.LazyFrame(), model, encoder, columns, Cover(encoder, coded),
            starred=suppressed == "star", spark=source, packing=packing,
            keyed=with_keys(source, mapped, packing),
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

    def look(self, judge: Judge | None) -> None:
        """Count the distinct tuples, and for a judge the sensitive values of each."""
        named = () if judge is None else judge.columns
        here = [name for name in named if name in self.columns]
        texts = [self.table.value(n).cast("string").alias(f"t{i}") for i, n in enumerate(here)]
        names = [*self.packing.names, *[f"t{i}" for i in range(len(here))]]
        grouped = self.keys.select(*self.packing.names, *texts).groupBy(*names)
        found = self.table.polars(grouped.agg(F.count(F.lit(1)).alias(ROWS)))
        self.looked = found.sort(names, nulls_last=False)  # whichever task ended first

    def _codes(self, frame: pl.DataFrame) -> NDArray[np.int32]:
        return self.packing.unpack([frame[name].to_numpy() for name in self.packing.names])

    def count(self, judge: Judge) -> Tuples:
        """Return the distinct tuples of the whole table and their sensitive values."""
        tuples = Tuples(len(self.encoder.names), len(judge.columns))
        codes = self._codes(self.looked)
        columns = []
        for place in range(len(judge.columns)):
            texts = self.looked[f"t{place}"]
            distinct = texts.unique().sort(nulls_last=False).to_list()
            known = dict(zip(distinct, tuples.number(place, judge.texts(distinct)), strict=True))
            numbers = [known[text] for text in texts.to_list()]
            columns.append(pl.Series(f"s{place}", numbers, dtype=pl.Int32))
        columns.append(self.looked[ROWS].cast(pl.Int64).alias(COUNT))
        columns += [pl.Series(f"q{j}", codes[:, j]) for j in range(codes.shape[1])]
        tuples.held.append(pl.DataFrame(columns))
        return tuples

    def frame(self) -> DataFrame:
        """Return the released records; fills the report."""
        names = self.packing.names
        summed = self.looked.group_by(names, maintain_order=True).agg(pl.col(ROWS).sum())
        sizes = summed[ROWS].to_numpy().astype(np.int64)
        row, strange = self._rows(self._codes(summed))
        lost = int(sizes[row < 0].sum())
        self.report.records = int(sizes.sum())
        self.report.unseen = int(sizes[strange].sum())
        self.report.suppressed = lost
        self.report.released = self.report.records - (0 if self.starred else lost)
        if self.encoder.on_unseen == "error" and strange.any():
            raise _unseen_error(self.source.where, int(sizes[strange].sum()))
        known = summed.select(names).with_columns(pl.Series("class", row.astype(np.int32)))
        records = self.keys.join(small(self.table, known), names, "inner")
        texts = self._texts().select(pl.all().cast(pl.String))
        texts.columns = [f"q{j}" for j in range(texts.width)]
        number = np.append(np.arange(texts.height - 1), -1).astype(np.int32)
        labels = texts.with_columns(pl.Series("class", number))
        labels = labels if self.starred else labels.head(texts.height - 1)
        labelled = Labelled(self.table, self.encoder.names, self.columns)
        return labelled.frame(records, labels)

    def write(self, frame: DataFrame, out: str | Path, table: Any, *, safe: bool) -> Encoded:
        """Write the records; verify what is written where something was promised."""
        place = getattr(table, "place", None)
        inputs = (place,) if isinstance(place, (str, Path)) else ()
        spark = self.table.session
        verified = None
        with all_or_nothing(spark, out, inputs=inputs, separator=self.table.separator) as goal:
            goal.write(frame, self.columns)
            if safe:
                written = open_written(
                    spark, goal.address(), goal.kind, columns=self.columns,
                    separator=goal.separator,
                )  # fmt: skip
                verified = self.judged(written)
        return Encoded(table=None, report=self.report, verification=verified)

    def judged(self, source: SparkSource) -> Verification:
        """Judge what was released; raise if it does not hold."""
        schema = self.model.schema
        needed = tuple(a for a in schema.attributes if a.role in (Role.QUASI, Role.SENSITIVE))
        plain = replace(schema, attributes=needed, others=Others.DROP, target=None, privacy=())
        verified = verify_table(source, plain, self.model.privacy)
        if not verified.holds or verified.records != self.report.released:
            raise UnsafeReleaseError(
                problem=(
                    f"{verified.violating_records} of {verified.records} released records break "
                    "the promise; nothing was written"
                )
            )
        return verified
