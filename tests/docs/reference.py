"""Write the pages of the reference that come from the source: `make reference`.

`commands.md` has every command's own help, `methods.md` every method with its parameters, `api.md`
every name of `shoal` with its signature and docstring. A test holds them to the source.
"""

from __future__ import annotations

import inspect
import os
import re
import textwrap
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout, suppress
from io import StringIO
from pathlib import Path
from unittest.mock import patch

import typer

import shoal
from shoal.cli.main import app, main
from shoal.methods.registry import METHODS

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "docs" / "reference"
RENEWED = "`make reference` writes this page from the source, and a test holds it to that."
SECTION = re.compile(r"^(Args|Returns|Raises|Yields|Attributes|Example|Guarantee|Law|Note):$")
GROUPS = {
    "Jobs": ("anonymize", "learn", "encode", "verify", "metrics", "risk", "infer", "recommend"),
    "Side by side": ("compare", "reach"),
    "Attacks, drift, statistics": ("attack", "drift", "stats"),
    "Linked tables": ("release_linked", "verify_linked", "risk_linked"),
}


def printed(*words: str) -> str:
    """Return what a command prints, 80 columns wide and without colours."""
    out = StringIO()
    with patch.dict(os.environ, {"COLUMNS": "80", "NO_COLOR": "1"}), redirect_stdout(out):
        main(list(words))
    return out.getvalue().rstrip()


def command_names() -> Iterator[tuple[str, ...]]:
    """Yield the words of every command, those of groups after their group."""
    root = typer.main.get_command(app)
    for name, command in root.commands.items():  # type: ignore[attr-defined]
        yield (name,)
        for inner in getattr(command, "commands", {}):
            yield (name, inner)


COMMANDS = f"""# Commands

The help of each command, as it prints it. {RENEWED}
Exit codes: 0 done (or: safe); 1 not safe, or no solution within the limits; 2 the question could
not be asked; 3 a bug of ours."""


def commands_page() -> str:
    """Return the page of the commands."""
    lines = [COMMANDS, "", "```text", printed("--help"), "```", ""]
    for words in command_names():
        title = f"## shoal {' '.join(words)}"
        lines += [title, "", "```text", printed(*words, "--help"), "```", ""]
    return "\n".join(lines)


ABOUT_METHODS = f"""# Methods

What `shoal methods` and `shoal methods NAME` print. A method is named with `--method NAME`, a
parameter with `--set NAME=VALUE`, in Python with an object such as `shoal.Refine(effort="best")`.
{RENEWED}"""


def methods_page() -> str:
    """Return the page of the methods and their parameters."""
    lines = [ABOUT_METHODS, "", "```text", printed("methods"), "```", ""]
    for name in METHODS:
        lines += [f"## {name}", "", "```text", printed("methods", name), "```", ""]
    return "\n".join(lines)


def prose(docstring: str) -> list[str]:
    """Return a docstring as Markdown: its sections as lists, its examples as code."""
    lines: list[str] = []
    section, body = "", list[str]()
    for line in [*docstring.splitlines(), "Args:"]:
        if SECTION.match(line):
            lines += _section(section, textwrap.dedent("\n".join(body)).strip("\n"))
            section, body = line[:-1], []
        else:
            body.append(line)
    return lines


def _section(name: str, body: str) -> list[str]:
    if not body:
        return []
    if ">>> " in body:
        return [f"**{name}**" if name else "", "", "```pycon", body, "```", ""]
    if name not in ("Args", "Raises", "Attributes"):
        return [*([f"**{name}**", ""] if name else []), body, ""]
    items = re.split(r"\n(?=\S)", body)
    said = (re.match(r"(\*{0,2}\w+)[^:\n]*: (.*)", item, re.DOTALL) for item in items)
    return [
        f"**{name}**", "",
        *(f"* `{each[1]}`: {' '.join(each[2].split())}" for each in said if each), "",
    ]  # fmt: skip


def parameter(each: inspect.Parameter) -> str:
    """Return a parameter as it is written; annotations are strings, and quoted by `inspect`."""
    stars = {each.VAR_POSITIONAL: "*", each.VAR_KEYWORD: "**"}.get(each.kind, "")
    said = "" if each.annotation is each.empty else f": {plain(each.annotation)}"
    equal = " = " if said else "="
    named = getattr(
        each.default, "__name__", repr(each.default)
    )  # a function's repr is its address
    usual = "" if each.default is each.empty else f"{equal}{named}"
    return f"{stars}{each.name}{said}{usual}"


def plain(annotation: object) -> str:
    """Return an annotation without quotes."""
    return annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)


def signature(name: str, thing: Callable[..., object]) -> str:
    """Return a signature, a parameter a line where it is long."""
    found = inspect.signature(thing)
    inner = [parameter(each) for each in found.parameters.values()]
    keyword = next(
        (n for n, each in enumerate(found.parameters.values()) if each.kind is each.KEYWORD_ONLY),
        None,
    )
    if keyword is not None:
        inner.insert(keyword, "*")
    back = "" if found.return_annotation is found.empty else f" -> {plain(found.return_annotation)}"
    short = f"shoal.{name}({', '.join(inner)}){back}"
    if len(short) <= 88:
        return short
    return f"shoal.{name}(\n" + "".join(f"    {each},\n" for each in inner) + f"){back}"


def entry(name: str) -> list[str]:
    """Return what the page says of one name."""
    thing = getattr(shoal, name)
    lines = [f"### {name}", ""]
    if callable(thing) and not (inspect.isclass(thing) and issubclass(thing, BaseException)):
        with suppress(ValueError):  # what has no signature
            lines += ["```python", signature(name, thing), "```", ""]
    lines += prose(inspect.cleandoc(thing.__doc__ or ""))
    if inspect.isclass(thing):
        lines += members(thing)
    return lines


def members(kind: type) -> list[str]:
    """Return the public methods and properties that a class itself explains, a line each."""
    rows: list[str] = []
    for name, member in vars(kind).items():
        function = getattr(member, "__func__", getattr(member, "fget", member))
        text = getattr(function, "__doc__", None)
        if name.startswith("_") or not text or not inspect.isfunction(function):
            continue
        called = "" if isinstance(member, property) else "(…)"
        rows.append(f"* `{name}{called}`: {text.strip().splitlines()[0]}")
    return [*rows, ""] if rows else []


ABOUT_PYTHON = f"""# Python

Every name of `shoal` itself; what is not here is not promised to stay. Tables may be Polars,
pandas, Arrow or DuckDB, or the path of a file. A keyword that is None is the same
as one that is left out.
{RENEWED}"""


def api_page() -> str:
    """Return the page of the names of `shoal`."""
    names = [name for name in shoal.__all__ if name != "__version__"]
    named = {name for group in GROUPS.values() for name in group}
    methods = [kind.__name__ for kind in METHODS.values() if kind.__name__ in names]
    rest = [name for name in names if name not in named and name not in methods]
    lines = [ABOUT_PYTHON, ""]
    for title, group in {**GROUPS, "Methods": methods, "Schemas, promises, results": rest}.items():
        lines += [f"## {title}", ""]
        for name in group:
            lines += entry(name)
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).rstrip() + "\n"


PAGES = {"commands.md": commands_page, "methods.md": methods_page, "api.md": api_page}

if __name__ == "__main__":
    for file, page in PAGES.items():
        (FOLDER / file).write_text(page(), encoding="utf-8")
