"""The command `learn`."""

from __future__ import annotations

import time
from typing import Annotated

import typer

from shoal.cli import options as opt
from shoal.cli.render import summary
from shoal.jobs.requests import LearnRequest


@opt.command(
    examples="""
    # a model that encodes new records without the table it was learned from
    shoal learn stays.csv --schema stays.schema.yaml -k 5 --model model.json
    # the best one that a small device has room for
    shoal learn stays.csv --qi sex,zip -k 5 --model small.json --model-bytes 64kB
    """
)
def learn(
    place: opt.InputOptions,
    model: Annotated[
        str,
        typer.Option(metavar="FILE", help="Where to write the model.", rich_help_panel="Output"),
    ],
    columns: opt.ColumnOptions,
    promised: opt.PromiseOptions,
    method: opt.MethodOptions,
    answer: opt.AnswerOptions,
    sign: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Sign the model with this Ed25519 key (PEM).",
            rich_help_panel="Output",
        ),
    ] = None,
    model_bytes: Annotated[
        str | None,
        typer.Option(
            metavar="SIZE",
            help="Room for the model's file: the best model that fits is learned (64kB, 1MB).",
            rich_help_panel="Output",
        ),
    ] = None,
    device_ram: Annotated[
        str | None,
        typer.Option(
            metavar="SIZE",
            help="Room in a device's memory, for MicroPython's encoder and the model.",
            rich_help_panel="Output",
        ),
    ] = None,
) -> int:
    """Learn a recoding and write it as a model (JSON)."""
    method.limit_threads()
    from shoal import api
    from shoal.jobs import learn as job
    from shoal.jobs.device import device_line
    from shoal.model.device import SIGNATURE, bytes_named

    schema = method.added_to(columns.read(promised))
    inputs = (*place.files(), *columns.files())
    api.check_place(model, inputs=inputs)
    most = None if model_bytes is None else bytes_named(model_bytes, "--model-bytes")
    request = LearnRequest(
        table=place.input(),
        schema=schema,
        infer=columns.infer,
        separator=place.sep,
        model_bytes=None if most is None else most - (0 if sign is None else SIGNATURE),
        device_ram=None if device_ram is None else bytes_named(device_ram, "--device-ram"),
        **method.words(learns=True),
    )
    learned = job.learn(request)
    began = time.perf_counter()
    made = learned.model
    if sign is not None:
        from shoal.jobs.signing import sign as signed

        made = signed(made, sign)
    api.write_model(made, model, inputs=inputs)
    report = learned.report.with_seconds("write", time.perf_counter() - began)
    lines = [summary(report, out=None), f"  model       {model}", *method.explanation(report)]
    device = report.facts.get("device")
    if isinstance(device, dict):
        lines.append(f"  device      {device_line(device, report.classes)}")
    answer.print(report.to_document(), "\n".join(lines))
    return 0
