"""Promises by name: from a schema's or a model's words to objects, and bound to columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import MISSING, fields, replace
from typing import Any, cast

from shoal.core.errors import PrivacyError
from shoal.privacy.promise import PROMISES, Promise


def expand(promises: Iterable[Promise], sensitive_columns: Sequence[str]) -> list[Promise]:
    """Bind each promise that names no column to every sensitive column; drop repetitions.

    Raises:
        PrivacyError: a promise would be lost, for want of a column to apply it to.

    Example:
        >>> from shoal.privacy import KAnonymity, LDiversity
        >>> [p.column for p in expand([KAnonymity(2), LDiversity(2)], ["diagnosis", "cost"])]
        [None, 'diagnosis', 'cost']
    """
    bound: dict[Promise, None] = {}
    for promise in promises:
        faults = promise.check(dict.fromkeys(sensitive_columns, ""), sensitive_columns)
        if faults:
            raise PrivacyError(model=promise.name, problem=faults[0])
        if promise.needs_sensitive and promise.column is None:
            for column in sensitive_columns:
                bound[replace(cast(Any, promise), column=column)] = None
        else:
            bound[promise] = None
    return list(bound)


def from_document(document: Mapping[str, Any]) -> Promise:
    """Build a promise from a schema's or model file's mapping.

    Raises:
        PrivacyError: the promise is unknown, or a parameter is unknown, missing or wrong.

    Example:
        >>> from_document({"model": "k-anonymity", "k": 5})
        KAnonymity(k=5)
        >>> from_document({"model": "t-closeness", "parameters": {"t": 0.2}}).to_document()
        {'model': 't-closeness', 't': 0.2, 'distance': 'equal'}
    """
    if not isinstance(document, Mapping):
        raise PrivacyError(model="?", problem="write it as a mapping: {model: k-anonymity, k: 5}")
    name = document.get("model")
    kind = PROMISES.get(name) if isinstance(name, str) else None
    if kind is None:
        known = ", ".join(sorted(PROMISES))
        raise PrivacyError(model=name, problem=f"no such privacy model; there are {known}")
    given: Mapping[Any, Any] = {key: value for key, value in document.items() if key != "model"}
    if isinstance(given.get("parameters"), Mapping):
        if len(given) > 1:
            raise PrivacyError(
                model=name, problem="write either 'parameters' or each one, not both"
            )
        given = given["parameters"]
    parts = [part for part in fields(cast(Any, kind)) if part.init]
    unknown = sorted(str(key) for key in given if key not in {part.name for part in parts})
    if unknown:
        raise PrivacyError(model=name, problem=f"unknown parameter: {', '.join(unknown)}")
    missing = [p.name for p in parts if p.default is MISSING and p.name not in given]
    if missing:
        raise PrivacyError(model=name, problem=f"missing parameter: {', '.join(missing)}")
    return kind(**given)
