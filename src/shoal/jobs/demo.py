"""The first release, command by command: what `shoal demo` runs, and where.

The steps are command lines, not calls: what is shown is what runs, and whoever likes the result
can type the same for a table of their own.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from itertools import count
from pathlib import Path
from typing import NamedTuple

from shoal.core.errors import OutputError

FOLDER = "shoal-demo"
TABLE = "stays.csv"
REPORT = "report.html"


class Step(NamedTuple):
    """A command of the demo.

    Attributes:
        about: what it is for.
        arguments: what stands behind `shoal` on the command line.
    """

    about: str
    arguments: tuple[str, ...]


STEPS = (
    Step(
        "A table about people: a register of hospital stays in which nobody exists.",
        ("sample", "hospital", "--records", "5000", "--seed", "7", "--out", TABLE),
    ),
    Step(
        "Which columns identify people? The answer is a schema, to be read and corrected.",
        ("infer", TABLE, "--out", "schema.yaml"),
    ),
    Step(
        "How risky is the table as it stands?",
        ("risk", TABLE, "--schema", "schema.yaml"),
    ),
    Step(
        "The release: it keeps what the schema promises, or it is not written.",
        (
            *("anonymize", TABLE, "--schema", "schema.yaml"),
            *("--out", "release.csv", "--report", REPORT),
        ),
    ),
    Step(
        "Does it hold? Judged from the file alone, by code that knows nothing of the search.",
        ("verify", "release.csv", "--schema", "schema.yaml"),
    ),
)


def make_folder(out: Path | None = None) -> Path:
    """Make the demo's folder and return it: the one asked for, or a new one beside the others.

    Raises:
        OutputError: it is not empty, or no folder. Nothing that lies there is ever replaced.
    """
    if out is None:
        names = (FOLDER if n == 1 else f"{FOLDER}-{n}" for n in count(1))
        out = next(path for path in map(Path, names) if not path.exists())
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise OutputError(
            where=str(out), problem="the demo needs a new or empty folder: name another with --out"
        )
    out.mkdir(parents=True, exist_ok=True)
    return out


def has_screen(environment: Mapping[str, str] = os.environ, platform: str = sys.platform) -> bool:
    """Say whether a page can be opened for whoever started this process."""
    if platform in ("darwin", "win32"):
        return "SSH_CONNECTION" not in environment  # the screen is elsewhere
    return bool(environment.get("DISPLAY") or environment.get("WAYLAND_DISPLAY"))
