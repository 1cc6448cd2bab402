"""A sample of each law is tried in `make test`, all of its examples in `make test-all`."""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path

import pytest
from hypothesis import settings

from tests.sampling import LEAST, NAME, SHARE, sampled

pytest_plugins = ["pytester"]

ROOT = Path(__file__).resolve().parents[1]
LAWS = """
import pytest
from hypothesis import example, given, settings, strategies as st

tried = []

@pytest.mark.parametrize("which", ["one", "two"])
@given(number=st.integers())
@settings(max_examples=60, database=None)
def test_law(which, number):
    tried.append(which)

@example(number=-7)
@given(number=st.integers(0, 10**9))
@settings(max_examples=4, database=None)
def test_small_law(number):
    tried.append("small")

@given(number=st.integers())
def test_law_without_settings(number):
    tried.append("plain")

def test_count():
    print("tried", [tried.count(which) for which in ("one", "two", "small", "plain")])
"""
CONFTEST = """
from tests import sampling

def pytest_collection_modifyitems(items):
    if sampling.is_asked():
        sampling.sample(items)
"""


@pytest.mark.parametrize(
    ("number", "tried"), [(1, 1), (5, 5), (6, 5), (20, 5), (21, 6), (100, 25), (1000, 250)]
)
def test_one_example_of_four_and_five_at_the_least(number, tried):
    assert sampled(number) == tried


@pytest.mark.parametrize(
    ("options", "tried"),
    [((), "[60, 60, 5, 100]"), (("--hypothesis-profile", NAME), "[15, 15, 5, 25]")],
)
def test_a_sample_is_tried_when_it_is_asked_for(pytester, request, options, tried):
    request.addfinalizer(partial(settings.load_profile, settings.get_current_profile_name()))
    settings.load_profile("default")
    pytester.makeconftest(CONFTEST)
    pytester.makepyfile(LAWS)
    pytester.makepyprojecttoml(
        "[tool.pytest.ini_options]\nasyncio_default_fixture_loop_scope = 'function'"
    )
    pytester.syspathinsert(ROOT)
    found = pytester.runpytest_inprocess("-s", *options)
    found.assert_outcomes(passed=5)
    found.stdout.fnmatch_lines([f"*tried {tried.replace('[', '[[]')}*"])


def test_make_test_takes_the_sample_and_make_test_all_everything():
    text = (ROOT / "Makefile").read_text().replace("\\\n", "")
    rules = dict(re.findall(r"^(test(?:-all)?):.*\n\t(.+)", text, re.M))
    assert f"--hypothesis-profile={NAME}" in rules["test"]
    assert "hypothesis-profile" not in rules["test-all"]
    assert (SHARE, LEAST) == (4, 5), "CONTRIBUTING.md states these figures"
    stated = " ".join((ROOT / "CONTRIBUTING.md").read_text().split())
    assert "one example of four that its settings ask for, and at least five" in stated
