"""Turn a table into a verified release: open → count → search → recode → verify → publish."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Generic, TypeVar

from shoal.core.documents import Document
from shoal.core.errors import NoSolutionError, UnsafeReleaseError
from shoal.core.watch import tell
from shoal.engines.base import Classes, Compared, Drawn, Output, Progress, Table, Written
from shoal.engines.drawing.drawing import Drawing
from shoal.jobs.account import Judged, account, risk_after
from shoal.jobs.clock import Clock
from shoal.jobs.documents import public_document
from shoal.jobs.drawn import drawing_of, is_drawn, with_drawn
from shoal.jobs.earlier import earlier_classes
from shoal.jobs.goal_table import check_output, placed
from shoal.jobs.learning import check_target, learning
from shoal.jobs.ledger import SeriesBook, booked, ledger_classes, open_book
from shoal.jobs.over_time import Series
from shoal.jobs.reappearing import reappearing
from shoal.jobs.requests import ReleaseRequest
from shoal.jobs.search import Opened, opened
from shoal.jobs.transactions import release_sets
from shoal.jobs.verified import check_verified
from shoal.measures.attacks.result import PERSONS_ATTACKED
from shoal.measures.distributions import pictures_of
from shoal.measures.fidelity.fidelity import fidelity_of_recoding
from shoal.measures.optimum import bound_of, check_extra
from shoal.measures.risk.persons import asked_k
from shoal.measures.risk.question import RiskQuestion
from shoal.reports.profile import load_profile
from shoal.reports.release import ReleaseReport, Verification, stars_removed
from shoal.schema.schema import Schema

if TYPE_CHECKING:
    import polars as pl

    from shoal.engines.base import ClassNumbers

Released = TypeVar("Released", covariant=True)


@dataclass(frozen=True, kw_only=True, repr=False)
class Release(Generic[Released]):
    """A verified release: the table (None when it went to a file) and its report.

    `schema` is the one that was released by: every column named, the promise in it.
    """

    table: Released
    report: ReleaseReport
    schema: Schema
    compared: Compared | None = None  # table and release, measured and attacked

    def to_dict(self) -> Document:
        """Return the report as plain data."""
        return self.report.to_document()

    def to_frame(self) -> pl.DataFrame:
        """Return what was lost in each recoded column; the release itself is `table`."""
        return self.report.to_frame()

    def __repr__(self) -> str:
        return self.report.face().line("Release")

    def _repr_html_(self) -> str:
        return self.report.face().html()


def release(
    request: ReleaseRequest,
    *,
    progress: Progress = tell,
    look: Callable[[Written], None] | None = None,
) -> Release[object]:
    """Release a table: search, recode, verify what is written, and only then publish it.

    look: looks at what is written, too, and raises if it must not be published.

    Raises:
        SchemaError: a kept column is an identifier (names, record numbers, e-mail addresses …)
            and was not waived.
        NoSolutionError: even the whole table as one class does not meet the promise.
        UnsafeReleaseError: verification failed; nothing was written.
    """
    request.check()
    if request.schema.sets:
        sets, about = release_sets(request, progress=progress, release=release)
        return Release(table=sets, report=about, schema=request.schema)
    if request.checks.profile is not None:
        load_profile(request.checks.profile)  # refused before the work, as a bad place is
    output = _output(request)
    check_output(output, request.table)
    book = open_book(request)
    clock = Clock(progress)
    earlier = None if request.nested_in is None else partial(_earlier, request)
    with opened(request, clock, check=partial(_check_asked, request), earlier=earlier) as job:
        series = book.series(job) if isinstance(book, SeriesBook) else None
        search, classes = job.search(learns=False) if series is None else series.search(job)
        drawing = drawing_of(request, search, job.promise, job.schema.quasi)
        star, notices = _can_star(job, classes, asked=request.output.suppressed == "star")
        if not classes.recoding.classes:
            raise NoSolutionError(problem="every record would have to be suppressed")
        with booked(book), ExitStack() as writing:
            output = writing.enter_context(placed(output))
            with clock.time("encode"):
                recoded = _recoded(job, classes, output, star=star, series=series, drawing=drawing)
                written = writing.enter_context(recoded)
            with clock.time("verify"):
                verified = written.verify(job.schema, job.promise)
                false = 0 if series is None else series.counterfeits
                check_verified(verified, _expected(classes, star=star) + false)
                _check_profile(job, request, classes, verified)
                if look is not None:
                    look(written)
                if book is not None:
                    book.enter(job, written, verified)
            compared, drawn = None, None
            if series is None:
                compared = _compared_persons(job, request, classes, written)
            if is_drawn(written):
                with clock.time("measure"):
                    drawn = written.account(fidelity=request.checks.fidelity)
                    if compared is None and _compares(request, verified.records):
                        compared = written.compare_labels(request.checks, seed=request.seed)
            clock.stage("write")
        judged = Judged(
            verified.privacy, verified.classes, verified.smallest_class, star,
            (*notices, *_left_out(request, verified)),
            persons=verified.persons, largest_share=verified.largest_share,
            trajectories=verified.trajectories,
        )  # fmt: skip
        report = account(job, search, classes, judged)
        report = _measured(report, job, request, classes)
        if drawn is not None:
            report = with_drawn(report, drawn, _reappearing(job, request))
        report = replace(report, request=public_document(request))
        report = report if book is None else book.added_to(report)
        report = report if series is None else series.added_to(report)
        return Release(
            table=written.table,
            report=report,
            schema=job.schema,
            compared=compared or _compared(job, request, report, written.table),
        )


def _recoded(
    job: Opened,
    classes: Classes,
    output: Output,
    *,
    star: bool,
    series: Series | None,
    drawing: Drawing | None,
) -> AbstractContextManager[Written | Drawn]:
    """Write the release; it is published at the end, if nothing was raised."""
    if series is not None:
        return series.recode(job, output)
    if drawing is not None:
        return job.records.draw(classes, output, drawing, star=star)
    return job.records.recode(classes, output, star=star)


def _check_profile(
    job: Opened, request: ReleaseRequest, classes: Classes, verified: Verification
) -> None:
    """Refuse a release that does not pass the profile that it is held against.

    Raises:
        UnsafeReleaseError: says what does not pass; nothing is published.
    """
    if request.checks.profile is None:
        return
    profile = load_profile(request.checks.profile)
    repeats = None
    if not request.schema.person:
        star = verified.records > int(classes.recoding.sizes.sum())
        repeats = job.records.repeats(classes, asked_k(job.promise), star=star)
    risk = risk_after(classes.recoding)
    failures = profile.failures(
        maximum=verified.highest,
        average=risk.global_risk,
        unit=risk.unit,
        repeats=repeats is not None,
    )
    if failures:
        raise UnsafeReleaseError(
            problem=f"profile {profile.name} of {profile.date}: {'; '.join(failures)}; "
            "nothing was written"
        )


def _measured(
    report: ReleaseReport, job: Opened, request: ReleaseRequest, classes: Classes
) -> ReleaseReport:
    """Add what was asked for beside the loss: pictures, fidelity, models trained on the release."""
    checks, facts = request.checks, dict(report.facts)
    pictures = report.pictures
    with job.clock.time("measure", is_told=False):
        if checks.pictures:
            pictures = pictures_of(classes.recoding, has_tuples=not job.counts.is_distributed)
        if checks.fidelity and request.release != "draw":
            facts["fidelity"] = fidelity_of_recoding(classes.recoding)
        if checks.bound is not None:
            k = asked_k(job.promise)
            facts["bound"] = bound_of(
                classes.recoding, k, lost=report.utility, seconds=checks.bound
            )
    if checks.learn is not None:
        with job.clock.time("learning"):
            facts["learning"] = learning(request, checks.learn, release)
    return replace(report, pictures=pictures, facts=facts)


def _output(request: ReleaseRequest) -> Output:
    """Return where the release goes; nothing that has to do with earlier ones is overwritten."""
    more = [each for each in (request.nested_in, request.book) if each is not None]
    return replace(request.output, inputs=(*request.output.inputs, *more))


def _earlier(request: ReleaseRequest, table: Table, schema: Schema) -> ClassNumbers:
    """Return the class of each record in the release that the new one is to be nested in."""
    if request.ledger is not None and str(request.nested_in).isdigit():
        return ledger_classes(request, table, schema).numbers
    return earlier_classes(request, table, schema)


def _check_asked(request: ReleaseRequest, table: Table) -> None:
    """Refuse a question about the release that cannot be answered, before the work is done."""
    checks = request.checks
    if checks.bound is not None:
        check_extra()
    if checks.learn is not None:
        check_target(request, checks.learn, table.columns)
    if checks.about_people:
        question = RiskQuestion(
            quasi=request.schema.quasi,
            sampling_fraction=checks.sampling_fraction,
            weights=checks.weights,
            household=checks.household,
        )
        table.check_risk(question, population=checks.population)


def _compared(
    job: Opened, request: ReleaseRequest, report: ReleaseReport, table: object
) -> Compared | None:
    """Measure and attack table and release, where that was asked for."""
    checks = request.checks
    if request.release == "draw" or not _compares(request, report.records):
        return None
    made = table if request.output.out is None else request.output.out
    centroids = report.utility["sse_loss"] is not None
    return job.records.compare(made, checks, centroids=centroids, seed=request.seed)


def _compared_persons(
    job: Opened, request: ReleaseRequest, classes: Classes, written: Written
) -> Compared | None:
    """Measure and attack the persons of table and release, while who they are is at hand."""
    if not job.schema.hidden_person or not _attacks(request, job.counts.risk.records):
        return None
    centroids = classes.recoding.released is not None
    with job.clock.time("measure"):
        return written.compare_persons(request.checks, centroids=centroids, seed=request.seed)


def _reappearing(job: Opened, request: ReleaseRequest) -> Document | None:
    """Release half of the table, and look for the people of both halves in it."""
    if not request.checks.fidelity:
        return None
    with job.clock.time("measure", is_told=False):
        return reappearing(request, job.schema, lambda asked: release(asked).table)


def _compares(request: ReleaseRequest, records: int) -> bool:
    """Say whether records are compared; of persons, see `_compared_persons`."""
    return not request.schema.person and _attacks(request, records)


def _left_out(request: ReleaseRequest, verified: Verification) -> tuple[str, ...]:
    """Say which attacks were not carried out that would have been without a person column."""
    if not request.schema.person or not _attacks(request, verified.records):
        return ()
    if request.schema.trajectories:
        return (
            "not attacked: attacks know one record of a person, and this release links all of "
            "them; risk before and after are those of persons",
        )
    return (PERSONS_ATTACKED,) if request.checks.attacks == "all" else ()


def _attacks(request: ReleaseRequest, records: int) -> bool:
    """Say whether the checks ask for attacks on a table of so many records."""
    checks = request.checks
    is_small = checks.most_records is None or records <= checks.most_records
    return checks.attacks != "none" and (is_small or bool(checks.about_people))


def _can_star(job: Opened, classes: Classes, *, asked: bool) -> tuple[bool, tuple[str, ...]]:
    """Decide whether suppressed records can be released as the root.

    They are a class like any other, and part of what closeness compares with: where the
    release would break the promise with them, they are removed; a notice says so.
    """
    suppressed = classes.recoding.suppressed
    if not asked or not suppressed:
        return False, ()
    judged = job.records.judge_starred(classes, job.promise)
    if judged.holds:
        return True, ()
    failed = [result.model.name for result in judged.privacy if not result.holds]
    return False, (stars_removed(suppressed, failed),)


def _expected(classes: Classes, *, star: bool) -> int:
    """Return the records that must have been written."""
    return int(classes.recoding.sizes.sum()) + (classes.recoding.suppressed if star else 0)
