"""Promises by name: from the words of schemas, models and command lines, bound to columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, Field, fields, replace

from shoal.core.errors import PrivacyError, SchemaError
from shoal.core.suggest import did_you_mean
from shoal.privacy.promise import PROMISES, Option, Promise


def options() -> dict[str, Option]:
    """Return the words that all promises have on a command line, by name."""
    return {option.name: option for kind in PROMISES.values() for option in kind.options}


def from_flags(flags: Mapping[str, object]) -> tuple[Promise, ...]:
    """Return the promises that a command line asks for.

    Args:
        flags: values by the names of options; None where one is not given.

    Raises:
        PrivacyError: a parameter is impossible.
        SchemaError: a flag without the one it belongs to.

    Example:
        >>> from_flags({"k": 5, "l": 2.0, "alpha": None})
        (KAnonymity(k=5), LDiversity(l=2, kind='distinct', c=None, column=None))
    """
    given = {name: value for name, value in flags.items() if value is not None}
    asked = [kind for kind in PROMISES.values() if kind.is_asked(given)]
    faults = [*_lacking(asked, given), *_left_over(asked, given)]
    if faults:
        raise SchemaError(where="options", faults=faults)
    return tuple(kind.from_flags(given) for kind in asked)


def _lacking(asked: Sequence[type[Promise]], given: Mapping[str, object]) -> Iterator[str]:
    """Yield what is wrong with promises that are asked for in part."""
    for kind in asked:
        first, *others = kind.options
        needed = {part.name for part in _parts(kind) if part.default is MISSING}
        for o in others:
            if o.parameter in needed and o.name not in given:
                yield f"{first.flags[0]} needs {o.flags[0]}: together they ask for {kind.name}"


def _left_over(asked: Sequence[type[Promise]], given: Mapping[str, object]) -> Iterator[str]:
    """Yield what is wrong with options that belong to no promise that is asked for."""
    used = {option.name for kind in asked for option in kind.options}
    for name in given:
        owners = [k for k in PROMISES.values() if name in {o.name for o in k.options[1:]}]
        if name not in used and owners:
            belongs, flag = owners[0].options[0].flags[0], options()[name].flags[0]
            yield (
                f"{flag} belongs to {belongs}, which asks for {owners[0].name}; "
                f"add {belongs}, or leave {flag} out"
            )


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
                bound[replace(promise, column=column)] = None
        else:
            bound[promise] = None
    return list(bound)


def from_document(document: Mapping[str, object]) -> Promise:
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
        meant = did_you_mean(name, PROMISES, before=", ") if isinstance(name, str) else ""
        raise PrivacyError(
            model=name, problem=f"no such privacy model{meant or ';'} there are {known}"
        )
    given: Mapping[str, object] = {key: value for key, value in document.items() if key != "model"}
    nested = given.get("parameters")
    if isinstance(nested, Mapping):
        if len(given) > 1:
            raise PrivacyError(
                model=name, problem="write either 'parameters' or each one, not both"
            )
        given = nested
    parts = _parts(kind)
    unknown = sorted(str(key) for key in given if key not in {part.name for part in parts})
    if unknown:
        raise PrivacyError(model=name, problem=f"unknown parameter: {', '.join(unknown)}")
    missing = [p.name for p in parts if p.default is MISSING and p.name not in given]
    if missing:
        raise PrivacyError(model=name, problem=f"missing parameter: {', '.join(missing)}")
    return kind.made(given)


def _parts(kind: type[Promise]) -> list[Field[object]]:
    return [part for part in fields(kind) if part.init]
