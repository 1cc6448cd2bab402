"""The commands `encode`, `drift` and `edge`: a learned model at work."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from shoal.cli import options as opt
from shoal.core.errors import SchemaError
from shoal.privacy import from_flags
from shoal.schema.schema import Schema

edge = typer.Typer(
    no_args_is_help=True, help="Take a model to devices without shoal.", add_completion=False
)

ModelFile = Annotated[str, typer.Argument(metavar="MODEL", help="Model file (JSON).")]
OnUnseen = Annotated[
    str | None,
    typer.Option("--on-unseen", metavar="WHAT", help="suppress, nearest or error."),
]


@opt.promising()
def encode(
    model: ModelFile,
    source: Annotated[str, typer.Argument(metavar="INPUT", help="Table, or - for a stream.")],
    out: Annotated[
        str | None, typer.Option(metavar="FILE", help="The encoded table; - is standard output.")
    ] = None,
    safe: Annotated[
        bool, typer.Option("--safe", help="Suppress what breaks the promise in this batch.")
    ] = False,
    rejects: Annotated[
        str | None, typer.Option(metavar="FILE", help="Bad lines of a stream, with the reason.")
    ] = None,
    on_unseen: OnUnseen = None,
    suppressed: Annotated[
        str | None, typer.Option(metavar="KIND", help="Suppressed records: remove or star.")
    ] = None,
    schema: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Refuse a model that protects less than this schema."),
    ] = None,
    fold_case: opt.FoldCase = False,
    asked: opt.Asked = None,
    waive: opt.Waive = None,
    spreadsheet_safe: opt.SpreadsheetSafe = None,
    engine: opt.Engine = "local",
    master: opt.Master = None,
    driver_rows: opt.DriverRows = None,
    sep: opt.Sep = None,
    encoding: opt.Encoding = None,
    skip_lines: opt.SkipLines = 0,
    json: opt.Json = False,
    quiet: opt.Quiet = False,
) -> int:
    """Apply a learned model to new records.

    With --safe, the batch keeps the model's promise and those of --schema, -k, --l, --t.
    """
    from shoal import api
    from shoal.cli.render import as_json, warning_lines

    if suppressed is not None:
        opt.is_star(suppressed)
    promise = from_flags(asked or {}) or None
    if promise is not None and not safe:
        raise SchemaError(where="options", faults=["a promise (-k, --l, --t) goes with --safe"])
    if fold_case and not safe:
        raise SchemaError(where="--fold-case", faults=["goes with --safe"])
    roles = None if schema is None else Schema.load(schema)
    is_far = opt.on_spark(engine, master)
    if driver_rows is not None and not is_far:
        raise SchemaError(where="--driver-rows", faults=["goes with --engine spark"])
    place = opt.file_of(source, encoding, skip_lines)
    if source == "-":
        if is_far:
            raise SchemaError(where="--engine", faults=["a stream needs the local engine"])
        if safe:
            raise SchemaError(where="--safe", faults=["needs the whole batch: give a file"])
        report = api.encode_stream(
            model, sys.stdin.buffer, sys.stdout.buffer, separator=sep, rejects=rejects,
            on_unseen=on_unseen, suppressed=suppressed, schema=roles,
            spreadsheet_safe=bool(spreadsheet_safe),
        )  # fmt: skip
        if not quiet:
            print(as_json(report.to_document()), file=sys.stderr)
        return 0
    if out is None:
        raise SchemaError(where="options", faults=["encode needs --out FILE"])
    if rejects is not None:
        raise SchemaError(where="--rejects", faults=["goes with a stream: give - as INPUT"])
    if not (is_far and opt.is_elsewhere(out)):
        files = [model] if schema is None else [model, schema]
        api.check_place(out, inputs=files if is_far else [source, *files])
    batch = opt.input_of(place, None, None, engine, master, driver_rows) if is_far else place
    done = api.encode(
        batch, model, out=out, safe=safe, on_unseen=on_unseen, suppressed=suppressed,
        separator=sep, schema=roles, privacy=promise, waive=opt.names(waive), fold_case=fold_case,
        spreadsheet_safe=spreadsheet_safe,
    )  # fmt: skip
    document = done.to_document()
    if json:
        print(as_json(document))
    elif not quiet:
        print(
            f"{document['released']:,} of {document['records']:,} records released in {out}, "
            f"{document['suppressed']:,} suppressed, {document['unseen']:,} never seen"
        )
        print(*warning_lines(done.warnings), sep="\n", end="\n" if done.warnings else "")
        for notice in done.notices:
            print(f"  notice      {notice}")
    return 0


def drift(
    model: ModelFile,
    source: Annotated[str, typer.Argument(metavar="INPUT", help="New records, not encoded.")],
    false_alarm: Annotated[
        float,
        typer.Option(metavar="X", help="Rate of false alarms on samples of the training data."),
    ] = 0.05,
    sep: opt.Sep = None,
    encoding: opt.Encoding = None,
    skip_lines: opt.SkipLines = 0,
    json: opt.Json = False,
) -> int:
    """Say whether new data still fit a model, or whether to learn again."""
    from shoal import api
    from shoal.cli.render import as_json

    place = opt.file_of(source, encoding, skip_lines)
    found = api.drift(place, model, false_alarm=false_alarm, separator=sep)
    document = found.to_document()
    if json:
        print(as_json(document))
        return 0
    print("learn again: yes" if document["learn_again"] else "learn again: no")
    for reason in document["why"]:
        print(f"  {reason}")
    return 0


@edge.command("export")
def export(
    model: ModelFile,
    to: Annotated[str, typer.Option(metavar="WHAT", help="python, micropython or javascript.")],
    out: Annotated[str, typer.Option(metavar="FILE", help="The source file.")],
) -> int:
    """Write encoder and model as one source file that needs nothing else."""
    from shoal import api

    api.export_model(model, to, out=out)
    print(f"written: {out}")
    return 0


@edge.callback()
def _edge() -> None:
    """Take a model to devices without shoal."""
