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


FAMILY = """
import pytest

@pytest.mark.sampled
@pytest.mark.parametrize("one", "abcdef")
@pytest.mark.parametrize("two", ["x", "y", pytest.param("z", marks=pytest.mark.nightly)])
@pytest.mark.parametrize("three", range(8))
def test_family(one, two, three):
    print("tried", one, two, three)

@pytest.mark.parametrize("one", "abcdef")
def test_other(one):
    print("tried", one)
"""


def test_of_a_family_one_of_four_is_tried_with_every_value(pytester, request):
    request.addfinalizer(partial(settings.load_profile, settings.get_current_profile_name()))
    settings.load_profile("default")
    pytester.makeconftest(CONFTEST)
    pytester.makepyfile(FAMILY)
    pytester.makepyprojecttoml(
        "[tool.pytest.ini_options]\nmarkers = ['sampled', 'nightly']\n"
        "asyncio_default_fixture_loop_scope = 'function'"
    )
    pytester.syspathinsert(ROOT)
    words = ("-s", "-m", "not nightly", "--hypothesis-profile", NAME)
    found = pytester.runpytest_inprocess(*words)
    tried = re.findall(r"tried (\w)(?: (\w) (\w))?$", "\n".join(found.outlines), re.M)
    family = [each for each in tried if each[1]]
    assert len(family) == 6 * 2 * 8 / SHARE
    assert [set(each) for each in zip(*family, strict=True)] == [
        set("abcdef"), {"x", "y"}, set("01234567"),
    ]  # fmt: skip
    assert len(tried) == len(family) + 6
    settings.load_profile("default")
    found = pytester.runpytest_inprocess("-s")
    found.assert_outcomes(passed=6 * 3 * 8 + 6)


def test_make_test_takes_the_sample_and_make_test_all_everything():
    text = (ROOT / "Makefile").read_text().replace("\\\n", "")
    rules = dict(re.findall(r"^(test(?:-all)?):.*\n\t(.+)", text, re.M))
    assert f"--hypothesis-profile={NAME}" in rules["test"]
    assert "hypothesis-profile" not in rules["test-all"]
    assert (SHARE, LEAST) == (4, 5), "CONTRIBUTING.md states these figures"
    stated = " ".join((ROOT / "CONTRIBUTING.md").read_text().split())
    assert "one example of four that its settings ask for, and at least five" in stated
    assert "one of four of its cases, with every value of several parameters" in stated
