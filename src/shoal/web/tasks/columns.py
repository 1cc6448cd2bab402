"""The distribution of each column, of a sample where the table is large."""

from __future__ import annotations

from collections.abc import Callable

from shoal.core.documents import Document
from shoal.jobs.look import pictures
from shoal.web.tasks.sample import sampled, texts_of


def run(asked: Document, tell: Callable[[Document], None]) -> Document:
    """Return a picture a column."""
    found = sampled(asked["table"])
    kinds = asked.get("kinds")
    known = {n: str(kind) for n, kind in kinds.items()} if isinstance(kinds, dict) else {}
    drawn = pictures(found.frame, texts_of(asked.get("missing")), kinds=known)
    return {
        "columns": dict(drawn),
        "records": found.records,
        "seen": found.frame.height,
        "is_sample": found.is_sample,
    }
