"""The document of a report: its format is what `expected/` has, until its version is raised."""

from __future__ import annotations

import json
import math

import pytest
from tests.reports.expect import documents, place

from shoal.reports.document import VERSION

NAMES = (
    "release",
    "release_outside",
    "lattice",
    "persons",
    "risk",
    "verification",
    "batch",
)


def test_each_document_is_looked_at():
    assert tuple(documents()) == NAMES


def same(one: object, other: object, *path: object) -> None:
    """Refuse documents that differ, but for the last digits of a number."""
    if isinstance(one, dict) and isinstance(other, dict):
        assert list(one) == list(other), path
        for name in one:
            same(one[name], other[name], *path, name)
    elif isinstance(one, list) and isinstance(other, list):
        assert len(one) == len(other), path
        for place, pair in enumerate(zip(one, other, strict=True)):
            same(*pair, *path, place)
    elif isinstance(one, float) and isinstance(other, (int, float)):
        assert math.isclose(one, other, rel_tol=1e-6, abs_tol=1e-6), path
    else:
        assert one == other, path


@pytest.mark.parametrize("name", NAMES)
def test_a_document_has_what_it_had(name):
    """Renew with `python -m tests.reports.expect`, and look at what changed."""
    same(documents()[name], json.loads(place(name).read_text(encoding="utf-8")))


@pytest.mark.parametrize("name", NAMES)
def test_it_is_json_with_its_version_first(name):
    assert next(iter(documents()[name])) == "version"
    assert documents()[name]["version"] == VERSION == 1
    assert json.loads(json.dumps(documents()[name], allow_nan=False)) == documents()[name]


def test_what_is_outside_is_less_than_what_is_inside():
    inside, outside = (json.dumps(documents()[name]) for name in ("release", "release_outside"))
    assert len(outside) < len(inside)
    for text in ("0" * 64, '"who"', "b1", "hierarchy", "seed"):
        assert text in inside
        assert text not in outside
