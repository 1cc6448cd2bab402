"""The command `compose`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from shoal.cli import options as opt
from shoal.cli.render import verdict_lines

if TYPE_CHECKING:
    from collections.abc import Mapping

    from shoal.reports.composition import Composition, Intersected


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
    person_files: Annotated[
        str | None,
        typer.Option(
            metavar="FILE,FILE",
            help="What anonymize --person-file wrote, one a release: INPUT may have changed.",
            rich_help_panel="Input",
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
        person_files=tuple(opt.names(person_files)),
        separator=place.sep,
        infer=columns.infer,
    )
    if request.person_files:
        return _answer_persons(job.intersect(request), answer)
    found = job.compose(request)
    answer.print(found.to_document(), "\n".join(_lines(found)))
    return 0 if found.holds else 1


def _answer_persons(found: Mapping[str, Intersected], answer: opt.AnswerOptions) -> int:
    """Say what releases of a table that changes give away of each person."""
    is_safe = all(each.holds for each in found.values())
    columns = {name: each.to_document() for name, each in found.items()}
    lines = ["safe together" if is_safe else "NOT safe together"]
    for name, each in found.items():
        rows = [
            ("persons", f"{each.persons:,} in {each.releases} releases, {each.repeated:,} of them "
             "in several"),
            ("certain", f"{each.certain[0]:,} persons by one release, {each.certain[1]:,} by all"),
            ("fewest", f"{each.fewest[0]:,} values by one release, {each.fewest[1]:,} by all; "
             f"{each.asked:,} are asked"),
            ("narrowed", f"{each.narrowed:,} persons by all releases together"),
            *[(f"below {k}" if k > 2 else "alone", f"{number:,} persons, by all their classes")
              for k, number in each.below.items()],
            *([] if each.k else [("k", "is promised for each release, not for all together")]),
            *([("changed", f"{each.changed:,} persons have another value now, for certain")]
              if each.changed else []),
        ]  # fmt: skip
        lines += [name, *(f"  {word:<12}{text}" for word, text in rows)]
    answer.print({"holds": is_safe, "columns": columns}, "\n".join(lines))
    return 0 if is_safe else 1


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
