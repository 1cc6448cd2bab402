"""Release, judge and measure tables with a column of sets; see docs/adr/0011."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Protocol

import polars as pl

from shoal.core.errors import InputError, MethodError, NoSolutionError, SchemaError
from shoal.core.interruptible import interruptible
from shoal.engines.base import Progress
from shoal.engines.choose import engine_for
from shoal.engines.local.engine import LocalEngine
from shoal.engines.local.kept import check_beside
from shoal.engines.local.source import open_source
from shoal.engines.local.transactions import (
    BASKETS,
    SetTable,
    numbered,
    open_sets,
    opens_bare,
    released_sets,
    tree_of,
    write_sets,
)
from shoal.engines.local.write import all_or_nothing
from shoal.formats.database import Database
from shoal.formats.endings import separator_for
from shoal.formats.frames import like
from shoal.inference.kept import KeptCheck
from shoal.jobs.clock import Clock, rounded
from shoal.jobs.disassociation import release_parts
from shoal.jobs.documents import public_document
from shoal.jobs.faults import Fault, refuse
from shoal.jobs.requests import ReleaseRequest, VerifyRequest
from shoal.jobs.search import promise_of
from shoal.jobs.set_account import ROW, Prepared, account_of_sets
from shoal.jobs.set_answers import folded, relational, verify_sets
from shoal.jobs.verified import check_verified
from shoal.methods.catalogue import Auto
from shoal.methods.method import Setting
from shoal.methods.transactions.catalogue import Coat, Disassociation, ItemSets, SetMethod
from shoal.methods.transactions.classes import check_known, recode
from shoal.privacy import KAnonymity, KmAnonymity, Requirements
from shoal.privacy.of_sets import speaks_of_sets
from shoal.reports.release import ReleaseReport, Verification
from shoal.schema.attribute import Attribute, Role
from shoal.schema.schema import Others, Schema
from shoal.table.baskets import Baskets, SetRecoding


class _Released(Protocol):
    """What the job `release` gives."""

    @property
    def table(self) -> object:
        """Return the release."""

    @property
    def report(self) -> ReleaseReport:
        """Return its account."""


Releasing = Callable[[ReleaseRequest], _Released]
"""The job `release`, which recodes the columns beside the sets."""


def release_sets(
    request: ReleaseRequest, *, progress: Progress, release: Releasing
) -> tuple[object, ReleaseReport]:
    """Recode the sets of a table, verify what is written, and only then publish it.

    release: the job that recodes the other quasi-identifiers first.

    Raises:
        SchemaError, MethodError: something was asked that does not go with sets.
        NoSolutionError: too few records hold any item.
        UnsafeReleaseError: verification failed; nothing was written.
    """
    _check_request(request)
    clock, method = Clock(progress), _method(request)
    with clock.time("read"):
        prepared = _prepared(request, release)
        table = prepared.table
        check_known(promise_of(request.schema), prepared.baskets)
    if isinstance(method, Disassociation):
        with clock.time("learn"):
            frame, report = release_parts(
                request, prepared, method, lambda made: _written(request, table, made)
            )
        return _answered(request, clock, report, frame, table, method)
    with clock.time("learn"):
        prepared, recoding = _bounded(request, release, prepared, method)
    with clock.time("encode"):
        frame = _frame(prepared, recoding, request)
    with _written(request, table, frame) as place:
        with clock.time("verify"):
            verified = _verified(request, place, frame, table)
        clock.stage("write")
    report = account_of_sets(request, prepared, recoding, verified)
    return _answered(request, clock, report, frame, table, method)


def _answered(
    request: ReleaseRequest, clock: Clock, report: ReleaseReport, frame: pl.DataFrame,
    table: SetTable, method: SetMethod,
) -> tuple[object, ReleaseReport]:  # fmt: skip
    """Return the release, None where it went to a file, and its whole account."""
    report = replace(
        report, method=method.name, seconds=_spent(clock), request=public_document(request),
        facts={**report.facts, "cpu_seconds": rounded(clock.cpu)},
    )  # fmt: skip
    made = None if request.output.out is not None else like(frame, table.source.given)
    return made, report


def _recoded(request: ReleaseRequest, prepared: Prepared, method: SetMethod) -> SetRecoding:
    """Recode the sets of each class of the other quasi-identifiers."""
    attribute = prepared.table.attribute
    beside = prepared.others.select(relational(request.schema))
    number = numbered(beside, prepared.baskets.records)
    setting = Setting(seed=request.seed, threads=request.threads)
    return interruptible(
        lambda: recode(
            prepared.baskets, number, promise_of(request.schema), method, setting,
            tree_of(attribute), utility=attribute.utility_constraints,
        )
    )  # fmt: skip


def _bounded(
    request: ReleaseRequest, release: Releasing, prepared: Prepared, method: SetMethod
) -> tuple[Prepared, SetRecoding]:
    """Recode the sets; the classes beside them grow until these lose no more than is allowed.

    Rmerge, Tmerge and RTmerge [poulis2013] join classes of records for that; here the columns are
    recoded anew, in classes of twice as many records each time.
    """
    recoding, times = _recoded(request, prepared, method), 1
    names = relational(request.schema)
    while (
        names
        and recoding.ncp() > getattr(method, "bound", 1.0)
        and prepared.others.select(names).n_unique() > 1
    ):
        times *= 2
        try:
            larger = _prepared(request, release, times=times)
            found = _recoded(request, larger, method)
        except NoSolutionError:  # no class can be as large as that
            break
        prepared, recoding = larger, found
    return prepared, recoding


def _check_request(request: ReleaseRequest) -> None:
    """Refuse what would be ignored, or cannot be kept."""
    schema, output = request.schema, request.output
    if not isinstance(engine_for(request.table), LocalEngine):
        raise MethodError(problem="a column of sets needs the local engine")
    asked = {
        "--release": request.release not in (None, "generalize"),
        "--partitions": request.partitions is not None,
        "--nested-in": request.nested_in is not None,
        "--ledger": request.book is not None,
        "--class-file": output.class_file is not None,
        "--person-file": output.person_file is not None,
        "--suppressed": output.suppressed == "star",
        "--attacks": request.checks.attacks == "all",
        "--learn": request.checks.learn is not None,
        "--profile": request.checks.profile is not None,
        "--fidelity": request.checks.fidelity,
        "--out": isinstance(output.out, Database),
    }
    faults = [
        Fault("does not go with a column of sets", option) for option in asked if asked[option]
    ]
    if schema.replaced and not relational(schema):
        named = ", ".join(map(repr, schema.replaced))
        faults.append(Fault(f"{named}: replaced beside other quasi-identifiers only", "release:"))
    others = [model for model in promise_of(schema) if not speaks_of_sets(model)]
    if others and not relational(schema):
        named = ", ".join(dict.fromkeys(model.name for model in others))
        faults.append(
            Fault(f"{named}: about classes of other quasi-identifiers, and there are none")
        )
    refuse(faults)


def _method(request: ReleaseRequest) -> SetMethod:
    constrained = any(a.utility_constraints for a in request.schema.attributes)
    if isinstance(request.method, SetMethod):
        if constrained and not request.method.constrained:
            problem = f"--method {request.method.name} takes no utility constraints; take coat"
            raise MethodError(problem=problem)
        return request.method
    if constrained:
        return Coat()
    if isinstance(request.method, Auto) or relational(request.schema):
        return ItemSets()  # another method recodes the columns beside the sets
    problem = f"--method {request.method.name} recodes no sets; take itemsets, or see shoal methods"
    raise MethodError(problem=problem)


def _prepared(request: ReleaseRequest, release: Releasing, *, times: int = 1) -> Prepared:
    """Read a table, and recode its other columns in classes of so many times k records."""
    schema = _fitted(request)
    names = [name for name in schema.released if name not in schema.sets]
    table = open_sets(request.table, schema, [*names, *schema.person], separator=request.separator)
    if schema.person:
        table = folded(table, schema.person)
    baskets = table.baskets()
    kept = [name for name in schema.kept if name in table.others.columns]
    check = check_beside(open_source(table.others), kept, schema.waive) if kept else KeptCheck()
    check.refuse(table.where)
    if not table.sets.len():
        raise InputError(where=table.where, problem="no record to release")
    if not relational(schema):
        return Prepared(table, table.others.select(names), baskets, check)
    made = _beside(request, release, table, baskets, times)
    return replace(made, kept=check)


def _fitted(request: ReleaseRequest | VerifyRequest) -> Schema:
    """Return the schema with every column of the table named."""
    schema = request.schema
    if opens_bare(request.table, schema):
        return schema
    plain = tuple(a for a in schema.attributes if a.name not in schema.sets)
    columns = open_source(request.table, separator=request.separator).columns
    lost = [name for name in schema.sets if name not in columns]
    if lost:
        raise SchemaError(
            where="table", faults=[f"column {lost[0]!r}: no such column in the table"]
        )
    left = [name for name in columns if name not in schema.sets]
    if not plain:
        if left and schema.others is Others.FAULT:
            named = ", ".join(map(repr, left))
            raise SchemaError(where="table", faults=[f"{len(left)} columns have no role: {named}"])
        if schema.others is not Others.KEEP:
            return schema
    bare = replace(schema, attributes=plain, privacy=())
    known = bare.fit(left, where="table").attributes
    sets = tuple(a for a in schema.attributes if a.name in schema.sets)
    return replace(schema, attributes=(*known, *sets))


def _beside(
    request: ReleaseRequest, release: Releasing, table: SetTable, baskets: Baskets, times: int
) -> Prepared:
    """Recode the other quasi-identifiers; records keep a number by which their sets are found."""
    schema = request.schema
    frame = table.others.with_row_index(ROW).with_columns(pl.col(ROW).cast(pl.String))
    plain = tuple(a for a in schema.attributes if a.name not in (*schema.sets, *schema.person))
    models = [model for model in schema.privacy if not speaks_of_sets(model)]
    sizes = [model.k for model in schema.privacy if isinstance(model, (KmAnonymity, Requirements))]
    inner = Schema(
        attributes=(*plain, Attribute(name=ROW, role=Role.NEUTRAL)),
        privacy=(KAnonymity(max(sizes) * times), *models), missing=schema.missing,
        fold_case=schema.fold_case, utility=schema.utility, others=schema.others,
        suppression_limit=schema.suppression_limit, labels=schema.labels,
        waive=(*schema.waive, *schema.kept, ROW),
    )  # fmt: skip
    asked = replace(
        request, table=frame, schema=inner, output=replace(request.output, out=None, inputs=()),
        method=Auto() if isinstance(request.method, SetMethod) else request.method,
        checks=replace(request.checks, attacks="none", pictures=False),
    )  # fmt: skip
    done = release(asked)
    made = done.table
    assert isinstance(made, pl.DataFrame)
    rows = made[ROW].cast(pl.Int64).to_numpy()
    part, _ = baskets.part(rows)
    return Prepared(
        table, made.drop(ROW), part, KeptCheck(), done.report, left_out=table.sets.len() - rows.size
    )


def _frame(prepared: Prepared, recoding: SetRecoding, request: ReleaseRequest) -> pl.DataFrame:
    """Return the release, in the order of its values, its columns as they came."""
    table = prepared.table
    goal = request.output.file
    as_list = table.source.frame is not None and table.source.shape is None and not table.is_bare
    given = table.source.frame.collect_schema().get(table.attribute.name) if as_list else None  # type: ignore[union-attr]
    as_list = isinstance(given, (pl.List, pl.Array)) and (
        goal is None
        or isinstance(goal, Database)
        or Path(goal).suffix.lower() not in (".csv", ".gz", ".tsv", ".txt", *BASKETS)
    )
    cells = released_sets(recoding, table.attribute, as_list=as_list)
    frame = prepared.others.with_columns(cells) if prepared.others.width else cells.to_frame()
    order = [name for name in table.source.columns if name in frame.columns]
    frame = frame.select(order)
    if request.output.keep_order and prepared.report is None:
        return frame
    keys = [
        pl.col(name).list.join("\x00") if isinstance(frame.schema[name], pl.List)
        else pl.col(name).cast(pl.String)
        for name in frame.columns
    ]  # fmt: skip
    return frame.select(pl.all().sort_by(keys))


@contextmanager
def _written(request: ReleaseRequest, table: SetTable, frame: pl.DataFrame) -> Iterator[object]:
    """Write the release and give what can be read again; it is published if nothing was raised."""
    output = request.output
    if output.file is None:
        yield frame
        return
    with all_or_nothing(output.file, inputs=output.inputs) as temporary:
        write_sets(frame, temporary, table, spreadsheet_safe=output.spreadsheet_safe)
        yield temporary


def _verified(
    request: ReleaseRequest, place: object, frame: pl.DataFrame, table: SetTable
) -> Verification:
    schema = request.schema.without_person() if request.schema.person else request.schema
    quasi = set(schema.quasi) | set(schema.sensitive)
    judged = tuple(a for a in schema.attributes if a.name in quasi)
    asked = replace(schema, attributes=judged, others=Others.DROP, target=None, waive=())
    file, separator = request.output.file, table.source.separator
    found = verify_sets(
        VerifyRequest(
            table=place,
            schema=asked,
            separator=None if file is None else separator_for(Path(file), separator),
        )
    )
    check_verified(found, frame.height)
    return found


def _spent(clock: Clock) -> dict[str, float]:
    for name in ("read", "learn", "encode", "verify", "write"):
        clock.seconds.setdefault(name, 0.0)
    return clock.spent()
