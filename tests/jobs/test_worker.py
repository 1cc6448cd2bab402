"""A worker makes one release after the other, and says nothing that quotes the data."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import pytest
from tests.jobs.people import files_in

from shoal.jobs.documents import request_document
from shoal.jobs.requests import Output, ReleaseRequest
from shoal.methods.registry import method_named
from shoal.privacy import KAnonymity
from shoal.schema.schema import Schema

pytestmark = pytest.mark.local("workers")


@pytest.fixture
def files(tmp_path):
    return files_in(tmp_path)


def task(files, number, *, k=4, table=None):
    out = files.path(f"run-{number}.parquet")
    schema = Schema.load(files.schema).with_promise([KAnonymity(k)])
    request = ReleaseRequest(
        table=str(table or files.table), schema=schema, method=method_named("bestcut"),
        output=Output(out=out),
    )  # fmt: skip
    return json.dumps({"id": number, "request": request_document(request), "out": str(out)}) + "\n"


def answers(*lines):
    done = subprocess.run(
        [sys.executable, "-m", "shoal.jobs.worker"], input="".join(lines), capture_output=True,
        text=True, timeout=60,
    )  # fmt: skip
    return [json.loads(line) for line in done.stdout.splitlines()]


def started():
    return subprocess.Popen(
        [sys.executable, "-m", "shoal.jobs.worker"], stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, text=True,
    )  # fmt: skip


def answer_of(process):
    for line in process.stdout:
        found = json.loads(line)
        if "stage" not in found:
            return found
    return None


def test_requests_are_answered_one_after_the_other_and_nothing_is_left(files):
    with started() as process:
        found = []
        for number, k in ((0, 4), (1, 99), (2, 8)):
            process.stdin.write(task(files, number, k=k))
            process.stdin.flush()
            found.append(answer_of(process))
        process.stdin.close()
        process.wait(20)
    assert [each["id"] for each in found] == [0, 1, 2]
    assert found[0]["result"]["report"]["smallest_class"] >= 4
    assert found[0]["result"]["cpu_seconds"] > 0
    assert "99" in found[1]["error"]["problem"]
    assert found[2]["result"]["report"]["released"] == 40
    assert not list(files.folder.glob("run-*"))


def test_stages_are_told_while_it_works(files):
    with started() as process:
        process.stdin.write(task(files, 7))
        process.stdin.flush()
        stages = []
        for line in process.stdout:
            found = json.loads(line)
            if "stage" not in found:
                break
            stages.append(found["stage"])
        process.stdin.close()
        process.wait(20)
    assert stages[0] == "read"
    assert "learn" in stages


def test_it_ends_with_its_input():
    with started() as process:
        process.stdin.close()
        assert process.wait(20) in (0, -signal.SIGTERM)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs a pipe that never says anything")
def test_it_ends_in_the_middle_of_a_release_when_nobody_listens_any_more(files):
    """Its table is a pipe that nobody writes to: only the end of its input can stop it."""
    pipe = files.path("endless.csv")
    os.mkfifo(pipe)
    with started() as process:
        process.stdin.write(task(files, 0, table=pipe))
        process.stdin.flush()
        time.sleep(1.5)
        process.stdin.close()
        try:
            process.wait(20)
        finally:
            process.kill()
