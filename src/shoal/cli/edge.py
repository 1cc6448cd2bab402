"""The commands `edge …`: a model on devices without shoal."""

from __future__ import annotations

from typing import Annotated

import typer

from shoal.cli import options as opt
from shoal.cli.encode import ModelFile

edge = typer.Typer(
    no_args_is_help=True, help="Take a model to devices without shoal.", add_completion=False
)


@edge.command("export")
@opt.command(
    examples="""
    # one file that needs nothing but Python
    shoal edge export model.json --to python --out encoder.py
    # refused if the device has no room for it
    shoal edge export small.json --to micropython --out main.py --device-ram 256kB
    """
)
def export(
    model: ModelFile,
    to: Annotated[
        str,
        typer.Option(
            "--to",
            "--target",
            metavar="python|micropython|javascript",
            help="The language.",
            rich_help_panel="Output",
        ),
    ],
    out: Annotated[
        str, typer.Option(metavar="FILE", help="The source file.", rich_help_panel="Output")
    ],
    answer: opt.JsonOptions,
    model_bytes: Annotated[
        str | None,
        typer.Option(
            metavar="SIZE", help="Room for the model (64kB, 1MB).", rich_help_panel="Checks"
        ),
    ] = None,
    device_ram: Annotated[
        str | None,
        typer.Option(metavar="SIZE", help="Room in the device's memory.", rich_help_panel="Checks"),
    ] = None,
) -> int:
    """Write encoder and model as one source file that needs nothing else."""
    from shoal import api
    from shoal.model.device import Room, bytes_named

    room = Room(
        None if model_bytes is None else bytes_named(model_bytes, "--model-bytes"),
        None if device_ram is None else bytes_named(device_ram, "--device-ram"),
    )
    api.export_model(model, to, out=out, room=room)
    answer.print({"out": out, "to": to}, f"written: {out}")
    return 0


@edge.command("bench")
@opt.command(
    examples="""
    # what the model takes on a device, on records as devices have them
    shoal edge bench model.json new.csv
    """
)
def bench(
    model: ModelFile,
    records: Annotated[
        str,
        typer.Argument(
            metavar="FILE", help="Records, not encoded: JSON lines or CSV.", rich_help_panel="Input"
        ),
    ],
    answer: opt.JsonOptions,
) -> int:
    """Measure size, memory and records a second of a model in each runtime found here."""
    from shoal.jobs.edge_bench import bench as measure

    found = measure(model, records)
    lines = [
        f"{found['bytes']:,} bytes, {found['classes']:,} classes, {found['records']:,} records"
    ]
    runtimes = found["runtimes"]
    for name, facts in runtimes.items() if isinstance(runtimes, dict) else ():
        if isinstance(facts, dict):
            lines.append(
                f"  {name:<12}{facts['records_a_second']:,} records a second, "
                f"{facts['megabytes']} MB above the interpreter, "
                f"loaded in {facts['seconds_to_load']} s"
            )
    answer.print(found, "\n".join(lines))
    return 0


@edge.command("gateway")
@opt.command(
    examples="""
    # records come in as lines of JSON; batches that keep the promise go out
    shoal edge gateway model.json --folder held --id message < in.jsonl > counts
    """
)
def gateway(
    model: ModelFile,
    folder: Annotated[
        str,
        typer.Option(
            metavar="DIR", help="Where records wait and batches go.", rich_help_panel="Output"
        ),
    ],
    number: Annotated[
        str,
        typer.Option(
            "--id",
            metavar="NAME",
            help="What tells a message from all others; it is not released.",
            rich_help_panel="Input",
        ),
    ],
    answer: opt.JsonOptions,
    window: Annotated[
        int,
        typer.Option(metavar="N", help="Records that may wait.", rich_help_panel="Checks"),
    ] = 10_000,
    patience: Annotated[
        float,
        typer.Option(metavar="SECONDS", help="How long one may wait.", rich_help_panel="Checks"),
    ] = 3600.0,
    encoded: Annotated[
        bool, typer.Option("--encoded", help="Devices have encoded them.", rich_help_panel="Input")
    ] = False,
    flush: Annotated[
        bool,
        typer.Option("--flush", help="At the end, nobody waits.", rich_help_panel="Output"),
    ] = False,
) -> int:
    """Hold records until their class is strong enough; a restart loses and doubles nothing."""
    import sys

    from shoal.jobs.gateway import GatewayRequest, run_gateway

    asked = GatewayRequest(
        model=model, folder=folder, name=number, window=window, patience=patience,
        encoded=encoded, flush=flush,
    )  # fmt: skip
    found = run_gateway(asked, sys.stdin.buffer)
    words = ", ".join(f"{count:,} {name}" for name, count in found.items())
    answer.print(found, words)
    return 0


@edge.callback()
def _edge() -> None:
    """Take a model to devices without shoal."""
