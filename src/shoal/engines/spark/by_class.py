"""Jobs over classes: the tuples of a class come together in one task, and a little comes home.

What is worked out of a class needs all of its values: its centroid, and how diverse it is.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.engines.spark.arrange import FILED, PART, PLACES
from shoal.engines.spark.coding import Packing
from shoal.engines.spark.far import Far, FarTable
from shoal.engines.spark.piles import ROWS, Keys, Work, arrays, by_part, pile
from shoal.engines.spark.source import guarded
from shoal.measures.utility import diversity_of
from shoal.methods.domain import Domain
from shoal.methods.frequency import FrequencyTable
from shoal.methods.microaggregation.centroids import centroids
from shoal.methods.recoding import Recoding, with_centroids

Asked = Callable[[Recoding], Any]  # what is asked of some classes that are all there


def with_far_centroids(table: FarTable, far: Far) -> Far:
    """Return the recoding with a centroid for every class, which knows all of its values.

    Guarantee:
        The centroids are those of the local engine.
    """
    found = by_class(table, far, centroids)
    columns = len(table.coded.domains)
    released = [[text for part in found for text in part[j]] for j in range(columns)]
    return far.moved(with_centroids(far.recoding, released))


def far_usefulness(table: FarTable, far: Far) -> float | None:
    """Return the mean diversity of the classes, see `measures.utility`."""

    def asked(classes: Recoding) -> NDArray[np.float64]:
        return diversity_of(classes, classes.table.codes, classes.table.domains)

    found = np.concatenate([np.zeros(0), *by_class(table, far, asked)])
    return float(found.mean()) if len(found) else None


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
    work = _Worker(packing, far.recoding.table.domains, ends, asked)
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
            sensitive_domains=(),
            sensitive=np.zeros((len(starts), 0), dtype=np.int32),
        )
        classes = int(self.ends[part + 1] - self.ends[part])
        empty = np.zeros((classes, width), dtype=np.int32)
        return Recoding(
            table=table, low=empty, high=empty, row=np.arange(len(starts)),
            label=label[starts] - int(self.ends[part]), count=records,
        )  # fmt: skip
