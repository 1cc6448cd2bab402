"""Releases over time: everybody keeps the sensitive values of their class (m-invariance)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import polars as pl

from shoal.core.documents import Document
from shoal.core.errors import MethodError
from shoal.engines.base import Output, Search
from shoal.engines.counts import ClassesHere
from shoal.engines.local.over_time import Followed, Places, followed, write_followed
from shoal.engines.local.records import LocalRecords
from shoal.jobs.search import Opened, check_limit
from shoal.methods.method import Setting
from shoal.methods.over_time.search import Invariant, search
from shoal.privacy import MUniqueness
from shoal.table.rounding import round_table

if TYPE_CHECKING:
    from shoal.engines.base import Classes, Written
    from shoal.engines.local.history import Known
    from shoal.jobs.requests import ReleaseRequest
    from shoal.reports.release import ReleaseReport

NAME = "m-invariance"
"""What a report calls the search."""

WAITING = {
    "nobody": "name no person",
    "changed": "have a sensitive value that is not among those of their signature",
    "vanished": "have a signature with a value that the table does not have any more",
    "partners": "have no partner yet",
}
"""Why records are held back."""


@dataclass
class Series:
    """One release of a series: what is found in the ledger, and what is made of it.

    Attributes:
        known: the records by their hashes.
        sealed: the signature of everybody in earlier releases.
    """

    request: ReleaseRequest
    known: Known
    sealed: pl.DataFrame = field(repr=False)
    _found: Followed | None = field(default=None, repr=False)
    _made: Invariant | None = field(default=None, repr=False)

    @property
    def made(self) -> Invariant:
        """Return the classes, once they are found."""
        assert self._made is not None
        return self._made

    @property
    def found(self) -> Followed:
        """Return what was looked up, once it is."""
        assert self._found is not None
        return self._found

    @property
    def counterfeits(self) -> int:
        """Return how many records nobody is behind."""
        return len(self.made.counterfeits.label)

    def search(self, job: Opened) -> tuple[Search, Classes]:
        """Look everybody up, and find classes in which they keep their signature.

        Raises:
            NoSolutionError: more records would have to wait than may be suppressed.
            InputError: somebody has several records.
        """
        request, records = self.request, job.records
        if not isinstance(records, LocalRecords):
            raise MethodError(problem="--after needs the local engine: Spark keeps no order")
        unique = unique_of(job)
        (domain,) = (d for d in job.counts.table.sensitive_domains if d.name == unique.column)
        with job.clock.time("learn"):
            self._found = followed(records, domain, self.known, self.sealed)
            table = job.counts.table
            if job.schema.has_round_labels:
                table = round_table(table, job.schema)
            k = max(
                (model.least_records for model in job.promise if model.column is None), default=1
            )
            self._made = search(
                table,
                self._found.people,
                m=unique.m,
                k=k,
                counterfeits=request.counterfeits != "none",
                seed=request.seed,
            )
        recoding = self._made.recoding
        check_limit(recoding.suppressed, recoding.table.records, job.schema)
        setting = Setting(target=job.schema.target, seed=request.seed)
        asked = Search(
            method=request.method, release="generalize", promise=job.promise, setting=setting
        )
        return asked, ClassesHere(recoding)

    @contextmanager
    def recode(self, job: Opened, output: Output) -> Iterator[Written]:
        """Write the release with its counterfeits; it is published at the end."""
        assert isinstance(job.records, LocalRecords)
        places = Places(self.request.false_records, self.request.counterfeit_table)
        with write_followed(
            job.records, self.made, self.found, output, places, seed=self.request.seed
        ) as written:
            yield written

    def waiting(self) -> dict[str, int]:
        """Return how many records are held back, by reason."""
        reasons = self.found.waiting
        others = self.made.recoding.suppressed - sum(reasons.values())
        return {**reasons, "partners": others}

    def facts(self) -> Document:
        """Return what a report says of it."""
        counterfeits = self.made.counterfeits
        return {
            "counterfeits": self.counterfeits,
            "counterfeit_classes": len(set(counterfeits.label.tolist())),
            "held_back": {**self.waiting()},
            "again": self.found.again,
            "signatures": len(set(self.made.signature)),
        }

    def added_to(self, report: ReleaseReport) -> ReleaseReport:
        """Return the report with what is to be known of a release over time."""
        return replace(
            report,
            method=NAME,
            notices=(*self.notices(), *report.notices),
            facts={**report.facts, "over_time": self.facts()},
        )

    def notices(self) -> tuple[str, ...]:
        """Say what is in the release that nobody is behind, and who is not in it."""
        facts = self.facts()
        found = [
            f"{number:,} records {WAITING[name]}: held back, for a later release"
            for name, number in self.waiting().items()
            if number
        ]
        if self.counterfeits:
            found.insert(
                0,
                f"{self.counterfeits:,} records are counterfeits, in "
                f"{facts['counterfeit_classes']:,} classes: nobody is behind them; every count of "
                "the release has them, no person and no loss does. Publish their number by class "
                "(--counterfeit-table)",
            )
        return tuple(found)


def unique_of(job: Opened) -> MUniqueness:
    """Return what is promised of a class; a request with `after` has checked that it is."""
    return next(model for model in job.promise if isinstance(model, MUniqueness))
