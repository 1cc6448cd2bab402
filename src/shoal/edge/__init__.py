"""The runtime for small machines: encode, verify and measure plain records.

Python's standard library and shoal's rooms without dependencies, nothing else. Encoding needs
no more than `load`; verify, encode_safe and metrics load the vocabulary of promises when they
are called.

Example:
    >>> from shoal import edge
    >>> model = {
    ...     "format": "shoal-model", "version": 2, "method": "mondrian", "records": 4,
    ...     "suppressed": 0, "on_unseen": "suppress", "utility": {}, "released": ["age"],
    ...     "removed": [], "counts": [4], "regions": [[0]],
    ...     "schema": {"columns": {"age": {"role": "quasi"}}, "others": "drop"},
    ...     "columns": [{"name": "age", "scale": "number", "root": "*",
    ...                  "cells": [{"low": "20", "high": "29"}]}]}
    >>> encoder = edge.load(model)
    >>> encoder.encode({"age": 23, "note": "not named, so dropped"}), encoder.encode({"age": 41})
    ({'age': '[20, 29]'}, {'age': '*'})
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from shoal.core.errors import ModelFormatError
from shoal.edge.fast import FastEncoder
from shoal.model.document import checked, fingerprint_of, parse_model, read_model_text
from shoal.model.runtime import Encoder, Rejected

_HOMES = {
    "EncodeReport": "shoal.edge.stream",
    "encode_safe": "shoal.edge.batch",
    "encode_stream": "shoal.edge.stream",
    "export": "shoal.edge.export",
    "metrics": "shoal.edge.batch",
    "verify": "shoal.edge.batch",
}

__all__ = ["Encoder", "Rejected", "document_of", "load", *sorted(_HOMES)]


def document_of(model: Any) -> dict[str, Any]:
    """Return the checked document of a path, a document, or a model object.

    Raises:
        ModelFormatError: it is newer, damaged, hostile, or no model at all.
    """
    if isinstance(model, dict):
        return checked(model)
    if hasattr(model, "to_document"):
        return checked(model.to_document())
    found = parse_model(read_model_text(str(model)))
    document = checked(found)
    told = found.get("fingerprint")
    if (
        told is not None
        and found["version"] == document["version"]
        and told != fingerprint_of(found)
    ):
        raise ModelFormatError(problem="its fingerprint does not fit it; it was changed")
    return document


def load(model: Any, *, on_unseen: str | None = None, suppressed: str = "star") -> Encoder:
    """Return the encoder of a model file (or document, or model object).

    Args:
        model: where the model is.
        on_unseen: suppress, nearest or error; None: what the model declares.
        suppressed: "star" releases a suppressed record with every quasi-identifier as the
            root, "remove" leaves it out.

    Raises:
        ModelFormatError: it is newer, damaged, hostile, or no model at all.
    """
    return FastEncoder(document_of(model), on_unseen, suppressed)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'shoal.edge' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
