"""Classes that a promise cannot tell apart are judged once, however many there are."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from shoal.privacy import Needs, Promise, Verdict
from shoal.table.frequency import number_rows

MANY = 64
"""Different values of a class above which no other one is looked for that is alike."""


def reads_places(promise: Promise) -> bool:
    """Say whether it matters which value has how many records, and not only how many."""
    needs = Needs.REFERENCE | Needs.SUPERSETS
    return bool(promise.needs & needs) or getattr(promise, "values", None) is not None


@dataclass(frozen=True)
class Histograms:
    """Records of classes by the place of a sensitive value; places without a record are left out.

    Attributes:
        start: int64[classes + 1], where those of each class begin.
        place, count: sorted by place within a class, and by falling count where only these matter.
    """

    start: NDArray[np.int64]
    place: NDArray[np.int64]
    count: NDArray[np.int64]

    @classmethod
    def of(
        cls,
        label: NDArray[np.int64],
        place: NDArray[np.int64],
        count: NDArray[np.int64],
        classes: int,
    ) -> Histograms:
        """Return the histograms of classes; records of one class at one place are added up."""
        size = int(place.max(initial=0)) + 1
        key = label * size + place
        order = np.argsort(key, kind="stable")
        key, count = key[order], count[order]
        fresh = np.ones(len(key), dtype=np.bool_)
        fresh[1:] = key[1:] != key[:-1]
        starts = np.flatnonzero(fresh)
        summed = np.add.reduceat(count, starts) if len(starts) else count
        key = key[starts]
        bounds = np.searchsorted(key, np.arange(classes + 1, dtype=np.int64) * size)
        return cls(bounds.astype(np.int64), key % size, summed.astype(np.int64))

    def by_count(self) -> Histograms:
        """Return the counts of each class in falling order, and no places."""
        label = np.repeat(np.arange(len(self.start) - 1), np.diff(self.start))
        order = np.lexsort((-self.count, label))
        return Histograms(self.start, np.zeros_like(self.place), self.count[order])

    def of_class(self, number: int) -> dict[int, int]:
        """Return the records of a class at each place."""
        some = slice(int(self.start[number]), int(self.start[number + 1]))
        return dict(zip(self.place[some].tolist(), self.count[some].tolist(), strict=True))

    def counts_of(self, number: int) -> list[int]:
        """Return the counts of a class."""
        found: list[int] = self.count[self.start[number] : self.start[number + 1]].tolist()
        return found

    def alike(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return one class for each histogram that there is, and which one every class has."""
        width = np.diff(self.start)
        which = np.empty(len(width), dtype=np.int64)
        first: list[NDArray[np.int64]] = []
        distinct, rank = np.unique(self.count, return_inverse=True)
        sizes = [int(self.place.max(initial=0)) + 1, max(len(distinct), 1)]
        found = 0
        for many in np.unique(width).tolist():
            classes = np.flatnonzero(width == many)
            if many > MANY:
                which[classes] = np.arange(found, found + len(classes))
                first.append(classes)
                found += len(classes)
                continue
            at = self.start[classes][:, None] + np.arange(many)
            rows = np.stack((self.place[at], rank[at]), axis=2).reshape(len(classes), 2 * many)
            number, order, starts = number_rows(rows.astype(np.int32), sizes * many)
            which[classes] = number + found
            first.append(classes[order[starts]])
            found += len(starts)
        return np.concatenate(first) if first else np.zeros(0, dtype=np.int64), which


def for_all(verdict: Verdict, which: NDArray[np.int64]) -> Verdict:
    """Return the verdict on all classes from that on one of each kind; see `Histograms.alike`."""
    if verdict.holds:
        return verdict
    wrong = np.zeros(int(which.max(initial=-1)) + 1, dtype=np.bool_)
    wrong[list(verdict.failing)] = True
    return replace(verdict, failing=tuple(np.flatnonzero(wrong[which]).tolist()))
