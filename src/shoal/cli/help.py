"""Help: options in panels, examples at the end, at most 80 columns wide.

It is written here and not by Rich: that would take as long to load as all else that a help needs.
"""

from __future__ import annotations

import re
import shutil
import sys
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from inspect import cleandoc
from itertools import takewhile
from typing import TYPE_CHECKING, NamedTuple

from typer.core import TyperCommand, TyperGroup

from shoal.cli.colour import BOLD, CYAN, DIM, is_coloured, painted
from shoal.cli.values import read_plainly

if TYPE_CHECKING:
    from typer import Typer
    from typer._click.core import Context

PANELS = (
    *("Input", "Roles", "Promise", "Method", "Question", "Budget", "xk-anonymity"),
    *("Output", "Checks", "Report", "Releases", "Engine"),
)
"""The panels that have a place of their own; others stand behind them."""

REST = "Options"
WIDTH = 80
_TERM = 26  # columns for an option before its words


class Row(NamedTuple):
    """A line of a panel: what is written, and what it means."""

    term: str
    text: str
    is_argument: bool = False


def page(command: TyperCommand | TyperGroup, ctx: object) -> str:
    """Return the help of a command."""
    width = max(min(shutil.get_terminal_size().columns, WIDTH), 50) - 2
    blocks = [_usage(ctx), *_description(command, width)]
    blocks += [_panel(title, rows, width) for title, rows in _panels(command, ctx).items()]
    examples = cleandoc(str(getattr(command.callback, "examples", "") or ""))
    if examples:
        blocks.append("\n".join(["Examples:", *(f"  {x}".rstrip() for x in examples.split("\n"))]))
    if command.epilog:
        blocks.append(textwrap.fill(command.epilog, width))
    text = "\n\n".join(blocks)
    return _coloured(text) if is_coloured(sys.stdout) else text


def _usage(ctx: object) -> str:
    command, words = getattr(ctx, "command"), [getattr(ctx, "command_path"), "[OPTIONS]"]  # noqa: B009
    for each in command.params:
        if each.param_type_name == "argument":
            name = str(each.metavar or each.name.upper()).strip("[]")
            words.append(name if each.required else f"[{name}]")
    if isinstance(command, TyperGroup):
        words.append("COMMAND …")
    return "Usage: " + " ".join(words)


def _description(command: TyperCommand | TyperGroup, width: int) -> list[str]:
    paragraphs = cleandoc(command.help or "").split("\n\n")
    return ["\n\n".join(textwrap.fill(" ".join(each.split()), width) for each in paragraphs)]


def _panels(command: TyperCommand | TyperGroup, ctx: object) -> Mapping[str, Sequence[Row]]:
    found: dict[str, list[Row]] = {name: [] for name in PANELS}
    for each in command.get_params(ctx):  # type: ignore[arg-type]
        if not getattr(each, "hidden", False):
            panel = getattr(each, "rich_help_panel", None) or REST
            is_argument = each.param_type_name == "argument"
            rows = found.setdefault(panel, [])
            rows.insert(sum(x.is_argument for x in rows) if is_argument else len(rows), _row(each))
    if REST in found:  # the help option itself stands last
        found[REST] = found.pop(REST)
    if isinstance(command, TyperGroup):
        found["Commands"] = [
            Row(name, first_sentence(each.help or "")) for name, each in command.commands.items()
        ]
    return {title: rows for title, rows in found.items() if rows}


def first_sentence(text: str) -> str:
    """Return how a help begins, without its full stop."""
    return re.split(r"(?<=\.)\s", " ".join(text.split("\n\n")[0].split()))[0].rstrip(".")


def _row(option: object) -> Row:
    """Return an option with its value, its words and its default."""
    opts, others, name = (
        list(getattr(option, key, ())) for key in ("opts", "secondary_opts", "name")
    )
    metavar = getattr(option, "metavar", None)
    default = getattr(option, "default", None)
    is_argument = getattr(option, "param_type_name", "") == "argument"
    if is_argument:
        term = str(metavar or "".join(name).upper()).strip("[]")
    else:
        term = ", ".join(sorted(opts, key=len))
        if others:
            term = f"--[no-]{opts[0].removeprefix('--')}"
        elif not getattr(option, "is_flag", False):
            term += f" {metavar or _TYPES.get(_type(option), 'TEXT')}"
    shown = getattr(option, "show_default", True)
    words = str(getattr(option, "help", "") or "")
    if isinstance(shown, str):
        words += f" [default: {shown}]"
    elif shown and default is not None and default is not False and default != []:
        words += f" [default: {'on' if default is True else default}]"
    if getattr(option, "required", False):
        words += " [required]"
    return Row(term, words, is_argument)


_TYPES = {"int": "N", "float": "X"}


def _type(option: object) -> str:
    described = getattr(getattr(option, "type_descriptor", None), "annotation", None)
    return getattr(described, "__name__", "")


def _panel(title: str, rows: Iterable[Row], width: int) -> str:
    lines = [f"{title}:"]
    margin = " " * (_TERM + 2)
    for term, text, _ in rows:
        wrapped = textwrap.wrap(text, width - len(margin), break_on_hyphens=False) or [""]
        if len(term) > _TERM - 2:
            lines += [f"  {term}", *(f"{margin}{line}" for line in wrapped)]
            continue
        lines.append(f"  {term:<{_TERM}}{wrapped[0]}".rstrip())
        lines += [f"{margin}{line}" for line in wrapped[1:]]
    return "\n".join(lines)


def _coloured(text: str) -> str:
    text = re.sub(r"^(Usage:|[A-Z][\w -]*:)(?=$| shoal)", lambda m: painted(m[0], BOLD), text,
                  flags=re.MULTILINE)  # fmt: skip
    text = re.sub(r"^xk-anonymity:$", lambda m: painted(m[0], BOLD), text, flags=re.MULTILINE)
    text = re.sub(r"^  (-[^\s]+(?:, --[^\s]+)?)", lambda m: f"  {painted(m[1], CYAN)}", text,
                  flags=re.MULTILINE)  # fmt: skip
    text = re.sub(r"^  #.*$", lambda m: painted(m[0], DIM), text, flags=re.MULTILINE)
    return re.sub(r"\[(?:default: [^\]]*|required)\]", lambda m: painted(m[0], DIM), text)


def _answer_help(ctx: Context, words: Iterable[str]) -> None:
    """Print the help and leave, where it is asked for.

    Typer would make a truth of `--help` first, and for that it loads all of Pydantic.
    """
    before = takewhile(lambda word: word != "--", words)
    if not ctx.resilient_parsing and any(word in ctx.help_option_names for word in before):
        print(ctx.get_help())
        ctx.exit()


class Command(TyperCommand):
    """A command whose help stands in panels."""

    def parse_args(self, ctx: Context, args: list[str]) -> list[str]:
        """Read the command line."""
        _answer_help(ctx, args)
        read_plainly(self.get_params(ctx))
        return super().parse_args(ctx, args)

    def get_help(self, ctx: object) -> str:
        """Return the help; it is coloured already where that is right."""
        _keep_colours(ctx)
        return page(self, ctx)


class Group(TyperGroup):
    """Commands whose help stands in panels."""

    def parse_args(self, ctx: Context, args: list[str]) -> list[str]:
        """Read the command line as far as the name of a command, which reads the rest."""
        _answer_help(ctx, takewhile(lambda word: word[:1] == "-", args))
        read_plainly(self.get_params(ctx))
        return super().parse_args(ctx, args)

    def get_help(self, ctx: object) -> str:
        """Return the help; it is coloured already where that is right."""
        _keep_colours(ctx)
        return page(self, ctx)


def _keep_colours(ctx: object) -> None:
    """Let what prints the help leave its colours as they are."""
    ctx.color = is_coloured(sys.stdout)  # type: ignore[attr-defined]


def in_panels(app: Typer) -> Typer:
    """Return a group of commands, every help of it in panels."""
    app.info.cls = Group
    for each in app.registered_commands:
        each.cls = Command
    return app
