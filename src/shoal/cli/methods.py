"""The command `methods`."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import groupby
from typing import Annotated

import typer

from shoal.cli import options as opt
from shoal.cli.options.method import own_flags
from shoal.methods import registry
from shoal.methods.method import Method
from shoal.methods.parameters import type_words


@opt.command(
    examples="""
    # what there is, by family
    shoal methods
    # the parameters of one method, and how they are given
    shoal methods refine
    """
)
def methods(
    answer: opt.JsonOptions,
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="[NAME]", help="Show the parameters of this method.", rich_help_panel="Input"
        ),
    ] = None,
) -> int:
    """List the methods that find a recoding, or show the parameters of one."""
    if name is not None:
        document = _described(name)
        answer.print(document, "\n".join(_lines(document)))
        return 0
    kinds = [(kind.name, kind.family, kind.summary) for kind in registry.listed()]
    found = [
        {"name": each, "family": family, "summary": summary}
        for each, family, summary in (*kinds, *registry.OTHERS)
    ]
    auto, model = registry.AUTO_RELEASE, registry.AUTO
    width = max(len(row["name"]) for row in found) + 2
    lines = [f"auto chooses {auto} for a release, {model} for a model"]
    for family, members in groupby(found, key=lambda row: row["family"]):
        lines.append(f"\n{family}")
        lines += [f"  {row['name']:<{width}}{row['summary']}" for row in members]
    answer.print({"methods": found, "auto": auto, "auto_model": model}, "\n".join(lines))
    return 0


def _described(name: str) -> dict[str, object]:
    """Return what is known of a method as a document."""
    for other, family, summary in registry.OTHERS:
        if name == other:
            return {"name": name, "family": family, "summary": summary, "parameters": []}
    kind = registry.kind_named(name)
    return {
        "name": kind.name,
        "family": kind.family,
        "summary": kind.summary,
        "release": kind.release,
        "takes": [f"--{each.replace('_', '-')}" for each in kind.takes],
        "parameters": [_parameter(kind, each.name) for each in kind.parameters()],
    }


def _parameter(kind: type[Method], name: str) -> dict[str, object]:
    (about,) = (each for each in kind.parameters() if each.name == name)
    flag = own_flags().get(name)
    return {
        "name": name,
        "type": type_words(kind, name),
        "default": about.default,
        "help": about.help,
        "option": flag or f"--set {name}=…",
    }


def _lines(document: Mapping[str, object]) -> list[str]:
    name, parameters = document["name"], document["parameters"]
    lines = [f"{name}: {document['summary']}", f"  family      {document['family']}"]
    if "release" in document:
        how = {"generalize": "intervals and common ancestors", "aggregate": "centroids"}
        lines.append(f"  releases    {how.get(str(document['release']), document['release'])}")
    takes = document.get("takes")
    if isinstance(takes, list) and takes:
        lines.append(f"  looks at    {', '.join(takes)}")
    if not isinstance(parameters, list) or not parameters:
        return [*lines, "  parameters  none of its own"]
    lines.append("  parameters  given as --set NAME=VALUE")
    for each in parameters:
        default = each["default"]
        words = {None: "none", True: "true", False: "false"}.get(default, default)
        lines.append(f"    {each['name']:<14}{each['type']} [default: {words}]")
        old = "" if str(each["option"]).startswith("--set") else f" (or {each['option']})"
        lines.append(f"    {'':<14}{each['help']}{old}")
    return lines
