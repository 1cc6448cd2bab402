"""A release on Spark that nobody sees yet, and who stands behind its records.

A cluster keeps no order that a release and a second file could share. So where persons are
counted, the recoded records are kept once with a hash of their person beside them. The release is
what is left without it. What is judged of them is written a second time, with the hashes, by the
same writer to a place of the same kind that nobody sees and that is removed. Both are read again:
the hashes are judged, and the release must have the same judged cells, each as often.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from shoal.core.errors import MethodError, UnsafeReleaseError
from shoal.engines.base import Checks, Compared, Output
from shoal.engines.spark.chunks import ROWS
from shoal.engines.spark.frequencies import cells
from shoal.engines.spark.persons import PERSON
from shoal.engines.spark.source import SparkSource, open_table, open_written
from shoal.engines.spark.verify import verify_table
from shoal.engines.spark.write import Goal, all_or_nothing
from shoal.engines.verification import judged_columns
from shoal.formats.spark_table import SparkTable
from shoal.privacy import Promise
from shoal.reports.release import Verification
from shoal.schema.schema import Schema

_DIGITS = 32  # of a person's hash: 128 bits, so that no two persons have the same


@dataclass(frozen=True)
class SparkWritten:
    """A release that is made and not yet published: a DataFrame, or part files.

    Attributes:
        behind: where persons are counted, what is judged of the same records, and PERSON.
    """

    source: SparkSource
    table: object = None
    behind: SparkSource | None = None

    def verify(self, schema: Schema, promise: Sequence[Promise]) -> Verification:
        """Read it again, and who stands behind its records; judge it.

        Raises:
            UnsafeReleaseError: it is not made of the records whose persons are known.
        """
        if self.behind is None:
            return verify_table(self.source, schema, promise)
        check_same_cells(self.source, self.behind, judged_columns(schema, promise))
        return verify_table(self.behind, schema, promise)

    def class_numbers(self) -> NDArray[np.int64]:
        """Refuse: records have no order on Spark."""
        raise MethodError(problem="--ledger needs the local engine: Spark keeps no order")

    def compare_persons(self, checks: Checks, *, centroids: bool, seed: int) -> Compared:
        """Refuse: records are attacked one by one, on this machine.

        Raises:
            MethodError: always.
        """
        raise MethodError(problem="--attacks need the local engine")


def check_same_cells(source: SparkSource, other: SparkSource, columns: Sequence[str]) -> None:
    """Refuse two tables whose records differ in some columns, or in how often they are there.

    Raises:
        UnsafeReleaseError: they do.
    """
    names = [f"g{j}" for j in range(len(columns))]
    taken = cells(other, columns).withColumn(ROWS, -F.col(ROWS))
    both = cells(source, columns).unionByName(taken).groupBy(*names).agg(F.sum(ROWS).alias(ROWS))
    differ = both.where(F.col(ROWS) != 0).agg(F.count(F.lit(1)).alias("n"))
    if source.polars(differ)["n"][0]:
        raise UnsafeReleaseError(
            problem="the written records are not those whose persons were counted; nothing was "
            "published"
        )


@contextmanager
def write_release(
    frame: DataFrame, columns: Sequence[str], goal: Goal | None, *, judged: Sequence[str] = ()
) -> Iterator[SparkWritten]:
    """Write released records to a goal, or keep them as a table.

    Args:
        frame: the records.
        columns: the names of their columns.
        goal: where they go; None returns a DataFrame.
        judged: where persons are counted, the columns that they are judged by; the last column
            of `frame` then says who a record is about, and is not among `columns`.
    """
    if not judged:
        yield _written(frame, columns, goal)
        return
    known = _with_hashes(frame, columns, goal).persist()
    try:
        written = _written(known.drop(PERSON), columns, goal)
        own = [f"c{list(columns).index(name)}" for name in judged]
        names = [f"c{j}" for j in range(len(judged))]
        who = known.select(*own, PERSON).toDF(*names, PERSON)
        if goal is not None:
            goal.write(who, [*names, PERSON], behind=True)
            read = open_written(
                goal.spark, goal.address(behind=True), goal.kind, columns=[*names, PERSON],
                separator=goal.separator,
            )  # fmt: skip
            who = read.frame.withColumnRenamed(f"c{len(judged)}", PERSON)
        who = who.withColumn(PERSON, F.when(F.col(PERSON) != "", F.col(PERSON)))
        behind = SparkSource("release", tuple(judged), who)
        yield replace(written, behind=behind)
    finally:
        known.unpersist()


def _written(frame: DataFrame, columns: Sequence[str], goal: Goal | None) -> SparkWritten:
    if goal is None:
        released = frame.toDF(*columns).persist()
        return SparkWritten(open_table(released), released)
    goal.write(frame, columns)
    source = open_written(
        goal.spark, goal.address(), goal.kind, columns=columns, separator=goal.separator
    )
    return SparkWritten(source)


def _with_hashes(frame: DataFrame, columns: Sequence[str], goal: Goal | None) -> DataFrame:
    """Return records (c0, c1 …) with a hash of who each is about; an empty text is nobody.

    The hash is another one each time: what a killed job leaves behind names nobody.
    """
    plain = frame.toDF(*[f"c{j}" for j in range(len(columns))], PERSON)
    if goal is not None:
        plain = goal.as_written(plain, len(columns))
    salted = F.concat(F.lit(secrets.token_hex(16)), F.col(PERSON))
    hashed = F.substring(F.sha2(salted, 256), 1, _DIGITS)
    return plain.withColumn(PERSON, F.coalesce(hashed, F.lit("")))


def goal_of(source: SparkSource, output: Output) -> AbstractContextManager[Goal | None]:
    """Give a place to write to; the place that the table is read from is not overwritten."""
    if output.file is None:
        return nullcontext()
    place = source.given.place if isinstance(source.given, SparkTable) else None
    own = (place,) if isinstance(place, (str, Path)) else ()
    return all_or_nothing(
        source.session, output.file, inputs=(*own, *output.inputs), separator=source.separator,
        spreadsheet_safe=output.spreadsheet_safe,
    )  # fmt: skip
