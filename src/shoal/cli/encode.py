"""The command `encode`."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import Annotated

import typer

from shoal.cli import options as opt
from shoal.cli import progress, standard
from shoal.cli.render import as_json, warning_lines
from shoal.jobs.requests import EncodeRequest, Output
from shoal.model.model import RecodingModel
from shoal.schema.schema import Schema

Trusted = Annotated[
    str | None,
    typer.Option(
        metavar="FILE", help="Refuse a model that this public key did not sign.",
        rich_help_panel="Checks",
    ),
]  # fmt: skip
Unsigned = Annotated[
    bool,
    typer.Option(
        "--unsigned", help="Take a model without a fingerprint, or with one that does not fit.",
        rich_help_panel="Checks",
    ),
]  # fmt: skip
LeastK = Annotated[
    int | None,
    typer.Option(
        "--min-k", metavar="N", help="Refuse a model with a class of fewer records.",
        rich_help_panel="Checks",
    ),
]  # fmt: skip


def trusted(model: str, trust: str | None, unsigned: bool, least: int | None) -> RecodingModel:
    """Return a model from its file, if it shows what is asked for."""
    from shoal.model.trust import Trust, read_public_key

    key = None if trust is None else read_public_key(trust)
    return RecodingModel.load(model, trust=Trust(key=key, unsigned=unsigned, least=least))


Released = Annotated[
    str | None,
    typer.Option(
        metavar="generalize|draw",
        help="Labels; or values drawn from them, by a model learned with --release draw.",
        rich_help_panel="Output",
    ),
]  # fmt: skip
Seed = Annotated[
    int,
    typer.Option(metavar="N", help="Of what is drawn.", rich_help_panel="Engine"),
]  # fmt: skip


ModelFile = Annotated[
    str, typer.Argument(metavar="MODEL", help="Model file (JSON).", rich_help_panel="Input")
]

_BATCH = opt.Use(without=("table", "query"), help={"source": "Table, or - for a stream."})
_WRITTEN = opt.Use(
    only=("out", "out_table", "replace_table", "suppressed", "spreadsheet_safe", "person_file"),
    help={
        "out": "The encoded table; - is standard output.",
        "person_file": "With --safe, by persons: who is behind each record; stays inside.",
    },
)
_KNOWN = opt.Use(
    only=("schema", "fold_case", "waive"),
    help={"schema": "Refuse a model that protects less than this schema."},
)


@opt.command(
    examples="""
    # a batch that keeps the promise of the model, or is not written
    shoal encode model.json new.csv --safe --out new_release.csv
    # record by record, as they come; nothing is promised of the batch
    shoal encode model.json - < new.csv > encoded.csv
    """
)
def encode(
    model: ModelFile,
    place: Annotated[opt.InputOptions, _BATCH],
    written: Annotated[opt.OutputOptions, _WRITTEN],
    columns: Annotated[opt.ColumnOptions, _KNOWN],
    promised: Annotated[opt.PromiseOptions, opt.Use(without=("replace_promise",))],
    reported: opt.ReportOptions,
    answer: opt.AnswerOptions,
    safe: Annotated[
        bool,
        typer.Option(
            "--safe",
            help="Suppress what breaks the promise in this batch.",
            rich_help_panel="Promise",
        ),
    ] = False,
    rejects: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Bad lines of a stream, with the reason.",
            rich_help_panel="Output",
        ),
    ] = None,
    on_unseen: Annotated[
        str | None,
        typer.Option(
            metavar="suppress|nearest|error",
            help="What becomes of values that the model never saw.",
            rich_help_panel="Method",
        ),
    ] = None,
    release: Released = None,
    seed: Seed = 0,
    trust: Trusted = None,
    unsigned: Unsigned = False,
    min_k: LeastK = None,
) -> int:
    """Apply a learned model to new records.

    With --safe, the batch keeps the model's promise and those of --schema, -k, --l, --t.
    """
    from shoal.jobs import encode as job

    on_spark, schema = place.on_spark, columns.schema
    # A safe batch must be known as a whole; so must one that goes to a file, all or nothing.
    is_stream = place.source == "-" and not safe and written.out in (None, "-")
    if not is_stream and not written.out:
        raise opt.refusal("options", "encode needs --out FILE, or --out - for standard output")
    request = EncodeRequest(
        table="-" if is_stream else _table(place),
        model=trusted(model, trust, unsigned, min_k),
        safe=safe,
        on_unseen=on_unseen,
        release=release,
        seed=seed,
        output=Output(suppressed=written.suppressed, spreadsheet_safe=written.spreadsheet_safe),
        schema=None if schema is None else Schema.load(schema),
        privacy=promised.promise() or None,
        waive=tuple(opt.names(columns.waive)),
        fold_case=columns.fold_case,
        separator=place.sep,
    )
    request.check()
    if reported.report is not None and not safe:
        raise opt.refusal("--report", "goes with --safe: of other batches nothing is promised")
    if is_stream:
        _check_stream(place)
        if written.person_file is not None:
            raise opt.refusal("--person-file", "goes with --safe, which knows the whole batch")
        _encode_stream(request, rejects, quiet=answer.quiet, model=model)
        return 0
    if opt.is_url(written.out) and not on_spark:
        place, table = place.without_table()
        written = written.with_table(table)
    read = () if on_spark else place.files()
    inputs = (*read, model, *(() if schema is None else (schema,)))
    output = written.output("encode", on_spark=on_spark, inputs=inputs)
    if rejects is not None:
        raise opt.refusal("--rejects", "goes with a stream: give - as INPUT")
    request = replace(request, output=output)
    reported.check(*inputs, str(output.out))
    done = job.encode(request)
    if reported.report is not None:
        asked = reported.asked(
            table=request.table, release=output.out, model=model, schema=job.schema_of(request)
        )
        reported.write(done, asked, *inputs, str(output.out), request=request)
    standard.deliver()
    document, out = done.to_document(), written.place_in_words
    lines = [
        f"{document['released']:,} of {document['records']:,} records released in {out}, "
        f"{document['suppressed']:,} suppressed, {document['unseen']:,} never seen",
        *warning_lines(done.warnings),
        *(f"  notice      {notice}" for notice in done.notices),
    ]
    answer.print(document, "\n".join(lines))
    return 0


def _table(place: opt.InputOptions) -> object:
    return place.input() if place.on_spark else place.file(place.source)


def _check_stream(place: opt.InputOptions) -> None:
    """Refuse what a stream would ignore."""
    if place.on_spark:
        raise opt.refusal("--engine", "a stream needs the local engine")
    if place.encoding is not None or place.skip_lines:
        raise opt.refusal("options", "--encoding and --skip-lines go with a CSV file as INPUT")


def _encode_stream(request: EncodeRequest, rejects: str | None, *, quiet: bool, model: str) -> None:
    """Encode standard input line by line; the counts go to standard error."""
    from shoal.jobs.encode import StreamRequest, encode_stream

    asked = StreamRequest(
        model=request.model,
        place=model,
        separator=request.separator,
        rejects=rejects,
        on_unseen=request.on_unseen,
        suppressed=request.output.suppressed,
        schema=request.schema,
        spreadsheet_safe=bool(request.output.spreadsheet_safe),
        release=request.release,
        seed=request.seed,
    )
    progress.clear()
    report = encode_stream(asked, sys.stdin.buffer, sys.stdout.buffer)
    if not quiet:
        print(as_json(report.to_document()), file=sys.stderr)
