"""A hierarchy while it is worked on: where it comes from, and how it becomes the project's."""

from __future__ import annotations

import asyncio

import pytest
from tests.web.conftest import running

from shoal.core.errors import HierarchyError, InputError, ShoalError
from shoal.hierarchies.read import parse_csv, parse_tree
from shoal.hierarchies.tree import Hierarchy
from shoal.web.tree.draft import Draft, draft_of

TREE = "F;person;*\nM;person;*\n"


async def answered(draft):
    version = draft.version
    for _ in range(1200):
        if draft.version > version:
            return
        await asyncio.sleep(0.05)
    raise AssertionError("no answer came")


def test_a_builder_is_shown_edited_taken_and_undone(project):
    async def work():
        draft = draft_of(project, "zip")
        assert draft_of(project, "zip") is draft
        draft.follow()
        await answered(draft)
        assert draft.is_taken
        assert draft.entry == {"mask": {}}
        assert draft.found["unplaced_count"] == 0
        tree = draft.tree
        inner = tree.node(tree.root).children[0]
        draft.editor.edit({"what": "rename", "ids": [inner], "label": "South"})
        assert not draft.is_taken
        await answered(draft)
        draft.take("hierarchy of zip")
        assert draft.is_taken
        return tree.hierarchy()

    tree = running(project, work)
    entry = project.hierarchy("zip")
    assert entry.startswith("hierarchies/zip-")
    written = (project.place / entry).read_text(encoding="utf-8")
    assert parse_csv("zip", written) == tree
    assert project.request().schema.attribute("zip").hierarchy == tree  # as the command reads it
    project.undo()
    assert project.hierarchy("zip") == {"mask": {}}
    project.redo()
    assert project.hierarchy("zip") == entry


def test_a_preview_is_not_the_projects_until_it_is_taken_and_a_builder_stays_one(project):
    async def work():
        draft = draft_of(project, "birth_date")
        draft.build({"dates": {"levels": ["year", "decade"]}})
        await answered(draft)
        assert not draft.is_taken
        assert project.hierarchy("birth_date") == {"dates": {}}
        draft.take("step")

    running(project, work)
    assert project.hierarchy("birth_date") == {"dates": {"levels": ["year", "decade"]}}
    assert not (project.place / "hierarchies").exists()


def test_what_cannot_be_built_says_why_and_keeps_what_was_there(project):
    async def work():
        draft = draft_of(project, "sex")
        draft.bring("sex.csv", TREE.encode())
        await answered(draft)
        draft.build({"intervals": {"width": [5]}})
        await answered(draft)
        assert draft.problem
        assert "F" in draft.tree

    running(project, work)


def test_values_without_a_place_are_found_and_given_one(project):
    async def work():
        draft = draft_of(project, "sex")
        draft.bring("sex.csv", b"F;person;*\n")
        await answered(draft)
        assert draft.found["unplaced"] == ["M"]
        with pytest.raises(HierarchyError, match="no node"):
            draft.add_unplaced("nowhere")
        draft.add_unplaced("person")
        await answered(draft)
        assert draft.found["unplaced_count"] == 0
        assert [each["loss"] for each in draft.found["levels"]][-1] == 1.0

    running(project, work)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", TREE),
        ("a.txt", TREE),
        ("a.yaml", "'*': {person: [F, M]}\n"),
        ("a.json", '{"*": {"person": ["F", "M"]}}'),
    ],
)
def test_files_of_every_kind_are_brought_and_exported(project, monkeypatch, name, content):
    monkeypatch.setattr(Draft, "look", lambda self: None)
    draft = Draft(project, "sex")
    draft.bring(name, content.encode())
    assert draft.csv() == TREE
    from shoal.core.documents import parse_yaml

    again = parse_tree("sex", parse_yaml(draft.yaml(), where="export"))
    assert again == draft.tree.hierarchy() == parse_csv("sex", TREE)


def test_a_deep_and_uneven_tree_is_exported_as_it_is(project, monkeypatch):
    monkeypatch.setattr(Draft, "look", lambda self: None)
    tree = Hierarchy.from_tree("x", {"*": {"a": {"b": ["c", "1"], "no": []}, "d": [], "e": ["f"]}})
    draft = Draft(project, "x")
    draft._begin(tree)
    from shoal.core.documents import parse_yaml

    assert parse_tree("x", parse_yaml(draft.yaml(), where="export")) == tree


@pytest.mark.parametrize(
    "content", [b"", b"\xff\xfe\x00", b"a;b\na;c\n", b"a;*\nb;+\n", b"x" * (17 * 2**20)]
)  # fmt: skip
def test_what_is_no_hierarchy_is_refused_and_changes_nothing(project, content):
    draft = Draft(project, "sex")
    with pytest.raises(ShoalError):
        draft.bring("sex.csv", content)
    assert draft.editor is None
    assert draft.is_taken


def test_levels_that_do_not_follow_from_the_tree_are_noticed(project, monkeypatch):
    monkeypatch.setattr(Draft, "look", lambda self: None)
    draft = Draft(project, "sex")
    draft.bring("sex.csv", b"F;F;person;*\nM;person;person;*\n")
    assert draft.has_own_levels


def test_wordnet_reads_no_file_outside_the_folder(project):
    draft = Draft(project, "sex")
    with pytest.raises(InputError, match="outside"):
        draft.build_wordnet({"mapping": "../words.csv", "dict": "wordnet", "root": ""})


def test_a_file_that_is_gone_says_so(project):
    project.state = project.state.with_column("sex", hierarchy="hierarchies/gone.csv")
    draft = draft_of(project, "sex")
    draft.follow()
    assert "gone.csv" in draft.problem


def test_a_tree_is_not_written_where_a_link_of_the_project_leads(project, tmp_path_factory):
    outside = tmp_path_factory.mktemp("outside")
    (project.place / "hierarchies").symlink_to(outside)
    before = project.state

    async def work():
        draft = draft_of(project, "sex")
        draft.bring("sex.csv", TREE.encode())
        with pytest.raises(InputError, match="outside"):
            draft.take("hierarchy of sex")

    running(project, work)
    assert list(outside.iterdir()) == []
    assert project.state == before
