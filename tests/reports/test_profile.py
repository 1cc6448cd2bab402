"""Profiles: read from YAML, dated, and strict about what passes."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.core.errors import SchemaError
from shoal.reports.profile import Profile, load_profile, profile_from, profile_names

GOOD = {
    "title": "Ours", "source": "The board", "date": "2026-01-31", "says": "At most 0.1.",
    "model": "highest risk", "max_risk": 0.1,
}  # fmt: skip


def profile(**changes):
    return profile_from({**GOOD, **changes}, name="ours")


def test_every_profile_that_comes_along_can_be_read_and_says_where_it_is_from():
    assert {"cms-cell-size", "us-schools"} == set(profile_names())
    for name in profile_names():
        found = load_profile(name)
        assert found.name == name
        assert found.limit() is not None
        assert found.source
        assert found.says
        assert date(1990, 1, 1) < found.date < date(2100, 1, 1)
        assert found.address.startswith("https://")


@pytest.mark.parametrize(
    ("name", "passes", "fails"),
    [("cms-cell-size", 11, 10), ("us-schools", 10, 9)],
)
def test_the_smallest_class_that_passes(name, passes, fails):
    found = load_profile(name)
    assert not found.failures(maximum=1 / passes, average=1 / passes)
    assert found.failures(maximum=1 / fails, average=0.0)


def test_an_average_is_held_against_the_average():
    found = profile(measure="average")
    assert found.limit() is None
    assert not found.failures(maximum=1.0, average=0.1)
    (text,) = found.failures(maximum=0.1, average=0.11)
    assert text == "the average risk is 0.11, where 0.1 is allowed"


def test_records_of_people_who_have_several_never_pass():
    (text,) = profile().failures(maximum=0.0, average=0.0, repeats=True)
    assert "--person" in text


@given(st.integers(1, 500), st.integers(1, 500))
def test_a_class_passes_if_it_has_as_many_as_are_asked_for(asked, size):
    found = profile(max_risk=None, smallest_class=asked)
    assert (not found.failures(maximum=1 / size, average=1.0)) == (size >= asked)


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"max_risk": None}, "needs max_risk or smallest_class"),
        ({"max_risk": 0}, "max_risk must lie above 0"),
        ({"max_risk": True}, "max_risk must lie above 0"),
        ({"max_risk": "a lot"}, "max_risk must lie above 0"),
        ({"smallest_class": 2.5}, "smallest_class must be a whole number"),
        ({"smallest_class": True}, "smallest_class must be a whole number"),
        ({"measure": "median"}, "measure must be one of maximum, average"),
        ({"date": "last year"}, "date must be a day"),
        ({"title": ""}, "'title' is missing"),
        ({"max_rsk": 0.1}, "unknown key 'max_rsk'"),
    ],
)
def test_what_is_wrong_with_a_profile_is_said(changes, fault):
    with pytest.raises(SchemaError, match=fault):
        profile(**changes)


def test_all_faults_are_named_together():
    with pytest.raises(SchemaError) as caught:
        profile_from({"measure": "x"}, name="x")
    assert len(caught.value.faults) == 7
    with pytest.raises(SchemaError, match="mapping"):
        profile_from(["x"], name="x")


def test_a_file_of_ones_own_is_read(tmp_path):
    path = tmp_path / "ours.yaml"
    path.write_text(
        "title: Ours\nsource: The board\ndate: 2026-01-31\nsays: five\nmodel: sizes\n"
        "smallest_class: 5\n"
    )
    found = load_profile(path)
    assert (found.name, found.smallest_class, found.date) == ("ours", 5, date(2026, 1, 31))


def test_an_unknown_name_is_refused_with_those_that_there_are():
    with pytest.raises(SchemaError, match="did you mean 'cms-cell-size'"):
        load_profile("cms-cell-siez")


def test_what_is_written_down_has_the_date():
    document = load_profile("cms-cell-size").to_document()
    assert document["date"] == "2024-01-26"
    assert isinstance(Profile.limit(load_profile("cms-cell-size")), float)
