"""The ledger of a project: what went out of a table, and whether one more release may follow."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from shoal.core.documents import Document
from shoal.core.errors import InputError, MethodError, UnsafeReleaseError
from shoal.core.release_ledger import (
    BEGUN,
    LedgerEntry,
    LedgerTransaction,
    ReleaseLedger,
    entry_of,
)
from shoal.engines.choose import engine_for
from shoal.engines.local.history import History, Known, Past, identity_of
from shoal.engines.local.identities import Identity, named_columns
from shoal.engines.local.invariance import check_invariance, sealed_signatures, shown_of
from shoal.engines.local.over_time import FollowedWritten
from shoal.engines.local.table import local_source
from shoal.formats.database import Database
from shoal.jobs.documents import public_document
from shoal.jobs.earlier import original_of
from shoal.jobs.over_time import Series, unique_of
from shoal.jobs.requests import ReleaseRequest
from shoal.jobs.search import Opened
from shoal.privacy import Promise
from shoal.reports.composition import Composition
from shoal.reports.release import ReleaseReport, Verification
from shoal.schema.schema import Schema

if TYPE_CHECKING:
    from shoal.engines.base import Table, Written


def open_book(request: ReleaseRequest) -> Book | None:
    """Open the ledger that a release is to be entered in, before any work; None: none is named.

    Raises:
        MethodError: the table is on Spark.
        InputError: the ledger cannot be used, or has no release that is to be waived.
    """
    if request.book is None:
        return None
    if engine_for(request.table).name != "local":
        option = "--ledger" if request.after is None else "--after"
        raise MethodError(problem=f"{option} needs the local engine: Spark keeps no order")
    kind = Book if request.after is None else SeriesBook
    book = kind(ReleaseLedger(request.book, create=True), request)
    with book.ledger.transaction() as entries:
        book.waived_in(entries.entries())
    return book


@contextmanager
def booked(book: Book | None) -> Iterator[None]:
    """Confirm what was entered while a release was made and published.

    If something was raised before publication began, it is withdrawn; if later, it stays as it
    is: the release may be out.
    """
    try:
        yield
    except BaseException:
        if book is not None and not book.is_leaving:
            book.withdraw()
        raise
    if book is not None:
        book.confirm()


@dataclass
class Book:
    """A ledger, open for one release.

    Attributes:
        number: of the release, once it is entered.
        is_leaving: it is being published.
        warnings, notices: what the report says of it.
        facts: the same as plain data.
    """

    ledger: ReleaseLedger
    request: ReleaseRequest
    number: int = 0
    is_leaving: bool = False
    warnings: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()
    facts: Document = field(default_factory=dict)

    def enter(self, job: Opened, written: Written, seen: Verification) -> None:
        """Judge a release beside the earlier ones, and enter it before it is published.

        seen: what the written release shows.

        Raises:
            UnsafeReleaseError: together with earlier ones it gives away what none does alone.
            InputError: an earlier one cannot be looked for in the table.
        """
        schema, promise = job.schema, job.promise
        known = known_records(job.table, schema, self.ledger.key)
        classes = written.class_numbers()
        with self.ledger.transaction() as entries:
            past, waived, others = self._past(known, entries)
            alone = History(known, (), classes, promise, seen.smallest_class)
            together = self._judge(alone, past, waived)
            identity = self._identity(known, [*past, *waived])
            signatures, over_time = self._signatures(job, written, entries)
            entry = LedgerEntry(
                name=_name_of(self.request.output.out),
                records=int(classes.size),
                released=seen.records,
                classes=seen.classes,
                smallest_class=seen.smallest_class,
                promise=[_plain(model) for model in promise],
                quasi=list(schema.quasi),
                shown=list(named_columns(schema)),
                identity=list(identity.columns),
                is_key=identity.is_key,
                persons=list(schema.person),
                waived=[each.entry.number for each in waived],
                request=public_document(self.request),
                over_time=over_time,
            )
            self.number = entries.begin(entry, known.members(identity, classes, signatures))
        self._say(past, waived, others, together)
        self.is_leaving = True

    def waived_in(self, entries: Sequence[LedgerEntry]) -> list[int]:
        """Return the numbers of the releases that are waived; each must be there."""
        return [
            entry_of(entries, number, where="--waive-composition").number
            for number in map(str, self.request.waive_composition)
        ]

    def _past(
        self, known: Known, entries: LedgerTransaction
    ) -> tuple[list[Past], list[Past], list[LedgerEntry]]:
        """Return the earlier releases of the table, those that are waived, and others' releases."""
        every = entries.entries()
        named = self.waived_in(every)
        past: list[Past] = []
        waived: list[Past] = []
        others: list[LedgerEntry] = []
        for entry in every:
            if self._is_followed(entry):
                continue
            obstacle = known.obstacle(entry)
            if obstacle is not None and entry.number in named:
                text = f"WAIVED: published beside {entry.title} all the same, which {obstacle}"
                self.warnings += (text,)
                continue
            if not known.is_like(entry):
                others.append(entry)
                continue
            found = known.past(entry, entries.members(entry.number))
            if not found.is_of_this_table:
                others.append(entry)
            else:
                (waived if entry.number in named else past).append(found)
        return past, waived, others

    def _is_followed(self, entry: LedgerEntry) -> bool:
        """Say whether a release is of the series that this one continues, which judges it."""
        return False

    def _identity(self, known: Known, past: Sequence[Past]) -> Identity:
        """Return what records are recognised by later."""
        return _identity(known, past)

    def _signatures(
        self, job: Opened, written: Written, entries: LedgerTransaction
    ) -> tuple[pl.DataFrame | None, Document]:
        """Return the signature of everybody, and what is promised over time; here, nothing is."""
        return None, {}

    def _judge(
        self, alone: History, past: Sequence[Past], waived: Sequence[Past]
    ) -> Composition | None:
        """Judge the release beside those that are not waived; say what is waived."""
        if waived:
            every = replace(alone, past=(*past, *waived)).compose()
            named = ", ".join(each.entry.title for each in waived)
            self.warnings += (f"WAIVED: published beside {named} all the same: {words(every)}",)
        if not past:
            return None
        found = replace(alone, past=tuple(past)).compose()
        if found.holds:
            return found
        worst = [p for p in past if not replace(alone, past=(p,)).compose().holds] or past
        named = ", ".join(each.entry.title for each in worst)
        numbers = ",".join(str(each.entry.number) for each in worst)
        finest = max(past, key=lambda each: each.entry.classes).entry
        changes = "".join(f"; {text}" for text in found.warnings)
        raise UnsafeReleaseError(
            problem=f"beside {named} in the ledger it gives away what no release gives away alone: "
            f"{words(found)}{changes}; nothing was written. Make it a coarser or finer view "
            f"(--nested-in {finest.number}), or, if it is meant: "
            f"--waive-composition {numbers}"
        )

    def _say(
        self,
        past: Sequence[Past],
        waived: Sequence[Past],
        others: Sequence[LedgerEntry],
        together: Composition | None,
    ) -> None:
        """Put together what the report says."""
        found = [f"entered in the ledger as release {self.number}"]
        if together is not None:
            found.append(
                f"beside {', '.join(each.entry.title for each in past)}: {words(together)}"
            )
            found += together.warnings
        found += [
            f"{each.entry.title} was begun and never confirmed; it is taken for published"
            for each in (*past, *waived)
            if each.entry.state == BEGUN
        ]
        if others:
            named = ", ".join(str(each.number) for each in others)
            found.append(
                f"none of the records is in the releases {named} of the ledger, as far as can be "
                "told: they are taken for those of another table"
            )
        self.notices = tuple(found)
        self.facts = {
            "release": self.number,
            "beside": [each.entry.number for each in past],
            "waived": [each.entry.number for each in waived],
            "composition": None if together is None else together.to_document(),
        }

    def added_to(self, report: ReleaseReport) -> ReleaseReport:
        """Return the report with what the ledger says."""
        return replace(
            report,
            warnings=(*self.warnings, *report.warnings),
            notices=(*report.notices, *self.notices),
            facts={**report.facts, "ledger": self.facts},
        )

    def confirm(self) -> None:
        """Say that the release was published."""
        with self.ledger.transaction() as entries:
            entries.confirm(self.number)

    def withdraw(self) -> None:
        """Take the entry back."""
        if self.number:
            with self.ledger.transaction() as entries:
                entries.withdraw(self.number)


@dataclass
class SeriesBook(Book):
    """A ledger, open for a release of a table that changes: the next one of a series.

    Releases of the same persons and the same sensitive column are a series. They are judged by the
    signatures of their persons, and by nothing else; other releases of the table as ever.
    """

    again: int = 0

    def series(self, job: Opened) -> Series:
        """Return what the series has of the persons of a table.

        Raises:
            InputError: `after` is not the latest release of it, or it promises less.
        """
        known = known_records(job.table, job.schema, self.ledger.key)
        with self.ledger.transaction() as entries:
            followed = self._followed(job, entries.entries())
            return Series(self.request, known, self._sealed(followed, entries))

    def _is_followed(self, entry: LedgerEntry) -> bool:
        schema = self.request.schema
        return (
            bool(entry.over_time)
            and set(entry.persons) == set(schema.person)
            and entry.over_time.get("column") == schema.sensitive[0]
        )

    def _followed(self, job: Opened, entries: Sequence[LedgerEntry]) -> list[LedgerEntry]:
        found = [entry for entry in entries if self._is_followed(entry)]
        after = str(self.request.after)
        if after.isdigit():
            asked = entry_of(entries, after, where=str(self.ledger.path))
            if asked not in found:
                problem = f"{asked.title} is not one over time of these persons and this column"
                raise InputError(where="--after", problem=problem)
            if asked is not found[-1]:
                problem = f"{found[-1].title} came later; say --after {found[-1].number}"
                raise InputError(where="--after", problem=problem)
        asked_m = unique_of(job).m
        known = [value for e in found if isinstance(value := e.over_time.get("m"), int)]
        if known and asked_m > min(known):
            raise InputError(
                where="--m",
                problem=f"earlier releases of the series gave everybody at least {min(known)} "
                f"values, and a signature is for good; ask for at most {min(known)}, or begin a "
                "new series in a new ledger",
            )
        return found

    def _sealed(self, followed: Sequence[LedgerEntry], entries: LedgerTransaction) -> pl.DataFrame:
        held = [pl.read_ipc(io.BytesIO(entries.members(e.number))) for e in followed]
        return sealed_signatures(held, str(self.ledger.path))

    def _identity(self, known: Known, past: Sequence[Past]) -> Identity:
        return Identity(known.schema.person, is_key=True)

    def _signatures(
        self, job: Opened, written: Written, entries: LedgerTransaction
    ) -> tuple[pl.DataFrame | None, Document]:
        """Judge m-invariance on what is written: in the transaction, so that nothing comes between.

        Raises:
            UnsafeReleaseError: somebody has another signature than before.
        """
        assert isinstance(written, FollowedWritten)
        unique = unique_of(job)
        assert unique.column is not None
        schema = job.schema.with_person(written.person)
        shown = shown_of(written.source, schema, unique.column, self.ledger.key)
        people, released = shown.signatures.height, int((written.class_numbers() >= 0).sum())
        if people != released:
            raise UnsafeReleaseError(
                problem=f"{people} persons stand behind the written records where {released} "
                "should; nothing was written"
            )
        followed = self._followed(job, entries.entries())
        self.again = check_invariance(shown, self._sealed(followed, entries))
        facts: Document = {
            "m": unique.m,
            "column": unique.column,
            "counterfeits": shown.counterfeits,
            "after": [entry.number for entry in followed],
        }
        return shown.signatures, facts


def known_records(table: Table, schema: Schema, key: bytes) -> Known:
    """Return the records of a table by their hashes."""
    original = original_of(local_source(table, "--ledger"), schema)
    return Known(original.source, original.schema, key)


def _identity(known: Known, past: Sequence[Past]) -> Identity:
    """Return what records are recognised by: as in the latest release, while that tells all."""
    for each in reversed(past):
        identity = identity_of(each.entry)
        if not known.hashes(identity).null_count():
            return identity
    return Identity.of(known.source, known.schema)


def _plain(model: Promise) -> Document:
    return dict(model.to_document())


def words(found: Composition) -> str:
    """Say in a line how releases stand together."""
    most = max(found.below)
    said = [
        f"{found.alone:,} records alone",
        f"{found.below[most]:,} of {found.published:,} among fewer than {most}",
        *(
            f"{name} certain for {together:.1%} ({one:.1%} by one release)"
            for name, (one, together) in found.certain.items()
        ),
        *(f"{v.model.name} broken" for v in found.privacy if not v.holds and v.model.column),
    ]
    if found.unknown:
        said.append(f"{found.unknown:,} of whom nothing can be said")
    return ", ".join(said)


def releases(ledger: str | Path) -> list[LedgerEntry]:
    """Return what a ledger has, the oldest release first.

    Raises:
        InputError: there is none, or it cannot be used.
    """
    with ReleaseLedger(ledger).transaction() as entries:
        return entries.entries()


def release_entry(ledger: str | Path, number: str) -> LedgerEntry:
    """Return one release of a ledger.

    Raises:
        InputError: it has none of that number.
    """
    return entry_of(releases(ledger), number, where=str(ledger))


def ledger_classes(request: ReleaseRequest, table: Table, schema: Schema) -> Past:
    """Return a release of the ledger that a new one is to be nested in.

    Raises:
        InputError: there is none of that number, or it is not of this table.
    """
    assert request.ledger is not None
    ledger = ReleaseLedger(request.ledger, create=True)
    known = known_records(table, schema, ledger.key)
    with ledger.transaction() as entries:
        entry = entry_of(entries.entries(), str(request.nested_in), where=str(request.ledger))
        found = known.past(entry, entries.members(entry.number))
    if not found.is_of_this_table:
        raise InputError(where="--nested-in", problem=f"{entry.title} has none of these records")
    return found


def _name_of(out: object) -> str:
    """Return what a release is called in the ledger."""
    if isinstance(out, Database):
        return str(out.table)
    return Path(out).name if isinstance(out, (str, Path)) else ""
