"""Full-domain recoding: the level of each column that keeps the promise with the least loss."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

from shoal.core.errors import MethodError, NoSolutionError
from shoal.core.privacy import PrivacyModel, expand
from shoal.methods.frequency import FrequencyTable
from shoal.methods.lattice import walks
from shoal.methods.lattice.best_first import best_first
from shoal.methods.lattice.board import DENSE, Board, Findings, Search, Solution, drive
from shoal.methods.lattice.evaluate import MEMORY, Evaluator
from shoal.methods.lattice.explain import facts_of
from shoal.methods.lattice.flash import flash
from shoal.methods.lattice.measures import Aggregate, measure_of
from shoal.methods.lattice.pledge import pledge_of
from shoal.methods.lattice.result import recoding_at, settle
from shoal.methods.lattice.shortage import no_solution
from shoal.methods.lattice.space import Space, space_of
from shoal.methods.recoding import Recoding

Name = Literal["flash", "bfs", "dfs", "incognito", "datafly", "best-first"]
_DENSE_SEARCHES: dict[str, Callable[[Board], Search]] = {
    "flash": flash,
    "bfs": walks.bfs,
    "dfs": walks.dfs,
    "incognito": walks.incognito,
}
METHODS = (*_DENSE_SEARCHES, "datafly", "best-first")

# What a search may spend unless it is given seconds: block codes read, plus a fixed sum a
# node. Counted, not timed, so that the same question has the same answer on any machine;
# about ten seconds on a machine of 2026.
EFFORT = 1_200_000_000
_NODE = 60_000
_PATIENCE = 10


def search(
    table: FrequencyTable,
    models: Sequence[PrivacyModel],
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
        seconds: stop after this time; without it, after a fixed effort.
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
    if found.findings.solutions:
        return _release(space, found)
    if found.stopped:
        raise NoSolutionError(problem="none was found in the time given; give more seconds")
    pledge = found.evaluator.pledge
    raise no_solution(space, pledge.models, limit=suppression_limit, threads=threads)


class Exploration(NamedTuple):
    """What a search came to know, who answered it, and how it went."""

    findings: Findings
    evaluator: Evaluator
    method: str
    stopped: bool  # before its own end


def explore(
    space: Space,
    models: Sequence[PrivacyModel],
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
    if method in _DENSE_SEARCHES and space.lattice.size <= DENSE:
        board = Board(space.lattice, measure, budget=pledge.budget)
        findings: Findings = board
        steps = _DENSE_SEARCHES[method](board)
    else:
        findings = Findings(space.lattice, measure, pledge.budget)
        steps = _open_search(method, findings, space)
        method = method if method == "datafly" else "best-first"
    stop = _stopper(evaluator, findings, seconds=seconds)
    ended = drive(steps, findings, answer=evaluator.tallies, stop=stop)
    return Exploration(findings, evaluator, method, not ended)


def _open_search(method: str, findings: Findings, space: Space) -> Search:
    if method == "datafly":
        return walks.datafly(findings, [[len(n) for n in ladder.nodes] for ladder in space.ladders])
    return best_first(findings)


def _stopper(
    evaluator: Evaluator, findings: Findings, *, seconds: float | None
) -> Callable[[], bool]:
    begun = time.monotonic()

    def spent() -> float:
        if seconds is not None:
            return (time.monotonic() - begun) / max(seconds, 1e-9)
        return (evaluator.work + _NODE * len(findings.counted)) / EFFORT

    # A first solution is worth waiting for, though not for ever.
    return lambda: spent() > (1 if findings.solutions else _PATIENCE)


def _release(space: Space, found_out: Exploration) -> Recoding:
    """Return the recoding of the best solution that also stands without its suppressed records."""
    findings, evaluator, method, _ = found_out
    for found in findings.ranked():
        counted = evaluator.release(found.node)
        answer = settle(counted, evaluator)
        tally = evaluator.read(found.node, answer)
        if tally.suppressed > evaluator.pledge.budget:
            continue
        winner = Solution(findings.measure.score(tally), tally.suppressed, found.node)
        facts = facts_of(
            space, findings, winner, method=method, late=tally.suppressed - found.suppressed
        )
        return recoding_at(space, found.node, answer, home=evaluator.home, facts=facts)
    raise NoSolutionError(
        problem=f"{len(findings.solutions)} combinations of levels keep the promise against the "
        "whole table, but none against the records it would leave; allow more suppression"
    )
