"""Distributions of columns before and after, sizes of classes, associations: for pictures.

Everything is binned once, from the frequency table and the classes: a bin a value where a column
has few, equal steps of a line, nodes of a hierarchy. A released label is spread evenly over what
it covers, as a reader of the release would take it. Where persons are counted, each counts
once, shared out over their records.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from shoal.hierarchies.draw import draw
from shoal.hierarchies.tree import Hierarchy
from shoal.measures.binning import (
    MISSING,
    Bins,
    Floats,
    Ints,
    bins_of,
    spread_nodes,
    spread_points,
    spread_runs,
    sums,
)
from shoal.measures.risk.classes import BANDS
from shoal.reports.pictures import Associations, Distribution, Pictures, SizeBand
from shoal.table.domain import MISSING_NODE, Domain
from shoal.table.frequency import ONCE
from shoal.table.recoding import Recoding

LABELS = 12
MOST_ASSOCIATED = 12
SAMPLED = 50_000
"""Rows and classes that associations look at, evenly spread over the sorted table."""
_DRAWN = 24


def pictures_of(recoding: Recoding, *, has_tuples: bool = True) -> Pictures:
    """Count what the pictures of a release show.

    has_tuples: False where the rows stayed on a cluster and the recoding has the classes alone:
        then nothing is known of the table before.
    """
    members = _Members(recoding, has_tuples)
    columns = [_Column(recoding, j, members) for j in range(len(recoding.table.domains))]
    return Pictures(
        unit="record" if recoding.table.persons is None else "person",
        columns={each.domain.name: each.distribution() for each in columns},
        sizes=members.bands(),
        associations=_associations(columns, members),
        hierarchies={
            each.name: _drawn(tree)
            for each in recoding.table.domains
            if (tree := each.tree or each.ladder) is not None
        },
    )


@dataclass(frozen=True)
class _Members:
    """How much each row and each class counts."""

    recoding: Recoding
    has_tuples: bool

    @cached_property
    def weights(self) -> Floats:
        """Return what each member counts: its records, or its share of persons."""
        made = self.recoding
        count = made.count.astype(np.float64)
        if made.table.persons is None:
            return count
        who = made.table.persons[made.row]
        known = who >= 0
        own = np.bincount(who[known], weights=count[known])
        count[known] /= own[who[known]]
        count[~known & (who != ONCE)] = 0.0
        return count

    @cached_property
    def rows(self) -> Floats:
        made = self.recoding
        return sums(made.row, self.weights, made.table.rows)

    @cached_property
    def classes(self) -> Floats:
        made, kept = self.recoding, self.recoding.label >= 0
        return sums(made.label[kept], self.weights[kept], made.classes)

    def bands(self) -> tuple[SizeBand, ...]:
        after = _band_sums(self.recoding.persons)
        before: list[int | None] = [None] * len(BANDS)
        if self.has_tuples:
            before = [*_band_sums(self._tuples())]
        return tuple(
            SizeBand(low=low, high=high, before=old, after=new)
            for (low, high), old, new in zip(BANDS, before, after, strict=True)
        )

    def _tuples(self) -> Ints:
        """Return the records, or persons, of each distinct tuple of the table."""
        table = self.recoding.table
        if table.persons is None:
            return table.tuple_sizes
        every = np.arange(table.rows)
        most = int(table.tuple_ids.max(initial=-1)) + 1
        return table.persons_of(every, table.tuple_ids, table.counts, most)


def _band_sums(sizes: Ints) -> list[int]:
    edges = [low for low, _ in BANDS[1:]]
    place = np.searchsorted(edges, sizes, side="right")
    totals = np.bincount(place, weights=sizes, minlength=len(BANDS))
    return [round(float(each)) for each in totals]


@dataclass(frozen=True)
class _Column:
    """One quasi-identifier of a recoding."""

    recoding: Recoding
    place: int
    members: _Members

    @property
    def domain(self) -> Domain:
        return self.recoding.table.domains[self.place]

    @cached_property
    def codes(self) -> NDArray[np.int32]:
        return self.recoding.table.codes[:, self.place]

    @cached_property
    def weights(self) -> Floats | None:
        """Return how often each code occurs; None where that was not counted."""
        if not self.members.has_tuples:
            return None
        return sums(self.codes, self.members.rows, len(self.domain))

    @cached_property
    def bins(self) -> Bins:
        return bins_of(self.domain, self.weights)

    @cached_property
    def distinct(self) -> tuple[list[str | None], Ints]:
        return self.recoding.distinct_labels(self.place)

    @cached_property
    def spread(self) -> Floats:
        """Return float64[labels, bins]: how a record with each label is shared out to bins."""
        texts, where = self.distinct
        size = len(texts)
        if self.recoding.released is not None:
            return spread_points(self.bins, self._points(texts, where))
        first = np.zeros(size, dtype=np.int64)
        first[where] = np.arange(len(where))  # a class that has the label
        if self.recoding.node is not None:
            nodes = self.recoding.node[first, self.place].astype(np.int64)
            assert self.domain.ladder is not None
            return spread_nodes(self.bins, self.domain.ladder, self.domain.ladder_nodes(), nodes)
        low, high = self.recoding.low[first, self.place], self.recoding.high[first, self.place]
        tree = self.domain.tree
        if tree is not None:
            at = self.domain.position.astype(np.int64)
            pairs = zip(at[low].tolist(), at[high].tolist(), strict=True)
            nodes = np.array([tree.lca(pair) for pair in pairs], dtype=np.int64)
            return spread_nodes(self.bins, tree, at, nodes)
        return spread_runs(self.bins, self.domain, low.astype(np.int64), high.astype(np.int64))

    def _points(self, texts: Sequence[str | None], where: Ints) -> Floats:
        """Return float64[labels, 2]: position of a centroid on the line (or NaN), and its code."""
        domain, found = self.domain, np.full((len(texts), 2), np.nan)
        code = {text: i for i, text in enumerate(domain.labels)}
        means: Floats | None = None
        for i, text in enumerate(texts):
            if text in code:
                found[i] = domain.position[code[text]], code[text]
            elif domain.tree is not None and text is not None and text in domain.tree:
                found[i, 1] = _code_under(domain, domain.tree, domain.tree.index(text))
            elif domain.tree is None:
                found[i, 0] = _number(text)
                if math.isnan(found[i, 0]):  # a date between two that occur
                    means = self._means(where, len(texts)) if means is None else means
                    found[i, 0] = means[i]
                found[i, 1] = np.abs(domain.position - found[i, 0]).argmin()
        return found

    def _means(self, where: Ints, size: int) -> Floats:
        """Return the mean position of the records with each label."""
        made = self.recoding
        kept = made.label >= 0
        label, count = where[made.label[kept]], made.count[kept]
        places = self.domain.position[self.codes[made.row[kept]]]
        total = np.bincount(label, weights=places * count, minlength=size)
        return total / np.maximum(np.bincount(label, weights=count, minlength=size), 1)

    def distribution(self) -> Distribution:
        bins, (texts, where) = self.bins, self.distinct
        before = None
        if self.weights is not None:
            before = sums(bins.of_code, self.weights, bins.size)
        held = sums(where, self.members.classes, len(texts))
        after = held @ self.spread
        people = np.bincount(where, weights=self.recoding.persons, minlength=len(texts))
        shown: dict[str, int] = {}
        for text, number in zip(texts, people.tolist(), strict=True):
            name = MISSING if text is None else text
            shown[name] = shown.get(name, 0) + round(number)
        often = sorted(shown, key=lambda name: (-shown[name], name))[:LABELS]
        return Distribution(
            bins=bins.names,
            before=None if before is None else tuple(before.round(6).tolist()),
            after=tuple(after.round(6).tolist()),
            labels=tuple((name, shown[name]) for name in shown if name in often),
            others=sum(shown.values()) - sum(shown[name] for name in often),
            different=len(shown),
        )


def _number(text: str | None) -> float:
    try:
        return float(text or "nan")
    except ValueError:
        return math.nan


def _code_under(domain: Domain, tree: Hierarchy, node: int) -> float:
    """Return the code in the middle of those below a node; NaN where none is."""
    nodes = domain.position
    below = np.flatnonzero((nodes >= tree.first[node]) & (nodes <= node))
    return float(below[len(below) // 2]) if len(below) else math.nan


def _associations(columns: Sequence[_Column], members: _Members) -> Associations | None:
    """Measure how strongly each two columns go together, before and after."""
    chosen = columns[:MOST_ASSOCIATED]
    if len(chosen) < 2:
        return None
    rows = _sample(members.recoding.table.rows)
    classes = _sample(members.recoding.classes)
    held = members.classes[classes]
    spreads = [each.spread[each.distinct[1][classes]] for each in chosen]
    before = None
    if members.has_tuples:
        weights = members.rows[rows]
        places = [each.bins.of_code[each.codes[rows]] for each in chosen]
        sizes = [each.bins.size for each in chosen]
        before = _matrix(
            len(chosen),
            lambda i, j: sums(
                places[i] * sizes[j] + places[j], weights, sizes[i] * sizes[j]
            ).reshape(sizes[i], sizes[j]),
        )
    after = _matrix(len(chosen), lambda i, j: (spreads[i] * held[:, None]).T @ spreads[j])
    return Associations(
        columns=tuple(each.domain.name for each in chosen), before=before, after=after
    )


def _sample(size: int) -> Ints:
    return np.linspace(0, size - 1, min(size, SAMPLED)).astype(np.int64)


def _matrix(
    size: int, table: Callable[[int, int], NDArray[np.float64]]
) -> tuple[tuple[float, ...], ...]:
    found = np.eye(size)
    for i in range(size):
        for j in range(i):
            found[i, j] = found[j, i] = round(cramers_v(table(i, j)), 6)
    return tuple(tuple(row) for row in found.tolist())


def cramers_v(table: Floats) -> float:
    """Return Cramér's V of a contingency table, 0 (independent) … 1 (one tells the other).

    Example:
        >>> cramers_v(np.array([[5.0, 0.0], [0.0, 5.0]]))
        1.0
    """
    table = table[table.sum(axis=1) > 0][:, table.sum(axis=0) > 0]
    least = min(table.shape) - 1
    if least < 1:
        return 0.0
    total = table.sum()
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / total
    chi = float(((table - expected) ** 2 / expected).sum())
    return min(math.sqrt(chi / total / least), 1.0)


def _drawn(tree: Hierarchy) -> str:
    """Draw a hierarchy, without the leaf that stands for the missing value."""
    lines = draw(tree, _DRAWN).splitlines()
    hidden = MISSING_NODE.encode("unicode_escape").decode()
    return "\n".join(line.replace(hidden, MISSING) for line in lines)
