"""What each part of `kernels/compiler.py` brings: all of them, without one, and plain Numba.

Each figure comes from a process of its own with an empty cache of kernels: the CPU seconds of a
method's first call (60 records of Adult), and its fastest run of seven on all of Adult.
`python -m benchmarks.run compiler` puts it on the page.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from itertools import product
from pathlib import Path
from typing import Any

from benchmarks.measure import ROOT, yardstick
from shoal.table.frequency import FrequencyTable

TITLE = "Our way of compiling kernels"
RUNS = int(os.environ.get("SHOAL_BENCH_RUNS", "3"))
METHODS = ("mondrian", "bestcut", "refine", "kmember")
WAYS = {
    "all parts": "",
    "plain Numba": "1",
    **{f"without {part}": part for part in ("linked", "whole", "signatures", "index", "noalias")},
}
NOTE = f"""Adult, 8 quasi-identifiers, k = 10 and, but for kmember, l = 2. "first": CPU seconds of
the first call with an empty cache; "run": milliseconds of a later one. Each is the median of
{RUNS} processes, taken in turn; "/ all" compares with all parts.

"""


def probe(method: str) -> None:
    """Print the seconds of a method's first call and of its fastest later one."""
    from benchmarks.clustering import adult
    from shoal.methods import registry
    from shoal.methods.method import Setting
    from shoal.privacy import KAnonymity, LDiversity

    column = ("salary-class",)
    table, tiny = adult(column), adult(column, 60)
    found = registry.method_named(method, {"effort": "fast"} if method == "refine" else {})
    promise = [KAnonymity(10), *([LDiversity(2, column=column[0])] if method != "kmember" else [])]

    def spent(data: FrequencyTable, limit: float = 0.0) -> float:
        began = time.process_time()
        found.search(data, promise, Setting(threads=1, suppression_limit=limit))
        return time.process_time() - began

    first = spent(tiny, 1.0)
    print(json.dumps([first, min(spent(table) for _ in range(7))]))


def measured(method: str, left_out: str) -> tuple[float, float]:
    """Return what a process of its own prints."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [sys.executable, "-m", "benchmarks.compiler", method],
            capture_output=True,
            check=True,
            text=True,
            cwd=ROOT,
            env={
                **os.environ,
                "PYTHONPATH": f"{ROOT / 'src'}:{ROOT}",
                "NUMBA_CACHE_DIR": str(Path(folder)),
                "SHOAL_PLAIN_NUMBA": left_out,
            },
        )
    first, run = json.loads(done.stdout)
    return first, run


def rows() -> list[dict[str, Any]]:
    """Return a row for each method and way."""
    seen: dict[tuple[str, str], list[tuple[float, float]]] = {}
    for _, way, method in product(range(RUNS), WAYS, METHODS):
        seen.setdefault((method, way), []).append(measured(method, WAYS[way]))
    middle = {
        key: [statistics.median(both) for both in zip(*found, strict=True)]
        for key, found in seen.items()
    }
    unit = yardstick()
    table = []
    for method, way in product(METHODS, WAYS):
        (first, run), (best_first, best_run) = middle[method, way], middle[method, "all parts"]
        table.append(
            {
                "method": method, "way": way, "first: s": first, "first: / yardstick": first / unit,
                "first: / all": first / best_first, "run: ms": 1000 * run,
                "run: / all": run / best_run,
            }
        )  # fmt: skip
        print(table[-1], flush=True)
    return table


if __name__ == "__main__":
    probe(sys.argv[1])
