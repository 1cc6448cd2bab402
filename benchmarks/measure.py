"""Measuring: CPU seconds, peak memory, and the yardstick that stands beside every time."""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
DATA = Path(os.environ.get("SHOAL_DATA", ROOT.parent / "shared" / "data"))
USUAL = ("sex", "age", "race", "marital-status", "education", "native-country", "workclass",
         "occupation")  # fmt: skip


def yardstick() -> float:
    """Return the CPU seconds of numpy.sort on 10 million random int64 (0.12 s when idle)."""
    values = np.random.default_rng(0).integers(0, 2**62, 10_000_000)
    began = time.process_time()
    values.sort()
    return time.process_time() - began


def cpu_seconds(work: Callable[[], Any], *, runs: int = 5) -> float:
    """Return the median CPU seconds of several runs; the first one only warms up."""
    work()
    spent = []
    for _ in range(runs):
        began = time.process_time()
        work()
        spent.append(time.process_time() - began)
    return statistics.median(spent)


@dataclass(frozen=True)
class Command:
    """What one run of a command took."""

    cpu: float
    megabytes: float
    output: str


def run_command(arguments: Sequence[str], *, environment: dict[str, str] | None = None) -> Command:
    """Run `shoal …` in a process of its own and measure it, its start included."""
    program = (
        "import resource, subprocess, sys\n"
        "done = subprocess.run(sys.argv[1:], stdout=subprocess.PIPE, check=True)\n"
        "used = resource.getrusage(resource.RUSAGE_CHILDREN)\n"
        "sys.stderr.write(f'{used.ru_utime + used.ru_stime} {used.ru_maxrss / 1000}')\n"
        "sys.stdout.buffer.write(done.stdout)\n"
    )
    # As with most users, sources are compiled once, not in every run.
    usual = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    outer = subprocess.run(
        [sys.executable, "-c", program, sys.executable, "-m", "shoal", *arguments],
        capture_output=True,
        check=True,
        text=True,
        env={**usual, "PYTHONPATH": str(ROOT / "src"), **(environment or {})},
    )
    cpu, megabytes = outer.stderr.split()[-2:]
    return Command(float(cpu), float(megabytes), outer.stdout)


def peak_megabytes() -> float:
    """Return this process's highest memory so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000
