"""docs/architecture.md says what the source is: its rooms, and the way of a table through them."""

from __future__ import annotations

import re
import sys
import threading
from importlib import import_module
from pathlib import Path

import polars as pl
import pytest

import shoal
from shoal import api

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")


def way():
    """Return the functions of the way, in the order of the page."""
    part = PAGE.partition("## The way of one table")[2].partition("## Recipes")[0]
    return re.findall(r"\| `(shoal\.[\w.]+)` \|", part)


def found(name):
    """Return the function that a dotted name stands for."""
    parts = name.split(".")
    for at in range(len(parts) - 1, 0, -1):
        try:
            value = import_module(".".join(parts[:at]))
        except ModuleNotFoundError:
            continue
        for part in parts[at:]:
            value = getattr(value, part)
        return getattr(value, "__wrapped__", value)
    raise AssertionError(name)


def test_every_room_is_on_the_page_and_no_other():
    rooms = {p.name for p in (ROOT / "src" / "shoal").iterdir() if (p / "__init__.py").exists()}
    part = PAGE.partition("## The rooms")[2].partition("## The way")[0]
    assert set(re.findall(r"^\| `(\w+)/`", part, re.M)) == rooms


@pytest.mark.local("the way of the local engine")
def test_a_release_takes_the_way_of_the_page(tmp_path):
    names = way()
    assert len(names) > 15
    codes = {found(name).__code__: name for name in names}
    seen = []

    def watch(frame, event, _):
        if event == "call" and frame.f_code in codes:
            seen.append(codes[frame.f_code])

    pl.DataFrame({"age": [1, 2, 3, 4] * 4, "s": ["a", "b"] * 8}).write_csv(tmp_path / "t.csv")
    schema = shoal.Schema.from_document({"columns": {"age": "quasi", "s": "sensitive"}})
    promise = [shoal.KAnonymity(2), shoal.LDiversity(2)]
    threading.setprofile(watch)  # a search runs in a thread, so that it can be interrupted
    sys.setprofile(watch)
    try:
        api.anonymize(tmp_path / "t.csv", schema, privacy=promise, out=tmp_path / "o.csv")
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    calls = iter(seen)
    missing = [name for name in names if name not in calls]  # each behind the one before it
    assert not missing, seen
    once = [name for name in names if name.endswith((".engine_for", ".fit", ".frequencies"))]
    assert [seen.count(name) for name in once] == [2, 1, 1]


@pytest.mark.parametrize("place", re.findall(r"`((?:\w+/)+\w+\.py)(?::\w+)?`", PAGE))
def test_every_file_that_is_named_is_there(place):
    assert (ROOT / "src" / "shoal" / place).exists() or (ROOT / place).exists()
