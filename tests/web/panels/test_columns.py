from __future__ import annotations

import pytest
from tests.web.tab import Tab, in_a_tab

from shoal.schema.schema import Role, Schema
from shoal.web.panels.columns import LANES, look, with_role
from shoal.web.state import State


def cards(tab: Tab, lane: int) -> list[str]:
    found = [each for each in tab.elements("lane")[lane].descendants() if "card" in each.classes]
    return [str(card.props["aria-label"]) for card in found]


def card(tab: Tab, name: str):
    return next(c for c in tab.elements("card") if c.props["aria-label"] == name)


def test_every_column_is_a_card_in_the_lane_of_its_role(project):
    async def act(tab: Tab) -> None:
        assert cards(tab, LANES.index(Role.QUASI)) == ["birth_date", "sex", "zip"]
        assert cards(tab, LANES.index(Role.SENSITIVE)) == ["diagnosis"]
        assert len(tab.elements("card")) == 11

    in_a_tab(project, act)


def test_a_card_is_dragged_to_another_role_and_back_again_by_undo(project):
    async def act(tab: Tab) -> None:
        tab.fire(tab.elements("lane")[LANES.index(Role.NEUTRAL)], "drop", "sex")
        assert project.state.columns["sex"]["role"] == "neutral"
        assert cards(tab, LANES.index(Role.NEUTRAL)) == ["sex"]
        project.undo()
        assert "sex" in cards(tab, LANES.index(Role.QUASI))

    in_a_tab(project, act)


def test_a_card_is_moved_by_a_key(project):
    async def act(tab: Tab) -> None:
        tab.fire(card(tab, "cost"), "keydown", "4")
        assert project.state.columns["cost"]["role"] == "sensitive"
        tab.fire(card(tab, "cost"), "keydown", "Enter")
        assert tab.elements("detail")

    in_a_tab(project, act)


@pytest.mark.parametrize("dropped", ["unheard of", "", "../../x", "9"])
def test_what_is_no_column_is_not_moved(project, dropped):
    async def act(tab: Tab) -> None:
        before = project.state
        tab.fire(tab.elements("lane")[0], "drop", dropped)
        assert project.state == before

    in_a_tab(project, act)


def test_the_details_show_evidence_and_what_would_be_published(project):
    async def act(tab: Tab) -> None:
        tab.fire(card(tab, "zip"), "click")
        await tab.until(lambda: "Proposed: Quasi-identifier" in tab.texts("detail"))
        await tab.until(lambda: "may become" in tab.texts("detail"))
        await tab.until(lambda: "Unique only because of it" in tab.texts("detail"))
        assert "****" in tab.texts("detail")
        tab.fire(card(tab, "patient_id"), "click")
        assert "the column is removed" in tab.texts("detail")

    in_a_tab(project, act)


def test_weight_and_kind_and_waiver_are_changes(project):
    async def act(tab: Tab) -> None:
        tab.fire(card(tab, "zip"), "click")
        tab.labelled("Weight of its loss").value = 2.0
        assert project.state.columns["zip"]["weight"] == 2.0
        tab.labelled("Weight of its loss").value = 1.0
        assert "weight" not in project.state.columns["zip"]
        tab.fire(card(tab, "diagnosis"), "click")
        tab.labelled("Release it as it is, even if it identifies people").value = True
        assert project.state.schema["waive"] == ["diagnosis"]
        tab.labelled("Kind").value = "categorical"
        assert project.state.columns["diagnosis"]["kind"] == "categorical"

    in_a_tab(project, act)


def test_a_weight_that_cannot_be_is_refused_with_a_word(project):
    async def act(tab: Tab) -> None:
        tab.fire(card(tab, "zip"), "click")
        tab.labelled("Weight of its loss").value = -1.0
        assert "weight" not in project.state.columns["zip"]
        assert any("weight must be" in said for said in tab.user.notify.messages)

    in_a_tab(project, act)


BEGUN = State(schema={
    "columns": {"zip": {"role": "quasi", "hierarchy": {"mask": {}}},
                "ill": {"role": "sensitive"}, "id": {"role": "identifying"}},
    "waive": ["ill"], "target": "ill", "privacy": [],
})  # fmt: skip


@pytest.mark.parametrize("role", LANES)
@pytest.mark.parametrize("name", ["zip", "ill", "id"])
def test_a_column_can_have_any_role_and_what_no_longer_fits_is_left_out(name, role):
    found = with_role(BEGUN, name=name, role=role)
    schema = Schema.from_document(found.schema)
    assert schema.attribute(name).role is role


def test_the_evidence_is_asked_for_once_the_columns_are_known_and_only_once(project):
    asked = []
    project.ask = lambda task, document: asked.append(task)
    look(project)
    look(project)
    assert asked == ["columns"]
    project.results["columns"] = {"columns": {}}
    look(project)
    look(project)
    assert asked == ["columns", "infer"]
