"""Which items are rare together: counted for the judge, by projection, apart from every search.

A set is looked at only where it occurs. The records that hold its first labels are at hand, and
one count over what else they hold, behind the last of these, gives the support of every set that
is longer by one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from shoal.table.baskets import Rows, places_of


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CountedSets:
    """The labels of the records of one class; see `shoal.privacy.Itemsets`.

    Attributes:
        starts: where each record begins in `codes`, and the end.
        codes: the labels of each record, sorted and different.
        labels: how many different labels there are.
        covers: the labels that may stand for an item, by its name.
    """

    starts: NDArray[np.int64]
    codes: NDArray[np.int32]
    labels: int
    covers: Mapping[str, Sequence[int]]
    _known: dict[int | None, tuple[NDArray[np.int64], tuple[int, int]]] = field(
        default_factory=dict
    )

    def _holding(self) -> tuple[NDArray[np.int64], Rows]:
        """Return the records of each label: where they begin, and their numbers."""
        order = np.argsort(self.codes, kind="stable")
        record = np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))
        bounds = np.searchsorted(self.codes[order], np.arange(self.labels + 1))
        return bounds, record[order]

    def _beside(self, rows: Rows, last: int) -> tuple[NDArray[np.int32], Rows]:
        """Return the labels behind `last` in some records, and the record of each."""
        places = places_of(self.starts, rows)
        label = self.codes[places]
        record = np.repeat(rows, np.diff(self.starts)[rows])
        return label[label > last], record[label > last]

    def lowest(self, most: int | None) -> tuple[NDArray[np.int64], tuple[int, int]]:
        """Return, of each record, the least support of up to `most` of its labels.

        A record without labels has the number of all records. With it comes the least of all, and
        how many labels have it: (0, 0) where no record has any.
        """
        if most not in self._known:
            self._known[most] = self._lowest(most)
        return self._known[most]

    def _lowest(self, most: int | None) -> tuple[NDArray[np.int64], tuple[int, int]]:
        sizes = np.diff(self.starts)
        low = np.full(sizes.size, sizes.size, dtype=np.int64)
        if not self.codes.size:
            return low, (0, 0)
        if most is None or most >= sizes.max():
            low[sizes > 0] = self._whole_supports()
            least = int(np.argmin(np.where(sizes > 0, low, sizes.size + 1)))
            return low, (int(low[least]), int(sizes[least]))
        bounds, holding = self._holding()
        best = (sizes.size + 1, 0)
        for label in range(self.labels):
            rows = holding[bounds[label] : bounds[label + 1]]
            if rows.size:
                low[rows] = np.minimum(low[rows], rows.size)
                best = self._beside_lowest(rows, label, 1, most, low, min(best, (rows.size, 1)))
        return low, best

    def _beside_lowest(
        self, rows: Rows, last: int, size: int, most: int, low: NDArray[np.int64],
        best: tuple[int, int],
    ) -> tuple[int, int]:  # fmt: skip
        if size == most or rows.size == 1:  # what only one record holds gets no rarer
            return best
        label, record = self._beside(rows, last)
        support = np.bincount(label, minlength=1)
        np.minimum.at(low, record, support[label])
        there = np.flatnonzero(support)
        if there.size:
            best = min(best, (int(support[there].min()), size + 1))
        if size + 1 < most:
            for each in there[support[there] > 1].tolist():
                best = self._beside_lowest(record[label == each], each, size + 1, most, low, best)
        return best

    def rarest(self, most: int | None) -> tuple[int, int]:
        """Return the least support of up to `most` labels, and how many of them."""
        return self.lowest(most)[1]

    def rare_records(self, k: int, most: int | None) -> int:
        """Count the records with up to `most` labels that fewer than k records have together."""
        held = np.diff(self.starts) > 0
        return int((self.lowest(most)[0][held] < k).sum())

    def _whole_supports(self) -> NDArray[np.int64]:
        """Return, of each record with labels, how many records hold all of these."""
        bounds, holding = self._holding()
        frequency = np.diff(bounds)
        found: dict[bytes, int] = {}
        supports = []
        for row in np.flatnonzero(np.diff(self.starts)).tolist():
            held = self.codes[self.starts[row] : self.starts[row + 1]]
            key = held.tobytes()
            if key not in found:
                rarest = held[np.argmin(frequency[held])]
                rows = holding[bounds[rarest] : bounds[rarest + 1]]
                hits = np.isin(self.codes[places_of(self.starts, rows)], held)
                record = np.repeat(np.arange(rows.size), np.diff(self.starts)[rows])
                number = np.bincount(record[hits], minlength=rows.size)
                found[key] = int((number == held.size).sum())
            supports.append(found[key])
        return np.array(supports, dtype=np.int64)

    def _may_hold(self, item: str) -> NDArray[np.bool_]:
        """Say of each record whether one of its labels may stand for an item."""
        hit = np.isin(self.codes, np.array(self.covers.get(item, ()), dtype=np.int32))
        record = np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))
        held = np.zeros(len(self.starts) - 1, dtype=np.bool_)
        held[record[hit]] = True
        return held

    def covering(self, items: Sequence[str]) -> int:
        """Count the records that may hold all these items, by their labels."""
        fits = np.ones(len(self.starts) - 1, dtype=np.bool_)
        for item in items:
            fits &= self._may_hold(item)
        return int(fits.sum())

    def confidence(self, item: str, most: int | None) -> float:
        """Return the largest share, of records with up to `most` other labels, that may hold it."""
        held = self._may_hold(item)
        if not held.any():
            return 0.0
        own = set(self.covers.get(item, ()))
        best = float(held.mean())
        bounds, holding = self._holding()
        for label in range(self.labels):
            rows = holding[bounds[label] : bounds[label + 1]]
            if label not in own and rows.size and best < 1:
                best = self._confidence_beside(rows, label, 1, most, held, own, best)
        return best

    def _confidence_beside(
        self, rows: Rows, last: int, size: int, most: int | None, held: NDArray[np.bool_],
        own: set[int], best: float,
    ) -> float:  # fmt: skip
        inside = held[rows]
        if not inside.any():
            return best
        best = max(best, float(inside.mean()))
        if size == most or best == 1.0:
            return best
        label, record = self._beside(rows, last)
        for each in np.unique(label).tolist():
            if each not in own and best < 1:
                found = record[label == each]
                best = self._confidence_beside(found, each, size + 1, most, held, own, best)
        return best
