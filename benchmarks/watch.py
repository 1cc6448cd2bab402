"""Memory and CPU time of a tree of processes, looked at from outside."""

from __future__ import annotations

import os
import threading
import time
from contextlib import suppress
from pathlib import Path


class Watch(threading.Thread):
    """Looks at the memory and CPU time of a process and of all that it started.

    A program that Java has begun to start is Java itself for a moment, with all of its memory, and
    is left out until it is another one.
    """

    def __init__(self, process: int) -> None:
        super().__init__(daemon=True)
        self.process = process
        self.peak = self.driver = 0.0  # megabytes
        self.cpu: dict[int, float] = {}  # seconds of every process that was seen
        self.done = False

    @classmethod
    def tree_cpu(cls) -> dict[int, float]:
        """Return the CPU seconds of this process and of all below it."""
        watch = cls(os.getpid())
        watch._tree(watch.process, is_driver=True)
        return watch.cpu

    def run(self) -> None:
        while not self.done:
            whole = driver = 0.0
            for megabytes, is_driver in self._tree(self.process, is_driver=True):
                whole += megabytes
                driver += megabytes if is_driver else 0.0
            self.peak, self.driver = max(self.peak, whole), max(self.driver, driver)
            time.sleep(0.3)

    def _tree(
        self, process: int, *, is_driver: bool, parent: bytes = b""
    ) -> list[tuple[float, bool]]:
        place = Path(f"/proc/{process}")
        try:
            words = (place / "cmdline").read_bytes()
            status = (place / "status").read_text()
            times = (place / "stat").read_text().rpartition(")")[2].split()
            threads = list((place / "task").iterdir())
        except OSError:
            return []
        if words == parent and words.partition(b"\0")[0].endswith(b"java"):
            return []
        children = ""
        for thread in threads:
            with suppress(OSError):  # threads come and go
                children += (thread / "children").read_text() + " "
        self.cpu[process] = (int(times[11]) + int(times[12])) / os.sysconf("SC_CLK_TCK")
        # An executor and what it starts are not the driver's.
        is_driver = is_driver and b"CoarseGrainedExecutorBackend" not in words
        kilobytes = [line.split()[1] for line in status.splitlines() if line.startswith("RssAnon")]
        found = [(float(kilobytes[0]) / 1000 if kilobytes else 0.0, is_driver)]
        for child in children.split():
            found += self._tree(int(child), is_driver=is_driver, parent=words)
        return found
