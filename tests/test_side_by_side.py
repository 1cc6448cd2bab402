"""`shoal.compare` and `shoal.reach` for Python."""

from __future__ import annotations

import pytest

import shoal
from tests.jobs.people import PEOPLE

pytestmark = pytest.mark.local("compare")
ROLES = {"qi": ["age", "job"], "sensitive": ["ill"], "neutral": ["grade"]}


def test_methods_and_promises_are_compared_on_a_frame(tmp_path):
    found = shoal.compare(
        PEOPLE, methods=["bestcut", shoal.Oka()], promises=[{"k": 4}, {"k": 4, "l": 2}],
        keep=tmp_path / "kept", **ROLES,
    )  # fmt: skip
    assert [run.name for run in found.runs] == [
        "bestcut k=4", "bestcut k=4 l=2", "oka k=4", "oka k=4 l=2",
    ]  # fmt: skip
    assert all(run.error is None for run in found.runs)
    assert len(found.rows()) == 4
    assert isinstance(found, shoal.Compared)


def test_promises_may_be_objects():
    found = shoal.compare(
        PEOPLE, methods=["mondrian"], promises=[[shoal.KAnonymity(5)]], processes=1, **ROLES
    )
    assert found.runs[0].report["smallest_class"] >= 5


def test_a_goal_needs_one_bound(tmp_path):
    for bounds in ({}, {"max_risk": 0.1, "max_loss": 0.1}):
        with pytest.raises(TypeError, match="one of them"):
            shoal.reach(PEOPLE, **bounds, **ROLES)
    found = shoal.reach(PEOPLE, max_risk=0.2, methods=["bestcut"], keep=tmp_path, **ROLES)
    assert found.best.risk["maximum"] <= 0.2
