"""The records of a table on Spark: counted, recoded, written, their people counted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import cached_property, partial

from shoal.core.errors import MethodError
from shoal.engines.base import Checks, Classes, Compared, Output
from shoal.engines.coding import with_findings
from shoal.engines.counts import CountsHere, judge_starred
from shoal.engines.drawing.drawing import Drawer, Drawing
from shoal.engines.spark.counts import DistributedClasses, DistributedCounts, learn_on_executors
from shoal.engines.spark.distributed import DRIVER_ROWS, DistributedFrequencies
from shoal.engines.spark.drawn import SparkDrawn, draw_release
from shoal.engines.spark.frequencies import Coded, count_or_leave
from shoal.engines.spark.kept import check_kept
from shoal.engines.spark.links import check_links
from shoal.engines.spark.persons import PERSON, count_people, present, repeating
from shoal.engines.spark.recode import Recoder
from shoal.engines.spark.source import SparkSource, open_table
from shoal.engines.spark.verify import verify_table
from shoal.engines.spark.written import SparkWritten, goal_of, write_release
from shoal.formats.spark_table import SparkTable
from shoal.inference.kept import KeptCheck
from shoal.measures.risk.persons import Repeats
from shoal.privacy import Promise
from shoal.reports.release import Verification
from shoal.schema.schema import Schema


@dataclass(frozen=True)
class SparkRecords:
    """The records of a table, as far as a schema releases or counts them."""

    source: SparkSource
    schema: Schema
    counted: tuple[str, ...]

    @classmethod
    def read(cls, source: SparkSource, schema: Schema, counted: Sequence[str]) -> SparkRecords:
        """Check what a schema releases; nothing is read yet."""
        known = (*schema.released, *schema.person)
        source.check([name for name in source.columns if name in known])
        return cls(source, schema, tuple(counted))

    def check_kept(self, *, ordered: bool = False) -> KeptCheck:
        """Ask of every kept column whether it says by itself who a record is.

        ordered: the release keeps the order of the records, which may say it, too.
        """
        kept = check_kept(self.source, self.schema.kept, self.schema.waive)
        return kept.with_links(check_links(self.source, self.schema, self.schema.kept))

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
            beside=PERSON if self.schema.person else None,
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
        with goal_of(self.source, output) as goal:
            is_typed = goal is None or goal.kind in ("parquet", "orc")
            recoder = self._recoder(classes, star=star, typed=is_typed)
            frame, columns = recoder.frame(), recoder.columns
            del recoder  # its labels are as many as there are classes
            judged = judged_of(self.schema, columns)
            with write_release(frame, columns, goal, judged=judged) as written:
                yield written

    def draw(
        self, classes: Classes, output: Output, drawing: Drawing, *, star: bool
    ) -> AbstractContextManager[SparkDrawn]:
        """Write a release whose cells are drawn; published at the end, if nothing was raised.

        Raises:
            MethodError: its tuples stay on the cluster.
        """
        counts = self.count()
        if isinstance(counts, DistributedCounts):
            raise MethodError(problem="--release draw: the tuples do not fit the driver")
        recoder = self._recoder(classes, star=star)
        made = recoder.frame(), recoder.columns, judged_of(self.schema, recoder.columns)
        drawer = Drawer(counts.table, counts.schema, drawing)
        return draw_release(self.source, made, drawer, output)

    def compare(self, release: object, checks: Checks, *, centroids: bool, seed: int) -> Compared:
        """Refuse: attacks need single records, one after the other.

        Raises:
            MethodError: always.
        """
        raise MethodError(problem="--attacks need the local engine")

    def repeats(self, classes: Classes, k: int, *, star: bool) -> Repeats | None:
        """Count the people of the classes, where an identifying column repeats."""
        if self.schema.person:  # they are counted already, by what the user named
            return None
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


def judged_of(schema: Schema, columns: Sequence[str]) -> list[str]:
    """Return the released columns that a promise about persons may look at; none without one."""
    named = (*schema.quasi, *schema.sensitive) if schema.person else ()
    return [name for name in columns if name in named]
