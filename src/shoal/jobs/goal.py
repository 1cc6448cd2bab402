"""Answer the question that people have: the least loss at a bounded risk, or the reverse.

Methods, suppression limits and a ladder of k are compared (`jobs.compare`); then the k of the
best methods is narrowed down between the last value that reaches the bound and the first that
does not.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from shoal.core.errors import NoSolutionError
from shoal.jobs.compare import CompareRequest, Watch, compare
from shoal.jobs.faults import Fault, refuse
from shoal.jobs.trials import Grid, Trial
from shoal.methods.catalogue import BestCut, Flash, Refine
from shoal.methods.method import Method
from shoal.privacy import KAnonymity
from shoal.reports.compare import Compared, Run, risk_of, with_front
from shoal.schema.schema import Schema

LADDER = (2, 3, 5, 8, 12, 20, 30, 50, 80, 120, 200, 350, 600, 1000)
"""The first values of k; later ones lie between two of them."""
ROUNDS = 4
"""How often the k of a method is narrowed down."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GoalRequest:
    """What is to be as small as possible, and what must not be exceeded.

    Attributes:
        schema: its promise, if it has one, is kept beside the k that is looked for.
        minimize: "loss" (NCP) or "risk".
        most: the bound on the other one, a share.
        risk: "maximum", of whoever is easiest to find, or "average".
        limits: suppression limits that are tried.
        keep: see `CompareRequest`.
    """

    table: object
    schema: Schema
    minimize: str
    most: float
    risk: str = "maximum"
    methods: tuple[Method, ...] = field(
        default_factory=lambda: (BestCut(), Refine(effort="fast"), Flash())
    )
    limits: tuple[float, ...] = (0.0, 0.01, 0.05)
    infer: bool = True
    separator: str | None = None
    keep: Path | None = None

    def check(self) -> None:
        """Refuse a goal that cannot be meant; all faults are named together."""
        faults = []
        if self.minimize not in ("loss", "risk"):
            faults.append(Fault("must be loss or risk", "--goal"))
        if self.risk not in ("maximum", "average"):
            faults.append(Fault("must be maximum or average", "--risk"))
        if not 0 < self.most <= 1:
            bound = "--max-risk" if self.minimize == "loss" else "--max-loss"
            faults.append(Fault("must be a share above 0, at most 1", bound))
        refuse(faults)

    def figures(self, run: Run) -> tuple[float, float]:
        """Return what is to be small, and what is bounded; infinite where there is no release."""
        if run.error is not None or run.loss is None:
            return math.inf, math.inf
        risk = risk_of(run, self.risk)
        return (run.loss, risk) if self.minimize == "loss" else (risk, run.loss)

    def reaches(self, run: Run) -> bool:
        """Say whether a run keeps the bound."""
        return self.figures(run)[1] <= self.most


@dataclass(frozen=True, slots=True, kw_only=True)
class Reached:
    """The best way to the goal, and everything that was tried.

    Attributes:
        best: the run with the least of what is to be small, among those that keep the bound.
        trial: what it was tried with.
    """

    best: Run
    trial: Trial
    compared: Compared


def reach(request: GoalRequest, *, watch: Watch | None = None) -> Reached:
    """Return the best release that keeps the bound.

    Raises:
        NoSolutionError: none of them does.
    """
    request.check()
    trials: dict[str, Trial] = {}
    runs: dict[str, Run] = {}
    _try(request, LADDER, trials, runs, watch)
    for _ in range(ROUNDS):
        between = _between(request, runs)
        if not between:
            break
        _try(request, between, trials, runs, watch)
    compared = Compared(runs=tuple(with_front(list(runs.values()))))
    fit = [run for run in compared.runs if request.reaches(run)]
    if all(run.error is not None for run in compared.runs):  # the table is why, not the bound
        raise NoSolutionError(problem=f"no release could be made: {compared.runs[0].error}")
    if not fit:
        name = "risk" if request.minimize == "loss" else "loss"
        known = [request.figures(run)[1] for run in compared.runs if run.error is None]
        least = f"; the least was {min(known):.2%}" if known else ""
        problem = f"no release has a {name} of at most {request.most:.2%}{least}"
        raise NoSolutionError(problem=problem)
    best = min(fit, key=lambda run: (*request.figures(run), run.name))
    return Reached(best=best, trial=trials[best.name], compared=compared)


def _try(
    request: GoalRequest,
    ks: tuple[int, ...],
    trials: dict[str, Trial],
    runs: dict[str, Run],
    watch: Callable[[Run], None] | None,
) -> None:
    """Run what was not run yet, and remember it; a k below the schema's own is none to try."""
    own = max((promise.least_records for promise in request.schema.privacy), default=1)
    grid = Grid(
        tables=(request.table,), schema=request.schema, methods=request.methods,
        promises=tuple((KAnonymity(k),) for k in (own, *ks) if k >= max(own, 2)),
        limits=request.limits, infer=request.infer, separator=request.separator,
    )  # fmt: skip
    fresh = tuple(each for each in grid.trials() if each.name not in trials)
    if not fresh:
        return
    trials.update({each.name: each for each in fresh})
    found = compare(CompareRequest(trials=fresh, keep=request.keep), watch=watch)
    runs.update({run.name: run for run in found.runs})


def _between(request: GoalRequest, runs: dict[str, Run]) -> tuple[int, ...]:
    """Return values of k halfway between the last that reaches the bound and the first beyond.

    Risk falls and loss grows with k, more or less; so each method and limit has such a pair.
    """
    groups: dict[str, dict[int, Run]] = {}
    for run in runs.values():
        k = _k(run)
        if k is not None and run.error is None:
            key = f"{run.facts.get('method')} {run.facts.get('suppression_limit')}"
            groups.setdefault(key, {})[k] = run
    found = set()
    best = min(
        (request.figures(run) for run in runs.values() if request.reaches(run)), default=None
    )
    for by_k in groups.values():
        ks = sorted(by_k)
        fit = [k for k in ks if request.reaches(by_k[k])]
        if not fit or best is None:
            continue
        edge = min(fit) if request.minimize == "loss" else max(fit)
        beyond = [k for k in ks if (k < edge if request.minimize == "loss" else k > edge)]
        nearest = (
            max(beyond, default=edge) if request.minimize == "loss" else min(beyond, default=edge)
        )
        if abs(edge - nearest) > 1 and request.figures(by_k[edge])[0] <= 1.5 * best[0]:
            found.add((edge + nearest) // 2)
    return tuple(sorted(found))


def _k(run: Run) -> int | None:
    promise = run.facts.get("promise")
    k = promise.get("k") if isinstance(promise, dict) else None
    return k if isinstance(k, int) else None
