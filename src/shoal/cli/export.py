"""The command `export`."""

from __future__ import annotations

from typing import Annotated

import typer

from shoal.cli import options as opt


@opt.command(
    examples="""
    # the nearest thing that sdcMicro does, for an office that must compare
    shoal export stays.csv --schema stays.schema.yaml -k 5 --out compare.R
    """
)
def export(
    place: Annotated[opt.InputOptions, opt.Use(only=("source", "sep"))],
    columns: opt.ColumnOptions,
    promised: opt.PromiseOptions,
    answer: opt.JsonOptions,
    out: Annotated[
        str, typer.Option(metavar="FILE", help="Script (.R).", rich_help_panel="Output")
    ],
    to: Annotated[
        str,
        typer.Option("--to", metavar="sdcmicro", help="For which tool.", rich_help_panel="Output"),
    ] = "sdcmicro",
) -> int:
    """Write a script of R that does the nearest thing with sdcMicro."""
    from shoal.jobs.exports import ExportRequest, export_script

    schema = promised.added_to(columns.read(promised))
    request = ExportRequest(
        table=place.source, schema=schema, out=out, tool=to, separator=place.sep
    )
    files = export_script(request)
    answer.print({"files": list(files)}, f"written: {', '.join(files)}")
    return 0
