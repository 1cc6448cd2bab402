"""The report of a verification, and of a batch."""

from __future__ import annotations

import polars as pl
import pytest

import shoal
from shoal.reports.about import About
from shoal.reports.of_verification import of_verification
from shoal.reports.profile import load_profile

FRAME = pl.DataFrame({"age": ["30", "30", "30", "40", "40", "40"], "who": list("abcdde")})


def test_a_verdict_is_said_with_its_promise():
    found = of_verification(shoal.verify(FRAME, qi=["age"], k=3), roles={"age": "quasi"})
    assert found.kind == "verification"
    assert found.decision.holds is True
    assert [each.name for each in found.columns] == ["age"]
    broken = of_verification(shoal.verify(FRAME, qi=["age"], k=4))
    assert broken.decision.holds is False
    assert "NOT safe: 6 records break it." in broken.decision.what


def test_outsiders_are_told_no_small_count():
    found = of_verification(shoal.verify(FRAME, qi=["age"], k=9), About(audience="external"))
    assert "NOT safe: fewer than 9 records break it." in found.decision.what
    assert found.decision.numbers[1].text == "fewer than 9"


def test_persons_are_counted():
    found = of_verification(shoal.verify(FRAME, qi=["age"], person="who", k=2))
    assert found.risk.unit == "person"
    assert found.decision.numbers[0].share == 0.5
    # Five persons in two classes: one of them, at most, is pointed out rightly in each.
    assert found.risk.attackers[1].after == pytest.approx(2 / 5)


def test_a_profile_is_held_against_the_verdict():
    about = About(profile=load_profile("us-schools"))
    assert not of_verification(shoal.verify(FRAME, qi=["age"], k=3), about).decision.profile.passed


def test_a_batch_says_what_became_of_it():
    batch = {"records": 9, "released": 6, "suppressed": 3, "unseen": 1}
    verified = shoal.verify(FRAME, qi=["age"], k=3)
    found = of_verification(verified, About(table="new.csv"), batch=batch)
    assert found.kind == "batch"
    assert "6 of 9 records of new.csv are released by a model; 3 are suppressed." in (
        found.decision.what
    )
    outside = of_verification(verified, About(audience="external"), batch=batch)
    assert "9" not in outside.decision.what[0]
