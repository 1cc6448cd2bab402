"""The command `import`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from shoal.cli import options as opt

if TYPE_CHECKING:
    from shoal.jobs.imports import Optimum, Written


@opt.command(
    examples="""
    # a project of ARX: schema, hierarchies, promise
    shoal import study.deid --out study
    # … and its table; is the node that ARX chose the best one here, too?
    shoal import study.deid --out whole --with-table --compare
    # a hierarchy of Amnesia, for a column of another name
    shoal import ages.txt --column age --out ages
    # the names of numbers in a file of SPSS, as hierarchies
    shoal import survey.sav --out survey
    """
)
def import_(
    source: Annotated[
        str,
        typer.Argument(
            metavar="FILE",
            help="ARX project (.deid), Amnesia hierarchy or rules (.txt, .json), or .sav, .dta.",
            rich_help_panel="Input",
        ),
    ],
    answer: opt.JsonOptions,
    out: Annotated[str, typer.Option(metavar="DIR", help="New folder.", rich_help_panel="Output")],
    column: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN", help="The column of a single hierarchy.", rich_help_panel="Input"
        ),
    ] = None,
    partly: Annotated[
        bool,
        typer.Option(
            "--partly",
            help="Leave out promises that have no counterpart here.",
            rich_help_panel="Input",
        ),
    ] = False,
    with_table: Annotated[
        bool,
        typer.Option(
            "--with-table", help="Write the project's raw table, too.", rich_help_panel="Output"
        ),
    ] = False,
    compare: Annotated[
        bool,
        typer.Option(
            "--compare",
            help="Search the lattice here: is the optimum that of the project?",
            rich_help_panel="Checks",
        ),
    ] = False,
) -> int:
    """Turn a project of ARX, or files of Amnesia or SPSS, into a schema and hierarchies."""
    from shoal.jobs.imports import ImportRequest, import_project

    request = ImportRequest(path=source, partly=partly, column=column)
    made = import_project(request, out, with_table=with_table, compare=compare)
    answer.print(made.to_document(), "\n".join(_lines(made, out)))
    return 0


def _lines(made: Written, out: str) -> list[str]:
    lines = [f"written to {out}: {', '.join(made.files)}"]
    lines += [f"notice: {notice}" for notice in made.found.notices]
    return lines if made.optimum is None else [*lines, *_optimum_lines(made.optimum)]


def _optimum_lines(found: Optimum) -> list[str]:
    word = "the same node" if found.same else "ANOTHER node"
    width = max(map(len, found.ours), default=0) + 2
    lines = [f"the search here finds {word} (loss {found.loss:.6g}):"]
    for name, level in found.ours.items():
        lines.append(f"  {name:<{width}}level {level}, in the project {found.theirs.get(name)}")
    return lines
