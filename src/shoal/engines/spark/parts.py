"""Coarse-grained learning on Spark: a part is a task, learned there with the local kernels."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from pyspark.sql import SparkSession

from shoal.core.errors import NoSolutionError
from shoal.engines.spark.dividing import split_by_kmeans
from shoal.engines.spark.source import guarded
from shoal.methods import registry
from shoal.methods.dividing import Part, split
from shoal.methods.domain import Domain
from shoal.methods.frequency import FrequencyTable
from shoal.methods.lattice.space import space_of
from shoal.methods.partitions import (
    Coarse,
    Learned,
    gather_parts,
    join_parts,
    learn_part,
    subtable,
)
from shoal.methods.recoding import Recoding
from shoal.privacy import Promise


@dataclass(frozen=True)
class Task:
    """What an executor must know to learn on a part."""

    domains: tuple[Domain, ...]
    sensitive_domains: tuple[Domain, ...]
    whole: tuple[NDArray[np.int64], ...]
    models: tuple[Promise, ...]
    method: str
    release: str | None
    options: Mapping[str, Any]

    def search(self, table: FrequencyTable) -> Recoding:
        """Run the method on a table."""
        method = registry.find(self.method, release=self.release)
        return method.run(table, self.models, threads=1, **self.options)

    def table(self, codes: NDArray[np.int32], counts: NDArray[np.int64]) -> FrequencyTable:
        """Return the part as a table that still knows the whole."""
        width = len(self.domains)
        return FrequencyTable(
            domains=self.domains,
            codes=np.ascontiguousarray(codes[:, :width]),
            counts=counts,
            sensitive_domains=self.sensitive_domains,
            sensitive=np.ascontiguousarray(codes[:, width:]),
            whole=self.whole,
        )


def learn_parts(
    spark: SparkSession,
    table: FrequencyTable,
    task: Task,
    *,
    coarse: Coarse,
    suppression_limit: float,
) -> Recoding:
    """Divide a table, learn on every part on the executors, and join what was found.

    Guarantee:
        The result depends on the seed, not on executors, retries or the order of tasks.

    Raises:
        NoSolutionError: all records together do not keep the promise.
    """
    if coarse.how == "kmeans" and coarse.parts > 1:
        parts = split_by_kmeans(spark, table, coarse)
    else:
        parts = split(table, coarse.parts, how=coarse.how, seed=coarse.seed)

    def several(group: Sequence[Part]) -> list[Learned | None]:
        return _on_executors(spark, table, group, task)

    try:
        learned = gather_parts(table, parts, several)
    except NoSolutionError:  # all records together: the search itself says what is missing
        return task.search(table)
    facts = {"partitions": len(learned), "partition_by": coarse.how}
    return join_parts(table, task.models, learned, suppression_limit=suppression_limit, facts=facts)


def _on_executors(
    spark: SparkSession, table: FrequencyTable, parts: Sequence[Part], task: Task
) -> list[Learned | None]:
    """Learn on several parts, one task each."""
    full = np.concatenate((table.codes, table.sensitive), axis=1)
    rows = np.concatenate([part.rows for part in parts])
    columns = {
        "part": np.repeat(np.arange(len(parts), dtype=np.int32), [len(p.rows) for p in parts]),
        "place": np.concatenate([np.arange(len(p.rows), dtype=np.int64) for p in parts]),
        "n": np.concatenate([part.counts for part in parts]),
        **{f"c{j}": full[rows, j] for j in range(full.shape[1])},
    }
    with guarded("learning"):
        frame = spark.createDataFrame(pl.DataFrame(columns).to_arrow())
        grouped = frame.repartition(len(parts), "part").groupBy("part")
        found = grouped.applyInArrow(_learner(task), "part int, found binary").toArrow()
    answers = dict(
        zip(found.column("part").to_pylist(), found.column("found").to_pylist(), strict=True)
    )
    learned: list[Learned | None] = []
    for number, part in enumerate(parts):
        blob = answers[number]
        if blob is None:
            learned.append(None)
            continue
        recoding = pickle.loads(blob)
        own = subtable(table, part)
        if recoding.node is not None:  # a lattice search gives every column a ladder
            own = space_of(own).table
        learned.append(Learned(part.rows, replace(recoding, table=own)))
    return learned


def _learner(task: Task) -> Callable[[Any], Any]:
    """Return the function that learns on one part."""

    def learn(group: Any) -> Any:
        import pyarrow as pa

        ordered = group.sort_by("place")
        counts = ordered.column("n").to_numpy()
        width = len(task.domains) + len(task.sensitive_domains)
        codes = np.empty((len(counts), width), dtype=np.int32)
        for j in range(width):
            codes[:, j] = ordered.column(f"c{j}").to_numpy()
        table = task.table(codes, np.ascontiguousarray(counts, dtype=np.int64))
        every = Part(np.arange(table.rows), table.counts)
        learned = learn_part(table, task.models, every, task.search)
        blob = None
        if learned is not None:  # the driver has the table already
            blob = pickle.dumps(replace(learned.recoding, table=None))  # type: ignore[arg-type]
        number = ordered.column("part")[0].as_py()
        return pa.table(
            {"part": pa.array([number], pa.int32()), "found": pa.array([blob], pa.binary())}
        )

    return learn
