"""Jobs over classes: the tuples of a class come together in one task, and a little comes back.

What is worked out of a class needs all of its values: its centroid, how diverse it is, and
whether it keeps the promise. What is a sum over tuples is added up where they are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from typing import Generic, NamedTuple, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.engines.spark.answers import ask_tasks
from shoal.engines.spark.arrange import PLACES, TASK_RECORDS
from shoal.engines.spark.chunks import (
    PART,
    ROWS,
    ArrowMap,
    Codes,
    Ints,
    Keys,
    by_task_partition,
    chunk_arrays,
    chunk_schema,
    sent,
    shuffle_partitions,
    sum_equal_keys,
)
from shoal.engines.spark.coding import Packing
from shoal.engines.spark.distributed import (
    DistributedFrequencies,
    DistributedRecoding,
    Histograms,
    column_histograms,
    split_columns,
    table_of,
)
from shoal.measures.utility import diversity_of, minority_of
from shoal.methods.judging import judge_recoding
from shoal.methods.microaggregation.centroids import centroids
from shoal.methods.microaggregation.squared_error import Yardstick
from shoal.privacy import Promise, Verdict
from shoal.table.domain import Domain
from shoal.table.recoding import Recoding, with_centroids

AnswerT = TypeVar("AnswerT")
# Whole numbers of some tuples: their codes, their classes (-1: suppressed), their records.
TupleSums = Callable[[Codes, Ints, Ints], Ints]


def with_distributed_centroids(
    table: DistributedFrequencies, found: DistributedRecoding, distance: str | None = None
) -> DistributedRecoding:
    """Return the recoding with a centroid for every class, which knows all of its values.

    distance: of categories, see `centroids`.

    Guarantee:
        The centroids are those of the local engine.
    """
    answers = ask_classes(table, found, partial(centroids, distance=distance))
    columns = len(table.coded.domains)
    released = [[text for answer in answers for text in answer[j]] for j in range(columns)]
    return found.with_classes(with_centroids(found.recoding, released))


class ClassFacts(NamedTuple):
    """What only the tuples of classes show; see `Grouping`."""

    diversity: NDArray[np.float64]
    spread: NDArray[np.float64]
    minority: int | None


def distributed_class_facts(
    table: DistributedFrequencies, found: DistributedRecoding, *, target: str | None
) -> ClassFacts:
    """Return what classes do to their tuples.

    `spread` and `minority` are worked out where the driver does not know the sensitive values.
    """
    domains = table.coded.sensitive_domains if found.lacks_sensitive else ()
    names = [domain.name for domain in domains]
    column = names.index(target) if target in names else None

    def facts_of(classes: Recoding) -> ClassFacts:
        tuples = classes.table
        return ClassFacts(
            diversity_of(classes, tuples.codes, tuples.domains),
            diversity_of(classes, tuples.sensitive[:, : len(domains)], domains),
            None if column is None else minority_of(classes, column),
        )

    answers = ask_classes(table, found, facts_of)
    diversity = np.concatenate([np.zeros(0), *(facts.diversity for facts in answers)])
    spread = np.concatenate([np.zeros(0), *(facts.spread for facts in answers)])
    minority = None if column is None else sum(facts.minority or 0 for facts in answers)
    return ClassFacts(diversity, spread, minority)


def judge_distributed(
    table: DistributedFrequencies, found: DistributedRecoding, models: Sequence[Promise]
) -> tuple[Verdict, ...]:
    """Judge the classes of a recoding where their sensitive values are."""
    released = _released_histograms(table, found)

    def judge(classes: Recoding) -> list[Verdict]:
        known = replace(classes, table=replace(classes.table, whole=released))
        return list(judge_recoding(known, models))

    by_model = zip(*ask_classes(table, found, judge), strict=True)
    return tuple(reduce(Verdict.merge, verdicts) for verdicts in by_model)


def _released_histograms(table: DistributedFrequencies, found: DistributedRecoding) -> Histograms:
    """Return how each sensitive column is spread in the records that are released."""
    width = len(table.coded.domains)
    sizes = [len(domain) for domain in table.coded.sensitive_domains]
    starts = np.cumsum([0, *sizes[:-1]])

    def sums(codes: Codes, label: Ints, counts: Ints) -> Ints:
        counters = np.zeros(sum(sizes), dtype=np.int64)
        is_released = label >= 0
        for j, start in enumerate(starts):
            np.add.at(counters, start + codes[is_released, width + j], counts[is_released])
        return counters

    return split_columns(_sum_tuples(table, found, sums), sizes)


def distributed_sse_loss(table: DistributedFrequencies, found: DistributedRecoding) -> float:
    """Return 100 · SSE/SST of the centroids, see `methods.microaggregation.squared_error`.

    Guarantee:
        The same number as where the tuples are at hand.
    """
    coded = table.coded
    sizes = [len(domain) for domain in coded.domains]
    whole = column_histograms(coded, table.chunks, first=0, sizes=sizes)
    yardstick = Yardstick.of(found.recoding, whole, found.recoding.released)
    everywhere = coded.source.session.sparkContext.broadcast(yardstick)
    width = len(sizes)

    def sums(codes: Codes, label: Ints, counts: Ints) -> Ints:
        return everywhere.value.sums(codes[:, :width], label, counts)

    return yardstick.loss(_sum_tuples(table, found, sums))


def _sum_tuples(table: DistributedFrequencies, found: DistributedRecoding, sums: TupleSums) -> Ints:
    """Return the sum of whole numbers over all tuples: one job, and nothing is moved for it."""
    packing = table.coded.packing
    names = [*packing.names, PLACES, ROWS]

    def add_up(batches: Iterator[pa.RecordBatch]) -> Iterator[Ints]:
        chunks = [
            sums(packing.unpack(keys), label, counts)
            for batch in batches
            for *keys, label, counts in chunk_arrays(batch, names)
        ]
        if chunks:
            yield np.sum(chunks, axis=0)

    answers = ask_tasks(found.labelled, add_up, where=table.coded.source.where)
    added: Ints = np.sum(answers, axis=0)
    return added


def ask_classes(
    table: DistributedFrequencies, found: DistributedRecoding, ask: Callable[[Recoding], AnswerT]
) -> list[AnswerT]:
    """Ask something of all classes, some in every task; return the answers in their order.

    A task gets the classes as a recoding of their own tuples, numbered from 0; their boxes
    are left out.
    """
    coded, packing = table.coded, table.coded.packing
    classes = found.recoding.classes
    if not classes:
        return []
    least = shuffle_partitions(coded.source.session)
    tasks = min(max(least, table.rows // TASK_RECORDS), classes)
    ends = np.arange(tasks + 1) * classes // tasks
    schema = f"{PART} int, {chunk_schema([*packing.names, PLACES, ROWS])}"
    apart = found.labelled.mapInArrow(_sender(packing, ends), schema)
    work = _TaskClasses(packing, found.recoding.table.domains, coded.sensitive_domains, ends, ask)
    answers = ask_tasks(apart.repartitionById(tasks, PART), work, where=coded.source.where)
    return [answer for _, answer in sorted(answers, key=lambda each: each[0])]


def _sender(packing: Packing, ends: Ints) -> ArrowMap:
    """Return the function that sends keys to the task of their class."""
    names = [*packing.names, PLACES, ROWS]

    def work(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for each in chunk_arrays(batch, names):
                is_released = each[-2] >= 0
                columns = [column[is_released] for column in each]
                task = np.searchsorted(ends, columns[-2], side="right") - 1
                yield from sent(task, dict(zip(names, columns, strict=True)))

    return work


@dataclass(frozen=True)
class _TaskClasses(Generic[AnswerT]):
    """Asks something of the classes of a partition; ends: the last class of each task."""

    packing: Packing
    domains: tuple[Domain, ...]
    sensitive_domains: tuple[Domain, ...]
    ends: Ints
    ask: Callable[[Recoding], AnswerT]

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[tuple[int, AnswerT]]:
        names = [*self.packing.names, PLACES, ROWS]
        for part, (*keys, label, counts) in by_task_partition(batches, names):
            yield part, self.ask(self._recoding(part, keys, label, counts))

    def _recoding(self, part: int, keys: Keys, label: Ints, counts: Ints) -> Recoding:
        """Return the classes of a task; records of one tuple in one class are one row."""
        (label, *keys), records = sum_equal_keys([label, *keys], counts)
        codes = self.packing.unpack(keys)
        table = table_of(self.domains, self.sensitive_domains, codes, records)
        classes = int(self.ends[part + 1] - self.ends[part])
        empty = np.zeros((classes, len(self.domains)), dtype=np.int32)
        return Recoding(
            table=table, low=empty, high=empty, row=np.arange(len(records)),
            label=label - int(self.ends[part]), count=records,
        )  # fmt: skip
