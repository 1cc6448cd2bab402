"""Make a release: tried, or written with its report, its model and its export."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from pathlib import Path

from shoal.api import export_model
from shoal.core.documents import Document, Json, as_json
from shoal.core.watch import tell as told
from shoal.jobs.documents import request_from
from shoal.jobs.learn import learn
from shoal.jobs.places import check_place, write_model
from shoal.jobs.release import Release, release
from shoal.jobs.report import ReportRequest, check_report, report, write_report
from shoal.jobs.requests import LearnRequest, Output, ReleaseRequest, usual_checks
from shoal.reports.document import ReportDocument

_PEOPLE = ("population", "sampling_fraction", "weights", "household")
_OWN = ("profile", "fidelity", "learn", "bound")


def run(asked: Document, tell: Callable[[Document], None]) -> Document:
    """Release, as `anonymize` does: searched, recoded, verified, and only then published.

    `request`: the request. `report`: where the report goes, and what only people can say in it.
    `model`, `export`: where a model of it goes, and its encoder. Without an output it is tried:
    written to a private folder, verified there, and removed.
    """
    request = request_from(asked["request"])
    assert isinstance(request, ReleaseRequest)
    if request.output.out is None:
        with tempfile.TemporaryDirectory(prefix="shoal-try-") as folder:
            out = Path(folder) / "release.csv"
            tried = aside(as_asked(request, out=out), Path(folder))
            return _answer(release(tried), request, {})
    return _written(request, asked)


def as_asked(request: ReleaseRequest, *, out: Path | None = None) -> ReleaseRequest:
    """Return the request with what a command line measures unasked, and counts for a report.

    out: where it goes instead, when it is tried; nothing else is written then.
    """
    usual = usual_checks(True if request.checks.attacks == "all" else None)
    people = {name: getattr(request.checks, name) for name in _PEOPLE}
    own = {name: getattr(request.checks, name) for name in _OWN}
    checks = replace(usual, pictures=True, **own, **people)
    output = Output(out=out, suppressed="remove") if out else request.output
    return replace(request, output=output, checks=checks)


def aside(request: ReleaseRequest, folder: Path) -> ReleaseRequest:
    """Return a request that is tried: it is judged by a copy of its ledger, and enters it there.

    What goes nowhere must not stand in the books as released. Noise would be paid for once more
    when it is released: a trial draws without.
    """
    false, counterfeits = request.false_records, request.counterfeit_table
    return replace(
        request,
        ledger=_copied(request.ledger, folder / "ledger"),
        after=_copied(request.after, folder / "after"),
        false_records=None if false is None else folder / "false_records.csv",
        counterfeit_table=None if counterfeits is None else folder / "counterfeits.csv",
        epsilon=None,
        budget=None,
    )


def _copied(place: str | Path | None, goal: Path) -> str | Path | None:
    """Return a copy of a ledger; the number of a release in it stays a number."""
    if place is None or str(place).isdigit():
        return place
    if Path(place).is_file():
        shutil.copy(place, goal)  # with its mode: what others can read is refused
    return goal


def _written(request: ReleaseRequest, asked: Document) -> Document:
    """Write all of it; every place is checked before any work is done."""
    out = request.output.file
    assert out is not None
    facts = asked.get("report")
    facts = dict(facts) if isinstance(facts, dict) else {}
    whole = as_asked(request)
    inputs = whole.output.inputs
    page, model, encoder = facts.pop("out", None), asked.get("model"), asked.get("export")
    if page is not None:
        check_report(str(page), inputs=(*inputs, out))
    for place in (out, model, encoder):
        if place is not None:
            check_place(str(place), inputs=inputs)
    made = release(whole)
    files: list[Json] = [str(out)]
    if page is not None:
        asking = _reporting(facts, whole)
        write_report(report(made, asking), str(page), inputs=(*inputs, str(out)))
        files.append(str(page))
    if model is not None:
        files += _model(whole, str(model), encoder, inputs=inputs)
    return {**_answer(made, whole, facts), "files": files}


def _reporting(facts: Mapping[str, Json], request: ReleaseRequest) -> ReportRequest:
    known = {each.name for each in fields(ReportRequest)}
    said = {name: str(value) for name, value in facts.items() if name in known and value}
    return ReportRequest(
        audience=said.get("audience", "internal"),
        by=said.get("by"),
        purpose=said.get("purpose"),
        recipient=said.get("recipient"),
        profile=request.checks.profile,
        table=request.table,
        release=request.output.out,
    )


def _model(
    request: ReleaseRequest, place: str, encoder: Json, *, inputs: tuple[str | Path, ...]
) -> list[Json]:
    """Learn the same and write it as a model, and as an encoder where one is asked for."""
    told("model")
    shared = {each.name: getattr(request, each.name) for each in fields(LearnRequest)}
    learned = learn(LearnRequest(**shared))
    write_model(learned.model, place, inputs=inputs)
    if encoder is None:
        return [place]
    language = {".js": "javascript", ".mpy.py": "micropython"}
    to = next((to for end, to in language.items() if str(encoder).endswith(end)), "python")
    export_model(place, to, out=str(encoder))
    return [place, str(encoder)]


def _answer(made: Release[object], request: ReleaseRequest, facts: Mapping[str, Json]) -> Document:
    told("measure")
    document: ReportDocument = report(made, _reporting(facts, request))
    found = as_json({"report": document.to_document(), "run": made.report.to_document()})
    assert isinstance(found, dict)
    return found
