"""Trying a learned model on a table that stays on Spark, before it is handed out.

The same rounds as `core.model_judge.settle`: a tuple is in the first open class that covers it;
while classes fail, the finest of them are closed. One job counts who is where; the tuples of
classes that fail are brought here, and move on here. Where they are too many for the driver, a
job counts again in every round.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from shoal.core.model import RecodingModel
from shoal.core.model_judge import Home, Judge, close_failing
from shoal.core.model_runtime import Encoder
from shoal.core.model_sweep import sweep
from shoal.engines.local.encode_keys import Column
from shoal.engines.local.encode_settle import Cover, home_of
from shoal.engines.spark.coding import Packing
from shoal.engines.spark.far import FarTable, coded_rows
from shoal.engines.spark.piles import ROWS, Work, joined

Texts = tuple[str | None, ...]


class FarTrial:
    """Settles the records of a table on Spark in the classes of a model.

    Guarantee:
        The same classes and counts as on a table that is at hand.
    """

    def __init__(self, table: FarTable, *, most: int) -> None:
        self.table, self.most = table, most

    def __call__(self, draft: RecodingModel) -> tuple[Mapping[Home, int], int]:
        """Return the records of each class, and how many are in none."""
        judge = Judge.of(draft.schema, draft.schema.privacy)
        board = _Board(self.table, draft, judge, self.most)
        close_failing(board, judge)
        sizes = {home: sum(spread.values()) for home, spread in board.classes.items()}
        return sizes, self.table.risk.records - sum(sizes.values())


class _Board:
    """Who is where while a table settles.

    Classes are counted where their tuples are. The tuples of some classes were brought here:
    what covers them, their sensitive values, records and class.
    """

    def __init__(self, table: FarTable, draft: RecodingModel, judge: Judge, most: int) -> None:
        self.table, self.most = table, most
        coded = table.coded
        self.encoder = Encoder(draft.to_document(), "suppress")
        sweep(self.encoder)
        columns = [Column(j, self.encoder) for j in range(len(coded.domains))]
        self.codes = [
            column.codes(pl.Series(domain.labels, dtype=pl.String))
            for column, domain in zip(columns, coded.domains, strict=True)
        ]
        self.cover = Cover(self.encoder, columns)
        names = [domain.name for domain in coded.sensitive_domains]
        self.asked = [names.index(name) for name in judge.columns]
        width, regions = len(coded.domains), len(self.encoder.regions)
        sizes = [len(coded.sensitive_domains[i]) for i in self.asked]
        # Who is counted: the class and its sensitive values. Who is brought: the sets as well.
        self.counting = Packing((regions + 1, *sizes))
        self.bringing = Packing(
            (regions + 1, *(max(len(column.values), 1) for column in columns), *sizes)
        )
        self.width = width
        self.held_sets = np.zeros((0, width), dtype=np.int32)
        self.held_texts: list[Texts] = []
        self.held_records = np.zeros(0, dtype=np.int64)
        self.held_region = np.zeros(0, dtype=np.int64)
        self.brought: set[int] = set()
        self.is_far = False  # whether the tuples of failing classes are too many to be brought
        self.classes: dict[Home, Counter[Texts]] = {}
        self.rank: dict[Home, int] = {}
        self._count()

    def _texts(self, codes: NDArray[np.int32]) -> list[Texts]:
        """Return the sensitive values of coded rows."""
        columns = [
            [self.table.coded.sensitive_domains[i].labels[code] for code in codes[:, s].tolist()]
            for s, i in enumerate(self.asked)
        ]
        return list(zip(*columns, strict=True)) if columns else [()] * len(codes)

    def _enter(self, region: int, texts: Texts, records: int) -> Home:
        home = home_of(self.encoder, region)  # no two classes of a model release the same
        self.rank[home] = region
        self.classes.setdefault(home, Counter())[texts] += records
        return home

    def _count(self) -> None:
        """Count the records of every class by their sensitive values: one job."""
        rows, counts = self._job(self.counting, None)
        texts = self._texts(rows[:, 1:])
        for region, text, records in zip(rows[:, 0].tolist(), texts, counts.tolist(), strict=True):
            if region:  # 0: in no class
                self._enter(region - 1, text, records)

    def _bring(self, regions: Iterable[int]) -> None:
        """Bring the tuples of classes here: one job."""
        wanted = sorted(set(regions) - self.brought)
        if not wanted:
            return
        rows, counts = self._job(self.bringing, np.array(wanted, dtype=np.int64))
        self.brought.update(wanted)
        first = self.width + 1
        self.held_sets = np.concatenate((self.held_sets, rows[:, 1:first]))
        self.held_texts += self._texts(rows[:, first:])
        self.held_records = np.concatenate((self.held_records, counts))
        region = rows[:, 0].astype(np.int64) - 1
        self.held_region = np.concatenate((self.held_region, region))

    def _job(
        self, packing: Packing, wanted: NDArray[np.int64] | None
    ) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """Return the rows that are asked for and their records; wanted: only these classes."""
        coded = self.table.coded
        self.cover.regions(np.zeros((0, self.width), dtype=np.int32))  # its sets are made here
        known = coded.source.session.sparkContext.broadcast((self.cover, self.codes, wanted))
        work = _tried(coded.packing, packing, known, self.width, self.asked)
        kinds = ", ".join(f"{name} long" for name in (*packing.names, ROWS))
        piles: DataFrame = self.table.piles.select(*coded.packing.names, ROWS)
        summed = piles.mapInArrow(work, kinds).groupBy(*packing.names).agg(F.sum(ROWS).alias(ROWS))
        found = coded.source.polars(summed).sort(packing.names)  # whichever task ended first
        rows = packing.unpack([found[name].to_numpy() for name in packing.names])
        return rows, found[ROWS].to_numpy().astype(np.int64)

    def close(self, homes: Sequence[Home], failing: Sequence[Home]) -> set[Home]:
        """Close classes; return the classes that their tuples moved to.

        failing: all that fail now; most of them will be closed, and are brought together.
        """
        if not homes:
            return set()
        failed = sum(sum(self.classes[home].values()) for home in failing)
        if self.is_far or len(self.held_records) + failed > self.most:
            return self._close_far(homes)
        self._bring(self.rank[home] for home in failing)
        closing = [self.rank.pop(home) for home in homes]
        for home in homes:
            del self.classes[home]
        self.cover.closed.update(closing)
        moving = np.flatnonzero(np.isin(self.held_region, closing))
        self.held_region[moving] = self.cover.regions(self.held_sets[moving])
        changed = set()
        for i in moving.tolist():
            region = int(self.held_region[i])
            if region >= 0:
                records = int(self.held_records[i])
                changed.add(self._enter(region, self.held_texts[i], records))
        return changed

    def _close_far(self, homes: Sequence[Home]) -> set[Home]:
        """Close classes of more tuples than the driver takes: all are counted again."""
        self.is_far = True
        self.cover.closed.update(self.rank[home] for home in homes)
        before, self.classes, self.rank = self.classes, {}, {}
        self._count()
        return {home for home, spread in self.classes.items() if before.get(home) != spread}


def _tried(packing: Packing, goal: Packing, known: Any, width: int, asked: list[int]) -> Work:
    """Return the function that finds the classes of the tuples of a task."""

    def work(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        cover, lookup, wanted = known.value
        for codes, counts in coded_rows(packing, batches):
            sets = np.stack([table[codes[:, j]] for j, table in enumerate(lookup)], axis=1)
            # Tuples are brought by the class they were in at first.
            region = cover.regions(sets, closed=wanted is None)
            rows = [(region + 1)[:, None], sets, codes[:, [width + i for i in asked]]]
            if wanted is None:
                rows.pop(1)
            whole = np.concatenate(rows, axis=1).astype(np.int32)
            if wanted is not None:
                kept = np.isin(region, wanted)
                whole, counts = whole[kept], counts[kept]
            keys, sums = joined(goal.pack(whole), counts)
            columns = [pa.array(each) for each in (*keys, sums)]
            yield pa.RecordBatch.from_arrays(columns, names=[*goal.names, ROWS])

    return work
