"""Work that takes its time runs in a child process, which can be ended at any moment.

`python -m shoal.web.worker` is handed one task a line and answers in JSON lines. It ends with
its input: when the server dies, however it dies, no child is left.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from collections.abc import Callable, Coroutine
from contextlib import suppress
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from shoal.core.documents import Document, Json, parse_json
from shoal.core.errors import OutputError, ShoalError

PATIENCE = 0.25
"""Seconds that a child has to clean up before it is killed."""
MOST_WORDS = 256 * 2**20
"""Bytes that an answer may have."""
_EARLY, _LEAST = 1.0, 0.02  # seconds and share of a stage before its time is believed


class Standing(StrEnum):
    """How a job stands."""

    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


@dataclass(eq=False, slots=True)
class Job:
    """A task that a child works on.

    Attributes:
        name: the task.
        asked: what was asked.
        stage: what it does now; see `core.watch`.
        done, of, share: how far that is, where it is known.
        result: the answer, once it is done.
        error: why there is none; never a value of the data.
        parts: what it said on the way, such as the runs of a comparison.
    """

    name: str
    asked: Document = field(repr=False)
    on_progress: Callable[[Job], None] | None = None
    standing: Standing = Standing.RUNNING
    stage: str = ""
    done: int | None = None
    of: int | None = None
    share: float | None = None
    result: Document | None = field(default=None, repr=False)
    error: str | None = None
    kind: str | None = None
    parts: list[Document] = field(default_factory=list, repr=False)
    began: float = field(default_factory=time.monotonic)
    since: float = field(default_factory=time.monotonic)
    ended: asyncio.Event = field(default_factory=asyncio.Event, repr=False)

    @property
    def is_running(self) -> bool:
        """Say whether it is still worked on."""
        return self.standing is Standing.RUNNING

    @property
    def left(self) -> float | None:
        """Return the seconds that are left of the stage; None where nobody knows yet."""
        spent, share = time.monotonic() - self.since, self.share
        if share is None or spent < _EARLY or not _LEAST <= share < 1:
            return None
        return spent * (1 - share) / share

    async def wait(self) -> Job:
        """Wait until it is done, has failed or was cancelled."""
        await self.ended.wait()
        return self

    def hear(self, words: Document) -> None:
        """Take in a line of the child."""
        if "stage" in words:
            self.stage, self.since = str(words["stage"]), time.monotonic()
            self.done = self.of = self.share = None
        elif "done" in words:
            self.done, self.of = _whole(words["done"]), _whole(words.get("of"))
            share = words.get("share")
            self.share = float(share) if isinstance(share, (int, float)) else None
        elif isinstance(part := words.get("part"), dict):
            self.parts.append(part)
        elif isinstance(result := words.get("result"), dict):
            self.result = result
            self._end(Standing.DONE)
        elif isinstance(error := words.get("error"), dict):
            self.fail(str(error.get("problem", "")), kind=str(error.get("kind", "")))
        self.tell()

    def fail(self, problem: str, *, kind: str) -> None:
        """Note that there will be no answer."""
        self.error, self.kind = problem, kind
        self._end(Standing.FAILED)

    def cancelled(self) -> None:
        """Note that nobody waits for it any more."""
        if self.is_running:
            self._end(Standing.CANCELLED)
            self.tell()

    def tell(self) -> None:
        """Tell whoever asked how it stands."""
        if self.on_progress is not None:
            self.on_progress(self)

    def _end(self, standing: Standing) -> None:
        self.standing = standing
        self.ended.set()


def _whole(value: Json) -> int | None:
    return int(value) if isinstance(value, (int, float)) else None


class Child:
    """One child process; it does one task after the other.

    tasks: the package that has a file a task.
    """

    def __init__(self, folder: Path, *, tasks: str = "shoal.web.tasks") -> None:
        self.folder = folder
        self.tasks = tasks
        self._process: asyncio.subprocess.Process | None = None
        self._turn = asyncio.Lock()
        self._starting = asyncio.Lock()
        self._is_stopped = False

    async def start(self) -> asyncio.subprocess.Process:
        """Start the process, unless it runs; it loads what it needs at once.

        Raises:
            OutputError: the child was stopped; nothing starts it again.
        """
        async with self._starting:
            return await self._started()

    async def _started(self) -> asyncio.subprocess.Process:
        if self._is_stopped:
            raise OutputError(where="child", problem="was stopped")
        if self._process is None or self._process.returncode is not None:
            self._process = await asyncio.create_subprocess_exec(
                sys.executable, "-m", "shoal.web.worker", self.tasks,
                stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.DEVNULL, cwd=self.folder, limit=MOST_WORDS,
                start_new_session=True, env=_environment(),
            )  # fmt: skip
        return self._process

    async def warm(self) -> None:
        """Start the process beforehand."""
        with suppress(OutputError):
            await self.start()

    async def run(self, job: Job) -> None:
        """Have a task done; what the child says goes to the job."""
        async with self._turn:
            if not job.is_running:
                return
            try:
                process = await self.start()
            except OutputError:
                job.cancelled()
                return
            assert process.stdin is not None
            assert process.stdout is not None
            # It has died: there is no answer. RuntimeError: uvloop has closed the pipe already.
            with suppress(OSError, RuntimeError):
                line = json.dumps({"task": job.name, "asked": job.asked})
                process.stdin.write(line.encode() + b"\n")
                await process.stdin.drain()
            while (words := await _line(process.stdout)) is not None:
                if job.is_running:
                    job.hear(words)
                if "result" in words or "error" in words:  # of a dropped question, too
                    break
            if job.is_running:
                problem = "the process that worked on it has ended; was there enough memory?"
                job.fail(problem, kind="Killed")
                job.tell()

    async def stop(self) -> None:
        """End the process, with what it is doing: within half a second."""
        self._is_stopped = True
        async with self._starting:  # a process that is just being started is ended, too
            process, self._process = self._process, None
        if process is None or process.returncode is not None:
            return
        with suppress(ProcessLookupError):
            process.terminate()
        try:
            await asyncio.wait_for(process.wait(), PATIENCE)
        except TimeoutError:
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()


async def _line(stream: asyncio.StreamReader) -> Document | None:
    """Return the next line of a child; None: there is none."""
    while line := await stream.readline():
        with suppress(ShoalError, UnicodeDecodeError):
            words = parse_json(line.decode(), where="answer")
            if isinstance(words, dict):
                return words
    return None


def _environment() -> dict[str, str]:
    """Return the environment of a child: one core is left to the page."""
    threads = max((os.cpu_count() or 2) - 1, 1)
    return {"POLARS_MAX_THREADS": str(threads), **os.environ}


class Children:
    """The children of a project: one for quick questions, and one a job, started beforehand."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._spare: Child | None = None
        self._quick = Child(folder)
        self._asked: dict[str, Job] = {}
        self._busy: dict[Job, Child] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    def warm(self) -> None:
        """Start children beforehand: loading takes longer than most of what they do."""
        self._spare = self._spare or Child(self.folder)
        for child in (self._spare, self._quick):
            self._do(child.warm())

    def start(self, job: Job) -> Job:
        """Have a job done by a child of its own."""
        child, self._spare = self._spare or Child(self.folder), None
        self._busy[job] = child
        self._do(self._work(job, child))
        return job

    def ask(self, job: Job) -> Job:
        """Have a quick question answered; an older one of the same name is dropped."""
        before = self._asked.get(job.name)
        if before is not None:
            before.cancelled()
        self._asked[job.name] = job
        self._do(self._quick.run(job))
        return job

    async def cancel(self, job: Job) -> None:
        """End a job and the process that worked on it."""
        job.cancelled()
        child = self._busy.pop(job, None)
        if child is not None:
            await child.stop()

    async def stop(self) -> None:
        """End all of them."""
        for job in list(self._busy):
            await self.cancel(job)
        for child in (self._spare, self._quick):
            if child is not None:
                await child.stop()
        self._spare, self._quick = None, Child(self.folder)
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _work(self, job: Job, child: Child) -> None:
        try:
            await child.run(job)
        finally:
            if self._busy.pop(job, None) is not None:
                if self._spare is None:
                    self._spare = child
                else:
                    await child.stop()

    def _do(self, work: Coroutine[object, object, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
