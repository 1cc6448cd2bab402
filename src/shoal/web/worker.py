"""The child process of the page and of the service: `python -m shoal.web.worker PACKAGE`.

It reads `{"task": …, "asked": …}` line by line, says how far it is, and answers with a result or
with why there is none. Texts of errors that nobody raised on purpose do not go over the pipe:
they may quote the data. It ends with its input, whatever it is doing.
"""

from __future__ import annotations

import importlib
import json
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from queue import SimpleQueue
from types import FrameType

from shoal.core.documents import Document, parse_json
from shoal.core.errors import ShoalError
from shoal.core.interruptible import heard_again
from shoal.core.watch import Tasks, watched_by

PAGE = "shoal.web.tasks"
_OFTEN = 0.1
"""Seconds between two words about how far a stage is."""


def main(package: str = PAGE) -> int:
    """Answer until the input ends.

    package: has a file a task, and their names (`NAMES`).
    """
    signal.signal(signal.SIGTERM, _terminated)
    lines: SimpleQueue[str | None] = SimpleQueue()
    _load()
    with suppress(KeyboardInterrupt), heard_again():
        threading.Thread(target=_listen, args=(lines,), daemon=True).start()
        while (line := lines.get()) is not None:
            task = parse_json(line, where="task")
            assert isinstance(task, dict)
            say(_answer(task, package))
        signal.signal(signal.SIGTERM, signal.SIG_IGN)  # its own, which may come just now
    return 0


def _load() -> None:
    """Load beforehand what nearly every task needs."""
    for name in ("shoal.jobs.release", "shoal.jobs.risk", "shoal.jobs.infer"):
        importlib.import_module(name)


def _terminated(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt  # so that temporary files are removed on the way out


def _listen(lines: SimpleQueue[str | None]) -> None:
    for line in sys.stdin:
        lines.put(line)
    lines.put(None)
    os.kill(os.getpid(), signal.SIGTERM)  # in the middle of a task: end that, too
    time.sleep(2.0)
    os._exit(1)  # nobody is left who would wait any longer


_saying = threading.Lock()


def say(words: Document) -> None:
    """Say a line to the page, from any thread."""
    with _saying:
        print(json.dumps(words), flush=True)


def _answer(task: Document, package: str = PAGE) -> Document:
    """Do one task; return its result, or why there is none."""
    try:
        name, asked = task["task"], task["asked"]
        assert name in importlib.import_module(package).NAMES
        assert isinstance(asked, dict)
        run: Callable[[Document, Callable[[Document], None]], Document]
        run = importlib.import_module(f"{package}.{name}").run
        with watched_by(Told()):
            result = run(asked, lambda part: say({"part": part}))
    except ShoalError as error:
        return {"error": {"kind": type(error).__name__, "problem": str(error)}}
    except MemoryError:
        return {"error": {"kind": "MemoryError", "problem": "memory ran out"}}
    except Exception as error:  # what it says may quote the data
        return {"error": {"kind": "Bug", "problem": f"a bug of ours: {type(error).__name__}"}}
    return {"result": result}


class Told:
    """Watches a job, and says how far it is."""

    def __init__(self) -> None:
        self._last = 0.0

    def __call__(self, stage: str) -> None:
        """Say that a stage begins."""
        say({"stage": stage})

    def advance(
        self, done: int | None, of: int | None = None, *, share: float | None = None
    ) -> None:
        """Say how far the stage is, not too often."""
        now = time.monotonic()
        if now - self._last < _OFTEN:
            return
        self._last = now
        if share is None and done is not None and of:
            share = done / of
        say({"done": done, "of": of, "share": share})

    def limit(self, seconds: float) -> None:
        """Say how long the stage may take: nothing is known of how far it is."""

    def ask(self, tasks: Callable[[], Tasks | None]) -> None:
        """Hear of the tasks of a cluster; the page has none."""


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
