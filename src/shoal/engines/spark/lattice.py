"""A lattice search over a table on Spark: its questions are answered by jobs.

A node whose classes fit the driver is rolled up there and brought here once; every coarser
node is then counted from it by the local kernels. A node with more classes than the promise
allows is answered by its number of classes alone, one with more rows than the driver takes is
judged where its classes are; if it is the best, only its classes come here. So only the finest
nodes cost a job.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from pyspark import StorageLevel
from pyspark.sql import DataFrame

from shoal.core.errors import NoSolutionError
from shoal.engines.spark.arrange import PLACES
from shoal.engines.spark.coding import Packing
from shoal.engines.spark.far import Far, FarTable, by_column
from shoal.engines.spark.lattice_tally import Held, Teller, first_codes
from shoal.engines.spark.piles import ROWS, Work, arrays, pile, roll_up
from shoal.kernels import lattice as kernel
from shoal.kernels.lattice import Classes
from shoal.methods.frequency import FrequencyTable, sort_rows
from shoal.methods.lattice import walks
from shoal.methods.lattice.best_first import best_first
from shoal.methods.lattice.board import DENSE, Board, Findings, Search
from shoal.methods.lattice.evaluate import Answer, Evaluator
from shoal.methods.lattice.explain import facts_of
from shoal.methods.lattice.measures import Tally, measure_of
from shoal.methods.lattice.pledge import Pledge, pledge_of
from shoal.methods.lattice.result import boxes_at, recoding_at, settle
from shoal.methods.lattice.search import _DENSE_SEARCHES, Exploration, _stopper, best_settled
from shoal.methods.lattice.space import Node, Space, space_of
from shoal.methods.recoding import SUPPRESSED, Recoding
from shoal.privacy import Promise, expand

_FAR = 2**40  # the size that the table on Spark is taken to have: any other source is nearer


def far_lattice(
    table: FarTable,
    models: Sequence[Promise],
    *,
    method: str,
    most: int,
    utility: str | None = None,
    aggregate: Any = "geometric",
    suppression_limit: float = 0.0,
    seconds: float | None = None,
) -> Far:
    """Find the node that meets the promise with the least loss, as `methods.lattice.search`.

    Args:
        table: the frequency table on Spark.
        models: the promise.
        method: a lattice method.
        most: rows of a rolled-up table that the driver takes.
        utility: what to minimize.
        aggregate: how `loss` joins the columns.
        suppression_limit: share of the records that may be suppressed.
        seconds: stop after this time.

    Raises:
        NoSolutionError: no node keeps the promise within the limit.
    """
    # Without `whole`: what is suppressed is left out of what classes are compared with.
    space = space_of(replace(table.hollow, whole=None))
    names = [domain.name for domain in space.table.sensitive_domains]
    pledge = pledge_of(
        tuple(expand(models, names)), records=space.table.records, limit=suppression_limit
    )
    evaluator = FarEvaluator(space, pledge, table, most)
    measure = measure_of(
        utility or "loss", space, evaluator.tallied, aggregate=aggregate, k=pledge.k
    )
    evaluator.use(measure)
    findings: Findings
    again: Callable[[], Search]
    if method in _DENSE_SEARCHES and space.lattice.size <= DENSE:
        findings = board = Board(space.lattice, measure, budget=pledge.budget)
        again = partial(_DENSE_SEARCHES[method], board)
    else:
        findings = Findings(space.lattice, measure, pledge.budget)
        again = partial(best_first, findings)
        if method == "datafly":
            distinct = [[len(nodes) for nodes in ladder.nodes] for ladder in space.ladders]
            again = partial(walks.datafly, findings, distinct)
        else:
            method = "best-first"
    stopped = _stopper(evaluator, findings, seconds=seconds)
    found = Exploration(findings, evaluator, method, stopped, again)
    found.run()
    winner, answer = best_settled(found, evaluator.settled)
    if winner is None or answer is None:
        raise NoSolutionError(
            problem="no node of the lattice keeps the promise within the limits; ask for less, "
            "or allow more suppression (--suppression-limit)"
        )
    late = winner.suppressed - findings.counted[winner.node]
    facts = facts_of(space, findings, winner, method=method, late=late)
    return evaluator.result(winner.node, answer, facts=facts)


class FarEvaluator(Evaluator):
    """Counts nodes of a table on Spark; see `Evaluator` for what it promises."""

    def __init__(self, space: Space, pledge: Pledge, table: FarTable, most: int) -> None:
        self.far, self.most = table, most
        self.jobs = 0
        self._brought: dict[Node, int] = {}  # where nodes that came from Spark are kept
        self._large: set[Node] = set()  # nodes that stayed there
        super().__init__(space, pledge, memory=2**40)
        self._sizes[0] = _FAR

    def _pack(self) -> Classes:
        """Count the values of each column; the finest classes stay where they are."""
        sizes = [len(domain) for domain in self.space.table.domains]
        self.tallied = list(by_column(self.far.coded, self.far.piles, first=0, sizes=sizes))
        self.home = np.zeros(0, dtype=np.int64)
        nothing = np.zeros(0, dtype=np.int64)
        packed = np.zeros((len(self.space.blocks), 0), dtype=np.uint32)
        return Classes(packed, nothing, np.zeros(1, np.int64), np.zeros(0, np.uint32), nothing)

    def tallies(self, nodes: Sequence[Node]) -> list[Tally]:
        """Count several nodes; those that no known node is finer than cost a job each."""
        return [self._there(node) or super(FarEvaluator, self).tallies([node])[0] for node in nodes]

    def release(self, node: Node) -> Answer:
        """Return the classes of a node, judged to the end."""
        return self._count(node, self._place(node), whole=True)

    def settled(self, node: Node) -> tuple[Answer | Teller, Tally]:
        """Return the classes of a node without those that suppression makes fail, and a tally.

        Of a node that stays on Spark: who tells its classes.
        """
        if node not in self._large:
            answer = settle(self.release(node), self)
            return answer, self.read(node, answer)
        rolled, packing = self._rolled(node)
        rolled = rolled.persist(StorageLevel.MEMORY_AND_DISK)
        try:
            return self._teller(node, packing).settled(self.far.coded, rolled)
        finally:
            rolled.unpersist()

    def _teller(self, node: Node, packing: Packing) -> Teller:
        """Return who judges a node where its classes are; a task compares them with the whole."""
        assert self._measure is not None
        space = replace(self.space, table=replace(self.space.table, whole=self.far.hollow.whole))
        return Teller(space, self.pledge, self._measure, node, packing)

    def _source(self, node: Node) -> int:
        asked = np.array(node, dtype=np.int64)
        return int(kernel.nearest(self._levels, self._sizes, len(self._kept), asked))

    def _place(self, node: Node) -> int:
        """Return where a node that came from Spark is kept; bring it if need be.

        Its classes stand in the order of their codes there, and `result` relies on that.
        """
        if node not in self._brought:
            self._hold(node, self._bring(*self._rolled(node)))
        return self._brought[node]

    def _there(self, node: Node) -> Tally | None:
        """Bring a node here where no finer one is; a tally if it stays there."""
        if self._source(node) != 0:
            return None
        self.jobs += 1
        rolled, packing = self._rolled(node)
        rolled = rolled.persist()
        try:
            sums = self.far.coded.sums(rolled)
            if sums.tuples > self.pledge.most:  # so many that too many of them must fail
                spent = self.pledge.budget + 1
                return Tally(node=node, suppressed=spent, least=spent)
            if sums.rows > self.most:
                self._large.add(node)
                return self._teller(node, packing).run(self.far.coded, rolled)
            self._hold(node, self._bring(rolled, packing))
        finally:
            rolled.unpersist()
        return None

    def _tables(self, node: Node) -> list[NDArray[np.int32]]:
        """Return what the codes of each column become at a node."""
        pairs = zip(self.space.ladders, node, strict=True)
        return [ladder.codes[level].astype(np.int32) for ladder, level in pairs]

    def _rolled(self, node: Node) -> tuple[DataFrame, Packing]:
        """Return the frequency table rolled up to a node, and how its codes became keys."""
        pairs = zip(self.space.ladders, node, strict=True)
        sizes = [len(ladder.nodes[level]) for ladder, level in pairs]
        return roll_up(self.far.piles, self.far.coded.packing, self._tables(node), sizes)

    def _bring(self, rolled: DataFrame, packing: Packing) -> Rolled:
        *keys, counts = self.far.coded.bring(rolled, [*packing.names, ROWS])
        return Rolled.of(packing.unpack(keys), counts, packing.sizes, len(self.space.ladders))

    def _hold(self, node: Node, found: Rolled) -> None:
        """Keep the classes of a node that was rolled up on Spark."""
        packed = np.zeros((len(self.space.blocks), len(found.starts)), dtype=np.uint32)
        for b, block in enumerate(self.space.blocks):
            for j, card in zip(block, self.space.cards(block, node), strict=True):
                packed[b] *= np.uint32(card)
                packed[b] += found.codes[found.starts, j].astype(np.uint32)
        counts = np.add.reduceat(found.counts, found.starts)
        used = np.unique(self.promise.column)
        first, value = np.zeros(1, dtype=np.int64), np.zeros(0, dtype=np.uint32)
        amount = np.zeros(0, dtype=np.int64)
        if used.size:
            spread = found.codes[:, len(self.space.ladders) :][:, used]
            value = (spread + self.promise.start[used]).astype(np.uint32).ravel()
            amount = np.repeat(found.counts, used.size)
            first = np.append(found.starts, len(found.home)) * used.size
        classes = Classes(packed, counts, first, value, amount)
        self._keep(node, classes, floor=float(_FAR))
        self._brought[node] = len(self._kept) - 1

    def result(self, node: Node, answer: Answer | Teller, *, facts: dict[str, Any]) -> Far:
        """Return the release of a node; its table's rows are classes."""
        coded = self.far.coded
        if isinstance(answer, Teller):
            return self._bare(node, answer.held(coded, self._rolled(node)[0]), facts)
        width = len(self.space.ladders)
        found = self._bring(*self._rolled(node))
        codes = np.empty((len(found.home), width), dtype=np.int32)
        for j, ladder in enumerate(self.space.ladders):
            first = first_codes(ladder.codes[node[j]], len(ladder.nodes[node[j]]))
            codes[:, j] = first[found.codes[:, j]]
        sensitive = found.codes[:, width:]
        domains = self.space.table.domains
        sizes = [len(domain) for domain in (*domains, *coded.sensitive_domains)]
        order = sort_rows(np.concatenate((codes, sensitive), axis=1), sizes)
        stand_in = FrequencyTable(
            domains=domains,
            codes=np.ascontiguousarray(codes[order]),
            counts=found.counts[order],
            sensitive_domains=coded.sensitive_domains,
            sensitive=np.ascontiguousarray(sensitive[order]),
        )
        recoding = recoding_at(
            replace(self.space, table=stand_in), node, answer, home=found.home[order], facts=facts
        )
        label = np.empty(len(found.home), dtype=np.int64)
        label[order] = recoding.label
        levels = found.codes[found.starts, :width]
        return Far(recoding, self._assigner(node, levels, label[found.starts]))

    def _bare(self, node: Node, held: Held, facts: dict[str, Any]) -> Far:
        """Return the release of a node that stays on Spark; the driver knows its classes alone."""
        boxes, order = boxes_at(self.space, node, held.codes.astype(np.int64))
        sizes, classes = held.sizes[order], np.arange(len(order))
        lost = self.pledge.records - int(sizes.sum())
        gone = np.zeros((1 if lost else 0, len(self.space.ladders)), dtype=np.int32)
        counts = np.concatenate((np.full(len(gone), lost), sizes))
        rows = FrequencyTable(
            domains=self.space.table.domains,
            codes=np.concatenate((gone, boxes.low)),
            counts=counts,
            sensitive_domains=(),
            sensitive=np.zeros((len(counts), 0), dtype=np.int32),
        )
        recoding = Recoding(
            table=rows, low=boxes.low, high=boxes.high, row=np.arange(len(counts)),
            label=np.concatenate((np.full(len(gone), SUPPRESSED), classes)), count=counts,
            node=boxes.node, facts=facts,
        )  # fmt: skip
        levels = held.codes[order]
        is_bare = bool(self.space.table.sensitive_domains)
        return Far(recoding, self._assigner(node, levels, classes), is_bare=is_bare)

    def _assigner(
        self, node: Node, levels: NDArray[np.int32], label: NDArray[np.int64]
    ) -> Callable[[NDArray[np.int64]], DataFrame]:
        """Return what gives keys the places of their classes.

        Args:
            node: whose classes they are.
            levels: int32[classes, columns], the codes of classes at the node; what is in none
                of them is suppressed.
            label: the number of each class.
        """
        coded, tables = self.far.coded, self._tables(node)
        packing = Packing(
            tuple(len(la.nodes[level]) for la, level in zip(self.space.ladders, node, strict=True))
        )
        homes = dict(zip(packing.names, packing.pack(levels), strict=True))

        def assign(places: NDArray[np.int64]) -> DataFrame:
            known = pl.DataFrame({**homes, PLACES: places[label]})
            sent = coded.source.session.sparkContext.broadcast((known, int(places[SUPPRESSED])))
            work = _placer(coded.packing, packing, tables, sent)
            keys = coded.packing.names
            kinds = ", ".join(f"{name} binary" for name in (*keys, PLACES, ROWS))
            return self.far.piles.select(*keys, ROWS).mapInArrow(work, kinds)

        return assign


def _placer(
    packing: Packing, goal: Packing, tables: Sequence[NDArray[np.int32]], known: Any
) -> Work:
    """Return the function that finds the classes of keys at a node; goal: the node's packing."""

    def work(batches: Iterator[Any]) -> Iterator[Any]:
        homes, lost = known.value
        for batch in batches:
            for *keys, counts in arrays(batch, [*packing.names, ROWS]):
                codes = packing.unpack(keys)
                levels = [table[codes[:, j]] for j, table in enumerate(tables)]
                asked = goal.pack(np.stack(levels, axis=1))
                found = pl.DataFrame(dict(zip(goal.names, asked, strict=True))).join(
                    homes, on=goal.names, how="left", maintain_order="left"
                )
                own = dict(zip(packing.names, keys, strict=True))
                places = found[PLACES].fill_null(lost).to_numpy()
                yield pile({**own, PLACES: places, ROWS: counts})

    return work


@dataclass(frozen=True)
class Rolled:
    """A table rolled up to a node: rows in order, the class of each, and where classes begin."""

    codes: NDArray[np.int32]
    counts: NDArray[np.int64]
    home: NDArray[np.int64]
    starts: NDArray[np.int64]

    @classmethod
    def of(
        cls, codes: NDArray[np.int32], counts: NDArray[np.int64], sizes: Sequence[int], width: int
    ) -> Rolled:
        """Put rows in order; the first `width` columns make a class."""
        order = sort_rows(codes, list(sizes))
        codes = codes[order]
        fresh = np.ones(len(codes), dtype=np.bool_)
        fresh[1:] = (codes[1:, :width] != codes[:-1, :width]).any(axis=1)
        return cls(codes, counts[order], np.cumsum(fresh) - 1, np.flatnonzero(fresh))
