"""Coarse-grained learning ([lim2018]): learn on each partition of the records, join the results.

A partition is learned like a table of its own, so partitions can be learned side by side, on
the cores of one machine or on the executors of a cluster. Closeness is judged against the
whole table everywhere. A partition that cannot keep the promise by itself (fewer than k
records, say) is joined with the one nearest to it, and both are learned together.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from shoal.core.documents import Document
from shoal.core.errors import NoSolutionError
from shoal.methods.arrays import promise_of
from shoal.methods.clustering.clusters import Clusters
from shoal.methods.clustering.merge import merge_failing
from shoal.methods.clustering.space import space_of
from shoal.methods.judging import failing_classes, one_class
from shoal.methods.partition import Partition, histograms_by_column, middle_of, split
from shoal.methods.persons import hold_persons
from shoal.methods.threads import in_threads
from shoal.privacy import Promise
from shoal.table.frequency import FrequencyTable
from shoal.table.recoding import SUPPRESSED, Recoding, join_boxes, recoding_of

Search = Callable[[FrequencyTable], Recoding]
PartitionT = TypeVar("PartitionT")
FoundT = TypeVar("FoundT")


class Learned(NamedTuple):
    """What was found for a partition; the recoding's table is the partition's own."""

    rows: NDArray[np.int64]
    recoding: Recoding


def subtable(table: FrequencyTable, partition: Partition) -> FrequencyTable:
    """Return a partition as a table of its own that still knows the whole."""
    columns = range(len(table.sensitive_domains))
    return FrequencyTable(
        domains=table.domains,
        codes=np.ascontiguousarray(table.codes[partition.rows]),
        counts=np.ascontiguousarray(partition.counts),
        sensitive_domains=table.sensitive_domains,
        sensitive=np.ascontiguousarray(table.sensitive[partition.rows]),
        whole=tuple(table.reference(column) for column in columns),
        persons=None if table.persons is None else table.persons[partition.rows],
        whole_people=None if table.persons is None else table.people_of_all(),
    )


@dataclass(frozen=True)
class Coarse:
    """How a table is divided: into how many partitions, in which way, on how many threads."""

    partitions: int
    how: str = "kmeans"
    seed: int = 0
    threads: int | None = None


def learn_partitions(
    table: FrequencyTable,
    models: Sequence[Promise],
    search: Search,
    *,
    coarse: Coarse,
    suppression_limit: float = 0.0,
) -> Recoding:
    """Divide a table, learn on every partition, and join what was found.

    Guarantee:
        The result does not depend on the number of threads.

    Raises:
        NoSolutionError: all records together do not keep the promise.
    """
    partitions = split(table, coarse.partitions, how=coarse.how, seed=coarse.seed)

    def one(partition: Partition) -> Learned | None:
        return learn_partition(table, models, partition, search)

    def several(group: Sequence[Partition]) -> list[Learned | None]:
        return in_threads(one, group, coarse.threads or os.cpu_count() or 1)

    try:
        learned = gather_partitions(table, partitions, several)
    except NoSolutionError:  # all records together: the search itself says what is missing
        return search(table)
    facts: Document = {"partitions": len(learned), "partition_by": coarse.how}
    return join_partitions(table, models, learned, suppression_limit=suppression_limit, facts=facts)


def learn_partition(
    table: FrequencyTable, models: Sequence[Promise], partition: Partition, search: Search
) -> Learned | None:
    """Learn on one partition; None where it does not keep the promise by itself."""
    own = subtable(table, partition)
    if failing_classes(one_class(own), models).any():
        return None
    try:
        return Learned(partition.rows, search(own))
    except NoSolutionError:
        return None


def gather(
    partitions: Sequence[PartitionT],
    learn: Callable[[Sequence[PartitionT]], Sequence[FoundT | None]],
    *,
    middle: Callable[[PartitionT], NDArray[np.float64]],
    merge: Callable[[PartitionT, PartitionT], PartitionT],
) -> list[FoundT]:
    """Learn on all partitions; one without a solution is joined with its nearest and tried again.

    Args:
        partitions: whatever stands for some records.
        learn: learns on partitions; None where one has no solution by itself.
        middle: where a partition lies.
        merge: joins two partitions.

    Raises:
        NoSolutionError: not even all partitions together have one.
    """
    waiting = list(partitions)
    done: list[tuple[PartitionT, FoundT]] = []
    while waiting:
        found = learn(waiting)
        left = []
        for partition, learned in zip(waiting, found, strict=True):
            if learned is None:
                left.append(partition)
            else:
                done.append((partition, learned))
        waiting = []
        for partition in left:
            others = [other for other, _ in done] + waiting
            if not others:
                if len(left) == 1:
                    raise NoSolutionError(problem="no partition of the table keeps the promise")
                waiting.append(partition)
                continue
            away = [float(((middle(partition) - middle(other)) ** 2).sum()) for other in others]
            best = int(np.argmin(away))
            if best < len(done):
                done.pop(best)
            else:
                waiting.pop(best - len(done))
            waiting.append(merge(partition, others[best]))
    return [learned for _, learned in done]


def gather_partitions(
    table: FrequencyTable,
    partitions: Sequence[Partition],
    learn: Callable[[Sequence[Partition]], Sequence[Learned | None]],
) -> list[Learned]:
    """Learn on all partitions of a table that is at hand, see `gather`."""
    return gather(
        partitions, learn, middle=lambda partition: _middle(table, partition), merge=_merged
    )


def _middle(table: FrequencyTable, partition: Partition) -> NDArray[np.float64]:
    codes = table.codes[partition.rows]
    return middle_of(table.domains, histograms_by_column(table.domains, codes, partition.counts))


def _merged(one: Partition, other: Partition) -> Partition:
    rows, place = np.unique(np.concatenate((one.rows, other.rows)), return_inverse=True)
    counts = np.bincount(place, weights=np.concatenate((one.counts, other.counts)))
    return Partition(rows, counts.astype(np.int64))


def join_partitions(
    table: FrequencyTable,
    models: Sequence[Promise],
    learned: Sequence[Learned],
    *,
    suppression_limit: float = 0.0,
    facts: Document | None = None,
) -> Recoding:
    """Return the recodings of all partitions as one recoding of the table.

    Classes with the same labels become one. A class that breaks the promise once the partitions
    stand together is merged with others, across partitions; a class of a full-domain recoding,
    whose labels are nodes, is suppressed.

    Guarantee:
        Every class keeps every model, judged on the whole.
    """
    learned = sorted(learned, key=lambda each: each.rows.tolist())
    offsets = np.cumsum([0, *(each.recoding.classes for each in learned)])
    row = [each.rows[each.recoding.row] for each in learned]
    label = [
        np.where(each.recoding.label < 0, SUPPRESSED, each.recoding.label + offset)
        for each, offset in zip(learned, offsets[:-1], strict=True)
    ]
    count = [each.recoding.count for each in learned]
    members = (np.concatenate(row), np.concatenate(label), np.concatenate(count))
    low = np.concatenate([each.recoding.low for each in learned])
    high = np.concatenate([each.recoding.high for each in learned])
    nodes = [each.recoding.node for each in learned if each.recoding.node is not None]
    node = np.concatenate(nodes) if len(nodes) == len(learned) else None
    if node is not None:  # a lattice search gives every column a ladder
        table = replace(table, domains=learned[0].recoding.table.domains)
    whole = recoding_of(table, low, high, members, node=node, facts=facts)
    return repaired(whole, models, suppression_limit=suppression_limit)


def repaired(
    whole: Recoding, models: Sequence[Promise], *, suppression_limit: float = 0.0
) -> Recoding:
    """Return a recoding whose classes all keep the promise, judged on the whole.

    Only boxes, sizes and sensitive values of the classes are looked at.
    """
    if not failing_classes(whole, models).any():
        return whole
    if whole.node is not None:
        return _without_failing(whole, models)
    if whole.table.persons is not None:
        return hold_persons(whole, models)
    table, kept = whole.table, whole.label >= 0
    budget = int(suppression_limit * table.records) - whole.suppressed
    merged = merge_failing(
        table,
        Clusters(whole.row[kept], whole.label[kept], whole.count[kept]),
        boxes=(whole.low, whole.high),
        space=space_of(table.domains),
        promise=promise_of(models, table),
        budget=max(budget, 0),
    )
    is_kept = merged >= 0
    number = np.full(len(merged) + 1, SUPPRESSED, dtype=np.int64)
    _, number[:-1][is_kept] = np.unique(merged[is_kept], return_inverse=True)
    classes = int(number.max()) + 1
    low, high = join_boxes(whole.low[is_kept], whole.high[is_kept], number[:-1][is_kept], classes)
    members = (whole.row, number[whole.label], whole.count)
    return recoding_of(table, low, high, members, facts=whole.facts)


def _without_failing(recoding: Recoding, models: Sequence[Promise]) -> Recoding:
    """Suppress the classes that break the promise until none of those left does."""
    table, found = recoding.table, recoding
    while (wrong := failing_classes(found, models)).any():
        label = np.where(np.append(wrong, True)[found.label], SUPPRESSED, found.label)
        rank = np.append(np.cumsum(~wrong) - 1, SUPPRESSED)
        assert found.node is not None
        found = recoding_of(
            table, found.low[~wrong], found.high[~wrong], (found.row, rank[label], found.count),
            node=found.node[~wrong], facts=found.facts,
        )  # fmt: skip
        if not found.classes:
            break
    return found
