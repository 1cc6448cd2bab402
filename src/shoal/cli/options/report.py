"""The report that a command writes, and what only people can say in it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Unpack

from shoal.cli import standard
from shoal.cli.options.groups import Group, option
from shoal.cli.options.input import refusal
from shoal.reports.about import EXTERNAL, INTERNAL

if TYPE_CHECKING:
    from shoal.jobs.report import Reported, ReportFacts
    from shoal.jobs.requests import Request


@dataclass(frozen=True, kw_only=True)
class ReportOptions(Group):
    """The report, for whom it is, and who decided what."""

    panel: ClassVar[str] = "Report"

    report: str | None = option(None, "Write a report: .html, .pdf, .md or .json.", "FILE")
    report_for: str = option(
        INTERNAL, "For whom; nothing in an external one helps an attacker.", "internal|external"
    )
    by: str | None = option(None, "Who decided.", "NAME")
    purpose: str | None = option(None, "What the release is for.", "TEXT")
    recipient: str | None = option(None, "To whom it may go.", "TEXT")
    report_date: str | None = option(None, "Date of the report.", "DATE", shown="today")

    def check(self, *inputs: str | Path) -> None:
        """Refuse a report that cannot be written, before any work is done.

        inputs: files that are read or written and must not become the report.
        """
        if self.report is None:
            given = {
                "--report-for": self.report_for != INTERNAL, "--by": self.by,
                "--purpose": self.purpose, "--recipient": self.recipient,
                "--report-date": self.report_date,
            }  # fmt: skip
            lonely = [name for name, value in given.items() if value]
            if lonely:
                raise refusal(lonely[0], "goes with --report FILE")
            return
        from shoal.jobs.report import check_report

        if self.report_for not in (INTERNAL, EXTERNAL):
            raise refusal("--report-for", "must be internal or external")
        self._day()
        check_report(self.report, inputs=inputs)

    def asked(self, **facts: Unpack[ReportFacts]) -> ReportFacts:
        """Return what is asked of the report. facts: what the command knows; see `ReportFacts`."""
        found: ReportFacts = {
            "audience": self.report_for,
            "by": self.by,
            "purpose": self.purpose,
            "recipient": self.recipient,
            "day": self._day(),
            **facts,
        }
        return found

    def write(
        self,
        result: Reported,
        asked: ReportFacts,
        *inputs: str | Path,
        request: Request | None = None,
    ) -> None:
        """Write the report of a result, if one was asked for. request: what repeats it."""
        if self.report is None:
            return
        from shoal.jobs.documents import public_document
        from shoal.jobs.report import ReportRequest, report, write_report

        if request is not None:
            asked["request"] = public_document(request)
        document = report(result, ReportRequest(**asked))
        write_report(standard.in_words(document), self.report, inputs=inputs)

    def _day(self) -> date | None:
        try:
            return None if self.report_date is None else date.fromisoformat(self.report_date)
        except ValueError:
            raise refusal("--report-date", "must be a day such as 2026-01-31") from None
