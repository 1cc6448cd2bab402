"""Assigning a table that stays on Spark to the classes of a model: to try it, or to encode.

The same rounds as `model.batch.assign_classes`: a tuple is in the first open class that covers it;
while classes fail, the finest of them are closed. One job counts the records of every class; tuples
of classes that fail are collected, and move on at the driver. Where they are too many for it, a
job counts again in every round. What tuples that no class covers are released as, if they are, is
worked out where they lie; only the distinct answers are collected.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import polars as pl
import pyarrow as pa
from pyspark import Broadcast
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import IntegerType, StructField, StructType

from shoal.engines.encoding.columns import ColumnCoder
from shoal.engines.encoding.tuples import Cover, UnseenMemo, release_unseen, released_tuple
from shoal.engines.spark.answers import ask_tasks
from shoal.engines.spark.chunks import ROWS, ArrowMap, Codes, Ints, decode_chunks, sum_equal_keys
from shoal.engines.spark.coding import Packing, table_changed
from shoal.engines.spark.distributed import DistributedFrequencies
from shoal.engines.spark.source import SparkSource
from shoal.methods.box_cover import BoxCover
from shoal.model.batch import Judge, ReleasedTuple, close_failing
from shoal.model.coverage import precompute_coverage
from shoal.model.model import RecodingModel
from shoal.model.sets import SetEncoder

SETS = 64_000_000  # bytes that the sets of classes of all values may take
Texts = tuple[str | None, ...]
Batches = Iterator[pa.RecordBatch]
Decoder = Callable[[Packing, Batches], Iterator[tuple[Codes, Ints]]]


@dataclass(frozen=True)
class DistributedTuples:
    """Distinct tuples that stay on Spark, and how their codes are to be read.

    Attributes:
        chunks: keys and how many records have them.
        decode: yields the codes and records of batches of them.
        lookups: for each quasi-identifier, from its codes to the number of what covers them.
        places: of the sensitive columns that are asked for, among the codes.
        secrets: the texts of their codes.
    """

    source: SparkSource
    packing: Packing
    chunks: DataFrame
    decode: Decoder
    lookups: Sequence[Codes]
    places: Sequence[int]
    secrets: Sequence[Sequence[str | None]]

    @property
    def counted(self) -> DataFrame:
        """Return the columns that `decode` reads."""
        return self.chunks.select(*self.packing.names, ROWS)


class DistributedTrial:
    """Assigns the records of a table on Spark to the classes of a model.

    Guarantee:
        The same classes and counts as on a table that is at hand.
    """

    def __init__(self, table: DistributedFrequencies, *, most: int) -> None:
        self.table, self.most = table, most

    def __call__(self, draft: RecodingModel) -> tuple[Mapping[ReleasedTuple, int], int]:
        """Return the records of each class, and how many are in none."""
        judge = Judge.of(draft.schema, draft.schema.privacy)
        coded = self.table.coded
        cover, lookups = self._cover(draft)
        names = [domain.name for domain in coded.sensitive_domains]
        asked = [names.index(name) for name in judge.columns]
        tuples = DistributedTuples(
            coded.source, coded.packing, self.table.chunks, decode_chunks, lookups,
            [len(lookups) + i for i in asked],
            [coded.sensitive_domains[i].labels for i in asked],
        )  # fmt: skip
        assignment = DistributedAssignment(tuples, cover, most=self.most)
        close_failing(assignment, judge)
        sizes = {label: sum(spread.values()) for label, spread in assignment.classes.items()}
        return sizes, self.table.risk.records - sum(sizes.values())

    def _cover(self, draft: RecodingModel) -> tuple[Cover | BoxCover, list[Codes]]:
        """Return what finds the class of a tuple, and what it reads instead of each code."""
        domains = self.table.coded.domains
        values = sum(len(domain) for domain in domains)
        if values * len(draft.regions) > 8 * SETS:
            boxes = BoxCover.of(draft.to_document(), [domain.labels for domain in domains])
            return boxes, [np.arange(size, dtype=np.int32) for size in boxes.sizes]
        encoder = SetEncoder(draft.to_document(), "suppress")
        precompute_coverage(encoder)
        columns = [ColumnCoder(j, encoder) for j in range(len(domains))]
        lookups = [
            column.codes(pl.Series(domain.labels, dtype=pl.String))
            for column, domain in zip(columns, domains, strict=True)
        ]
        return Cover(encoder, columns), lookups


class DistributedAssignment:
    """The class of every tuple while failing classes are closed.

    Classes are counted where their tuples are. The tuples of some classes were collected:
    what covers them, their sensitive values, records and class.

    Attributes:
        classes: the sensitive values of each class that has records, by what it releases.
        lost: those of the records that are in no class.
        unseen: how many records no class covers, closed or not.
        extra: what is released of some of these, and of nobody else; it counts as further
            classes, behind those of the model.
        counts_anew: whether the tuples of failing classes are too many to be collected.
    """

    def __init__(self, tuples: DistributedTuples, cover: Cover | BoxCover, *, most: int) -> None:
        self.tuples, self.cover, self.most = tuples, cover, most
        self.encoder = cover.encoder
        self.width = len(cover.sizes)
        self.extra: list[ReleasedTuple] = []
        self.uncovered = Uncovered(tuples.source.where)
        self.unseen = 0
        if self.encoder.on_unseen == "nearest":
            self._number_uncovered()
        regions = len(self.encoder.regions) + len(self.extra)
        sizes = [max(len(texts), 1) for texts in tuples.secrets]
        # What is counted: the class and its sensitive values. What is collected: the sets as well.
        self.counting = Packing((regions + 1, *sizes))
        self.collecting = Packing((regions + 1, *cover.sizes, *sizes))
        self.held_sets = np.zeros((0, self.width), dtype=np.int32)
        self.held_texts: list[Texts] = []
        self.held_records = np.zeros(0, dtype=np.int64)
        self.held_region = np.zeros(0, dtype=np.int64)
        self.collected: set[int] = set()
        self.counts_anew = False
        self.classes: dict[ReleasedTuple, Counter[Texts]] = {}
        self.rank: dict[ReleasedTuple, int] = {}
        self.lost: Counter[Texts] = Counter()
        self._count()
        if self.encoder.on_unseen != "nearest":
            self.unseen = sum(self.lost.values())

    def _number_uncovered(self) -> None:
        """Number what is released of tuples that no class covers: one job."""
        ask = _uncovered_labels(self.tuples.packing, self._broadcast(None), self.tuples.decode)
        labels: set[ReleasedTuple] = set()
        for found, records in ask_tasks(self.tuples.counted, ask, where=self.tuples.source.where):
            labels |= found
            self.unseen += records
        if not labels:
            return
        regions = range(len(self.encoder.regions))
        known = {released_tuple(self.encoder, region): region for region in regions}
        fresh = [label for label in labels if label not in known]
        self.extra = sorted(fresh, key=lambda label: [(text is not None, text) for text in label])
        known |= {label: len(regions) + i for i, label in enumerate(self.extra)}
        self.uncovered.regions.update((label, known[label]) for label in labels)

    def _broadcast(self, wanted: Ints | None) -> Broadcast[_Known]:
        """Send what tasks must know to every executor."""
        # The sets that the cover makes of its columns are made here, once.
        self.cover.regions(np.zeros((0, self.width), dtype=np.int32))
        known = _Known(self.cover, self.tuples.lookups, self.uncovered, wanted)
        return self.tuples.source.session.sparkContext.broadcast(known)

    def _label(self, region: int) -> ReleasedTuple:
        extra = region - len(self.encoder.regions)
        return released_tuple(self.encoder, region) if extra < 0 else self.extra[extra]

    def _close(self, regions: Iterable[int]) -> None:
        """Close classes for good."""
        for region in regions:
            self.uncovered.closed.add(region)
            if region < len(self.encoder.regions):
                self.cover.closed.add(region)

    def _texts(self, codes: Codes) -> list[Texts]:
        """Return the sensitive values of coded rows."""
        columns = [
            [known[code] for code in codes[:, s].tolist()]
            for s, known in enumerate(self.tuples.secrets)
        ]
        return list(zip(*columns, strict=True)) if columns else [()] * len(codes)

    def _enter(self, region: int, texts: Texts, records: int) -> ReleasedTuple:
        label = self._label(region)  # no two classes of a model release the same
        self.rank[label] = region
        self.classes.setdefault(label, Counter())[texts] += records
        return label

    def _count(self) -> None:
        """Count the records of every class by their sensitive values: one job."""
        rows, counts = self._tuples(self.counting, None)
        texts = self._texts(rows[:, 1:])
        self.lost = Counter()
        for region, text, records in zip(rows[:, 0].tolist(), texts, counts.tolist(), strict=True):
            if region:  # 0: in no class
                self._enter(region - 1, text, records)
            else:
                self.lost[text] += records

    def _collect(self, regions: Iterable[int]) -> None:
        """Collect the tuples of classes: one job."""
        wanted = sorted(set(regions) - self.collected)
        if not wanted:
            return
        rows, counts = self._tuples(self.collecting, np.array(wanted, dtype=np.int64))
        self.collected.update(wanted)
        first = self.width + 1
        self.held_sets = np.concatenate((self.held_sets, rows[:, 1:first]))
        self.held_texts += self._texts(rows[:, first:])
        self.held_records = np.concatenate((self.held_records, counts))
        region = rows[:, 0].astype(np.int64) - 1
        self.held_region = np.concatenate((self.held_region, region))

    def _tuples(self, packing: Packing, wanted: Ints | None) -> tuple[Codes, Ints]:
        """Return distinct rows of a packing and their records; wanted: only these classes."""
        tuples = self.tuples
        work = _assigner(
            tuples.packing, packing, self._broadcast(wanted), tuples.decode, [*tuples.places]
        )
        schema = ", ".join(f"{name} long" for name in (*packing.names, ROWS))
        counted = tuples.counted.mapInArrow(work, schema)
        summed = counted.groupBy(*packing.names).agg(F.sum(ROWS).alias(ROWS))
        found = tuples.source.polars(summed).sort(packing.names)  # whichever task ended first
        rows = packing.unpack([found[name].to_numpy() for name in packing.names])
        return rows, found[ROWS].to_numpy().astype(np.int64)

    def classed(self, keyed: DataFrame) -> DataFrame:
        """Return records that have the tuples' keys, in their order, beside the class of each.

        It is -1 where a record is in none.
        """
        schema = StructType([*keyed.schema.fields, StructField("class", IntegerType())])
        work = _classed(self.tuples.packing, self._broadcast(None), self.tuples.source.where)
        return keyed.mapInArrow(work, schema)

    def close(
        self, labels: Sequence[ReleasedTuple], failing: Sequence[ReleasedTuple]
    ) -> set[ReleasedTuple]:
        """Close classes; return the classes that their tuples moved to.

        failing: all that fail now; most of them will be closed, and are collected together.
        """
        if not labels:
            return set()
        failed = sum(sum(self.classes[label].values()) for label in failing)
        if self.counts_anew or len(self.held_records) + failed > self.most:
            return self._close_and_count(labels)
        self._collect(self.rank[label] for label in failing)
        closing = [self.rank.pop(label) for label in labels]
        for label in labels:
            del self.classes[label]
        self._close(closing)
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

    def _close_and_count(self, labels: Sequence[ReleasedTuple]) -> set[ReleasedTuple]:
        """Close classes of more tuples than the driver takes: all are counted again."""
        self.counts_anew = True
        self._close(self.rank[label] for label in labels)
        before, self.classes, self.rank = self.classes, {}, {}
        self._count()
        return {label for label, spread in self.classes.items() if before.get(label) != spread}


def decode_rows(packing: Packing, batches: Batches) -> Iterator[tuple[Codes, Ints]]:
    """Yield the codes and the records of rows that are not in chunks."""
    for batch in batches:
        keys = [batch.column(name).to_numpy() for name in packing.names]
        yield packing.unpack(keys), batch.column(ROWS).to_numpy()


@dataclass
class Uncovered:
    """The classes of tuples that no class of a model covers, by what is released of them."""

    where: str
    regions: dict[ReleasedTuple, int] = field(default_factory=dict)
    closed: set[int] = field(default_factory=set)

    def assign(
        self, cover: Cover | BoxCover, sets: Codes, memo: UnseenMemo, *, closed: bool = True
    ) -> Ints:
        """Return the class of each tuple, covered or not, -1 if none; `closed` ones are left out.

        memo: what was found for tuples before, and is found now.
        """
        region = cover.regions(sets, closed=closed)
        if not self.regions:
            return region
        for at, label in zip(*uncovered_labels(cover, sets, region, memo), strict=True):
            found = -1 if label is None else self.regions.get(label)
            if found is None:
                raise table_changed(self.where)
            region[at] = -1 if closed and found in self.closed else found
        return region


class _Known(NamedTuple):
    """What a task must know; wanted: the classes whose tuples are collected, None: all count."""

    cover: Cover | BoxCover
    lookups: Sequence[Codes]
    uncovered: Uncovered
    wanted: Ints | None

    def sets(self, codes: Codes) -> Codes:
        """Return the number of what covers each code."""
        return np.stack([table[codes[:, j]] for j, table in enumerate(self.lookups)], axis=1)


def uncovered_labels(
    cover: Cover | BoxCover, sets: Codes, region: Ints, memo: UnseenMemo
) -> tuple[list[int], list[ReleasedTuple | None]]:
    """Return the tuples that no class covers, closed or not, and what is released of them."""
    assert isinstance(cover, Cover)  # boxes are for drafts, which suppress what they do not cover
    lost = np.flatnonzero(region < 0)
    uncovered = lost[cover.regions(sets[lost], closed=False) < 0]
    return uncovered.tolist(), release_unseen(cover, sets[uncovered], memo)


def _uncovered_labels(
    packing: Packing, known: Broadcast[_Known], decode: Decoder
) -> Callable[[Batches], Iterator[tuple[set[ReleasedTuple], int]]]:
    """Return the function that says what is released of tuples that no class covers.

    It yields the distinct answers of a task, and how many records these tuples have.
    """

    def ask(batches: Batches) -> Iterator[tuple[set[ReleasedTuple], int]]:
        cover = known.value.cover
        memo: UnseenMemo = {}
        labels: set[ReleasedTuple] = set()
        records = 0
        for codes, counts in decode(packing, batches):
            sets = known.value.sets(codes)
            uncovered, found = uncovered_labels(cover, sets, cover.regions(sets), memo)
            labels.update(label for label in found if label is not None)
            records += int(counts[uncovered].sum())
        yield labels, records

    return ask


def _assigner(
    packing: Packing, wide: Packing, known: Broadcast[_Known], decode: Decoder, places: list[int]
) -> ArrowMap:
    """Return the function that finds the classes of the tuples of a task.

    wide: the packing of a class, what covers its tuples (if they are collected) and the
        sensitive values, whose places among the codes are `places`.
    """

    def assign(batches: Batches) -> Batches:
        cover, _, uncovered, wanted = known.value
        memo: UnseenMemo = {}
        for codes, counts in decode(packing, batches):
            sets = known.value.sets(codes)
            # Tuples are collected by the class they were in at first.
            region = uncovered.assign(cover, sets, memo, closed=wanted is None)
            number, sensitive = (region + 1)[:, None].astype(np.int32), codes[:, places]
            rows = (number, sensitive) if wanted is None else (number, sets, sensitive)
            whole = np.concatenate(rows, axis=1)
            if wanted is not None:
                is_wanted = np.isin(region, wanted)
                whole, counts = whole[is_wanted], counts[is_wanted]
            keys, sums = sum_equal_keys(wide.pack(whole), counts)
            columns = [pa.array(each) for each in (*keys, sums)]
            yield pa.RecordBatch.from_arrays(columns, names=[*wide.names, ROWS])

    return assign


def _classed(packing: Packing, known: Broadcast[_Known], where: str) -> ArrowMap:
    """Return the function that puts the class of each record of a task beside it."""

    def work(batches: Batches) -> Batches:
        cover, _, uncovered, _ = known.value
        memo: UnseenMemo = {}
        for batch in batches:
            keys = [batch.column(name) for name in packing.names]
            if any(key.null_count for key in keys):
                raise table_changed(where)
            codes = packing.unpack([key.to_numpy() for key in keys])
            region = uncovered.assign(cover, known.value.sets(codes), memo).astype(np.int32)
            names = [*batch.schema.names, "class"]
            yield pa.RecordBatch.from_arrays([*batch.columns, pa.array(region)], names=names)

    return work
