"""Coarse-grained learning ([lim2018]) on Spark: a partition is a task, with the local kernels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
from pyspark.sql import SparkSession

from shoal.core.documents import Document
from shoal.core.errors import NoSolutionError
from shoal.engines.spark.answers import ask_tasks
from shoal.engines.spark.chunks import PART, ROWS, Codes, Ints, by_task_partition, chunk_of
from shoal.engines.spark.coding import Packing
from shoal.engines.spark.distributed import table_of
from shoal.engines.spark.dividing import split_by_kmeans
from shoal.engines.spark.source import guarded
from shoal.methods.coarse import (
    Coarse,
    Learned,
    gather_partitions,
    join_partitions,
    learn_partition,
    subtable,
)
from shoal.methods.lattice.space import space_of
from shoal.methods.method import Method, Setting
from shoal.methods.partition import Partition, split
from shoal.privacy import Promise
from shoal.table.domain import Domain
from shoal.table.frequency import NOBODY, FrequencyTable
from shoal.table.recoding import Recoding

# The driver has the tables of partitions already: a task sends its recoding without one.
_NO_TABLE = table_of((), (), np.zeros((0, 0), dtype=np.int32), np.zeros(0, dtype=np.int64))


@dataclass(frozen=True)
class LearningTask:
    """What an executor must know to learn on a partition."""

    domains: tuple[Domain, ...]
    sensitive_domains: tuple[Domain, ...]
    whole: tuple[Ints, ...]
    models: tuple[Promise, ...]
    method: Method
    setting: Setting
    whole_people: tuple[tuple[Ints, ...], int] | None = None  # where persons are counted

    def search(self, table: FrequencyTable) -> Recoding:
        """Run the method on a table."""
        return self.method.search(table, self.models, self.setting)

    def table(self, codes: Codes, counts: Ints) -> FrequencyTable:
        """Return a partition as a table that still knows the whole.

        codes: as `packed_codes` has them.
        """
        columns = len(self.domains) + len(self.sensitive_domains)
        found = table_of(
            self.domains, self.sensitive_domains, codes[:, :columns], counts, self.whole
        )
        if self.whole_people is None:
            return found
        persons = np.ascontiguousarray(codes[:, columns] + NOBODY)
        return replace(found, persons=persons, whole_people=self.whole_people)


def packed_codes(table: FrequencyTable) -> tuple[Codes, Packing]:
    """Return the codes of rows, those of persons last where they are counted, and their packing."""
    codes = np.concatenate((table.codes, table.sensitive), axis=1)
    sizes = [len(domain) for domain in (*table.domains, *table.sensitive_domains)]
    if table.persons is not None:
        who = table.persons - NOBODY
        codes = np.append(codes, who[:, None], axis=1)
        sizes.append(int(who.max(initial=0)) + 1)
    return codes, Packing(tuple(sizes))


def learn_partitions(
    spark: SparkSession,
    table: FrequencyTable,
    task: LearningTask,
    *,
    coarse: Coarse,
    suppression_limit: float,
) -> Recoding:
    """Divide a table, learn on every partition on the executors, and join what was found.

    Guarantee:
        The result depends on the seed, not on executors, retries or the order of tasks.

    Raises:
        NoSolutionError: all records together do not keep the promise.
    """
    if coarse.how == "kmeans" and coarse.partitions > 1:
        parts = split_by_kmeans(spark, table, coarse)
    else:
        parts = split(table, coarse.partitions, how=coarse.how, seed=coarse.seed)

    def several(group: Sequence[Partition]) -> list[Learned | None]:
        return _learn_on_executors(spark, table, group, task)

    try:
        learned = gather_partitions(table, parts, several)
    except NoSolutionError:  # all records together: the search itself says what is missing
        return task.search(table)
    facts: Document = {"partitions": len(learned), "partition_by": coarse.how}
    return join_partitions(
        table, task.models, learned, suppression_limit=suppression_limit, facts=facts
    )


def _learn_on_executors(
    spark: SparkSession, table: FrequencyTable, parts: Sequence[Partition], task: LearningTask
) -> list[Learned | None]:
    """Learn on several partitions, one task each."""
    codes, packing = packed_codes(table)
    keys = packing.pack(codes)
    chunks = []
    for number, part in enumerate(parts):
        mine = packing.named([key[part.rows] for key in keys])
        chunks.append(chunk_of({PART: np.int32(number), **mine, ROWS: part.counts}))

    def learn(batches: Iterator[pa.RecordBatch]) -> Iterator[tuple[int, Recoding | None]]:
        for number, (*own, counts) in by_task_partition(batches, [*packing.names, ROWS]):
            rows = task.table(packing.unpack(own), counts)
            every = Partition(np.arange(rows.rows), rows.counts)
            learned = learn_partition(rows, task.models, every, task.search)
            yield number, None if learned is None else replace(learned.recoding, table=_NO_TABLE)

    with guarded("learning"):
        frame = spark.createDataFrame(pa.Table.from_batches(chunks))
    apart = frame.repartitionById(len(parts), PART)
    recodings = dict(ask_tasks(apart, learn, where="learning"))
    return [_learned(table, part, recodings[i]) for i, part in enumerate(parts)]


def _learned(table: FrequencyTable, part: Partition, recoding: Recoding | None) -> Learned | None:
    """Return what was found for a partition, with the table that it stands on."""
    if recoding is None:
        return None
    rows = subtable(table, part)
    if recoding.node is not None:  # a lattice search gives every column a ladder
        rows = space_of(rows).table
    return Learned(part.rows, replace(recoding, table=rows))
