"""What reports have in common: attackers, attacks, answers."""

from __future__ import annotations

from datetime import date

import pytest
from tests.reports.reports import BROKEN, HOLDS

from shoal.reports.about import About
from shoal.reports.parts import (
    answers,
    attackers,
    attacks_of,
    held,
    holds,
    making,
    number_at,
    promised,
)
from shoal.reports.profile import load_profile, profile_from

RISK = {
    "prosecutor": {"maximum": 0.2, "average": 0.1},
    "journalist": None,
    "marketer": {"average": 0.1},
    "household": {"maximum": 0.5, "average": 0.2},
}
AVERAGE = {
    "title": "x", "source": "x", "date": "2026-01-31", "says": "x", "model": "x",
    "max_risk": 0.15, "measure": "average",
}  # fmt: skip


def test_a_number_is_found_at_the_end_of_its_path():
    assert number_at(RISK, "prosecutor", "maximum") == 0.2
    assert number_at(RISK, "journalist", "maximum") is None
    assert number_at(RISK, "prosecutor") is None
    assert number_at(None, "x") is None


def test_attackers_of_whom_nothing_is_known_are_left_out():
    found = attackers(None, RISK, None)
    assert [(each.name, each.measure) for each in found] == [
        ("prosecutor", "maximum"),
        ("prosecutor", "average"),
        ("marketer", "average"),
        ("household", "maximum"),
        ("household", "average"),
    ]
    assert all(each.before is None and each.limit is None for each in found)


def test_a_limit_stands_beside_what_it_is_held_against():
    highest = attackers(RISK, RISK, load_profile("cms-cell-size"))
    assert [each.limit is not None for each in highest] == [True, False, False, False, False]
    average = attackers(RISK, RISK, profile_from(AVERAGE, name="x"))
    assert [each.limit for each in average] == [None, 0.15, 0.15, None, 0.15]


def test_an_expected_success_outside_of_its_scale_is_brought_back():
    document = {
        "attack": "x", "question": "inference",
        "before": {"success": -0.1}, "after": {"success": 1.0000001, "targets": 3},
    }  # fmt: skip
    (found,) = attacks_of([document])
    assert (found.before, found.after, found.high) == (0.0, 1.0, 1.0)


@pytest.mark.parametrize(
    ("success", "targets", "is_shown"),
    [(0.0, 100, True), (0.04, 100, False), (0.05, 100, True), (0.96, 100, False), (0.5, 4, False)],
)
def test_a_small_count_cannot_be_worked_out(success, targets, is_shown):
    document = {
        "attack": "x", "question": "inference", "before": {},
        "after": {"success": success, "targets": targets},
    }  # fmt: skip
    assert bool(attacks_of([document], 5)) is is_shown
    assert attacks_of([document])


def test_each_question_has_an_answer():
    texts = {"singling out": "A.", "linkability": "B.", "inference": "C."}
    found = answers(texts, ())
    assert [each.answer.split()[0] for each in found] == ["A.", "B.", "C."]
    assert all(each.asks.endswith("?") for each in found)


def test_promises_and_profiles_stand_as_they_are():
    assert holds((HOLDS, BROKEN)) is False
    assert holds(()) is None
    assert [each.worst for each in promised((HOLDS, BROKEN), "record")] == ["4", "2"]
    assert held(About(), maximum=1, average=1, unit="record", repeats=False) is None
    cms = About(profile=load_profile("cms-cell-size"))
    assert held(cms, maximum=1 / 11, average=0, unit="record", repeats=False).passed
    assert not held(cms, maximum=1 / 11, average=0, unit="record", repeats=True).passed


def test_how_it_was_made_has_who_and_when():
    about = About(by="A", day=date(2026, 1, 31), hashes={"input": "x"}, versions={"shoal": "1"})
    found = making(about, {"method": "m"}, None)
    assert (found.by, found.date, found.hashes) == ("A", "2026-01-31", {"input": "x"})
    assert making(About(), {}, None).date is None
