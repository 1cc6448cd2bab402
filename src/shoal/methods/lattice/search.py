"""Full-domain recoding: the level of each column that keeps the promise with the least loss."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple, TypeVar

from shoal.core.documents import Document
from shoal.core.errors import NoSolutionError
from shoal.methods.catalogue import Lattice as LatticeMethod
from shoal.methods.lattice import walks
from shoal.methods.lattice.best_first import best_first
from shoal.methods.lattice.constraint import constraint_of
from shoal.methods.lattice.evaluate import Answer, Evaluator
from shoal.methods.lattice.explain import facts_of
from shoal.methods.lattice.flash import flash
from shoal.methods.lattice.measures import Tally, measure_of
from shoal.methods.lattice.person_evaluate import evaluator_for
from shoal.methods.lattice.result import recoding_at, repair
from shoal.methods.lattice.shortage import no_solution
from shoal.methods.lattice.space import Node, space_of
from shoal.methods.lattice.state import DENSE, Search, SearchState, Solution, TaggedState, drive
from shoal.methods.method import Setting
from shoal.privacy import Promise
from shoal.table.frequency import FrequencyTable
from shoal.table.recoding import Recoding

_TAGGING: dict[str, Callable[[TaggedState], Search]] = {
    "flash": flash,
    "bfs": walks.bfs,
    "dfs": walks.dfs,
    "incognito": walks.incognito,
}

# What best-first may spend unless it is given seconds: block codes read, plus a fixed sum a
# node. Counted, not timed, so that the same question has the same answer on any machine;
# a few seconds on a machine of 2026.
EFFORT = 1_200_000_000
_NODE = 60_000
_PATIENCE = 10

THREADS = 2  # unless a setting says how many


def search(
    table: FrequencyTable, models: Sequence[Promise], method: LatticeMethod, setting: Setting
) -> Recoding:
    """Find the node of the lattice that meets the promise with the least loss.

    Args:
        table: its columns' ladders give the levels; a column without one has two, raw
            and root. The weights of its columns enter measures that add up columns.
        models: what every class keeps.
        method: flash, bfs, dfs and incognito find the optimum; datafly is greedy; best-first
            searches lattices of any size and takes over from all but datafly where a
            lattice is too large for a bound per node. Without `seconds`, best-first stops after
            a fixed effort, and the others at their end.
        setting: the answer does not depend on its threads.

    Guarantee:
        Every class keeps every model; with `facts["optimal"]` no other node of the
        lattice that does so within the limit loses less.

    Raises:
        NoSolutionError: no node keeps the promise within the limit.
        MethodError: a limit or a measure that does not exist.
    """
    space = space_of(table)
    constraint = constraint_of(models, table, limit=setting.suppression_limit)
    threads = THREADS if setting.threads is None else setting.threads
    evaluator = evaluator_for(space, constraint, threads=threads, memory=method.memory)
    found = explore(evaluator, method, utility=setting.utility or "loss")
    winner, answer = best_repaired(found, partial(_repaired, evaluator))
    if winner is not None and answer is not None:
        return recoding_at(space, winner.node, answer, evaluator.finest, facts=found.facts(winner))
    if found.stopped():
        raise NoSolutionError(problem="none was found in the time given; give more seconds")
    raise no_solution(space, constraint.models, limit=setting.suppression_limit, threads=threads)


class Exploration(NamedTuple):
    """What a search came to know, who answered it, and how it may go on."""

    state: SearchState
    evaluator: Evaluator
    method: str
    stopped: Callable[[], bool]  # whether all that may be spent is spent
    again: Callable[[], Search]

    def go_on(self) -> None:
        """Search, or search on, until no node can be better or enough was spent."""
        if not self.stopped():
            drive(self.again(), self.state, answer=self.evaluator.tallies, stop=self.stopped)

    def facts(self, winner: Solution) -> Document:
        """Return what the search says about itself and the node that it chose."""
        late = winner.suppressed - self.state.counted[winner.node]
        return facts_of(self.evaluator.space, self.state, winner, method=self.method, late=late)


def explore(evaluator: Evaluator, method: LatticeMethod, *, utility: str = "loss") -> Exploration:
    """Search without making a release: `method` asks, the evaluator answers."""
    space, constraint = evaluator.space, evaluator.constraint
    measure = measure_of(
        utility, space, evaluator.tallied, aggregate=method.aggregate, k=constraint.k
    )
    evaluator.use(measure)
    state: SearchState
    again: Callable[[], Search]
    name = method.name
    if name in _TAGGING and space.lattice.size <= DENSE:
        state = tagged = TaggedState(space.lattice, measure, budget=constraint.budget)
        again = partial(_TAGGING[name], tagged)
    else:
        state = SearchState(space.lattice, measure, constraint.budget)
        again = partial(best_first, state)
        if name == "datafly":
            distinct = [[len(nodes) for nodes in ladder.nodes] for ladder in space.ladders]
            again = partial(walks.datafly, state, distinct)
        else:
            name = "best-first"
    stopped = _stopper(evaluator, state, seconds=method.seconds)
    found = Exploration(state, evaluator, name, stopped, again)
    found.go_on()
    return found


def _stopper(
    evaluator: Evaluator, state: SearchState, *, seconds: float | None
) -> Callable[[], bool]:
    begun = time.monotonic()
    a_node = _NODE * len(state.lattice.heights) // 8

    def spent() -> float:
        if seconds is not None:
            return (time.monotonic() - begun) / max(seconds, 1e-9)
        if isinstance(state, TaggedState):  # ends by itself, and then with a proof
            return 0.0
        return (evaluator.work + a_node * len(state.counted)) / EFFORT

    # A first solution is worth waiting for, though not for ever.
    return lambda: spent() > (1 if state.solutions else _PATIENCE)


Released = TypeVar("Released")  # the classes of a node, however an evaluator has them


def _repaired(evaluator: Evaluator, node: Node) -> tuple[Answer, Tally]:
    answer = evaluator.release(node)
    if answer.least is None:  # where persons are counted, every node is judged to the end
        answer = repair(answer, evaluator)
    return answer, evaluator.read(node, answer)


def best_repaired(
    found: Exploration, repaired_at: Callable[[Node], tuple[Released, Tally]]
) -> tuple[Solution | None, Released | None]:
    """Return the best solution that also stands without its suppressed records.

    A repair may suppress more, or too much. Then the solution counts as what it turned
    out to be, and the search goes on, because another node may now be the best.

    repaired_at: returns the repaired classes of a node and what was counted of them.
    """
    state, budget = found.state, found.evaluator.constraint.budget
    repaired: dict[Node, Released] = {}
    while state.solutions:
        best = state.ranked()[0]
        if best.node in repaired:
            return best, repaired[best.node]
        answer, tally = repaired_at(best.node)
        if tally.suppressed == best.suppressed:
            return best, answer
        repaired[best.node] = answer
        is_solution = tally.suppressed <= budget
        score = state.measure.score(tally) if is_solution else 0.0
        amended = Solution(score, tally.suppressed, best.node) if is_solution else None
        state.amend(best, amended)
        found.go_on()
    return None, None
