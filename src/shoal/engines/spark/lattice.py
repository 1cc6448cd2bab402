"""A lattice search over a table on Spark: its questions are answered by jobs.

A node whose classes fit the driver is rolled up there and collected once; every coarser node is
then counted from it by the local kernels. A node with more classes than the promise allows is
answered by its number of classes alone, one with more rows than the driver takes is judged where
its classes are; if it is the best, only its classes are collected. So only the finest nodes cost a
job.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
import pyarrow as pa
from pyspark import Broadcast, StorageLevel
from pyspark.sql import DataFrame

from shoal.core.documents import Document
from shoal.core.errors import NoSolutionError
from shoal.engines.spark.arrange import PLACES
from shoal.engines.spark.chunks import (
    ROWS,
    ArrowMap,
    Codes,
    Ints,
    chunk_arrays,
    chunk_of,
    chunk_schema,
    roll_up,
    run_starts,
)
from shoal.engines.spark.coding import Packing
from shoal.engines.spark.distributed import (
    DistributedFrequencies,
    DistributedRecoding,
    column_histograms,
    sorted_table,
    table_of,
)
from shoal.engines.spark.lattice_tally import HoldingClasses, NodeJudge, first_codes
from shoal.kernels.lattice import classes as kernel
from shoal.kernels.lattice.classes import Classes
from shoal.methods.catalogue import Lattice
from shoal.methods.lattice.constraint import Constraint, constraint_of
from shoal.methods.lattice.evaluate import Answer, Evaluator
from shoal.methods.lattice.measures import Tally
from shoal.methods.lattice.result import boxes_at, recoding_at, repair
from shoal.methods.lattice.search import best_repaired, explore
from shoal.methods.lattice.space import Node, Space, space_of
from shoal.privacy import Promise
from shoal.table.frequency import sort_rows
from shoal.table.recoding import SUPPRESSED, Recoding

_SPARK_SIZE = 2**40  # the rows that the table on Spark is taken to have: any other source is nearer


def distributed_lattice(
    table: DistributedFrequencies,
    models: Sequence[Promise],
    *,
    method: Lattice,
    most: int,
    utility: str = "loss",
    suppression_limit: float = 0.0,
) -> DistributedRecoding:
    """Find the node that meets the promise with the least loss, as `methods.lattice.search`.

    Args:
        table: the frequency table on Spark.
        models: the promise.
        method: a lattice method.
        most: rows of a rolled-up table that the driver takes.
        utility: what to minimize.
        suppression_limit: share of the records that may be suppressed.

    Raises:
        NoSolutionError: no node keeps the promise within the limit.
    """
    # Without `whole`: what is suppressed is left out of what classes are compared with.
    space = space_of(replace(table.summary, whole=None))
    constraint = constraint_of(models, space.table, limit=suppression_limit)
    evaluator = DistributedEvaluator(space, constraint, table, most)
    found = explore(evaluator, method, utility=utility)
    winner, answer = best_repaired(found, evaluator.repaired)
    if winner is None or answer is None:
        raise NoSolutionError(
            problem="no node of the lattice keeps the promise within the limits; ask for less, "
            "or allow more suppression (--suppression-limit)"
        )
    return evaluator.result(winner.node, answer, facts=found.facts(winner))


class DistributedEvaluator(Evaluator):
    """Counts nodes of a table on Spark; see `Evaluator` for what it promises."""

    def __init__(
        self, space: Space, constraint: Constraint, table: DistributedFrequencies, most: int
    ) -> None:
        self.frequencies, self.most = table, most
        self.jobs = 0
        self._collected: dict[Node, int] = {}  # where collected nodes are kept
        self._left_on_spark: set[Node] = set()  # nodes that are judged there
        super().__init__(space, constraint, memory=2**40)
        self._sizes[0] = _SPARK_SIZE

    def _pack(self) -> Classes:
        """Count the values of each column; the finest classes stay where they are."""
        sizes = [len(domain) for domain in self.space.table.domains]
        self.tallied = list(
            column_histograms(self.frequencies.coded, self.frequencies.chunks, first=0, sizes=sizes)
        )
        self.finest = np.zeros(0, dtype=np.int64)
        nothing = np.zeros(0, dtype=np.int64)
        packed = np.zeros((len(self.space.blocks), 0), dtype=np.uint32)
        return Classes(packed, nothing, np.zeros(1, np.int64), np.zeros(0, np.uint32), nothing)

    def tallies(self, nodes: Sequence[Node]) -> list[Tally]:
        """Count several nodes; those that no known node is finer than cost a job each."""
        return [
            self._ask_spark(node) or super(DistributedEvaluator, self).tallies([node])[0]
            for node in nodes
        ]

    def release(self, node: Node) -> Answer:
        """Return the classes of a node, judged to the end."""
        return self._count(node, self._place(node), whole=True)

    def repaired(self, node: Node) -> tuple[Answer | NodeJudge, Tally]:
        """Return the classes of a node without those that suppression makes fail, and a tally.

        Of a node that stays on Spark: who judges its classes.
        """
        if node not in self._left_on_spark:
            answer = repair(self.release(node), self)
            return answer, self.read(node, answer)
        rolled, packing = self._rolled(node)
        rolled = rolled.persist(StorageLevel.MEMORY_AND_DISK)
        try:
            return self._judge(node, packing).repaired(self.frequencies.coded, rolled)
        finally:
            rolled.unpersist()

    def _judge(self, node: Node, packing: Packing) -> NodeJudge:
        """Return who judges a node where its classes are; a task compares them with the whole."""
        assert self._measure is not None
        space = replace(
            self.space, table=replace(self.space.table, whole=self.frequencies.summary.whole)
        )
        return NodeJudge(space, self.constraint, self._measure, node, packing)

    def _source(self, node: Node) -> int:
        asked = np.array(node, dtype=np.int64)
        return int(kernel.nearest(self._levels, self._sizes, len(self._kept), asked))

    def _place(self, node: Node) -> int:
        """Return where a node that came from Spark is kept; collect it if need be.

        Its classes stand in the order of their codes there, and `result` relies on that.
        """
        if node not in self._collected:
            self._keep_rolled(node, self._collect(*self._rolled(node)))
        return self._collected[node]

    def _ask_spark(self, node: Node) -> Tally | None:
        """Collect a node where no finer one is here; return a tally if it stays on Spark."""
        if self._source(node) != 0:
            return None
        self.jobs += 1
        rolled, packing = self._rolled(node)
        rolled = rolled.persist()
        try:
            totals = self.frequencies.coded.count_totals(rolled)
            if (
                totals.tuples > self.constraint.most_classes
            ):  # so many that too many of them must fail
                spent = self.constraint.budget + 1
                return Tally(node=node, suppressed=spent, least=spent)
            if totals.rows > self.most:
                self._left_on_spark.add(node)
                return self._judge(node, packing).tally(self.frequencies.coded, rolled)
            self._keep_rolled(node, self._collect(rolled, packing))
        finally:
            rolled.unpersist()
        return None

    def _tables(self, node: Node) -> list[Codes]:
        """Return what the codes of each column become at a node."""
        pairs = zip(self.space.ladders, node, strict=True)
        return [ladder.codes[level].astype(np.int32) for ladder, level in pairs]

    def _rolled(self, node: Node) -> tuple[DataFrame, Packing]:
        """Return the frequency table rolled up to a node, and how its codes became keys."""
        pairs = zip(self.space.ladders, node, strict=True)
        sizes = [len(ladder.nodes[level]) for ladder, level in pairs]
        return roll_up(
            self.frequencies.chunks, self.frequencies.coded.packing, self._tables(node), sizes
        )

    def _collect(self, rolled: DataFrame, packing: Packing) -> RolledUp:
        *keys, counts = self.frequencies.coded.collect_columns(rolled, [*packing.names, ROWS])
        return RolledUp.of(packing.unpack(keys), counts, packing.sizes, len(self.space.ladders))

    def _keep_rolled(self, node: Node, found: RolledUp) -> None:
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
            first = np.append(found.starts, len(found.label)) * used.size
        classes = Classes(packed, counts, first, value, amount)
        self._keep(node, classes, floor=float(_SPARK_SIZE))
        self._collected[node] = len(self._kept) - 1

    def result(
        self, node: Node, answer: Answer | NodeJudge, *, facts: Document
    ) -> DistributedRecoding:
        """Return the release of a node; its table's rows are classes."""
        coded = self.frequencies.coded
        if isinstance(answer, NodeJudge):
            return self._without_sensitive(
                node, answer.holding(coded, self._rolled(node)[0]), facts
            )
        width = len(self.space.ladders)
        found = self._collect(*self._rolled(node))
        codes = found.codes.copy()
        for j, ladder in enumerate(self.space.ladders):
            first = first_codes(ladder.codes[node[j]], len(ladder.nodes[node[j]]))
            codes[:, j] = first[found.codes[:, j]]
        classes, order = sorted_table(
            self.space.table.domains, coded.sensitive_domains, codes, found.counts
        )
        recoding = recoding_at(
            replace(self.space, table=classes), node, answer, found.label[order], facts=facts
        )
        label = np.empty(len(found.label), dtype=np.int64)
        label[order] = recoding.label
        levels = found.codes[found.starts, :width]
        return DistributedRecoding(recoding, self._assigner(node, levels, label[found.starts]))

    def _without_sensitive(
        self, node: Node, holding: HoldingClasses, facts: Document
    ) -> DistributedRecoding:
        """Return the release of a node that stays on Spark; the driver knows its classes alone."""
        boxes, order = boxes_at(self.space, node, holding.codes.astype(np.int64))
        sizes, classes = holding.sizes[order], np.arange(len(order))
        lost = self.constraint.records - int(sizes.sum())
        gone = np.zeros((1 if lost else 0, len(self.space.ladders)), dtype=np.int32)
        counts = np.concatenate((np.full(len(gone), lost), sizes))
        rows = table_of(self.space.table.domains, (), np.concatenate((gone, boxes.low)), counts)
        recoding = Recoding(
            table=rows, low=boxes.low, high=boxes.high, row=np.arange(len(counts)),
            label=np.concatenate((np.full(len(gone), SUPPRESSED), classes)), count=counts,
            node=boxes.node, facts=facts,
        )  # fmt: skip
        levels = holding.codes[order]
        lacks_sensitive = bool(self.space.table.sensitive_domains)
        return DistributedRecoding(
            recoding, self._assigner(node, levels, classes), lacks_sensitive=lacks_sensitive
        )

    def _assigner(self, node: Node, levels: Codes, label: Ints) -> Callable[[Ints], DataFrame]:
        """Return what gives keys the places of their classes.

        Args:
            node: whose classes they are.
            levels: int32[classes, columns], the codes of classes at the node; what is in none
                of them is suppressed.
            label: the number of each class.
        """
        coded, tables = self.frequencies.coded, self._tables(node)
        packing = Packing(
            tuple(len(la.nodes[level]) for la, level in zip(self.space.ladders, node, strict=True))
        )
        classes = packing.named(packing.pack(levels))

        def assign(places: Ints) -> DataFrame:
            known = pl.DataFrame({**classes, PLACES: places[label]})
            sent = coded.source.session.sparkContext.broadcast((known, int(places[SUPPRESSED])))
            work = _class_finder(coded.packing, packing, tables, sent)
            names = coded.packing.names
            chunks = self.frequencies.chunks.select(*names, ROWS)
            return chunks.mapInArrow(work, chunk_schema([*names, PLACES, ROWS]))

        return assign


def _class_finder(
    packing: Packing,
    coarse: Packing,
    tables: Sequence[Codes],
    known: Broadcast[tuple[pl.DataFrame, int]],
) -> ArrowMap:
    """Return the function that finds the places of keys at a node.

    Args:
        packing: of the keys.
        coarse: the node's packing.
        tables: what the codes of each column become at the node.
        known: the classes of the node with their places, and the place of suppressed records.
    """

    def find(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        classes, suppressed = known.value
        for batch in batches:
            for *keys, counts in chunk_arrays(batch, [*packing.names, ROWS]):
                codes = packing.unpack(keys)
                levels = [table[codes[:, j]] for j, table in enumerate(tables)]
                asked = coarse.named(coarse.pack(np.stack(levels, axis=1)))
                found = pl.DataFrame(asked).join(
                    classes, on=coarse.names, how="left", maintain_order="left"
                )
                places = found[PLACES].fill_null(suppressed).to_numpy()
                yield chunk_of({**packing.named(keys), PLACES: places, ROWS: counts})

    return find


@dataclass(frozen=True)
class RolledUp:
    """A table rolled up to a node: rows in order, the class of each, and where classes begin."""

    codes: Codes
    counts: Ints
    label: Ints
    starts: Ints

    @classmethod
    def of(cls, codes: Codes, counts: Ints, sizes: Sequence[int], width: int) -> RolledUp:
        """Put rows in order; the first `width` columns make a class."""
        order = sort_rows(codes, list(sizes))
        codes = codes[order]
        starts = run_starts(list(codes[:, :width].T))
        label = np.repeat(np.arange(len(starts)), np.diff(starts, append=len(codes)))
        return cls(codes, counts[order], label, starts)
