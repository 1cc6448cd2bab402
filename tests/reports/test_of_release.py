"""The report of a release: five parts, honest about what does not hold or was not counted."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import date

import polars as pl
import pytest
from tests.reports.reports import BROKEN, HOLDS, report

import shoal
from shoal.reports.about import About
from shoal.reports.document import VERSION
from shoal.reports.of_release import of_release
from shoal.reports.profile import load_profile
from shoal.reports.release import Risk


def attack(question, success, *, targets=100):
    """Return the document of an attack."""
    each = {"targets": targets, "success": success, "baseline": 0.01}
    return {"attack": question, "question": question, "before": {**each, "success": 1.0},
            "after": each}  # fmt: skip


def test_the_document_has_its_version_and_five_parts():
    document = of_release(report()).to_document()
    assert document["version"] == VERSION
    assert {"decision", "columns", "risk", "utility", "making"} <= set(document)
    assert json.loads(json.dumps(document, allow_nan=False)) == document
    assert [each["name"] for each in document["decision"]["numbers"]] == ["risk", "loss", "records"]


def test_the_first_page_says_what_people_said():
    about = About(by="A", purpose="B", recipient="C", day=date(2026, 1, 31), table="t.csv")
    found = of_release(report(), about)
    assert (found.decision.recipient, found.decision.purpose) == ("C", "B")
    assert (found.making.by, found.making.date) == ("A", "2026-01-31")
    assert found.title == "Release of t.csv"
    assert found.decision.what[0].startswith("9 of 10 records of t.csv are released")


def test_a_broken_promise_is_not_kept():
    found = of_release(report(privacy=(HOLDS, BROKEN))).decision
    assert found.holds is False
    assert [each.holds for each in found.promises] == [True, False]
    assert "does NOT keep" in found.what[1]


def test_nothing_depends_on_the_time_that_it_took():
    slow = report(seconds={"total": 99.0})
    assert of_release(slow) == of_release(report())


@pytest.mark.parametrize(("smallest", "passed"), [(12, True), (11, True), (10, False)])
def test_a_profile_is_held_against_the_smallest_class(smallest, passed):
    after = Risk(records=900, classes=30, smallest_class=smallest, unique=0)
    about = About(profile=load_profile("cms-cell-size"))
    found = of_release(report(risk_after=after, smallest_class=smallest), about)
    assert found.decision.profile.passed is passed
    assert found.decision.profile.profile["date"] == "2024-01-26"
    assert found.decision.numbers[0].limit == pytest.approx(1 / 11)
    assert found.risk.attackers[0].limit == pytest.approx(1 / 11)


def test_suppressed_records_as_a_class_of_their_own_count_for_the_risk():
    found = of_release(report(smallest_class=2))
    assert found.decision.numbers[0].share == 0.5


def test_linked_persons_count_by_all_their_records():
    found = of_release(report(facts={"trajectories": {"smallest": 3}}))
    assert found.decision.numbers[0].share == pytest.approx(1 / 3)


def test_people_with_several_records_never_pass_a_profile():
    about = About(profile=load_profile("us-schools"))
    after = Risk(records=900, classes=3, smallest_class=300, unique=0)
    changed = report(risk_after=after, smallest_class=300, repeats={"column": "id"})
    assert not of_release(changed, about).decision.profile.passed


def test_attacks_answer_the_three_questions_with_their_confidence():
    attacks = [attack("singling out", 0.0), attack("linkability", 0.2)]
    found = of_release(report(), attacks=attacks).risk
    singling, linking, inferring = found.questions
    assert "right for 0 % of 100 targets" in singling.answer
    assert "right for 20 % of 100 targets (13.34 % to 28.88 %)" in linking.answer
    assert "No attack of this kind" in inferring.answer
    assert found.attacks[1].low < 0.2 < found.attacks[1].high


def test_outsiders_see_no_attack_from_which_a_small_count_follows():
    attacks = [attack("linkability", 0.03), attack("singling out", 0.2)]
    found = of_release(report(), About(audience="external"), attacks=attacks)
    assert [each.name for each in found.risk.attacks] == ["singling out"]
    assert "3 %" not in found.risk.questions[1].answer


def test_pictures_and_hierarchies_are_inside():
    frame = pl.DataFrame({"age": [30, 31, 40, 41], "ill": list("abab")})
    made = shoal.anonymize(frame, qi=["age"], sensitive=["ill"], k=2, l=2, pictures=True)
    found = of_release(made.report)
    (age,) = (each for each in found.columns if each.name == "age")
    assert age.bars.names == ("30", "31", "40", "41")
    assert age.bars.before == (1.0, 1.0, 1.0, 1.0)
    assert found.risk.sizes is not None
    without = of_release(replace(made.report, pictures=None))
    assert without.risk.sizes is None
    assert all(each.bars is None for each in without.columns)


def test_what_is_not_protected_follows_from_what_was_promised():
    roles = {"pay": {"role": "neutral", "kept": True, "waived": False, "finding": None}}
    texts = " ".join(of_release(report(roles=roles)).risk.not_protected)
    assert "released as they are (pay)" in texts
    assert "a class may have one value in common" in texts
    diverse = " ".join(of_release(report(privacy=(HOLDS, BROKEN))).risk.not_protected)
    assert "one value in common" not in diverse
