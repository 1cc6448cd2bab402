"""How easily people are found in the table as it stands, at once: of a sample where it is large."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from shoal.core.documents import Document, as_json
from shoal.jobs.documents import request_from
from shoal.jobs.requests import RiskRequest
from shoal.jobs.risk import held, risk
from shoal.reports.profile import load_profile
from shoal.web.tasks.sample import sampled


def run(asked: Document, tell: Callable[[Document], None]) -> Document:
    """Measure the risk; `profile`: what it is held against."""
    found = sampled(asked["table"])
    request = request_from({"job": "risk", "table": asked["table"], "schema": asked["schema"]})
    assert isinstance(request, RiskRequest)
    report = risk(replace(request, table=found.frame))
    profile = asked.get("profile")
    document = as_json(
        {
            **report.to_document(),
            "maximum": report.maximum,
            "average": report.average,
            "seen": found.frame.height,
            "of": found.records,
            "is_sample": found.is_sample,
            "held": held(load_profile(str(profile)), report) if profile else None,
        }
    )
    assert isinstance(document, dict)
    return document
