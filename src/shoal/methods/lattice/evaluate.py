"""Answering a search: what happens to the records at a node, from a frequency table.

The classes of a node are made from those of the smallest node that is known and
finer, not from the table; nodes are kept as long as memory allows.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.lattice import classes as kernel
from shoal.kernels.lattice.classes import Classes
from shoal.kernels.lattice.spread import judge_spread
from shoal.methods.arrays import promise_of
from shoal.methods.lattice.constraint import Constraint, largest_distances
from shoal.methods.lattice.measures import Measure, Tally
from shoal.methods.lattice.space import Node, Space
from shoal.methods.threads import in_threads

MEMORY = 500_000_000
_WORTH_A_THREAD = 100_000  # classes; below, handing over costs more than the work
_NOTHING = np.zeros(0, dtype=np.int64)


class Answer(NamedTuple):
    """The classes of a node, which of them fail, and how they came from its source."""

    label: NDArray[np.uint32]
    classes: Classes
    due: NDArray[np.int64]  # per class: 0 it holds, else records that no finer node can keep
    widths: NDArray[np.int64]  # where the codes of each block begin
    # Where persons are counted, the records of classes that fail at every finer node, too.
    least: NDArray[np.int64] | None = None


def _ends(sizes: Sequence[int]) -> NDArray[np.int64]:
    return np.array([0, *accumulate(sizes)], dtype=np.int64)


class Evaluator:
    """Counts nodes of one table for one promise.

    Guarantee:
        A tally depends on the node alone, not on the nodes asked before, on the memory
        or on the number of threads.
    """

    def __init__(
        self, space: Space, constraint: Constraint, *, threads: int = 2, memory: int = MEMORY
    ) -> None:
        self.space, self.constraint = space, constraint
        self._threads, self._memory = max(threads, 1), memory
        self.promise = promise_of(constraint.models, space.table)
        self._distances = largest_distances(self.promise)
        self._measure: Measure | None = None
        self._widest = max(len(block) for block in space.blocks)
        self._payers = np.array(
            [
                b * self._widest + i
                for b, block in enumerate(space.blocks)
                for i in range(len(block))
            ]
        )
        self._steps: dict[tuple[int, Node, Node], tuple[NDArray[np.uint32], int]] = {}
        self._costs: dict[tuple[int, Node], NDArray[np.int64]] = {}
        self.work = 0  # block codes read so far: what a search has cost, on any machine
        base = self._pack()
        columns = len(space.ladders)
        self._levels: NDArray[np.int64] = np.zeros((64, columns), dtype=np.int64)
        self._sizes: NDArray[np.int64] = np.zeros(64, dtype=np.int64)
        self._sizes[0] = base.counts.size
        self._kept: list[Classes] = [base]
        self._nodes: list[Node] = [space.lattice.bottom]
        self._held = 0

    def _pack(self) -> Classes:
        """Return the finest classes; sets the class of each row and the records per code."""
        table = self.space.table
        codes = np.ascontiguousarray(table.codes.T)
        counts, starts = table.counts, np.arange(table.rows)
        self.tallied = [
            np.bincount(column, weights=counts, minlength=len(domain)).astype(np.int64)
            for column, domain in zip(codes, table.domains, strict=True)
        ]
        self.finest = starts
        # Neighbouring rows may differ in sensitive values, or in persons, only.
        if table.sensitive_domains or table.persons is not None:
            fresh = np.ones(table.rows, dtype=np.bool_)
            fresh[1:] = (codes[:, 1:] != codes[:, :-1]).any(axis=0)
            self.finest, starts = np.cumsum(fresh) - 1, np.flatnonzero(fresh)
            counts, codes = np.add.reduceat(counts, starts), codes[:, starts]
        packed = np.zeros((len(self.space.blocks), len(starts)), dtype=np.uint32)
        for b, block in enumerate(self.space.blocks):
            for j in block:
                ladder = self.space.ladders[j]
                packed[b] *= np.uint32(len(ladder.nodes[0]))
                packed[b] += ladder.codes[0].astype(np.uint32)[codes[j]]
        first, value, amount = self._spread(starts)
        return Classes(packed, counts, first, value, amount)

    def _spread(
        self, starts: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.uint32], NDArray[np.int64]]:
        """Return the sensitive values of the finest classes, for columns the promise names."""
        table = self.space.table
        used = np.unique(self.promise.column)
        if not used.size:
            return np.zeros(1, dtype=np.int64), np.zeros(0, dtype=np.uint32), _NOTHING
        value = (table.sensitive[:, used] + self.promise.start[used]).astype(np.uint32).ravel()
        amount = np.repeat(table.counts, used.size)
        return np.append(starts, table.rows) * used.size, value, amount

    def use(self, measure: Measure) -> None:
        """Say what the search minimizes; only then do tallies carry costs."""
        self._measure = measure
        self._costs.clear()

    def tally(self, node: Node) -> Tally:
        """Count one node."""
        return self.tallies([node])[0]

    def tallies(self, nodes: Sequence[Node]) -> list[Tally]:
        """Count several nodes, on several threads where that pays."""
        jobs = []
        for node in nodes:
            asked = np.array(node, dtype=np.int64)
            jobs.append(
                (node, int(kernel.nearest(self._levels, self._sizes, len(self._kept), asked)))
            )
        heavy = sum(int(self._sizes[source]) for _, source in jobs) > _WORTH_A_THREAD
        answers = in_threads(lambda job: self._count(*job), jobs, self._threads if heavy else 1)
        found = []
        for (node, source), answer in zip(jobs, answers, strict=True):
            self.work += int(self._sizes[source]) * len(self.space.blocks)
            found.append(self.read(node, answer))
            if answer.classes.counts.size:
                self._keep(node, answer.classes, floor=0.8 * float(self._sizes[source]))
        return found

    def release(self, node: Node) -> Answer:
        """Return the classes of a node, made from the finest ones and judged to the end."""
        return self._count(node, 0, whole=True)

    def _grouped(
        self, node: Node, source: int, most: int
    ) -> tuple[NDArray[np.uint32], NDArray[np.uint32], NDArray[np.int64], list[int]]:
        """Return the new class of each old one, codes, sizes, and the width of each block."""
        old, low = self._kept[source], self._nodes[source]
        tables, widths = [], []
        for b in range(len(self.space.blocks)):
            table, width = self._step(b, low, node)
            tables.append(table)
            widths.append(width)
        label, codes, sizes = kernel.regroup(
            old.codes,
            old.counts,
            np.concatenate(tables),
            _ends([len(table) for table in tables]),
            np.array(widths),
            most,
        )
        return label, codes, sizes, widths

    def _count(self, node: Node, source: int, *, whole: bool = False) -> Answer:
        old = self._kept[source]
        most = self.space.table.records if whole else self.constraint.most_classes
        label, codes, sizes, widths = self._grouped(node, source, most)
        rest = old[2:]
        if not self.promise.kind.size:
            due = sizes * (sizes < self.promise.k)
        elif sizes.size:
            budget = self.space.table.records if whole else self.constraint.budget
            due, *spread = judge_spread(old, label, sizes, self.promise, self._distances, budget)
            rest = (spread[0], spread[1], spread[2])  # type: ignore[assignment]
        else:
            due = sizes
        return Answer(label, Classes(codes, sizes, *rest), due, _ends(widths))

    def _step(self, b: int, low: Node, high: Node) -> tuple[NDArray[np.uint32], int]:
        """Return what a block's codes become between two nodes, and how many there can be."""
        block = self.space.blocks[b]
        key = (b, low[block.start : block.stop], high[block.start : block.stop])
        found = self._steps.get(key)
        if found is None:
            width = math.prod(self.space.cards(block, high))
            found = self._steps[key] = (self.space.step(block, low, high), width)
        return found

    def _keep(self, node: Node, classes: Classes, *, floor: float) -> None:
        """Keep a node's classes where later nodes gain from them.

        A node hardly smaller than its source saves nothing: what is above it can be
        made from the source as well.
        """
        size = sum(part.nbytes for part in classes)
        if classes.counts.size > floor or size > self._memory // 4:
            return
        if self._held + size > self._memory:
            self._forget(size)
        place = len(self._kept)
        if place == len(self._sizes):
            self._levels = np.concatenate((self._levels, np.zeros_like(self._levels)))
            self._sizes = np.concatenate((self._sizes, np.zeros_like(self._sizes)))
        self._levels[place] = node
        self._sizes[place] = classes.counts.size
        self._kept.append(classes)
        self._nodes.append(node)
        self._held += size

    def _forget(self, needed: int) -> None:
        """Drop the oldest nodes; the table itself (place 0) stays."""
        drop = 1
        while drop < len(self._kept) and self._held + needed > self._memory:
            self._held -= sum(part.nbytes for part in self._kept[drop])
            drop += 1
        left = len(self._kept) - drop + 1
        self._levels[1:left] = self._levels[drop : drop + left - 1].copy()
        self._sizes[1:left] = self._sizes[drop : drop + left - 1].copy()
        del self._kept[1:drop], self._nodes[1:drop]

    def read(self, node: Node, answer: Answer) -> Tally:
        """Add up what a node's classes lose."""
        budget, classes, measure = self.constraint.budget, answer.classes, self._measure
        found = classes.counts.size
        if not found:  # grouping stopped: too many classes for this budget
            return Tally(node=node, suppressed=budget + 1, least=budget + 1)
        due = int(answer.due.sum())
        if measure is None or not measure.by_size:  # most nodes end here
            if due > budget:
                return Tally(node=node, suppressed=due, least=due, classes=found)
            if not due:
                return Tally(node=node, suppressed=0, least=0, classes=found, published=found)
        return self._summed(node, answer, budget)

    def _summed(self, node: Node, answer: Answer, budget: int) -> Tally:
        """Add up what the failing classes of a node lose, unless more than a budget are due."""
        classes, measure = answer.classes, self._measure
        blocks = range(len(self.space.blocks))
        cost = np.concatenate([self._cost(b, node) for b in blocks])
        tally, logs, failed, paid = kernel.sum_up(
            classes.codes, classes.counts, answer.due, answer.widths, cost, budget,
            measure is not None and measure.with_logs,
        )  # fmt: skip
        suppressed, least, published, squares, published_squares = tally.tolist()
        tallied = Tally(
            node=node,
            suppressed=suppressed,
            least=least,
            classes=classes.counts.size,
            published=published,
            squares=squares,
            published_squares=published_squares,
            logs=float(logs[0]),
            published_logs=float(logs[1]),
            paid=paid.reshape(2, -1)[:, self._payers],
        )
        if measure is not None and measure.by_code:
            ends = answer.widths.tolist()
            tallied.lost = self._by_code(node, [failed[:, a:b] for a, b in pairwise(ends)])
        return tallied

    def _cost(self, b: int, node: Node) -> NDArray[np.int64]:
        """Return int64[codes of the block, columns of the widest block]: what a record pays."""
        block = self.space.blocks[b]
        key = (b, node[block.start : block.stop])
        matrix = self._costs.get(key)
        if matrix is None:
            cards = self.space.cards(block, node)
            matrix = np.zeros((math.prod(cards), self._widest), dtype=np.int64)
            if self._measure is not None:
                costs = [self._measure.cost(j, node[j]) for j in block]
                for i, part in enumerate(np.meshgrid(*costs, indexing="ij")):
                    matrix[:, i] = part.ravel()
            self._costs[key] = matrix
        return matrix

    def _by_code(self, node: Node, parts: Sequence[NDArray[np.int64]]) -> list[NDArray[np.int64]]:
        """Return int64[2, codes] per column: failing records by what is released for them."""
        found = []
        for block, part in zip(self.space.blocks, parts, strict=True):
            grid = part.reshape(2, *self.space.cards(block, node))
            for axis in range(1, grid.ndim):
                others = tuple(i for i in range(1, grid.ndim) if i != axis)
                found.append(grid.sum(axis=others))
        return found
