"""A lattice search over a table on Spark: its questions are answered by jobs.

A node whose classes fit the driver is rolled up there and brought here once; every coarser
node is then counted from it by the local kernels. A node with more classes than the promise
allows is answered by its number of classes alone. So only the finest nodes cost a job.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from shoal.core.errors import MethodError, NoSolutionError
from shoal.core.privacy import PrivacyModel, expand
from shoal.engines.spark.coding import small
from shoal.engines.spark.far import Far, FarTable, codes_of
from shoal.engines.spark.frequencies import ROWS
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
from shoal.methods.lattice.result import recoding_at
from shoal.methods.lattice.search import _DENSE_SEARCHES, Exploration, _settled, _stopper
from shoal.methods.lattice.space import Node, Space, space_of

_FAR = 2**40  # the size that the table on Spark is taken to have: any other source is nearer


def far_lattice(
    table: FarTable,
    models: Sequence[PrivacyModel],
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
        MethodError: a node that keeps it may have more classes than the driver takes.
    """
    space = space_of(table.hollow)
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
    winner, answer = _settled(found)
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
        super().__init__(space, pledge, memory=2**40)
        self._sizes[0] = _FAR

    def _pack(self) -> Classes:
        """Count the values of each column; the finest classes stay where they are."""
        self.tallied = []
        codes = codes_of(self.far.coded.packing)
        for j, domain in enumerate(self.space.table.domains):
            summed = self.far.counts.groupBy(codes[j].alias("code")).agg(F.sum(ROWS).alias(ROWS))
            found = self.far.coded.source.polars(summed)
            totals = np.zeros(len(domain), dtype=np.int64)
            totals[found["code"].to_numpy()] = found[ROWS].to_numpy()
            self.tallied.append(totals)
        self.home = np.zeros(0, dtype=np.int64)
        nothing = np.zeros(0, dtype=np.int64)
        packed = np.zeros((len(self.space.blocks), 0), dtype=np.uint32)
        return Classes(packed, nothing, np.zeros(1, np.int64), np.zeros(0, np.uint32), nothing)

    def tallies(self, nodes: Sequence[Node]) -> list[Tally]:
        """Count several nodes; those that no known node is finer than cost a job each."""
        return [
            self._too_many(node) or super(FarEvaluator, self).tallies([node])[0] for node in nodes
        ]

    def release(self, node: Node) -> Answer:
        """Return the classes of a node, judged to the end."""
        return self._count(node, self._place(node), whole=True)

    def _source(self, node: Node) -> int:
        asked = np.array(node, dtype=np.int64)
        return int(kernel.nearest(self._levels, self._sizes, len(self._kept), asked))

    def _place(self, node: Node) -> int:
        """Return where a node that came from Spark is kept; bring it if need be.

        Its classes stand in the order of their codes there, and `result` relies on that.
        """
        if node not in self._brought:
            self._hold(node, self.far.coded.source.polars(self.rolled(node)))
        return self._brought[node]

    def _too_many(self, node: Node) -> Tally | None:
        """Bring a node here where no finer one is; a tally if it has too many classes."""
        if self._source(node) != 0:
            return None
        self.jobs += 1
        rolled = self.rolled(node).persist()
        try:
            levels = [f"n{j}" for j in range(len(self.space.ladders))]
            source = self.far.coded.source
            rows = int(source.polars(rolled.agg(F.count(F.lit(1)).alias("n")))["n"][0])
            classes = rows
            if self.space.table.sensitive_domains:
                apart = rolled.select(*levels).distinct().agg(F.count(F.lit(1)).alias("n"))
                classes = int(source.polars(apart)["n"][0])
            if classes > self.pledge.most:
                spent = self.pledge.budget + 1
                return Tally(node=node, suppressed=spent, least=spent)
            if rows > self.most:
                raise MethodError(
                    problem=(
                        f"a node of the lattice has {rows:,} rows, more than the driver takes "
                        f"({self.most:,}): allow more with --driver-rows"
                    )
                )
            self._hold(node, source.polars(rolled))
        finally:
            rolled.unpersist()
        return None

    def rolled(self, node: Node) -> DataFrame:
        """Return the frequency table rolled up to a node: n0, n1, …, s0, s1, … and rows."""
        return self.levelled(node).groupBy(*self._names()).agg(F.sum(ROWS).alias(ROWS))

    def _names(self) -> list[str]:
        spread = len(self.space.table.sensitive_domains)
        return [f"n{j}" for j in range(len(self.space.ladders))] + [f"s{s}" for s in range(spread)]

    def levelled(self, node: Node) -> DataFrame:
        """Return the frequency table with the code of each column at a node."""
        coded = self.far.coded
        codes = codes_of(coded.packing)
        width = len(self.space.ladders)
        values = [c.alias(f"s{s}") for s, c in enumerate(codes[width:])]
        plain = [codes[j].alias(f"c{j}") for j in range(width)]
        frame = self.far.counts.select("*", *plain, *values)
        for j, ladder in enumerate(self.space.ladders):
            there = ladder.codes[node[j]]
            if len(ladder.nodes[node[j]]) == 1:
                frame = frame.withColumn(f"n{j}", F.lit(0))
                continue
            known = pl.DataFrame({f"c{j}": np.arange(len(there), dtype=np.int32), f"n{j}": there})
            frame = frame.join(small(coded.source, known), f"c{j}", "inner")
        return frame.select(*coded.packing.names, *self._names(), ROWS)

    def _hold(self, node: Node, found: pl.DataFrame) -> None:
        """Keep the classes of a node that was rolled up on Spark."""
        ordered, home, starts = _sorted(found, len(self.space.ladders), self._names())
        packed = np.zeros((len(self.space.blocks), len(starts)), dtype=np.uint32)
        for b, block in enumerate(self.space.blocks):
            for j, card in zip(block, self.space.cards(block, node), strict=True):
                packed[b] *= np.uint32(card)
                packed[b] += ordered[f"n{j}"].to_numpy()[starts].astype(np.uint32)
        amounts = ordered[ROWS].to_numpy().astype(np.int64)
        counts = np.add.reduceat(amounts, starts)
        used = np.unique(self.promise.column)
        first, value = np.zeros(1, dtype=np.int64), np.zeros(0, dtype=np.uint32)
        amount = np.zeros(0, dtype=np.int64)
        if used.size:
            spread = np.stack([ordered[f"s{s}"].to_numpy() for s in used], axis=1)
            value = (spread + self.promise.start[used]).astype(np.uint32).ravel()
            amount = np.repeat(amounts, used.size)
            first = np.append(starts, len(home)) * used.size
        classes = Classes(packed, counts, first, value, amount)
        self._keep(node, classes, floor=float(_FAR))
        self._brought[node] = len(self._kept) - 1

    def result(self, node: Node, answer: Answer, *, facts: dict[str, Any]) -> Far:
        """Return the release of a node; its table's rows are classes."""
        coded = self.far.coded
        width = len(self.space.ladders)
        found = coded.source.polars(self.rolled(node))
        ordered, home, _ = _sorted(found, width, self._names())
        codes = np.empty((len(home), width), dtype=np.int32)
        for j, ladder in enumerate(self.space.ladders):
            there = ladder.codes[node[j]]
            first = np.zeros(len(ladder.nodes[node[j]]), dtype=np.int32)
            first[there[::-1]] = np.arange(len(there), dtype=np.int32)[::-1]
            codes[:, j] = first[ordered[f"n{j}"].to_numpy()]
        names = [f"s{s}" for s in range(len(coded.sensitive_domains))]
        sensitive = ordered.select(names).to_numpy().astype(np.int32).reshape(len(home), -1)
        domains = self.space.table.domains
        sizes = [len(domain) for domain in (*domains, *coded.sensitive_domains)]
        order = sort_rows(np.concatenate((codes, sensitive), axis=1), sizes)
        stand_in = FrequencyTable(
            domains=domains,
            codes=np.ascontiguousarray(codes[order]),
            counts=ordered[ROWS].to_numpy().astype(np.int64)[order],
            sensitive_domains=coded.sensitive_domains,
            sensitive=np.ascontiguousarray(sensitive[order]),
        )
        recoding = recoding_at(
            replace(self.space, table=stand_in), node, answer, home=home[order], facts=facts
        )
        levels = [f"n{j}" for j in range(width)]
        label = np.empty(len(home), dtype=np.int32)
        label[order] = recoding.label
        known = ordered.select(levels).with_columns(pl.Series("class", label)).unique(levels)
        placed = self.levelled(node).join(small(coded.source, known), levels, "inner")
        return Far(recoding, placed.select(*coded.packing.names, "class"))


def _sorted(
    found: pl.DataFrame, width: int, names: Sequence[str]
) -> tuple[pl.DataFrame, NDArray[np.int64], NDArray[np.int64]]:
    """Return rows in order, the number of the class of each, and where each class begins."""
    ordered = found.sort(names)
    levels = ordered.select(names[:width]).to_numpy()
    fresh = np.ones(len(levels), dtype=np.bool_)
    fresh[1:] = (levels[1:] != levels[:-1]).any(axis=1)
    return ordered, np.cumsum(fresh) - 1, np.flatnonzero(fresh)
