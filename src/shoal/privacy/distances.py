"""Distances between the spread of a sensitive value in a class and in the whole table.

Both spreads are given as counts, value by value in the same order. Every distance lies
between 0 (same shares) and 1. Sums run over whole numbers of any size and end in one
division, which Python rounds correctly: three million records cannot overflow, and a
distance of exactly one fifth is the number 0.2 that a steward writes as `t`.

References:
    [li2007] (equal, ordered, hierarchical).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import KW_ONLY, dataclass, field
from operator import index
from typing import Literal, NamedTuple

from shoal.core.errors import PrivacyError

__all__ = [
    "DISTANCES",
    "DistanceName",
    "Reference",
    "chi_square_distance",
    "equal_distance",
    "hierarchical_distance",
    "ordered_distance",
    "whole_counts",
]

DistanceName = Literal["equal", "ordered", "hierarchical", "chi2"]
DISTANCES: tuple[DistanceName, ...] = ("equal", "ordered", "hierarchical", "chi2")

# Bits kept behind the point while chi-square adds fractions with different denominators.
_FIXED_POINT = 128


def _fault(problem: str) -> PrivacyError:
    return PrivacyError(model="distance", problem=problem)


def whole_counts(counts: Iterable[int], what: str = "counts") -> tuple[int, ...]:
    """Return counts as Python ints: 32-bit array elements would overflow in a product.

    Raises:
        PrivacyError: a count is negative or not a whole number.

    Example:
        >>> whole_counts([3, 0, 2])
        (3, 0, 2)
    """
    try:
        whole = tuple(index(count) for count in counts)
    except TypeError:
        raise _fault(f"{what} must be whole numbers") from None
    if whole and min(whole) < 0:
        raise _fault(f"{what} must not be negative")
    return whole


def _on_one_scale(
    p: Sequence[int], q: Sequence[int]
) -> tuple[tuple[int, ...], tuple[int, ...], int]:
    """Return both spreads as whole numbers that add up to the same total."""
    ours, theirs = whole_counts(p), whole_counts(q)
    if len(ours) != len(theirs):
        raise _fault(f"the class counts {len(ours)} values and the reference {len(theirs)}")
    total, reference_total = sum(ours), sum(theirs)
    if not total or not reference_total:
        raise _fault("a spread without records has no distance to anything")
    return (
        tuple(count * reference_total for count in ours),
        tuple(count * total for count in theirs),
        total * reference_total,
    )


def _extras(p: Sequence[int], q: Sequence[int]) -> tuple[list[int], int]:
    ours, theirs, scale = _on_one_scale(p, q)
    return [a - b for a, b in zip(ours, theirs, strict=True)], scale


def equal_distance(p: Sequence[int], q: Sequence[int]) -> float:
    """Return the earth mover's distance when any two values are 1 apart.

    It is half the sum of |p_i - q_i| over the shares, the total variation distance.

    Example:
        >>> equal_distance([1, 1, 0], [1, 1, 2])
        0.5
    """
    extras, scale = _extras(p, q)
    return sum(abs(extra) for extra in extras) / (2 * scale)


def ordered_distance(p: Sequence[int], q: Sequence[int]) -> float:
    """Return the earth mover's distance when values are as far apart as their positions.

    With m values in order, positions i and j are |i - j| / (m - 1) apart, and the distance
    is the sum over i of |Σ_{j<=i} (p_j - q_j)|, divided by m - 1. One value alone: 0.

    Example:
        The salaries 3k, 4k, 5k of a table with 3k … 11k (section 5 of the paper):

        >>> ordered_distance([1, 1, 1, 0, 0, 0, 0, 0, 0], [1] * 9)
        0.375
    """
    extras, scale = _extras(p, q)
    carried = work = 0
    for extra in extras:
        carried += extra
        work += abs(carried)
    return work / (max(len(extras) - 1, 1) * scale)


def hierarchical_distance(
    p: Sequence[int], q: Sequence[int], *, parents: Sequence[int], heights: Sequence[int]
) -> float:
    """Return the earth mover's distance when values are as far apart as their ancestor is high.

    Two leaves are height(lowest common ancestor) / height(root) apart. What can be
    moved below a node is moved there, so the distance is the sum over inner nodes of
    height / height(root) × min(surplus, shortage) of the node's children.

    A value may sit at an inner node: it then counts as a leaf of its own directly
    below that node, and is height(node) away from everything else under the node.

    Args:
        p: Counts of the class, one per tree node in post-order (0 where no value sits).
        q: Counts of the reference, likewise.
        parents: Position of each node's parent; children come before parents, the root
            is last and has -1.
        heights: Longest way down from each node to a leaf.

    Raises:
        PrivacyError: the lengths differ, or this is not a tree in post-order.

    Example:
        Two leaves under one inner node (2), one leaf (3) beside it, and the root (4):

        >>> tree = {"parents": [2, 2, 4, 4, -1], "heights": [0, 0, 1, 0, 2]}
        >>> hierarchical_distance([1, 0, 0, 0, 0], [0, 1, 0, 0, 0], **tree)
        0.5
        >>> hierarchical_distance([1, 0, 0, 0, 0], [0, 0, 0, 1, 0], **tree)
        1.0
    """
    extras, scale = _extras(p, q)
    tall = whole_counts(heights, "heights")
    root = len(extras) - 1
    if len(parents) != len(extras) or len(tall) != len(extras):
        raise _fault("a tree needs one count, one parent and one height per node")
    if parents[root] != -1:
        raise _fault("the last node of a post-order tree is its root, with parent -1")
    surplus, shortage = [0] * len(extras), [0] * len(extras)
    work = 0
    for node, own in enumerate(extras):
        too_many = surplus[node] + max(own, 0)
        too_few = shortage[node] + max(-own, 0)
        work += tall[node] * min(too_many, too_few)
        if node == root:
            break
        parent = parents[node]
        # A height that does not grow upwards would break the closed form silently.
        if not node < parent <= root or tall[parent] <= tall[node]:
            raise _fault("parents must come after their children and be higher than they are")
        surplus[parent] += max(too_many - too_few, 0)
        shortage[parent] += max(too_few - too_many, 0)
    return work / (max(tall[root], 1) * scale)


def chi_square_distance(p: Sequence[int], q: Sequence[int]) -> float:
    """Return the symmetric chi-square distance, 1/2 Σ (p_i - q_i)² / (p_i + q_i).

    Lim et al. (Learning Light-Weight Edge-Deployable Privacy Models) name a "Chi-Square
    distance" for t-closeness and give no formula. This form is symmetric, defined where
    a value is missing on one side, and lies between 0 and 1, as `t` does.

    Example:
        >>> chi_square_distance([1, 0], [0, 1])
        1.0
        >>> chi_square_distance([3, 1], [1, 3])
        0.25
    """
    ours, theirs, scale = _on_one_scale(p, q)
    total = sum(
        ((a - b) ** 2 << _FIXED_POINT) // (a + b)
        for a, b in zip(ours, theirs, strict=True)
        if a or b
    )
    return total / (2 * scale << _FIXED_POINT)


class _Tree(NamedTuple):
    parents: tuple[int, ...]
    heights: tuple[int, ...]
    node_of_value: tuple[int, ...]

    def spread(self, counts: Sequence[int]) -> list[int]:
        nodes = [0] * len(self.parents)
        for node, count in zip(self.node_of_value, counts, strict=True):
            nodes[node] = count
        return nodes


def _with_own_leaves(tree: _Tree) -> _Tree:
    """Give each value without a node (-1) a leaf of its own directly below the root."""
    strays = tree.node_of_value.count(-1)
    root = len(tree.parents) - 1
    moved = root + strays
    free = iter(range(root, moved))
    return _Tree(
        parents=(
            *(moved if parent == root else parent for parent in tree.parents[:root]),
            *[moved] * strays,
            tree.parents[root],
        ),
        heights=(
            *tree.heights[:root],
            *[0] * strays,
            max(tree.heights[root], 1 if strays else 0),
        ),
        node_of_value=tuple(
            next(free) if node == -1 else moved if node == root else node
            for node in tree.node_of_value
        ),
    )


@dataclass(frozen=True, slots=True)
class Reference:
    """A sensitive column in the whole table: what the spread in a class is compared with.

    Args:
        counts: Records per value. Position is order: the ordered distance reads it so. A
            missing value is a value of its own, at the place the caller gives it.
        values: The values by position, None for missing; only (alpha,k)-anonymity with
            named values reads them. Not part of the `repr`.
        parents: With `heights`, the hierarchy in post-order, as `hierarchical_distance`
            takes it; only that distance needs them.
        heights: See `parents`.
        node_of_value: The tree node of each value; -1 for a value without one, such as a
            missing value, which then is at the greatest distance from all others.
        persons: Where persons are counted, how many there are; `counts` are then persons per
            value, and a person may have several.

    Raises:
        PrivacyError: the parts do not fit each other.

    Example:
        >>> Reference([2, 1, 1]).distance("equal", [1, 0, 0])
        0.5
    """

    counts: Sequence[int]
    _: KW_ONLY
    values: Sequence[str | None] | None = field(default=None, repr=False)
    parents: Sequence[int] | None = None
    heights: Sequence[int] | None = None
    node_of_value: Sequence[int] | None = None
    persons: int | None = None
    _tree: _Tree | None = field(default=None, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "counts", whole_counts(self.counts, "reference counts"))
        if not sum(self.counts):
            raise _fault("a reference needs at least one record")
        if self.values is not None:
            object.__setattr__(self, "values", tuple(self.values))
            if len(self.values) != len(self.counts):
                raise _fault(f"{len(self.values)} values with {len(self.counts)} counts")
        if self.parents is not None and self.heights is not None and self.node_of_value is not None:
            self._set_tree(self.parents, self.heights, nodes=self.node_of_value)
        elif (self.parents, self.heights, self.node_of_value) != (None, None, None):
            raise _fault("a tree needs parents, heights and node_of_value together")

    @property
    def total(self) -> int:
        """Return how many records, or persons, there are."""
        return sum(self.counts) if self.persons is None else self.persons

    def _set_tree(
        self, parents: Sequence[int], heights: Sequence[int], *, nodes: Sequence[int]
    ) -> None:
        try:
            tree = _Tree(
                tuple(map(index, parents)),
                whole_counts(heights, "heights"),
                tuple(map(index, nodes)),
            )
        except TypeError:
            raise _fault("parents and node_of_value must be whole numbers") from None
        seated = [node for node in tree.node_of_value if node != -1]
        if len(tree.node_of_value) != len(self.counts):
            raise _fault(f"{len(tree.node_of_value)} tree nodes for {len(self.counts)} values")
        if not tree.parents or len(tree.parents) != len(tree.heights):
            raise _fault("a tree needs one parent and one height per node")
        if any(not 0 <= node < len(tree.parents) for node in seated):
            raise _fault("a value sits at a node outside the tree")
        if len(set(seated)) < len(seated):  # they would be 0 apart, and t would be understated
            raise _fault("two values sit at the same tree node")
        object.__setattr__(self, "parents", tree.parents)
        object.__setattr__(self, "heights", tree.heights)
        object.__setattr__(self, "node_of_value", tree.node_of_value)
        object.__setattr__(self, "_tree", _with_own_leaves(tree))
        self.distance("hierarchical", self.counts)  # walks, and so checks, the whole tree

    def distance(
        self, kind: DistanceName, histogram: Sequence[int], *, other: Sequence[int] | None = None
    ) -> float:
        """Return how far a class's histogram is from the whole table, or from `other`.

        Raises:
            PrivacyError: the kind is unknown, or hierarchical and there is no tree here.
        """
        against = self.counts if other is None else other
        match kind:
            case "equal":
                return equal_distance(histogram, against)
            case "ordered":
                return ordered_distance(histogram, against)
            case "chi2":
                return chi_square_distance(histogram, against)
            case "hierarchical":
                return self._hierarchical(histogram, against)
            case _:
                raise _fault(f"no such distance; there are {', '.join(DISTANCES)}")

    def _hierarchical(self, histogram: Sequence[int], against: Sequence[int]) -> float:
        tree = self._tree
        if tree is None:
            raise _fault("the hierarchical distance needs a hierarchy on the sensitive column")
        if not len(histogram) == len(against) == len(self.counts):
            raise _fault(f"a histogram must count the {len(self.counts)} values of the reference")
        return hierarchical_distance(
            tree.spread(histogram),
            tree.spread(against),
            parents=tree.parents,
            heights=tree.heights,
        )
