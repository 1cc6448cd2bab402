"""Nothing is loaded that a command does not need."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
HEAVY = ("numpy", "polars", "numba", "llvmlite", "pyspark", "opendp")
LOADED = f"""
import sys
from shoal.cli.main import main
code = main(sys.argv[1:])
print(code, *(name for name in {HEAVY} if name in sys.modules), file=sys.stderr)
"""
LIGHT = [
    ["--help"],
    ["--version"],
    ["methods"],
    ["methods", "--json"],
    ["sample", "--help"],
    ["anonymize", "--help"],
    ["demo", "--help"],
]


def python(*arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    command = [sys.executable, *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=True)


@pytest.mark.parametrize("arguments", LIGHT, ids=" ".join)
def test_what_only_prints_loads_no_tables_and_no_compiler(arguments):
    assert python("-c", LOADED, *arguments).stderr.split() == ["0"]


def test_a_hierarchy_is_drawn_without_them(tmp_path):
    tree = tmp_path / "tree.csv"
    tree.write_text("a,x,*\nb,x,*\n", encoding="utf-8")
    drawn = python("-c", LOADED, "hierarchy", "show", str(tree))
    assert drawn.stderr.split() == ["0"]
    assert "└── b" in drawn.stdout


def test_importing_shoal_loads_none_of_them():
    code = f"import sys, shoal; print([n for n in {HEAVY} if n in sys.modules])"
    assert python("-c", code).stdout.strip() == "[]"
