"""The parent's end of a worker: answers, deaths, and an end without leftovers."""

from __future__ import annotations

import pytest
from tests.jobs.people import files_in
from tests.jobs.test_worker import task

from shoal.core.documents import parse_json
from shoal.jobs.worker_process import WorkerProcess

pytestmark = pytest.mark.local("workers")


@pytest.fixture
def worker():
    found = WorkerProcess()
    yield found
    found.stop()


def run(worker, files, number=0, **words):
    asked = parse_json(task(files, number, **words), where="task")
    return worker.run(number, asked["request"], files.path(f"run-{number}.parquet"))


def test_a_process_serves_several_runs(worker, tmp_path):
    files = files_in(tmp_path)
    first = run(worker, files)
    process = worker._process
    second = run(worker, files, 1, k=8)
    assert worker._process is process
    assert first["result"]["report"]["classes"] > second["result"]["report"]["classes"]
    assert "id" not in first


def test_a_process_that_dies_is_a_run_that_failed_and_another_takes_its_place(worker, tmp_path):
    files = files_in(tmp_path)
    run(worker, files)
    worker._process.kill()
    worker._process.wait()
    found = run(worker, files, 1)
    assert found["error"]["kind"] == "Killed"
    assert "-9" in found["error"]["problem"]
    assert "result" in run(worker, files, 2)


def test_stopping_twice_is_stopping_once(tmp_path):
    worker = WorkerProcess()
    worker.stop()
    run(worker, files_in(tmp_path))
    process = worker._process
    worker.stop()
    worker.stop()
    assert process.poll() is not None
