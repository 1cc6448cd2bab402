"""The records of a table on Spark: counted, recoded, written, their people counted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from shoal.core.errors import MethodError
from shoal.engines.base import Checks, Classes, Compared, Output
from shoal.engines.coding import with_findings
from shoal.engines.counts import CountsHere, judge_starred
from shoal.engines.spark.counts import DistributedClasses, DistributedCounts, learn_on_executors
from shoal.engines.spark.distributed import DRIVER_ROWS, DistributedFrequencies
from shoal.engines.spark.frequencies import Coded, count_or_leave
from shoal.engines.spark.kept import check_kept
from shoal.engines.spark.persons import count_people, present, repeating
from shoal.engines.spark.recode import Recoder
from shoal.engines.spark.source import SparkSource, open_table, open_written
from shoal.engines.spark.verify import verify_table
from shoal.engines.spark.write import Goal, all_or_nothing
from shoal.formats.spark_table import SparkTable
from shoal.inference.kept import KeptCheck
from shoal.measures.risk.persons import Repeats
from shoal.privacy import Promise
from shoal.reports.release import Verification
from shoal.schema.schema import Schema


@dataclass(frozen=True)
class SparkWritten:
    """A release that is made and not yet published: a DataFrame, or part files."""

    source: SparkSource
    table: object = None

    @classmethod
    def read(cls, goal: Goal, columns: Sequence[str]) -> SparkWritten:
        """Open the part files that were written."""
        return cls(
            open_written(
                goal.spark, goal.address(), goal.kind, columns=columns, separator=goal.separator
            )
        )

    def verify(self, schema: Schema, promise: Sequence[Promise]) -> Verification:
        """Read it again and judge it."""
        return verify_table(self.source, schema, promise)

    def class_numbers(self) -> NDArray[np.int64]:
        """Refuse: records have no order on Spark."""
        raise MethodError(problem="--ledger needs the local engine: Spark keeps no order")


@dataclass(frozen=True)
class SparkRecords:
    """The records of a table, as far as a schema releases or counts them."""

    source: SparkSource
    schema: Schema
    counted: tuple[str, ...]

    @classmethod
    def read(cls, source: SparkSource, schema: Schema, counted: Sequence[str]) -> SparkRecords:
        """Check what a schema releases; nothing is read yet."""
        source.check([name for name in source.columns if name in schema.released])
        return cls(source, schema, tuple(counted))

    def check_kept(self) -> KeptCheck:
        """Ask of every kept column whether it says by itself who a record is."""
        return check_kept(self.source, self.schema.kept, self.schema.waive)

    @cached_property
    def _counts(self) -> tuple[Coded, CountsHere | DistributedCounts]:
        most = driver_rows(self.source.given)
        coded, table, chunks, totals = count_or_leave(
            self.source, self.schema, sensitive=self.counted, most=most
        )
        schema = with_findings(self.schema, coded.coders)
        if table is not None:
            learn = partial(learn_on_executors, self.source.session)
            return coded, CountsHere(schema, table, learn)
        frequencies = DistributedFrequencies.of(coded, chunks, totals)
        return coded, DistributedCounts(schema, frequencies, most)

    def count(self) -> CountsHere | DistributedCounts:
        """Count the distinct tuples; they come here if the driver takes them."""
        return self._counts[1]

    def _recoder(self, classes: Classes, *, star: bool, typed: bool = False) -> Recoder:
        coded, counts = self._counts
        distributed = classes.found if isinstance(classes, DistributedClasses) else None
        commonest = counts.frequencies.commonest if isinstance(counts, DistributedCounts) else 0
        return Recoder(
            self.source, counts.schema, coded, classes.recoding,
            star=star, typed=typed, distributed=distributed, commonest=commonest,
        )  # fmt: skip

    def judge_starred(self, classes: Classes, promise: Sequence[Promise]) -> Verification:
        """Judge the release with suppressed records as the root, where its tuples are."""
        schema = self.count().schema
        if not isinstance(classes, DistributedClasses):
            return judge_starred(classes.recoding, schema, promise)
        recoder = self._recoder(classes, star=True)
        released = open_table(recoder.frame().toDF(*recoder.columns))
        return verify_table(released, schema, promise)

    @contextmanager
    def recode(self, classes: Classes, output: Output, *, star: bool) -> Iterator[SparkWritten]:
        """Write the release; it is published at the end, if nothing was raised."""
        if output.out is None:
            recoder = self._recoder(classes, star=star, typed=True)
            released = recoder.frame().toDF(*recoder.columns).persist()
            yield SparkWritten(open_table(released), released)
            return
        with goal_of(self.source, output) as goal:
            recoder = self._recoder(classes, star=star, typed=goal.kind in ("parquet", "orc"))
            columns = recoder.columns
            goal.write(recoder.frame(), columns)
            del recoder  # its labels are as many as there are classes
            yield SparkWritten.read(goal, columns)

    def compare(self, release: object, checks: Checks, *, centroids: bool, seed: int) -> Compared:
        """Refuse: attacks need single records, one after the other.

        Raises:
            MethodError: always.
        """
        raise MethodError(problem="--attacks need the local engine")

    def repeats(self, classes: Classes, k: int, *, star: bool) -> Repeats | None:
        """Count the people of the classes, where an identifying column repeats."""
        found = repeating(self.source, self.schema)
        if found is None:
            return None
        column, counted = found
        who = present(self.source, column, self.schema.missing).alias("who")
        recoder = self._recoder(classes, star=star)
        classed = recoder.classed(self.source.name(column), who)
        few = count_people(self.source, classed, ["class"], k)
        return Repeats.counted(column, counted, k, few)


def driver_rows(table: object) -> int:
    """Return how many distinct tuples may be collected on the driver."""
    asked = table.driver_rows if isinstance(table, SparkTable) else None
    return DRIVER_ROWS if asked is None else asked


def goal_of(source: SparkSource, output: Output) -> AbstractContextManager[Goal]:
    """Give a place to write to; the place that the table is read from is not overwritten."""
    assert output.out is not None
    place = source.given.place if isinstance(source.given, SparkTable) else None
    own = (place,) if isinstance(place, (str, Path)) else ()
    return all_or_nothing(
        source.session, output.out, inputs=(*own, *output.inputs), separator=source.separator,
        spreadsheet_safe=output.spreadsheet_safe,
    )  # fmt: skip
