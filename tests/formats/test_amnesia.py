"""Files of Amnesia: hierarchies as text and JSON, and rules."""

from __future__ import annotations

import json

import pytest
from tests.formats.other_tools import AGES

from shoal.core.errors import HierarchyError, InputError
from shoal.formats.importers.amnesia import read_amnesia

PLACES = """distinct
name place
type string
height 3

Europe has France Italy
Asia has Japan

"all the world" has Europe Asia

"""
RULES = """Anonymization rules:
age
34->30-39
38->30-39
->0-120

sex
f->*
m->*

"""


def read(tmp_path, text, name="h.txt", **more):
    place = tmp_path / name
    place.write_text(text, encoding="utf-8")
    return read_amnesia(place, **more)


def test_a_hierarchy_of_words(tmp_path):
    tree = read(tmp_path, PLACES).hierarchies["place"]
    assert [list(row) for row in tree.to_rows()] == [
        ["France", "Europe", "all the world"],
        ["Italy", "Europe", "all the world"],
        ["Japan", "Asia", "all the world"],
    ]


def test_a_column_of_another_name(tmp_path):
    assert set(read(tmp_path, PLACES, column="country").hierarchies) == {"country"}


def test_a_hierarchy_of_intervals(tmp_path):
    found = read(tmp_path, AGES)
    rows = [list(row) for row in found.hierarchies["age"].to_rows()]
    assert rows[0] == ["[0, 25)", "[0, 50)", "[0, 100)"]
    assert len(rows) == 4
    assert "intervals" in found.notices[0]


def test_a_leaf_nearer_to_the_root_stays_itself_for_longer(tmp_path):
    text = "distinct\nname x\ntype string\nheight 3\n\nA has b c\n\nroot has A d\n"
    tree = read(tmp_path, text).hierarchies["x"]
    assert ["d", "d", "root"] in [list(row) for row in tree.to_rows()]


def test_rules_are_hierarchies_of_one_step(tmp_path):
    found = read(tmp_path, RULES)
    assert set(found.hierarchies) == {"age", "sex"}
    assert [list(row) for row in found.hierarchies["age"].to_rows()] == [
        ["34", "30-39", "*"],
        ["38", "30-39", "*"],
    ]
    assert found.schema is None


@pytest.mark.parametrize("document", [
    {"nodeList": [{"id": "0", "label": "*"}, {"id": "1", "label": "f"}, {"id": "2", "label": "m"}],
     "edgeList": [{"from": "0", "to": "1"}, {"from": "0", "to": "2"}]},
    {"name": "*", "children": [{"name": "f"}, {"name": "m"}]},
    {"root": {"label": "*", "children": ["f", "m"]}},
])  # fmt: skip
def test_a_hierarchy_as_json(tmp_path, document):
    tree = read(tmp_path, json.dumps(document), "sex.json").hierarchies["sex"]
    assert [list(row) for row in tree.to_rows()] == [["f", "*"], ["m", "*"]]


@pytest.mark.parametrize(("text", "problem"), [
    ("", "no hierarchy and no rules"),
    ("Alice,flu\n", "no hierarchy and no rules"),
    ("distinct\nheight 3\n\nA has b\n", "no `name` and `type`"),
    ("distinct\nname x\ntype string\n\nAlice b\n", "no word `has`"),
    ("distinct\nname x\ntype string\n\n", "no line `parent has"),
    ("distinct\nname x\ntype string\n\nA has B\nB has A\n", "no leaves"),
    ("distinct\nname x\ntype string\n\nA has B c\nB has A\n", "in a circle"),
    ("Anonymization rules:\n", "no rule for any column"),
    ("Anonymization rules:\nage\nAlice\n", "a rule has no ->"),
    ('{"nodeList": [], "edgeList": [{"from": 1, "to": 2}]}', "not there"),
    ('{"nodeList": 1, "edgeList": 2}', "must be lists"),
    ('{"children": []}', "a node has no name"),
    ('{"name": "a", "children": 3}', "must be a list"),
    ('{"name": "a", "children": [[]]}', "neither a label"),
])  # fmt: skip
def test_what_amnesia_does_not_write_is_refused_without_its_values(tmp_path, text, problem):
    with pytest.raises(InputError, match=problem) as caught:
        read(tmp_path, text)
    assert "Alice" not in str(caught.value)


def test_a_value_under_two_parents_is_no_tree(tmp_path):
    text = "distinct\nname x\ntype string\n\nA has b c\nA2 has d\n\nroot has A\nroot2 has A2\n"
    with pytest.raises(HierarchyError):
        read(tmp_path, text)
