"""From a table on Spark to the frequency table: one job for values, one group-by on keys."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from pyspark import StorageLevel
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from shoal.core.errors import InputError
from shoal.engines.local.coding import UNSEEN, Coder
from shoal.engines.local.frequencies import Frequencies, coder_of
from shoal.engines.local.source import with_codes
from shoal.engines.spark.coding import ColumnCodes, Packing, changed, distinct_values, with_keys
from shoal.engines.spark.piles import ROWS, Keys, Sums, collected, count_keys, sums_of, told
from shoal.engines.spark.source import SparkSource, guarded
from shoal.methods.domain import Domain
from shoal.methods.frequency import FrequencyTable, join_rows
from shoal.schema.schema import Schema


@dataclass(frozen=True)
class Coded:
    """A table on Spark whose columns are coded; nothing is counted yet.

    Attributes:
        coders: the quasi-identifiers, then the sensitive columns.
        keyed: the table with its keys beside the columns.
    """

    source: SparkSource
    schema: Schema
    coders: tuple[Coder, ...]
    columns: tuple[str, ...]
    packing: Packing
    keyed: DataFrame = field(repr=False)

    @property
    def domains(self) -> tuple[Domain, ...]:
        """Return the quasi-identifiers' domains."""
        return tuple(coder.domain for coder in self.coders[: len(self.schema.quasi)])

    @property
    def sensitive_domains(self) -> tuple[Domain, ...]:
        """Return the sensitive columns' domains."""
        return tuple(coder.domain for coder in self.coders[len(self.schema.quasi) :])

    def counts(self) -> DataFrame:
        """Return the frequency table where it is: keys, and how many records have them."""
        return count_keys(self.keyed, self.packing, width=len(self.schema.quasi))

    def look(self, counted: DataFrame) -> Sums:
        """Return what is known of the frequency table without its rows.

        Raises:
            InputError: the table changed while it was read.
        """
        found = self.sums(counted)
        if found.strange:
            raise changed(self.source.where)
        return found

    def sums(self, counted: DataFrame) -> Sums:
        """Return what is known of counted keys without looking at them: one job."""
        return told(self.source.polars(sums_of(counted)).row(0, named=True))

    def bring(self, counted: DataFrame, names: Sequence[str]) -> Keys:
        """Bring columns of piles here."""
        with guarded(self.source.where):
            return collected(counted.select(*names).toArrow(), names)

    def collect(self, counted: DataFrame) -> FrequencyTable:
        """Bring the frequency table here."""
        *keys, counts = self.bring(counted, [*self.packing.names, ROWS])
        width = len(self.schema.quasi)
        codes = self.packing.unpack(keys)
        table, _ = join_rows(
            self.domains,
            np.ascontiguousarray(codes[:, :width]),
            counts,
            sensitive_domains=self.sensitive_domains,
            sensitive=np.ascontiguousarray(codes[:, width:]),
        )
        self.check_records(table.records)
        return table

    def check_records(self, found: int) -> None:
        """Refuse a CSV file that Spark reads otherwise than whoever counted its lines."""
        told = self.source.records
        if told is not None and told != found:
            raise InputError(
                where=self.source.where,
                problem=(
                    f"{told} records were counted but {found} were read; the file changed, or a "
                    "field of a large file holds a line break: write it as Parquet"
                ),
            )


def code_table(source: SparkSource, schema: Schema, *, sensitive: Sequence[str]) -> Coded:
    """Code the columns that a search sees.

    Raises:
        InputError: no record, or a column whose values do not fit its kind.
    """
    columns = (*schema.quasi, *sensitive)
    source.check(columns)
    distinct = distinct_values(source, columns)
    if not any(values.len() for values in distinct):
        raise InputError(
            where=source.where, problem="the table has a header but no record; bring some"
        )
    coders, mapped = [], []
    for name, values in zip(columns, distinct, strict=True):
        coded = with_codes(values.to_frame().lazy(), [name]).collect()[name]
        coder = coder_of(coded, schema, name)
        present = coded.drop_nulls()
        missing = None if coder.missing_code == UNSEEN else int(coder.missing_code)
        size = max(len(coder.domain), 1)
        codes = coder.codes(present) if present.len() else np.zeros(0, dtype=np.int32)
        mapped.append(ColumnCodes(name, values.drop_nulls(), codes, missing, size))
        coders.append(coder)
    packing = Packing(tuple(column.size for column in mapped))
    keyed = with_keys(source, mapped, packing)
    return Coded(source, schema, tuple(coders), columns, packing, keyed)


@dataclass(frozen=True)
class SparkFrequencies(Frequencies):
    """A frequency table and what finds a record's row in it again, on Spark."""

    coded: Coded


def frequencies_or_far(
    source: SparkSource, schema: Schema, *, sensitive: Sequence[str], most: int
) -> tuple[Coded, FrequencyTable | None, DataFrame, Sums]:
    """Count the distinct tuples; bring them here if they are at most `most`.

    Returns:
        The coded table, the frequency table (None where it stays there), and the counted
        keys with their sums, which Spark keeps where they are needed again.
    """
    coded = code_table(source, schema, sensitive=sensitive)
    counts = coded.counts().persist(StorageLevel.MEMORY_AND_DISK)
    sums = coded.look(counts)
    if sums.rows > most:
        return coded, None, counts, sums
    try:
        return coded, coded.collect(counts), counts, sums
    finally:
        counts.unpersist()


def cells(source: SparkSource, columns: Sequence[str]) -> DataFrame:
    """Return the distinct rows of some columns (g0, g1, …) and how many records have each."""
    source.check(columns)
    names = [f"g{j}" for j in range(len(columns))]
    plain = [source.value(name).alias(f"g{j}") for j, name in enumerate(columns)]
    grouped = source.frame.select(*plain).groupBy(*names)
    return grouped.agg(F.count(F.lit(1)).alias(ROWS))
