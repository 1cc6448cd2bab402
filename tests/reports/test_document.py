"""The document of a report: its format is what `expected.py` has, until its version is raised."""

from __future__ import annotations

import json
import math

import pytest
from tests.reports import expected
from tests.reports.expect import documents

from shoal.reports.document import VERSION

FOUND = documents()


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


@pytest.mark.parametrize("name", FOUND)
def test_a_document_has_what_it_had(name):
    """Renew with `python -m tests.reports.expect`, and look at what changed."""
    same(FOUND[name], getattr(expected, name))


@pytest.mark.parametrize("name", FOUND)
def test_it_is_json_with_its_version_first(name):
    assert next(iter(FOUND[name])) == "version"
    assert FOUND[name]["version"] == VERSION == 1
    assert json.loads(json.dumps(FOUND[name], allow_nan=False)) == FOUND[name]


def test_what_is_outside_is_less_than_what_is_inside():
    inside, outside = (json.dumps(FOUND[name]) for name in ("RELEASE", "RELEASE_OUTSIDE"))
    assert len(outside) < len(inside)
    for text in ("0" * 64, '"who"', "b1", "hierarchy", "seed"):
        assert text in inside
        assert text not in outside
