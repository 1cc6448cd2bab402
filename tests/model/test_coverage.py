"""What covers each segment is known beforehand, and is what a device finds when it is asked."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.model import coverage
from shoal.model.coverage import covered_runs, precompute_coverage
from shoal.model.sets import SetColumn as Column

PLAN = {"absent": {"": 1}, "index": {}, "parents": [], "labels": [], "form": None}
ends = st.none() | st.integers(0, 6).map(str)
ranges = st.builds(
    lambda low, high, is_open: {"low": low, "high": high, "open": is_open},
    ends, ends, st.sampled_from(["", "low", "high", "both"]),
)  # fmt: skip
cells = st.lists(
    ranges | st.just({"any": "*"}) | st.just({"missing": True}) | st.just({"value": "2"}),
    max_size=6,
)
TEXTS = [None, *(str(value / 2) for value in range(-1, 15)), "2", "no number"]


def column(entries, bits):
    return Column({"scale": "number", "cells": entries}, PLAN, bits)


@settings(max_examples=200, deadline=None)
@given(cells)
def test_a_walk_along_the_line_finds_what_looking_at_every_range_finds(entries):
    bits = [1 << i for i in range(len(entries))]
    known, asked = column(entries, bits), column(entries, bits)
    precompute_coverage(SimpleNamespace(blocks=[[known]]))
    assert len(known.segments) == 2 * len(known.ends) + 1
    for text in TEXTS:
        assert known.cover(text) == asked.cover(text)


def naive_runs(entry, texts):
    """Ask each cell of each text."""
    found = []
    for cell in entry["cells"]:
        alone = column([cell], [1])
        runs, begin = [], None
        for place, text in enumerate([*texts, object]):
            covers = text is not object and bool(alone.cover(text))
            if covers and begin is None:
                begin = place
            elif not covers and begin is not None:
                runs.append((begin, place - 1))
                begin = None
        found.append(runs)
    return found


@settings(max_examples=50, deadline=None)
@given(cells, st.permutations(TEXTS), st.integers(1, 4))
def test_runs_are_those_of_each_cell_alone(entries, texts, at_once):
    entry = {"scale": "number", "cells": entries}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(coverage, "_CELLS_AT_ONCE", at_once)
        assert covered_runs(entry, PLAN, texts) == naive_runs(entry, texts)
    assert len(entry["cells"]) == len(entries)  # the model itself is left as it is


def test_no_cells_and_no_texts():
    assert covered_runs({"scale": "number", "cells": []}, PLAN, TEXTS) == []
    assert covered_runs({"scale": "number", "cells": [{"any": "*"}]}, PLAN, []) == [[]]


def test_a_line_whose_sets_would_take_too_much_memory_is_left_to_be_asked(monkeypatch):
    monkeypatch.setattr(coverage, "_MOST_BYTES", 0)
    line = column([{"low": "1", "high": "3"}], [1])
    precompute_coverage(SimpleNamespace(blocks=[[line]]))
    assert line.segments == {}
    assert line.cover("2") == 1
