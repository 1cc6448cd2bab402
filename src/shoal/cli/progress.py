"""Progress on standard error, for whatever takes longer than a second."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress

STAGES = ("read", "compile", "learn", "encode", "verify", "write", "measure", "model")
_WORDS = {
    "read": "reading",
    "compile": "compiling the kernels (once; the next run starts at once)",
    "learn": "searching",
    "encode": "recoding and writing",
    "verify": "verifying what was written",
    "write": "finishing",
    "measure": "measuring what was lost",
    "model": "building and trying the model",
}


class Stages:
    """Is given the name of each stage; shows a bar once a second has passed."""

    def __init__(self, *, quiet: bool) -> None:
        self.quiet = quiet
        self.stage = STAGES[0]
        self._bar: Progress | None = None
        self._lock = threading.Lock()
        self._timer = threading.Timer(1.0, self._show)
        self._timer.daemon = True

    def __call__(self, stage: str) -> None:
        """Move on to the next stage."""
        with self._lock:
            is_compiling = stage == "compile" and self.stage != "compile"
            self.stage = stage
            self._update()
        if is_compiling and not self.quiet and not sys.stderr.isatty():
            print(f"shoal: {_WORDS['compile']}", file=sys.stderr)

    def _show(self) -> None:
        if self.quiet or not sys.stderr.isatty():
            return
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

        with self._lock:
            bar = Progress(
                TextColumn("{task.description}"),
                BarColumn(),
                TimeElapsedColumn(),
                console=Console(stderr=True),
                transient=True,
            )
            bar.add_task("", total=len(STAGES))
            self._bar = bar
            self._update()
            bar.start()

    def _update(self) -> None:
        if self._bar is not None:
            done = STAGES.index(self.stage) if self.stage in STAGES else 0
            words = _WORDS.get(self.stage, self.stage)
            self._bar.update(self._bar.task_ids[0], completed=done, description=words)

    def start(self) -> None:
        """Begin to wait for the first second."""
        if not self.quiet:
            self._timer.start()

    def stop(self) -> None:
        """Take the bar away."""
        self._timer.cancel()
        with self._lock:
            if self._bar is not None:
                self._bar.stop()


@contextmanager
def stages(*, quiet: bool) -> Iterator[Stages]:
    """Show the stages of one piece of work."""
    shown = Stages(quiet=quiet)
    shown.start()
    try:
        yield shown
    finally:
        shown.stop()
