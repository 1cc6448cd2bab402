"""The lattice on the page: what the child is asked, and which nodes are drawn."""

from __future__ import annotations

from shoal.web.charts import LatticeNode
from shoal.web.folder import Folder
from shoal.web.panels.lattice import MOST_DRAWN, asked_of, names_of, nodes_of
from shoal.web.project import Project
from shoal.web.state import State

FOUND = {
    "columns": ["age", "zip"], "records": 50, "size": 9,
    "nodes": [{"levels": [0, 1], "loss": 0.25, "suppressed": 10, "safe": False}],
}  # fmt: skip


def test_nodes_are_read_as_they_are_drawn():
    assert names_of(FOUND) == ["age", "zip"]
    assert nodes_of(FOUND) == [LatticeNode((0, 1), 0.25, 0.2, False)]


def test_an_answer_without_nodes_is_drawn_as_none():
    assert nodes_of({}) == []
    assert names_of({}) == []
    assert nodes_of({"nodes": [{"levels": None}, 3]}) == []


def test_so_many_nodes_are_drawn_and_no_more():
    assert len(nodes_of({**FOUND, "nodes": FOUND["nodes"] * 1000})) == MOST_DRAWN


def test_the_question_is_the_runs_own(tmp_path):
    project = Project(Folder.at(tmp_path), "p")
    project.state = State(table="t.csv")
    row = {"levels": {"age": 1}, "choice": {"method": {"name": "flash"}, "privacy": [1],
                                            "suppression_limit": 0.1}}  # fmt: skip
    asked = asked_of(project, row)
    assert asked["request"]["method"] == {"name": "flash"}
    assert asked["request"]["schema"] == "p/schema.yaml"
    assert (asked["privacy"], asked["suppression_limit"], asked["levels"]) == ([1], 0.1, {"age": 1})
