"""What a search knows so far: solutions, and a bound for every node of a small lattice.

A search is a conversation: it yields a batch of nodes and is sent their tallies.
Every engine can answer; a batch of one is worked on by all cores (fine-grained),
a larger one may be shared out (coarse-grained).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.lattice import bounds as kernel
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
class SearchState:
    """Solutions found, nodes counted, and whether the best one is proven to be the best.

    Attributes:
        counted: the suppressed records of each node that was counted (once above the
            budget, not all of them).
        bound: no node can score below this.
    """

    lattice: Lattice
    measure: Measure
    budget: int
    solutions: list[Solution] = field(default_factory=list)
    tallies: list[Tally] = field(default_factory=list)
    counted: dict[Node, int] = field(default_factory=dict)
    proven: bool = False
    best: float = math.inf
    bound: float = -math.inf

    def learn(self, tally: Tally) -> bool:
        """Take in a tally; return whether the node is a solution."""
        self.counted[tally.node] = tally.suppressed
        self.tallies.append(tally)
        if tally.suppressed > self.budget:
            return False
        found = Solution(self.measure.score(tally), tally.suppressed, tally.node)
        self.solutions.append(found)
        self.best = min(self.best, found.score)
        return True

    def amend(self, old: Solution, new: Solution | None) -> None:
        """Replace a solution by what it turned out to be; a search may then go on."""
        self.solutions.remove(old)
        if new is not None:
            self.solutions.append(new)
        self.best = min((found.score for found in self.solutions), default=math.inf)
        self.proven = False

    def give_up(self) -> None:
        """Say what is known when a search is stopped before its end."""

    def ranked(self) -> list[Solution]:
        """Return the solutions, the best first."""
        return sorted(self.solutions, key=lambda found: found.rank)


class TaggedState(SearchState):
    """SearchState with a lower bound for every node.

    Attributes:
        bounds: float64[nodes], the last column's level running fastest; infinite where a
            node was counted or cannot be a solution.
    """

    def __init__(self, lattice: Lattice, measure: Measure, *, budget: int) -> None:
        super().__init__(lattice, measure, budget)
        self.shape: NDArray[np.int64] = np.array(lattice.shape, dtype=np.int64)
        self.bounds: Floats = np.full(lattice.size, -math.inf)
        self._grid = self.bounds.reshape(lattice.shape)
        self._raise(lattice.top, measure.floors())

    def _raise(self, node: Node, scores: Floats) -> None:
        top = np.array(node, dtype=np.int64)
        kernel.raise_bounds(self.bounds, self.shape, top, scores, self.measure.takes_max)

    def learn(self, tally: Tally) -> bool:
        """Take in a tally and what it says about finer and coarser nodes."""
        is_solution = super().learn(tally)
        finer = math.inf if tally.least > self.budget else self.measure.finer(tally)
        if not isinstance(finer, float):
            self._raise(tally.node, finer)
        elif finer > -math.inf:
            below = self._grid[tuple([slice(level + 1) for level in tally.node])]
            np.maximum(below, finer, out=below)
        coarser = self.measure.coarser(tally)
        if coarser > -math.inf:
            above = self._grid[tuple([slice(level, None) for level in tally.node])]
            np.maximum(above, coarser, out=above)
        self._grid[tally.node] = math.inf
        return is_solution

    def node(self, place: int) -> Node:
        """Return the node with a number."""
        levels = []
        for size in reversed(self.lattice.shape):
            place, level = divmod(place, size)
            levels.append(level)
        return tuple(reversed(levels))

    def is_open(self, place: int) -> bool:
        """Say whether a node might still beat the best one."""
        return bool(self.bounds[place] < self.best)

    def give_up(self) -> None:
        """Say what is known when a search is stopped before its end."""
        self.bound = min(float(self.bounds.min()), self.best)

    def finish(self) -> None:
        """Declare the search complete: no open node is left."""
        self.proven = True
        self.bound = self.best


def drive(
    search: Search, state: SearchState, *, answer: Answer, stop: Callable[[], bool] | None = None
) -> bool:
    """Let a search ask until it is done (True) or `stop` says that enough was spent (False)."""
    try:
        asked = next(search)
        while True:
            tallies = answer(asked)
            for tally in tallies:
                state.learn(tally)
            if stop is not None and stop():
                search.close()
                state.give_up()
                return False
            asked = search.send(tallies)
    except StopIteration:
        return True
