"""Full-domain recoding: the level of each column that keeps the promise with the least loss."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple, TypeVar

from shoal.core.errors import MethodError, NoSolutionError
from shoal.methods.frequency import FrequencyTable
from shoal.methods.lattice import walks
from shoal.methods.lattice.best_first import best_first
from shoal.methods.lattice.board import DENSE, Board, Findings, Search, Solution, drive
from shoal.methods.lattice.evaluate import MEMORY, Answer, Evaluator
from shoal.methods.lattice.explain import facts_of
from shoal.methods.lattice.flash import flash
from shoal.methods.lattice.measures import Aggregate, Tally, measure_of
from shoal.methods.lattice.pledge import pledge_of
from shoal.methods.lattice.result import recoding_at, settle
from shoal.methods.lattice.shortage import no_solution
from shoal.methods.lattice.space import Node, Space, space_of
from shoal.methods.recoding import Recoding
from shoal.privacy import Promise, expand

_DENSE_SEARCHES: dict[str, Callable[[Board], Search]] = {
    "flash": flash,
    "bfs": walks.bfs,
    "dfs": walks.dfs,
    "incognito": walks.incognito,
}
METHODS = (*_DENSE_SEARCHES, "datafly", "best-first")

# What best-first may spend unless it is given seconds: block codes read, plus a fixed sum a
# node. Counted, not timed, so that the same question has the same answer on any machine;
# a few seconds on a machine of 2026.
EFFORT = 1_200_000_000
_NODE = 60_000
_PATIENCE = 10


def search(
    table: FrequencyTable,
    models: Sequence[Promise],
    *,
    method: str = "flash",
    utility: str = "loss",
    aggregate: Aggregate = "geometric",
    suppression_limit: float = 0.0,
    threads: int = 2,
    seconds: float | None = None,
    memory: int = MEMORY,
) -> Recoding:
    """Find the node of the lattice that meets the promise with the least loss.

    Args:
        table: its columns' ladders give the levels; a column without one has two, raw
            and root. The weights of its columns enter measures that add up columns.
        models: what every class keeps.
        method: flash, bfs, dfs and incognito find the optimum; datafly is greedy; best-first
            searches lattices of any size and takes over from all but datafly where a
            lattice is too large for a bound per node.
        utility: what to minimize, see `measures.MEASURES`.
        aggregate: how `loss` joins the columns.
        suppression_limit: share of the records that may be suppressed.
        threads: threads that may count nodes; the answer does not depend on them.
        seconds: stop after this time; without it, best-first stops after a fixed effort, and
            the others at their end.
        memory: bytes that counted nodes may take.

    Guarantee:
        Every class keeps every model; with `facts["optimal"]` no other node of the
        lattice that does so within the limit loses less.

    Raises:
        NoSolutionError: no node keeps the promise within the limit.
        MethodError: an option that does not exist.
    """
    space = space_of(table)
    found = explore(
        space, models, method=method, utility=utility, aggregate=aggregate,
        suppression_limit=suppression_limit, threads=threads, seconds=seconds, memory=memory,
    )  # fmt: skip
    winner, answer = best_settled(found, partial(_settle, found.evaluator))
    if winner is not None and answer is not None:
        late = winner.suppressed - found.findings.counted[winner.node]
        facts = facts_of(space, found.findings, winner, method=found.method, late=late)
        return recoding_at(space, winner.node, answer, home=found.evaluator.home, facts=facts)
    if found.stopped():
        raise NoSolutionError(problem="none was found in the time given; give more seconds")
    pledge = found.evaluator.pledge
    raise no_solution(space, pledge.models, limit=suppression_limit, threads=threads)


class Exploration(NamedTuple):
    """What a search came to know, who answered it, and how it may go on."""

    findings: Findings
    evaluator: Evaluator
    method: str
    stopped: Callable[[], bool]  # whether all that may be spent is spent
    again: Callable[[], Search]

    def run(self) -> None:
        """Search, or search on, until no node can be better or enough was spent."""
        if not self.stopped():
            drive(self.again(), self.findings, answer=self.evaluator.tallies, stop=self.stopped)


def explore(
    space: Space,
    models: Sequence[Promise],
    *,
    method: str = "flash",
    utility: str = "loss",
    aggregate: Aggregate = "geometric",
    suppression_limit: float = 0.0,
    threads: int = 2,
    seconds: float | None = None,
    memory: int = MEMORY,
) -> Exploration:
    """Search without making a release; see `search` for the options."""
    if method not in METHODS:
        raise MethodError(problem=f"no lattice search {method!r}; there are {', '.join(METHODS)}")
    table = space.table
    bound = tuple(expand(models, [domain.name for domain in table.sensitive_domains]))
    pledge = pledge_of(bound, records=table.records, limit=suppression_limit)
    evaluator = Evaluator(space, pledge, threads=threads, memory=memory)
    measure = measure_of(utility, space, evaluator.tallied, aggregate=aggregate, k=pledge.k)
    evaluator.use(measure)
    findings: Findings
    again: Callable[[], Search]
    if method in _DENSE_SEARCHES and space.lattice.size <= DENSE:
        findings = board = Board(space.lattice, measure, budget=pledge.budget)
        again = partial(_DENSE_SEARCHES[method], board)
    else:
        findings = Findings(space.lattice, measure, pledge.budget)
        again = partial(best_first, findings)
        if method == "datafly":
            distinct = [[len(nodes) for nodes in ladder.nodes] for ladder in space.ladders]
            again = partial(walks.datafly, findings, distinct)
        else:
            method = "best-first"
    stopped = _stopper(evaluator, findings, seconds=seconds)
    found = Exploration(findings, evaluator, method, stopped, again)
    found.run()
    return found


def _stopper(
    evaluator: Evaluator, findings: Findings, *, seconds: float | None
) -> Callable[[], bool]:
    begun = time.monotonic()
    a_node = _NODE * len(findings.lattice.heights) // 8

    def spent() -> float:
        if seconds is not None:
            return (time.monotonic() - begun) / max(seconds, 1e-9)
        if isinstance(findings, Board):  # ends by itself, and then with a proof
            return 0.0
        return (evaluator.work + a_node * len(findings.counted)) / EFFORT

    # A first solution is worth waiting for, though not for ever.
    return lambda: spent() > (1 if findings.solutions else _PATIENCE)


Released = TypeVar("Released")  # the classes of a node, however an evaluator has them


def _settle(evaluator: Evaluator, node: Node) -> tuple[Answer, Tally]:
    answer = settle(evaluator.release(node), evaluator)
    return answer, evaluator.read(node, answer)


def best_settled(
    found: Exploration, settled_at: Callable[[Node], tuple[Released, Tally]]
) -> tuple[Solution | None, Released | None]:
    """Return the best solution that also stands without its suppressed records.

    Settling may suppress more, or too much. Then the solution counts as what it turned
    out to be, and the search goes on, because another node may now be the best.

    settled_at: returns the settled classes of a node and what was counted of them.
    """
    findings, budget = found.findings, found.evaluator.pledge.budget
    settled: dict[Node, Released] = {}
    while findings.solutions:
        best = findings.ranked()[0]
        if best.node in settled:
            return best, settled[best.node]
        answer, tally = settled_at(best.node)
        if tally.suppressed == best.suppressed:
            return best, answer
        settled[best.node] = answer
        is_solution = tally.suppressed <= budget
        score = findings.measure.score(tally) if is_solution else 0.0
        amended = Solution(score, tally.suppressed, best.node) if is_solution else None
        findings.amend(best, amended)
        found.run()
    return None, None
