"""Progress on standard error, for whatever takes longer than a second.

A bar, records done and of how many, and the time that is left of the step, where an engine knows
them; otherwise a bar that only moves. In a pipe, and where nobody waits for words, nothing.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, TextIO

from shoal.core.watch import Tasks, watched_by, watcher

if TYPE_CHECKING:
    from rich.progress import Progress, Task
    from rich.progress_bar import ProgressBar
    from rich.text import Text

WORDS = {
    "read": "reading",
    "count": "counting",
    "compile": "compiling the kernels (once; the next run starts at once)",
    "learn": "searching",
    "encode": "recoding",
    "verify": "verifying what was written",
    "write": "finishing",
    "measure": "measuring what was lost",
    "model": "building and trying the model",
    "judge": "judging the table",
    "infer": "looking at the columns",
    "compare": "releasing side by side",
}
UNITS = {"compare": "runs"}
"""What is counted in a stage; records, if nothing is said."""
_TALKING = ("demo", "warm", "completion")  # they print as they go
_EARLY = 1.0  # seconds of a step before its time is believed
_LEAST = 0.02  # share of a step before its time is believed


class Stages:
    """Watches one command; shows a bar once a second has passed."""

    def __init__(self, *, quiet: bool, clock: Callable[[], float] = time.monotonic) -> None:
        self.quiet, self.clock = quiet, clock
        self.stage = "working"
        self.tasks: Callable[[], Tasks | None] | None = None
        self._stream: TextIO | None = sys.stderr
        self._bar: Progress | None = None
        self._lock = threading.Lock()
        self._timer = threading.Timer(1.0, self._show)
        self._timer.daemon = True
        self._begin()

    def _begin(self) -> None:
        """Begin a step: nothing is known of it."""
        self.since = self.clock()
        self.done: int | None = None
        self.of: int | None = None
        self.share: float | None = None
        self.seconds: float | None = None

    def __call__(self, stage: str) -> None:
        """Move on to the next stage."""
        is_compiling = stage == "compile" and self.stage != "compile"
        self.stage = stage
        self._begin()
        if is_compiling and not self.quiet and not self._is_terminal:
            print(f"shoal: {WORDS['compile']}", file=sys.stderr)

    def advance(
        self, done: int | None, of: int | None = None, *, share: float | None = None
    ) -> None:
        """Note how many records are done; fewer than before are those of another pass."""
        if share is None and done is not None and of:
            share = done / of
        if share is not None and self.share is not None and share < self.share:
            self._begin()
        self.done, self.of, self.share = done, of, share

    def limit(self, seconds: float) -> None:
        """Note how long the stage may take."""
        self.seconds = seconds

    def ask(self, tasks: Callable[[], Tasks | None]) -> None:
        """Note what knows of the tasks on a cluster."""
        self.tasks = tasks

    def part(self) -> float | None:
        """Return the share of the step that is done; None: not known."""
        if self.share is not None:
            return min(self.share, 1.0)
        if self.seconds:
            return min((self.clock() - self.since) / self.seconds, 1.0)
        return None

    def left(self) -> float | None:
        """Return the seconds that are left of the step; None where they cannot be known yet."""
        spent, share = self.clock() - self.since, self.share
        if share is None:
            return max(self.seconds - spent, 0.0) if self.seconds else None
        if spent < _EARLY or not _LEAST <= share < 1:
            return None
        return spent * (1 - share) / share

    def line(self) -> str:
        """Return what is known, in words."""
        words = [WORDS.get(self.stage, self.stage)]
        if self.done is not None:
            of = f" of {self.of:,}" if self.of else ""
            words.append(f"{self.done:,}{of} {UNITS.get(self.stage, 'records')}")
        elif self.tasks is not None:
            found = None
            with suppress(Exception):  # a cluster that is going away knows nothing
                found = self.tasks()
            words += [] if found is None else [f"{found.done:,} of {found.of:,} tasks"]
        left = self.left()
        if left is not None:
            most = "at most " if self.share is None else ""
            words.append(f"{most}{duration(left)} left")
        return " · ".join(words)

    @property
    def _is_terminal(self) -> bool:
        return self._stream is not None and self._stream.isatty()

    def _show(self) -> None:
        if self.quiet or self._stream is None or not self._is_terminal:
            return
        with self._lock:
            if not self._timer.finished.is_set():
                self._bar = _bar(self, self._stream)
                self._bar.start()

    def start(self) -> None:
        """Begin to wait for the first second."""
        if self._is_terminal and not self.quiet:
            self._timer.start()

    def stop(self) -> None:
        """Take the bar away."""
        with self._lock:
            self._timer.cancel()
            if self._bar is not None:
                self._bar.stop()
                self._bar = None


def _bar(stages: Stages, stream: TextIO) -> Progress:
    """Return a bar that asks the stages how far they are whenever it is drawn."""
    from rich.console import Console
    from rich.progress import Progress, ProgressColumn
    from rich.progress_bar import ProgressBar
    from rich.text import Text

    class Bar(ProgressColumn):
        def render(self, task: Task) -> ProgressBar:
            part = stages.part()
            if part is None:
                return ProgressBar(width=30, pulse=True, animation_time=task.get_time())
            return ProgressBar(total=1.0, completed=part, width=30)

    class Words(ProgressColumn):
        def render(self, task: Task) -> Text:
            return Text(stages.line())

    shown = Progress(
        Bar(), Words(), console=Console(file=stream), transient=True, refresh_per_second=4,
        redirect_stdout=False, redirect_stderr=False,
    )  # fmt: skip
    shown.add_task("")
    return shown


def duration(seconds: float) -> str:
    """Return a time for a person.

    Example:
        >>> duration(0.2), duration(75), duration(7380)
        ('1 s', '1 min 15 s', '2 h 3 min')
    """
    whole = max(round(seconds), 1)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


@contextmanager
def shown(
    words: Sequence[str], silencing: Collection[str] = ("--quiet", "--json")
) -> Iterator[None]:
    """Show how far a command is, unless it was asked for silence or talks itself."""
    command = next((word for word in words if word[:1] != "-"), "")
    quiet = command in _TALKING or any(word in silencing for word in words)
    stages = Stages(quiet=quiet)
    stages.start()
    try:
        with watched_by(stages):
            yield
    finally:
        stages.stop()


def clear() -> None:
    """Take the bar away for good: something else is printed now."""
    now = watcher()
    if isinstance(now, Stages):
        now.stop()
