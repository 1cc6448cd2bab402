"""What a search knows so far: solutions, and a bound for every node of a small lattice.

A search is a conversation: it yields a batch of nodes and is sent their tallies.
Any engine can answer; a batch of one is worked on by all cores (fine-grained),
a larger one may be shared out (coarse-grained).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field
from functools import reduce

import numpy as np

from shoal.methods.lattice.measures import Floats, Measure, Tally
from shoal.methods.lattice.space import Lattice, Node

Search = Generator[tuple[Node, ...], Sequence[Tally], None]
Answer = Callable[[Sequence[Node]], Sequence[Tally]]

DENSE = 2**18  # nodes; larger lattices are searched without a bound for every node


@dataclass(frozen=True, slots=True)
class Solution:
    """A node that keeps the promise within the limit."""

    score: float
    suppressed: int
    node: Node

    @property
    def rank(self) -> tuple[float, int, int, Node]:
        """Return what solutions are ordered by: loss, suppression, height, then the levels."""
        return (self.score, self.suppressed, sum(self.node), self.node)


@dataclass
class Findings:
    """Solutions found, nodes counted, and whether the best one is proven to be the best.

    Attributes:
        bound: no node can score below this.
    """

    lattice: Lattice
    measure: Measure
    budget: int
    solutions: list[Solution] = field(default_factory=list)
    evaluated: int = 0
    proven: bool = False
    best: float = math.inf
    bound: float = -math.inf

    def learn(self, tally: Tally) -> bool:
        """Take in a tally; return whether the node is a solution."""
        self.evaluated += 1
        if tally.suppressed > self.budget:
            return False
        found = Solution(self.measure.score(tally), tally.suppressed, tally.node)
        self.solutions.append(found)
        self.best = min(self.best, found.score)
        return True

    def ranked(self) -> list[Solution]:
        """Return the solutions, the best first."""
        return sorted(self.solutions, key=lambda found: found.rank)


class Board(Findings):
    """Findings with a lower bound for every node.

    Attributes:
        bounds: float64[levels of column 0, levels of column 1, …]; infinite where a node
            was counted or cannot be a solution.
    """

    def __init__(self, lattice: Lattice, measure: Measure, *, budget: int) -> None:
        super().__init__(lattice, measure, budget)
        self.bounds: Floats = _outer(measure, measure.floors())

    def learn(self, tally: Tally) -> bool:
        """Take in a tally and what it says about finer and coarser nodes."""
        is_solution = super().learn(tally)
        below = tuple([slice(level + 1) for level in tally.node])
        if tally.least > self.budget:
            self.bounds[below] = math.inf
        else:
            finer = self.measure.finer(tally)
            if isinstance(finer, list):
                finer = _outer(self.measure, finer)
            if not isinstance(finer, float) or finer > -math.inf:
                np.maximum(self.bounds[below], finer, out=self.bounds[below])
        coarser = self.measure.coarser(tally)
        if coarser > -math.inf:
            above = tuple([slice(level, None) for level in tally.node])
            np.maximum(self.bounds[above], coarser, out=self.bounds[above])
        self.bounds[tally.node] = math.inf
        return is_solution

    def is_open(self, node: Node) -> bool:
        """Say whether a node might still beat the best one."""
        return bool(self.bounds[node] < self.best)

    def finish(self) -> None:
        """Declare the search complete: no open node is left."""
        self.proven = True
        self.bound = self.best


def _outer(measure: Measure, parts: Sequence[Floats]) -> Floats:
    """Join per-column scores to the scores of all nodes, column by column from the left."""
    return reduce(lambda left, right: measure.joins.outer(left, right), parts)


def drive(search: Search, findings: Findings, *, answer: Answer) -> None:
    """Let a search ask until it is done."""
    try:
        asked = next(search)
        while True:
            tallies = answer(asked)
            for tally in tallies:
                findings.learn(tally)
            asked = search.send(tallies)
    except StopIteration:
        return


