"""The command `infer`."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Annotated

import typer

from shoal.cli import options as opt
from shoal.cli.linked import SOURCE
from shoal.cli.render import at, entries, rows
from shoal.cli.xk import given
from shoal.jobs.requests import InferRequest

_SHOWN = 12  # sets of columns that a person reads


@opt.command(
    examples="""
    # a schema to read, correct and keep
    shoal infer stays.csv --out proposed.yaml
    # linked tables: their keys and parents, too
    shoal infer wards --out proposed.yaml
    """
)
def infer(
    context: typer.Context,
    place: Annotated[opt.InputOptions, opt.Use(without=("driver_rows",), help={"source": SOURCE})],
    answer: opt.JsonOptions,
    max_size: Annotated[
        int, typer.Option(metavar="N", help="Largest set of columns.", rich_help_panel="Method")
    ] = 5,
    seconds: Annotated[
        float,
        typer.Option(metavar="S", help="Time for the search of sets.", rich_help_panel="Method"),
    ] = 60,
    threshold: Annotated[
        float,
        typer.Option(
            metavar="BITS",
            help="Residual entropy under which a set identifies.",
            rich_help_panel="Method",
        ),
    ] = 1.0,
    preset: Annotated[
        str | None,
        typer.Option(
            metavar="hipaa-safe-harbor", help="Do as a rule says.", rich_help_panel="Method"
        ),
    ] = None,
    as_of: Annotated[
        str | None,
        typer.Option(metavar="DATE", help="Day that decides ages.", rich_help_panel="Method"),
    ] = None,
    out: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Schema to edit (YAML).", rich_help_panel="Output"),
    ] = None,
    prepared: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="With --preset: the table after its steps.",
            rich_help_panel="Output",
        ),
    ] = None,
) -> int:
    """Say which columns identify people, and propose a schema."""
    from shoal import api
    from shoal.jobs import infer as job

    if Path(place.source).is_dir():
        return _linked(context, place, answer, asked=(max_size, seconds, threshold), out=out)
    if prepared is not None and preset is None:
        raise opt.refusal("infer", "--prepared goes with --preset")
    table = place.input()
    if place.on_spark and preset is not None:
        raise opt.refusal("--engine", "--preset needs the local engine")
    found = job.infer(
        InferRequest(
            table=table, max_size=max_size, seconds=seconds, threshold=threshold,
            separator=place.sep,
        )
    )  # fmt: skip
    notices = list(found.notices())
    if preset is not None:
        steps = job.PresetRequest(
            table=table, name=preset, as_of=day_of(as_of), schema_out=out, table_out=prepared,
            separator=place.sep,
        )  # fmt: skip
        notices += job.write_preset(steps, found)
    elif out is not None:
        api.write_schema(found, out, inputs=(place.source,))
    document = found.to_document()
    lines = [
        *_lines(document),
        *(f"notice: {notice}" for notice in notices),
        *(f"written: {written}" for written in (out, prepared) if written is not None),
    ]
    answer.print(document, "\n".join(lines))
    return 0


def _linked(
    context: typer.Context,
    place: opt.InputOptions,
    answer: opt.JsonOptions,
    *,
    asked: tuple[int, float, float],
    out: str | None,
) -> int:
    """Say how the tables of a folder hang together, and propose their schema."""
    from shoal.jobs.infer_linked import infer_linked

    known = ("source", "sep", "max_size", "seconds", "threshold", "out", "json", "quiet")
    ignored = [option for name, option in given(context).items() if name not in known]
    if ignored:
        raise opt.refusal("options", f"{', '.join(ignored)}: not with a folder of linked tables")
    size, seconds, threshold = asked
    request = InferRequest(
        table=place.source, max_size=size, seconds=seconds, threshold=threshold,
        separator=place.sep,
    )  # fmt: skip
    found = infer_linked(place.source, request)
    if out is not None:
        found.write(out)
    written = [] if out is None else [f"written: {out}"]
    notices = [f"notice: {notice}" for notice in found.notices]
    answer.print(found.to_document(), "\n".join([*found.lines(), *notices, *written]))
    return 0


def day_of(text: str | None) -> date | None:
    """Return the day that an option names."""
    try:
        return None if text is None else date.fromisoformat(text)
    except ValueError:
        raise opt.refusal("--as-of", "must be a day such as 2026-01-31") from None


def _lines(document: dict[str, object]) -> list[str]:
    """Return a line for each column, and for the first sets that identify."""
    columns, sets = entries(document, "columns"), rows(document, "sets")
    width = max((len(name) for name in columns), default=0) + 2
    lines = [f"{document['records']:,} records"]
    for name, facts in columns.items():
        role, kind, why = (at(facts, key) for key in ("role", "kind", "why"))
        sure = f"{at(facts, 'confidence'):.0%}"
        lines.append(f"  {name:<{width}}{role:<13}{kind:<13}{sure:>4}  {why}")
    if sets:
        lines.append("sets of columns that identify (residual entropy, distinction, separation):")
    for found in sets[:_SHOWN]:
        named = ", ".join(str(name) for name in rows(found, "columns"))
        lines.append(
            f"  {named}: {at(found, 'residual_entropy'):.2f} bits, "
            f"{at(found, 'distinction'):.1%}, {at(found, 'separation'):.2%}"
        )
    if len(sets) > _SHOWN:
        lines.append(f"  … and {len(sets) - _SHOWN} more (see --json)")
    return lines
