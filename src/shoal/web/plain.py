"""Plain data out of documents that anybody may have written: what does not fit reads as nothing."""

from __future__ import annotations

from shoal.core.documents import Document, Json


def mapping(value: Json) -> Document:
    """Return a mapping of a document; empty where there is none."""
    return value if isinstance(value, dict) else {}


def listed(value: Json) -> list[Document]:
    """Return the mappings of a list of a document."""
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def numbers_of(value: Json) -> list[float] | None:
    """Return a list of numbers; None where there is none."""
    if not isinstance(value, list):
        return None
    return [float(each) if isinstance(each, (int, float)) else 0.0 for each in value]


def share(value: Json) -> float | None:
    """Return a number; None: it is not known."""
    return float(value) if isinstance(value, (int, float)) else None


def whole(value: Json) -> int | None:
    """Return a whole number; None: it is not known."""
    return value if isinstance(value, int) else None
