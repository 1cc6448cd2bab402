"""`-`: a table from standard input, a release to standard output.

A table must be read more than once, so standard input is copied into a folder that only this user
can open. A release is written into the same folder, verified there, and only then copied to
standard output. The folder is removed when the command ends.
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TextIO

from shoal.cli import progress
from shoal.core.errors import InputError, OutputError
from shoal.reports.document import ReportDocument

MARK = "-"
_MAGIC = ((b"PAR1", ".parquet"), (b"ARROW1", ".arrow"), (b"\x1f\x8b", ".csv.gz"))


@dataclass
class _Streams:
    """What the running command has made of its standard streams."""

    folder: Path | None = None
    table: Path | None = None
    release: Path | None = None


_now = _Streams()


@contextmanager
def streams() -> Iterator[None]:
    """Let one command use `-`; afterwards its copies are gone."""
    global _now
    before, _now = _now, _Streams()
    try:
        yield
    finally:
        if _now.folder is not None:
            shutil.rmtree(_now.folder, ignore_errors=True)
        _now = before


def table() -> Path:
    """Return a private copy of standard input; its ending says what it is.

    Raises:
        InputError: standard input is a terminal.
    """
    if _now.table is None:
        if sys.stdin is None or sys.stdin.isatty():
            raise InputError(
                where="standard input",
                problem="is a terminal; pipe a table into it, or name a file",
            )
        source = sys.stdin.buffer
        head = source.read(2**16)
        _now.table = _folder() / f"standard-input{_ending(head)}"
        with _now.table.open("wb") as copy:
            copy.write(head)
            shutil.copyfileobj(source, copy, 2**20)
    return _now.table


def release() -> Path:
    """Return where a release for standard output is written and verified first."""
    if _now.release is None:
        _now.release = _folder() / "standard-output.csv"
    return _now.release


def deliver() -> None:
    """Copy the verified release to standard output, if it goes there.

    Raises:
        OutputError: standard output cannot be written to.
    """
    if _now.release is None:
        return
    progress.clear()
    try:
        with _now.release.open("rb") as file:
            shutil.copyfileobj(file, sys.stdout.buffer, 2**20)
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OutputError(
            where="standard output",
            problem=f"cannot be written ({error.strerror}); free space, or name a file",
        ) from None


def answers() -> TextIO:
    """Return where answers go: not among the records of a release."""
    return sys.stdout if _now.release is None else sys.stderr


def renamed(text: str, *, mark: bool = False) -> str:
    """Return a text in which the private copies have the names that the user knows.

    mark: write them as on a command line.
    """
    for place, name in ((_now.table, "standard input"), (_now.release, "standard output")):
        if place is not None:
            text = text.replace(str(place), MARK if mark else name)
    return text


def in_words(report: ReportDocument) -> ReportDocument:
    """Return a report whose request names the streams as a command line does."""
    request = json.loads(renamed(json.dumps(report.making.request), mark=True))
    return replace(report, making=replace(report.making, request=request))


def _folder() -> Path:
    if _now.folder is None:
        _now.folder = Path(tempfile.mkdtemp(prefix="shoal-"))  # mode 0700
    return _now.folder


def _ending(head: bytes) -> str:
    for magic, ending in _MAGIC:
        if head.startswith(magic):
            return ending
    return ".jsonl" if head.lstrip()[:1] == b"{" else ".csv"
