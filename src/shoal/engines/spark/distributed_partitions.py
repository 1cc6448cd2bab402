"""Coarse-grained learning ([lim2018]) of a table that stays on Spark: a partition is a task.

Tuples are divided where they are, and each partition is learned by the task that gets it. Only
the classes come to the driver, where they are joined and judged on the whole.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Sequence
from functools import reduce
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark import StorageLevel
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from shoal.core.documents import Document
from shoal.core.errors import NoSolutionError
from shoal.engines.spark.chunks import (
    PART,
    ROWS,
    ArrowMap,
    Codes,
    Ints,
    Keys,
    by_task_partition,
    chunk_arrays,
    chunk_of,
    chunk_schema,
    sliced,
    sum_equal_keys,
)
from shoal.engines.spark.coding import Packing
from shoal.engines.spark.distributed import (
    LABELS,
    ClassHistograms,
    DistributedFrequencies,
    DistributedRecoding,
    class_histograms,
    recoding_of_classes,
    with_class_numbers,
)
from shoal.engines.spark.dividing import Divider, NearestCentre, RandomDraw, centres_of
from shoal.engines.spark.partitions import LearningTask
from shoal.engines.spark.source import guarded
from shoal.methods.coarse import Coarse, gather, learn_partition, repaired
from shoal.methods.lattice.space import space_of
from shoal.methods.partition import Partition, check_partitioning, histograms_by_column, middle_of
from shoal.table.recoding import Recoding

# Distinct tuples of a partition, where the caller does not say how many partitions there are.
PARTITION_ROWS = 1_000_000
_FOUND = "found"  # of each group one cell: its histograms and classes, pickled

Group = tuple[int, ...]  # partitions that are learned together


class GroupClasses(NamedTuple):
    """The classes of a group of partitions, without the tuples that are in them."""

    part: int
    low: Codes
    high: Codes
    node: Codes | None
    histograms: ClassHistograms
    shares_keys: bool
    facts: Document


def partitions_for(rows: int, most: int) -> int:
    """Return into how many partitions a table is divided where the caller does not say."""
    return max(-(-rows // max(min(PARTITION_ROWS, most), 1)), 1)


def learn_distributed_partitions(
    table: DistributedFrequencies, task: LearningTask, *, coarse: Coarse, suppression_limit: float
) -> DistributedRecoding:
    """Divide a table on Spark, learn on every partition there, and join the classes here.

    Guarantee:
        The classes are those of `partitions.learn_partitions` on the same table. They depend on
        the seed, not on executors, retries or the order of tasks.

    Raises:
        NoSolutionError: all records together do not keep the promise.
    """
    check_partitioning(coarse.partitions, coarse.how)
    groups = _Groups(table, task, _divider(table, coarse))
    try:
        groups.learn([(part,) for part in range(coarse.partitions)])
        try:
            learned = gather(
                sorted(groups.histograms), groups.learned, middle=groups.middle, merge=_merged
            )
            facts: Document = {
                "partitions": len(learned), "partition_by": coarse.how,
            }  # fmt: skip
        except NoSolutionError:  # all records together: the search itself says what is missing
            learned = groups.all_together()
            facts = learned[0].facts
        return groups.result(learned, facts, suppression_limit)
    except BaseException:
        for frame in groups.frames:
            frame.unpersist()
        raise


def _divider(table: DistributedFrequencies, coarse: Coarse) -> Divider:
    if coarse.how == "random":
        return RandomDraw(coarse.partitions, coarse.seed)
    coded = table.coded
    if coarse.partitions == 1:
        return NearestCentre(coded.domains, np.zeros((1, len(coded.domains))))
    centres = centres_of(
        table.chunks, coded.packing, coded.domains, tuples=table.risk.classes, coarse=coarse
    )
    return NearestCentre(coded.domains, centres)


def _merged(one: Group, other: Group) -> Group:
    return tuple(sorted((*one, *other)))


class _Groups:
    """What is known of partitions and of groups of them while they are learned.

    Attributes:
        frames: chunks of keys with their classes, of every round.
        found: the classes of groups; None where one has no solution.
        histograms: of single partitions, by column.
        count: how many groups were learned so far, which numbers the next ones.
    """

    def __init__(self, table: DistributedFrequencies, task: LearningTask, divider: Divider) -> None:
        self.table, self.task, self.divider = table, task, divider
        self.frames: list[DataFrame] = []
        self.found: dict[Group, GroupClasses | None] = {}
        self.histograms: dict[Group, list[Ints]] = {}
        self.count = 0

    def learned(self, groups: Sequence[Group]) -> list[GroupClasses | None]:
        """Return what is found for groups; None where one has no solution."""
        missing = [group for group in groups if group not in self.found]
        if missing:
            self.learn(missing)
        return [self.found[group] for group in groups]

    def middle(self, group: Group) -> NDArray[np.float64]:
        """Return where a group lies."""
        counts = [self.histograms[(part,)] for part in group]
        summed = [np.sum(each, axis=0) for each in zip(*counts, strict=True)]
        return middle_of(self.table.coded.domains, summed)

    def all_together(self) -> list[GroupClasses]:
        """Search all partitions together, whether or not they keep the promise as one class."""
        group = tuple(part for (part,) in sorted(self.histograms))
        self.learn([group], must_hold=False)
        found = self.found[group]
        assert found is not None
        return [found]

    def learn(self, groups: Sequence[Group], *, must_hold: bool = True) -> None:
        """Learn on groups, one task each; partitions that nobody is in are left out.

        must_hold: a group that does not keep the promise as one class has no solution.
        """
        coded, packing = self.table.coded, self.table.coded.packing
        keys = chunk_schema([*packing.names, ROWS])
        group_of = {part: i for i, group in enumerate(groups) for part in group}
        sent = self.table.chunks.select(*packing.names, ROWS).mapInArrow(
            _sender(packing, self.divider, group_of), f"{PART} int, {keys}"
        )
        made = sent.repartitionById(len(groups), PART).mapInArrow(
            _learner(self.task, packing, self.count, must_hold=must_hold),
            f"{PART} int, {keys}, {LABELS} binary, {_FOUND} binary",
        )
        made = made.persist(StorageLevel.MEMORY_AND_DISK)
        self.frames.append(made)
        with guarded(coded.source.where):
            rows = made.where(F.col(_FOUND).isNotNull()).select(PART, _FOUND).toArrow()
        answers = zip(rows.column(PART).to_pylist(), rows.column(_FOUND).to_pylist(), strict=True)
        for number, blob in answers:
            group = groups[number - self.count]
            histograms, found = pickle.loads(blob)
            if len(group) == 1:
                self.histograms[group] = histograms
            self.found[group] = found
        self.count += len(groups)

    def result(
        self, learned: Sequence[GroupClasses], facts: Document, limit: float
    ) -> DistributedRecoding:
        """Join the classes of all groups; those that break the promise now are repaired."""
        learned = sorted(learned, key=lambda found: found.part)
        offsets = np.cumsum([0, *(len(found.low) for found in learned)]).tolist()
        boxes = (
            np.concatenate([found.low for found in learned]),
            np.concatenate([found.high for found in learned]),
        )
        nodes = [found.node for found in learned if found.node is not None]
        node, domains = None, None
        if len(nodes) == len(learned):  # a lattice search gives every column a ladder
            node, domains = np.concatenate(nodes), space_of(self.table.summary).table.domains
        whole, final = recoding_of_classes(
            self.table, boxes, _joined_histograms(learned, offsets),
            node=node, domains=domains, facts=facts,
        )  # fmt: skip
        spans = zip(learned, offsets[:-1], offsets[1:], strict=True)
        classes = {found.part: np.append(final[a:b], -1) for found, a, b in spans}
        rows = [frame.where(F.col(_FOUND).isNull()) for frame in self.frames]
        chunks = reduce(DataFrame.unionByName, rows)

        def assign(numbers: Ints) -> DataFrame:
            known = {part: numbers[labels] for part, labels in classes.items()}
            return with_class_numbers(self.table.coded, chunks, known)

        is_drawn = isinstance(self.divider, RandomDraw)
        made = DistributedRecoding(
            whole, assign, shares_keys=is_drawn or any(found.shares_keys for found in learned),
            persisted=tuple(self.frames),
        )  # fmt: skip
        return made.with_classes(repaired(whole, self.task.models, suppression_limit=limit))


def _joined_histograms(learned: Sequence[GroupClasses], offsets: Sequence[int]) -> ClassHistograms:
    """Return the histograms of all classes, numbered group after group."""
    every = [found.histograms for found in learned]
    labels = [
        np.where(each.label < 0, -1, each.label + offset)
        for each, offset in zip(every, offsets[:-1], strict=True)
    ]
    return ClassHistograms(
        np.concatenate(labels),
        np.concatenate([each.sensitive for each in every]),
        np.concatenate([each.counts for each in every]),
    )


def _sender(packing: Packing, divider: Divider, group_of: dict[int, int]) -> ArrowMap:
    """Return the function that sends keys to groups; group_of: the group of each partition."""

    def send(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for *keys, counts in chunk_arrays(batch, [*packing.names, ROWS]):
                for part, rows, records in divider(packing.unpack(keys), counts):
                    if part in group_of:
                        own = packing.named([key[rows] for key in keys])
                        yield chunk_of({PART: np.int32(group_of[part]), **own, ROWS: records})

    return send


def _learner(task: LearningTask, packing: Packing, first: int, *, must_hold: bool) -> ArrowMap:
    """Return the function that learns on the groups of a partition, which are numbered from first.

    It yields chunks of keys with their classes, then the classes.
    """

    def learn(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for group, (*keys, counts) in by_task_partition(batches, [*packing.names, ROWS]):
            keys, counts = sum_equal_keys(keys, counts)  # in order, whichever task came first
            yield from _learned(task, packing, first + group, keys, counts, must_hold=must_hold)

    return learn


def _learned(
    task: LearningTask, packing: Packing, number: int, keys: Keys, counts: Ints, *, must_hold: bool
) -> Iterator[pa.RecordBatch]:
    codes = packing.unpack(keys)
    table = task.table(codes, counts)
    recoding: Recoding | None = None
    if must_hold:
        every = Partition(np.arange(table.rows), counts)
        learned = learn_partition(table, task.models, every, task.search)
        recoding = None if learned is None else learned.recoding
    else:
        recoding = task.search(table)
    found = None
    if recoding is not None:
        sensitive = table.sensitive[recoding.row]
        sizes = [len(domain) for domain in task.sensitive_domains]
        found = GroupClasses(
            number, recoding.low, recoding.high, recoding.node,
            class_histograms(recoding.label, sensitive, recoding.count, sizes),
            len(recoding.row) > table.rows, recoding.facts,
        )  # fmt: skip
        own = packing.named([key[recoding.row] for key in keys])
        for some in sliced({**own, ROWS: recoding.count, LABELS: recoding.label, _FOUND: None}):
            yield chunk_of({PART: np.int32(number), **some})
    blob = pickle.dumps((histograms_by_column(task.domains, codes, counts), found))
    none = dict.fromkeys([*packing.names, ROWS, LABELS])
    yield chunk_of({PART: np.int32(number), **none, _FOUND: np.frombuffer(blob, dtype=np.uint8)})
