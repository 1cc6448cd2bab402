"""Real clusters on one machine: executors are killed, and nobody can tell from the result."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.conftest import ROOT
from tests.engines.spark.tables import PROMISE, frame, schema

from shoal import api

JOB = Path(__file__).with_name("cluster_job.py")
pytestmark = pytest.mark.slow


def environment():
    found = {**os.environ, "PYTHONPATH": f"{ROOT / 'src'}:{ROOT}", "SPARK_LOCAL_IP": "127.0.0.1"}
    found |= {"SPARK_DAEMON_MEMORY": "256m", "SPARK_DAEMON_JAVA_OPTS": "-XX:TieredStopAtLevel=1"}
    found |= {"PYSPARK_PYTHON": sys.executable}
    return found


@pytest.fixture
def place(tmp_path):
    frame().write_parquet(tmp_path / "in.parquet")
    options = {"partitions": 3, "partition_by": "random", "seed": 4}
    made = api.anonymize(frame(), schema(), privacy=PROMISE, **options)
    made.table.write_csv(tmp_path / "wanted.csv")
    return tmp_path


TRIES = 3  # a stage may be over before a busy machine lets us look for its executors


def run_job(master, place, stages, *person):
    for number in range(TRIES):
        killed = run_once(master, place, place / f"out-{number}.csv", stages, *person)
        if killed == stages.split(","):
            return
    pytest.fail(f"only {killed} lost an executor, of {stages}, in the last of {TRIES} tries")


def run_once(master, place, out, stages, *person):
    """Run the job; return the stages in which an executor was killed. Nobody may ever notice."""
    done = subprocess.run(
        [sys.executable, str(JOB), master, str(place / "in.parquet"), str(out), stages, *person],
        env=environment(), capture_output=True, text=True, timeout=900, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    told = json.loads(done.stdout.splitlines()[-1])
    assert not told["seen"]
    assert out.read_bytes() == (place / "wanted.csv").read_bytes()
    assert sorted(p.name for p in place.iterdir() if p.name.startswith(".")) == []
    return told["killed"]


@pytest.mark.nightly
def test_a_local_cluster_loses_an_executor_while_learning(java, place):
    run_job("local-cluster[2,1,1024]", place, "learn")


def test_a_local_cluster_loses_an_executor_and_with_it_who_stands_behind_records(java, place):
    """In every run: one executor goes while a model is learned, one while records are written."""
    person = "Note, or so"
    options = {"partitions": 3, "partition_by": "random", "seed": 4}
    known = schema().with_person([person])
    made = api.anonymize(frame(), known, privacy=PROMISE, **options)
    assert made.report.persons == 7
    made.table.write_csv(place / "wanted.csv")
    run_job("local-cluster[2,1,1024]", place, "learn,encode", person)


@pytest.fixture
def standalone(java, tmp_path):
    """Start a master and two workers on loopback; return the master's address."""
    import pyspark

    runner = Path(pyspark.__file__).parent / "bin" / "spark-class"
    logs = [tmp_path / f"{name}.log" for name in ("master", "one", "two")]
    started = []

    def start(log, *words):
        with log.open("wb") as file:
            started.append(
                subprocess.Popen([str(runner), *words], env=environment(), stdout=file, stderr=file)
            )

    try:
        start(logs[0], "org.apache.spark.deploy.master.Master", "--host", "127.0.0.1",
              "--port", "0", "--webui-port", "0")  # fmt: skip
        address = waited(logs[0], r"spark://127\.0\.0\.1:[1-9]\d*")
        for log in logs[1:]:
            start(log, "org.apache.spark.deploy.worker.Worker", "--host", "127.0.0.1",
                  "--webui-port", "0", "-c", "1", "-m", "1g", "-d", str(tmp_path / "work"),
                  address)  # fmt: skip
        for log in logs[1:]:
            waited(log, "Successfully registered")
        yield address
    finally:
        for process in started:
            process.terminate()
        for process in started:
            process.wait(timeout=60)


def waited(log, pattern):
    until = time.monotonic() + 300
    while time.monotonic() < until:
        found = re.search(pattern, log.read_text(errors="ignore"))
        if found:
            return found[0]
        time.sleep(0.1)
    raise AssertionError(log.read_text(errors="ignore")[-2000:])


@pytest.mark.nightly
def test_a_standalone_cluster_loses_an_executor_while_writing(standalone, place):
    run_job(standalone, place, "encode")
