"""The command `demo`."""

from __future__ import annotations

import shlex
import sys
from contextlib import chdir
from pathlib import Path
from typing import Annotated

import typer

from shoal.cli import options as opt


@opt.command
def demo(
    context: typer.Context,
    out: Annotated[
        str | None,
        typer.Option(
            metavar="DIR", help="A new or empty folder for its files (default: shoal-demo)."
        ),
    ] = None,
    no_open: Annotated[bool, typer.Option("--no-open", help="Do not open the report.")] = False,
) -> int:
    """Make a table, find what identifies people in it, release it, verify it and open the report.

    Each step is shown with the command that does it.
    """
    from shoal.jobs import demo as job

    folder = job.make_folder(None if out is None else Path(out))
    shoal = context.find_root().command
    print(f"$ cd {shlex.quote(str(folder))}")
    with chdir(folder):
        for number, step in enumerate(job.STEPS, start=1):
            print(f"\n{number}. {step.about}\n$ shoal {shlex.join(step.arguments)}", flush=True)
            code = shoal.main(args=[*step.arguments], prog_name="shoal", standalone_mode=False)
            if code:
                return int(code)
    report = folder.resolve() / job.REPORT
    print(f"\nFor people who decide about the release: {report}")
    print(f"Next: the same commands with a table of your own in place of {job.TABLE}.")
    if not no_open and sys.stdout.isatty() and job.has_screen():
        import webbrowser

        webbrowser.open(report.as_uri())
    return 0
