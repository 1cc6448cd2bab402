"""The command `settle`."""

from __future__ import annotations

from typing import Annotated

import typer

from shoal.cli import options as opt
from shoal.cli.encode import LeastK, ModelFile, Trusted, trusted
from shoal.cli.render import warning_lines
from shoal.schema.schema import Schema

_KNOWN = opt.Use(
    only=("schema",), help={"schema": "Refuse a model that protects less than this schema."}
)


@opt.command(
    examples="""
    # what devices sent today becomes one batch that keeps the model's promise
    shoal settle model.json encoded.jsonl --out batch.csv
    # classes that are too small wait for tomorrow's records
    shoal settle model.json encoded.jsonl --waiting waiting.jsonl --out batch.csv
    """
)
def settle(
    model: ModelFile,
    encoded: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE", help="Encoded records: JSON lines or CSV.", rich_help_panel="Input"
        ),
    ],
    out: Annotated[
        str,
        typer.Option(metavar="FILE", help="The batch (.csv, .jsonl).", rich_help_panel="Output"),
    ],
    columns: Annotated[opt.ColumnOptions, _KNOWN],
    promised: Annotated[opt.PromiseOptions, opt.Use(without=("replace_promise",))],
    answer: opt.JsonOptions,
    waiting: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Keep classes that are too small here for the next batch.",
            rich_help_panel="Output",
        ),
    ] = None,
    trust: Trusted = None,
    min_k: LeastK = None,
) -> int:
    """Make a batch of encoded records safe: join classes that are too small, and verify."""
    from shoal.jobs.settle import SettleRequest, settle_files

    document = settle_files(
        SettleRequest(
            model=trusted(model, trust, False, min_k),
            place=model,
            encoded=encoded,
            out=out,
            waiting=waiting,
            schema=None if columns.schema is None else Schema.load(columns.schema),
            privacy=promised.promise() or None,
        )
    )
    counts = {name: n for name, n in document.items() if isinstance(n, int)}
    lines = [
        f"{counts['released']:,} of {counts['records']:,} encoded records released in {out}, "
        f"{counts['suppressed']:,} suppressed, {counts['waiting']:,} waiting",
        f"  classes     {counts['classes']:,}, {counts['joined']:,} were joined with a neighbour",
        *warning_lines(_texts(document["warnings"])),
    ]
    if "settled_before" in counts:
        lines.append("  these files were settled before; nothing was released again")
    answer.print(document, "\n".join(lines))
    return 0


def _texts(values: object) -> list[str]:
    return [str(value) for value in values] if isinstance(values, list) else []
