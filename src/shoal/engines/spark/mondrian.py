"""Mondrian over a table on Spark: the first cuts by jobs, the rest of each block in one task.

One job a round counts the codes of every column in every block, so widths and medians are
exact, and the cuts are those that the local engine would make. What is counted stays where it
is; a task gets the tree of cuts made so far and finds the block of a row by walking down it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray
from pyspark import StorageLevel
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from shoal.core.privacy import PrivacyModel
from shoal.engines.spark.arrange import PLACES
from shoal.engines.spark.coding import Packing
from shoal.engines.spark.far import (
    Added,
    Counter,
    Far,
    FarTable,
    apart,
    far_recoding,
    side_by_side,
)
from shoal.engines.spark.parts import Task
from shoal.engines.spark.piles import ROWS, Keys, Work, arrays, by_part, joined, kinds, pile
from shoal.engines.spark.source import guarded
from shoal.methods.domain import Domain
from shoal.methods.frequency import FrequencyTable, sort_rows
from shoal.methods.judging import failing_classes, one_class
from shoal.methods.mondrian.search import mondrian

TASK_ROWS = 2_000_000  # distinct tuples that one task cuts by itself
CELLS = 2**24  # counters that a task and the driver hold at a time
_PILE = 250_000  # keys of a pile


class Cut(NamedTuple):
    """A block's cut: codes of a column below `cut` go left."""

    column: int
    cut: int


@dataclass(frozen=True)
class Block:
    """What is counted of a block: by column, the records and the rows that have each code."""

    counts: tuple[NDArray[np.int64], ...]
    rows: tuple[NDArray[np.int64], ...]

    @property
    def records(self) -> int:
        """Return the number of records."""
        return int(self.counts[0].sum())

    def columns(self, domains: Sequence[Domain]) -> list[int]:
        """Return the columns that can be cut, the widest first; of equals the first."""
        widths: list[float] = []
        for domain, counts in zip(domains, self.counts, strict=True):
            there = np.flatnonzero(counts)
            widths.append(domain.cost(int(there[0]), int(there[-1])) * domain.weight)
        wide = [j for j, width in enumerate(widths) if width > 0]
        return sorted(wide, key=lambda j: (-widths[j], j))

    def cuts(self, domains: Sequence[Domain], k: int) -> Iterator[Cut]:
        """Yield the cuts that leave k records on both sides, in the order they are tried."""
        if self.records < 2 * k:
            return
        for j in self.columns(domains):
            there = np.flatnonzero(self.counts[j])
            for place in median_cuts(there, self.counts[j][there], k):
                yield Cut(j, place)

    def sides(self, cut: Cut) -> tuple[int, int]:
        """Return how many rows are on each side of a cut."""
        rows = self.rows[cut.column]
        return int(rows[: cut.cut].sum()), int(rows[cut.cut :].sum())


def median_cuts(codes: NDArray[np.int64], counts: NDArray[np.int64], k: int) -> list[int]:
    """Return the cuts around the median that leave k records on both sides, the evener first.

    codes: those that occur, sorted; counts: the records of each.
    """
    summed = np.cumsum(counts)
    records = int(summed[-1])
    at = int(np.searchsorted(2 * summed, records))
    code, upto = int(codes[at]), int(summed[at])
    before = upto - int(counts[at])
    sides = [(code + 1, upto), (code, before)]
    if abs(2 * upto - records) > abs(2 * before - records):
        sides.reverse()
    return [cut for cut, left in sides if left >= k and records - left >= k]


class Tree:
    """The cuts made so far. Node 0 is the whole table; a node without a cut is a block."""

    def __init__(self) -> None:
        self.column = np.full(1, -1, dtype=np.int64)
        self.cut = np.zeros(1, dtype=np.int64)
        self.left = np.zeros(1, dtype=np.int64)  # the right side is the next one

    def grow(self, chosen: dict[int, Cut]) -> list[int]:
        """Cut blocks in two; return the new ones."""
        fresh = []
        for block, cut in sorted(chosen.items()):
            number = len(self.column)
            self.column[block], self.cut[block], self.left[block] = cut.column, cut.cut, number
            self.column = np.append(self.column, [-1, -1])
            self.cut = np.append(self.cut, [0, 0])
            self.left = np.append(self.left, [0, 0])
            fresh += [number, number + 1]
        return fresh

    def block_of(self, codes: NDArray[np.int32]) -> NDArray[np.int64]:
        """Return the block of each coded row."""
        node = np.zeros(len(codes), dtype=np.int64)
        moving = np.arange(len(codes))
        while len(moving):
            here = node[moving]
            column = self.column[here]
            inside = column >= 0
            moving, here, column = moving[inside], here[inside], column[inside]
            is_right = codes[moving, column] >= self.cut[here]
            node[moving] = self.left[here] + is_right
        return node


def far_mondrian(
    table: FarTable, models: Sequence[PrivacyModel], *, task_rows: int | None = None
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
        _placer(packing, tree), f"block int, {kinds(packing)}"
    )
    cut = placed.repartition(blocks, "block").mapInArrow(
        _cutter(task, packing), f"block int, {kinds(packing)}, labels binary, {_tops(packing)}"
    )
    cut = cut.persist(StorageLevel.MEMORY_AND_DISK)
    found = _classes(table, cut.where(F.col("top0").isNotNull()))
    recoding, homes = far_recoding(table, found, home=["block", "label"])
    rows = cut.where(F.col("top0").isNull()).select("block", *packing.names, "labels")

    def assign(places: NDArray[np.int64]) -> DataFrame:
        told = homes.with_columns(pl.Series("place", places[homes["class"].to_numpy()]))
        by_block = {
            int(str(block)): mine.sort("label")["place"].to_numpy()
            for (block,), mine in told.partition_by("block", as_dict=True).items()
        }
        known = coded.source.session.sparkContext.broadcast(by_block)
        keys = ", ".join(f"{name} binary" for name in packing.names)
        return rows.mapInArrow(_assigner(packing, known), f"{keys}, {PLACES} binary")

    return Far(recoding, assign, kept=(cut,))


def _tops(packing: Packing) -> str:
    return ", ".join(f"top{i} binary" for i in range(len(packing.groups)))


def _classes(table: FarTable, cut: DataFrame) -> pl.DataFrame:
    """Return the classes of all blocks, apart by sensitive values."""
    coded, packing = table.coded, table.coded.packing
    tops = [f"top{i}" for i in range(len(packing.groups))]
    width, spread = len(coded.domains), len(coded.sensitive_domains)
    with guarded(coded.source.where):
        whole = cut.select("block", *packing.names, ROWS, "labels", *tops).toArrow()
    found = []
    for batch in whole.to_batches():
        blocks = batch.column("block").to_pylist()
        piles = arrays(batch, [*packing.names, *tops, ROWS, "labels"])
        for block, (*keys, counts, labels) in zip(blocks, piles, strict=True):
            low = packing.unpack(keys[: len(tops)])
            high = packing.unpack(keys[len(tops) :])
            columns: dict[str, NDArray[Any]] = {
                "block": np.full(len(counts), block, dtype=np.int64),
                "label": labels,
            }
            columns |= {f"low{j}": low[:, j] for j in range(width)}
            columns |= {f"high{j}": high[:, j] for j in range(width)}
            columns |= {f"s{s}": low[:, width + s] for s in range(spread)}
            found.append(pl.DataFrame({**columns, ROWS: counts}))
    return pl.concat(found)


def _assigner(packing: Packing, known: Any) -> Work:
    """Return the function that gives keys the places of their classes."""

    def work(batches: Iterator[Any]) -> Iterator[Any]:
        for batch in batches:
            blocks = batch.column("block").to_pylist()
            piles = arrays(batch, [*packing.names, "labels"])
            for block, (*keys, labels) in zip(blocks, piles, strict=True):
                places = known.value[block][labels]
                kept = places >= 0
                own = {n: key[kept] for n, key in zip(packing.names, keys, strict=True)}
                yield pile({**own, PLACES: places[kept]})

    return work


def _placer(packing: Packing, tree: Tree) -> Work:
    """Return the function that puts keys on piles by block."""

    def place(batches: Iterator[Any]) -> Iterator[Any]:
        for batch in batches:
            for *keys, counts in arrays(batch, [*packing.names, ROWS]):
                for block, mine in by_part(tree.block_of(packing.unpack(keys))):
                    own = {n: key[mine] for n, key in zip(packing.names, keys, strict=True)}
                    yield pile({"block": np.int32(block), **own, ROWS: counts[mine]})

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
            for block, each in zip(batch.column("block").to_pylist(), piles, strict=True):
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
            yield pile({"block": np.int32(block), **own})

    named = dict(zip(packing.names, keys, strict=True))
    yield from piles({**named, ROWS: counts, "labels": labels, **dict.fromkeys(tops)})
    # The classes, apart by sensitive values: their box as the keys of its two corners.
    cells = np.concatenate((labels[:, None].astype(np.int32), codes[:, width:]), axis=1)
    order = sort_rows(cells, [found.classes, *packing.sizes[width:]])
    ordered = cells[order]
    fresh = np.ones(len(order), dtype=np.bool_)
    fresh[1:] = np.any(ordered[1:] != ordered[:-1], axis=1)
    starts = np.flatnonzero(fresh)
    label, sensitive = ordered[starts, 0], ordered[starts, 1:]
    low = packing.pack(np.concatenate((found.low[label], sensitive), axis=1))
    high = packing.pack(np.concatenate((found.high[label], sensitive), axis=1))
    records = np.add.reduceat(counts[order], starts)
    yield from piles(
        {**dict(zip(packing.names, low, strict=True)), ROWS: records,
         "labels": label.astype(np.int64), **dict(zip(tops, high, strict=True))}
    )  # fmt: skip


class _Search:
    """The first cuts: blocks are cut by jobs until each fits one task."""

    def __init__(self, table: FarTable, models: tuple[PrivacyModel, ...], task_rows: int) -> None:
        self.table, self.models, self.task_rows = table, models, task_rows
        self.domains = table.coded.domains
        self.spread = len(table.coded.sensitive_domains)
        self.k = max((getattr(model, "k", 1) for model in models), default=1)
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
