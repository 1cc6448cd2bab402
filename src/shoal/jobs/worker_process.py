"""The other end of `jobs.worker`: a process that is handed requests, one after the other."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

from shoal.core.documents import Document, parse_json
from shoal.core.errors import ShoalError

PATIENCE = 5.0
"""Seconds that a process has to clean up before it is killed."""


class WorkerProcess:
    """A process that makes releases; a new one takes its place where it dies.

    threads: for its searches, and for reading and writing.
    """

    def __init__(self, threads: int = 1) -> None:
        self.threads = threads
        self._process: subprocess.Popen[str] | None = None
        self._is_stopped = False

    def run(self, number: int, request: Document, out: Path) -> Document:
        """Hand it a release, wait, and return its answer.

        out: where the release goes; the worker removes it.
        """
        process = self._started()
        assert process.stdin is not None
        assert process.stdout is not None
        task = {"id": number, "request": request, "out": str(out)}
        with suppress(OSError, ValueError):  # it has died, or was stopped: there is no answer
            process.stdin.write(json.dumps(task) + "\n")
            process.stdin.flush()
            for line in process.stdout:
                with suppress(ShoalError):
                    answer = parse_json(line, where="answer")
                    if isinstance(answer, dict) and "stage" not in answer:
                        return {name: value for name, value in answer.items() if name != "id"}
        out.unlink(missing_ok=True)
        self._process = None
        code = process.wait()
        problem = f"its process ended with code {code}; was there enough memory?"
        return {"error": {"kind": "Killed", "problem": problem}}

    def stop(self) -> None:
        """End the process, with what it is doing."""
        self._is_stopped = True
        process, self._process = self._process, None
        if process is None:
            return
        process.terminate()
        try:
            process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        for pipe in (process.stdin, process.stdout):
            with suppress(OSError, ValueError):
                if pipe is not None:
                    pipe.close()

    def _started(self) -> subprocess.Popen[str]:
        if self._process is None:
            # A group of its own: Ctrl-C reaches the parent alone, which ends its workers.
            self._process = subprocess.Popen(
                [sys.executable, "-m", "shoal.jobs.worker"],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                text=True, encoding="utf-8", start_new_session=True,
                env={**os.environ, "POLARS_MAX_THREADS": str(self.threads)},
            )  # fmt: skip
        return self._process
