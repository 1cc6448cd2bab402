"""The command `compose`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from shoal.cli import options as opt
from shoal.cli.render import verdict_lines

if TYPE_CHECKING:
    from shoal.reports.composition import Composition


@opt.command(
    examples="""
    # may these releases be published together?
    shoal compose stays.csv --schema stays.schema.yaml -k 5 \\
        --releases release.csv,second.csv
    """
)
def compose(
    place: Annotated[opt.InputOptions, opt.Use(without=("driver_rows", "engine", "master"))],
    columns: Annotated[opt.ColumnOptions, opt.Use(without=("neutral", "waive"))],
    promised: opt.PromiseOptions,
    answer: opt.AnswerOptions,
    releases: Annotated[
        str | None,
        typer.Option(
            metavar="FILE,FILE", help="Released tables of INPUT.", rich_help_panel="Input"
        ),
    ] = None,
    models: Annotated[
        str | None,
        typer.Option(
            metavar="FILE,FILE", help="Models that INPUT was encoded with.", rich_help_panel="Input"
        ),
    ] = None,
    class_files: Annotated[
        str | None,
        typer.Option(
            metavar="FILE,FILE", help="What anonymize --class-file wrote.", rich_help_panel="Input"
        ),
    ] = None,
) -> int:
    """Judge a promise on several releases of one table together. Exit code 1: not safe."""
    from shoal.jobs import compose as job
    from shoal.jobs.requests import ComposeRequest

    request = ComposeRequest(
        table=place.input(),
        schema=columns.read(promised),
        releases=tuple(opt.names(releases)),
        models=tuple(opt.names(models)),
        class_files=tuple(opt.names(class_files)),
        separator=place.sep,
    )
    found = job.compose(request)
    answer.print(found.to_document(), "\n".join(_lines(found)))
    return 0 if found.holds else 1


def _lines(found: Composition) -> list[str]:
    """Say whether the releases may be published together, and what they give away if not."""
    head = "safe together" if found.holds else "NOT safe together"
    shared = found.published or 1
    rows = [
        *[("WARNING", warning) for warning in found.warnings],
        ("records", f"{found.published:,} of {found.records:,} in {found.releases} releases"),
        ("meet", f"{found.classes:,} classes, the smallest has {found.smallest_class:,} records"),
        *verdict_lines(found.privacy),
        ("alone", f"{found.alone:,} records ({found.alone / shared:.1%})"),
        *[
            (f"below {k}", f"{number:,} records ({number / shared:.1%})")
            for k, number in found.below.items()
            if k > 2
        ],
        *[
            ("certain", f"{name}: {one:.1%} of the records by one release, {together:.1%} by all")
            for name, (one, together) in found.certain.items()
        ],
    ]
    if found.linked is not None:
        rows.append(("linked", f"{found.linked:.1%} of the rows, by their kept columns alone"))
    return [head, *(f"  {name:<12}{text}" for name, text in rows)]
