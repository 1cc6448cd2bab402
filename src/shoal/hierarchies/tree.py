"""Value hierarchies: trees in post-order whose nodes may all be values of a column.

Post-order makes the tree arithmetic: the subtree of `u` is the run of indices
`first[u] … u`, so "is below" and "lowest common ancestor" need comparisons only, and
neighbours in the numbering are neighbours in the tree.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NoReturn, Self

from shoal.core.documents import Document
from shoal.core.errors import UnknownValueError
from shoal.hierarchies.links import (
    clean_rows,
    links_of_parents,
    links_of_rows,
    links_of_tree,
    post_order,
    refuse,
    steps_of_rows,
)

# For each node the levels at which it gives way to its parent, ascending.
Moves = tuple[tuple[int, ...], ...]


class Hierarchy:
    """A tree of labels, immutable; built by `flat` or one of the `from_…` constructors.

    Nodes are numbered in post-order (root last), children in order of first appearance.

    Attributes:
        name: the column it belongs to.
        labels: the text of each node.
        parents: the parent of each node; -1 for the root.
        first: the smallest index in the subtree of each node.
        heights: the longest way down from each node to a leaf below it.
        depths: the way up from each node to the root.
        leaf_counts: the leaves below each node; a leaf counts itself.
        leaves: the indices of the leaves, ascending.
        levels: the number of generalization levels, the values themselves included.
        origin: the file it was read from; no part of what it is, so equal trees may differ in it.

    Law:
        `u` is an ancestor of `v`, or `v` itself, iff `first[u] <= v <= u`.

    Guarantee:
        Values that are equal at one level are equal at every higher level, and at the
        last level every value is the root.

    Example:
        >>> place = Hierarchy.from_tree("place", {"*": {"Europe": ["France", "Italy"]}})
        >>> place.labels
        ('France', 'Italy', 'Europe', '*')
        >>> place.labels[place.lca([0, 1])]
        'Europe'
    """

    name: str
    labels: tuple[str, ...]
    parents: tuple[int, ...]
    first: tuple[int, ...]
    heights: tuple[int, ...]
    depths: tuple[int, ...]
    leaf_counts: tuple[int, ...]
    leaves: tuple[int, ...]
    levels: int
    origin: str | None
    _index: dict[str, int]
    _shortest: tuple[int, ...]  # the shortest way down to a leaf
    _moves: Moves | None  # None: the levels follow from the tree
    __slots__ = (
        *("name", "labels", "parents", "first", "heights", "depths", "leaf_counts", "leaves"),
        *("levels", "origin", "_index", "_shortest", "_moves"),
    )

    def __init__(
        self,
        name: str,
        labels: Sequence[str],
        *,
        parents: Sequence[int],
        ladder: tuple[int, Moves] | None = None,
    ) -> None:
        """Number a tree that a constructor has checked and put in post-order."""
        size = len(labels)
        first, heights, shortest = list(range(size)), [0] * size, [size] * size
        leaf_counts, depths = [0] * size, [0] * size
        for node, above in enumerate(parents):
            if first[node] == node:
                shortest[node], leaf_counts[node] = 0, 1
            if above < 0:
                continue
            if first[node] < first[above]:
                first[above] = first[node]
            if heights[node] >= heights[above]:
                heights[above] = heights[node] + 1
            if shortest[node] < shortest[above]:
                shortest[above] = shortest[node] + 1
            leaf_counts[above] += leaf_counts[node]
        for node in range(size - 2, -1, -1):
            depths[node] = depths[parents[node]] + 1
        levels, moves = ladder or (heights[-1] + 1, None)
        put = object.__setattr__
        put(self, "name", name)
        put(self, "labels", tuple(labels))
        put(self, "parents", tuple(parents))
        put(self, "first", tuple(first))
        put(self, "heights", tuple(heights))
        put(self, "depths", tuple(depths))
        put(self, "leaf_counts", tuple(leaf_counts))
        put(self, "leaves", tuple(node for node in range(size) if first[node] == node))
        put(self, "levels", levels)
        put(self, "origin", None)
        put(self, "_index", {label: node for node, label in enumerate(labels)})
        put(self, "_shortest", tuple(shortest))
        put(self, "_moves", moves)

    @classmethod
    def from_rows(cls, name: str, rows: Iterable[Sequence[str]], *, strip: bool = True) -> Self:
        """Read rows of the form value, level 1, …, root; they define the levels.

        Equal neighbours in a row are one node, repeated. A row shorter than the longest
        one repeats its topmost label below the root; if its value is an inner node, the
        value follows the rows that pass through it.

        Raises:
            HierarchyError: a value under two parents, a cycle, no single root, an empty
                label, no row at all, or rows that repeat a label on different levels.

        Example:
            >>> age = Hierarchy.from_rows("age", [("34", "30-39", "*"), ("38", "30-39", "*")])
            >>> age.labels, age.levels
            (('34', '38', '30-39', '*'), 3)
        """
        cleaned = clean_rows(name, rows, strip)
        links = links_of_rows(name, cleaned)
        labels, parents = post_order(name, links)
        bare = cls(name, labels, parents=parents)
        if all(len(row) == bare.depths[bare._index[row[0]]] + 1 for row in cleaned):
            return bare  # no label is repeated, so the levels follow from the tree
        index = bare._index
        return bare._with_steps(
            [
                {index[label]: index[above] for label, above in step.items()}
                for step in steps_of_rows(name, cleaned, links)
            ]
        )

    @classmethod
    def from_tree(cls, name: str, tree: object) -> Self:
        """Read a nested tree: a mapping from a label to its children.

        Children are a mapping, a list of labels and mappings, one label, or `None`/`[]`
        for a leaf. Numbers are taken as text; true and false are refused, because YAML
        reads some words (`no`, `on`) as such.
        """
        labels, parents = post_order(name, links_of_tree(name, tree))
        return cls(name, labels, parents=parents)

    @classmethod
    def from_parents(cls, name: str, parents: Mapping[str, str | None]) -> Self:
        """Read a mapping from each label to its parent; the root's is `None` or absent.

        Example:
            >>> Hierarchy.from_parents("x", {"a": "*", "b": "*"}).labels
            ('a', 'b', '*')
        """
        labels, indices = post_order(name, links_of_parents(name, parents))
        return cls(name, labels, parents=indices)

    @classmethod
    def flat(cls, name: str, values: Iterable[str], *, root: str = "*") -> Self:
        """Return the tree in which every value stands directly below the root.

        Example:
            >>> Hierarchy.flat("sex", ["female", "male"]).labels
            ('female', 'male', '*')
        """
        return cls.from_rows(name, [(value, root) for value in values], strip=False)

    @property
    def root(self) -> int:
        """The index of the root."""
        return len(self.labels) - 1

    @property
    def height(self) -> int:
        """The longest way down from the root."""
        return self.heights[-1]

    def get(self, label: str) -> int | None:
        """Return the index of a label, or `None` when the hierarchy does not know it."""
        return self._index.get(label)

    def index(self, label: str) -> int:
        """Return the index of a label.

        Raises:
            UnknownValueError: the hierarchy does not know it.
        """
        found = self._index.get(label)
        if found is None:
            raise UnknownValueError(column=self.name, unknown=1, total=1)
        return found

    def lca(self, indices: Iterable[int]) -> int:
        """Return the lowest common ancestor of one or more nodes.

        It climbs from the largest index until the subtree reaches the smallest one,
        because a run of post-order indices has the common ancestor of its two ends.
        """
        wanted = tuple(indices)
        if not wanted:
            refuse(self.name, "nothing has no common ancestor; give at least one node")
        low, node = min(wanted), max(wanted)
        self._check_node(low)
        self._check_node(node)
        while self.first[node] > low:
            node = self.parents[node]
        return node

    def ancestor(self, index: int, level: int) -> int:
        """Return what a node becomes at a level: 0 is itself, the last is the root.

        In a tree of height 3 a leaf directly below the root is a, a, a, root. An inner
        node stays itself until the nearest leaf below it has come that far, and then
        goes the way of that leaf. Rows, where given, decide instead.
        """
        self._check_node(index)
        if not 0 <= level < self.levels:
            refuse(self.name, f"level {level} is outside 0 … {self.levels - 1}")
        for node, last in self._climb(index):
            if level <= last:
                return node
        return self.root

    def level_table(self) -> list[tuple[int, ...]]:
        """Return, for each level, what each node becomes; its size is levels × nodes.

        Example:
            >>> Hierarchy.from_rows("x", [("a", "b", "*"), ("c", "c", "*")]).level_table()
            [(0, 1, 2, 3), (1, 1, 2, 3), (3, 3, 3, 3)]
        """
        return list(zip(*map(self._path, range(len(self))), strict=True))

    def to_rows(self, *, inner: bool = False) -> list[tuple[str, ...]]:
        """Return a row of labels per leaf, all of one length; `from_rows` reads them back.

        An inner node gets a row where its levels are its own, or always with `inner`.
        """
        arrivals = [
            0 if inner or first == node else self.levels for node, first in enumerate(self.first)
        ]
        kept = {node for node, arrival in enumerate(arrivals) if not arrival}
        if self._moves is not None:
            for node, above in enumerate(self.parents[:-1]):
                # Left before anything from below arrives: no row of a leaf can tell that.
                if self._moves[node][0] < arrivals[node]:
                    kept.add(node)
                arrivals[above] = min(arrivals[above], self._moves[node][0] + 1)
        return [tuple([self.labels[node] for node in self._path(n)]) for n in sorted(kept)]

    def named(self, name: str) -> Self:
        """Return the same tree as the hierarchy of another column."""
        return self._with("name", name)

    def read_from(self, origin: str) -> Self:
        """Return the same tree with the name of the file it was read from."""
        return self._with("origin", origin)

    def _with(self, name: str, value: str) -> Self:
        made = object.__new__(type(self))
        for slot in Hierarchy.__slots__:
            object.__setattr__(made, slot, value if slot == name else getattr(self, slot))
        return made

    def with_missing(self, label: str) -> Self:
        """Return a copy with one more leaf directly below the root, first in post-order.

        Raises:
            HierarchyError: the label is empty or already taken.
        """
        if not label or label in self:
            refuse(self.name, "the label for missing values is empty or a value; choose another")
        parents = [self.root + 1, *(above + 1 for above in self.parents[:-1]), -1]
        ladder = None
        if self._moves is not None:
            ladder = (self.levels, ((self.levels - 2,), *self._moves))
        return type(self)(self.name, (label, *self.labels), parents=parents, ladder=ladder)

    def to_document(self) -> Document:
        """Return plain data for JSON; `levels` only where they do not follow from the tree."""
        document: Document = {"labels": list(self.labels), "parents": list(self.parents)}
        if self._moves is not None:
            document["levels"] = [list(level) for level in self.level_table()]
        return document

    @classmethod
    def from_document(cls, name: str, document: object) -> Self:
        """Rebuild a hierarchy from `to_document`, trusting nothing in it.

        Raises:
            HierarchyError: anything but a tree in post-order with levels that fit it.
        """
        if not isinstance(document, Mapping) or not {"labels", "parents"} <= set(document):
            refuse(name, "the document must have 'labels' and 'parents'")
        if set(document) - {"labels", "parents", "levels"}:
            refuse(name, "the document has keys other than 'labels', 'parents' and 'levels'")
        labels, parents = document["labels"], document["parents"]
        if not isinstance(labels, list) or not all(isinstance(x, str) and x for x in labels):
            refuse(name, "'labels' must be a list of non-empty texts")
        if len(set(labels)) != len(labels) or not labels:
            refuse(name, f"{len(labels)} labels, {len(set(labels))} different; need at least one")
        if not _is_post_order(parents, len(labels)):
            refuse(name, "'parents' must be the index of each node's parent, in post-order")
        bare = cls(name, labels, parents=parents)
        if "levels" not in document:
            return bare
        return bare._with_steps(_table_steps(bare, document["levels"]))

    def _with_steps(self, steps: Sequence[Mapping[int, int]]) -> Self:
        moves: list[list[int]] = [[] for _ in self.labels]
        for level, step in enumerate(steps):
            for node, above in step.items():
                if node != above:
                    moves[node].append(level)
        frozen = tuple(map(tuple, moves))
        levels = len(steps) + 1
        if levels == self.levels and self._follow_from_tree(frozen):
            return self  # so that equal hierarchies compare equal, and documents stay small
        return type(self)(self.name, self.labels, parents=self.parents, ladder=(levels, frozen))

    def _follow_from_tree(self, moves: Moves) -> bool:
        expected: list[set[int]] = [set() for _ in self.labels]
        for node, above in enumerate(self.parents[:-1]):
            if self.depths[node] == 1:
                expected[node] = {self.levels - 2}
            elif self.first[node] == node:
                expected[node] = {0}
            if expected[node] != set(moves[node]):
                return False
            expected[above].update(level + 1 for level in moves[node])
        return True

    def _climb(self, index: int) -> Iterator[tuple[int, int]]:
        """Yield each node on the way up, without the root, with the last level it stands at."""
        node, level = index, self._shortest[index] if self._moves is None else 0
        while node != self.root:
            if self._moves is not None:
                moves = self._moves[node]
                level = moves[bisect_left(moves, level)]
            elif self.depths[node] == 1:
                level = self.levels - 2
            yield node, level
            node, level = self.parents[node], level + 1

    def _path(self, index: int) -> list[int]:
        path: list[int] = []
        for node, last in self._climb(index):
            path.extend([node] * (last + 1 - len(path)))
        path.extend([self.root] * (self.levels - len(path)))
        return path

    def _check_node(self, index: int) -> None:
        if not 0 <= index < len(self.labels):
            raise IndexError(f"node {index} is outside 0 … {self.root}")

    def __contains__(self, label: object) -> bool:
        return label in self._index

    def __len__(self) -> int:
        return len(self.labels)

    def _key(self) -> tuple[object, ...]:
        return (self.name, self.labels, self.parents, self.levels, self._moves)

    def __eq__(self, other: object) -> bool:
        return self._key() == other._key() if isinstance(other, Hierarchy) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._key())

    def __repr__(self) -> str:  # no labels: they may be data, and a repr ends in logs
        return f"<Hierarchy {self.name!r}: {len(self)} nodes, {self.levels} levels>"

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError("a Hierarchy cannot be changed")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError("a Hierarchy cannot be changed")

    def __reduce__(self) -> tuple[object, ...]:
        ladder = None if self._moves is None else (self.levels, self._moves)
        parts = (self.name, self.labels, self.parents, ladder, self.origin)
        return (_restore, (type(self), *parts))


def _restore(
    kind: type[Hierarchy],
    name: str,
    labels: tuple[str, ...],
    parents: tuple[int, ...],
    ladder: tuple[int, Moves] | None,
    origin: str | None,
) -> Hierarchy:
    made = kind(name, labels, parents=parents, ladder=ladder)
    return made if origin is None else made.read_from(origin)


def _is_post_order(parents: object, size: int) -> bool:
    if not isinstance(parents, list) or len(parents) != size or parents[-1] != -1:
        return False
    open_subtrees: list[int] = []
    for node, above in enumerate(parents):
        if type(above) is not int or not (node < above < size or node == size - 1):
            return False
        while open_subtrees and parents[open_subtrees[-1]] == node:
            open_subtrees.pop()
        open_subtrees.append(node)
    return len(open_subtrees) == 1


def _table_steps(tree: Hierarchy, table: object) -> list[dict[int, int]]:
    nodes = list(range(len(tree)))
    if not isinstance(table, list) or not table or table[0] != nodes:
        refuse(tree.name, "'levels' must be a list of levels that starts with the nodes themselves")
    for level, row in enumerate(table):
        if (
            not isinstance(row, list)
            or len(row) != len(nodes)
            or any(type(node) is not int or not 0 <= node <= tree.root for node in row)
        ):
            refuse(tree.name, f"level {level} must hold the index of a node for each node")
    if set(table[-1]) != {tree.root}:
        refuse(tree.name, "the last level must be the root for every node")
    steps: list[dict[int, int]] = []
    for level, (row, following) in enumerate(pairwise(table), start=1):
        step: dict[int, int] = {}
        for node, above in zip(row, following, strict=True):
            if above not in (node, tree.parents[node]) or step.setdefault(node, above) != above:
                refuse(tree.name, f"level {level} does not lead from each node to its parent")
        steps.append(step)
    return steps
