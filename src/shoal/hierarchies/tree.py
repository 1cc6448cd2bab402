"""Value hierarchies: trees in post-order whose nodes may all be values of a column.

Post-order makes the tree arithmetic: the subtree of `u` is the run of indices
`first[u] … u`, so "is below" and "lowest common ancestor" need comparisons only, and
neighbours in the numbering are neighbours in the tree.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, groupby, pairwise
from typing import Any, NoReturn, Self

from shoal.core.errors import HierarchyError, UnknownValueError

# For each node the levels at which it gives way to its parent, ascending.
Moves = tuple[tuple[int, ...], ...]
Row = tuple[str, ...]


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
    _index: dict[str, int]
    _shortest: tuple[int, ...]  # the shortest way down to a leaf
    _moves: Moves | None  # None: the levels follow from the tree
    __slots__ = (
        *("name", "labels", "parents", "first", "heights", "depths", "leaf_counts", "leaves"),
        *("levels", "_index", "_shortest", "_moves"),
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
        cleaned = _clean_rows(name, rows, strip)
        labels, parents = _post_order(name, _links(name, cleaned))
        bare = cls(name, labels, parents=parents)
        if all(len(row) == bare.depths[bare._index[row[0]]] + 1 for row in cleaned):
            return bare  # no label is repeated, so the levels follow from the tree
        return bare._with_steps(_steps(bare, cleaned))

    @classmethod
    def from_tree(cls, name: str, tree: object) -> Self:
        """Read a nested tree: a mapping from a label to its children.

        Children are a mapping, a list of labels and mappings, one label, or `None`/`[]`
        for a leaf. Numbers are taken as text; true and false are refused, because YAML
        reads some words (`no`, `on`) as such.
        """
        labels, parents = _post_order(name, _read_tree(name, tree))
        return cls(name, labels, parents=parents)

    @classmethod
    def from_parents(cls, name: str, parents: Mapping[str, str | None]) -> Self:
        """Read a mapping from each label to its parent; the root's is `None` or absent.

        Example:
            >>> Hierarchy.from_parents("x", {"a": "*", "b": "*"}).labels
            ('a', 'b', '*')
        """
        links: dict[str, str | None] = {}
        for label, above in parents.items():
            links.setdefault(_label(name, label), None)
            if above is not None:
                links.setdefault(_label(name, above), None)
        for label, above in parents.items():
            if above is not None:
                links[_label(name, label)] = _label(name, above)
        labels, indices = _post_order(name, links)
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
            _refuse(self.name, "nothing has no common ancestor; give at least one node")
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
            _refuse(self.name, f"level {level} is outside 0 … {self.levels - 1}")
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

    def with_missing(self, label: str) -> Self:
        """Return a copy with one more leaf directly below the root, first in post-order.

        Raises:
            HierarchyError: the label is empty or already taken.
        """
        if not label or label in self:
            _refuse(self.name, "the label for missing values is empty or a value; choose another")
        parents = [self.root + 1, *(above + 1 for above in self.parents[:-1]), -1]
        ladder = None
        if self._moves is not None:
            ladder = (self.levels, ((self.levels - 2,), *self._moves))
        return type(self)(self.name, (label, *self.labels), parents=parents, ladder=ladder)

    def to_document(self) -> dict[str, Any]:
        """Return plain data for JSON; `levels` only where they do not follow from the tree."""
        document: dict[str, Any] = {"labels": list(self.labels), "parents": list(self.parents)}
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
            _refuse(name, "the document must have 'labels' and 'parents'")
        if set(document) - {"labels", "parents", "levels"}:
            _refuse(name, "the document has keys other than 'labels', 'parents' and 'levels'")
        labels, parents = document["labels"], document["parents"]
        if not isinstance(labels, list) or not all(isinstance(x, str) and x for x in labels):
            _refuse(name, "'labels' must be a list of non-empty texts")
        if len(set(labels)) != len(labels) or not labels:
            _refuse(name, f"{len(labels)} labels, {len(set(labels))} different; need at least one")
        if not _is_post_order(parents, len(labels)):
            _refuse(name, "'parents' must be the index of each node's parent, in post-order")
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

    def __reduce__(self) -> tuple[Any, ...]:
        ladder = None if self._moves is None else (self.levels, self._moves)
        facts = {"name": self.name, "labels": self.labels, "parents": self.parents}
        return (_restore, (type(self), {**facts, "ladder": ladder}))


def number_text(x: float) -> str:
    """Return the one text of a number: integers without a fraction, others as `repr`.

    Example:
        >>> number_text(34.0), number_text(0.1), number_text(-0.0)
        ('34', '0.1', '0')
    """
    if isinstance(x, int):
        return str(int(x))
    value = float(x)
    return str(int(value)) if math.isfinite(value) and value.is_integer() else repr(value)


def _refuse(name: str, problem: str) -> NoReturn:
    raise HierarchyError(hierarchy=name, problem=problem)


def _restore(kind: type[Hierarchy], facts: dict[str, Any]) -> Hierarchy:
    return kind(**facts)


def _counted(places: Iterable[int], where: str, how: str) -> str:
    """Say how many values stand where: "level 2: 3 values stand under two parents"."""
    return ", ".join(
        f"{where} {place}: {count} {'values stand' if count > 1 else 'value stands'} {how}"
        for place, count in sorted(Counter(places).items())
    )


def _label(name: str, label: object) -> str:
    if isinstance(label, bool) or not isinstance(label, str | int | float):
        _refuse(name, "a label is neither text nor a number; write labels in quotes")
    text = label.strip() if isinstance(label, str) else number_text(label)
    return text or _refuse(name, "a label is empty; give every value a text")


def _clean_rows(name: str, rows: Iterable[Sequence[str]], strip: bool) -> list[Row]:
    given = list(rows)
    is_text = [issubclass(kind, str) for kind in {*map(type, given)}]
    if any(is_text) or not all(
        issubclass(x, str) for x in {*map(type, chain.from_iterable(given))}
    ):
        _refuse(name, "a row is not a list of texts; give value, level 1, …, root")
    cells = (tuple(map(str.strip, row)) if strip else tuple(row) for row in given)
    cleaned = [row for row in cells if any(row)]
    if not cleaned:
        _refuse(name, "it is empty; give at least one row of value, level 1, …, root")
    blank = [i for row in cleaned if "" in row for i, cell in enumerate(row) if not cell]
    if blank:
        _refuse(name, f"{_counted(blank, 'level', 'without a label')}; give every cell a text")
    return cleaned


def _pairs(rows: Iterable[Row]) -> list[set[tuple[str, str]]]:
    """Return, for each level, the different pairs of a label and the label after it."""
    by_width: dict[int, list[Row]] = {}
    for row in rows:
        by_width.setdefault(len(row), []).append(row)
    pairs: list[set[tuple[str, str]]] = [set() for _ in range(max(by_width) - 1)]
    for alike in by_width.values():  # by column, because that loop is not Python's
        for found, two in zip(pairs, pairwise(zip(*alike, strict=True)), strict=False):
            found.update(zip(*two, strict=True))
    return pairs


def _links(name: str, rows: Sequence[Row]) -> dict[str, str | None]:
    """Return the parent of each label, in order of first appearance."""
    found: dict[str, str | None] = {}
    twice: dict[str, int] = {}
    for level, pairs in enumerate(_pairs(rows)):
        for label, above in pairs:
            if label != above and found.setdefault(label, above) != above:
                twice.setdefault(label, level)
    tops = {row[-1] for row in rows}
    if twice or not tops.isdisjoint(found):
        _refuse_cycles(name, rows)
    if len(tops) > 1:
        _refuse(
            name,
            f"level {max(map(len, rows)) - 1}: {len(tops)} different labels stand at the top, so "
            "there is no single root; end every row with the same label, such as *",
        )
    if twice:
        where = _counted(twice.values(), "level", "under two parents")
        _refuse(name, f"{where}; give each one parent, or tell labels of the same name apart")
    return {label: found.get(label) for label in dict.fromkeys(chain.from_iterable(rows))}


def _refuse_cycles(name: str, rows: Iterable[Row]) -> None:
    cycles: dict[str, int] = {}
    for row in rows:
        path = [label for label, _ in groupby(row)]
        for label, times in Counter(path).items():
            if times > 1:
                cycles.setdefault(label, row.index(label))
    if cycles:
        where = _counted(cycles.values(), "level", "above itself (a cycle)")
        _refuse(
            name,
            f"{where}; let each row only go up, and tell labels of the same name apart",
        )


def _read_tree(name: str, tree: object) -> dict[str, str | None]:
    links: dict[str, str | None] = {}
    twice: list[int] = []
    pending: list[tuple[str | None, int, object]] = [(None, 0, tree)]
    while pending:
        above, depth, children = pending.pop()
        for label, below in _children(name, children):
            if label in links:
                # Never followed again: a document may contain itself. A repeated leaf is harmless.
                if links[label] != above or below is not None:
                    twice.append(depth)
                continue
            links[label] = above
            if below is not None:
                pending.append((label, depth + 1, below))
    if twice:
        where = _counted(twice, "depth", "under two parents or above itself")
        _refuse(name, f"{where}; give each one place, or tell labels of the same name apart")
    return links


def _children(name: str, children: object) -> Iterator[tuple[str, object]]:
    items = children if isinstance(children, list | tuple) else [children]
    for item in items:
        if isinstance(item, Mapping):
            for label, below in item.items():
                yield _label(name, label), below
        else:
            yield _label(name, item), None


def _post_order(name: str, links: Mapping[str, str | None]) -> tuple[list[str], list[int]]:
    children: dict[str, list[str]] = {}
    roots: list[str] = []
    for label, above in links.items():
        (roots if above is None else children.setdefault(above, [])).append(label)
    if not links:
        _refuse(name, "it is empty; give at least one value")
    if len(roots) > 1:
        _refuse(
            name,
            f"depth 0: {len(roots)} values have no parent, so there is no single "
            "root; put them under one, such as *",
        )
    order, stack = [], list(roots)
    while stack:  # the mirror image of a pre-order is a post-order
        label = stack.pop()
        order.append(label)
        stack.extend(children.get(label, ()))
    if len(order) < len(links):
        _refuse(
            name,
            f"{len(links) - len(order)} values never reach the root (a cycle); let "
            "each chain of parents end at it",
        )
    order.reverse()
    place = {label: node for node, label in enumerate(order)}
    return order, [-1 if (above := links[x]) is None else place[above] for x in order]


def _steps(tree: Hierarchy, rows: Sequence[Row]) -> list[dict[int, int]]:
    """Return, for each level but the last, where a label that stands there goes next."""
    width = max(map(len, rows))
    steps: list[dict[str, str]] = [{} for _ in range(width - 1)]
    clashes: set[tuple[int, str]] = set()
    for level, pairs in enumerate(_pairs(row for row in rows if len(row) == width)):
        for label, above in pairs:
            if steps[level].setdefault(label, above) != above:
                clashes.add((level + 1, label))
    if clashes:
        where = _counted([level for level, _ in clashes], "level", "repeated in some rows only")
        _refuse(tree.name, f"{where}; let all rows leave a label at the same level")
    for row in rows:
        if len(row) < width and not tree.heights[tree.index(row[0])]:
            padded = (*row[:-1], *row[-2:-1] * (width - len(row)), row[-1])
            label = row[0]
            for level in range(width - 1):  # where other rows have been, it follows them
                label = steps[level].setdefault(label, padded[level + 1])
    return [{tree.index(x): tree.index(above) for x, above in step.items()} for step in steps]


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
        _refuse(
            tree.name, "'levels' must be a list of levels that starts with the nodes themselves"
        )
    for level, row in enumerate(table):
        if (
            not isinstance(row, list)
            or len(row) != len(nodes)
            or any(type(node) is not int or not 0 <= node <= tree.root for node in row)
        ):
            _refuse(tree.name, f"level {level} must hold the index of a node for each node")
    if set(table[-1]) != {tree.root}:
        _refuse(tree.name, "the last level must be the root for every node")
    steps: list[dict[int, int]] = []
    for level, (row, following) in enumerate(pairwise(table), start=1):
        step: dict[int, int] = {}
        for node, above in zip(row, following, strict=True):
            if above not in (node, tree.parents[node]) or step.setdefault(node, above) != above:
                _refuse(tree.name, f"level {level} does not lead from each node to its parent")
        steps.append(step)
    return steps
