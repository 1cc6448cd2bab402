"""`--hypothesis-profile sample`: a sample of laws' examples and of large families, in `make test`.

`make test-all` tries all of them and draws anew each time. Here every run tries the same
examples, so that what passed on one machine passes on the next: a law that breaks once in ten
thousand tables is found at night, and becomes an `@example`.

A test with many cases may be marked `sampled`: one of four is tried then, and more where it has
several parameters and some value of one would not be among them.
"""

from __future__ import annotations

from collections import defaultdict
from zlib import crc32

import pytest
from hypothesis import is_hypothesis_test, settings

NAME = "sample"
SHARE, LEAST = 4, 5  # one example of four, and five at the least; CONTRIBUTING.md says so

settings.register_profile(NAME, settings.get_profile("default"))


def sampled(number):
    """Return how many examples are tried of a law that asks for so many."""
    return min(number, max(LEAST, -(-number // SHARE)))


def sample(items):
    """Let each law among the tests try a sample; many tests may be one parametrized law.

    Return the cases of `sampled` tests that are not tried; they are no longer among the items.
    """
    laws = {
        item.function: None
        for item in items
        if isinstance(item, pytest.Function) and is_hypothesis_test(item.function)
    }
    for law in laws:
        asked = law._hypothesis_internal_use_settings
        number = sampled(asked.max_examples)
        law._hypothesis_internal_use_settings = settings(
            asked, max_examples=number, derandomize=True, database=None
        )
    left = set()
    families = defaultdict(list)
    for item in items:
        if item.get_closest_marker("sampled") and item.get_closest_marker("nightly") is None:
            families[item.nodeid.partition("[")[0]].append(item)
    for cases in families.values():
        left |= {id(case) for case in cases} - {id(case) for case in tried_of(cases)}
    others = [item for item in items if id(item) in left]
    items[:] = [item for item in items if id(item) not in left]
    return others


def tried_of(cases):
    """Return a sample of the cases of one test; of several parameters, every value occurs in it.

    Which cases, their names alone say: they are the same on every machine, and a new one leaves
    the others where they are.
    """
    shuffled = sorted(cases, key=lambda case: crc32(case.nodeid.rpartition("::")[2].encode()))
    found, seen = [], set()
    for case in shuffled:
        values = {(name, id(value)) for name, value in case.callspec.params.items()}
        if len(values) > 1 and values - seen:
            found.append(case)
            seen |= values
    rest = [case for case in shuffled if case not in found]
    return found + rest[: max(0, -(-len(cases) // SHARE) - len(found))]


def is_asked():
    """Say whether this run was started with the profile."""
    return settings.get_current_profile_name() == NAME
