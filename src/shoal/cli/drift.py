"""The command `drift`."""

from __future__ import annotations

from typing import Annotated

import typer

from shoal.cli import options as opt
from shoal.cli.encode import ModelFile
from shoal.jobs.requests import DriftRequest

_NEW = opt.Use(
    only=("source", "sep", "encoding", "skip_lines"), help={"source": "New records, not encoded."}
)


@opt.command(
    examples="""
    # do today's records still look like those that the model was learned from?
    shoal drift model.json new.csv --json
    """
)
def drift(
    model: ModelFile,
    place: Annotated[opt.InputOptions, _NEW],
    answer: opt.JsonOptions,
    false_alarm: Annotated[
        float,
        typer.Option(
            metavar="X",
            help="Rate of false alarms on samples of the training data.",
            rich_help_panel="Checks",
        ),
    ] = 0.05,
) -> int:
    """Say whether new data still fit a model, or whether to learn again."""
    from shoal.jobs import encode as job

    request = DriftRequest(
        table=place.file(place.source), model=model, false_alarm=false_alarm, separator=place.sep
    )
    found = job.drift(request)
    head = f"learn again: {'yes' if found.learn_again else 'no'}"
    lines = [head, *(f"  {reason}" for reason in found.why)]
    answer.print(found.to_document(), "\n".join(lines))
    return 0
