"""The lattice around a release: what each combination of levels would lose, and suppress."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from shoal.core.documents import Document, Json
from shoal.core.errors import MethodError
from shoal.core.watch import tell, watcher
from shoal.jobs.clock import Clock
from shoal.jobs.requests import LearnRequest
from shoal.jobs.search import opened
from shoal.methods.catalogue import Lattice
from shoal.methods.lattice.constraint import constraint_of
from shoal.methods.lattice.measures import measure_of
from shoal.methods.lattice.person_evaluate import evaluator_for
from shoal.methods.lattice.space import Lattice as Nodes
from shoal.methods.lattice.space import Node, space_of

MOST_NODES = 120
"""Nodes that people can look at together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LatticeRequest:
    """What is looked at.

    Attributes:
        release: the table, its schema and its promise; the method is one of a lattice.
        around: the level of each column of the node in the middle; a column that is not named
            stands at its last level.
        most: nodes that are counted.
    """

    release: LearnRequest
    around: Mapping[str, int] = field(default_factory=dict)
    most: int = MOST_NODES


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeFacts:
    """One combination of levels.

    Attributes:
        levels: of the columns, in their order.
        loss: what generalization alone loses there, in the measure that the search minimizes.
        suppressed: records of classes that break the promise.
        is_safe: these are no more than may be suppressed. A release there is still verified.
    """

    levels: Node
    loss: float
    suppressed: int
    is_safe: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class LatticeFound:
    """Nodes of a lattice; `size` is how many it has in all."""

    columns: tuple[str, ...]
    heights: Node
    records: int
    size: int
    nodes: tuple[NodeFacts, ...]

    def to_document(self) -> Document:
        """Return it as plain data."""
        nodes: list[Json] = [
            {"levels": list(each.levels), "loss": each.loss, "suppressed": each.suppressed,
             "safe": each.is_safe}
            for each in self.nodes
        ]  # fmt: skip
        return {"columns": list(self.columns), "heights": list(self.heights), "nodes": nodes,
                "records": self.records, "size": self.size}  # fmt: skip


def lattice(request: LatticeRequest) -> LatticeFound:
    """Count the nodes around one: all of a small lattice, the nearest ones of a large one.

    Raises:
        MethodError: the method has no lattice, or the table stays on a cluster.
    """
    method = request.release.method
    if not isinstance(method, Lattice):
        raise MethodError(problem=f"--method {method.name} has no lattice; flash has one")
    with opened(request.release, Clock()) as found:
        if found.counts.is_distributed:
            raise MethodError(problem="the nodes of a lattice are counted on this machine alone")
        table, schema = found.counts.table, found.schema
        space = space_of(table)
        constraint = constraint_of(found.promise, table, limit=schema.suppression_limit)
        threads = request.release.threads or 2
        evaluator = evaluator_for(space, constraint, threads=threads, memory=method.memory)
        measure = measure_of(
            schema.utility or "loss", space, evaluator.tallied, aggregate=method.aggregate,
            k=constraint.k,
        )  # fmt: skip
        floors = measure.floors()
        names = tuple(domain.name for domain in table.domains)
        heights = space.lattice.heights
        middle = tuple(
            min(max(request.around.get(name, height), 0), height)
            for name, height in zip(names, heights, strict=True)
        )
        chosen = nearest(space.lattice, middle, request.most)
        nodes = []
        tell("learn")
        for done, node in enumerate(chosen):
            watcher().advance(done, len(chosen))
            suppressed = int(evaluator.release(node).due.sum())
            parts = [float(floors[j, level]) for j, level in enumerate(node)]
            loss = measure.value(max(parts) if measure.takes_max else sum(parts))
            is_safe = suppressed <= constraint.budget
            nodes.append(
                NodeFacts(levels=node, loss=loss, suppressed=suppressed, is_safe=is_safe)
            )  # fmt: skip
    return LatticeFound(
        columns=names, heights=heights, records=table.records, size=space.lattice.size,
        nodes=tuple(nodes),
    )  # fmt: skip


def nearest(nodes: Nodes, middle: Node, most: int) -> Sequence[Node]:
    """Return the nodes fewest steps away from one, in the order of their levels.

    Example:
        >>> nearest(Nodes((1, 2)), (0, 1), 4)
        [(0, 0), (0, 1), (0, 2), (1, 1)]
    """
    found, waiting = {middle: None}, deque([middle])
    while waiting and len(found) < most:
        node = waiting.popleft()
        for near in (*nodes.coarser(node), *nodes.finer(node)):
            if near not in found and len(found) < most:
                found[near] = None
                waiting.append(near)
    return sorted(found)
