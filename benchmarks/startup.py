"""Start-up: what a command takes before and around its work."""

from __future__ import annotations

import os
import statistics
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.measure import DATA, USUAL, run_command

TITLE = "Start-up"
RUNS = int(os.environ.get("SHOAL_BENCH_RUNS", "5"))
NOTE = f"""Whole processes, the start of Python included: the median of {RUNS} runs each, kernels
compiled before. Adult: 30,162 records, 8 quasi-identifiers, k = 10, read from CSV.

"""


def rows() -> list[dict[str, Any]]:
    """Return a row a command: CPU seconds and the most memory."""
    adult = DATA / "adult_arx"
    with tempfile.TemporaryDirectory() as folder:
        release = str(Path(folder) / "release.csv")
        anonymize = [
            "anonymize", str(adult / "adult.csv.gz"), "--qi", ",".join(USUAL), "--numeric", "age",
            "--sensitive", "salary-class", "--hierarchies", str(adult), "-k", "10", "--quiet",
            "--out", release,
        ]  # fmt: skip
        commands = {
            "--version": ["--version"],
            "--help": ["--help"],
            "anonymize --help": ["anonymize", "--help"],
            "methods": ["methods"],
            "hierarchy show": ["hierarchy", "show", str(adult / "adult_hierarchy_education.csv")],
            "anonymize Adult": anonymize,
            "anonymize Adult --no-attacks": [*anonymize, "--no-attacks"],
        }
        return [{"command": name, **_measured(words)} for name, words in commands.items()]


def _measured(arguments: list[str]) -> dict[str, float]:
    run_command(arguments)
    found = [run_command(arguments) for _ in range(RUNS)]
    return {
        "cpu": statistics.median(each.cpu for each in found),
        "MB": statistics.median(each.megabytes for each in found),
    }
