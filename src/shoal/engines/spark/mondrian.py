"""Mondrian over a table on Spark: the first cuts by jobs, the rest of each block in one task.

One job a round counts the codes of every column in every block, so widths and medians are
exact, and the cuts are those that the local engine would make. What is counted stays where it
is; a task gets the tree of cuts made so far and finds the block of a row by walking down it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pyspark import StorageLevel
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from shoal.engines.spark.coding import Packing
from shoal.engines.spark.cuts import Block, Cut, Tree
from shoal.engines.spark.far import (
    Added,
    Cells,
    Counter,
    Far,
    FarTable,
    apart,
    assign_homes,
    cells_of,
    side_by_side,
    stand_in,
)
from shoal.engines.spark.parts import Task
from shoal.engines.spark.piles import ROWS, Keys, Work, arrays, by_part, joined, kinds, pile
from shoal.engines.spark.source import guarded
from shoal.methods.frequency import FrequencyTable
from shoal.methods.judging import failing_classes, one_class
from shoal.methods.mondrian.search import mondrian
from shoal.privacy import Promise

TASK_ROWS = 2_000_000  # distinct tuples that one task cuts by itself
CELLS = 2**24  # counters that a task and the driver hold at a time
_PILE = 250_000  # keys of a pile


def far_mondrian(
    table: FarTable, models: Sequence[Promise], *, task_rows: int | None = None
) -> Far:
    """Run strict Mondrian over a table on Spark.

    Guarantee:
        The classes are those of `methods.mondrian` on the same table.
    """
    search = _Search(table, tuple(models), TASK_ROWS if task_rows is None else task_rows)
    tree = search.grow()
    coded, packing = table.coded, table.coded.packing
    task = Task(
        domains=coded.domains, sensitive_domains=coded.sensitive_domains,
        whole=table.hollow.whole or (), models=tuple(models), method="mondrian", release=None,
        options={},
    )  # fmt: skip
    blocks = int((tree.column < 0).sum())
    placed = table.piles.select(*packing.names, ROWS).mapInArrow(
        _placer(packing, tree), f"home int, {kinds(packing)}"
    )
    cut = placed.repartition(blocks, "home").mapInArrow(
        _cutter(task, packing), f"home int, {kinds(packing)}, labels binary, {_tops(packing)}"
    )
    cut = cut.persist(StorageLevel.MEMORY_AND_DISK)
    homes, offsets, boxes, cells = _classes(table, cut.where(F.col("top0").isNotNull()))
    recoding, final = stand_in(table, boxes, cells)
    rows = cut.where(F.col("top0").isNull())

    def assign(numbers: NDArray[np.int64]) -> DataFrame:
        spans = zip(homes, offsets[:-1], offsets[1:], strict=True)
        known = {home: np.append(numbers[final[a:b]], numbers[-1]) for home, a, b in spans}
        return assign_homes(coded, rows, known)

    return Far(recoding, assign, kept=(cut,))


def _tops(packing: Packing) -> str:
    return ", ".join(f"top{i} binary" for i in range(len(packing.groups)))


def _classes(
    table: FarTable, cut: DataFrame
) -> tuple[list[int], list[int], tuple[NDArray[np.int32], NDArray[np.int32]], Cells]:
    """Return the blocks, where the classes of each begin, all classes' boxes and their cells."""
    coded, packing = table.coded, table.coded.packing
    tops = [f"top{i}" for i in range(len(packing.groups))]
    width = len(coded.domains)
    with guarded(coded.source.where):
        whole = cut.select("home", *packing.names, ROWS, "labels", *tops).toArrow()
    held: dict[int, list[Keys]] = {}
    for batch in whole.to_batches():
        piles = arrays(batch, [*packing.names, *tops, ROWS, "labels"])
        for home, each in zip(batch.column("home").to_pylist(), piles, strict=True):
            held.setdefault(home, []).append(each)
    homes, offsets = sorted(held), [0]
    lows, highs, label, sensitive, counts = [], [], [], [], []
    for home in homes:
        *keys, amounts, labels = (np.concatenate(each) for each in zip(*held[home], strict=True))
        low, high = (packing.unpack(half) for half in (keys[: len(tops)], keys[len(tops) :]))
        classes, first = np.unique(labels, return_index=True)  # each has the box of its class
        lows.append(low[first, :width])
        highs.append(high[first, :width])
        label.append(labels + offsets[-1])
        sensitive.append(low[:, width:])
        counts.append(amounts)
        offsets.append(offsets[-1] + len(classes))
    cells = Cells(*(np.concatenate(each) for each in (label, sensitive, counts)))
    return homes, offsets, (np.concatenate(lows), np.concatenate(highs)), cells


def _placer(packing: Packing, tree: Tree) -> Work:
    """Return the function that puts keys on piles by block."""

    def place(batches: Iterator[Any]) -> Iterator[Any]:
        for batch in batches:
            for *keys, counts in arrays(batch, [*packing.names, ROWS]):
                for block, mine in by_part(tree.block_of(packing.unpack(keys))):
                    own = {n: key[mine] for n, key in zip(packing.names, keys, strict=True)}
                    yield pile({"home": np.int32(block), **own, ROWS: counts[mine]})

    return place


def _cutter(task: Task, packing: Packing) -> Work:
    """Return the function that cuts the blocks of a partition to their end.

    It yields piles of keys with their labels, then piles of classes: how many records, and
    the two corners of the box as keys and tops.
    """

    def cut(batches: Iterator[Any]) -> Iterator[Any]:
        held: dict[int, list[Keys]] = {}
        for batch in batches:
            piles = arrays(batch, [*packing.names, ROWS])
            for block, each in zip(batch.column("home").to_pylist(), piles, strict=True):
                held.setdefault(block, []).append(each)
        for block in sorted(held):
            *keys, counts = (np.concatenate(each) for each in zip(*held.pop(block), strict=True))
            keys, counts = joined(keys, counts)  # in order, whichever task came first
            yield from _cut_block(task, packing, block, keys, counts)

    return cut


def _cut_block(
    task: Task, packing: Packing, block: int, keys: Keys, counts: NDArray[np.int64]
) -> Iterator[Any]:
    width = len(task.domains)
    codes = packing.unpack(keys)
    found = mondrian(task.table(codes, counts), task.models)
    labels = np.empty(len(counts), dtype=np.int64)
    labels[found.row] = found.label
    tops = [f"top{i}" for i in range(len(keys))]

    def piles(columns: dict[str, Any]) -> Iterator[Any]:
        for start in range(0, len(columns["labels"]), _PILE):
            some = slice(start, start + _PILE)
            own = {n: c if c is None else c[some] for n, c in columns.items()}
            yield pile({"home": np.int32(block), **own})

    named = dict(zip(packing.names, keys, strict=True))
    yield from piles({**named, ROWS: counts, "labels": labels, **dict.fromkeys(tops)})
    # The classes, apart by sensitive values: their box as the keys of its two corners.
    label, sensitive, records = cells_of(labels, codes[:, width:], counts, packing.sizes[width:])
    low = packing.pack(np.concatenate((found.low[label], sensitive), axis=1))
    high = packing.pack(np.concatenate((found.high[label], sensitive), axis=1))
    yield from piles(
        {**dict(zip(packing.names, low, strict=True)), ROWS: records,
         "labels": label, **dict(zip(tops, high, strict=True))}
    )  # fmt: skip


class _Search:
    """The first cuts: blocks are cut by jobs until each fits one task."""

    def __init__(self, table: FarTable, models: tuple[Promise, ...], task_rows: int) -> None:
        self.table, self.models, self.task_rows = table, models, task_rows
        self.domains = table.coded.domains
        self.spread = len(table.coded.sensitive_domains)
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
        most = max(CELLS // (2 * sum(sizes)), 1)
        found = {}
        for first in range(0, len(waiting), most):
            some = list(waiting[first : first + most])
            work = _counter(self.table.coded.packing, self.tree, some, sizes)
            cells = work.run(self.table.coded, self.table.piles).reshape(len(some), 2, -1)
            for number, mine in zip(some, cells, strict=True):
                counts, rows = (apart(each, sizes) for each in mine)
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

    def _allowed(self, asked: dict[int, Cut]) -> list[int]:
        """Return the blocks both of whose sides keep the promise; k was seen to already."""
        if not self.spread:
            return sorted(asked)
        domains = self.table.coded.sensitive_domains
        sizes = [len(domain) for domain in domains]
        most = max(CELLS // (2 * sum(sizes)), 1)
        good = []
        numbers = sorted(asked)
        for first in range(0, len(numbers), most):
            some = numbers[first : first + most]
            work = _sides(self.table.coded.packing, self.tree, {b: asked[b] for b in some}, sizes)
            cells = work.run(self.table.coded, self.table.piles).reshape(len(some), 2, -1)
            for number, sides in zip(some, cells, strict=True):
                if all(self._holds(apart(side, sizes)) for side in sides):
                    good.append(number)
        return good

    def _holds(self, histograms: Sequence[NDArray[np.int64]]) -> bool:
        sensitive, amounts = side_by_side(histograms, int(histograms[0].sum()))
        side = FrequencyTable(
            domains=(),
            codes=np.zeros((len(amounts), 0), dtype=np.int32),
            counts=amounts,
            sensitive_domains=self.table.coded.sensitive_domains,
            sensitive=sensitive,
            whole=self.table.hollow.whole,
        )
        return not failing_classes(one_class(side), self.models).any()


def _counter(packing: Packing, tree: Tree, blocks: Sequence[int], sizes: Sequence[int]) -> Counter:
    """Return what counts, in each block and column, the records and the rows of each code."""
    place = np.full(len(tree.column), -1, dtype=np.int64)
    place[list(blocks)] = np.arange(len(blocks))
    each = sum(sizes)

    def cells(codes: NDArray[np.int32], counts: NDArray[np.int64]) -> Added:
        block = tree.block_of(codes)
        mine = np.flatnonzero(place[block] >= 0)
        cell = place[block[mine]] * (2 * each)
        ones = np.ones(len(mine), dtype=np.int64)
        for j, size in enumerate(sizes):
            yield cell + codes[mine, j], counts[mine]
            yield cell + each + codes[mine, j], ones
            cell += size

    return Counter(packing, 2 * each * len(blocks), cells)


def _sides(packing: Packing, tree: Tree, asked: dict[int, Cut], sizes: Sequence[int]) -> Counter:
    """Return what counts the sensitive values on both sides of a cut of each block."""
    place = np.full(len(tree.column), -1, dtype=np.int64)
    place[list(asked)] = np.arange(len(asked))
    columns = np.array([cut.column for cut in asked.values()], dtype=np.int64)
    cuts = np.array([cut.cut for cut in asked.values()], dtype=np.int64)
    each = sum(sizes)

    def cells(codes: NDArray[np.int32], counts: NDArray[np.int64]) -> Added:
        block = tree.block_of(codes)
        mine = np.flatnonzero(place[block] >= 0)
        number = place[block[mine]]
        is_right = codes[mine, columns[number]] >= cuts[number]
        cell = (2 * number + is_right) * each
        first = codes.shape[1] - len(sizes)
        for s, size in enumerate(sizes):
            yield cell + codes[mine, first + s], counts[mine]
            cell += size

    return Counter(packing, 2 * each * len(asked), cells)
