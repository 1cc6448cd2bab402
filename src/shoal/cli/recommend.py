"""The command `recommend`."""

from __future__ import annotations

from typing import Annotated

import typer

from shoal.cli import options as opt
from shoal.cli.xk import XkOptions, applied_lines, given
from shoal.jobs.requests import Output

_FILE = opt.Use(only=("source", "sep", "encoding", "skip_lines"))
_APPLIED = ("xk", "false_records", "steps", "suppression_limit", "seed")  # with --apply


@opt.command(
    examples="""
    # which fraction of k is enough, and what each choice costs
    shoal recommend stays.csv --schema stays.schema.yaml -k 4 --replace-promise
    """
)
def recommend(
    context: typer.Context,
    place: Annotated[opt.InputOptions, _FILE],
    columns: Annotated[opt.ColumnOptions, opt.Use(without=("date_format", "dates", "infer"))],
    promised: Annotated[opt.PromiseOptions, opt.Use(only=("k", "l", "replace_promise"))],
    xk: XkOptions,
    method: Annotated[opt.MethodOptions, opt.Use(only=("suppression_limit", "seed"))],
    written: Annotated[opt.OutputOptions, opt.Use(only=("out",))],
    answer: opt.JsonOptions,
    prefer: Annotated[
        str,
        typer.Option(
            metavar="originals|precision",
            help="What counts more; else neither.",
            rich_help_panel="Method",
        ),
    ] = "none",
    min_precision: Annotated[
        float | None,
        typer.Option(metavar="P", help="Lowest precision, percent.", rich_help_panel="Method"),
    ] = None,
    apply: Annotated[
        bool, typer.Option("--apply", help="Carry it out; needs --out.", rich_help_panel="Output")
    ] = False,
) -> int:
    """Recommend the fraction of k (xk-anonymity), predict the outcome, carry it out."""
    from shoal import api

    schema, limit = columns.read(promised), method.suppression_limit
    choices = xk.choices(columns, limit, prefer=prefer, min_precision=min_precision)
    if apply != (written.out is not None):
        raise opt.refusal("recommend", "--apply and --out FILE go together")
    if written.out == "-":
        raise opt.refusal("--out", "recommend writes a file; give its name")
    idle = {} if apply else given(context, among=_APPLIED)
    if idle:
        named = ", ".join(idle[name] for name in _APPLIED if name in idle)
        raise opt.refusal("recommend", f"{named}: only with --apply")
    table = place.file(place.source)
    found = api.recommend(table, schema, choices=choices, separator=place.sep)
    document = found.to_document()
    lines = [
        found.table(),
        "",
        *found.explanation(),
        "\nAll techniques worked out on this table; no other way beats these:\n",
        found.frontier_table(),
        *found.notices,
    ]
    if apply:
        output = Output(out=written.out, inputs=(*place.files(), *columns.files()))
        done = xk.release(table, schema, choices, output=output, seed=method.seed, sep=place.sep)
        document["applied"] = done.to_document()
        lines += [f"\nCarried out, in {written.out}:", *applied_lines(done)]
    answer.print(document, "\n".join(lines))
    return 0
