"""How far a job is, told to whoever watches it.

A job tells its stages and an engine the records that are done; neither knows who listens. Nobody
does, unless a command line or a page says so. Only counts are told, never a value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import NamedTuple, Protocol


class Tasks(NamedTuple):
    """How many tasks of a cluster are done, of those that it knows of now."""

    done: int
    of: int


class Watcher(Protocol):
    """Is told how far a job is, from any thread."""

    def __call__(self, stage: str) -> None:
        """Hear that a stage begins."""

    def advance(
        self, done: int | None, of: int | None = None, *, share: float | None = None
    ) -> None:
        """Hear how many records of the stage are done, of how many, and what share of it that is.

        None: not known; the share is then that of the bytes read, or not known either.
        """

    def limit(self, seconds: float) -> None:
        """Hear how long the stage may take."""

    def ask(self, tasks: Callable[[], Tasks | None]) -> None:
        """Be given what says, whenever it is asked, how many tasks are done."""


class _Nobody:
    """Hears nothing."""

    def __call__(self, stage: str) -> None:
        pass

    def advance(
        self, done: int | None, of: int | None = None, *, share: float | None = None
    ) -> None:
        pass

    def limit(self, seconds: float) -> None:
        pass

    def ask(self, tasks: Callable[[], Tasks | None]) -> None:
        pass


NOBODY = _Nobody()
"""Who watches where nobody does."""
_watcher: ContextVar[Watcher] = ContextVar("watcher", default=NOBODY)


def watcher() -> Watcher:
    """Return who watches; ask before work goes to other threads, which do not know."""
    return _watcher.get()


def tell(stage: str) -> None:
    """Tell whoever watches that a stage begins."""
    _watcher.get()(stage)


@contextmanager
def watched_by(who: Watcher) -> Iterator[None]:
    """Let somebody watch what is done meanwhile."""
    before = _watcher.set(who)
    try:
        yield
    finally:
        _watcher.reset(before)
