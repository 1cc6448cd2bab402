"""Run one job and leave what it made in its folder: the result, and the files beside it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import cast

from shoal.api import write_schema
from shoal.core.documents import Document, as_json
from shoal.jobs import encode as encoding
from shoal.jobs import infer as inferring
from shoal.jobs import learn as learning
from shoal.jobs import measure as measuring
from shoal.jobs import release as releasing
from shoal.jobs import risk as risking
from shoal.jobs import verify as verifying
from shoal.jobs.documents import request_from
from shoal.jobs.places import write_model
from shoal.jobs.report import ReportRequest, report, write_report
from shoal.jobs.requests import (
    Checks,
    DriftRequest,
    EncodeRequest,
    InferRequest,
    LearnRequest,
    MetricsRequest,
    ReleaseRequest,
    Request,
    RiskRequest,
    VerifyRequest,
    usual_checks,
)
from shoal.service.names import renamed, strings


def run(asked: Document, tell: Callable[[Document], None]) -> Document:
    """Run the request `request`; what it writes goes to the folder `out`.

    `format`: of the table that is written. `report`: the ending of a report, or none. `names`: how
    the client names the files of this machine.
    """
    request = request_from(asked["request"])
    folder = Path(str(asked["out"]))
    table = folder / f"table.{asked.get('format') or 'csv'}"
    names = {**strings(asked.get("names")), str(folder): "job"}
    found = as_json(_answer(request, table, asked.get("report"), names))
    assert isinstance(found, dict)
    return renamed(found, names)


def _answer(
    request: Request, table: Path, page: object, names: Mapping[str, str]
) -> Mapping[str, object]:
    """Run a job; return its document."""
    if isinstance(request, ReleaseRequest):
        return _release(request, table, page, names)
    if isinstance(request, EncodeRequest):
        request = replace(request, output=replace(request.output, out=table))
        return encoding.encode(request).to_document()
    if isinstance(request, LearnRequest):
        learned = learning.learn(request)
        write_model(learned.model, table.with_name("model.json"))
        return learned.report.to_document()
    if isinstance(request, InferRequest):
        found = inferring.infer(request)
        write_schema(found, table.with_name("schema.yaml"))
        return found.to_document()
    return _measured(request)


def _measured(request: Request) -> Mapping[str, object]:
    """Run a job that writes nothing."""
    if isinstance(request, VerifyRequest):
        return verifying.verify(request).to_document()
    if isinstance(request, MetricsRequest):
        return measuring.measure(request)
    if isinstance(request, RiskRequest):
        return risking.risk(request).to_document()
    return encoding.drift(cast(DriftRequest, request)).to_document()


def _release(
    request: ReleaseRequest, table: Path, page: object, names: Mapping[str, str]
) -> Mapping[str, object]:
    output = replace(request.output, out=table, suppressed=request.output.suppressed or "remove")
    whole = replace(request, output=output, checks=_checks(request.checks, pictures=bool(page)))
    made = releasing.release(whole)
    if page:
        asking = ReportRequest(profile=whole.checks.profile, release=table)
        said = replace(made.report, request=renamed(made.report.request or {}, names))
        write_report(report(replace(made, report=said), asking), table.with_name(f"report{page}"))
    return made.report.to_document()


def _checks(asked: Checks, *, pictures: bool) -> Checks:
    """Return what is measured: as the command line does where nothing was said of attacks."""
    usual = usual_checks(True if asked.attacks == "all" else None)
    attacks, most = usual.attacks, usual.most_records
    return replace(asked, attacks=attacks, most_records=most, pictures=pictures)
