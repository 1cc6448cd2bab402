"""The regions of a partition, bounded by its cuts so that they cover the domain.

A search keeps the smallest box around each class, and leaves gaps between them that new records
fall into. Here the boxes are taken apart by cuts at public places (`cut_places`), what the tree of
cuts makes of the training records is counted and judged, and regions that do not keep the promise
are joined with what is beside them: their cut is taken out, and their records follow the cuts of
the other side.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.encoding.divide import divide_boxes, walk_tree
from shoal.methods.cut_places import Places, places_of
from shoal.methods.grow import grow
from shoal.methods.judging import failing_classes
from shoal.methods.narrow import narrowed
from shoal.privacy import Promise
from shoal.schema.schema import Schema
from shoal.table.frequency import FrequencyTable
from shoal.table.recoding import Recoding

Numbers = NDArray[np.int64]
Nodes = NDArray[np.int64]
_ROUNDS = 200
_GONE = -2


@dataclass
class Tree:
    """A tree of cuts; a node's children are 0 where it is a leaf.

    Attributes:
        column: of the cut; -1 of a leaf.
        code: the first one to the right of the cut.
        children: int32[nodes, 2], left and right.
        parent: -1 of the root; -2 of a node that is gone.
    """

    column: NDArray[np.int32]
    code: NDArray[np.int32]
    children: NDArray[np.int32]
    parent: NDArray[np.int32]
    root: int = 0

    @classmethod
    def of(cls, column: NDArray[np.int32], code: NDArray[np.int32]) -> Tree:
        """Return a tree from its nodes, those of the left side first."""
        left, right, parent = [0] * len(column), [0] * len(column), [-1] * len(column)
        open_nodes: list[int] = []
        for node, cut in enumerate(column.tolist()):
            if open_nodes:
                above = parent[node] = open_nodes[-1]
                if left[above]:
                    right[above] = node
                    open_nodes.pop()
                else:
                    left[above] = node
            if cut >= 0:
                open_nodes.append(node)
        children = np.array([left, right], dtype=np.int32).T
        return cls(column, code, np.ascontiguousarray(children), np.array(parent, dtype=np.int32))

    def remove(self, leaf: int) -> None:
        """Take out the cut above a leaf: the other side takes its place."""
        above = int(self.parent[leaf])
        left, right = self.children[above].tolist()
        other = right if left == leaf else left
        self.column[above], self.code[above] = self.column[other], self.code[other]
        self.children[above] = self.children[other]
        for child in self.children[other].tolist():
            if child:
                self.parent[child] = above
        self.parent[[leaf, other]] = _GONE

    def levels(self) -> list[Nodes]:
        """Return the nodes, those of one depth together."""
        found, level = [], np.array([self.root])
        while len(level):
            found.append(level)
            level = self.children[level[self.column[level] >= 0]].ravel().astype(np.int64)
        return found

    def in_order(self) -> tuple[Nodes, Nodes]:
        """Return the nodes, each before those below it, the left side first.

        Beside them, how many leaves the left side of each has; 0: it is a leaf itself.
        """
        levels = self.levels()
        size, place = np.ones_like(self.column, dtype=np.int64), np.zeros_like(self.column)
        for level in reversed(levels):
            inner = level[self.column[level] >= 0]
            left, right = self.children[inner].T
            size[inner] += size[left] + size[right]
        for level in levels:
            inner = level[self.column[level] >= 0]
            left, right = self.children[inner].T
            place[left], place[right] = place[inner] + 1, place[inner] + 1 + size[left]
        alive = np.concatenate(levels)
        order = np.empty(len(alive), dtype=np.int64)
        order[place[alive]] = alive
        is_inner = self.column[order] >= 0
        return order, np.where(is_inner, (size[self.children[order, 0]] + 1) // 2, 0)


@dataclass(frozen=True)
class Cutting:
    """A partition as a tree of cuts, and who is in which region.

    Attributes:
        recoding: the regions from left to right; its boxes are what each one releases.
        low, high: int32[regions, columns], the codes between the cuts of each.
        places: where each column may be cut.
        cuts: for each node before a leaf, its column and code, those of the left side first.
        left: the regions of its left side.
    """

    recoding: Recoding
    low: NDArray[np.int32]
    high: NDArray[np.int32]
    places: tuple[Places, ...]
    cuts: tuple[tuple[int, int], ...]
    left: tuple[int, ...]


def cut_regions(
    found: Recoding,
    schema: Schema,
    promises: Sequence[Promise],
    *,
    uncut: Sequence[str] = (),
    most: int | None = None,
) -> Cutting | None:
    """Return the regions of a partition; None where they cannot be written as cuts.

    uncut: columns that no cut may go through; they are released as the root.
    most: not this partition, but one of its table that is made for at most so many classes.

    Guarantee:
        The regions keep the promise with all training records in them, and cover all values
        between the first and the last one of each column, in every combination.
    """
    found = replace(found, table=_rooted(found.table, uncut))
    table = found.table
    if found.node is not None or found.released is not None or not found.classes:
        return None
    least = max([2, *(getattr(promise, "k", None) or 0 for promise in promises)])
    places = []
    for j, domain in enumerate(table.domains):
        about = schema.attribute(domain.name)
        records = np.bincount(table.codes[:, j], weights=table.counts, minlength=len(domain))
        made = places_of(
            domain, about.hierarchy, records.astype(np.int64), least=least,
            order=tuple(map(str, about.order or ())),
        )  # fmt: skip
        if made is None:
            return None
        places.append(replace(made, codes=made.codes[:0], at=()) if domain.name in uncut else made)
    allowed = [
        np.append(np.int32(1), each.codes).astype(np.int32)
        if domain.has_missing and domain.name not in uncut
        else each.codes
        for each, domain in zip(places, table.domains, strict=True)
    ]
    tree = Tree.of(
        *divide_boxes(found.low, found.high, allowed)
        if most is None
        else grow(table, allowed, least=least, most=most)
    )
    recoding = _holding(tree, found, promises)
    if recoding is None:
        return None
    order, left = tree.in_order()
    inner = order[left > 0]
    cuts = tuple(zip(tree.column[inner].tolist(), tree.code[inner].tolist(), strict=True))
    released = narrowed(recoding)
    return Cutting(
        released, recoding.low, recoding.high, tuple(places), cuts,
        tuple(left[left > 0].tolist()),
    )  # fmt: skip


def _rooted(table: FrequencyTable, uncut: Sequence[str]) -> FrequencyTable:
    """Return a table where some columns release the root, unless they have one value."""
    domains = [
        replace(domain, is_blank=True) if domain.name in uncut else domain
        for domain in table.domains
    ]
    return replace(table, domains=tuple(domains)) if uncut else table


def _holding(tree: Tree, found: Recoding, promises: Sequence[Promise]) -> Recoding | None:
    """Take out cuts until every region keeps the promise; None if not even one region does."""
    regions = _Regions.of(tree, found)
    for turn in range(_ROUNDS):
        recoding = regions.recoding()
        empty = recoding.sizes == 0
        wrong = empty | (recoding.persons < _least(promises))
        if not wrong.any():
            wrong = failing_classes(recoding, promises)
        if not wrong.any():
            return regions.recoding(boxes=True)
        if len(regions.leaves) == 1:
            return None
        leaves = regions.leaves.tolist()
        _remove(tree, leaves, np.flatnonzero(wrong), recoding.sizes, hurry=turn > _ROUNDS // 2)
        regions.follow()
    return None


def _least(promises: Sequence[Promise]) -> int:
    return max([1, *(getattr(promise, "k", None) or 1 for promise in promises)])


def _remove(tree: Tree, leaves: list[int], wrong: Numbers, sizes: Numbers, *, hurry: bool) -> None:
    """Take out the cuts above the smallest of the regions that fail, each pair once."""
    ordered = wrong[np.argsort(sizes[wrong], kind="stable")].tolist()
    touched: set[int] = set()
    for at in ordered:
        leaf = leaves[at]
        above = int(tree.parent[leaf])
        if above < 0 or above in touched:
            continue
        children = tree.children[above].tolist()
        if touched.intersection(children):
            continue
        # What is beside it and fails, too, may be mended by what comes from here.
        touched.update((above, *children, *tree.children[children].ravel().tolist()))
        tree.remove(leaf)
        if hurry:
            return


@dataclass
class _Regions:
    """The leaves of a tree that loses cuts, and the leaf of every row of the table.

    Attributes:
        leaves: from left to right.
        leaf: of each row.
    """

    tree: Tree
    found: Recoding
    leaves: Numbers
    leaf: Numbers

    @classmethod
    def of(cls, tree: Tree, found: Recoding) -> _Regions:
        """Return the regions of a whole tree."""
        order, left = tree.in_order()
        leaf = walk_tree(found.table.codes, tree.column, tree.code, tree.children)
        return cls(tree, found, order[left == 0], leaf)

    def follow(self) -> None:
        """Follow the tree after cuts were taken out: only rows of leaves that are gone move."""
        tree, codes = self.tree, self.found.table.codes
        moving = np.flatnonzero(tree.parent[self.leaf] == _GONE)
        self.leaf[moving] = walk_tree(codes[moving], tree.column, tree.code, tree.children)
        order, left = tree.in_order()
        self.leaves = order[left == 0]

    def recoding(self, *, boxes: bool = False) -> Recoding:
        """Return the regions as a recoding of all records; boxes: with the codes of each."""
        table, tree = self.found.table, self.tree
        number = np.full(len(tree.column), -1, dtype=np.int64)
        number[self.leaves] = np.arange(len(self.leaves))
        low = high = np.zeros((len(self.leaves), len(table.domains)), dtype=np.int32)
        if boxes:
            low, high = _boxes(tree, [len(domain) for domain in table.domains])
            low, high = low[self.leaves], high[self.leaves]
        return Recoding(
            table=table, low=low, high=high, row=np.arange(table.rows), label=number[self.leaf],
            count=table.counts, facts=self.found.facts,
        )  # fmt: skip


def _boxes(tree: Tree, sizes: Sequence[int]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return the box of codes of each node, those of one depth at a time."""
    low = np.zeros((len(tree.column), len(sizes)), dtype=np.int32)
    high = np.zeros_like(low)
    high[tree.root] = np.array(sizes, dtype=np.int32) - 1
    for nodes in tree.levels():
        level = nodes[tree.column[nodes] >= 0]
        j, code = tree.column[level], tree.code[level]
        one, other = tree.children[level].T
        low[one], high[one] = low[level], high[level]
        low[other], high[other] = low[level], high[level]
        high[one, j], low[other, j] = code - 1, code
    return low, high
