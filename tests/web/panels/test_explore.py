"""Exploring: what is asked, what has come in, and what choosing a point does."""

from __future__ import annotations

import pytest

from shoal.core.errors import InputError, SchemaError
from shoal.web.child import Job
from shoal.web.folder import Folder
from shoal.web.panels import explore
from shoal.web.panels.explore import compare, question, tried, use
from shoal.web.project import Project
from shoal.web.state import State
from shoal.web.texts import Texts

ROW = {
    "name": "flash k=9", "method": "flash", "loss": 0.2, "risk": {"average": 0.1}, "error": None,
    "choice": {"method": {"name": "flash"}, "privacy": [{"model": "k-anonymity", "k": 9}],
               "suppression_limit": 0.02},
}  # fmt: skip


@pytest.fixture
def project(tmp_path):
    found = Project(Folder.at(tmp_path), "p")
    schema = {"columns": {"age": {"role": "quasi", "kind": "numeric"}},
              "privacy": [{"model": "k-anonymity", "k": 3}]}  # fmt: skip
    (tmp_path / "t.csv").write_text("age\n3\n")
    found.change("begin", lambda _: State(table="t.csv", schema=schema))
    return found


def test_choosing_a_run_makes_it_the_request_and_can_be_undone(project):
    before = project.state
    use(project, ROW, Texts("en"))
    assert project.state.release["method"] == {"name": "flash"}
    assert project.state.schema["privacy"] == [{"model": "k-anonymity", "k": 9}]
    assert project.state.schema["suppression_limit"] == 0.02
    assert project.request().method.name == "flash"
    assert "flash k=9" in str(project.history.last)
    project.undo()
    assert project.state == before


def test_what_is_asked_names_the_projects_own_files(project):
    asked = question(
        project, methods=["flash", "refine:effort=best"], sizes=["3", 5], limits=[0.05], sample=None
    )
    assert asked["request"]["schema"] == "p/schema.yaml"
    assert asked["request"]["table"] == "t.csv"
    assert asked["k"] == [3, 5]
    assert asked["keep"] == "p/results/compare"


def test_runs_are_not_kept_where_a_link_of_the_project_leads(project, tmp_path_factory):
    (project.place / "results").symlink_to(tmp_path_factory.mktemp("outside"))
    with pytest.raises(InputError, match="outside"):
        question(project, methods=["flash"], sizes=[3], limits=[], sample=None)


@pytest.mark.parametrize("size", ["", "many", "0", "-3", "2.5", "٣x", str(10**12)])
def test_a_size_that_is_no_whole_number_is_refused(project, size):
    with pytest.raises(SchemaError, match="whole numbers"):
        question(project, methods=["flash"], sizes=[size], limits=[], sample=None)


def test_runs_are_seen_while_others_are_still_made(project):
    job = Job("compare", {})
    job.parts = [
        {"run": {"name": "a"}, "front": ["a"]},
        {"run": {"name": "b"}, "front": ["b"]},
    ]
    project.job = job
    found = tried(project)
    assert found.is_running
    assert [(row["name"], row["front"]) for row in found.rows] == [("a", False), ("b", True)]


@pytest.mark.parametrize("how", ["cancelled", "failed"])
def test_what_was_finished_stays_when_the_rest_does_not_come(project, how):
    heard = []
    project.start = lambda task, asked, ended: heard.append(ended)
    compare(project, {})
    job = Job("compare", {}, on_progress=heard[0])
    job.hear({"part": {"run": ROW, "front": [ROW["name"]]}})
    assert "compare" not in project.results
    if how == "cancelled":
        job.cancelled()
    else:
        job.hear({"error": {"kind": "X", "problem": "memory ran out"}})
    found = tried(project)
    assert [row["name"] for row in found.rows] == [ROW["name"]]
    assert not found.is_stale


def test_a_comparison_that_is_cancelled_before_its_first_run_keeps_the_one_before(project):
    project.results["compare"] = {"runs": [ROW], "asked_for": "before"}
    heard = []
    project.start = lambda task, asked, ended: heard.append(ended)
    compare(project, {})
    Job("compare", {}, on_progress=heard[0]).cancelled()
    assert project.results["compare"]["asked_for"] == "before"


def test_a_comparison_of_other_columns_is_old_but_not_one_of_another_promise(project):
    project.results["compare"] = {"runs": [ROW], "asked_for": explore._question(project)}
    assert not tried(project).is_stale
    project.change("k", lambda state: state.with_schema(privacy=[{"model": "k-anonymity", "k": 7}]))
    assert not tried(project).is_stale
    project.change("role", lambda state: state.with_column("age", role="neutral"))
    assert tried(project).is_stale


def test_numbers_that_nobody_knows_do_not_break_the_drawing():
    assert explore.number(None) == 0.0
    assert explore.whole("x") is None
    assert explore.risk({"risk": None}) == {}
