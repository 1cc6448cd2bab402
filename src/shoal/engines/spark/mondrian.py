"""Mondrian ([lefevre2006]) over a table on Spark: first cuts by jobs, the rest in one task a block.

One job a round counts the codes of every column in every block, so widths and medians are
exact, and the cuts are those that the local engine would make. What is counted stays where it
is; a task gets the tree of cuts made so far and finds the block of a row by walking down it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from pyspark import StorageLevel
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

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
    sent,
    sliced,
    sum_equal_keys,
)
from shoal.engines.spark.coding import Packing
from shoal.engines.spark.cuts import Block, Cut, Tree
from shoal.engines.spark.distributed import (
    LABELS,
    ClassHistograms,
    CodeCounter,
    DistributedFrequencies,
    DistributedRecoding,
    Increments,
    class_histograms,
    recoding_of_classes,
    rows_with_histograms,
    split_columns,
    table_of,
    with_class_numbers,
)
from shoal.engines.spark.partitions import LearningTask
from shoal.engines.spark.source import guarded
from shoal.methods.catalogue import Mondrian
from shoal.methods.judging import failing_classes, one_class
from shoal.methods.method import Setting
from shoal.privacy import Promise

TASK_ROWS = 2_000_000  # distinct tuples that one task cuts by itself
COUNTERS = 2**24  # that a task and the driver hold at a time


def distributed_mondrian(
    table: DistributedFrequencies, models: Sequence[Promise], *, task_rows: int | None = None
) -> DistributedRecoding:
    """Run strict Mondrian over a table on Spark.

    Guarantee:
        The classes are those of `methods.mondrian` on the same table.
    """
    search = _FirstCuts(table, tuple(models), TASK_ROWS if task_rows is None else task_rows)
    tree = search.grow()
    coded, packing = table.coded, table.coded.packing
    task = LearningTask(
        domains=coded.domains, sensitive_domains=coded.sensitive_domains,
        whole=table.summary.whole or (), models=tuple(models), method=Mondrian(),
        setting=Setting(threads=1),
    )  # fmt: skip
    blocks = int((tree.column < 0).sum())
    keys = chunk_schema([*packing.names, ROWS])
    apart = table.chunks.select(*packing.names, ROWS).mapInArrow(
        _sender(packing, tree), f"{PART} int, {keys}"
    )
    cut = apart.repartition(blocks, PART).mapInArrow(
        _cutter(task, packing),
        f"{PART} int, {keys}, {LABELS} binary, {chunk_schema(_tops(packing))}",
    )
    cut = cut.persist(StorageLevel.MEMORY_AND_DISK)
    classes = _collect_classes(table, cut.where(F.col("top0").isNotNull()))
    recoding, final = recoding_of_classes(table, classes.boxes, classes.histograms)
    rows = cut.where(F.col("top0").isNull())

    def assign(numbers: Ints) -> DataFrame:
        spans = classes.spans.items()
        known = {part: np.append(numbers[final[a:b]], numbers[-1]) for part, (a, b) in spans}
        return with_class_numbers(coded, rows, known)

    return DistributedRecoding(recoding, assign, persisted=(cut,))


def _tops(packing: Packing) -> list[str]:
    """Return the names of the keys of the high corner of a box."""
    return [f"top{i}" for i in range(len(packing.groups))]


class _BlockClasses(NamedTuple):
    """The classes of all blocks, and from where to where those of each block stand."""

    spans: dict[int, tuple[int, int]]
    boxes: tuple[Codes, Codes]
    histograms: ClassHistograms


def _collect_classes(table: DistributedFrequencies, cut: DataFrame) -> _BlockClasses:
    """Collect the classes that tasks cut, block after block."""
    coded, packing = table.coded, table.coded.packing
    tops = _tops(packing)
    width = len(coded.domains)
    names = [*packing.names, *tops, ROWS, LABELS]
    with guarded(coded.source.where):
        collected = cut.select(PART, *names).toArrow().to_batches()
    spans: dict[int, tuple[int, int]] = {}
    lows, highs, label, sensitive, counts = [], [], [], [], []
    start = 0
    for block, (*keys, amounts, labels) in by_task_partition(collected, names):
        low, high = (packing.unpack(half) for half in (keys[: len(tops)], keys[len(tops) :]))
        classes, first = np.unique(labels, return_index=True)  # each has the box of its class
        lows.append(low[first, :width])
        highs.append(high[first, :width])
        label.append(labels + start)
        sensitive.append(low[:, width:])
        counts.append(amounts)
        spans[block] = (start, start + len(classes))
        start += len(classes)
    histograms = ClassHistograms(
        np.concatenate(label), np.concatenate(sensitive), np.concatenate(counts)
    )
    return _BlockClasses(spans, (np.concatenate(lows), np.concatenate(highs)), histograms)


def _sender(packing: Packing, tree: Tree) -> ArrowMap:
    """Return the function that sends keys to their blocks."""

    def send(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for *keys, counts in chunk_arrays(batch, [*packing.names, ROWS]):
                block = tree.block_of(packing.unpack(keys))
                yield from sent(block, {**packing.named(keys), ROWS: counts})

    return send


def _cutter(task: LearningTask, packing: Packing) -> ArrowMap:
    """Return the function that cuts the blocks of a partition to their end.

    It yields chunks of keys with their labels, then chunks of classes: how many records, and
    the two corners of the box as keys and tops.
    """

    def cut(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for block, (*keys, counts) in by_task_partition(batches, [*packing.names, ROWS]):
            keys, counts = sum_equal_keys(keys, counts)  # in order, whichever task came first
            yield from _cut_block(task, packing, block, keys, counts)

    return cut


def _cut_block(
    task: LearningTask, packing: Packing, block: int, keys: Keys, counts: Ints
) -> Iterator[pa.RecordBatch]:
    width = len(task.domains)
    codes = packing.unpack(keys)
    found = task.search(task.table(codes, counts))
    labels = np.empty(len(counts), dtype=np.int64)
    labels[found.row] = found.label
    tops = _tops(packing)

    def chunks(columns: Mapping[str, Ints | None]) -> Iterator[pa.RecordBatch]:
        for some in sliced(columns):
            yield chunk_of({PART: np.int32(block), **some})

    yield from chunks({**packing.named(keys), ROWS: counts, LABELS: labels, **dict.fromkeys(tops)})
    # The classes, apart by sensitive values: their box as the keys of its two corners.
    label, sensitive, records = class_histograms(
        labels, codes[:, width:], counts, packing.sizes[width:]
    )
    low = packing.pack(np.concatenate((found.low[label], sensitive), axis=1))
    high = packing.pack(np.concatenate((found.high[label], sensitive), axis=1))
    yield from chunks(
        {**packing.named(low), ROWS: records, LABELS: label, **dict(zip(tops, high, strict=True))}
    )


class _FirstCuts:
    """The first cuts: blocks are cut by jobs until each fits one task."""

    def __init__(
        self, table: DistributedFrequencies, models: tuple[Promise, ...], task_rows: int
    ) -> None:
        self.table, self.models, self.task_rows = table, models, task_rows
        self.domains = table.coded.domains
        self.k = max((model.least_records for model in models), default=1)
        self.tree = Tree()

    def grow(self) -> Tree:
        """Return the tree whose blocks fit a task each, or cannot be cut."""
        waiting = [0] if self.table.rows > self.task_rows else []
        while waiting:
            blocks = self._count(waiting)
            chosen = self._choose(blocks)
            fresh = self.tree.grow(chosen)
            rows = [n for b in sorted(chosen) for n in blocks[b].sides(chosen[b])]
            waiting = [b for b, n in zip(fresh, rows, strict=True) if n > self.task_rows]
        return self.tree

    def _count(self, waiting: Sequence[int]) -> dict[int, Block]:
        """Count the codes of every column in every waiting block: one job, or a few."""
        sizes = [len(domain) for domain in self.domains]
        found = {}
        for some in _batches(waiting, sizes):
            counter = _block_counter(self.table.coded.packing, self.tree, some, sizes)
            counters = counter.count(self.table.coded, self.table.chunks)
            for number, mine in zip(some, counters.reshape(len(some), 2, -1), strict=True):
                counts, rows = (split_columns(each, sizes) for each in mine)
                found[number] = Block(counts, rows)
        return found

    def _choose(self, blocks: dict[int, Block]) -> dict[int, Cut]:
        """Return the first allowed cut of each block; blocks without one are left out."""
        cuts = {b: block.cuts(self.domains, self.k) for b, block in blocks.items()}
        chosen: dict[int, Cut] = {}
        while True:
            left = sorted(set(blocks) - set(chosen))
            tried = {b: cut for b in left if (cut := next(cuts[b], None)) is not None}
            if not tried:
                return chosen
            chosen |= {b: tried[b] for b in self._allowed(tried)}

    def _allowed(self, tried: dict[int, Cut]) -> list[int]:
        """Return the blocks both of whose sides keep the promise; k was seen to already."""
        domains = self.table.coded.sensitive_domains
        if not domains:
            return sorted(tried)
        sizes = [len(domain) for domain in domains]
        allowed = []
        for some in _batches(sorted(tried), sizes):
            cuts = {block: tried[block] for block in some}
            counter = _side_counter(self.table.coded.packing, self.tree, cuts, sizes)
            counters = counter.count(self.table.coded, self.table.chunks)
            for number, sides in zip(some, counters.reshape(len(some), 2, -1), strict=True):
                if all(self._holds(split_columns(side, sizes)) for side in sides):
                    allowed.append(number)
        return allowed

    def _holds(self, histograms: Sequence[Ints]) -> bool:
        sensitive, amounts = rows_with_histograms(histograms, int(histograms[0].sum()))
        domains, whole = self.table.coded.sensitive_domains, self.table.summary.whole
        side = table_of((), domains, sensitive, amounts, whole)
        return not failing_classes(one_class(side), self.models).any()


def _batches(blocks: Sequence[int], sizes: Sequence[int]) -> Iterator[list[int]]:
    """Yield blocks so many at a time that their counters fit; each has two for every code."""
    most = max(COUNTERS // (2 * sum(sizes)), 1)
    for first in range(0, len(blocks), most):
        yield list(blocks[first : first + most])


def _block_counter(
    packing: Packing, tree: Tree, blocks: Sequence[int], sizes: Sequence[int]
) -> CodeCounter:
    """Return what counts, in each block and column, the records and the rows of each code."""
    place = _places(tree, blocks)
    each = sum(sizes)

    def increments(codes: Codes, counts: Ints) -> Increments:
        block = tree.block_of(codes)
        mine = np.flatnonzero(place[block] >= 0)
        counter = place[block[mine]] * (2 * each)
        ones = np.ones(len(mine), dtype=np.int64)
        for j, size in enumerate(sizes):
            yield counter + codes[mine, j], counts[mine]
            yield counter + each + codes[mine, j], ones
            counter += size

    return CodeCounter(packing, 2 * each * len(blocks), increments)


def _side_counter(
    packing: Packing, tree: Tree, cuts: dict[int, Cut], sizes: Sequence[int]
) -> CodeCounter:
    """Return what counts the sensitive values on both sides of a cut of each block."""
    place = _places(tree, list(cuts))
    column = np.array([cut.column for cut in cuts.values()], dtype=np.int64)
    code = np.array([cut.cut for cut in cuts.values()], dtype=np.int64)
    each = sum(sizes)

    def increments(codes: Codes, counts: Ints) -> Increments:
        block = tree.block_of(codes)
        mine = np.flatnonzero(place[block] >= 0)
        number = place[block[mine]]
        is_right = codes[mine, column[number]] >= code[number]
        counter = (2 * number + is_right) * each
        first = codes.shape[1] - len(sizes)
        for s, size in enumerate(sizes):
            yield counter + codes[mine, first + s], counts[mine]
            counter += size

    return CodeCounter(packing, 2 * each * len(cuts), increments)


def _places(tree: Tree, blocks: Sequence[int]) -> Ints:
    """Return the place of each node of the tree among some blocks, -1 where it is not."""
    place = np.full(len(tree.column), -1, dtype=np.int64)
    place[list(blocks)] = np.arange(len(blocks))
    return place
