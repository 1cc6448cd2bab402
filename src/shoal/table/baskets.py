"""Baskets: the sets of items of all records, as numbers; and how each item is released."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Baskets:
    """The items of each record, sorted and different.

    Attributes:
        items: the names of the items, by their codes.
        starts: where each record begins in `codes`, and the end: int64[records + 1].
        codes: int32[occurrences].
    """

    items: tuple[str, ...]
    starts: NDArray[np.int64]
    codes: NDArray[np.int32]

    @classmethod
    def of(cls, records: Sequence[Sequence[str]]) -> Self:
        """Return the baskets of records as lists of names.

        Example:
            >>> found = Baskets.of([["b", "a", "b"], []])
            >>> found.items, found.starts.tolist(), found.codes.tolist()
            (('a', 'b'), [0, 2, 2], [0, 1])
        """
        items = tuple(sorted({item for record in records for item in record}))
        code = {item: n for n, item in enumerate(items)}
        rows = [sorted({code[item] for item in record}) for record in records]
        starts = np.zeros(len(rows) + 1, dtype=np.int64)
        starts[1:] = np.cumsum([len(row) for row in rows])
        codes = np.array([c for row in rows for c in row], dtype=np.int32)
        return cls(items, starts, codes)

    @property
    def records(self) -> int:
        """Return how many records there are."""
        return len(self.starts) - 1

    @property
    def record(self) -> Rows:
        """Return the record of each occurrence."""
        return np.repeat(np.arange(self.records), np.diff(self.starts))

    def support(self) -> NDArray[np.int64]:
        """Return how many records hold each item."""
        return np.bincount(self.codes, minlength=len(self.items))

    def part(self, rows: Rows) -> tuple[Self, Rows]:
        """Return some records, and the places of their occurrences here; the items stay."""
        places = places_of(self.starts, rows)
        starts = np.zeros(len(rows) + 1, dtype=np.int64)
        starts[1:] = np.cumsum(np.diff(self.starts)[rows])
        return type(self)(self.items, starts, self.codes[places]), places


def places_of(starts: NDArray[np.int64], rows: Rows) -> Rows:
    """Return the places of the occurrences of some records, one record behind the other.

    Example:
        >>> places_of(np.array([0, 2, 2, 5]), np.array([2, 0])).tolist()
        [2, 3, 4, 0, 1]
    """
    sizes = np.diff(starts)[rows]
    before = np.cumsum(sizes) - sizes
    shift = np.repeat(starts[rows] - before, sizes)
    return np.asarray(np.arange(int(sizes.sum())) + shift, dtype=np.int64)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class SetRecoding:
    """How the items of baskets are released.

    Attributes:
        baskets: what was recoded.
        labels: the items, by their codes, that each label stands for.
        choice: the label of each occurrence; -1: suppressed. int32[occurrences].
    """

    baskets: Baskets
    labels: tuple[tuple[int, ...], ...]
    choice: NDArray[np.int32]

    @classmethod
    def of_items(cls, baskets: Baskets) -> Self:
        """Return the recoding that leaves every item as it is."""
        return cls(baskets, tuple((item,) for item in range(len(baskets.items))), baskets.codes)

    @classmethod
    def of_partition(cls, baskets: Baskets, head: NDArray[np.int32]) -> Self:
        """Return the recoding of each item as the set of its head, everywhere."""
        return cls.local(baskets, head, np.zeros(baskets.codes.size, dtype=np.bool_))

    @classmethod
    def local(cls, baskets: Baskets, head: NDArray[np.int32], down: NDArray[np.bool_]) -> Self:
        """Return the recoding of each item as itself where `down` says so, else as its set."""
        items = len(baskets.items)
        members: dict[int, list[int]] = {}
        for item, top in enumerate(head.tolist()):
            members.setdefault(top, []).append(item)
        single = np.array([len(members[top]) == 1 for top in head.tolist()], dtype=np.bool_)
        own = down | single[baskets.codes] if items else down
        number = np.where(own, baskets.codes, items + head[baskets.codes] if items else 0)
        used, choice = np.unique(number, return_inverse=True)
        labels = tuple(
            (label,) if label < items else tuple(members[label - items]) for label in used.tolist()
        )
        return cls(baskets, labels, choice.astype(np.int32))

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Return how many items each label stands for."""
        return np.array([len(label) for label in self.labels], dtype=np.int64)

    def released(self) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """Return the different labels of each record: where each begins, and the labels."""
        kept = self.choice >= 0
        key = self.baskets.record[kept] * max(len(self.labels), 1) + self.choice[kept]
        pairs = np.unique(key)
        record, label = np.divmod(pairs, max(len(self.labels), 1))
        starts = np.searchsorted(record, np.arange(self.baskets.records + 1))
        return starts.astype(np.int64), label.astype(np.int32)

    def losses(self) -> NDArray[np.float64]:
        """Return what each occurrence loses: (items of its label - 1) / (all - 1), or 1."""
        lost = (self.sizes - 1) / max(len(self.baskets.items) - 1, 1)
        return np.where(self.choice >= 0, np.append(lost, 1.0)[self.choice], 1.0)

    def kept(self) -> float:
        """Return the share of the occurrences that are released as their item."""
        own = (self.choice >= 0) & (np.append(self.sizes, 0)[self.choice] == 1)
        return float(own.mean()) if own.size else 1.0

    def suppressed(self) -> float:
        """Return the share of the occurrences that are not released."""
        return float((self.choice < 0).mean()) if self.choice.size else 0.0

    def ncp(self) -> float:
        """Return the mean loss of an occurrence; 0 where there is none."""
        lost = self.losses()
        return float(lost.mean()) if lost.size else 0.0
