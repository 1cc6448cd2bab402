"""Jobs over classes: the tuples of a class come together in one task, and a little comes home.

What is worked out of a class needs all of its values: its centroid, how diverse it is, and
whether it keeps the promise. What is a sum over tuples is added up where they are.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.engines.spark.arrange import FILED, PART, PLACES
from shoal.engines.spark.coding import Packing
from shoal.engines.spark.far import Far, FarTable, apart, by_column
from shoal.engines.spark.piles import ROWS, Keys, Work, arrays, by_part, pile
from shoal.engines.spark.source import guarded
from shoal.measures.aggregation import Yardstick
from shoal.measures.utility import diversity_of, minority_of
from shoal.methods.domain import Domain
from shoal.methods.frequency import FrequencyTable
from shoal.methods.judging import judge_recoding
from shoal.methods.microaggregation.centroids import centroids
from shoal.methods.recoding import Recoding, with_centroids
from shoal.privacy import Promise, Verdict

Asked = Callable[[Recoding], Any]  # what is asked of some classes that are all there
Codes = NDArray[np.int32]
# Whole numbers told of some tuples: their codes, their classes (-1: suppressed), their records.
Summed = Callable[[Codes, NDArray[np.int64], NDArray[np.int64]], NDArray[np.int64]]


def with_far_centroids(table: FarTable, far: Far, distance: str | None = None) -> Far:
    """Return the recoding with a centroid for every class, which knows all of its values.

    distance: of categories, see `centroids`.

    Guarantee:
        The centroids are those of the local engine.
    """
    found = by_class(table, far, partial(centroids, distance=distance))
    columns = len(table.coded.domains)
    released = [[text for part in found for text in part[j]] for j in range(columns)]
    return far.moved(with_centroids(far.recoding, released))


class Told(NamedTuple):
    """What only the tuples of classes tell; see `Grouping`."""

    diversity: NDArray[np.float64]
    spread: NDArray[np.float64]
    minority: int | None


def far_told(table: FarTable, far: Far, *, target: str | None) -> Told:
    """Return what classes do to their tuples.

    `spread` and `minority` are told where the driver does not know the sensitive values.
    """
    domains = table.coded.sensitive_domains if far.is_bare else ()
    names = [domain.name for domain in domains]
    column = names.index(target) if target in names else None

    def asked(classes: Recoding) -> Told:
        own = classes.table
        return Told(
            diversity_of(classes, own.codes, own.domains),
            diversity_of(classes, own.sensitive[:, : len(domains)], domains),
            None if column is None else minority_of(classes, column),
        )

    found = by_class(table, far, asked)
    diversity = np.concatenate([np.zeros(0), *(told.diversity for told in found)])
    spread = np.concatenate([np.zeros(0), *(told.spread for told in found)])
    minority = None if column is None else sum(told.minority for told in found)
    return Told(diversity, spread, minority)


def far_judged(table: FarTable, far: Far, models: Sequence[Promise]) -> tuple[Verdict, ...]:
    """Judge the classes of a recoding where their sensitive values are."""
    left = _spread_of_released(table, far)

    def asked(classes: Recoding) -> list[Verdict]:
        known = replace(classes, table=replace(classes.table, whole=left))
        return list(judge_recoding(known, models))

    parts = zip(*by_class(table, far, asked), strict=True)
    return tuple(reduce(Verdict.merge, verdicts) for verdicts in parts)


def _spread_of_released(table: FarTable, far: Far) -> tuple[NDArray[np.int64], ...]:
    """Return how each sensitive column is spread in the records that are released."""
    width = len(table.coded.domains)
    sizes = [len(domain) for domain in table.coded.sensitive_domains]
    starts = np.cumsum([0, *sizes[:-1]])

    def sums(codes: Codes, label: NDArray[np.int64], counts: NDArray[np.int64]) -> Any:
        cells = np.zeros(sum(sizes), dtype=np.int64)
        kept = label >= 0
        for j, start in enumerate(starts):
            np.add.at(cells, start + codes[kept, width + j], counts[kept])
        return cells

    return apart(_added(table, far, sums), sizes)


def far_sse_loss(table: FarTable, far: Far) -> float:
    """Return 100 · SSE/SST of the centroids, see `measures.aggregation`.

    Guarantee:
        The same number as where the tuples are at hand.
    """
    coded = table.coded
    sizes = [len(domain) for domain in coded.domains]
    whole = by_column(coded, table.piles, first=0, sizes=sizes)
    yardstick = Yardstick.of(far.recoding, whole, far.recoding.released)
    sent = coded.source.session.sparkContext.broadcast(yardstick)
    width = len(sizes)

    def sums(codes: Codes, label: NDArray[np.int64], counts: NDArray[np.int64]) -> Any:
        return sent.value.sums(codes[:, :width], label, counts)

    return yardstick.loss(_added(table, far, sums))


def _added(table: FarTable, far: Far, sums: Summed) -> NDArray[np.int64]:
    """Return the sum of whole numbers over all tuples: one job, and nothing is moved for it."""
    packing = table.coded.packing
    names = [*packing.names, PLACES, ROWS]

    def work(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        found = [
            sums(packing.unpack(keys), label, counts)
            for batch in batches
            for *keys, label, counts in arrays(batch, names)
        ]
        if found:
            blob = pickle.dumps(np.sum(found, axis=0))
            yield pa.RecordBatch.from_arrays([pa.array([blob], pa.binary())], names=["found"])

    with guarded(table.coded.source.where):
        told = far.own.mapInArrow(work, "found binary").toArrow()
    parts = [pickle.loads(blob) for blob in told.column("found").to_pylist()]
    added: NDArray[np.int64] = np.sum(parts, axis=0)
    return added


def by_class(table: FarTable, far: Far, asked: Asked) -> list[Any]:
    """Ask something of all classes, some in every task; return the answers in their order.

    A task gets the classes as a recoding of their own tuples, numbered from 0; their boxes
    are left out.
    """
    coded, packing = table.coded, table.coded.packing
    classes = far.recoding.classes
    if not classes:
        return []
    least = str(coded.source.session.conf.get("spark.sql.shuffle.partitions"))
    tasks = min(max(int(least), table.rows // FILED), classes)
    ends = np.arange(tasks + 1) * classes // tasks
    keys = ", ".join(f"{name} binary" for name in (*packing.names, PLACES, ROWS))
    filed = far.own.mapInArrow(_filer(packing, ends), f"{PART} int, {keys}")
    work = _Worker(packing, far.recoding.table.domains, coded.sensitive_domains, ends, asked)
    made = filed.repartitionById(tasks, PART).mapInArrow(work, f"{PART} int, found binary")
    with guarded(coded.source.where):
        told = made.toArrow()
    pairs = zip(told.column(PART).to_pylist(), told.column("found").to_pylist(), strict=True)
    return [pickle.loads(blob) for _, blob in sorted(pairs)]


def _filer(packing: Packing, ends: NDArray[np.int64]) -> Work:
    """Return the function that puts keys on piles by the task of their class."""
    names = [*packing.names, PLACES, ROWS]

    def work(batches: Iterator[Any]) -> Iterator[Any]:
        for batch in batches:
            for each in arrays(batch, names):
                kept = np.flatnonzero(each[-2] >= 0)
                part = np.searchsorted(ends, each[-2][kept], side="right") - 1
                for number, mine in by_part(part):
                    rows = kept[mine]
                    own = {n: column[rows] for n, column in zip(names, each, strict=True)}
                    yield pile({PART: np.int32(number), **own})

    return work


@dataclass(frozen=True)
class _Worker:
    """Asks something of the classes of a partition."""

    packing: Packing
    domains: tuple[Domain, ...]
    sensitive_domains: tuple[Domain, ...]
    ends: NDArray[np.int64]
    asked: Asked

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        names = [*self.packing.names, PLACES, ROWS]
        held: dict[int, list[Keys]] = {}
        for batch in batches:
            piles = arrays(batch, names)
            for part, each in zip(batch.column(PART).to_pylist(), piles, strict=True):
                held.setdefault(part, []).append(each)
        for part in sorted(held):
            *keys, label, counts = (np.concatenate(e) for e in zip(*held.pop(part), strict=True))
            answer = self.asked(self._recoding(part, keys, label, counts))
            cells = [pa.array([part], pa.int32()), pa.array([pickle.dumps(answer)], pa.binary())]
            yield pa.RecordBatch.from_arrays(cells, names=[PART, "found"])

    def _recoding(
        self, part: int, keys: Keys, label: NDArray[np.int64], counts: NDArray[np.int64]
    ) -> Recoding:
        """Return the classes of a part; pieces of one tuple in one class become one."""
        order = np.lexsort((*keys[::-1], label))
        keys, label = [key[order] for key in keys], label[order]
        fresh = np.ones(len(order), dtype=np.bool_)
        fresh[1:] = label[1:] != label[:-1]
        for key in keys:
            fresh[1:] |= key[1:] != key[:-1]
        starts = np.flatnonzero(fresh)
        codes = self.packing.unpack([key[starts] for key in keys])
        width = len(self.domains)
        records = np.add.reduceat(counts[order], starts)
        table = FrequencyTable(
            domains=self.domains,
            codes=np.ascontiguousarray(codes[:, :width]),
            counts=records,
            sensitive_domains=self.sensitive_domains,
            sensitive=np.ascontiguousarray(codes[:, width:]),
        )
        classes = int(self.ends[part + 1] - self.ends[part])
        empty = np.zeros((classes, width), dtype=np.int32)
        return Recoding(
            table=table, low=empty, high=empty, row=np.arange(len(starts)),
            label=label[starts] - int(self.ends[part]), count=records,
        )  # fmt: skip
