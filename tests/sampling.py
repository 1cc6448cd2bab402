"""`--hypothesis-profile sample`: a law tries a sample of its examples, as in `make test`.

`make test-all` tries all of them and draws anew each time. Here every run tries the same
examples, so that what passed on one machine passes on the next: a law that breaks once in ten
thousand tables is found at night, and becomes an `@example`.
"""

from __future__ import annotations

import pytest
from hypothesis import is_hypothesis_test, settings

NAME = "sample"
SHARE, LEAST = 4, 5  # one example of four, and five at the least; CONTRIBUTING.md says so

settings.register_profile(NAME, settings.get_profile("default"))


def sampled(number):
    """Return how many examples are tried of a law that asks for so many."""
    return min(number, max(LEAST, -(-number // SHARE)))


def sample(items):
    """Let each law among the tests try a sample; many tests may be one parametrized law."""
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


def is_asked():
    """Say whether this run was started with the profile."""
    return settings.get_current_profile_name() == NAME
