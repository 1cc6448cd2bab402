"""Option groups: what becomes of them on a command line."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from inspect import signature
from typing import Annotated, ClassVar

import pytest
import typer
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.cli.main import app
from shoal.cli.options.groups import Group, Option, Use, argument, command, generated, made, option


@dataclass(frozen=True, kw_only=True)
class Colours(Group):
    """A group with every sort of option."""

    panel: ClassVar[str] = "Colours"

    place: str = argument("Where.", "PLACE")
    hue: str = option("red", "Which.", "NAME")
    depth: int | None = option(None, "How deep.", shown="as deep as it goes")
    is_bright: bool = option(False, "Bright.")
    is_warm: bool | None = option(None, "Warm.")
    more: Mapping[str, object] = generated(
        lambda: {"x": (int | None, Option("An x.", flags=("-x", "--x")))}
    )


NAMES = ["place", "hue", "depth", "is_bright", "is_warm", "x"]


def called(*argv, use=None):
    """Run a command that is handed the group; return the group."""
    seen = []
    kind = Colours if use is None else Annotated[Colours, use]

    def paint(colours, extra=None):
        seen.append((colours, extra))
        return 0

    paint.__annotations__ = {"colours": kind, "extra": Annotated[str | None, typer.Option()]}
    one = typer.Typer(add_completion=False)
    one.command()(command(paint))
    typer.main.get_command(one).main(args=list(argv), standalone_mode=False)
    return seen[0]


def test_a_command_is_handed_its_groups_and_its_own_options():
    colours, extra = called("wall", "--hue", "blue", "--depth", "3", "--is-bright", "-x", "7",
                            "--extra", "e")  # fmt: skip
    assert colours == Colours(
        place="wall", hue="blue", depth=3, is_bright=True, is_warm=None, more={"x": 7}
    )
    assert extra == "e"


def test_what_is_not_given_has_its_default():
    assert called("wall") == (Colours(place="wall", more={"x": None}), None)


def test_a_truth_that_is_not_off_by_default_can_be_denied():
    assert called("wall", "--no-is-warm")[0].is_warm is False
    with pytest.raises(Exception, match="No such option"):
        called("wall", "--no-is-bright")


def test_an_argument_must_be_given():
    with pytest.raises(Exception, match="Missing"):
        called("--hue", "blue")


def test_a_use_changes_help_and_default_and_leaves_options_out():
    use = Use(without=("depth", "x"), help={"hue": "Paint."}, default={"hue": "green"})
    colours, _ = called("wall", use=use)
    assert colours == Colours(place="wall", hue="green")
    for gone in ("--depth", "-x"):
        with pytest.raises(Exception, match="No such option"):
            called("wall", gone, "3", use=use)
    about = {each.name: each.annotation.__metadata__[0] for each in use.options(Colours)}
    assert about["hue"].help == "Paint."
    assert {each.rich_help_panel for each in about.values()} == {"Colours"}


@settings(max_examples=30)
@given(only=st.sets(st.sampled_from(NAMES)), without=st.sets(st.sampled_from(NAMES)))
def test_a_use_takes_exactly_what_it_names(only, without):
    found = [each.name for each in Use(only=tuple(only), without=tuple(without)).options(Colours)]
    assert found == [n for n in NAMES if n not in without and (not only or n in only)]


@settings(max_examples=30)
@given(st.dictionaries(st.sampled_from(NAMES), st.integers()))
def test_made_keeps_what_is_given_and_the_defaults_of_the_rest(values):
    group = made(Colours, values)
    defaults = Colours()
    for each in fields(Colours):
        if each.name == "more":
            assert group.more == ({"x": values["x"]} if "x" in values else {})
        else:
            default = getattr(defaults, each.name)
            assert getattr(group, each.name) == values.get(each.name, default)


@dataclass(frozen=True, kw_only=True)
class Frames(Group):
    """A group that shares an option with another."""

    panel: ClassVar[str] = "Frames"

    hue: str = option("red", "Of the frame, too.", "NAME")
    width: int = option(1, "How wide.")


def test_an_option_of_two_groups_is_one_option_that_the_second_explains():
    seen = []

    def paint(colours, frames):
        seen.append((colours, frames))
        return 0

    paint.__annotations__ = {"colours": Colours, "frames": Frames}
    one = typer.Typer(add_completion=False)
    one.command()(command(paint))
    shown = typer.main.get_command(one)
    assert sorted(each.name for each in shown.params) == sorted([*NAMES, "width"])
    (hue,) = (each for each in shown.params if each.name == "hue")
    assert (hue.help, hue.rich_help_panel) == ("Of the frame, too.", "Frames")
    shown.main(args=["wall", "--hue", "blue"], standalone_mode=False)
    ((colours, frames),) = seen
    assert colours == Colours(place="wall", hue="blue", more={"x": None})
    assert frames == Frames(hue="blue")


def test_a_command_keeps_its_name_and_its_words():
    def paint(colours):
        """Paint a wall."""
        return 0

    paint.__annotations__ = {"colours": Colours}
    made_of = command(paint)
    assert (made_of.__name__, made_of.__doc__) == ("paint", "Paint a wall.")
    assert list(signature(made_of).parameters) == NAMES


def commands(group=None, path=()):
    group = group or typer.main.get_command(app)
    for name, each in group.commands.items():
        if hasattr(each, "commands"):
            yield from commands(each, (*path, name))
        else:
            yield pytest.param(each, id=" ".join((*path, name)))


@pytest.mark.parametrize("each", list(commands()))
def test_no_command_has_two_options_that_are_written_alike(each):
    flags = [flag for p in each.params for flag in (*p.opts, *p.secondary_opts) if flag[0] == "-"]
    assert len(flags) == len(set(flags))
    assert all(p.help for p in each.params if p.name != "help")


def test_options_that_commands_share_stand_in_one_panel():
    panels = {}
    for each in (case.values[0] for case in commands()):
        for p in each.params:
            panels.setdefault(max(p.opts, key=len), set()).add(getattr(p, "rich_help_panel", None))
    for flag in (
        "--schema",
        "--qi",
        "--json",
        "--sep",
        "--encoding",
        "--k",
        "--method",
        "--engine",
    ):
        assert len(panels[flag]) == 1, flag
        assert None not in panels[flag]
