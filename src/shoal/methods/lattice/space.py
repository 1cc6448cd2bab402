"""The lattice: a level for each column, and the tables that say what a level does."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from shoal.core.errors import KernelInputError, UnknownValueError
from shoal.core.numbers import number_label
from shoal.hierarchies.tree import Hierarchy
from shoal.kernels.lattice.classes import BLOCK
from shoal.table.domain import MISSING_NODE, ROOT, Domain
from shoal.table.frequency import FrequencyTable

Node = tuple[int, ...]


@dataclass(frozen=True, repr=False)  # a repr ends in logs, and this one would hold values
class Ladder:
    """The levels of one column.

    Attributes:
        codes: int32[domain] per level: what each code of the domain becomes there.
        nodes: int64 per level: the node of the hierarchy that each code of a level is.
    """

    domain: Domain
    tree: Hierarchy
    codes: tuple[NDArray[np.int32], ...]
    nodes: tuple[NDArray[np.int64], ...]

    @property
    def levels(self) -> int:
        """Return the number of levels, the values themselves included."""
        return len(self.codes)

    @property
    def height(self) -> int:
        """Return the last level."""
        return len(self.codes) - 1


@dataclass(frozen=True)
class Lattice:
    """All nodes, none of them built: a node is a tuple of levels.

    Example:
        >>> lattice = Lattice((1, 2))
        >>> lattice.size, list(lattice.coarser((0, 2)))
        (6, [(1, 2)])
    """

    heights: Node

    @cached_property
    def size(self) -> int:
        """Return the number of nodes."""
        return math.prod(height + 1 for height in self.heights)

    @property
    def shape(self) -> Node:
        """Return the number of levels of each column."""
        return tuple(height + 1 for height in self.heights)

    @property
    def bottom(self) -> Node:
        """Return the node that changes nothing."""
        return (0,) * len(self.heights)

    @property
    def top(self) -> Node:
        """Return the node at which every value is the root."""
        return self.heights

    def coarser(self, node: Node) -> Iterator[Node]:
        """Yield the nodes one step above."""
        for j, level in enumerate(node):
            if level < self.heights[j]:
                yield (*node[:j], level + 1, *node[j + 1 :])

    def finer(self, node: Node) -> Iterator[Node]:
        """Yield the nodes one step below."""
        for j, level in enumerate(node):
            if level > 0:
                yield (*node[:j], level - 1, *node[j + 1 :])


@dataclass(frozen=True, repr=False)
class Space:
    """A frequency table seen as a lattice."""

    table: FrequencyTable
    ladders: tuple[Ladder, ...]

    @cached_property
    def lattice(self) -> Lattice:
        """Return the lattice over all columns."""
        return Lattice(tuple(ladder.height for ladder in self.ladders))

    @cached_property
    def blocks(self) -> tuple[range, ...]:
        """Return the columns cut into runs whose codes fit one small integer."""
        ends = [0]
        size = 1
        for j, ladder in enumerate(self.ladders):
            card = len(ladder.nodes[0])
            if size * card > BLOCK and j > ends[-1]:
                ends.append(j)
                size = 1
            size *= card
        return tuple(range(a, b) for a, b in pairwise([*ends, len(self.ladders)]))

    def cards(self, block: range, node: Node) -> Node:
        """Return how many codes the columns of a block have at a node."""
        return tuple(len(self.ladders[j].nodes[node[j]]) for j in block)

    def step(self, block: range, low: Node, high: Node) -> NDArray[np.uint32]:
        """Return what each packed code of a block at node `low` becomes at node `high`."""
        table: NDArray[np.uint32] = np.zeros(1, dtype=np.uint32)
        for j in block:
            ladder = self.ladders[j]
            step = np.zeros(len(ladder.nodes[low[j]]), dtype=np.uint32)
            step[ladder.codes[low[j]]] = ladder.codes[high[j]]
            size = np.uint32(len(ladder.nodes[high[j]]))
            table = (table[:, None] * size + step[None, :]).ravel()
        return table


def space_of(table: FrequencyTable) -> Space:
    """Return the lattice of a table; a column without a hierarchy has two levels, raw and root.

    Raises:
        UnknownValueError: a column holds values that its hierarchy does not know.
        KernelInputError: the table has no column or no row.
    """
    if not table.domains or not table.rows:
        raise KernelInputError(problem="a lattice needs a quasi-identifier and a record")
    domains = tuple(_with_ladder(domain) for domain in table.domains)
    if any(new is not old for new, old in zip(domains, table.domains, strict=True)):
        table = replace(table, domains=domains)
    return Space(table, tuple(_ladder(domain) for domain in domains))


def _with_ladder(domain: Domain) -> Domain:
    if domain.ladder is not None:
        return domain
    root = ROOT
    while root in domain.labels:  # a value may itself be called *
        root += "*"
    values = [MISSING_NODE if label is None else label for label in domain.labels]
    return replace(domain, ladder=Hierarchy.flat(domain.name, values, root=root))


def _ladder(domain: Domain) -> Ladder:
    tree = domain.ladder
    assert tree is not None
    at = _nodes_of(domain, tree)
    table = np.asarray(tree.level_table(), dtype=np.int64)[:, at]
    nodes, codes = [], []
    for level in table:
        distinct, place = np.unique(level, return_inverse=True)
        nodes.append(distinct)
        codes.append(place.astype(np.int32))
    return Ladder(domain=domain, tree=tree, codes=tuple(codes), nodes=tuple(nodes))


def _nodes_of(domain: Domain, tree: Hierarchy) -> NDArray[np.int64]:
    """Return the node of each code; numbers are also found by value (39.0 for 39)."""
    if domain.tree is not None and domain.tree is tree:
        return domain.position.astype(np.int64)
    found = [tree.get(MISSING_NODE if label is None else label) for label in domain.labels]
    if None in found:
        numbers = {_number(tree.labels[leaf]): leaf for leaf in tree.leaves}
        found = [
            numbers.get(_number(label)) if node is None and label is not None else node
            for node, label in zip(found, domain.labels, strict=True)
        ]
    unknown = found.count(None)
    if unknown:
        raise UnknownValueError(column=domain.name, unknown=unknown, total=len(domain))
    return np.array(found, dtype=np.int64)


def _number(text: str) -> str:
    """Return the one way to write a number, exactly; a float would merge long neighbours."""
    return number_label(text) or text
