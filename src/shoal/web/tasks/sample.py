"""The table that quick questions are asked of: read once, and a sample where it is large."""

from __future__ import annotations

import json
import os
from pathlib import Path

from shoal.core.documents import Json
from shoal.jobs.documents import request_from
from shoal.jobs.look import Looked, look
from shoal.jobs.requests import InferRequest

MOST = 100_000
"""Records that a quick question is asked of; of a larger table, a sample."""

_kept: dict[str, Looked] = {}


def sampled(table: Json) -> Looked:
    """Return a table, or a sample of it; it is read anew where the file has changed."""
    request = request_from({"job": "infer", "table": table})
    assert isinstance(request, InferRequest)
    key = json.dumps([table, _stamp(request.table)])
    if key not in _kept:
        _kept.clear()
        _kept[key] = look(request.table, most=MOST)
    return _kept[key]


def _stamp(table: object) -> list[int]:
    """Return what changes where a file does."""
    if not isinstance(table, (str, os.PathLike)):
        return []
    found = Path(table).stat()
    return [found.st_mtime_ns, found.st_size]


def texts_of(value: Json) -> list[str]:
    """Return a list of texts."""
    return [str(each) for each in value] if isinstance(value, list) else []
