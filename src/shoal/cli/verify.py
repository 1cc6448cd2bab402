"""The command `verify`."""

from __future__ import annotations

from typing import Annotated

import typer

from shoal.cli import options as opt
from shoal.cli.linked import SOURCE, has_tables, verify_linked
from shoal.cli.render import verification
from shoal.jobs.requests import VerifyRequest


@opt.command(
    examples="""
    # exit code 0: safe, 1: not safe
    shoal verify release.csv --schema stays.schema.yaml -k 5
    shoal verify release.csv --qi birth_date,sex,zip -k 5 --json
    # linked tables: joined again by their keys
    shoal verify wards_release --schema wards/schema.yaml
    """
)
def verify(
    context: typer.Context,
    place: Annotated[opt.InputOptions, opt.Use(without=("driver_rows",), help={"source": SOURCE})],
    columns: Annotated[opt.ColumnOptions, opt.Use(without=("neutral", "infer"))],
    promised: opt.PromiseOptions,
    reported: opt.ReportOptions,
    answer: opt.AnswerOptions,
    blanked: Annotated[
        bool,
        typer.Option(
            "--blanked",
            help="Sensitive cells may be blanked: empty classes pass, see the guide.",
            rich_help_panel="Checks",
        ),
    ] = False,
    person_file: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Who each record is about, line by line, as anonymize --person-file wrote it.",
        ),
    ] = None,
    false_records: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="With --person-file: which records are false (xk), each a made-up person.",
        ),
    ] = None,
) -> int:
    """Check whether a table keeps a promise. Exit code 0: safe, 1: not safe."""
    from shoal.jobs import verify as job

    if has_tables(columns):
        return verify_linked(context, place, columns, promised, answer)
    schema = columns.read(promised)
    request = VerifyRequest(
        table=place.input(), schema=schema, blanked=blanked, separator=place.sep,
        person_file=person_file, false_records=false_records,
    )  # fmt: skip
    beside = (each for each in (person_file, false_records) if each is not None)
    read = (*place.files(), *columns.files(), *beside)
    reported.check(*read)
    result = job.verify(request)
    asked = reported.asked(release=request.table, schema=schema)
    reported.write(result, asked, *read, request=request)
    answer.print(result.to_document(), verification(result))
    return 0 if result.holds else 1
