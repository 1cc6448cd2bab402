"""Release linked tables so that whole persons are alike, with all rows that hang on them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import polars as pl

from shoal.core.documents import Document, reason
from shoal.core.errors import (
    InputError,
    MethodError,
    NoSolutionError,
    OutputError,
    UnsafeReleaseError,
)
from shoal.core.interruptible import interruptible
from shoal.core.secret_keys import Keys
from shoal.core.temporary import beside, publish_folder
from shoal.core.watch import tell
from shoal.engines.base import Progress
from shoal.engines.local.linked import LinkedRecords, OpenTables, TableRecords, write_tables
from shoal.formats.frames import like
from shoal.jobs.clock import Clock, rounded
from shoal.jobs.documents import public_document
from shoal.jobs.linked_requests import LinkedRequest, LinkedVerifyRequest
from shoal.jobs.proposals import proposal_notices, proposals
from shoal.jobs.search import check_limit, check_values, out_of_reach, promise_of
from shoal.jobs.verified import check_verified
from shoal.measures.risk.linked import LinkedRisk
from shoal.measures.risk.trajectories import TrajectoryRisk
from shoal.measures.utility import column_losses, grouping_of, utility_of
from shoal.methods.catalogue import Auto, Refine
from shoal.methods.judging import judge_recoding, one_class
from shoal.methods.linked.search import TableRecoding, search_linked
from shoal.methods.method import Method, Setting
from shoal.methods.registry import resolve
from shoal.privacy.emptiness import little_left, void_promise
from shoal.reports.release import ReleaseReport, Risk, Verification
from shoal.reports.release import written as written_measures
from shoal.schema.linked import LinkedSchema

CELLS = 400_000
"""Cells of all tables up to which `auto` takes normal effort; see `jobs.auto.WORK`."""


@dataclass(frozen=True, kw_only=True, repr=False)
class LinkedRelease:
    """Verified tables by their names (None where they went to a folder) and their report."""

    tables: Mapping[str, object] | None
    report: ReleaseReport
    schema: LinkedSchema

    def to_dict(self) -> Document:
        """Return the report as plain data."""
        return self.report.to_document()

    def __repr__(self) -> str:
        return self.report.face().line("LinkedRelease")

    def _repr_html_(self) -> str:
        return self.report.face().html()


def release_linked(request: LinkedRequest, *, progress: Progress = tell) -> LinkedRelease:
    """Read, join, search, recode, verify the written files by joining them again, publish.

    Raises:
        InputError: a key is missing, repeated or dangling.
        SchemaError: a column has no role, or a kept one is an identifier and was not waived.
        NoSolutionError: the promise cannot be met, or more rows would have to be suppressed than
            were allowed.
        UnsafeReleaseError: verification failed; nothing was written.
    """
    request.check()
    promise_of(request.schema)
    if request.output.file is not None:
        check_folder(request.output.file)
    clock = Clock(progress)
    with clock.time("read"):
        opened = OpenTables.of(request.tables, request.schema, separator=request.separator)
        proposed = proposals(infer=request.infer, method=request.method)
        records = LinkedRecords.read(opened, proposed, Keys.of(request.key))
        before = TrajectoryRisk.of(records.persons_alike())
    _check_reachable(records)
    method, why = _method(request, records)
    if method.must_compile():
        clock.progress("compile")
    with clock.time("learn"):
        found = _search(request, records, method)
    with ExitStack() as writing:
        with clock.time("encode"):
            frames = records.released(found)
            written = writing.enter_context(_written(request, records, frames))
        with clock.time("verify"):
            verified = _verified(written, frames)
        clock.stage("write")
    report = _account(request, records, found, verified, before)
    report = replace(
        report, method=method.name, notices=(*report.notices, *why), seconds=_spent(clock),
        facts={**report.facts, "cpu_seconds": rounded(clock.cpu)},
        request=public_document(request),
    )  # fmt: skip
    made = None
    if request.output.out is None:
        made = {each.about.name: _like(frames, each) for each in records.tables}
    return LinkedRelease(tables=made, report=report, schema=request.schema)


def verify_linked(request: LinkedVerifyRequest) -> Verification:
    """Join tables as they stand, whoever made them, and judge them by the schema's promise.

    Raises:
        InputError: a key is missing, repeated or dangling.
    """
    promise = promise_of(request.schema)
    opened = OpenTables.of(request.tables, request.schema, separator=request.separator)
    found = opened.verify()
    warnings = (*void_promise(promise), *opened.warnings(), *found.warnings)
    return replace(found, warnings=warnings)


def risk_linked(request: LinkedVerifyRequest) -> LinkedRisk:
    """Measure how easily persons are found in linked tables as they stand.

    Raises:
        InputError: a key is missing, repeated or dangling.
    """
    opened = OpenTables.of(request.tables, request.schema, separator=request.separator)
    return opened.risk()


def check_folder(out: str | Path) -> None:
    """Refuse a place where no folder can be made, before any work is done.

    Raises:
        OutputError: something is there already, or there is no folder to make it in.
    """
    goal = Path(out)
    if not goal.absolute().parent.is_dir():
        raise OutputError(where=str(out), problem="there is no such folder to make it in")
    if goal.is_dir() and not goal.is_symlink() and not any(goal.iterdir()):
        return
    if goal.exists() or goal.is_symlink():
        raise OutputError(where=str(out), problem="is there already; name a new folder")


def _check_reachable(records: LinkedRecords) -> None:
    """Refuse, before any search, what all persons as one class break."""
    schema = records.schema
    if not any(table.schema.quasi for table in schema.tables):
        problem = "no quasi-identifier; give the columns to recode that role"
        raise InputError(where="schema", problem=problem)
    persons = records.tables[0].counts.table
    for model in schema.promise:
        if persons.records < model.least_records:
            raise out_of_reach(model, persons, persons.records)
    for each in records.tables:
        if not each.counts.records:
            continue
        check_values(each.schema, each.counts.table)
        for result in judge_recoding(one_class(each.counts.table), each.counts.promise):
            if not result.holds:
                raise out_of_reach(result.model, each.counts.table, result.value)


def _method(request: LinkedRequest, records: LinkedRecords) -> tuple[Method, tuple[str, ...]]:
    """Return the method that searches, and what `auto` says of its choice."""
    if not isinstance(request.method, Auto):
        method, release = resolve(request.method)
        if release == "aggregate":
            problem = f"--method {method.name} releases centroids; of linked tables take bestcut, "
            raise MethodError(problem=problem + "mondrian or refine")
        if method.blanks:
            raise MethodError(
                problem=f"--method {method.name} blanks cells of one table; of linked tables take "
                "bestcut, mondrian or refine"
            )
        return method, ()
    cells = sum(each.counts.records * len(each.schema.quasi) for each in records.tables)
    chosen = Refine(effort="normal" if cells <= CELLS else "fast")
    return chosen, (f"auto chose refine, {chosen.effort} effort: {cells:,} cells to recode",)


def _search(
    request: LinkedRequest, records: LinkedRecords, method: Method
) -> tuple[TableRecoding, ...]:
    """Run the method."""
    schema = records.schema
    k = max(model.least_records for model in schema.promise)
    setting = Setting(
        suppression_limit=schema.suppression_limit, seed=request.seed, threads=request.threads
    )
    tables = [each.counts for each in records.tables]
    found = interruptible(lambda: search_linked(tables, k, method, setting))
    suppressed = sum(each.recoding.suppressed for each in found)
    check_limit(suppressed, sum(each.records for each in tables), schema)
    if not found[0].recoding.classes:
        raise NoSolutionError(problem="every record would have to be suppressed")
    return found


@contextmanager
def _written(
    request: LinkedRequest, records: LinkedRecords, frames: Mapping[str, pl.DataFrame]
) -> Iterator[OpenTables]:
    """Write the tables; they are published at the end, all of them, if nothing was raised."""
    out = request.output.file
    if out is None:
        yield OpenTables.of(frames, records.schema, separator=None)
        return
    goal = Path(out).absolute()
    try:
        with beside(goal, is_folder=True) as folder:
            write_tables(
                frames, records.endings(), folder, separators=records.separators(),
                spreadsheet_safe=request.output.spreadsheet_safe,
            )  # fmt: skip
            yield OpenTables.of(folder, records.schema, separator=None)
            publish_folder(folder, goal)
    except (InputError, UnsafeReleaseError, OutputError):
        raise
    except OSError as error:
        raise OutputError(where=str(out), problem=f"cannot be written: {reason(error)}") from None


def _verified(written: OpenTables, frames: Mapping[str, pl.DataFrame]) -> Verification:
    """Judge what was written; refuse tables that do not hold, or are not all there.

    Raises:
        UnsafeReleaseError: nothing is published.
    """
    try:
        verified = written.verify()
    except InputError as error:
        raise UnsafeReleaseError(problem=f"{error}; nothing was published") from None
    check_verified(verified, sum(frame.height for frame in frames.values()))
    for name, frame in frames.items():
        if frame.columns != list(written.sources[name].columns):
            problem = f"table {name!r}: other columns were written than should be"
            raise UnsafeReleaseError(problem=f"{problem}; nothing was published")
    return verified


def _like(frames: Mapping[str, pl.DataFrame], each: TableRecords) -> object:
    return like(frames[each.about.name], each.source.given)


def _spent(clock: Clock) -> dict[str, float]:
    for name in ("read", "learn", "encode", "verify", "write"):
        clock.seconds.setdefault(name, 0.0)
    return clock.spent()


def _account(
    request: LinkedRequest,
    records: LinkedRecords,
    found: Sequence[TableRecoding],
    verified: Verification,
    before: TrajectoryRisk,
) -> ReleaseReport:
    """Put the account together: what was promised, lost and released, of each table, too."""
    lines, utility, columns = _measured(records, found)
    total = sum(each.counts.records for each in records.tables)
    suppressed = sum(each.recoding.suppressed for each in found)
    left_out = found[0].recoding.suppressed
    unique = (verified.trajectories or {}).get("unique")
    after = TrajectoryRisk(
        persons=verified.persons or 0, different=verified.classes,
        unique=unique if isinstance(unique, int) else 0, smallest=verified.smallest_class,
    )  # fmt: skip
    left: Document = {
        "persons_before": before.persons, "unique_before": before.unique,
        "persons_left_out": left_out,
    }  # fmt: skip
    return ReleaseReport(
        method=request.method.name, records=total, released=total - suppressed,
        suppressed=suppressed, classes=verified.classes, smallest_class=verified.smallest_class,
        persons=verified.persons, privacy=verified.privacy, utility=utility, columns=columns,
        risk_before=_risk(total, before),
        risk_after=_risk(total - suppressed, after),
        seconds={},
        facts={"tables": [*lines], "trajectories": {**left, **(verified.trajectories or {})}},
        warnings=(
            *void_promise(records.schema.promise),
            *little_left(records=total, suppressed=suppressed, ncp=utility["ncp"]),
            *(f"table {each.about.name!r}: {text}"
              for each in records.tables for text in each.kept.warnings),
        ),
        notices=tuple(_notices(records, left_out)),
        roles={name: role for each in records.tables for name, role in each.roles().items()},
    )  # fmt: skip


def _risk(records: int, found: TrajectoryRisk) -> Risk:
    """Return the risk of persons who are looked for by all their rows together."""
    return Risk(
        records=records, classes=found.different, smallest_class=found.smallest,
        unique=found.unique, persons=found.persons, expected=float(found.different),
    )  # fmt: skip


def _measured(
    records: LinkedRecords, found: Sequence[TableRecoding]
) -> tuple[list[Document], dict[str, float | None], dict[str, float]]:
    """Return a line a table, the loss of all of them, and of each column."""
    lines: list[Document] = []
    columns: dict[str, float] = {}
    whole: dict[str, float | None] = {}
    lost, cells = 0.0, 0
    for each, recoded in zip(records.tables, found, strict=True):
        about, counts, recoding = each.about, each.counts, recoded.recoding
        own: dict[str, float | None] = {}
        if each.schema.quasi and counts.records:
            grouping = grouping_of(recoding)
            own = utility_of(grouping)
            whole |= dict.fromkeys(own)  # a measure of one table is none of several
            lost += own["il"] or 0.0
            cells += counts.records * len(each.schema.quasi)
            losses = column_losses(grouping, each.schema.quasi)
            columns |= {about.qualified(name): loss for name, loss in losses.items()}
        lines.append(
            {
                "table": about.name, "key": about.key, "parent": about.parent,
                "records": counts.records, "released": counts.records - recoding.suppressed,
                "suppressed": recoding.suppressed, "ncp": own.get("ncp"),
                "labels": str(each.schema.written_labels),
                "utility": {**written_measures(own)},
            }
        )  # fmt: skip
    return lines, {**whole, "il": lost, "ncp": lost / cells if cells else 0.0}, columns


def _notices(records: LinkedRecords, left_out: int) -> Iterator[str]:
    if left_out:
        yield f"{left_out:,} persons are left out altogether: too few have rows in such numbers"
    for each in records.tables:
        asked = each.about.schema
        for text in proposal_notices(asked, each.schema):
            yield f"table {each.about.name!r}: {text}"
        known = {a.name for a in each.schema.attributes} | {*each.about.keys}
        left = [name for name in each.source.columns if name not in known]
        if left:
            named = ", ".join(map(repr, left))
            yield f"table {each.about.name!r}: left out, because nobody gave them a role: {named}"
