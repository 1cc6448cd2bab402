"""What a label says beyond what it covers: the places where somebody of the class must stand.

A label is the narrowest one that the method may write. So somebody stands at each end of a tight
interval, somebody in each of the two children of a node, and somebody where a shorter interval of
the grid would not have reached.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date

from shoal.core.grids import DateGrid, Grid, NumberGrid, RankGrid, Span
from shoal.measures.attacks.match import label_ends, place_of
from shoal.table.domain import Domain
from shoal.table.rounding import lifts, read_span

MISSING, UNKNOWN = -math.inf, math.inf
"""Where a missing value stands, and one that no label but the root covers."""

Zone = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Meaning:
    """What a label covers, and where in it somebody must stand; each place by its two ends.

    Attributes:
        is_tight: the zones are single values of people.
        is_forced: the zones are the two children of a node.
    """

    low: float
    high: float
    zones: tuple[Zone, ...] = ()
    is_tight: bool = False
    is_forced: bool = False


@dataclass(frozen=True)
class Reader:
    """Somebody who reads the labels of a column.

    Attributes:
        domain: the column of the table.
        grid: where its intervals end, if labels are round.
        is_round: nodes with two children have given way to those above them.
    """

    domain: Domain
    grid: Grid | None
    is_round: bool

    def place(self, text: str | None) -> float:
        """Return where a value stands: its number, day, or node."""
        if text is None or text == "":
            return MISSING
        tree = self.domain.tree
        if tree is not None:
            node = tree.get(text)
            return UNKNOWN if node is None else float(node)
        found = place_of(self.domain, text)
        return UNKNOWN if math.isnan(found) else found

    def meanings(self, labels: Sequence[str | None]) -> list[Meaning]:
        """Return what each label means."""
        return [self._meaning(label) for label in labels]

    def _meaning(self, label: str | None) -> Meaning:
        if label is None or label == "":
            return Meaning(MISSING, MISSING)
        if self.domain.tree is not None:
            return self._of_node(label)
        if label == self.domain.root:
            return Meaning(-math.inf, math.inf)
        known = dict(zip(self.domain.labels, self.domain.position.tolist(), strict=True))
        low, high = label_ends(self.domain, known, label)
        ladder = self.domain.ladder
        if label in known or low == high or (ladder is not None and ladder.get(label) is not None):
            return Meaning(low, high)
        if label.startswith("[") and not (self.is_round and isinstance(self.grid, RankGrid)):
            return Meaning(low, high, ((low, low), (high, high)), is_tight=True)
        return Meaning(low, high, self._forced(label, low, high))

    def _of_node(self, label: str) -> Meaning:
        tree = self.domain.tree
        assert tree is not None
        node = tree.get(label)
        if node is None:
            return Meaning(math.nan, math.nan)
        is_root = node == tree.root
        low, high = float(tree.first[node]), float(node)
        if is_root:
            low, high = -math.inf, math.inf
        children = [child for child, above in enumerate(tree.parents) if above == node]
        if len(children) != 2 or (self.is_round and self._gave_way(node)):
            return Meaning(low, high)
        zones = tuple((float(tree.first[child]), float(child)) for child in children)
        return Meaning(low, high, zones, is_forced=True)

    def _gave_way(self, node: int) -> bool:
        """Say whether a node below has given way to this one: then no child need be there."""
        assert self.domain.tree is not None
        tree, above = self.domain.tree, lifts(self.domain.tree)
        children = Counter(tree.parents)
        return any(
            above[other] == node and other != node and children[other] for other in range(len(tree))
        )

    def _forced(self, label: str, low: float, high: float) -> tuple[Zone, ...]:
        """Return the parts of an interval of the grid that no shorter one would have reached."""
        if self.grid is None:
            return ()
        scale = _scale_of(self.grid, read_span(self.domain, label), low, high)
        if scale is None:
            return ()
        first, last, text, zone = scale

        def is_same(i: int, j: int) -> bool:
            assert self.grid is not None
            return self.grid.span(text(i), text(j)).label == label

        if last <= first or not is_same(first, last):
            return ()
        top = _last(lambda i: is_same(i, last), first, last - 1)
        bottom = last - _last(lambda i: is_same(first, last - i), 0, last - first - 1)
        return zone(first, top), zone(bottom, last)


_Scale = tuple[int, int, Callable[[int], str], Callable[[int, int], Zone]]


def _scale_of(grid: Grid, span: Span | None, low: float, high: float) -> _Scale | None:
    """Return the values of an interval as whole numbers, and what they are on the line."""
    if isinstance(grid, RankGrid):
        return round(low), round(high), grid.order.__getitem__, lambda i, j: (float(i), float(j))
    if span is None:
        return None
    if isinstance(grid, NumberGrid):
        unit = 10**grid.digits
        return (
            round(span.begin * unit), round(span.end * unit),
            lambda i: f"{i}e-{grid.digits}", lambda i, j: (i / unit, j / unit),
        )  # fmt: skip
    if isinstance(grid, DateGrid):
        return (
            math.floor(span.begin), math.floor(span.end),
            lambda i: date.fromordinal(i).isoformat(),
            lambda i, j: (float(i), math.nextafter(j + 1, 0)),
        )  # fmt: skip
    minutes = 24 * 60
    return (
        round(span.begin * minutes), math.ceil(span.end * minutes) - 1,
        lambda i: f"{i // 60:02d}:{i % 60:02d}:00",
        lambda i, j: (i / minutes, math.nextafter((j + 1) / minutes, 0)),
    )  # fmt: skip


def _last(holds: Callable[[int], bool], first: int, last: int) -> int:
    """Return the last number of a run for which something holds; it holds for the first."""
    while first < last:
        middle = (first + last + 1) // 2
        first, last = (middle, last) if holds(middle) else (first, middle - 1)
    return first


def reader_of(domain: Domain, grid: Grid | None, *, is_round: bool) -> Reader:
    """Return who reads a column; a grid of days reads ISO dates, whatever the column writes."""
    return Reader(domain, DateGrid() if isinstance(grid, DateGrid) else grid, is_round)
