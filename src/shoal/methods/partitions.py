"""Coarse-grained learning ([lim2018]): divide the records, learn on each part, join the parts.

A part is learned like a table of its own, so parts can be learned side by side, on the
cores of one machine or on the executors of a cluster. Closeness is judged against the
whole table everywhere. A part that cannot keep the promise by itself (fewer than k records,
say) is joined with the part nearest to it, and both are learned together.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from shoal.core.errors import NoSolutionError
from shoal.methods.arrays import promise_of
from shoal.methods.clustering.clusters import Clusters, histograms_of
from shoal.methods.clustering.mend import board_of, mend
from shoal.methods.clustering.space import space_of
from shoal.methods.dividing import Part, histograms_by_column, middle_of, split
from shoal.methods.frequency import FrequencyTable
from shoal.methods.judging import failing_classes, one_class
from shoal.methods.recoding import SUPPRESSED, Recoding, recoding_of
from shoal.privacy import Promise

Search = Callable[[FrequencyTable], Recoding]
PartT = TypeVar("PartT")
FoundT = TypeVar("FoundT")


class Learned(NamedTuple):
    """What was found for a part; the recoding's table is the part's own."""

    rows: NDArray[np.int64]
    recoding: Recoding


def subtable(table: FrequencyTable, part: Part) -> FrequencyTable:
    """Return a part as a table of its own that still knows the whole."""
    columns = range(len(table.sensitive_domains))
    return FrequencyTable(
        domains=table.domains,
        codes=np.ascontiguousarray(table.codes[part.rows]),
        counts=np.ascontiguousarray(part.counts),
        sensitive_domains=table.sensitive_domains,
        sensitive=np.ascontiguousarray(table.sensitive[part.rows]),
        whole=tuple(table.reference(column) for column in columns),
    )


@dataclass(frozen=True)
class Coarse:
    """How a table is divided: into how many parts, in which way, on how many threads."""

    parts: int
    how: str = "kmeans"
    seed: int = 0
    threads: int | None = None


def learn_parts(
    table: FrequencyTable,
    models: Sequence[Promise],
    search: Search,
    *,
    coarse: Coarse,
    suppression_limit: float = 0.0,
) -> Recoding:
    """Divide a table, learn on every part, and join what was found.

    Guarantee:
        The result does not depend on the number of threads.

    Raises:
        NoSolutionError: all records together do not keep the promise.
    """
    parts = split(table, coarse.parts, how=coarse.how, seed=coarse.seed)

    def one(part: Part) -> Learned | None:
        return learn_part(table, models, part, search)

    def several(group: Sequence[Part]) -> list[Learned | None]:
        with ThreadPoolExecutor(coarse.threads or os.cpu_count() or 1) as pool:
            return list(pool.map(one, group))

    try:
        learned = gather_parts(table, parts, several)
    except NoSolutionError:  # all records together: the search itself says what is missing
        return search(table)
    facts = {"partitions": len(learned), "partition_by": coarse.how}
    return join_parts(table, models, learned, suppression_limit=suppression_limit, facts=facts)


def learn_part(
    table: FrequencyTable, models: Sequence[Promise], part: Part, search: Search
) -> Learned | None:
    """Learn on one part; None where it does not keep the promise by itself."""
    own = subtable(table, part)
    if failing_classes(one_class(own), models).any():
        return None
    try:
        return Learned(part.rows, search(own))
    except NoSolutionError:
        return None


def gather(
    parts: Sequence[PartT],
    run: Callable[[Sequence[PartT]], Sequence[FoundT | None]],
    *,
    middle: Callable[[PartT], NDArray[np.float64]],
    merge: Callable[[PartT, PartT], PartT],
) -> list[FoundT]:
    """Learn on all parts; one that has no solution is joined with its nearest and tried again.

    Args:
        parts: whatever stands for some records.
        run: learns on parts; None where one has no solution by itself.
        middle: where a part lies.
        merge: joins two parts.

    Raises:
        NoSolutionError: not even all parts together have one.
    """
    waiting = list(parts)
    done: list[tuple[PartT, FoundT]] = []
    while waiting:
        found = run(waiting)
        left = []
        for part, learned in zip(waiting, found, strict=True):
            if learned is None:
                left.append(part)
            else:
                done.append((part, learned))
        waiting = []
        for part in left:
            others = [other for other, _ in done] + waiting
            if not others:
                if len(left) == 1:
                    raise NoSolutionError(problem="no part of the table keeps the promise")
                waiting.append(part)
                continue
            away = [float(((middle(part) - middle(other)) ** 2).sum()) for other in others]
            best = int(np.argmin(away))
            if best < len(done):
                done.pop(best)
            else:
                waiting.pop(best - len(done))
            waiting.append(merge(part, others[best]))
    return [learned for _, learned in done]


def gather_parts(
    table: FrequencyTable,
    parts: Sequence[Part],
    run: Callable[[Sequence[Part]], Sequence[Learned | None]],
) -> list[Learned]:
    """Learn on all parts of a table that is at hand, see `gather`."""
    return gather(parts, run, middle=lambda part: _middle(table, part), merge=_merged)


def _middle(table: FrequencyTable, part: Part) -> NDArray[np.float64]:
    codes = table.codes[part.rows]
    return middle_of(table.domains, histograms_by_column(table.domains, codes, part.counts))


def _merged(one: Part, other: Part) -> Part:
    rows, home = np.unique(np.concatenate((one.rows, other.rows)), return_inverse=True)
    counts = np.bincount(home, weights=np.concatenate((one.counts, other.counts)))
    return Part(rows, counts.astype(np.int64))


def join_parts(
    table: FrequencyTable,
    models: Sequence[Promise],
    learned: Sequence[Learned],
    *,
    suppression_limit: float = 0.0,
    facts: dict[str, Any] | None = None,
) -> Recoding:
    """Return the recodings of all parts as one recoding of the table.

    Classes with the same labels become one. A class that breaks the promise once the parts
    stand together is merged with others, across parts; a class of a full-domain recoding,
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
    pieces = (np.concatenate(row), np.concatenate(label), np.concatenate(count))
    low = np.concatenate([each.recoding.low for each in learned])
    high = np.concatenate([each.recoding.high for each in learned])
    nodes = [each.recoding.node for each in learned if each.recoding.node is not None]
    node = np.concatenate(nodes) if len(nodes) == len(learned) else None
    if node is not None:  # a lattice search gives every column a ladder
        table = replace(table, domains=learned[0].recoding.table.domains)
    whole = recoding_of(table, low, high, pieces, node=node, facts=facts)
    return held(whole, models, suppression_limit=suppression_limit)


def held(whole: Recoding, models: Sequence[Promise], *, suppression_limit: float = 0.0) -> Recoding:
    """Return a recoding whose classes all keep the promise, judged on the whole.

    Only boxes, sizes and sensitive values of the classes are looked at.
    """
    if not failing_classes(whole, models).any():
        return whole
    if whole.node is not None:
        return _without_failing(whole, models)
    table, kept = whole.table, whole.label >= 0
    clusters = Clusters(whole.row[kept], whole.label[kept], whole.count[kept])
    board = board_of(
        whole.low, whole.high, whole.sizes, histograms_of(table, clusters, whole.classes),
        space=space_of(table.domains),
    )  # fmt: skip
    budget = int(suppression_limit * table.records) - whole.suppressed
    home = mend(board, promise=promise_of(models, table), budget=max(budget, 0))
    is_kept = home >= 0
    number = np.full(len(home) + 1, SUPPRESSED, dtype=np.int64)
    _, number[:-1][is_kept] = np.unique(home[is_kept], return_inverse=True)
    classes = int(number.max()) + 1
    low = np.full((classes, whole.low.shape[1]), np.iinfo(np.int32).max, dtype=np.int32)
    high = np.full((classes, whole.low.shape[1]), -1, dtype=np.int32)
    np.minimum.at(low, number[:-1][is_kept], whole.low[is_kept])
    np.maximum.at(high, number[:-1][is_kept], whole.high[is_kept])
    pieces = (whole.row, number[whole.label], whole.count)
    return recoding_of(table, low, high, pieces, facts=whole.facts)


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
