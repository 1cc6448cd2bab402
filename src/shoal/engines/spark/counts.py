"""Counts that stay on the cluster, and the classes that are found there."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

from pyspark.sql import DataFrame, SparkSession

from shoal.core.errors import MethodError, NoSolutionError
from shoal.engines.base import Progress, Search
from shoal.engines.counts import first_rows
from shoal.engines.spark.by_class import (
    distributed_class_facts,
    distributed_sse_loss,
    judge_distributed,
    with_distributed_centroids,
)
from shoal.engines.spark.distributed import DistributedFrequencies, DistributedRecoding
from shoal.engines.spark.distributed_partitions import learn_distributed_partitions, partitions_for
from shoal.engines.spark.lattice import distributed_lattice
from shoal.engines.spark.mondrian import distributed_mondrian
from shoal.engines.spark.partitions import LearningTask, learn_partitions
from shoal.engines.spark.trial import DistributedTrial
from shoal.measures.utility import Grouping, grouping_of
from shoal.methods.catalogue import Lattice, Mondrian
from shoal.methods.coarse import Coarse
from shoal.methods.judging import judge_recoding
from shoal.privacy import Promise, Verdict
from shoal.reports.release import Risk
from shoal.schema.schema import Schema
from shoal.table.frequency import FrequencyTable
from shoal.table.recoding import Recoding, joined
from shoal.table.rounding import rounded


@dataclass(frozen=True)
class DistributedCounts:
    """The frequency table of a table, left on the cluster.

    Attributes:
        most: rows that the driver takes.
    """

    schema: Schema
    frequencies: DistributedFrequencies
    most: int
    is_distributed: bool = True
    _held: list[DataFrame] = field(default_factory=list, repr=False)

    @property
    def table(self) -> FrequencyTable:
        """Return domains, totals and histograms; no tuple."""
        return self.frequencies.summary

    @property
    def risk(self) -> Risk:
        """Return how easily records are found as they are."""
        return self.frequencies.risk

    def compile(self, search: Search, progress: Progress) -> None:
        """Nothing: executors compile what they need."""

    def search(self, search: Search) -> DistributedClasses:
        """Run the method by jobs of the cluster."""
        found, notices = self._found(search)
        if search.release == "aggregate":
            found = with_distributed_centroids(self.frequencies, found, search.method.centroid)
        elif search.method.family == "microaggregation":
            found = found.with_classes(joined(found.recoding))
        if self.schema.has_round_labels:
            found = found.with_classes(rounded(found.recoding, self.schema))
        self._held.extend(found.persisted)
        return DistributedClasses(self, found, notices)

    def _found(self, search: Search) -> tuple[DistributedRecoding, tuple[str, ...]]:
        table, method, setting = self.frequencies, search.method, search.setting
        if method.blanks:
            raise MethodError(
                problem=f"{table.rows:,} distinct tuples are more than the driver takes "
                f"({self.most:,}), and --method {method.name} needs them there: allow more with "
                "--driver-rows"
            )
        if search.partitions is None and type(method) is Mondrian:
            return distributed_mondrian(table, search.promise), ()
        if search.partitions is None and isinstance(method, Lattice):
            found = distributed_lattice(
                table, search.promise, method=method, most=self.most,
                utility=setting.utility or "loss", suppression_limit=setting.suppression_limit,
            )  # fmt: skip
            return found, self._large(found.recoding.classes)
        coarse = search.partitions
        notices: tuple[str, ...] = ()
        if coarse is None:
            coarse = Coarse(partitions_for(table.rows, self.most), "kmeans", setting.seed)
            notices = (
                f"{table.rows:,} distinct tuples are more than the driver takes ({self.most:,}): "
                f"{method.name} was learned on {coarse.partitions} parts of them, which are joined "
                "(say how many with --partitions, or allow more with --driver-rows)",
            )
        with suppress(NoSolutionError):  # a method that is not made for the promise says so here
            method.search(first_rows(table.summary, search.promise), search.promise)
        found = learn_distributed_partitions(
            table, learning_task(table.summary, search), coarse=coarse,
            suppression_limit=setting.suppression_limit,
        )  # fmt: skip
        return found, notices

    def _large(self, classes: int) -> tuple[str, ...]:
        if classes <= self.most:
            return ()
        return (
            f"the best levels have {classes:,} classes, more than the driver takes "
            f"({self.most:,}); they were brought there all the same",
        )

    def close(self) -> None:
        """Let Spark drop what it kept for them."""
        for frame in (self.frequencies.chunks, *self._held):
            frame.unpersist()


@dataclass(frozen=True)
class DistributedClasses:
    """Equivalence classes whose tuples are on the cluster."""

    counts: DistributedCounts
    found: DistributedRecoding
    notices: tuple[str, ...] = ()

    @property
    def recoding(self) -> Recoding:
        """Return the recoding; its rows are the classes themselves."""
        return self.found.recoding

    def judge(self, promise: Sequence[Promise]) -> tuple[Verdict, ...]:
        """Judge them where their sensitive values are."""
        if self.found.lacks_sensitive:
            return judge_distributed(self.counts.frequencies, self.found, promise)
        return tuple(judge_recoding(self.recoding, promise))

    def grouping(self, target: str | None) -> Grouping:
        """Describe the classes; what they do to their tuples is worked out where these are."""
        found = grouping_of(self.recoding, target=target)
        facts = distributed_class_facts(self.counts.frequencies, self.found, target=target)
        if self.found.lacks_sensitive:
            found = replace(found, spread=facts.spread, minority=facts.minority)
        return replace(found, diversity=facts.diversity)

    def sse_loss(self) -> float | None:
        """Return the squared loss of centroids; None where boxes are released."""
        if self.recoding.released is None:
            return None
        return distributed_sse_loss(self.counts.frequencies, self.found)

    def trial(self) -> DistributedTrial:
        """Return what tries a model on the tuples, where they are."""
        return DistributedTrial(self.counts.frequencies, most=self.counts.most)


def learning_task(table: FrequencyTable, search: Search) -> LearningTask:
    """Return what an executor must know to learn on a part of a table."""
    columns = range(len(table.sensitive_domains))
    people = None
    if table.persons is not None:
        people = tuple(table.people_by_value(c) for c in columns), table.people
    return LearningTask(
        domains=table.domains,
        sensitive_domains=table.sensitive_domains,
        whole=tuple(table.reference(c) for c in columns),
        whole_people=people,
        models=search.promise,
        method=search.method,
        setting=search.alone,
    )


def learn_on_executors(session: SparkSession, table: FrequencyTable, search: Search) -> Recoding:
    """Search parts of a table that fits the driver on the executors, and join what was found."""
    assert search.partitions is not None
    return learn_partitions(
        session, table, learning_task(table, search), coarse=search.partitions,
        suppression_limit=search.setting.suppression_limit,
    )  # fmt: skip
