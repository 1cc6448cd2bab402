"""The hierarchies on the page: builders as the command has them, and a tree for each column."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from tests.web.tab import Tab, in_a_tab

from shoal.cli.hierarchy import BuilderOptions
from shoal.core.errors import HierarchyError
from shoal.hierarchies.read import BUILDERS as KNOWN
from shoal.web.panels.hierarchies import (
    BUILDERS,
    begin,
    columns_of,
    entry_of,
    kind_of,
    usual_builder,
)  # fmt: skip
from shoal.web.state import State
from shoal.web.texts import Texts
from shoal.web.tree.draft import draft_of


@pytest.mark.parametrize(
    ("kind", "typed", "flags"),
    [
        ("width", {"width": "5, 10"}, {"width": "5,10"}),
        ("width", {"width": "2.5 5"}, {"width": "2.5,5"}),
        ("count", {"count": "8,4,2"}, {"count": "8,4,2"}),
        ("cuts", {"cuts": "18, 30, 65; 30"}, {"cuts": "18,30,65;30"}),
        ("top_bottom", {"bottom": "", "top": "90", "width": ""}, {"top": 90}),
        ("top_bottom", {"bottom": "1", "top": "90", "width": "5"},
         {"bottom": 1, "top": 90, "width": "5"}),
        ("mask", {"direction": "right"}, {"mask": True}),
        ("dates", {}, {"dates": True}),
        ("order", {"fanout": "4"}, {"order": 4}),
    ],
)  # fmt: skip
def test_a_builder_is_what_the_command_makes_of_its_flags(kind, typed, flags):
    found = entry_of(kind, typed, column="x")
    assert found == BuilderOptions(**flags).entry()
    ((name, options),) = found.items()
    KNOWN[name].from_document(options)


@pytest.mark.parametrize(
    ("entry", "builder"),
    [
        ({"kind": "numeric"}, "width"),
        ({"kind": "date"}, "dates"),
        ({"kind": "ordinal"}, "order"),
        ({"kind": "categorical"}, "flat"),
        ({"kind": "categorical", "hierarchy": {"mask": {}}}, "mask"),
        ({"kind": "numeric", "hierarchy": {"top_bottom": {"top": 9}}}, "top_bottom"),
        ("quasi", "flat"),
    ],
)
def test_the_builder_that_is_offered_first_fits_the_column(entry, builder):
    whole = {"role": "quasi", **entry} if isinstance(entry, dict) else entry
    state = State(schema={"columns": {"x": whole}})
    project = SimpleNamespace(state=state, hierarchy=lambda name: (
        whole.get("hierarchy") if isinstance(whole, dict) else None))  # fmt: skip
    assert usual_builder(project, "x") == builder


def test_masking_from_the_left_is_said():
    assert entry_of("mask", {"direction": "left"}, column="x") == {"mask": {"direction": "left"}}


@pytest.mark.parametrize("typed", ["five", "5;", "--", "1e999x"])
def test_what_is_no_number_is_refused(typed):
    with pytest.raises(HierarchyError, match="numbers"):
        entry_of("width", {"width": typed}, column="x")


def test_every_builder_and_field_has_its_words():
    texts = Texts("de")
    for name, fields in BUILDERS.items():
        assert texts.has(f"hierarchies.builder_{name}")
        assert all(texts.has(f"hierarchies.field_{field}") for field in fields)


@pytest.mark.parametrize(
    ("entry", "kind"),
    [(None, "none"), ("a.csv", "file"), ({"mask": {}}, "mask"), ({"labels": []}, "tree"),
     ({"tree": {}}, "tree"), ({}, "tree"), ([1], "tree")],
)  # fmt: skip
def test_each_entry_of_a_schema_has_a_kind(entry, kind):
    assert kind_of(entry) == kind
    assert Texts("en").has(f"hierarchies.kind_{kind}")


def test_wordnet_without_its_files_is_refused(project):
    with pytest.raises(Exception, match=r"outside|no file"):
        begin(draft_of(project, "sex"), "wordnet", {"mapping": "", "dict": "", "root": ""})


def test_a_column_is_chosen_built_previewed_and_taken(project):
    assert columns_of(project) == ["birth_date", "sex", "zip"]

    async def act(tab: Tab) -> None:
        tab.labelled("zip · masking")
        tab.user.find("sex · none yet").click()
        await tab.until(lambda: "There is no hierarchy:" in tab.texts("with-tree"))
        draft = draft_of(project, "sex")
        begin(draft, "flat", {})
        await tab.until(lambda: "Level 1" in tab.texts("with-tree"))
        assert project.hierarchy("sex") is None
        tab.user.find("Use this hierarchy").click()
        await tab.until(lambda: project.hierarchy("sex") is not None)
        tab.labelled("sex · file")
        project.undo()
        assert project.hierarchy("sex") is None
        tab.labelled("sex · none yet")

    in_a_tab(project, act)


def test_a_page_without_a_table_says_what_is_missing(folder):
    from shoal.web.folder import Folder
    from shoal.web.project import Project

    async def act(tab: Tab) -> None:
        assert "No column is a quasi-identifier yet" in tab.texts()

    in_a_tab(Project(Folder.at(folder)), act)
