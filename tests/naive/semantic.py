"""Semantic microaggregation, slow and obvious ([veltmann2022]): lists of records, whole trees.

Twin of `shoal.methods.microaggregation` and `shoal.methods.mondrian.semantic`. A value is its
label in a tree, its scaled whole-number position on a line, or None where it is missing.
Distances are whole numbers of units, as the fast methods have them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

Value = str | int | None
Tuple = tuple[Value, ...]
Entry = tuple[int, Tuple, int]  # number, values, records


@dataclass
class Column:
    """kind: tree, mean or median. nodes: labels of the tree in post-order; parents: their own."""

    kind: str
    unit: float
    distance: str = "wu-palmer"
    nodes: Sequence[str] = ()
    parents: dict[str, str | None] = field(default_factory=dict)
    beta: float = 1.0

    def path(self, label: str | None) -> list[str]:
        """Return a label and all above it, up to the root."""
        found = []
        while label is not None:
            found.append(label)
            label = self.parents[label]
        return found

    def height(self, label: str) -> int:
        """Return the longest way down."""
        return max(self.path(node).index(label) for node in self.nodes if label in self.path(node))

    def leaves(self, label: str) -> int:
        """Return the leaves at or below a node."""
        inner = {above for above in self.parents.values() if above is not None}
        return sum(1 for node in self.nodes if node not in inner and label in self.path(node))

    def share(self, a: str, b: str) -> Fraction | float:
        """Return the distance of two different nodes, 0 … 1, as a fraction where it is one."""
        lca = next(node for node in self.path(a) if node in self.path(b))
        depth = {node: len(self.path(node)) for node in (a, b, lca)}
        root = self.nodes[-1]
        if self.distance == "wu-palmer":
            return 1 - Fraction(2 * depth[lca], depth[a] + depth[b])
        if self.distance == "path":
            return Fraction(self.steps(a, b), self.longest)
        if self.distance == "leaf-share":
            return Fraction(self.leaves(lca), self.leaves(root))
        if self.distance == "height":
            return Fraction(self.height(lca), self.height(root))
        if self.distance in ("weighted", "weighted-example"):
            h = self.height(root) + 1  # levels count from the root, which is 1
            weight = {i: 1 / (i - 1) ** self.beta for i in range(2, h + 1)}
            if self.distance == "weighted-example":
                weight = {i: weight[h + 2 - i] for i in weight}
            lost = range(h - self.height(lca) + 1, h + 1)
            return sum(weight[i] for i in lost) / sum(weight.values())
        return Fraction(1)

    @cached_property
    def longest(self) -> int:
        """Return the longest way between two nodes."""
        return max(self.steps(x, y) for x in self.nodes for y in self.nodes)

    def steps(self, a: str, b: str) -> int:
        """Return the way from one node to another."""
        up, down = self.path(a), self.path(b)
        lca = next(node for node in up if node in down)
        return up.index(lca) + down.index(lca)

    def between(self, a: Value, b: Value) -> int:
        """Return the distance of two values in units."""
        if a == b:
            return 0
        if a is None or b is None:
            return round(self.unit)
        if isinstance(a, int) and isinstance(b, int):
            return abs(a - b)
        share = self.share(str(a), str(b))
        if isinstance(share, float):
            return round(self.unit * share)
        exact = Fraction(self.unit) * share  # whole, or ties would not be ties
        return round(exact)

    def centroid(self, weighted: Sequence[tuple[Value, int]]) -> Value:
        """Return the centroid of values with their weights."""
        whole = sum(w for _, w in weighted)
        present = [(value, w) for value, w in weighted if value is not None]
        kept = sum(w for _, w in present)
        if 2 * kept < whole:
            return None
        if self.kind == "mean":
            total = sum(int(value) * w for value, w in present)
            return (2 * total + kept) // (2 * kept)
        if self.kind == "median":
            long = sorted(value for value, w in present for _ in range(w))
            return long[(len(long) - 1) // 2]
        costs = [sum(w * self.between(node, value) for value, w in present) for node in self.nodes]
        return self.nodes[costs.index(min(costs))]  # every node of the tree is tried


def far(columns: Sequence[Column], a: Tuple, b: Tuple) -> int:
    """Return the distance of two tuples: the sum over the columns."""
    return sum(c.between(x, y) for c, x, y in zip(columns, a, b, strict=True))


def centroid(columns: Sequence[Column], entries: Sequence[Entry]) -> Tuple:
    """Return the centroid of some entries, column by column."""
    return tuple(
        column.centroid([(values[j], records) for _, values, records in entries])
        for j, column in enumerate(columns)
    )


def size(entries: Sequence[Entry]) -> int:
    """Return the number of records."""
    return sum(records for _, _, records in entries)


def mdav(
    columns: Sequence[Column],
    entries: Sequence[Entry],
    k: int,
    *,
    moving: bool,
    absorb: bool = False,
) -> list[list[Entry]]:
    """Algorithm 1. An entry is a tuple with its frequency (SA-MDAV), or a record (S-MDAV)."""
    rest = list(entries)
    clusters: list[list[Entry]] = []
    centres: list[Tuple] = []
    while size(rest) >= k:
        middle = centroid(columns, rest)
        r = max(rest, key=lambda e: e[2] * far(columns, middle, e[1]))
        _form(columns, rest, r, k, clusters, centres, moving=moving)
        if size(rest) >= k:
            s = max(rest, key=lambda e: e[2] * far(columns, r[1], e[1]))
            _form(columns, rest, s, k, clusters, centres, moving=moving)
    if absorb:
        _absorb(columns, clusters, centres, k)
    if not clusters:
        return [rest] if rest else []
    standing = [c for c in range(len(clusters)) if clusters[c]]
    for entry in rest:
        nearest = min(standing, key=lambda c: far(columns, centres[c], entry[1]))
        clusters[nearest].append(entry)
    return [cluster for cluster in clusters if cluster]


def _form(columns, rest, seed, k, clusters, centres, *, moving) -> None:
    cluster = [seed]
    rest.remove(seed)
    middle = seed[1]
    while size(cluster) < k:
        t = min(rest, key=lambda e: e[2] * far(columns, middle, e[1]))
        cluster.append(t)
        rest.remove(t)
        if moving:
            middle = centroid(columns, cluster)
    clusters.append(cluster)
    centres.append(middle)


def _absorb(columns, clusters, centres, k) -> None:
    large = [c for c, cluster in enumerate(clusters) if any(e[2] >= k for e in cluster)]
    if not large:
        return
    given = []
    for c, cluster in enumerate(clusters):
        if c in large:
            continue
        homes = [min(large, key=lambda g: far(columns, centres[g], e[1])) for e in cluster]
        here = sum(e[2] * (far(columns, centres[c], e[1]) >> 10) ** 2 for e in cluster)
        there = sum(
            e[2] * (far(columns, centres[g], e[1]) >> 10) ** 2
            for e, g in zip(cluster, homes, strict=True)
        )
        if there < here:
            given += zip(homes, cluster, strict=True)
            clusters[c] = []
    for home, entry in given:
        clusters[home].append(entry)


def mdav_generic(columns: Sequence[Column], records: Sequence[Entry], k: int) -> list[list[Entry]]:
    """MDAV-generic: k nearest to a record, two clusters at a time while 3k are left."""
    rest = list(records)
    clusters: list[list[Entry]] = []
    centres: list[Tuple] = []
    while len(rest) >= 2 * k:
        is_double = len(rest) >= 3 * k
        middle = centroid(columns, rest)
        r = max(rest, key=lambda e: far(columns, middle, e[1]))
        _form(columns, rest, r, k, clusters, centres, moving=False)
        if is_double:
            s = max(rest, key=lambda e: far(columns, r[1], e[1]))
            _form(columns, rest, s, k, clusters, centres, moving=False)
    return [*clusters, rest] if rest else clusters


def kmodes(
    columns: Sequence[Column], entries: Sequence[Entry], first: Sequence[int], k: int, rounds: int
) -> list[list[Entry]]:
    """k-modes from given first modes; then the smallest cluster is dissolved until all have k."""
    modes = [entries[at][1] for at in first]
    home: list[int] = []
    for turn in range(rounds):
        before = home
        home = [_nearest(columns, modes, e, range(len(modes))) for e in entries]
        if home == before or turn + 1 == rounds:
            break
        for c in range(len(modes)):
            members = [e for e, h in zip(entries, home, strict=True) if h == c]
            if members:
                modes[c] = centroid(columns, members)
    standing = sorted(set(home))
    while True:
        sizes = {
            c: size([e for e, h in zip(entries, home, strict=True) if h == c]) for c in standing
        }
        small = [c for c in standing if sizes[c] < k]
        if not small or len(standing) < 2:
            return [[e for e, h in zip(entries, home, strict=True) if h == c] for c in standing]
        gone = min(small, key=lambda c: sizes[c])
        standing.remove(gone)
        home = [
            _nearest(columns, modes, e, standing) if h == gone else h
            for e, h in zip(entries, home, strict=True)
        ]


def _nearest(columns, modes, entry, among) -> int:
    return min(among, key=lambda c: far(columns, modes[c], entry[1]))


def mondrian(
    columns: Sequence[Column],
    entries: Sequence[Entry],
    ranks: Sequence[dict[Value, int]],
    k: int,
    *,
    gaps: bool,
    persist: bool,
) -> list[list[Entry]]:
    """Algorithm 3, with the cuts of section 3.2.1 or, with `gaps`, those of section 3.2.2."""
    middle = centroid(columns, entries)
    costs = [
        sum(e[2] * column.between(middle[j], e[1][j]) for e in entries)
        for j, column in enumerate(columns)
    ]
    for j in sorted(range(len(columns)), key=lambda j: (-costs[j], j)):
        values = sorted({e[1][j] for e in entries}, key=lambda v: ranks[j][v])
        if costs[j] == 0:
            break
        sizes = [size([e for e in entries if e[1][j] == value]) for value in values]
        cuts = _cuts(columns[j], values, middle[j], sizes, k, gaps=gaps)
        for cut in cuts if persist else cuts[: 1 if gaps else 2]:
            left = [e for e in entries if e[1][j] in values[:cut]]
            right = [e for e in entries if e[1][j] in values[cut:]]
            if size(left) >= k and size(right) >= k:
                return [
                    *mondrian(columns, left, ranks, k, gaps=gaps, persist=persist),
                    *mondrian(columns, right, ranks, k, gaps=gaps, persist=persist),
                ]
    return [list(entries)]


def _cuts(column, values, middle, sizes, k, *, gaps) -> list[int]:
    """Return the numbers of values to the left of the cuts to try, best first."""

    def uneven(cut) -> int:
        return abs(sum(sizes[:cut]) - sum(sizes[cut:]))

    def tried(i) -> int:
        return i if sum(sizes[:i]) >= k and sum(sizes[i:]) >= k else i + 1

    if gaps:
        width = {i: column.between(values[i - 1], values[i]) for i in range(1, len(values))}
        return sorted(width, key=lambda i: (-width[i], uneven(i)))
    away = [column.between(middle, value) for value in values]
    near = sorted(range(len(values)), key=lambda i: (away[i], uneven(tried(i))))
    return [cut for i in near for cut in (i, i + 1)]
