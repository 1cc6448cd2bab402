"""What jobs found, kept beside the project: shown again, believed by nobody."""

from __future__ import annotations

import json
import os

import pytest
from tests.web.tab import Tab, in_a_tab

from shoal.web import answers
from shoal.web.project import Project

ROW = {
    "name": "bestcut k=3", "method": "bestcut", "loss": 0.1, "front": True,
    "risk": {"average": 0.1, "maximum": 0.3}, "choice": {"method": {"name": "bestcut"}},
}  # fmt: skip


def stamp(project) -> object:
    return answers.stamp_of(project.folder, project.state.table)


def keep(project, task: str, answer: dict) -> None:
    answers.keep(project.folder, project.place, task, answer, stamp(project))


def again(project) -> Project:
    return Project(project.folder, project.place)


def test_what_was_compared_is_there_when_the_project_is_opened_again(project):
    keep(project, "compare", {"runs": [ROW], "asked_for": "x"})
    found = again(project).results["compare"]
    assert found == {"runs": [ROW], "asked_for": "x", "is_kept": True}

    async def act(tab: Tab) -> None:
        assert "bestcut k=3" in tab.texts()

    in_a_tab(again(project), act, is_answered=False)


def test_an_answer_is_readable_by_its_owner_only(project):
    keep(project, "release", {"report": {}})
    file = project.place / "answers" / "release.json"
    assert file.stat().st_mode & 0o777 == 0o600
    assert file.parent.stat().st_mode & 0o777 == 0o700


def test_of_quick_questions_nothing_is_kept(project):
    keep(project, "risk", {"average": 1})
    keep(project, "rows", {"rows": [1]})
    assert not (project.place / "answers").exists()


def test_an_answer_about_a_table_that_has_changed_belongs_to_no_request(project):
    keep(project, "release", {"report": {}, "asked": project.fingerprint})
    table = project.folder.root / "stays.csv"
    table.write_text(table.read_text() + "\n")
    assert again(project).results["release"]["asked"] == ""
    table.unlink()
    assert stamp(project) is None
    assert again(project).results["release"]["asked"] == ""


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "7", '{"answer": 3}', "\x00", '{"answer": ' + "[" * 5000 + "]" * 5000 + "}",
     '{"stamp": 1}'],
)  # fmt: skip
def test_what_is_no_answer_is_left_out(project, text):
    keep(project, "release", {"report": {}})
    (project.place / "answers" / "release.json").write_text(text)
    assert "release" not in again(project).results


def test_an_answer_that_is_too_large_is_left_unread(project, monkeypatch):
    keep(project, "release", {"report": {}})
    monkeypatch.setattr(answers, "MOST", 3)
    assert again(project).results == {}


def test_an_answer_outside_the_folder_is_not_read(project, tmp_path_factory):
    outside = tmp_path_factory.mktemp("outside") / "release.json"
    outside.write_text(json.dumps({"stamp": stamp(project), "answer": {"report": {}}}))
    (project.place / "answers").mkdir()
    (project.place / "answers" / "release.json").symlink_to(outside)
    assert again(project).results == {}


def test_an_answer_is_not_written_where_a_link_of_the_project_leads(project, tmp_path_factory):
    outside = tmp_path_factory.mktemp("outside")
    (project.place / "answers").symlink_to(outside)
    keep(project, "release", {"report": {}})
    assert list(outside.iterdir()) == []


HOSTILE = [
    {"report": 7, "run": [], "files": "x"},
    {"report": {"decision": {"numbers": [{"share": "x"}], "promises": 3, "warnings": {}},
                "risk": {"attackers": [{"name": {}}], "sizes": {"names": 1, "after": "x"},
                         "not_protected": "x"},
                "utility": {"measures": [{}], "losses": {"<b>": "x"}, "models": [1, ["a"] * 5],
                            "associations": {"columns": ["a", "b"], "before": [[1], 2]}},
                "columns": [{"bars": {"names": ["<script>alert(1)</script>"], "after": [None]}}]},
     "run": {"privacy": [{"model": "no-such", "parameters": {"k": [1]}, "value": {}}]}},
]  # fmt: skip


@pytest.mark.parametrize("answer", HOSTILE, ids=["none", "odd"])
def test_a_page_draws_what_a_hostile_folder_holds_or_leaves_it_out(project, answer):
    keep(project, "release", answer)
    keep(project, "compare", {"runs": [ROW, {"name": "no choice"}, 3, {"choice": {}, "name": 7}]})

    async def act(tab: Tab) -> None:
        assert "bestcut k=3" in tab.texts()
        assert "no choice" not in tab.texts()
        assert tab.named("write").enabled

    in_a_tab(again(project), act, is_answered=False)


def test_a_folder_that_cannot_be_written_stops_nobody(project, monkeypatch):
    def full(*given: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    keep(project, "release", {"report": {}})
    assert not (project.place / "answers" / "release.json").exists()
