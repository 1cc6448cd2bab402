"""The commands `edge …`: a model on devices without shoal."""

from __future__ import annotations

from typing import Annotated

import typer

from shoal.cli import options as opt
from shoal.cli.encode import ModelFile

edge = typer.Typer(
    no_args_is_help=True, help="Take a model to devices without shoal.", add_completion=False
)


@edge.command("export")
@opt.command(
    examples="""
    # one file that needs nothing but Python
    shoal edge export model.json --to python --out encoder.py
    """
)
def export(
    model: ModelFile,
    to: Annotated[
        str,
        typer.Option(
            metavar="python|micropython|javascript", help="The language.", rich_help_panel="Output"
        ),
    ],
    out: Annotated[
        str, typer.Option(metavar="FILE", help="The source file.", rich_help_panel="Output")
    ],
    answer: opt.JsonOptions,
) -> int:
    """Write encoder and model as one source file that needs nothing else."""
    from shoal import api

    api.export_model(model, to, out=out)
    answer.print({"out": out, "to": to}, f"written: {out}")
    return 0


@edge.callback()
def _edge() -> None:
    """Take a model to devices without shoal."""
