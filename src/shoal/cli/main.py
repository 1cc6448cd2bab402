"""The command line: parse, call the api, print, exit.

Exit codes: 0 done (or: safe); 1 not safe, or no solution within the limits; 2 the
question could not be asked; 3 a bug of ours.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import pairwise
from types import FrameType
from typing import Annotated

import typer

from shoal.cli import progress, standard
from shoal.cli.anonymize import anonymize
from shoal.cli.budget import budget
from shoal.cli.compare import compare
from shoal.cli.completion import completion
from shoal.cli.compose import compose
from shoal.cli.demo import demo
from shoal.cli.drift import drift
from shoal.cli.edge import edge
from shoal.cli.encode import encode
from shoal.cli.export import export
from shoal.cli.faults import INTERRUPTED, failure_of
from shoal.cli.help import Command, Group, in_panels
from shoal.cli.hierarchy import hierarchy
from shoal.cli.imports import import_
from shoal.cli.infer import infer
from shoal.cli.key import key
from shoal.cli.learn import learn
from shoal.cli.methods import methods
from shoal.cli.metrics import metrics
from shoal.cli.recommend import recommend
from shoal.cli.releases import releases
from shoal.cli.risk import risk
from shoal.cli.sample import sample
from shoal.cli.serve import serve
from shoal.cli.settle import settle
from shoal.cli.stats import stats
from shoal.cli.verify import verify
from shoal.cli.warm import warm
from shoal.cli.web import web
from shoal.core.interruptible import heard_again, leave
from shoal.core.version import __version__

app = typer.Typer(
    name="shoal",
    cls=Group,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    help="Release data about people safely: every record swims with at least k - 1 others.",
    epilog="SHOAL_DEBUG=1 prints the traceback of an unexpected error.",
    context_settings={"help_option_names": ["-h", "--help"]},
)
_COMMANDS: tuple[Callable[..., int], ...] = (
    *(anonymize, learn, encode, verify, metrics, risk, infer, recommend, compare, stats, drift),
    *(settle, compose, key, methods, sample, demo, web, serve, warm, completion),
)
for _command in _COMMANDS:
    app.command(cls=Command)(_command)
app.command("import", cls=Command)(import_)
app.command(cls=Command)(export)
_GROUPS = {"budget": budget, "edge": edge, "hierarchy": hierarchy, "releases": releases}
for _name, _commands in _GROUPS.items():
    app.add_typer(in_panels(_commands), name=_name)


def _version(wanted: bool) -> None:
    if wanted:
        print(f"shoal {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Release data about people safely: every record swims with at least k - 1 others."""


def _terminated(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt  # so that temporary files are removed on the way out


def main(argv: list[str] | None = None) -> int:
    """Run one command and return its exit code."""
    with suppress(ValueError):  # not the main thread: the caller handles signals
        signal.signal(signal.SIGTERM, _terminated)
    words = sys.argv[1:] if argv is None else argv
    with standard.streams(), progress.shown(words):
        return _run(argv, words)


def _run(argv: list[str] | None, words: Sequence[str]) -> int:
    """Run one command; whatever it raises becomes a message and an exit code."""
    try:
        with heard_again():
            command = typer.main.get_command(app)
            code = command.main(args=argv, prog_name="shoal", standalone_mode=False)
        if code == INTERRUPTED:
            raise KeyboardInterrupt  # Typer has made an exit code of it
        return code if isinstance(code, int) else 0
    except SystemExit:
        raise
    except BrokenPipeError:
        return 0
    except BaseException as error:
        if type(error).__name__ == "NoArgsIsHelpError":  # bare `shoal`, or `shoal edge`
            print(error.format_message())  # type: ignore[attr-defined]
            return 0
        failure = failure_of(error, command=next((w for w in words if w[:1] != "-"), "shoal"))
        code = failure.show(json="--json" in words, released=_keeps_standard_output(words))
        return leave(code) if code == INTERRUPTED else code


def _keeps_standard_output(words: Sequence[str]) -> bool:
    """Return whether the release itself goes to standard output."""
    return "--out=-" in words or ("--out", "-") in pairwise(words)


if __name__ == "__main__":
    sys.exit(main())
