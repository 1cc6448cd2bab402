"""Two worker processes for all tests that compare: starting one costs more than its releases."""

from __future__ import annotations

from contextlib import contextmanager

import pytest

from shoal.jobs import compare
from shoal.jobs.worker_process import WorkerProcess

NUMBER = 2


@pytest.fixture(scope="session")
def worker_processes():
    """Yield workers that live as long as the run of the tests."""
    workers = [WorkerProcess() for _ in range(NUMBER)]
    yield workers
    for worker in workers:
        worker.stop()


@pytest.fixture
def lent_workers(worker_processes, monkeypatch):
    """Have `compare` work with the workers of the run; they are not stopped after it."""

    @contextmanager
    def lent(number):
        yield worker_processes[:number]

    monkeypatch.setattr(compare, "_workers", lent)
