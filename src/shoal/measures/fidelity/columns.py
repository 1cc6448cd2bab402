"""What released labels cover, and how a record that has one is shared out over bins.

A label of a line covers an interval, a label of a tree the values below a node. A record counts
for all of it evenly, as a reader of the release would take it: over the whole numbers of an
interval where a column has whole numbers alone, over its length otherwise; over the values of the
original that stand below a node. What covers the missing value and others says nothing, and is
shared out over the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from shoal.measures.attacks.match import covered_codes, label_ends
from shoal.measures.cells import run_of_label
from shoal.table.domain import Domain

BINS = 20
"""Bins of a line, as SDNist makes them: by the percentiles of the original."""
CATEGORIES = 200
"""Bins of a column of categories: the commonest, and one for all others."""

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Column:
    """One column of the original, with how often each code occurs, and its released labels.

    Attributes:
        held: float64[codes], records of the original with each code.
        texts: the distinct labels of the release.
        where: int64[classes], the label of each class.
    """

    domain: Domain
    held: Floats
    texts: Sequence[str | None]
    where: Ints

    @property
    def first(self) -> int:
        """Return the code of the first value that is not the missing one."""
        return int(self.domain.has_missing)

    @property
    def is_line(self) -> bool:
        """Say whether its values stand on a line: numbers, dates, ordinal values."""
        return self.domain.tree is None

    @cached_property
    def places(self) -> Floats:
        """Return where the values of a line stand, the missing one left out."""
        return self.domain.position[self.first :]

    @cached_property
    def half(self) -> float:
        """Return how far a value of a line reaches to both sides: half a step of whole numbers."""
        return 0.5 if bool((self.places == np.floor(self.places)).all()) else 0.0

    @cached_property
    def ends(self) -> Floats:
        """Return float64[labels, 2]: the interval of each label on a line; NaN: the missing one.

        Intervals are cut off where the values of the column end.
        """
        domain, found = self.domain, np.full((len(self.texts), 2), np.nan)
        if not len(self.places):
            return found
        code = {text: i for i, text in enumerate(domain.labels) if text is not None}
        known = dict(zip(domain.labels, map(float, domain.position), strict=True))
        least, most = float(self.places[0]), float(self.places[-1])
        for i, text in enumerate(self.texts):
            if text is None or text == "":
                continue
            run = run_of_label(code, text)
            if text == domain.root and text not in code:
                found[i] = least, most
            elif run is not None:
                found[i] = domain.position[run[0]], domain.position[run[1]]
            else:
                found[i] = label_ends(domain, known, text)
        if self.half:  # a day ends before the next one begins
            inside = found[:, 1] > found[:, 0]
            found[inside, 1] = np.floor(found[inside, 1])
        clipped: Floats = np.clip(found, least, most)
        return clipped

    @cached_property
    def runs(self) -> Ints:
        """Return int64[labels, 2]: the first and last code below each label of a tree."""
        found = np.array(covered_codes(self.domain, self.texts), dtype=np.int64).reshape(-1, 2)
        values = len(self.domain)
        if self.first and values > 1:
            everything = (found[:, 0] == 0) & (found[:, 1] > 0)
            found[everything, 0] = 1
        nowhere = found[:, 0] > found[:, 1]
        found[nowhere] = (min(self.first, values - 1), values - 1)
        return found

    @cached_property
    def absent(self) -> NDArray[np.bool_]:
        """Say which labels are the missing value."""
        return np.array([text is None or text == "" for text in self.texts], dtype=bool)

    @cached_property
    def cuts(self) -> Floats:
        """Return the places that part a line into bins; a bin ends with the place itself.

        As SDNist does: a bin a value where there are few, else by percentiles of the original,
        the next higher value each.
        """
        held, places = self.held[self.first :], self.places
        bins = BINS - self.first
        if len(places) < 2:
            return np.empty(0)
        if (self.half and places[-1] - places[0] <= BINS) or len(places) <= bins:
            return (places[1:] + places[:-1]) / 2
        total = held.sum()
        ranks = np.ceil(np.arange(1, bins) / bins * (total - 1) - 1e-9)
        found = np.unique(places[np.searchsorted(held.cumsum(), ranks, side="right")])
        inner: Floats = found[(found > places[0]) & (found < places[-1])] + self.half
        return inner

    @cached_property
    def of_code(self) -> Ints:
        """Return int64[codes], the bin of each; the missing value has one of its own, the first."""
        found = np.zeros(len(self.domain), dtype=np.int64)
        if self.is_line:
            found[self.first :] = np.searchsorted(self.cuts, self.places, side="left") + self.first
            return found
        values = len(self.domain) - self.first
        if values <= CATEGORIES:
            found[:] = np.arange(len(self.domain))
            return found
        order = np.argsort(-self.held[self.first :], kind="stable")[: CATEGORIES - 1] + self.first
        found[self.first :] = self.first + CATEGORIES - 1
        found[np.sort(order)] = np.arange(len(order)) + self.first
        return found

    @cached_property
    def size(self) -> int:
        """Return the number of bins."""
        inner = len(self.cuts) + 1 if self.is_line else 0
        return max(self.first + inner, int(self.of_code.max(initial=0)) + 1)

    @cached_property
    def before(self) -> Floats:
        """Return the share of the original's records in each bin."""
        found = np.bincount(self.of_code, weights=self.held, minlength=self.size)
        return found / max(float(found.sum()), 1.0)

    @cached_property
    def spread(self) -> Floats:
        """Return float64[labels, bins]: how a record with each label is shared out; rows sum to 1.

        A missing label where the original has no missing value says nothing.
        """
        found = np.zeros((len(self.texts), self.size))
        if self.is_line:
            found[:, self.first :] = self._over_cuts()
        else:
            held = np.zeros((len(self.domain) + 1, self.size))
            held[np.arange(1, len(self.domain) + 1), self.of_code] = 1.0
            held = held.cumsum(axis=0)
            found = held[self.runs[:, 1] + 1] - held[self.runs[:, 0]]
            found /= found.sum(axis=1, keepdims=True)
        if self.absent.any():
            found[self.absent] = 0.0
            found[self.absent, : 1 if self.first else None] = 1.0 if self.first else 1 / self.size
        return found

    def _over_cuts(self) -> Floats:
        low, high = self.reach.T
        width = high - low
        wide = width > 0
        below = np.where(
            wide[:, None],
            (self.cuts - low[:, None]) / np.where(wide, width, 1.0)[:, None],
            (low[:, None] <= self.cuts).astype(np.float64),
        )
        below = np.clip(below, 0.0, 1.0)
        below[np.isnan(low)] = np.arange(1, len(self.cuts) + 1) / (len(self.cuts) + 1)
        edges = np.concatenate((np.zeros((len(low), 1)), below, np.ones((len(low), 1))), axis=1)
        shares: Floats = np.diff(edges, axis=1)
        return shares

    @cached_property
    def reach(self) -> Floats:
        """Return float64[labels, 2]: the interval of each label, each value half a step wide."""
        found: Floats = self.ends + np.array((-self.half, self.half))
        return found

    def shares_in(self, low: int, high: int) -> Floats:
        """Return float64[labels]: the share of a record with each label that is in a run of codes.

        By overlap, as whoever has the release alone would answer a query.
        """
        if self.is_line:
            return self._line_shares(low, high)
        begin, end = self.runs.T
        inside = np.minimum(end, high) - np.maximum(begin, low) + 1
        found: Floats = np.clip(inside / (end - begin + 1), 0.0, 1.0)
        found[self.absent] = float(low == 0 and self.first == 1)
        return found

    def _line_shares(self, low: int, high: int) -> Floats:
        found = np.zeros(len(self.texts))
        if high >= self.first:
            inner = max(low, self.first)
            a, b = self.domain.position[inner] - self.half, self.domain.position[high] + self.half
            begin, end = self.reach.T
            width = end - begin
            wide = width > 0
            part = (np.minimum(end, b) - np.maximum(begin, a)) / np.where(wide, width, 1.0)
            inside = (begin >= a) & (end <= b)
            found = np.where(wide, np.clip(part, 0.0, 1.0), inside.astype(np.float64))
            found = np.nan_to_num(found)
        found[self.absent] = float(low == 0 and self.first == 1)
        return found

    def codes(self) -> Ints:
        """Return int64[labels]: the code of a label that is one value alone; -1 for any other."""
        known = {text: i for i, text in enumerate(self.domain.labels)}
        tree = self.domain.tree
        found = []
        for text in self.texts:
            text = None if text == "" else text
            code = known.get(text, -1)
            is_inner = code > 0 and tree is not None and tree.heights[tree.index(str(text))] > 0
            found.append(-1 if is_inner else code)  # who reads it cannot tell it from a group
        return np.array(found, dtype=np.int64)
