"""The command `metrics`."""

from __future__ import annotations

from typing import Annotated

import typer

from shoal.cli import options as opt
from shoal.cli.render import measures
from shoal.jobs.requests import MetricsRequest


@opt.command(
    examples="""
    # what the release lost, from its labels alone
    shoal metrics stays.csv release.csv --schema stays.schema.yaml
    """
)
def metrics(
    place: Annotated[opt.InputOptions, opt.Use(without=("driver_rows",))],
    release: Annotated[
        str,
        typer.Argument(metavar="RELEASE", help="What was made of it.", rich_help_panel="Input"),
    ],
    columns: Annotated[
        opt.ColumnOptions, opt.Use(without=("identifying", "neutral", "waive", "fold_case"))
    ],
    answer: opt.JsonOptions,
    suppressed: Annotated[
        str | None,
        typer.Option(
            metavar="remove|star",
            help="How it suppresses (star: every cell is *).",
            show_default="records that are all * are suppressed",
            rich_help_panel="Input",
        ),
    ] = None,
) -> int:
    """Measure what a release lost, from its labels."""
    from shoal.jobs.measure import measure

    schema = columns.read()
    if suppressed not in (None, "remove", "star"):
        raise opt.refusal("--suppressed", "must be remove or star")
    request = MetricsRequest(
        table=place.input(),
        release=place.beside(release),
        schema=schema,
        starred=None if suppressed is None else suppressed == "star",
        infer=columns.infer,
        separator=place.sep,
    )
    document = measure(request)
    answer.print(document, measures(document))
    return 0
