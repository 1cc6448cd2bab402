"""Links: rows, nested trees and maps of parents say the same tree, or are refused."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from tests.hierarchies.trees import SECRET, parent_maps, refusal, row_tables
from tests.naive import hierarchy as naive

from shoal.hierarchies.links import (
    clean_rows,
    links_of_parents,
    links_of_rows,
    links_of_tree,
    post_order,
    steps_of_rows,
)
from shoal.hierarchies.tree import Hierarchy


def nested(parents, label):
    """Return a tree as nested mappings, the slow way."""
    return {child: nested(parents, child) for child, above in parents.items() if above == label}


@given(parent_maps())
def test_rows_trees_and_parents_give_the_same_links(parents):
    root = next(label for label, above in parents.items() if above is None)
    rows = [tuple(naive.ancestors(parents, label)) for label in parents]
    tree = {root: nested(parents, root)}
    assert links_of_parents("x", parents) == parents
    assert links_of_rows("x", rows) == parents
    assert links_of_tree("x", tree) == parents


@given(parent_maps())
def test_post_order_puts_children_before_parents_and_subtrees_together(parents):
    labels, above = post_order("x", parents)
    assert [None if a < 0 else labels[a] for a in above] == [parents[x] for x in labels]
    for node, label in enumerate(labels):
        below = [i for i, x in enumerate(labels) if label in naive.ancestors(parents, x)]
        assert below == list(range(node - len(below) + 1, node + 1))


@given(row_tables())
def test_steps_lead_from_each_cell_of_a_row_to_the_next(rows):
    steps = steps_of_rows("x", rows, links_of_rows("x", rows))
    assert len(steps) == len(rows[0]) - 1
    for row in rows:
        for level, (label, above) in enumerate(pairwise(row)):
            assert steps[level][label] == above


def test_a_short_row_repeats_its_topmost_label_below_the_root():
    rows = [("a", "B", "C", "*"), ("d", "*")]
    steps = steps_of_rows("x", rows, links_of_rows("x", rows))
    assert [step.get("d") for step in steps] == ["d", "d", "*"]


def test_rows_are_trimmed_unless_their_white_space_is_meant():
    assert clean_rows("x", [(" a ", "*"), ("", " ")], True) == [("a", "*")]
    assert clean_rows("x", [(" a ", "*")], False) == [(" a ", "*")]


def test_numbers_and_single_labels_of_a_tree_are_texts():
    assert links_of_tree("x", {"*": [1, 2.0, {3: "a"}]}) == {
        "*": None, "1": "*", "2": "*", "3": "*", "a": "3",
    }  # fmt: skip


# --- refusals


def test_a_value_under_two_parents_is_refused_with_level_and_count():
    rows = [
        (f"v{i}", f"w{i % 3}", SECRET + str(i % 3), SECRET[: 1 + i // 3], "*") for i in range(6)
    ]
    text = refusal(Hierarchy.from_rows, rows)
    assert "level 2: 3 values stand under two parents;" in text


def test_faults_on_several_levels_are_counted_apart():
    rows = [(SECRET, "b", "X", "*"), (SECRET, "c", "Y", "*"), ("d", "b", "Y", "*")]
    text = refusal(Hierarchy.from_rows, rows)
    assert "level 0: 1 value stands under two parents, level 1: 1 value stands" in text


def test_a_cycle_is_refused():
    assert "level 0: 1 value stands above itself (a cycle)" in refusal(
        Hierarchy.from_rows, [(SECRET, "B", SECRET)]
    )
    assert "cycle" in refusal(Hierarchy.from_rows, [("a", SECRET, "b", SECRET, "*")])
    assert "two parents" in refusal(Hierarchy.from_rows, [(SECRET, "b", "*"), ("b", SECRET, "*")])
    assert "2 values never reach the root" in refusal(
        Hierarchy.from_parents, {"a": SECRET, SECRET: "a", "b": "*", "*": None}
    )
    assert "cycle" in refusal(Hierarchy.from_parents, {SECRET: SECRET})


def test_two_roots_are_refused():
    text = refusal(Hierarchy.from_rows, [("a", "B", SECRET), ("c", "D", "*")])
    assert "level 2: 2 different labels stand at the top" in text
    assert "no single root" in refusal(Hierarchy.from_rows, [("a", SECRET, "*"), ("b", SECRET)])
    assert "no single root" in refusal(Hierarchy.from_tree, {"a": ["b"], SECRET: ["c"]})
    assert "no single root" in refusal(Hierarchy.from_parents, {"a": None, SECRET: None})


def test_rows_that_leave_a_label_at_different_levels_are_refused():
    rows = [("v", SECRET, SECRET, "p", "*"), ("w", SECRET, "p", "p", "*")]
    assert "level 2: 1 value stands repeated in some rows only" in refusal(
        Hierarchy.from_rows, rows
    )


@pytest.mark.parametrize("rows", [[], [()], [("", " ")]])
def test_an_empty_hierarchy_is_refused(rows):
    assert "it is empty" in refusal(Hierarchy.from_rows, rows)


def test_other_empty_hierarchies_are_refused():
    assert "it is empty" in refusal(Hierarchy.from_tree, {})
    assert "it is empty" in refusal(Hierarchy.from_parents, {})
    assert "it is empty" in refusal(Hierarchy.flat, [])


def test_an_empty_label_is_refused():
    text = refusal(Hierarchy.from_rows, [(SECRET, " ", "*"), ("b", "", "*")])
    assert "level 1: 2 values stand without a label" in text
    assert "empty" in refusal(Hierarchy.from_tree, {"*": [SECRET, " "]})
    assert "level 0: 1 value stands without" in refusal(Hierarchy.flat, ["", SECRET])


@pytest.mark.parametrize("rows", [["abc"], [("a", 1)], [("a", None)], ["abc", ("a", "*")]])
def test_rows_that_are_not_texts_are_refused(rows):
    assert "not a list of texts" in refusal(Hierarchy.from_rows, rows)


@pytest.mark.parametrize(
    "tree", [{"*": [True]}, {"*": [None]}, {"*": [["a"]]}, None, {"*": {None: 1}}]
)
def test_trees_with_labels_that_are_no_text_are_refused(tree):
    assert "neither text nor a number" in refusal(Hierarchy.from_tree, tree)


def test_a_label_in_two_places_of_a_tree_is_refused():
    text = refusal(Hierarchy.from_tree, {"*": {"A": [SECRET], "B": [SECRET]}})
    assert "depth 2: 1 value stands under two parents or above itself" in text


def test_a_tree_that_contains_itself_is_refused():
    tree: dict[str, object] = {}
    tree[SECRET] = {"b": tree}
    assert "above itself" in refusal(Hierarchy.from_tree, tree)
