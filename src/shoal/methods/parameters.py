"""Parameters of methods as texts: how they are described, and how they are read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import fields
from types import NoneType, UnionType
from typing import Literal, get_args, get_origin, get_type_hints

from shoal.core.errors import MethodError
from shoal.methods.method import Method

_TRUTHS: Mapping[str, bool] = {
    **dict.fromkeys(("true", "yes", "on", "1"), True),
    **dict.fromkeys(("false", "no", "off", "0"), False),
}
_WORDS: Mapping[type, str] = {bool: "true or false", int: "whole number", float: "number"}


def type_words(kind: type[Method], name: str) -> str:
    """Return what a parameter may be.

    Example:
        >>> from shoal.methods.catalogue import Refine
        >>> type_words(Refine, "effort"), type_words(Refine, "seconds")
        ('fast, normal or best', 'number above 0')
    """
    (limits,) = (each.metadata for each in fields(kind) if each.name == name)
    words = choices(kind, name)
    if words:
        return f"{', '.join(words[:-1])} or {words[-1]}"
    number = next(_WORDS[each] for each in _WORDS if each in _kinds(kind, name))
    if limits["least"] is not None:
        return f"{number}, at least {limits['least']:g}"
    return number if limits["above"] is None else f"{number} above {limits['above']:g}"


def from_texts(kind: type[Method], given: Sequence[str]) -> dict[str, object]:
    """Return parameters that were written as NAME=VALUE, each as the type that the method wants.

    Raises:
        MethodError: one without an equals sign, or twice; a name that the method does not take.
            Whether a value fits, the method says itself.

    Example:
        >>> from shoal.methods.catalogue import Refine
        >>> from_texts(Refine, ["effort=best", "seconds=2"])
        {'effort': 'best', 'seconds': 2.0}
    """
    found: dict[str, object] = {}
    known = {each.name for each in fields(kind)}
    for text in given:
        name, mark, value = text.partition("=")
        name = name.strip().replace("-", "_")
        if not mark:
            raise MethodError(
                problem=f"--set {name}: give a value, such as --set effort=best; "
                f"see `shoal methods {kind.name}`"
            )
        if name in found:
            raise MethodError(problem=f"--set {name} is given twice; keep one of them")
        found[name] = _value(kind, name, value.strip()) if name in known else value
    kind.check(found)
    return found


def _value(kind: type[Method], name: str, text: str) -> object:
    """Return a text as the type of a parameter; what is none stays a text, to be refused."""
    kinds = _kinds(kind, name)
    if bool in kinds:
        return _TRUTHS.get(text.lower(), text)
    if choices(kind, name):
        return text
    if NoneType in kinds and text.lower() in ("", "none"):
        return None
    with suppress(ValueError):
        return int(text) if int in kinds else float(text)
    return text


def _kinds(kind: type[Method], name: str) -> tuple[object, ...]:
    hint = get_type_hints(kind)[name]
    return get_args(hint) if isinstance(hint, UnionType) else (hint,)


def choices(kind: type[Method], name: str) -> tuple[str, ...]:
    """Return the words that a parameter may be; none where it is a number."""
    hint = get_type_hints(kind)[name]
    if get_origin(hint) is Literal:
        return get_args(hint)
    return ("true", "false") if hint is bool else ()
