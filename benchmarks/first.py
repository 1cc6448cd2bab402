"""First runs: what every method compiles with an empty kernel cache, as `anonymize` reports it."""

from __future__ import annotations

import gzip
import json
import os
import statistics
import subprocess
import tempfile
from itertools import islice
from pathlib import Path
from typing import Any

from benchmarks.measure import DATA, USUAL, run_command, yardstick
from shoal.methods import registry

TITLE = "First runs"
NOTE = """2,000 records of Adult, 8 quasi-identifiers, k = 10, kernel cache empty:
`cpu_seconds.compile` of `shoal anonymize --json`. The limit is 6 s on an idle machine, 50 times
the yardstick. Each cell is the median of RUNS runs; each run is divided by the yardstick measured
right before and after it, which on a machine with neighbours says more than the seconds.

"""
MORE = {"refine --effort fast": ("refine", ["--effort", "fast"])}
"""Options with which a method compiles more than without them."""

PROMISES = {"k": [], "k and l": ["--l", "2"], "k and t": ["--t", "0.3"]}
RECORDS = 2_000
RUNS = int(os.environ.get("SHOAL_BENCH_RUNS", "3"))
NOTE = NOTE.replace("RUNS", str(RUNS))


def first_run(method: str, options: list[str]) -> tuple[float, float]:
    """Return the CPU seconds that a method compiled, and how many yardsticks that is."""
    adult = DATA / "adult_arx"
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "adult.csv"
        with gzip.open(adult / "adult.csv.gz", "rt", encoding="utf-8") as lines:
            table.write_text("".join(islice(lines, RECORDS + 1)), encoding="utf-8")
        before = yardstick()
        done = run_command(
            [
                "anonymize", str(table), "--qi", ",".join(USUAL),
                "--sensitive", "salary-class", "--numeric", "age", "--hierarchies", str(adult),
                "--method", method, "-k", "10", *options, "--suppression-limit", "1",
                "--no-attacks", "--json", "--out", str(Path(folder) / "release.csv"),
            ],
            environment={"NUMBA_CACHE_DIR": str(Path(folder) / "kernels")},
        )  # fmt: skip
        after = yardstick()
    spent = float(json.loads(done.output)["cpu_seconds"]["compile"])
    return spent, 2 * spent / (before + after)


def rows() -> list[dict[str, Any]]:
    """Return a row a method: seconds and yardsticks for each promise."""
    table = []
    plain: dict[str, tuple[str, list[str]]] = {name: (name, []) for name in registry.METHODS}
    for label, (method, options) in (plain | MORE).items():
        row: dict[str, Any] = {"method": label}
        for name, promise in PROMISES.items():
            try:
                found = [first_run(method, [*promise, *options]) for _ in range(RUNS)]
            except subprocess.CalledProcessError:  # no release of so few records keeps the promise
                continue
            row[f"{name}: s"] = statistics.median(spent for spent, _ in found)
            row[f"{name}: / yardstick"] = statistics.median(ratio for _, ratio in found)
        print(row, flush=True)
        table.append(row)
    return table
