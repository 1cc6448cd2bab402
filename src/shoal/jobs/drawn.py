"""What a drawn release asks of an engine, and what its report says of it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TypeGuard

from shoal.core.documents import Document, Json
from shoal.engines.base import Drawn, Search, Written
from shoal.engines.drawing.drawing import DRAWN, Drawing
from shoal.jobs.requests import LearnRequest
from shoal.measures.risk.persons import asked_k
from shoal.privacy import Promise
from shoal.reports.release import ReleaseReport

LEAST = 2
"""The fewest persons of a value of a marginal, where nothing else is promised."""


NOT_PRIVATE = (
    "the marginals are differentially private (epsilon {epsilon:g}); the file as a whole is not: "
    "it is drawn from the labels of a release, too"
)


def drawing_of(
    request: LearnRequest, search: Search, promise: Sequence[Promise], columns: Sequence[str]
) -> Drawing | None:
    """Return how a release is drawn; None: it is not. Noisy marginals are paid for here.

    Raises:
        BudgetError: the budget does not cover them.
    """
    if search.release != "draw":
        return None
    least = max((model.least_records for model in promise), default=LEAST)
    least = max([least, *(math.ceil(getattr(model, "l", 0)) for model in promise)])
    found = Drawing(seed=request.seed, k=max(asked_k(promise), least, LEAST))
    if request.epsilon is None:
        return found
    from shoal.dp.marginals import NoisyCounts, charge_marginals
    from shoal.jobs.statistics import fingerprint

    noise = NoisyCounts(request.epsilon, len(columns))
    name = fingerprint(request.table, None, separator=request.separator)
    charge_marginals(name, columns, epsilon=request.epsilon, ledger=request.budget)
    return replace(found, noise=noise, epsilon=request.epsilon)


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
    noisy = found.get("epsilon")
    private = (NOT_PRIVATE.format(epsilon=noisy),) if isinstance(noisy, float) else ()
    return replace(report, facts=facts, warnings=(DRAWN, *private, *report.warnings))
