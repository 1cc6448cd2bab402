"""The commands `verify` and `metrics`."""

from __future__ import annotations

from typing import Annotated

import typer

from shoal.cli import options as opt
from shoal.schema.schema import Kind, Role


@opt.promising()
def verify(
    source: opt.Input,
    table: opt.Table = None,
    query: opt.Query = None,
    schema: opt.SchemaFile = None,
    qi: opt.Quasi = None,
    sensitive: opt.Sensitive = None,
    identifying: opt.Identifying = None,
    waive: opt.Waive = None,
    numeric: opt.Numeric = None,
    categorical: opt.Categorical = None,
    date: opt.Date = None,
    date_format: opt.DateFormat = None,
    dates: opt.Dates = None,
    hierarchies: opt.Hierarchies = None,
    missing: opt.Missing = None,
    fold_case: opt.FoldCase = False,
    asked: opt.Asked = None,
    replace_promise: opt.ReplacePromise = False,
    blanked: Annotated[
        bool,
        typer.Option(
            "--blanked", help="Sensitive cells may be blanked: empty classes pass, see the guide."
        ),
    ] = False,
    engine: opt.Engine = "local",
    master: opt.Master = None,
    sep: opt.Sep = None,
    encoding: opt.Encoding = None,
    skip_lines: opt.SkipLines = 0,
    json: opt.Json = False,
    quiet: opt.Quiet = False,
) -> int:
    """Check whether a table keeps a promise. Exit code 0: safe, 1: not safe."""
    from shoal import api
    from shoal.cli.render import as_json, verification

    read = opt.read_schema(
        schema,
        {Role.QUASI: qi, Role.SENSITIVE: sensitive, Role.IDENTIFYING: identifying},
        {Kind.NUMERIC: numeric, Kind.CATEGORICAL: categorical, Kind.DATE: date},
        hierarchies=hierarchies,
        missing=missing,
        fold_case=fold_case,
    )
    read = opt.with_dates(read, date_format, dates)
    result = api.verify(
        opt.input_of(opt.file_of(source, encoding, skip_lines), table, query, engine, master),
        opt.with_promise(read, asked, replace_promise=replace_promise).with_waived(
            opt.names(waive)
        ),
        separator=sep,
        blanked=blanked,
    )
    if json:
        print(as_json(result.to_document()))
    elif not quiet:
        print(verification(result))
    return 0 if result.holds else 1


def metrics(
    original: opt.Input,
    release: Annotated[str, typer.Argument(metavar="RELEASE", help="What was made of it.")],
    table: opt.Table = None,
    query: opt.Query = None,
    schema: opt.SchemaFile = None,
    qi: opt.Quasi = None,
    sensitive: opt.Sensitive = None,
    numeric: opt.Numeric = None,
    categorical: opt.Categorical = None,
    date: opt.Date = None,
    date_format: opt.DateFormat = None,
    dates: opt.Dates = None,
    hierarchies: opt.Hierarchies = None,
    missing: opt.Missing = None,
    suppressed: Annotated[
        str | None,
        typer.Option(
            metavar="KIND",
            help="How it suppresses: remove, or star (all *).",
            show_default="records that are all * are suppressed",
        ),
    ] = None,
    engine: opt.Engine = "local",
    master: opt.Master = None,
    sep: opt.Sep = None,
    encoding: opt.Encoding = None,
    skip_lines: opt.SkipLines = 0,
    json: opt.Json = False,
) -> int:
    """Measure what a release lost, from its labels."""
    from shoal import api
    from shoal.cli.render import as_json, measures

    read = opt.read_schema(
        schema,
        {Role.QUASI: qi, Role.SENSITIVE: sensitive},
        {Kind.NUMERIC: numeric, Kind.CATEGORICAL: categorical, Kind.DATE: date},
        hierarchies=hierarchies,
        missing=missing,
    )
    read = opt.with_dates(read, date_format, dates)
    starred = None if suppressed is None else opt.is_star(suppressed)
    place = opt.file_of(original, encoding, skip_lines)
    asked = opt.input_of(place, table, query, engine, master)
    made = opt.input_of(release, None, None, engine, master) if engine == "spark" else release
    document = api.metrics(asked, made, read, starred=starred, separator=sep)
    print(as_json(document) if json else measures(document))
    return 0
