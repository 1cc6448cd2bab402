"""From a table on Spark to the frequency table: one job for values, one group-by on keys."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from pyspark import StorageLevel
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from shoal.core.errors import InputError
from shoal.engines.coding import UNSEEN, Coder, coder_of, with_codes
from shoal.engines.person_key import persons_of_rows
from shoal.engines.refusals import no_record
from shoal.engines.spark.chunks import (
    ROWS,
    Ints,
    Keys,
    Totals,
    concatenated,
    count_keys,
    totals_of,
    totals_query,
)
from shoal.engines.spark.coding import (
    ColumnCodes,
    Packing,
    distinct_values,
    table_changed,
    with_keys,
)
from shoal.engines.spark.persons import code_persons, too_many_persons, with_person
from shoal.engines.spark.source import SparkSource, guarded
from shoal.schema.schema import Schema
from shoal.table.domain import Domain
from shoal.table.frequency import NOBODY, ONCE, FrequencyTable, join_rows


@dataclass(frozen=True)
class Coded:
    """A table on Spark whose columns are coded; nothing is counted yet.

    Attributes:
        coders: the quasi-identifiers, then the sensitive columns.
        packing: of their codes; of a schema with a person, the person's code comes last.
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

    def totals(self, counted: DataFrame) -> Totals:
        """Return what is known of the frequency table without its rows.

        Raises:
            InputError: the table changed while it was read.
        """
        found = self.count_totals(counted)
        if found.unknown:
            raise table_changed(self.source.where)
        return found

    def count_totals(self, counted: DataFrame) -> Totals:
        """Return what is known of counted keys without looking at them: one job."""
        return totals_of(self.source.polars(totals_query(counted)).row(0, named=True))

    def collect_columns(self, counted: DataFrame, names: Sequence[str]) -> Keys:
        """Collect columns of chunks on the driver."""
        with guarded(self.source.where):
            return concatenated(counted.select(*names).toArrow().to_batches(), names)

    def collect(self, counted: DataFrame) -> FrequencyTable:
        """Collect the frequency table on the driver."""
        *keys, counts = self.collect_columns(counted, [*self.packing.names, ROWS])
        width, columns = len(self.schema.quasi), len(self.columns)
        codes = self.packing.unpack(keys)
        persons = None
        if self.schema.person:
            persons = persons_of_rows(
                codes[:, columns] + NOBODY, where=self.source.where, names=self.schema.person
            )
        table, _ = join_rows(
            self.domains,
            np.ascontiguousarray(codes[:, :width]),
            counts,
            sensitive_domains=self.sensitive_domains,
            sensitive=np.ascontiguousarray(codes[:, width:columns]),
            persons=persons,
        )
        self.check_records(table.records)
        return table

    def pack(self, table: FrequencyTable) -> dict[str, Ints]:
        """Return the keys of the rows of a frequency table by their names."""
        codes = np.concatenate((table.codes, table.sensitive), axis=1)
        if self.schema.person:
            who = np.full(table.rows, ONCE) if table.persons is None else table.persons
            codes = np.append(codes, (who - NOBODY)[:, None], axis=1)
        return self.packing.named(self.packing.pack(codes))

    def check_records(self, found: int) -> None:
        """Refuse a CSV file that Spark reads otherwise than whoever counted its lines."""
        counted = self.source.records
        if counted is not None and counted != found:
            raise InputError(
                where=self.source.where,
                problem=(
                    f"{counted} records were counted but {found} were read; the file changed, or a "
                    "field of a large file holds a line break: write it as Parquet"
                ),
            )


def code_table(
    source: SparkSource, schema: Schema, *, sensitive: Sequence[str], most: int = 0
) -> Coded:
    """Code the columns that a search sees, and who each record is about.

    most: persons with several records that the driver takes.

    Raises:
        InputError: no record, or a column whose values do not fit its kind.
        MethodError: more than `most` persons have several records.
    """
    columns = (*schema.quasi, *sensitive)
    source.check(columns)
    distinct = distinct_values(source, columns)
    if not any(values.len() for values in distinct):
        raise no_record(source.where)
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
    if schema.person:
        source = with_person(source, schema.person, schema.missing)
        mapped.append(code_persons(source, most=most))
    packing = Packing(tuple(column.size for column in mapped))
    keyed = with_keys(source, mapped, packing)
    return Coded(source, schema, tuple(coders), columns, packing, keyed)


def count_or_leave(
    source: SparkSource, schema: Schema, *, sensitive: Sequence[str], most: int
) -> tuple[Coded, FrequencyTable | None, DataFrame, Totals]:
    """Count the distinct tuples; collect them on the driver if they are at most `most`.

    Returns:
        The coded table, the frequency table (None where it stays there), and the counted
        keys with their totals, which Spark keeps where they are needed again.

    Raises:
        MethodError: persons are to be counted, and the driver does not take their tuples.
    """
    coded = code_table(source, schema, sensitive=sensitive, most=most)
    counts = coded.counts().persist(StorageLevel.MEMORY_AND_DISK)
    totals = coded.totals(counts)
    if totals.rows > most and schema.person:
        counts.unpersist()
        raise too_many_persons(f"there are {totals.rows:,} distinct tuples of persons", most)
    if totals.rows > most:
        return coded, None, counts, totals
    try:
        return coded, coded.collect(counts), counts, totals
    finally:
        counts.unpersist()


def cells(source: SparkSource, columns: Sequence[str], *beside: str) -> DataFrame:
    """Return the distinct rows of some columns (g0, g1, …) and how many records have each.

    beside: plain names of further columns that rows are distinct in, such as PERSON.
    """
    source.check(columns)
    names = [f"g{j}" for j in range(len(columns))]
    plain = [source.value(name).alias(f"g{j}") for j, name in enumerate(columns)]
    grouped = source.frame.select(*plain, *beside).groupBy(*names, *beside)
    return grouped.agg(F.count(F.lit(1)).alias(ROWS))
