"""How far apart two values are by what they mean: distances on hierarchies.

Values may stand at inner nodes. Depths count from 1 at the root, as the code of [veltmann2022] has
them. For two different nodes with the lowest common ancestor `a`:

* `wu-palmer`: 1 - 2·depth(a) / (depth(u) + depth(v)), [veltmann2022], section 2.1.3;
* `path`: the steps from u over a to v, divided by the longest such way in the tree;
* `leaf-share`: the leaves below a, divided by all leaves;
* `height`: the height of a, divided by the tree's;
* `weighted`: the weights of the steps from a leaf up to that height, heavy near the root,
  divided by those of all steps ([netshiunda2020], definition 5); `weighted-example`: heavy near
  the leaf, as in the seed's worked example;
* `equal`: 1.

The *weighted semantic distance* of [veltmann2022], section 2.2.3.1, is `wu-palmer` times the
numbers of records of the two tuples: the methods that define it (`sa-mdav`) multiply, not the
table.

A missing value is as far as can be, 1, from every other value. On a line the distance is the
difference divided by the column's range.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import lcm

import numpy as np
from numpy.typing import NDArray

from shoal.core.errors import MethodError
from shoal.hierarchies.tree import Hierarchy
from shoal.kernels.microaggregation.semantic import (
    DEPTHS,
    FIELDS,
    MEAN,
    MEDIAN,
    SHARES,
    Semantics,
)
from shoal.table.domain import (
    MISSING_NODE,
    WEIGHTED,
    WEIGHTED_EXAMPLE,
    Domain,
    weighted_heights,
)

SCALE = 1 << 30
"""Searches count distances in whole units of about 1/SCALE: sums are exact in any order."""

BY_DEPTH = ("wu-palmer", "path")
BY_ANCESTOR = ("leaf-share", "height", WEIGHTED, WEIGHTED_EXAMPLE, "equal")
SHORT = 1024
"""Columns of up to this many nodes get a full table of distances."""
LARGEST = 1 << 27
"""Cells of the largest table that is made."""


def distance_name(domain: Domain, distance: str | None = None) -> str:
    """Return the distance of a column: asked for, chosen by its schema, or the usual one.

    Usual is `wu-palmer`, and `equal` for a hierarchy that is a mere list of values.

    Raises:
        MethodError: there is no such distance.
    """
    name = distance or domain.distance
    if name is None:
        return "equal" if domain.tree is None or domain.tree.height <= 1 else "wu-palmer"
    if name not in (*BY_DEPTH, *BY_ANCESTOR):
        known = ", ".join((*BY_DEPTH, *BY_ANCESTOR))
        raise MethodError(problem=f"distance {name!r}: there is no such distance, only {known}")
    return name


def distance_table(domain: Domain, distance: str | None = None) -> NDArray[np.float64]:
    """Return the distance of every pair of codes of a column: float64[codes, codes].

    Raises:
        MethodError: no such distance, or too many values for a table.

    Example:
        >>> from shoal.schema.schema import Kind
        >>> from shoal.table.domain import tree_domain
        >>> pets = Hierarchy.from_tree("pet", {"*": {"dog": ["terrier", "poodle"], "cat": None}})
        >>> column = tree_domain("pet", Kind.CATEGORICAL, ["terrier", "poodle", "cat"], pets,
        ...                      missing=False, weight=1.0)
        >>> distance_table(column).round(2).tolist()
        [[0.0, 0.33, 0.6], [0.33, 0.0, 0.6], [0.6, 0.6, 0.0]]
    """
    size = len(domain)
    if size * size > LARGEST:
        raise MethodError(
            problem=f"column {domain.name!r}: {size} values are too many for a table of distances; "
            "generalize it first"
        )
    if domain.tree is None:
        spread = domain.position / (domain.span or 1.0)
        table = np.abs(spread[:, None] - spread[None, :])
    else:
        node = domain.position.astype(np.int64)
        table = between(
            domain.tree, node[:, None], node[None, :],
            distance_name(domain, distance), beta=domain.beta,
        )  # fmt: skip
    if domain.has_missing:
        table[0, :] = table[:, 0] = 1.0
        table[0, 0] = 0.0
    return table


def between(
    tree: Hierarchy,
    first: NDArray[np.int64],
    second: NDArray[np.int64],
    distance: str,
    *,
    beta: float = 1.0,
) -> NDArray[np.float64]:
    """Return the distances of pairs of nodes; the two arrays are broadcast.

    Law:
        Symmetric, 0 for a node and itself, at most 1.
    """
    a, b = (side.copy() for side in np.broadcast_arrays(first, second))
    parent = np.asarray(tree.parents, dtype=np.int64)
    is_same = a == b
    while (apart := a != b).any():  # of two nodes the earlier in post-order is no ancestor
        climbs = apart & (a < b)
        a[climbs] = parent[a[climbs]]
        climbs = apart & (b < a)
        b[climbs] = parent[b[climbs]]
    if distance in BY_DEPTH:
        depth = np.asarray(tree.depths, dtype=np.int64) + 1
        return _by_depth(tree, distance, depth[a], depth[first] + depth[second])
    found: NDArray[np.float64] = np.where(is_same, 0.0, _shares(tree, distance, beta)[a])
    return found


def candidates(tree: Hierarchy, nodes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the nodes that can be centroids of such values, ascending: they and all above them.

    No other node can be better. Let c be a node with none of the values at or below it, and a
    its lowest ancestor that has one. For every value v the lowest common ancestor of c and v is
    that of a and v, and c lies deeper than a; so no distance above is smaller for c than for a.
    In the same way a node above the lowest common ancestor of all values is no better than
    that one. Of equally good nodes the first in post-order is taken, which is never one above
    another: so the candidates of a class are the nodes from its values up to their lowest
    common ancestor.
    """
    parent = np.asarray(tree.parents, dtype=np.int64)
    is_marked = np.zeros(len(tree), dtype=bool)
    place = np.unique(nodes)
    while len(place):
        place = place[~is_marked[place]]
        is_marked[place] = True
        place = parent[place]
        place = np.unique(place[place >= 0])
    return np.flatnonzero(is_marked)


def semantics_of(domains: Sequence[Domain], *, distance: str | None = None) -> Semantics:
    """Return the columns as compiled code reads them, about SCALE for all of the heaviest column.

    Args:
        domains: the columns.
        distance: of every hierarchy, whatever its column says; None: the column's own.
    """
    facts: list[tuple[int, ...]] = []
    parts: list[NDArray[np.int64]] = [_NOTHING]
    start = codes = 0
    for domain, unit in zip(domains, units_of(domains, distance=distance), strict=True):
        kind = MEAN if domain.kind == "numeric" else MEDIAN
        place, node, table, sums, width = (
            _line_places(domain, unit),
            _NOTHING,
            _NOTHING,
            _NOTHING,
            0,
        )
        if domain.tree is not None:
            name = distance_name(domain, distance)
            kind = DEPTHS if name in BY_DEPTH else SHARES
            place, grid, sums, width = _tree_arrays(domain, name, unit)
            node = grid.ravel()
            if len(grid) <= SHORT:
                table = _full_table(grid, sums, width, kind)
        at = start + np.cumsum([0, len(place), len(node), len(table)])
        facts.append(
            (kind, round(unit), len(domain), len(node) // FIELDS, at[0], at[1],
             at[2] if len(table) else -1, at[3], width, codes)
        )  # fmt: skip
        parts += [place, node, table, sums]
        start, codes = int(at[3]) + len(sums), codes + len(domain)
    return Semantics(
        column=np.array(facts, dtype=np.int64).reshape(-1, 10), flat=np.concatenate(parts)
    )


def units_of(domains: Sequence[Domain], *, distance: str | None = None) -> list[float]:
    """Return how many units a distance of 1 is in each column.

    Distances on trees are fractions. Their denominators divide the units, so that they are whole
    numbers, and equal sums of them are equal: ties are real ties. This is so as long as a common
    multiple of all denominators is no larger than SCALE: for `wu-palmer` in trees of up to eleven
    levels. The columns that would go beyond are rounded to units.
    """
    heaviest = max((domain.weight for domain in domains), default=1.0)
    shares = [Fraction(domain.weight) / Fraction(heaviest) for domain in domains]
    common = 1
    for domain, share in zip(domains, shares, strict=True):
        more = lcm(common, _denominator(domain, distance) * share.denominator)
        common = more if more <= SCALE else common
    scale = SCALE // common * common
    return [float(scale * share) for share in shares]


def _denominator(domain: Domain, distance: str | None) -> int:
    """Return a number that the denominators of all distances of a column divide."""
    tree = domain.tree
    if tree is None:
        return 1
    name = distance_name(domain, distance)
    if name == "wu-palmer":  # (b - 2a) / b, where b is a sum of two depths
        deepest = max(tree.depths) + 1
        return lcm(*(both // 2 if both % 2 == 0 else both for both in range(2, 2 * deepest + 1)))
    whole = tree.leaf_counts[tree.root] - (MISSING_NODE in tree)
    found = {"path": _longest_way(tree), "leaf-share": whole, "height": tree.height}
    return max(found.get(name, 1), 1)


_NOTHING = np.zeros(0, dtype=np.int64)


def _line_places(domain: Domain, unit: float) -> NDArray[np.int64]:
    place = np.full(len(domain), -1, dtype=np.int64)
    inner = domain.position[1:] if domain.has_missing else domain.position
    if len(inner):
        place[len(domain) - len(inner) :] = np.rint(
            (inner - inner[0]) / (domain.span or 1.0) * unit
        )
    return place


def _tree_arrays(
    domain: Domain, distance: str, unit: float
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], int]:
    """Return places of codes, nodes (parent, depth, share), and distances by depths."""
    tree = domain.tree
    if tree is None:
        raise TypeError("a line has no nodes")
    values = domain.position.astype(np.int64)
    if domain.has_missing:
        values = values[1:]
    kept = candidates(tree, values)
    node = np.zeros((len(kept), 3), dtype=np.int64)
    above = np.asarray(tree.parents, dtype=np.int64)[kept]
    node[:, 0] = np.where(above >= 0, np.searchsorted(kept, above), -1)
    node[:, 1] = np.asarray(tree.depths, dtype=np.int64)[kept] + 1
    place = np.concatenate(([-1] * domain.has_missing, np.searchsorted(kept, values)))
    if distance in BY_ANCESTOR:
        node[:, 2] = np.rint(_shares(tree, distance, domain.beta)[kept] * unit)
        return place.astype(np.int64), node, _NOTHING, 0
    deepest = int(node[:, 1].max(initial=1))
    width = 2 * deepest + 1
    if (deepest + 1) * max(width, len(node)) > LARGEST:
        raise MethodError(
            problem=f"column {domain.name!r}: a hierarchy of {len(node)} used nodes in {deepest} "
            "levels is too deep for this distance; choose distance: leaf-share or height"
        )
    lca, both = np.arange(deepest + 1)[:, None], np.maximum(np.arange(width), 1)[None, :]
    sums = np.clip(_by_depth(tree, distance, lca, both), 0.0, 1.0) * unit
    return place.astype(np.int64), node, np.rint(sums).astype(np.int64).ravel(), width


def _full_table(
    node: NDArray[np.int64], sums: NDArray[np.int64], width: int, kind: int
) -> NDArray[np.int64]:
    """Return the distances of all pairs of nodes, exactly as the nodes' own arrays give them."""
    size = len(node)
    own = np.arange(size)
    first = own.copy()
    for at, above in enumerate(node[:, 0]):
        if above >= 0:
            first[above] = min(first[above], first[at])
    meet = np.full((size, size), size - 1)
    for at in range(size - 2, -1, -1):  # the root is last
        meet[at] = meet[node[at, 0]]
        meet[at, first[at] : at + 1] = at
    if kind == SHARES:
        table = node[meet, 2]
        table[own, own] = 0
    else:
        depth = node[:, 1]
        table = sums[depth[meet] * width + depth[:, None] + depth[None, :]]
    flat: NDArray[np.int64] = table.astype(np.int64).ravel()
    return flat


def _by_depth(
    tree: Hierarchy, distance: str, ancestor: NDArray[np.int64], both: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return the distance by the depth of the common ancestor and the sum of the two depths."""
    if distance == "wu-palmer":
        return 1.0 - 2.0 * ancestor / both
    return (both - 2.0 * ancestor) / max(_longest_way(tree), 1)


def _longest_way(tree: Hierarchy) -> int:
    """Return the steps between the two nodes of a tree that are furthest apart."""
    longest = 0
    reach = [0] * len(tree)
    for node, above in enumerate(tree.parents[:-1]):
        if tree.labels[node] == MISSING_NODE:  # no leaf that anybody wrote
            continue
        longest = max(longest, reach[above] + reach[node] + 1)
        reach[above] = max(reach[above], reach[node] + 1)
    return longest


def _shares(tree: Hierarchy, distance: str, beta: float) -> NDArray[np.float64]:
    """Return, for each node, the distance of two values whose lowest common ancestor it is."""
    if distance == "equal":
        return np.ones(len(tree))
    if distance == "leaf-share":
        leaves = np.asarray(tree.leaf_counts, dtype=np.float64)
        # The place of missing values is no leaf that anybody wrote.
        whole = tree.leaf_counts[tree.root] - (MISSING_NODE in tree)
        return np.minimum(leaves / max(whole, 1), 1.0)
    heights = np.asarray(tree.heights)
    if distance == "height":
        return heights / max(tree.height, 1)
    rises = weighted_heights(tree.height, beta=beta, example=distance == WEIGHTED_EXAMPLE)
    found: NDArray[np.float64] = rises[heights]
    return found
