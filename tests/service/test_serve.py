from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from contextlib import suppress
from pathlib import Path

import pytest
from tests.service.conftest import SCHEMA, TABLE

from shoal.core.errors import InputError, SchemaError
from shoal.service.serve import ServiceRequest, serve


class Served:
    """A service in a process of its own."""

    def __init__(self, folder: Path, *words: str) -> None:
        self.folder = folder
        folder.mkdir(exist_ok=True)
        self.log = folder.with_suffix(".log")  # a pipe that nobody reads would fill up
        with self.log.open("w") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "shoal", "serve", "--folder", str(folder), *words],
                stdout=subprocess.PIPE, stderr=log, text=True,
            )  # fmt: skip
        self.address = self.process.stdout.readline().strip()
        self.token = self.process.stdout.readline().strip().partition(": ")[2]

    def __call__(self, method: str, path: str, data: bytes | None = None, token: str | None = None):
        request = urllib.request.Request(self.address + path, data=data, method=method)
        request.add_header("authorization", f"Bearer {self.token if token is None else token}")
        request.add_header("content-type", "application/octet-stream")
        try:
            with urllib.request.urlopen(request, timeout=120) as answer:
                body = answer.read()
                is_json = "json" in answer.headers.get("content-type", "")
                return answer.status, json.loads(body) if is_json else body
        except urllib.error.HTTPError as error:
            return error.code, json.loads(error.read())

    def children(self) -> list[int]:
        """Return the processes that work on jobs."""
        here = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        return [int(each) for each in here.read_text().split()]

    def ended(self, number: str) -> dict:
        end = time.monotonic() + 1800
        while time.monotonic() < end:
            _, job = self("GET", f"/v1/jobs/{number}")
            if job.get("state") not in ("queued", "running"):
                return job
            time.sleep(0.2)
        raise AssertionError("the job does not end")

    def stop(self, how: int = signal.SIGTERM) -> str:
        self.process.send_signal(how)
        self.process.communicate(timeout=60)
        return self.log.read_text()


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        ({"host": "0.0.0.0"}, "--host needs --tls-cert"),
        ({"host": "0.0.0.0", "behind_proxy": True}, "--host needs --tokens"),
        ({"certificate": "x"}, "go together"),
        ({"port": 70000}, "--port must be"),
    ],
)
def test_what_would_let_others_in_is_refused(words, problem):
    with pytest.raises(SchemaError, match=problem):
        ServiceRequest(**words).check()


def test_a_port_in_use_is_refused(tmp_path):

    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen(1)
        with pytest.raises(InputError, match="in use"):
            serve(ServiceRequest(port=taken.getsockname()[1], folder=tmp_path))


def test_a_service_is_asked_and_leaves_nothing_however_it_ends(tmp_path):
    served = Served(tmp_path / "kept")
    assert served("GET", "/v1/health")[0] == 200
    assert served("GET", "/v1/jobs", token="no")[0] == 401
    status, table = served("POST", "/v1/tables", TABLE.encode())
    assert status == 201
    asked = {"job": "release", "table": table["reference"], "schema": SCHEMA, "method": "mondrian"}
    status, job = served("POST", "/v1/jobs", json.dumps(asked).encode())
    assert status == 202
    done = served.ended(job["id"])
    assert done["files"] == ["table.csv"]
    status, release = served("GET", f"/v1/jobs/{job['id']}/files/table.csv")
    assert release.decode().count("\n") == 241
    left = [each.name for each in served.folder.iterdir()]
    assert len(left) == 1
    served.stop(signal.SIGKILL)
    assert [each.name for each in served.folder.iterdir()] == left
    again = Served(served.folder)  # what a killed one left is removed
    assert left[0] not in [each.name for each in again.folder.iterdir()]
    log = again.stop()
    assert list(again.folder.iterdir()) == []
    assert "Traceback" not in log


def killed_from_outside(served: Served, many: int) -> int:
    """Kill processes of jobs, as a machine does that is out of memory; return how many."""
    killed: set[int] = set()
    end = time.monotonic() + 300
    while len(killed) < many and time.monotonic() < end:
        for child in served.children():
            if child not in killed and len(killed) < many:
                with suppress(ProcessLookupError):
                    os.kill(child, signal.SIGKILL)
                    killed.add(child)
        time.sleep(0.3)
    return len(killed)


@pytest.mark.nightly
def test_fifty_jobs_ten_killed_a_large_upload_wrong_tokens_and_a_slow_client(tmp_path):
    served = Served(tmp_path / "kept", "--jobs", "2", "--max-upload", "1")
    _, table = served("POST", "/v1/tables", TABLE.replace("a\n", "Beatrix\n").encode())
    asked = {"job": "verify", "table": table["reference"], "schema": SCHEMA}
    found: dict[int, tuple[int, dict]] = {}

    def ask(number: int) -> None:
        found[number] = served("POST", "/v1/jobs", json.dumps(asked).encode())

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(50)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [status for status, _ in found.values()] == [202] * 50
    jobs = [job["id"] for _, job in found.values()]
    assert len(set(jobs)) == 50
    for number in jobs[:5]:
        assert served("DELETE", f"/v1/jobs/{number}")[0] == 204
    killed = killed_from_outside(served, 5)
    assert served("GET", "/v1/jobs", token="wrong")[0] == 401
    host, port = served.address.removeprefix("http://").split(":")

    with socket.create_connection((host, int(port)), timeout=60) as large:
        large.sendall(
            b"POST /v1/tables HTTP/1.1\r\nhost: x\r\ncontent-length: 2147483648\r\n"
            + f"authorization: Bearer {served.token}\r\n\r\n".encode()
        )
        assert b" 413 " in large.recv(200)
    with socket.create_connection((host, int(port)), timeout=60) as slow:
        slow.sendall(b"POST /v1/tables HTTP/1.1\r\nhost: x\r\n")  # and not a byte more
        assert served("GET", "/v1/health")[0] == 200
        answers = {number: served.ended(number) for number in jobs[5:]}
    failed = [job for job in answers.values() if job["state"] == "failed"]
    assert {job["error"]["kind"] for job in failed} <= {"Killed"}
    assert 1 <= len(failed) <= killed  # one that had just answered was done
    for number, job in answers.items():
        if job["state"] != "failed":
            assert job["state"] == "done"
            assert served("GET", f"/v1/jobs/{number}/result")[1]["holds"] is True
    assert all(served("GET", f"/v1/jobs/{number}")[0] == 404 for number in jobs[:5])
    end = time.monotonic() + 30  # the last one is told to end after its answer
    while served.children():
        assert time.monotonic() < end
        time.sleep(0.05)
    log = served.stop()
    assert "Beatrix" not in log + json.dumps(list(answers.values()))
    assert list(served.folder.iterdir()) == []
