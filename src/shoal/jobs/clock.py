"""The time of every stage of a job, on the clock and of the processor."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from shoal.core.documents import Document
from shoal.core.watch import tell
from shoal.engines.base import Progress


@dataclass
class Clock:
    """Keeps the time of the stages of one job, and tells when they begin."""

    progress: Progress = tell
    seconds: dict[str, float] = field(default_factory=dict)
    cpu: dict[str, float] = field(default_factory=dict)
    started: float = field(default_factory=time.perf_counter)

    def stage(self, name: str) -> None:
        """Tell that a stage begins."""
        self.progress(name)
        self.seconds.setdefault(name, 0.0)
        self.cpu.setdefault(name, 0.0)

    @contextmanager
    def time(self, name: str, *, is_told: bool = True) -> Iterator[None]:
        """Add the time of some work to its stage."""
        if is_told:
            self.stage(name)
        wall, cpu = time.perf_counter(), time.process_time()
        yield
        self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - wall
        self.cpu[name] = self.cpu.get(name, 0.0) + time.process_time() - cpu

    def spent(self) -> dict[str, float]:
        """Return the seconds of every stage, and of the whole job until now."""
        whole = {**self.seconds, "total": time.perf_counter() - self.started}
        return {name: round(spent, 6) for name, spent in whole.items()}


def rounded(seconds: Mapping[str, float]) -> Document:
    """Return times to the microsecond."""
    return {name: round(spent, 6) for name, spent in seconds.items()}
