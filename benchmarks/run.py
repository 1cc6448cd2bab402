"""Runs the benchmarks and writes docs/benchmarks.md: `python -m benchmarks.run [name …]`.

Each benchmark is a module with a TITLE and `rows()`; its section of the page is
replaced, the others stay. No number on the page is typed by hand.
"""

from __future__ import annotations

import platform
import subprocess
import sys
from datetime import UTC, datetime
from importlib import import_module
from typing import Any

from benchmarks.measure import ROOT, yardstick

PAGE = ROOT / "docs" / "benchmarks.md"
NAMES = (
    "release", "lattice", "parallel", "microaggregation", "semantic", "infer", "dp", "encode",
    "encode_validity", "fleet", "persons", "startup", "limits", "first", "compiler",
    "spark", "spark_large", "page",
)  # fmt: skip
HEAD = """# Benchmarks

Written by `make bench`; see `benchmarks/`. Times are CPU seconds, compiled and warm unless a row
says otherwise, the median of several runs. The yardstick is `numpy.sort` of 10 million random
int64 in the same run: a ratio to it can be compared between machines.
"""


def main(wanted: list[str]) -> None:
    """Run the named benchmarks (all if none is named) and put their sections on the page."""
    sections = _sections()
    for name in wanted or NAMES:
        module = import_module(f"benchmarks.{name}")
        print(f"{name} …", flush=True)
        rows = module.rows()
        unit = yardstick()
        for row in rows:
            if row.get("cpu") is not None and "/ yardstick" not in row:
                row["/ yardstick"] = row["cpu"] / unit
        note = getattr(module, "NOTE", "")
        sections[module.TITLE] = f"{_stamp()}\n\n{note}{_table(rows)}"
    body = "\n".join(f"## {title}\n\n{text.strip()}\n" for title, text in sections.items())
    PAGE.write_text(f"{HEAD}\n{body}", encoding="utf-8")


def _sections() -> dict[str, str]:
    if not PAGE.exists():
        return {}
    parts = PAGE.read_text(encoding="utf-8").split("\n## ")[1:]
    return {part.partition("\n")[0]: part.partition("\n")[2] for part in parts}


def _stamp() -> str:
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    ).stdout.strip()
    machine = f"{platform.system()} {platform.machine()}, Python {platform.python_version()}"
    day = datetime.now(tz=UTC).date().isoformat()
    return f"{day}, commit {commit or 'unknown'}, {machine}, yardstick {yardstick():.3f} s"


def _table(rows: list[dict[str, Any]]) -> str:
    columns = list(dict.fromkeys(name for row in rows for name in row))
    lines = [f"| {' | '.join(columns)} |", f"|{'---|' * len(columns)}"]
    lines += [f"| {' | '.join(_cell(row.get(name)) for name in columns)} |" for row in rows]
    return "\n".join(lines)


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.4g}"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


if __name__ == "__main__":
    main(sys.argv[1:])
