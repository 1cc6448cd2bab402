"""What files are called to a client: its own references, never a place of this machine."""

from __future__ import annotations

from collections.abc import Mapping

from shoal.core.documents import Document, Json


def strings(names: Json) -> dict[str, str]:
    """Return what files are called, as it came through JSON."""
    return {path: str(name) for path, name in names.items()} if isinstance(names, dict) else {}


def renamed(document: Document, names: Mapping[str, str]) -> Document:
    """Return a document with a client's names in the place of paths."""
    found = _renamed(document, names)
    assert isinstance(found, dict)
    return found


def _renamed(value: Json, names: Mapping[str, str]) -> Json:
    if isinstance(value, dict):
        return {key: _renamed(each, names) for key, each in value.items()}
    if isinstance(value, list):
        return [_renamed(each, names) for each in value]
    if isinstance(value, str):
        for path, name in names.items():
            value = value.replace(path, name)
    return value
