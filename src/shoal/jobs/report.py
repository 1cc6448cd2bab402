"""Reports of what jobs gave: the one document, and the files that are written from it."""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from os import PathLike, fspath
from pathlib import Path
from typing import TypedDict

from shoal.core.documents import Document
from shoal.core.errors import OutputError, SchemaError
from shoal.core.version import __version__
from shoal.engines.local.write import all_or_nothing
from shoal.formats.database import Database
from shoal.jobs.encode import Encoded
from shoal.jobs.places import check_place
from shoal.jobs.release import Release
from shoal.measures.attacks.result import Comparison
from shoal.measures.risk.report import RiskReport
from shoal.reports.about import EXTERNAL, INTERNAL, About
from shoal.reports.document import ReportDocument
from shoal.reports.html import to_html
from shoal.reports.markdown import to_markdown
from shoal.reports.of_release import of_release
from shoal.reports.of_risk import of_risk
from shoal.reports.of_verification import of_verification
from shoal.reports.profile import load_profile
from shoal.reports.release import ReleaseReport, Verification
from shoal.schema.schema import Schema

Place = str | Path
ENDINGS = (".html", ".htm", ".pdf", ".md", ".json")
_PACKAGES = ("polars", "numpy", "numba", "pyspark")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportRequest:
    """What is asked of a report.

    Attributes:
        audience: "internal" (everything) or "external" (nothing that helps an attacker).
        by, purpose, recipient: who decided, what for, and to whom the release may go.
        day: the report's date; today if None.
        profile: the rule that the risk is held against: the name of one, or a file.
        table, release, model: what was read and written; files are hashed.
        schema: says which columns are quasi-identifiers, where the result does not.
        attacks: that were carried out beside a measured risk.
        request: what repeats the result, without values of the data.
    """

    audience: str = INTERNAL
    by: str | None = None
    purpose: str | None = None
    recipient: str | None = None
    day: date | None = None
    profile: str | Path | None = None
    table: object = None
    release: object = None
    model: object = None
    schema: Schema | None = None
    attacks: tuple[Comparison, ...] = ()
    request: Document | None = None

    def about(self) -> About:
        """Return the circumstances; files are read for their hashes.

        Raises:
            SchemaError: an audience or a profile that there is not.
        """
        if self.audience not in (INTERNAL, EXTERNAL):
            raise SchemaError(where="--report-for", faults=["must be internal or external"])
        hashed = {"release": self.release, "model": self.model}
        if self.audience == INTERNAL:
            hashed = {"input": self.table, **hashed}
        found = {name: digest_of(each) for name, each in hashed.items()}
        return About(
            audience=self.audience,
            table=name_of(self.table) or name_of(self.release) or "the table",
            release=name_of(self.release),
            by=self.by,
            purpose=self.purpose,
            recipient=self.recipient,
            day=self.day or date.today(),
            hashes={name: text for name, text in found.items() if text is not None},
            versions=versions(),
            profile=None if self.profile is None else load_profile(self.profile),
        )


class ReportFacts(TypedDict, total=False):
    """What is asked of a report, word by word; see `ReportRequest`."""

    audience: str
    by: str | None
    purpose: str | None
    recipient: str | None
    day: date | None
    profile: str | Path | None
    table: object
    release: object
    model: object
    schema: Schema | None
    attacks: tuple[Comparison, ...]
    request: Document | None


Reported = Release[object] | ReleaseReport | Encoded[object] | Verification | RiskReport


def report(result: Reported, asked: ReportRequest | None = None) -> ReportDocument:
    """Return the report of a release, a safe batch, a verification or a measured risk.

    Raises:
        SchemaError: a batch was not verified, and so nothing can be said of it.
    """
    asked = asked or ReportRequest()
    about = asked.about()
    if isinstance(result, Release):
        return _of_release(result, about)
    if isinstance(result, ReleaseReport):
        return of_release(result, about)
    if isinstance(result, RiskReport):
        quasi = () if asked.schema is None else asked.schema.quasi
        attacks = [each.to_document() for each in asked.attacks]
        return of_risk(
            result.to_document(), about, quasi=quasi, attacks=attacks, request=asked.request
        )
    roles = {} if asked.schema is None else {a.name: str(a.role) for a in asked.schema.attributes}
    if isinstance(result, Verification):
        return of_verification(result, about, roles=roles, request=asked.request)
    if result.verification is None:
        fault = "a batch that is not verified has no report; encode it with --safe"
        raise SchemaError(where="--report", faults=[fault])
    counts = result.report.to_document()
    batch = {
        name: int(str(counts[name])) for name in ("records", "released", "suppressed", "unseen")
    }
    return of_verification(
        result.verification, about, roles=roles, request=asked.request, batch=batch
    )


def _of_release(made: Release[object], about: About) -> ReportDocument:
    if made.compared is None:
        return of_release(made.report, about)
    before, after, attacks = made.compared
    return of_release(
        made.report,
        about,
        risks=(before.to_document(), after.to_document()),
        attacks=[each.to_document() for each in attacks],
    )


def check_report(out: Place, *, inputs: tuple[Place, ...] = ()) -> None:
    """Refuse a place where no report can be written, before any work is done.

    Raises:
        OutputError: an ending that no report has, a PDF without what writes it, or
            `check_place` refuses it.
    """
    check_place(out, inputs=inputs)
    _check_ending(out)


def _check_ending(out: Place) -> None:
    ending = Path(out).suffix.lower()
    if ending not in ENDINGS:
        named = ", ".join(ENDINGS)
        raise OutputError(where=str(out), problem=f"a report is one of {named}; name it so")
    if ending == ".pdf" and find_spec("typst") is None:
        raise OutputError(
            where=str(out), problem="a PDF needs `pip install shoal[report]`; or name it .html"
        )


def write_report(
    document: ReportDocument | Reported, out: Place, *, inputs: tuple[Place, ...] = ()
) -> None:
    """Write a report, all or nothing: HTML, PDF, Markdown or JSON, by the ending of its name."""
    _check_ending(out)
    found = document if isinstance(document, ReportDocument) else report(document)
    written = _bytes(found, Path(out).suffix.lower())
    with all_or_nothing(out, inputs=inputs) as temporary:
        temporary.write_bytes(written)


def _bytes(document: ReportDocument, ending: str) -> bytes:
    if ending == ".pdf":
        from shoal.reports.pdf import to_pdf

        return to_pdf(document)
    writers = {".md": to_markdown, ".json": ReportDocument.to_json}
    return writers.get(ending, to_html)(document).encode("utf-8")


def name_of(table: object) -> str | None:
    """Return what a table is called in a report: without the folders that it is in."""
    table = getattr(table, "place", table)  # where a table of a cluster is
    if isinstance(table, Database):
        return table.table or "a query of a database"
    if isinstance(table, (str, PathLike)):
        return Path(fspath(table)).name or None
    return None


def digest_of(file: object) -> str | None:
    """Return the SHA-256 of a file; None: it is no file on this machine."""
    file = getattr(file, "place", file)
    if not isinstance(file, (str, PathLike)) or not Path(fspath(file)).is_file():
        return None
    with Path(fspath(file)).open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


def versions() -> Mapping[str, str]:
    """Return the versions of this program and of what it runs on."""
    found = {"shoal": __version__, "Python": platform.python_version()}
    for name in _PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found
