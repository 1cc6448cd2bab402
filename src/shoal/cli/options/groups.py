"""Option groups: a frozen dataclass a group, and commands that are handed whole groups.

A field of a group is an option of the command line. `command` puts the options of all groups
in a function's signature into its command line, and hands the function the groups.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import Field, dataclass, field, fields
from inspect import Parameter, Signature, cleandoc, signature
from typing import (
    Annotated,
    ClassVar,
    NamedTuple,
    TypeVar,
    get_args,
    get_origin,
    get_type_hints,
    overload,
)

import typer

Default = TypeVar("Default")

_KIND = Parameter.KEYWORD_ONLY  # what is required may stand behind what is not


@dataclass(frozen=True, kw_only=True)
class Group:
    """Options that belong together; `panel` is their title in a help."""

    panel: ClassVar[str]


class Option(NamedTuple):
    """What a help says of an option.

    Attributes:
        shown: whether the default is shown, or what is shown for it.
        flags: how it is written; by default by its name, and --no- before that for a truth
            that is not off unless given.
        is_argument: it is given by its place.
        panel: its place in a help; None: that of its group.

    What a shell proposes for it follows from `metavar`; see `shoal.cli.complete`.
    """

    help: str
    metavar: str | None = None
    shown: bool | str = True
    flags: tuple[str, ...] = ()
    is_argument: bool = False
    panel: str | None = None

    def parameter(self, name: str, kind: object, default: object, panel: str) -> Parameter:
        """Return the option as a parameter of a function, annotated for Typer."""
        panel = self.panel or panel
        if self.is_argument:
            about = typer.Argument(metavar=self.metavar, help=self.help, rich_help_panel=panel)
            return Parameter(name, _KIND, default=default, annotation=Annotated[kind, about])
        flags = self.flags or ((f"--{name.replace('_', '-')}",) if default is False else ())
        about = typer.Option(
            *flags, metavar=self.metavar, help=self.help, show_default=self.shown,
            rich_help_panel=panel,
        )  # fmt: skip
        return Parameter(name, _KIND, default=default, annotation=Annotated[kind, about])


def option(
    default: Default,
    text: str,
    metavar: str | None = None,
    *,
    shown: bool | str = True,
    flags: tuple[str, ...] = (),
    panel: str | None = None,
) -> Default:
    """Declare an option of a group; see `Option`."""
    about = Option(text, metavar, shown, flags, panel=panel)
    return field(default=default, metadata={"about": about})


def argument(text: str, metavar: str) -> str:
    """Declare an argument of a group, which must be given."""
    return field(default="", metadata={"about": Option(text, metavar, is_argument=True)})


Generated = Mapping[str, tuple[object, Option]]


def generated(options: Callable[[], Generated]) -> Mapping[str, object]:
    """Declare a field that stands for many options and holds their values by name.

    options: gives the type and the words of each option by its name.
    """
    return field(default_factory=dict, metadata={"options": options})


@dataclass(frozen=True, kw_only=True)
class Use:
    """What a command takes of a group: `Annotated[InputOptions, Use(without=("query",))]`.

    Attributes:
        only: the options that it takes; all, if empty.
        without: options that it does not take; the group has their defaults.
        help: what options mean to this command, where it is not what they mean to others.
        default: what holds for this command where an option is not given.
    """

    only: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    help: Mapping[str, str] = field(default_factory=dict)
    default: Mapping[str, object] = field(default_factory=dict)

    def options(self, kind: type[Group]) -> Iterator[Parameter]:
        """Yield the options of a group that the command takes."""
        hints = get_type_hints(kind)
        for each in fields(kind):
            many = _many(each)
            default = None if many else each.default
            one = {each.name: (hints[each.name], each.metadata["about"])} if not many else {}
            for name, (type_, about) in {**many, **one}.items():
                if name not in self.without and (not self.only or name in self.only):
                    about = about._replace(help=self.help.get(name, about.help))
                    usual = Parameter.empty if about.is_argument else default
                    given = self.default.get(name, usual)
                    yield about.parameter(name, type_, given, kind.panel)


def _many(each: Field[object]) -> Generated:
    options: Callable[[], Generated] = each.metadata.get("options", dict)
    return options()


def made(kind: type[Group], given: Mapping[str, object]) -> Group:
    """Return a group with the values of its options; those not given have their defaults."""
    values: dict[str, object] = {}
    for each in fields(kind):
        many = _many(each)
        if many:
            values[each.name] = {name: given[name] for name in many if name in given}
        elif each.name in given:
            values[each.name] = given[each.name]
    make: Callable[..., Group] = kind
    return make(**values)


@overload
def command(function: Callable[..., int], /) -> Callable[..., int]: ...
@overload
def command(*, examples: str) -> Callable[[Callable[..., int]], Callable[..., int]]: ...
def command(
    function: Callable[..., int] | None = None, /, *, examples: str = ""
) -> Callable[..., int] | Callable[[Callable[..., int]], Callable[..., int]]:
    """Make a function a command: options of groups become its own, and its help has examples.

    examples: lines of a shell, each below a comment that says what it is for; they are run by
        the tests.
    """

    def decorate(function: Callable[..., int]) -> Callable[..., int]:
        run = _flat(function)
        run.examples = cleandoc(examples)  # type: ignore[attr-defined]
        return run

    return decorate if function is None else decorate(function)


def _flat(function: Callable[..., int]) -> Callable[..., int]:
    """Return a function as Typer wants it: an option a parameter, those of groups included."""
    hints = get_type_hints(function, include_extras=True)
    groups: dict[str, tuple[type[Group], list[str]]] = {}
    places: list[Parameter] = []
    for place in signature(function).parameters.values():
        hint = hints[place.name]
        kind, use = get_args(hint)[:2] if get_origin(hint) is Annotated else (hint, Use())
        if isinstance(kind, type) and issubclass(kind, Group):
            options = list(use.options(kind))
            groups[place.name] = kind, [each.name for each in options]
            # An option that two groups share is one option, explained by the second.
            shared = {each.name for each in options}
            places = [each for each in places if each.name not in shared] + options
        else:
            places.append(place.replace(annotation=hint, kind=_KIND))

    taken = {name for _, names in groups.values() for name in names}

    def run(**given: object) -> int:
        handed = {
            place: made(kind, {name: given[name] for name in names})
            for place, (kind, names) in groups.items()
        }
        own = {name: value for name, value in given.items() if name not in taken}
        return function(**handed, **own)

    run.__name__, run.__doc__ = function.__name__, function.__doc__
    run.__signature__ = Signature(places)  # type: ignore[attr-defined]
    run.__annotations__ = {place.name: place.annotation for place in places}
    return run
