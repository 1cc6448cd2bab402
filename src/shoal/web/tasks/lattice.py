"""The lattice around a release."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields

from shoal.core.documents import Document
from shoal.jobs.documents import request_from
from shoal.jobs.lattice import LatticeRequest, lattice
from shoal.jobs.requests import LearnRequest, ReleaseRequest
from shoal.privacy.registry import from_document


def run(asked: Document, tell: Callable[[Document], None]) -> Document:
    """Count the nodes around the one whose `levels` are given, for a `request`.

    `privacy` and `suppression_limit` take the place of what the request's schema says of them.
    """
    request = request_from(asked["request"])
    assert isinstance(request, ReleaseRequest)
    promise, limit = asked.get("privacy"), asked.get("suppression_limit")
    schema = request.schema.with_promise(
        [from_document(each) for each in promise if isinstance(each, dict)]
        if isinstance(promise, list)
        else (),
        replace_promise=bool(promise),
        suppression_limit=float(limit) if isinstance(limit, (int, float)) else None,
    )
    shared = {each.name: getattr(request, each.name) for each in fields(LearnRequest)}
    levels = asked.get("levels")
    known = levels.items() if isinstance(levels, dict) else ()
    around = {name: level for name, level in known if isinstance(level, int)}
    asking = LearnRequest(**{**shared, "schema": schema})
    return lattice(LatticeRequest(release=asking, around=around)).to_document()
