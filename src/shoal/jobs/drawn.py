"""What a drawn release asks of an engine, and what its report says of it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TypeGuard

from shoal.core.documents import Document, Json
from shoal.engines.base import Drawn, Search, Written
from shoal.engines.drawing.drawing import DRAWN, Drawing
from shoal.jobs.requests import ReleaseRequest
from shoal.measures.risk.persons import asked_k
from shoal.privacy import Promise
from shoal.reports.release import ReleaseReport

LEAST = 2
"""The fewest persons of a value of a marginal, where nothing else is promised."""


def drawing_of(
    request: ReleaseRequest, search: Search, promise: Sequence[Promise]
) -> Drawing | None:
    """Return how a release is drawn; None: it is not."""
    if search.release != "draw":
        return None
    least = max((model.least_records for model in promise), default=LEAST)
    least = max([least, *(math.ceil(getattr(model, "l", 0)) for model in promise)])
    return Drawing(seed=request.seed, k=max(asked_k(promise), least, LEAST))


def is_drawn(written: Written | Drawn) -> TypeGuard[Drawn]:
    """Say whether what is written was drawn."""
    return hasattr(written, "compare_labels")


def with_drawn(
    report: ReleaseReport, drawn: Document, reappearing: Document | None
) -> ReleaseReport:
    """Return a report that says before all else that values are drawn."""
    found = dict(drawn)
    fidelity = found.pop("fidelity", None)
    if reappearing is not None:
        found["reappearing"] = reappearing
    facts: dict[str, Json] = {"drawn": found, **report.facts, "printed": {"labels": "drawn"}}
    if fidelity is not None:
        facts["fidelity"] = fidelity
    return replace(report, facts=facts, warnings=(DRAWN, *report.warnings))
