"""Tables with a column of sets as they stand: judged, measured, and how easily people are found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import polars as pl

from shoal.core.documents import Document
from shoal.core.errors import InputError, MethodError
from shoal.engines.choose import engine_for
from shoal.engines.local.engine import LocalEngine
from shoal.engines.local.transactions import (
    SetTable,
    baskets_of,
    items_of,
    judged_sets,
    lowest_supports,
    numbered,
    open_sets,
)
from shoal.jobs.requests import MetricsRequest, RiskRequest, VerifyRequest
from shoal.jobs.risk import risk
from shoal.jobs.search import promise_of
from shoal.measures.risk.report import RiskReport
from shoal.measures.risk.sets import SetRisk
from shoal.measures.transactions import measures_of
from shoal.privacy import KmAnonymity, Verdict
from shoal.privacy.emptiness import void_promise
from shoal.privacy.of_sets import speaks_of_sets
from shoal.reports.release import Verification
from shoal.schema.schema import Others, Schema

AnyRisk = RiskReport | SetRisk


def relational(schema: Schema) -> list[str]:
    """Return the names of the quasi-identifiers beside the sets."""
    return [name for name in schema.quasi if name not in schema.sets]


def folded(table: SetTable, person: Sequence[str]) -> SetTable:
    """Join the sets of each person; every other column must say the same in all their rows.

    Raises:
        InputError: it does not, or a row is about nobody.
    """
    frame = table.others.with_columns(table.sets)
    if frame.select(pl.any_horizontal(pl.col(person).is_null().any())).item():
        raise InputError(where=table.where, problem="a row does not say who it is about")
    others = [name for name in table.others.columns if name not in person]
    found = frame.group_by(person, maintain_order=True).agg(
        pl.col(table.sets.name).explode().drop_nulls().unique().sort(),
        *(pl.col(name).first() for name in others),
        *(pl.col(name).n_unique().alias(f"\x00{name}") for name in others),
    )
    differ = [name for name in others if (found[f"\x00{name}"] > 1).any()]
    if differ:
        named = ", ".join(map(repr, differ))
        raise InputError(
            where=table.where,
            problem=f"{named}: differs between the rows of a person, whose items are joined to one "
            "set; leave the column out",
        )
    return replace(table, others=found.select(others), sets=found[table.sets.name])


def verify_sets(request: VerifyRequest) -> Verification:
    """Judge a table with a column of sets as it stands."""
    schema, promise = request.schema, promise_of(request.schema)
    if not isinstance(engine_for(request.table), LocalEngine):
        raise MethodError(problem="a column of sets needs the local engine")
    if request.blanked or request.person_file is not None:
        raise MethodError(problem="--blanked and --person-file do not go with a column of sets")
    quasi = relational(schema)
    names = [*quasi, *schema.sensitive, *schema.person]
    table = open_sets(request.table, schema, names, separator=request.separator)
    if schema.person:
        table = folded(table, schema.person)
    verdicts, sizes, notes = judged_sets(table, quasi, promise)
    others = [model for model in promise if not speaks_of_sets(model)]
    beside: tuple[Verdict, ...] = ()
    violating = max(verdict.violating_records for verdict in verdicts)
    if others:
        plain = tuple(a for a in schema.judged().attributes if a.name in names)
        known = replace(schema, attributes=plain, privacy=(), others=Others.DROP, waive=())
        found = engine_for(table.others).open(table.others).verify(known, others)
        beside, violating = found.privacy, max(violating, found.violating_records)
    by_model = {verdict.model: verdict for verdict in (*verdicts, *beside)}
    measured = [int(v.value) for v in verdicts if isinstance(v.model, KmAnonymity) and v.value]
    return Verification(
        records=int(sizes.sum()), classes=len(sizes),
        smallest_class=min([*measured, int(sizes.min())]), violating_records=violating,
        privacy=tuple(by_model[model] for model in [*by_model]),
        warnings=(*void_promise(promise), *notes),
    )  # fmt: skip


def measure_sets(request: MetricsRequest) -> Document:
    """Measure a release of sets against the table, by the labels alone."""
    schema = request.schema.without_person()
    original = open_sets(request.table, schema, [], separator=request.separator)
    release = open_sets(request.release, schema, [], separator=request.separator)
    was, now = baskets_of(original.sets), baskets_of(release.sets)
    stands = items_of(now.items, original.attribute)
    lost = was.records - now.records
    found = measures_of(was, now, stands, suppressed=lost)
    utility = {"ncp": found["ncp"], "utility_loss": found["utility_loss"]}
    return {
        "records": was.records, "released": now.records, "suppressed": lost,
        "utility": {**utility}, "sets": found, "notices": [],
    }  # fmt: skip


def any_risk(request: RiskRequest) -> AnyRisk:
    """Measure how easily people are found in a table; with a column of sets, by their items."""
    return risk_sets(request) if request.schema.sets else risk(request)


def risk_sets(request: RiskRequest) -> SetRisk:
    """Count the records that a few items pin down in a table as it stands."""
    schema = request.schema
    quasi = relational(schema)
    table = open_sets(request.table, schema, [*quasi, *schema.person], separator=request.separator)
    if schema.person:
        table = folded(table, schema.person)
    baskets = baskets_of(table.sets)
    number = numbered(table.others.select(quasi), baskets.records)
    if not number.size:
        raise InputError(where=table.where, problem="no record to judge")
    lowest = lowest_supports(baskets, number, (1, 2, 3, None))
    return SetRisk.of(baskets, int(number.max()) + 1, lowest)
