"""The command line: parse, call the api, print, exit.

Exit codes: 0 done (or: safe); 1 not safe, or no solution within the limits; 2 the
question could not be asked; 3 a bug of ours.
"""

from __future__ import annotations

import os
import signal
import sys
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from types import FrameType
from typing import Annotated

import typer

from shoal import __version__
from shoal.cli import check, house, know, model, recommend, release, stats
from shoal.core.documents import reason
from shoal.core.errors import ShoalError
from shoal.core.interruptible import leave

app = typer.Typer(
    name="shoal",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    help="Release data about people safely: every record swims with at least k - 1 others.",
    epilog="SHOAL_DEBUG=1 prints the traceback of an unexpected error.",
    context_settings={"help_option_names": ["-h", "--help"]},
)
_COMMANDS: tuple[Callable[..., int], ...] = (
    release.anonymize,
    release.learn,
    model.encode,
    check.verify,
    check.metrics,
    know.risk,
    know.infer,
    recommend.recommend,
    stats.stats,
    model.drift,
)
for _command in _COMMANDS:
    app.command()(_command)
app.add_typer(stats.budget, name="budget")
app.add_typer(model.edge, name="edge")
app.add_typer(house.hierarchy, name="hierarchy")
app.command()(house.methods)
app.command()(house.sample)

INTERRUPTED = 130  # as a shell says it: 128 and the number of SIGINT

_UsageError: type[Exception] = typer.BadParameter.__mro__[1]


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
    try:
        code = typer.main.get_command(app).main(args=argv, prog_name="shoal", standalone_mode=False)
        if code == INTERRUPTED:
            raise KeyboardInterrupt  # Typer has made an exit code of it
        return code if isinstance(code, int) else 0
    except ShoalError as error:
        print(f"shoal: {_one_line(str(error))}", file=sys.stderr)
        return error.exit_code
    except _UsageError as error:
        if type(error).__name__ == "NoArgsIsHelpError":  # bare `shoal`, or `shoal edge`
            print(error.format_message())  # type: ignore[attr-defined]
            return 0
        text = error.format_message()  # type: ignore[attr-defined]
        print(f"shoal: {_one_line(text)} (see shoal --help)", file=sys.stderr)
        return 2
    except (KeyboardInterrupt, typer.Abort):
        print("shoal: interrupted; every output is as it was, or whole", file=sys.stderr)
        return leave(INTERRUPTED)
    except MemoryError:
        print("shoal: not enough memory for this table on this machine", file=sys.stderr)
        return 2
    except BrokenPipeError:
        return 0
    except OSError as error:
        print(f"shoal: {reason(error)}", file=sys.stderr)
        return 2
    except BaseException as error:
        if isinstance(error, SystemExit):
            raise
        # The text of a foreign error may quote the data, so only its kind and place are told.
        where = own_place(traceback.extract_tb(error.__traceback__))
        if os.environ.get("SHOAL_DEBUG", "0") not in ("", "0"):
            traceback.print_exception(error)
        print(
            f"shoal: a bug of ours: {type(error).__name__} at {where}; please report it "
            "(SHOAL_DEBUG=1 prints the traceback, which may quote your data)",
            file=sys.stderr,
        )
        return 3


def own_place(
    frames: Sequence[traceback.FrameSummary], package: str = str(Path(__file__).parents[1])
) -> str:
    """Return file and line of the last frame in our own code, without the machine's paths."""
    home = package.replace("\\", "/").rstrip("/") + "/"
    for frame in reversed(frames):
        file = frame.filename.replace("\\", "/")
        if file.lower().startswith(home.lower()):  # on Windows, drives come in both cases
            return f"{file[len(home) :]}:{frame.lineno}"
    return "a place outside shoal"


def _one_line(text: str) -> str:
    return " ".join(text.split())


if __name__ == "__main__":
    sys.exit(main())
