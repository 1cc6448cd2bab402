"""The command `drift`."""

from __future__ import annotations

from typing import Annotated

import typer

from shoal.cli import options as opt
from shoal.cli.encode import ModelFile
from shoal.jobs.requests import DriftRequest

_NEW = opt.Use(
    only=("source", "sep", "encoding", "skip_lines", "sheet"),
    help={"source": "New records, not encoded; with --encoded, what devices sent."},
)


@opt.command(
    examples="""
    # do today's records still look like those that the model was learned from?
    shoal drift model.json new.csv --json
    # the same, by what devices sent
    shoal drift model.json encoded.jsonl --encoded
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
    encoded: Annotated[
        bool,
        typer.Option(
            "--encoded",
            help="The records are encoded already: JSON lines or CSV.",
            rich_help_panel="Input",
        ),
    ] = False,
) -> int:
    """Say whether new data still fit a model (exit code 0), or whether to learn again (1)."""
    if encoded:
        return _of_encoded(model, place, answer, false_alarm)
    from shoal.jobs import encode as job

    request = DriftRequest(
        table=place.file(place.source), model=model, false_alarm=false_alarm, separator=place.sep
    )
    found = job.drift(request)
    head = f"learn again: {'yes' if found.learn_again else 'no'}"
    lines = [head, *(f"  {reason}" for reason in found.why)]
    answer.print(found.to_document(), "\n".join(lines))
    return int(found.learn_again)


def _of_encoded(
    model: str, place: opt.InputOptions, answer: opt.JsonOptions, false_alarm: float
) -> int:
    """Compare what devices sent with the model's classes."""
    from shoal.jobs.settle import drift_of_encoded

    found = drift_of_encoded(model, [str(place.source)], false_alarm=false_alarm)
    head = f"learn again: {'yes' if found.learn_again else 'no'}"
    lines = [head, *(f"  {reason}" for reason in found.why)]
    answer.print(found.to_document(), "\n".join(lines))
    return int(found.learn_again)
