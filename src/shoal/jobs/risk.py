"""Measure how easily people are found in a table, and attack it and its release."""

from __future__ import annotations

from dataclasses import replace

from shoal.core.documents import Document
from shoal.core.errors import InputError, MethodError
from shoal.engines.choose import engine_for
from shoal.engines.local.attack import Attacker
from shoal.engines.local.person_attack import PersonAttacker, Persons
from shoal.engines.local.person_file import with_persons
from shoal.engines.local.source import Source, open_source
from shoal.engines.refusals import check_columns
from shoal.jobs.compose import compose
from shoal.jobs.proposals import proposals
from shoal.jobs.requests import AttackRequest, ComposeRequest, RiskRequest
from shoal.measures.attacks.intersection import intersection
from shoal.measures.attacks.result import PERSONS_ATTACKED, Comparison
from shoal.measures.risk.persons import FEW_PEOPLE, asked_k
from shoal.measures.risk.question import RiskQuestion
from shoal.measures.risk.report import RiskReport
from shoal.privacy import KAnonymity
from shoal.reports.profile import Profile
from shoal.schema.schema import Others, Schema


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
    """Attack a table and its release; compare both with guessing.

    Raises:
        MethodError: persons are counted, and the release links all records of each.
        InputError: persons are counted, and nothing says who stands behind the release's records.
    """
    request.check()
    original = open_source(request.table, separator=request.separator)
    release = open_source(request.release, separator=request.separator)
    schema = replace(
        request.schema, others=Others.DROP, waive=(), proposals=proposals(infer=request.infer)
    )
    together = _together(request)
    if schema.person:
        return (*_attack_on_persons(request, schema, original, release), *together)
    attacker = Attacker(
        original, release.as_labels(), schema, seed=request.seed, targets=request.targets,
        centroids=request.centroids,
    )  # fmt: skip
    register = None if request.register is None else open_source(request.register)
    if request.everything:
        return (*attacker.all(register, key=request.key), *together)
    return (*attacker.three_questions(register, key=request.key), *together)


def _together(request: AttackRequest) -> tuple[Comparison, ...]:
    """Lay this release over the others that the attacker holds."""
    if not request.beside and not request.class_files:
        return ()
    schema = request.schema
    if not schema.privacy:  # the figures are asked for, not a verdict
        schema = schema.with_promise([KAnonymity(FEW_PEOPLE)])
    releases = (request.release, *request.beside) if request.beside else ()
    found = compose(
        ComposeRequest(
            table=request.table, schema=schema, releases=releases,
            class_files=request.class_files, separator=request.separator, infer=request.infer,
        )
    )  # fmt: skip
    return (intersection(found, asked_k(schema.privacy, FEW_PEOPLE)),)


def _attack_on_persons(
    request: AttackRequest, schema: Schema, original: Source, release: Source
) -> tuple[Comparison, ...]:
    """Attack persons, of each of whom one record is known."""
    if schema.trajectories:
        raise MethodError(
            problem="an attack knows one record of a person, and a release with a pseudonym of "
            "the person links all of them; risk --release-person pseudonym counts who stands out"
        )
    names: tuple[str, ...] = schema.person
    if request.person_file is not None:
        release, names = with_persons(release, request.person_file)
    elif any(name not in release.columns for name in names):
        raise InputError(
            where=release.where,
            problem="does not say who stands behind each record; name the file that does "
            "(--person-file, as anonymize --person-file wrote it)",
        )
    check_columns(original.where, original.columns, schema.person)
    attacker = PersonAttacker(
        Persons(original, schema.person), Persons(release.as_labels(), names), schema,
        seed=request.seed, targets=request.targets, centroids=request.centroids,
    )  # fmt: skip
    found = attacker.three_questions()
    if not request.everything and request.register is None:
        return found
    register = None if request.register is None else open_source(request.register)
    return (*found, *attacker.closely(register))


def attack_notices(request: AttackRequest) -> tuple[str, ...]:
    """Return what an attack leaves out."""
    return (PERSONS_ATTACKED,) if request.schema.person and request.everything else ()
