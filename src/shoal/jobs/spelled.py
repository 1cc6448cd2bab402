"""Keywords of a function, spelled out for `help`, notebooks and whoever misspells one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from inspect import Parameter, signature
from typing import TypeVar, cast

from shoal.core.suggest import did_you_mean, nearest
from shoal.methods.registry import METHODS

Function = TypeVar("Function", bound=Callable[..., object])


def spelled(words: type) -> Callable[[Function], Function]:
    """Spell out the keywords of a function for `help` and notebooks; answer a misspelt one.

    words: the TypedDict of its `**words`.
    """

    def decorate(function: Function) -> Function:
        named = [p for p in signature(function).parameters.values() if p.kind is not p.VAR_KEYWORD]
        more = [
            Parameter(name, Parameter.KEYWORD_ONLY, default=None, annotation=_text(hint))
            for name, hint in words.__annotations__.items()
        ]
        known = [each.name for each in (*named, *more)]

        @wraps(function)
        def checked(*args: object, **given: object) -> object:
            for name in given:
                if name not in known:
                    text = f"{function.__name__}() got an unexpected keyword argument {name!r}"
                    raise TypeError(text + _meant(name, known))
            return function(*args, **given)

        spelt = signature(function).replace(parameters=[*named, *more])
        checked.__signature__ = spelt  # type: ignore[attr-defined]
        return cast(Function, checked)

    return decorate


def _text(hint: object) -> str:
    return str(getattr(hint, "__forward_arg__", hint))


def _meant(name: str, known: Sequence[str]) -> str:
    owners: dict[str, str] = {}
    if "method" in known:
        for kind in METHODS.values():
            for each in kind.parameters():
                owners.setdefault(each.name, kind.__name__)
    found = nearest(name, [*known, *owners])
    if found in owners and found not in known:
        return f"; it belongs to a method: method=shoal.{owners[found]}({found}=…)"
    return did_you_mean(name, known)
