"""What a child finds out about a hierarchy: what is built, what has no place, what is lost."""

from __future__ import annotations

import pytest

from shoal.core.errors import ShoalError
from shoal.hierarchies.tree import Hierarchy
from shoal.jobs.hierarchy import ColumnValues, build_hierarchy
from shoal.web.tasks.hierarchy import run


@pytest.fixture
def asked(tmp_path):
    place = tmp_path / "t.csv"
    rows = ["age,zip", *(f"{20 + at % 7},{10 + at % 3 * 10 + at % 2}" for at in range(40)), "?,?"]
    place.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return {"table": str(place), "column": "age", "missing": ["?"]}


def test_a_builder_builds_what_the_command_builds(asked):
    entry = {"intervals": {"width": [2, 4]}}
    found = run({**asked, "entry": entry}, print)
    values = ColumnValues(table=asked["table"], column="age", missing=["?"])
    assert Hierarchy.from_document("age", found["tree"]) == build_hierarchy(values, entry)
    assert (found["distinct"], found["unplaced_count"]) == (7, 0)


def test_the_loss_grows_from_level_to_level_and_fewer_are_alone(asked):
    levels = run({**asked, "entry": {"intervals": {"width": [2, 4]}}}, print)["levels"]
    assert len(levels) == 4
    losses = [each["loss"] for each in levels]
    assert losses == sorted(losses)
    assert (losses[0], losses[-1]) == (0.0, 1.0)
    alone = [each["alone"] for each in levels]
    assert alone == sorted(alone, reverse=True)


def test_values_without_a_place_are_named_and_nothing_is_said_of_loss(asked):
    tree = Hierarchy.flat("zip", ["10", "11"]).to_document()
    found = run({**asked, "column": "zip", "tree": tree}, print)
    assert found["unplaced"] == ["20", "21", "30", "31"]
    assert found["unplaced_count"] == 4
    assert "levels" not in found
    assert "tree" not in found  # the page has it


def test_a_flat_tree_has_every_value_but_the_missing_one(asked):
    found = run({**asked, "flat": True}, print)
    assert found["tree"]["labels"] == [str(age) for age in range(20, 27)] + ["*"]
    assert len(found["levels"]) == 2


def test_without_a_tree_the_values_are_counted(asked):
    assert run(asked, print) == {"column": "age", "distinct": 7}


@pytest.mark.parametrize(
    "entry", [{"intervals": {}}, {"mask": {"char": "ab"}}, {"no": {}}, "x.csv"]
)
def test_what_builds_nothing_is_refused(asked, entry):
    with pytest.raises(ShoalError):
        run({**asked, "entry": entry}, print)


def test_a_column_that_is_not_there_is_refused(asked):
    with pytest.raises(ShoalError, match="nope"):
        run({**asked, "column": "nope"}, print)
