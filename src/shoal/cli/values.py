"""Values of options, read as what they are.

Typer reads them through Pydantic, which takes a tenth of a second to load: as long as all the
rest of a help. Texts, numbers and truths need none of it; what is none of these is left to Typer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Union, get_args, get_origin

import typer

if TYPE_CHECKING:
    from typer._click.core import Context, Parameter
    from typer.core import _TyperParameter


def _whole(text: str) -> int:
    return int(text)


def _truth(text: str) -> bool:
    return {"true": True, "1": True, "false": False, "0": False}[text.lower()]


_READ: Mapping[type, tuple[Callable[[str], object], str]] = {
    str: (str, "a text"),
    int: (_whole, "a whole number"),
    float: (float, "a number"),
    bool: (_truth, "true or false"),
}


@dataclass(frozen=True, slots=True)
class Value:
    """Reads the value of one option, in the place of Typer's adapter."""

    kind: type

    def coerce(self, value: object, param: _TyperParameter, ctx: Context) -> object:
        """Return what was written as what the command takes."""
        if value is None:
            return () if param.multiple or param.nargs == -1 else None
        if isinstance(value, (list, tuple)):
            return type(value)(self._read(each, param, ctx) for each in value)
        return self._read(value, param, ctx)

    def _read(self, value: object, param: _TyperParameter, ctx: Context) -> object:
        if not isinstance(value, str):  # a default, which is what it is
            return value
        read, words = _READ[self.kind]
        try:
            return read(value)
        except (ValueError, KeyError):
            raise typer.BadParameter(f"{value!r} is not {words}", ctx=ctx, param=param) from None


def read_plainly(options: Iterable[Parameter]) -> None:
    """Let options with texts, numbers and truths be read by `Value`."""
    for each in options:
        kind = _kind(getattr(getattr(each, "type_descriptor", None), "annotation", None))
        if kind is not None and getattr(each, "_runtime_param", 0) is None:
            each._runtime_param = Value(kind)  # type: ignore[attr-defined]


def _kind(annotation: object) -> type | None:
    """Return str, int, float or bool where values of an option are of that kind."""
    if get_origin(annotation) in (UnionType, Union, list, tuple):
        kinds = [each for each in get_args(annotation) if each not in (NoneType, Ellipsis)]
        return _kind(kinds[0]) if len(kinds) == 1 else None
    return annotation if isinstance(annotation, type) and annotation in _READ else None
