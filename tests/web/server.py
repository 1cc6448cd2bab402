"""The page as its user starts it: a process of its own, and the address that it prints."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple


class Server(NamedTuple):
    """A page that is served."""

    process: subprocess.Popen[str]
    address: str
    log: Path

    @property
    def port(self) -> int:
        return int(self.address.split(":")[2].split("/")[0])

    def children(self) -> list[int]:
        """The processes that it has started."""
        tasks = Path(f"/proc/{self.process.pid}/task")
        found = [(each / "children").read_text().split() for each in tasks.iterdir()]
        return [int(number) for numbers in found for number in numbers]


@contextmanager
def served(folder: Path, *words: str) -> Iterator[Server]:
    """Serve a page out of a folder; it is ended in any case."""
    log = folder.parent / f"{folder.name}.log"
    environment = {**os.environ, "NICEGUI_SCREEN_TEST_PORT": "", "PYTHONUNBUFFERED": "1"}
    for name in ("NICEGUI_SCREEN_TEST_PORT", "NICEGUI_USER_SIMULATION", "PYTEST_CURRENT_TEST"):
        environment.pop(name, None)  # NiceGUI looks at them
    with log.open("w") as errors:
        process = subprocess.Popen(
            [sys.executable, "-m", "shoal", "web", *words, "--no-open"], cwd=folder,
            stdout=subprocess.PIPE, stderr=errors, text=True, env=environment,
        )  # fmt: skip
    assert process.stdout is not None
    try:
        address = process.stdout.readline().strip()
        assert address, log.read_text()
        yield Server(process, address, log)
    finally:
        process.terminate()
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        process.stdout.close()
