"""Jobs in a bounded queue: each in a process of its own, ended on time, forgotten on time."""

from __future__ import annotations

import asyncio
import secrets
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from shoal.core.documents import Document
from shoal.service.limits import Limits
from shoal.service.refusals import Refusal, not_there
from shoal.service.store import Store, remove_folder
from shoal.web.child import Child, Job, Standing

TASKS = "shoal.service.tasks"


@dataclass(eq=False, slots=True)
class Work:
    """A job of a client.

    Attributes:
        kind: the job's name, such as release.
        folder: where its files go.
        job: how it stands, and its result.
        begun: it left the queue.
        until: when it is forgotten, in seconds of `Store.clock`; None while it is not ended.
    """

    id: str
    client: str
    kind: str
    folder: Path
    job: Job = field(repr=False)
    begun: bool = False
    until: float | None = None

    @property
    def state(self) -> str:
        """Return how it stands: queued, running, done, failed or cancelled."""
        if self.job.standing is Standing.RUNNING and not self.begun:
            return "queued"
        return self.job.standing.value

    @property
    def files(self) -> list[str]:
        """Return what it has written; nothing before it is done."""
        if self.job.standing is not Standing.DONE:
            return []
        return sorted(each.name for each in self.folder.iterdir() if each.is_file())


@dataclass(slots=True)
class Queue:
    """The jobs of all clients.

    Guarantee:
        At most `limits.running` processes work and `limits.waiting` jobs wait. No process
        outlives its job, and no file outlives what the client was told.
    """

    store: Store
    limits: Limits
    on_end: Callable[[Work], None] = lambda work: None
    _works: dict[str, Work] = field(default_factory=dict, repr=False)
    _waiting: deque[Work] = field(default_factory=deque, repr=False)
    _busy: dict[Work, Child] = field(default_factory=dict, repr=False)
    _tasks: set[asyncio.Task[None]] = field(default_factory=set, repr=False)

    def check(self) -> None:
        """Refuse a job for which there is no place.

        Raises:
            Refusal: try again later.
        """
        if len(self._waiting) >= self.limits.waiting and len(self._busy) >= self.limits.running:
            problem = f"{self.limits.waiting} jobs wait already; try again later"
            raise Refusal(503, "Busy", problem, headers={"retry-after": "10"})

    def add(self, client: str, kind: str, asked: Document) -> Work:
        """Take on a job; `asked["out"]` will be its folder."""
        self.check()
        folder = self.store.new_folder()
        job = Job(name="job", asked={**asked, "out": str(folder)})
        work = Work(secrets.token_hex(16), client, kind, folder, job)
        self._works[work.id] = work
        self._waiting.append(work)
        self._next()
        return work

    def work(self, client: str, number: str) -> Work:
        """Return a job of a client.

        Raises:
            Refusal: there is no such job of this client.
        """
        found = self._works.get(number)
        if found is None or found.client != client:
            raise not_there("job")
        return found

    def works(self, client: str) -> list[Work]:
        """Return all jobs of a client."""
        return [each for each in self._works.values() if each.client == client]

    def file(self, client: str, number: str, name: str) -> Path:
        """Return a file that a job has written.

        Raises:
            Refusal: there is no such file.
        """
        work = self.work(client, number)
        if name not in work.files:
            raise not_there("file")
        return work.folder / name

    async def remove(self, work: Work) -> None:
        """End a job, if it goes on, and forget it with its files."""
        work.job.cancelled()
        self._works.pop(work.id, None)
        with suppress(ValueError):
            self._waiting.remove(work)
        child = self._busy.get(work)
        if child is not None:
            await child.stop()
        remove_folder(work.folder)

    async def sweep(self) -> None:
        """Forget the jobs whose time is over."""
        now = self.store.clock()
        for each in [w for w in self._works.values() if w.until is not None and w.until <= now]:
            await self.remove(each)

    async def stop(self) -> None:
        """End everything."""
        for each in list(self._works.values()):
            await self.remove(each)
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _next(self) -> None:
        while self._waiting and len(self._busy) < self.limits.running:
            work = self._waiting.popleft()
            work.begun = True
            self._busy[work] = Child(work.folder, tasks=TASKS)
            task = asyncio.get_running_loop().create_task(self._do(work))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _do(self, work: Work) -> None:
        child = self._busy[work]
        try:
            await asyncio.wait_for(child.run(work.job), self.limits.seconds)
        except TimeoutError:
            problem = (
                f"it took longer than {self.limits.seconds:g} seconds; a faster method, a part"
            )
            work.job.fail(f"{problem} of the table, or another limit would do", kind="TooLong")
        except Exception as error:  # no process, or one that broke: nobody may wait for ever
            problem = f"its process did not work ({type(error).__name__}); ask again"
            work.job.fail(problem, kind="Killed")
        finally:
            await child.stop()
            del self._busy[work]
            self._ended(work)
            self._next()

    def _ended(self, work: Work) -> None:
        work.until = self.store.clock() + self.limits.keep
        if work.job.standing is not Standing.DONE or work.id not in self._works:
            remove_folder(work.folder)
        self.on_end(work)
