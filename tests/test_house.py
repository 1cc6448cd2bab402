"""The figures of the house: they may get better, never worse."""

from __future__ import annotations

import ast

import pytest

from tests.house import complexity, measure

HOUSE = measure()

# Hard limits, and, where the source is not yet there, what it has today: a change that lowers a
# figure lowers its limit, too.
MOST = {
    "import_cycles": 0,
    "spark_imports_local": 0,
    "asks_what_a_table_is": 1,  # engines/choose.py
    "judging_loops": 1,  # outside compiled code and arrays
    "long_functions": 0,
    "complex_blocks": 0,
    "complex_kernels": 10,
    "many_parameters": 0,
    "long_files": 0,
    "any_in_source": 10,
}
LEAST = {"mirrored": 0.97, "test_lines_per_line": 0.83}  # expected documents are data, not lines


@pytest.mark.parametrize("name", MOST)
def test_nothing_grew(name):
    value = getattr(HOUSE, name)
    assert (len(value) if isinstance(value, list) else value) <= MOST[name], value


@pytest.mark.parametrize("name", LEAST)
def test_nothing_shrank(name):
    assert getattr(HOUSE, name) >= LEAST[name]


def test_complexity_is_counted_as_radon_does():
    # radon 6.0.1 says so, too.
    source = """
def f(rows, k):
    assert k > 0 and rows
    def inner(x):
        return x if x else None
    for row in rows:
        if row and (row[0] or row[1]):
            continue
    else:
        k = [r for r in rows if r]
    try:
        return inner(k)
    except ValueError:
        return None
"""
    function = ast.parse(source).body[0]
    assert complexity(function) == 10
