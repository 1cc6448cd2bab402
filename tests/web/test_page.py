from __future__ import annotations

import pytest
from tests.web.tab import Tab, in_a_tab

from shoal.web.folder import Folder
from shoal.web.page import _panel
from shoal.web.panels import STEPS
from shoal.web.project import Project


def test_the_empty_page_has_every_step_and_says_that_no_table_is_open(folder):
    async def act(tab: Tab) -> None:
        assert "No table is open" in tab.texts()
        for step in filter(_panel, STEPS):
            assert tab.named(step).tag == "section"

    in_a_tab(Project(Folder.at(folder)), act)


def test_it_speaks_german_to_whom_asks_for_it(folder):
    async def act(tab: Tab) -> None:
        text = tab.texts()
        for word in ("Daten", "Spalten", "Zusage", "Freigabe", "Keine Tabelle geöffnet"):
            assert word in text

    in_a_tab(Project(Folder.at(folder)), act, path="/?lang=de")


@pytest.mark.parametrize("lang", ["xx", "<script>", "en"])
def test_an_unknown_language_is_english(folder, lang):
    async def act(tab: Tab) -> None:
        assert "No table is open" in tab.texts()

    in_a_tab(Project(Folder.at(folder)), act, path=f"/?lang={lang}")


def test_a_table_on_the_command_line_is_opened_at_once(folder):
    project = Project(Folder.at(folder), "stays.project")

    async def act(tab: Tab) -> None:
        await tab.until(lambda: len(tab.elements("card")) == 11)
        await tab.until(lambda: "of records are expected" in tab.texts("aside"))
        assert "shoal anonymize stays.csv" in tab.texts("aside")

    in_a_tab(project, act, table="stays.csv")
    assert (project.place / "schema.yaml").is_file()


def test_every_click_is_a_line_of_yaml(project):
    async def act(tab: Tab) -> None:
        assert "weight: 2.0" not in tab.texts("aside")
        project.change("weight", lambda state: state.with_column("zip", weight=2.0))
        assert "weight: 2.0" in tab.texts("aside")

    in_a_tab(project, act)


def test_undo_and_redo_by_their_buttons(project):
    async def act(tab: Tab) -> None:
        project.change("a weight", lambda state: state.with_column("zip", weight=2.0))
        tab.fire(tab.labelled("Undo: a weight"), "click")
        assert "weight" not in project.state.columns["zip"]
        tab.fire(tab.labelled("Redo: a weight"), "click")
        assert project.state.columns["zip"]["weight"] == 2.0
        assert tab.labelled("Nothing to redo")

    in_a_tab(project, act)


def test_light_and_dark(project):
    async def act(tab: Tab) -> None:
        tab.fire(tab.labelled("Light or dark"), "click")
        assert project.is_dark

    in_a_tab(project, act)


def test_what_another_program_wrote_is_read_by_a_button(project):
    place = project.place / "schema.yaml"

    async def act(tab: Tab) -> None:
        (note,) = tab.elements("overtaken")
        assert not note.visible
        place.write_text(place.read_text().replace("k: 3", "k: 9"))
        await tab.until(lambda: note.visible)
        tab.fire(tab.labelled("Read the project from disk again"), "click")
        assert project.state.schema["privacy"] == [{"model": "k-anonymity", "k": 9}]
        assert not note.visible
        place.write_text("columns: [")
        await tab.until(lambda: note.visible)
        tab.fire(tab.labelled("Read the project from disk again"), "click")
        assert note.visible

    in_a_tab(project, act)


def area_of(tab: Tab):
    assert tab.user.client is not None
    return next(e for e in tab.user.client.elements.values() if type(e).__name__ == "Textarea"
                and e.props.get("label") == "schema.yaml")  # fmt: skip


def test_a_schema_written_as_text_is_taken_or_refused_with_its_faults(project):
    async def act(tab: Tab) -> None:
        tab.fire(tab.labelled("Edit"), "click")
        area, save = area_of(tab), tab.labelled("Save")
        text = area.value
        before = project.state
        wrong = ("columns: {zip: nonsense}", "- 1", "a: [", "", "columns:\n  zip: quasi\n  zip: x",
                 text.replace("mask: {}", "mask: {char: ''}"))  # fmt: skip
        for each in wrong:
            area.value = each
            tab.fire(save, "click")
            assert project.state == before
            assert len([e for e in tab.elements("note") if e.visible and "bad" in e.classes]) == 1
        area.value = text.replace("k: 3", "k: 4")
        tab.fire(save, "click")
        assert project.state.schema["privacy"] == [{"model": "k-anonymity", "k": 4}]

    in_a_tab(project, act)


def test_a_text_that_another_tab_has_overtaken_is_not_saved(project):
    async def act(tab: Tab) -> None:
        tab.fire(tab.labelled("Edit"), "click")
        area, save = area_of(tab), tab.labelled("Save")
        project.change("meanwhile", lambda state: state.with_column("zip", weight=2.0))
        area.value = area.value.replace("k: 3", "k: 4")
        tab.fire(save, "click")
        assert project.state.schema["privacy"] == [{"model": "k-anonymity", "k": 3}]
        assert "another tab" in tab.texts()

    in_a_tab(project, act)


def test_every_control_has_a_name_for_those_who_do_not_see_it(project):
    async def act(tab: Tab) -> None:
        assert tab.user.client is not None
        for element in tab.user.client.elements.values():
            if element.tag in ("q-btn", "q-input", "q-select", "q-slider"):
                props = element.props
                named = props.get("label") or props.get("aria-label") or element._text
                assert named, (
                    f"{element.tag} in {element.parent_slot and element.parent_slot.parent}"
                )

    in_a_tab(project, act)
