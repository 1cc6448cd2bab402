"""What the columns of a table seem to be, and the schema that follows."""

from __future__ import annotations

from collections.abc import Callable

from shoal.core.documents import Document, as_json
from shoal.jobs.documents import request_document, request_from
from shoal.jobs.infer import infer
from shoal.jobs.requests import InferRequest


def run(asked: Document, tell: Callable[[Document], None]) -> Document:
    """Infer; the answer has the document of `infer`, the proposed schema and how it was read."""
    request = request_from({"job": "infer", **asked})
    assert isinstance(request, InferRequest)
    found = infer(request)
    read = request if found.read_as is None else InferRequest(table=found.read_as)
    document = as_json(
        {
            **found.to_document(),
            "schema": found.schema_document(),
            "table": request_document(read)["table"],
        }
    )
    assert isinstance(document, dict)
    return document
