"""What many tests share: the real tables, a way to call the command line."""

from __future__ import annotations

import io
import os
import re
import signal
import subprocess
import sys
import time
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import settings

from tests import on_spark, sampling
from tests.jobs.workers import lent_workers, worker_processes  # noqa: F401

ROOT = Path(__file__).resolve().parents[1]
ADULT_QUASI = (
    "sex,age,race,marital-status,education,native-country,workclass,occupation"
)  # fmt: skip


class Answer(NamedTuple):
    """What a command said."""

    code: int
    out: str
    err: str


class Adult(NamedTuple):
    """The Adult table, its hierarchies, and the flags that name its columns."""

    table: Path
    hierarchies: Path
    flags: tuple[str, ...]


def pytest_addoption(parser):
    parser.addoption(
        "--engine", choices=("local", "spark"), default="local",
        help="spark: every test that goes through an engine, answered by Spark",
    )  # fmt: skip


def pytest_configure(config):
    if config.getoption("engine") == "spark":
        why = on_spark.absent()
        if why is not None:
            raise pytest.UsageError(f"--engine spark: {why}")
        settings.load_profile("spark")


def pytest_collection_modifyitems(config, items):
    if sampling.is_asked():
        config.hook.pytest_deselected(items=sampling.sample(items))
    if config.getoption("engine") == "spark":
        items[:], others = on_spark.select(items, ROOT)
        config.hook.pytest_deselected(items=others)


def pytest_runtest_logstart(nodeid):
    on_spark.Engine.test = nodeid


def pytest_terminal_summary(terminalreporter, config):
    if config.getoption("engine") == "spark":
        terminalreporter.write_line(f"{len(on_spark.Engine.asked)} tests asked Spark")


@pytest.fixture(scope="session", autouse=True)
def _engine(request):
    """Let the engine that was asked for answer, from the first fixture to the last test."""
    with on_spark.engine(request.config.getoption("engine")):
        yield


@pytest.fixture(scope="session")
def data():
    """Return the folder with the real tables; they are never part of the project."""
    folder = Path(os.environ.get("SHOAL_DATA", ROOT.parent / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip("the real tables are not here; set SHOAL_DATA to their folder")
    return folder


@pytest.fixture(scope="session")
def adult(data):
    folder = data / "adult_arx"
    table = folder / "adult.csv.gz"
    if not table.is_file():
        pytest.skip("adult_arx/adult.csv.gz is not in the data folder")
    categories = ",".join(name for name in ADULT_QUASI.split(",") if name != "age")
    flags = (
        "--qi", ADULT_QUASI, "--numeric", "age", "--categorical", categories,
        "--hierarchies", str(folder),
    )  # fmt: skip
    return Adult(table, folder, flags)


def call(*argv):
    """Run the command line in this process, on the engine of this run."""
    from shoal.cli.main import main

    before = signal.getsignal(signal.SIGTERM)
    out, err = io.StringIO(), io.StringIO()
    try:
        with redirect_stdout(out), redirect_stderr(err):
            code = main(on_spark.arguments([str(part) for part in argv]))
    finally:
        signal.signal(signal.SIGTERM, before)
    return Answer(code, out.getvalue(), err.getvalue())


def peak_memory(process):
    """Wait for a process; return the most memory of its own that it was seen to hold, in bytes.

    Pages of a mapped file are not counted: the system takes them back when it needs them.
    """
    peak = 0
    while process.poll() is None:
        try:
            status = Path(f"/proc/{process.pid}/status").read_text()
        except OSError:
            pytest.skip("this system does not tell how much memory a process holds")
        found = re.search(r"RssAnon:\s+(\d+) kB", status)
        peak = max(peak, int(found[1]) * 1024 if found else 0)
        time.sleep(0.02)
    return peak


def start(*argv, **more):
    """Start the command line in a process of its own."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), **more.pop("env", {})}
    command = [sys.executable, *more.pop("python", ("-m", "shoal")), *map(str, argv)]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen(command, env=environment, **{**pipes, **more})


@pytest.fixture(scope="session")
def run():
    """Return the command line as a function: (code, out, err) = run("verify", …)."""
    return call
