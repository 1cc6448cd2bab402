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
from typing import TYPE_CHECKING

from shoal.edge.loading import document_of, load
from shoal.model.column import Rejected
from shoal.model.runtime import Encoder

if TYPE_CHECKING:
    from shoal.edge.batch import encode_safe, metrics, verify
    from shoal.edge.export import export
    from shoal.edge.stream import EncodeReport, encode_stream

_MODULES = {
    "EncodeReport": "shoal.edge.stream",
    "encode_safe": "shoal.edge.batch",
    "encode_stream": "shoal.edge.stream",
    "export": "shoal.edge.export",
    "metrics": "shoal.edge.batch",
    "verify": "shoal.edge.batch",
}

__all__ = [
    "EncodeReport",
    "Encoder",
    "Rejected",
    "document_of",
    "encode_safe",
    "encode_stream",
    "export",
    "load",
    "metrics",
    "verify",
]


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f"module 'shoal.edge' has no attribute {name!r}")
    return getattr(import_module(_MODULES[name]), name)
