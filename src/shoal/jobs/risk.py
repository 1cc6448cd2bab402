"""Measure how easily people are found in a table, and attack it and its release."""

from __future__ import annotations

from dataclasses import replace

from shoal.core.documents import Document
from shoal.engines.choose import engine_for
from shoal.engines.local.attack import Attacker
from shoal.engines.local.source import open_source
from shoal.jobs.proposals import proposals
from shoal.jobs.requests import AttackRequest, RiskRequest
from shoal.measures.attacks.result import Comparison
from shoal.measures.risk.persons import FEW_PEOPLE, asked_k
from shoal.measures.risk.question import RiskQuestion
from shoal.measures.risk.report import RiskReport
from shoal.reports.profile import Profile
from shoal.schema.schema import Others


def risk(request: RiskRequest) -> RiskReport:
    """Measure how easily people are found in a table as it stands."""
    table = engine_for(request.table).open(request.table, separator=request.separator)
    found = table.risk(_question(request), population=request.population)
    if request.schema.trajectories:
        return replace(found, trajectories=table.trajectories(request.schema))
    if request.schema.person:  # they are counted already, by what the user named
        return found
    k = asked_k(request.schema.privacy, FEW_PEOPLE)
    return replace(found, repeats=table.repeats(request.schema, k))


def _question(request: RiskRequest) -> RiskQuestion:
    return RiskQuestion(
        quasi=request.schema.quasi,
        sampling_fraction=request.sampling_fraction,
        weights=request.weights,
        household=request.household,
        max_size=request.max_size,
        person=request.schema.person,
        missing=tuple(request.schema.missing),
    )


def held(profile: Profile, found: RiskReport) -> Document:
    """Return a profile as plain data, and how a table stands against it."""
    failures = profile.failures(
        maximum=found.maximum,
        average=found.average,
        unit="record" if found.persons is None else "person",
        repeats=found.repeats is not None,
    )
    return {**profile.to_document(), "passed": not failures, "failures": list(failures)}


def attack(request: AttackRequest) -> tuple[Comparison, ...]:
    """Attack a table and its release; compare both with guessing."""
    request.check()
    request.schema.refuse_persons("an attack")
    attacker = Attacker(
        open_source(request.table, separator=request.separator),
        open_source(request.release, separator=request.separator).as_labels(),
        replace(
            request.schema, others=Others.DROP, waive=(), proposals=proposals(infer=request.infer)
        ),
        seed=request.seed,
        targets=request.targets,
        centroids=request.centroids,
    )
    register = None if request.register is None else open_source(request.register)
    if request.everything:
        return attacker.all(register, key=request.key)
    return attacker.three_questions(register, key=request.key)
