"""Settling a table that stays on Spark in the classes of a model: to try it, or to encode.

The same rounds as `core.model_judge.settle`: a tuple is in the first open class that covers it;
while classes fail, the finest of them are closed. One job counts who is where; the tuples of
classes that fail are brought here, and move on here. Where they are too many for the driver, a
job counts again in every round. What tuples that no class covers are released as, if they are, is
worked out where they lie; only the distinct answers are brought.
"""

from __future__ import annotations

import pickle
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import IntegerType, StructField, StructType

from shoal.engines.local.encode_keys import Column
from shoal.engines.local.encode_settle import Cover, Known, home_of, near_homes
from shoal.engines.spark.boxes import BoxCover
from shoal.engines.spark.coding import Packing, changed
from shoal.engines.spark.far import FarTable, coded_rows
from shoal.engines.spark.piles import ROWS, Work, joined
from shoal.engines.spark.source import SparkSource, guarded
from shoal.model.batch import Home, Judge, close_failing
from shoal.model.model import RecodingModel
from shoal.model.runtime import Encoder
from shoal.model.sweep import sweep

SETS = 64_000_000  # bytes that the sets of classes of all values may take
Texts = tuple[str | None, ...]


@dataclass(frozen=True)
class FarTuples:
    """Distinct tuples that stay on Spark, and how their codes are to be read.

    Attributes:
        piles: keys and how many records have them.
        lookups: for each quasi-identifier, from its codes to the number of what covers them.
        read: yields the codes and records of batches of piles.
        places: of the sensitive columns that are asked for, among the codes.
        secrets: the texts of their codes.
    """

    source: SparkSource
    packing: Packing
    piles: DataFrame
    read: Callable[[Packing, Iterator[Any]], Iterator[tuple[NDArray[np.int32], NDArray[np.int64]]]]
    lookups: Sequence[NDArray[np.int32]]
    places: Sequence[int]
    secrets: Sequence[Sequence[str | None]]


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
        coded = self.table.coded
        cover, lookups = self._cover(draft)
        names = [domain.name for domain in coded.sensitive_domains]
        asked = [names.index(name) for name in judge.columns]
        tuples = FarTuples(
            coded.source, coded.packing, self.table.piles, coded_rows, lookups,
            [len(lookups) + i for i in asked],
            [coded.sensitive_domains[i].labels for i in asked],
        )  # fmt: skip
        board = FarBoard(tuples, cover, most=self.most)
        close_failing(board, judge)
        sizes = {home: sum(spread.values()) for home, spread in board.classes.items()}
        return sizes, self.table.risk.records - sum(sizes.values())

    def _cover(self, draft: RecodingModel) -> tuple[Cover | BoxCover, list[NDArray[np.int32]]]:
        """Return what finds the class of a tuple, and what it reads instead of each code."""
        domains = self.table.coded.domains
        values = sum(len(domain) for domain in domains)
        if values * len(draft.regions) > 8 * SETS:
            boxes = BoxCover.of(draft.to_document(), [domain.labels for domain in domains])
            return boxes, [np.arange(size, dtype=np.int32) for size in boxes.sizes]
        encoder = Encoder(draft.to_document(), "suppress")
        sweep(encoder)
        columns = [Column(j, encoder) for j in range(len(domains))]
        lookups = [
            column.codes(pl.Series(domain.labels, dtype=pl.String))
            for column, domain in zip(columns, domains, strict=True)
        ]
        return Cover(encoder, columns), lookups


class FarBoard:
    """Who is where while a table settles.

    Classes are counted where their tuples are. The tuples of some classes were brought here:
    what covers them, their sensitive values, records and class.

    Attributes:
        classes: the sensitive values of each class that has records.
        lost: those of the records that are in no class.
        unseen: how many records no class covers, closed or not.
        extra: what is released of some of these, and of nobody else; it counts as further
            classes, behind those of the model.
    """

    def __init__(self, tuples: FarTuples, cover: Cover | BoxCover, *, most: int) -> None:
        self.tuples, self.cover, self.most = tuples, cover, most
        self.encoder = cover.encoder
        width = len(cover.sizes)
        self.width = width
        self.extra: list[Home] = []
        self.near = Near(tuples.source.where)
        self.unseen = 0
        if self.encoder.on_unseen == "nearest":
            self._look_for_strangers()
        regions = len(self.encoder.regions) + len(self.extra)
        sizes = [max(len(texts), 1) for texts in tuples.secrets]
        # Who is counted: the class and its sensitive values. Who is brought: the sets as well.
        self.counting = Packing((regions + 1, *sizes))
        self.bringing = Packing((regions + 1, *cover.sizes, *sizes))
        self.held_sets = np.zeros((0, width), dtype=np.int32)
        self.held_texts: list[Texts] = []
        self.held_records = np.zeros(0, dtype=np.int64)
        self.held_region = np.zeros(0, dtype=np.int64)
        self.brought: set[int] = set()
        self.is_far = False  # whether the tuples of failing classes are too many to be brought
        self.classes: dict[Home, Counter[Texts]] = {}
        self.rank: dict[Home, int] = {}
        self.lost: Counter[Texts] = Counter()
        self._count()
        if self.encoder.on_unseen != "nearest":
            self.unseen = sum(self.lost.values())

    def _look_for_strangers(self) -> None:
        """Number what is released of tuples that no class covers: one job."""
        source, names = self.tuples.source, self.tuples.packing.names
        work = _strangers(self.tuples.packing, self._sent(None), self.tuples.read)
        piles: DataFrame = self.tuples.piles.select(*names, ROWS)
        with guarded(source.where):
            told = piles.mapInArrow(work, "found binary").toArrow().column("found").to_pylist()
        homes: set[Home] = set()
        for found, records in map(pickle.loads, told):
            homes |= found
            self.unseen += records
        if not homes:
            return
        regions = range(len(self.encoder.regions))
        known = {home_of(self.encoder, region): region for region in regions}
        fresh = [home for home in homes if home not in known]
        self.extra = sorted(fresh, key=lambda home: [(text is not None, text) for text in home])
        known |= {home: len(regions) + i for i, home in enumerate(self.extra)}
        self.near.places.update((home, known[home]) for home in homes)

    def _sent(self, wanted: NDArray[np.int64] | None) -> Any:
        """Send what tasks must know to every executor."""
        self.cover.regions(np.zeros((0, self.width), dtype=np.int32))  # its sets are made here
        context = self.tuples.source.session.sparkContext
        return context.broadcast((self.cover, self.tuples.lookups, self.near, wanted))

    def _home(self, region: int) -> Home:
        extra = region - len(self.encoder.regions)
        return home_of(self.encoder, region) if extra < 0 else self.extra[extra]

    def _shut(self, regions: Iterable[int]) -> None:
        """Close classes for good."""
        for region in regions:
            self.near.closed.add(region)
            if region < len(self.encoder.regions):
                self.cover.closed.add(region)

    def _texts(self, codes: NDArray[np.int32]) -> list[Texts]:
        """Return the sensitive values of coded rows."""
        columns = [
            [known[code] for code in codes[:, s].tolist()]
            for s, known in enumerate(self.tuples.secrets)
        ]
        return list(zip(*columns, strict=True)) if columns else [()] * len(codes)

    def _enter(self, region: int, texts: Texts, records: int) -> Home:
        home = self._home(region)  # no two classes of a model release the same
        self.rank[home] = region
        self.classes.setdefault(home, Counter())[texts] += records
        return home

    def _count(self) -> None:
        """Count the records of every class by their sensitive values: one job."""
        rows, counts = self._job(self.counting, None)
        texts = self._texts(rows[:, 1:])
        self.lost = Counter()
        for region, text, records in zip(rows[:, 0].tolist(), texts, counts.tolist(), strict=True):
            if region:  # 0: in no class
                self._enter(region - 1, text, records)
            else:
                self.lost[text] += records

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
        source, names = self.tuples.source, self.tuples.packing.names
        known = self._sent(wanted)
        work = _tried(self.tuples.packing, packing, known, self.tuples.read, [*self.tuples.places])
        kinds = ", ".join(f"{name} long" for name in (*packing.names, ROWS))
        piles: DataFrame = self.tuples.piles.select(*names, ROWS)
        summed = piles.mapInArrow(work, kinds).groupBy(*packing.names).agg(F.sum(ROWS).alias(ROWS))
        found = source.polars(summed).sort(packing.names)  # whichever task ended first
        rows = packing.unpack([found[name].to_numpy() for name in packing.names])
        return rows, found[ROWS].to_numpy().astype(np.int64)

    def classed(self, keyed: DataFrame) -> DataFrame:
        """Return records that have the tuples' keys, in their order, beside the class of each.

        It is -1 where a record is in none.
        """
        known = self._sent(None)
        kinds = StructType([*keyed.schema.fields, StructField("class", IntegerType())])
        work = _classed(self.tuples.packing, known, self.tuples.source.where)
        return keyed.mapInArrow(work, kinds)

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
        self._shut(closing)
        moving = np.flatnonzero(np.isin(self.held_region, closing))
        self.held_region[moving] = self.cover.regions(self.held_sets[moving])
        changed = set()
        for i in moving.tolist():
            region = int(self.held_region[i])
            records = int(self.held_records[i])
            if region >= 0:
                changed.add(self._enter(region, self.held_texts[i], records))
            else:
                self.lost[self.held_texts[i]] += records
        return changed

    def _close_far(self, homes: Sequence[Home]) -> set[Home]:
        """Close classes of more tuples than the driver takes: all are counted again."""
        self.is_far = True
        self._shut(self.rank[home] for home in homes)
        before, self.classes, self.rank = self.classes, {}, {}
        self._count()
        return {home for home, spread in self.classes.items() if before.get(home) != spread}


def single_rows(
    packing: Packing, batches: Iterator[Any]
) -> Iterator[tuple[NDArray[np.int32], NDArray[np.int64]]]:
    """Yield the codes and the records of rows that are not piled up."""
    for batch in batches:
        keys = [batch.column(name).to_numpy() for name in packing.names]
        yield packing.unpack(keys), batch.column(ROWS).to_numpy()


@dataclass
class Near:
    """Where tuples are that no class covers: the number of what is released of them."""

    where: str
    places: dict[Home, int] = field(default_factory=dict)
    closed: set[int] = field(default_factory=set)

    def regions(
        self, cover: Any, sets: NDArray[np.int32], known: Known, *, closed: bool = True
    ) -> NDArray[np.int64]:
        """Return the class of each tuple, -1 if none; `closed` ones are left out."""
        region: NDArray[np.int64] = cover.regions(sets, closed=closed)
        if not self.places:
            return region
        for at, home in zip(*strange_homes(cover, sets, region, known), strict=True):
            place = -1 if home is None else self.places.get(home)
            if place is None:
                raise changed(self.where)
            region[at] = -1 if closed and place in self.closed else place
        return region


def strange_homes(
    cover: Cover, sets: NDArray[np.int32], region: NDArray[np.int64], known: Known
) -> tuple[list[int], list[Home | None]]:
    """Return the tuples that no class covers, closed or not, and what is released of them."""
    lost = np.flatnonzero(region < 0)
    strange = lost[cover.regions(sets[lost], closed=False) < 0]
    return strange.tolist(), near_homes(cover, sets[strange], known)


def _strangers(packing: Packing, known: Any, read: Any) -> Work:
    """Return the function that says what is released of tuples that no class covers."""

    def work(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        cover, lookups, _, _ = known.value
        memo: Known = {}
        homes: set[Home] = set()
        records = 0
        for codes, counts in read(packing, batches):
            sets = _sets(codes, lookups)
            strange, found = strange_homes(cover, sets, cover.regions(sets), memo)
            homes.update(home for home in found if home is not None)
            records += int(counts[strange].sum())
        blob = pickle.dumps((homes, records))
        yield pa.RecordBatch.from_arrays([pa.array([blob], pa.binary())], names=["found"])

    return work


def _tried(packing: Packing, goal: Packing, known: Any, read: Any, places: list[int]) -> Work:
    """Return the function that finds the classes of the tuples of a task."""

    def work(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        cover, lookups, near, wanted = known.value
        memo: Known = {}
        for codes, counts in read(packing, batches):
            sets = _sets(codes, lookups)
            # Tuples are brought by the class they were in at first.
            region = near.regions(cover, sets, memo, closed=wanted is None)
            rows = [(region + 1)[:, None], sets, codes[:, places]]
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


def _classed(packing: Packing, known: Any, where: str) -> Work:
    """Return the function that puts the class of each record of a task beside it."""

    def work(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        cover, lookups, near, _ = known.value
        memo: Known = {}
        for batch in batches:
            keys = [batch.column(name) for name in packing.names]
            if any(key.null_count for key in keys):
                raise changed(where)
            codes = packing.unpack([key.to_numpy() for key in keys])
            region = near.regions(cover, _sets(codes, lookups), memo).astype(np.int32)
            names = [*batch.schema.names, "class"]
            yield pa.RecordBatch.from_arrays([*batch.columns, pa.array(region)], names=names)

    return work


def _sets(codes: NDArray[np.int32], lookups: Sequence[NDArray[np.int32]]) -> NDArray[np.int32]:
    return np.stack([table[codes[:, j]] for j, table in enumerate(lookups)], axis=1)
