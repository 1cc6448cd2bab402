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
_ROUNDS = 200


@dataclass
class Tree:
    """A tree of cuts; a node's children are 0 where it is a leaf.

    Attributes:
        column: of the cut; -1 of a leaf.
        code: the first one to the right of the cut.
        children: int32[nodes, 2], left and right.
        parent: -1 of the root.
    """

    column: NDArray[np.int32]
    code: NDArray[np.int32]
    children: NDArray[np.int32]
    parent: NDArray[np.int32]
    root: int = 0

    @classmethod
    def of(cls, column: NDArray[np.int32], code: NDArray[np.int32]) -> Tree:
        """Return a tree from its nodes, those of the left side first."""
        children = np.zeros((len(column), 2), dtype=np.int32)
        parent = np.full(len(column), -1, dtype=np.int32)
        open_nodes: list[int] = []
        for node, cut in enumerate(column.tolist()):
            if open_nodes:
                above = open_nodes[-1]
                side = int(children[above, 0] != 0)
                children[above, side], parent[node] = node, above
                if side:
                    open_nodes.pop()
            if cut >= 0:
                open_nodes.append(node)
        return cls(column, code, children, parent)

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
        self.parent[[leaf, other]] = -2  # gone

    def in_order(self) -> list[int]:
        """Return the nodes, each before those below it, the left side first."""
        found, waiting = [], [self.root]
        while waiting:
            node = waiting.pop()
            found.append(node)
            if self.column[node] >= 0:
                waiting += [int(self.children[node, 1]), int(self.children[node, 0])]
        return found


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
    order = tree.in_order()
    inner = [node for node in order if tree.column[node] >= 0]
    left = _left_leaves(tree, order)
    cuts = tuple((int(tree.column[node]), int(tree.code[node])) for node in inner)
    released = narrowed(recoding)
    return Cutting(
        released, recoding.low, recoding.high, tuple(places), cuts,
        tuple(left[node] for node in inner),
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
    for turn in range(_ROUNDS):
        recoding, leaves = _counted(tree, found)
        empty = recoding.sizes == 0
        wrong = empty | (recoding.persons < _least(promises))
        if not wrong.any():
            wrong = failing_classes(recoding, promises)
        if not wrong.any():
            return recoding
        if len(leaves) == 1:
            return None
        _remove(tree, leaves, np.flatnonzero(wrong), recoding.sizes, hurry=turn > _ROUNDS // 2)
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


def _counted(tree: Tree, found: Recoding) -> tuple[Recoding, list[int]]:
    """Return the regions as a recoding of all records, and their leaves."""
    table = found.table
    low, high, leaves = _boxes(tree, [len(domain) for domain in table.domains])
    number = np.full(len(tree.column), -1, dtype=np.int64)
    number[leaves] = np.arange(len(leaves))
    label = number[walk_tree(table.codes, tree.column, tree.code, tree.children)]
    counted = Recoding(
        table=table, low=low, high=high, row=np.arange(table.rows), label=label,
        count=table.counts, facts=found.facts,
    )  # fmt: skip
    return counted, leaves


def _boxes(
    tree: Tree, sizes: Sequence[int]
) -> tuple[NDArray[np.int32], NDArray[np.int32], list[int]]:
    """Return the box of codes of each leaf, from left to right."""
    low = np.zeros((len(tree.column), len(sizes)), dtype=np.int32)
    high = np.zeros_like(low)
    high[tree.root] = np.array(sizes, dtype=np.int32) - 1
    leaves = []
    for node in tree.in_order():
        j, code = tree.column[node], tree.code[node]
        if j < 0:
            leaves.append(node)
            continue
        one, other = tree.children[node]
        low[one], high[one] = low[node], high[node]
        low[other], high[other] = low[node], high[node]
        high[one, j], low[other, j] = code - 1, code
    return low[leaves], high[leaves], leaves


def _left_leaves(tree: Tree, order: Sequence[int]) -> dict[int, int]:
    """Return how many leaves the left side of each node has."""
    many: dict[int, int] = {}
    left: dict[int, int] = {}
    for node in reversed(order):
        if tree.column[node] < 0:
            many[node] = 1
            continue
        one, other = tree.children[node].tolist()
        left[node] = many[one]
        many[node] = many[one] + many[other]
    return left
