from __future__ import annotations

from functools import partial

from tests.web.tab import Tab, in_a_tab

from shoal.schema.schema import Role
from shoal.web.panels.columns import with_role
from shoal.web.risk_box import _limit, measure, number


def test_the_risk_follows_the_roles_at_once(project):
    async def act(tab: Tab) -> None:
        await tab.until(lambda: "risk" in project.results)
        before = project.results["risk"]["classes"]
        for name in ("birth_date", "zip"):
            make = partial(with_role, name=name, role=Role.NEUTRAL)
            project.change(name, make)
        await tab.until(lambda: project.results["risk"]["classes"] != before)
        assert project.results["risk"]["classes"] <= 3
        await tab.until(lambda: "of records are expected" in tab.texts("aside"))
        project.change("sex", lambda s: s.with_column("sex", role="neutral"))
        assert "Give columns the role quasi-identifier" in tab.texts("aside")

    in_a_tab(project, act)


def test_what_k_promises_stands_beside_the_risk(project):
    project.results["risk"] = {"average": 0.9, "maximum": 1.0, "records": 400, "classes": 300}
    project.asked_risk = None
    project.ask = lambda *question: None

    async def act(tab: Tab) -> None:
        assert "(k = 3), nobody in the release can be found with more than 33.3%" in tab.texts()
        project.change("k", lambda s: s.with_schema(privacy=[{"model": "t-closeness", "t": 0.2}]))
        assert "As promised" not in tab.texts()

    in_a_tab(project, act)


def test_a_risk_that_cannot_be_measured_says_why(project):
    async def act(tab: Tab) -> None:
        (project.folder.root / "stays.csv").unlink()
        project.asked_risk = None
        project.change("sex", lambda s: s.with_column("sex", role="neutral"))
        await tab.until(lambda: "problem" in project.results.get("risk", {}))
        await tab.until(lambda: "stays.csv" in tab.texts("note"))

    in_a_tab(project, act)


def test_it_is_measured_once_for_the_same_question(project):
    asked = []
    project.ask = lambda task, document, heard: asked.append(document)
    measure(project)
    measure(project)
    project.change("weight", lambda state: state.with_column("zip", weight=2.0))
    measure(project)
    assert asked == [{"table": "stays.csv", "schema": "stays.project/schema.yaml"}]
    project.change("rule", lambda s: s.with_release(checks={"profile": "cms-cell-size"}))
    measure(project)
    assert asked[-1]["profile"] == "cms-cell-size"


def test_a_sample_is_called_one(project):
    project.asked_risk = None
    project.ask = lambda *question: None
    project.results["risk"] = {
        "average": 0.2, "maximum": 1.0, "records": 100_000, "classes": 5, "unique": 1,
        "smallest_class": 1, "persons": None, "is_sample": True, "seen": 100_000, "of": 3_000_000,
        "warnings": ["people have several records"], "held": None,
    }  # fmt: skip

    async def act(tab: Tab) -> None:
        text = tab.texts("aside")
        assert "100,000 of 3,000,000 records" in text
        assert "people have several records" in text
        assert "20.0%" in text

    in_a_tab(project, act)


def test_the_limit_of_a_rule():
    assert _limit({"smallest_class": 10, "max_risk": 0.2}) == 0.1
    assert _limit({"smallest_class": None, "max_risk": 0.05}) == 0.05
    assert _limit({}) is None
    assert number({"x": None}, "x") == number({}, "x") == 0.0
