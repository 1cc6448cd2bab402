"""Mondrian over a table on Spark: the first cuts by jobs, the rest of each block in one task.

Two jobs a round measure all blocks and count the codes of the column that is cut, so widths
and medians are exact, and the cuts are those that the local engine would make.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from shoal.core.privacy import PrivacyModel
from shoal.engines.spark.coding import small
from shoal.engines.spark.far import Far, FarTable, codes_of, far_recoding
from shoal.engines.spark.frequencies import ROWS
from shoal.engines.spark.parts import Task
from shoal.methods.domain import Domain
from shoal.methods.frequency import FrequencyTable
from shoal.methods.judging import failing_classes, one_class
from shoal.methods.mondrian.search import mondrian

TASK_ROWS = 500_000  # distinct tuples that one task cuts by itself


class Cut(NamedTuple):
    """A block's cut: codes of a column below `cut` go left."""

    column: int
    cut: int


@dataclass(frozen=True)
class Block:
    """What is counted of a block: records, rows, and the codes that each column spans."""

    records: int
    rows: int
    low: tuple[int, ...]
    high: tuple[int, ...]

    def columns(self, domains: Sequence[Domain]) -> list[int]:
        """Return the columns that can be cut, the widest first; of equals the first."""
        widths = [
            domain.cost(low, high) * domain.weight
            for domain, low, high in zip(domains, self.low, self.high, strict=True)
        ]
        wide = [j for j, width in enumerate(widths) if width > 0]
        return sorted(wide, key=lambda j: (-widths[j], j))


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


def far_mondrian(
    table: FarTable, models: Sequence[PrivacyModel], *, task_rows: int | None = None
) -> Far:
    """Run strict Mondrian over a table on Spark.

    Guarantee:
        The classes are those of `methods.mondrian` on the same table.
    """
    search = _Search(table, tuple(models), TASK_ROWS if task_rows is None else task_rows)
    frame = search.blocks()
    width, spread = len(table.coded.domains), len(table.coded.sensitive_domains)
    names = table.coded.packing.names
    kinds = ", ".join(f"{name} long" for name in names)
    task = Task(
        domains=table.coded.domains, sensitive_domains=table.coded.sensitive_domains,
        whole=table.hollow.whole or (), models=tuple(models), method="mondrian", release=None,
        options={},
    )  # fmt: skip
    cut = frame.groupBy("block").applyInArrow(
        _cutter(task, names), f"{kinds}, block int, label int, n long"
    )
    cut = cut.persist()
    codes = codes_of(table.coded.packing)
    asked = [F.min(codes[j]).alias(f"low{j}") for j in range(width)]
    asked += [F.max(codes[j]).alias(f"high{j}") for j in range(width)]
    values = [codes[width + s].alias(f"s{s}") for s in range(spread)]
    grouped = cut.groupBy("block", "label", *values).agg(*asked, F.sum("n").alias(ROWS))
    found = table.coded.source.polars(grouped)
    made = far_recoding(table, found, home=["block", "label"], assigned=cut.drop("n"))
    return replace(made, kept=(cut,))


def _cutter(task: Task, names: Sequence[str]) -> Callable[[Any], Any]:
    """Return the function that cuts one block to its end."""

    def cut(group: Any) -> Any:
        import pyarrow as pa

        width = len(task.domains) + len(task.sensitive_domains)
        codes = np.empty((group.num_rows, width), dtype=np.int32)
        for j in range(width):
            codes[:, j] = group.column(f"c{j}").to_numpy()
        counts = np.ascontiguousarray(group.column("n").to_numpy(), dtype=np.int64)
        found = mondrian(task.table(codes, counts), task.models)
        labels = np.empty(len(counts), dtype=np.int32)
        labels[found.row] = found.label
        columns = {name: group.column(name) for name in names}
        return pa.table(
            {**columns, "block": group.column("block"), "label": pa.array(labels),
             "n": group.column("n")}
        )  # fmt: skip

    return cut


class _Search:
    """The first cuts: blocks are cut by jobs until each fits one task."""

    def __init__(self, table: FarTable, models: tuple[PrivacyModel, ...], task_rows: int) -> None:
        self.table, self.models, self.task_rows = table, models, task_rows
        self.domains = table.coded.domains
        self.width, self.spread = len(self.domains), len(table.coded.sensitive_domains)
        self.k = max((getattr(model, "k", 1) for model in models), default=1)
        codes = [c.alias(f"c{j}") for j, c in enumerate(codes_of(table.coded.packing))]
        self.frame = table.counts.select(
            *table.coded.packing.names, *codes, F.col(ROWS).alias("n"),
            F.lit(0).cast("int").alias("block"),
        )  # fmt: skip

    def blocks(self) -> DataFrame:
        """Return the table with the block of every row."""
        waiting, fresh = [0], 1
        while waiting:
            counted = self._count(waiting)
            large = {b: block for b, block in counted.items() if block.rows > self.task_rows}
            chosen = self._choose(large)
            moves = []
            for number, cut in sorted(chosen.items()):
                moves.append((number, cut.column, cut.cut, fresh, fresh + 1))
                fresh += 2
            if moves:
                self._move(moves)
            waiting = [side for move in moves for side in move[3:]]
        return self.frame

    def _count(self, waiting: Sequence[int]) -> dict[int, Block]:
        """Measure every waiting block: one job."""
        asked = [F.sum("n").alias("n"), F.count(F.lit(1)).alias("rows")]
        asked += [F.min(f"c{j}").alias(f"low{j}") for j in range(self.width)]
        asked += [F.max(f"c{j}").alias(f"high{j}") for j in range(self.width)]
        here = self.frame.where(F.col("block").isin(list(waiting)))
        found = self.table.coded.source.polars(here.groupBy("block").agg(*asked))
        return {
            row["block"]: Block(
                records=row["n"],
                rows=row["rows"],
                low=tuple(row[f"low{j}"] for j in range(self.width)),
                high=tuple(row[f"high{j}"] for j in range(self.width)),
            )
            for row in found.iter_rows(named=True)
        }

    def _choose(self, blocks: dict[int, Block]) -> dict[int, Cut]:
        """Return the first allowed cut of each block; blocks without one are left out."""
        columns = {b: iter(block.columns(self.domains)) for b, block in blocks.items()}
        ready: dict[int, list[Cut]] = {b: [] for b in blocks}
        waiting = {b for b, block in blocks.items() if block.records >= 2 * self.k}
        chosen: dict[int, Cut] = {}
        while waiting:
            asked = {b: next(columns[b], None) for b in sorted(waiting) if not ready[b]}
            waiting -= {b for b, j in asked.items() if j is None}
            for b, cuts in self._cuts({b: j for b, j in asked.items() if j is not None}).items():
                ready[b] = cuts
            tried = {b: ready[b].pop(0) for b in sorted(waiting) if ready[b]}
            for b in self._allowed(tried):
                chosen[b] = tried[b]
                waiting.discard(b)
        return chosen

    def _cuts(self, asked: dict[int, int]) -> dict[int, list[Cut]]:
        """Return the cuts around the median of one column in each block: one job."""
        if not asked:
            return {}
        known = pl.DataFrame(
            list(asked.items()), schema={"block": pl.Int32, "column": pl.Int32}, orient="row"
        )
        joined = self.frame.join(small(self.table.coded.source, known), "block", "inner")
        codes = F.array(*[F.col(f"c{j}") for j in range(self.width)])
        apart = joined.select("block", F.get(codes, F.col("column")).alias("code"), "n")
        grouped = apart.groupBy("block", "code").agg(F.sum("n").alias("n"))
        found = self.table.coded.source.polars(grouped).sort("block", "code")
        cuts = {}
        for (number,), mine in found.partition_by("block", as_dict=True).items():
            b = int(str(number))
            codes_here = mine["code"].to_numpy().astype(np.int64)
            places = median_cuts(codes_here, mine["n"].to_numpy().astype(np.int64), self.k)
            cuts[b] = [Cut(asked[b], place) for place in places]
        return cuts

    def _allowed(self, asked: dict[int, Cut]) -> list[int]:
        """Return the blocks both of whose sides keep the promise; k was seen to already."""
        if not self.spread or not asked:
            return sorted(asked)
        names = [f"s{s}" for s in range(self.spread)]
        cut = self._with_cuts([(b, c.column, c.cut, 0, 1) for b, c in asked.items()], "inner")
        values = [F.col(f"c{self.width + s}").alias(f"s{s}") for s in range(self.spread)]
        grouped = cut.select("block", "side", "n", *values).groupBy("block", "side", *names)
        found = self.table.coded.source.polars(grouped.agg(F.sum("n").alias("n")))
        bad = set()
        for (block, _), mine in found.partition_by("block", "side", as_dict=True).items():
            side = FrequencyTable(
                domains=(),
                codes=np.zeros((mine.height, 0), dtype=np.int32),
                counts=mine["n"].to_numpy().astype(np.int64),
                sensitive_domains=self.table.coded.sensitive_domains,
                sensitive=mine.select(names).to_numpy().astype(np.int32),
                whole=self.table.hollow.whole,
            )
            if failing_classes(one_class(side), self.models).any():
                bad.add(int(str(block)))
        return sorted(set(asked) - bad)

    def _with_cuts(self, moves: Sequence[tuple[int, ...]], how: str) -> DataFrame:
        """Return the rows with the side of the cut that they are on."""
        known = pl.DataFrame(
            moves, schema=dict.fromkeys(["block", "column", "cut", "left", "right"], pl.Int32),
            orient="row",
        )  # fmt: skip
        joined = self.frame.join(small(self.table.coded.source, known), "block", how)
        codes = F.array(*[F.col(f"c{j}") for j in range(self.width)])
        is_left = F.get(codes, F.col("column")) < F.col("cut")
        return joined.withColumn("side", F.when(is_left, F.col("left")).otherwise(F.col("right")))

    def _move(self, moves: Sequence[tuple[int, ...]]) -> None:
        """Cut blocks in two."""
        columns = self.frame.columns
        moved = self._with_cuts(moves, "left")
        block = F.coalesce(F.col("side"), F.col("block")).alias("block")
        self.frame = moved.select(*[c for c in columns if c != "block"], block)
