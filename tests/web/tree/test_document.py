"""The tree that is edited, against a nested list that is edited by hand."""

from __future__ import annotations

import copy
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.core.errors import HierarchyError
from shoal.hierarchies.tree import Hierarchy
from shoal.web.tree.document import TreeDocument

PLACES = {"*": {"Europe": ["France", "Italy", "Spain"], "Asia": ["Japan", "China"], "Moon": []}}


def document(tree=PLACES):
    return TreeDocument.of(Hierarchy.from_tree("place", tree))


def numbers(tree, *labels):
    return [tree.number_of(label) for label in labels]


# The twin: [label, [children]], edited by searching it from the root.


def nested(tree):
    def at(node):
        label, _, children = tree.node(node)
        return [label, [at(child) for child in children]]

    return at(tree.root)


def every(node):
    yield node
    for child in node[1]:
        yield from every(child)


def find(root, label):
    return next(node for node in every(root) if node[0] == label)


def parent_of(root, label):
    return next(node for node in every(root) if any(child[0] == label for child in node[1]))


def by_hand(root, what, labels, target):
    """Edit the nested list; None: that cannot be meant."""
    root = copy.deepcopy(root)
    labels = list(dict.fromkeys(labels))
    if what == "rename":
        if any(node[0] == target and node[0] != labels[0] for node in every(root)):
            return None
        find(root, labels[0])[0] = target
        return root
    if root[0] in labels:
        return None
    below = {label: [node[0] for node in every(find(root, label))] for label in labels}
    labels = [x for x in labels if not any(x != y and x in below[y] for y in labels)]
    taken = [find(root, label) for label in labels]
    if what == "move":
        if any(target in below[label] for label in labels):
            return None
        for label in labels:
            parent = parent_of(root, label)
            parent[1] = [child for child in parent[1] if child[0] != label]
        find(root, target)[1].extend(taken)
    if what == "split":
        parents = {parent_of(root, label)[0] for label in labels}
        if len(parents) != 1 or any(node[0] == target for node in every(root)):
            return None
        parent = parent_of(root, labels[0])
        if len(parent[1]) == len(labels):
            return None
        parent[1] = [child for child in parent[1] if child[0] not in labels]
        if parent is root:
            root[1].append([target, taken])
        else:
            above = parent_of(root, parent[0])
            above[1].insert(above[1].index(parent) + 1, [target, taken])
    if what == "merge":
        if len(labels) < 2 or not all(node[1] for node in taken):
            return None
        for node in taken[1:]:
            parent = parent_of(root, node[0])
            parent[1] = [child for child in parent[1] if child is not node]
            taken[0][1].extend(node[1])
    if what == "dissolve":
        for node in taken:
            parent = parent_of(root, node[0])
            at = parent[1].index(node)
            if len(parent[1]) == 1 and not node[1] and parent is root:
                return None
            parent[1][at : at + 1] = node[1]
    return root


EDITS = st.tuples(
    st.sampled_from(["rename", "move", "split", "merge", "dissolve", "undo", "redo"]),
    st.lists(st.integers(0, 30), min_size=1, max_size=3),
    st.integers(0, 30),
)


def edit(tree, what, labels, target):
    chosen = numbers(tree, *labels)
    if what == "rename":
        return tree.rename(chosen[0], target)
    if what == "move":
        return tree.move(chosen, tree.number_of(target))
    if what == "split":
        return tree.split(chosen, target)
    return tree.merge(chosen) if what == "merge" else tree.dissolve(chosen)


@settings(max_examples=150)
@given(st.lists(EDITS, max_size=12))
def test_edits_are_what_one_would_do_by_hand_and_can_be_undone(edits):
    tree = document()
    mirror = tree.to_document()["nodes"]  # what a browser has, of patches alone
    states, at = [nested(tree)], 0
    for what, picks, pick in edits:
        if what in ("undo", "redo"):
            patch = tree.undo() if what == "undo" else tree.redo()
            step = -1 if what == "undo" else 1
            assert (patch is None) == (not 0 <= at + step < len(states))
            at += step if patch is not None else 0
        else:
            known = [node[0] for node in every(states[at])]
            labels = [known[each % len(known)] for each in picks]
            is_new = what == "split" or (what == "rename" and pick % 2)
            target = f"new {len(states)} {pick}" if is_new else known[pick % len(known)]
            wanted = by_hand(states[at], what, labels, target)
            if wanted is None:
                with pytest.raises(HierarchyError):
                    edit(tree, what, labels, target)
                patch = None
            else:
                patch = edit(tree, what, labels, target)
                states, at = [*states[: at + 1], wanted], at + 1
        for number, node in (patch.to_document()["nodes"] if patch else {}).items():
            if node is None:
                del mirror[number]
            else:
                mirror[number] = node
        assert nested(tree) == states[at]
        assert mirror == tree.to_document()["nodes"]
        labels = [node[0] for node in every(states[at])]
        assert len(set(labels)) == len(labels) == len(tree)
        assert set(tree.hierarchy().labels) == set(labels)


@given(st.recursive(st.just([]), lambda inner: st.lists(inner, min_size=1, max_size=4)))
def test_a_hierarchy_comes_back_as_it_was(shape):
    names = iter(f"n{number}" for number in range(10_000))

    def grown(children):
        return {next(names): [grown(each) for each in children]}

    tree = Hierarchy.from_tree("x", grown(shape))
    assert TreeDocument.of(tree).hierarchy() == tree


def test_values_without_a_place_get_one():
    tree = document()
    assert tree.missing(["Italy", "Peru", "Chad"]) == ["Peru", "Chad"]
    tree.add(["Peru", "Chad"], tree.number_of("Moon"))
    assert tree.missing(["Italy", "Peru", "Chad"]) == []
    assert tree.hierarchy().to_rows()[-1] == ("Chad", "Moon", "*")
    tree.undo()
    assert "Peru" not in tree


@pytest.mark.parametrize(
    ("act", "why"),
    [
        (lambda t: t.rename(t.number_of("Italy"), "  "), "not empty"),
        (lambda t: t.rename(t.number_of("Italy"), "a\nb"), "one line"),
        (lambda t: t.rename(t.number_of("Italy"), "Spain"), "another node"),
        (lambda t: t.rename(999, "x"), "not there"),
        (lambda t: t.move([t.root], t.number_of("Asia")), "root"),
        (lambda t: t.move([], t.root), "choose a node"),
        (lambda t: t.move([t.number_of("Asia")], t.number_of("Japan")), "below itself"),
        (lambda t: t.split(numbers(t, "Italy", "Japan")), "of one node"),
        (lambda t: t.split(numbers(t, "Japan", "China")), "leave at least one"),
        (lambda t: t.merge(numbers(t, "Italy", "Spain")), "with children"),
        (lambda t: t.merge(numbers(t, "Europe")), "at least two"),
        (lambda t: t.add([], t.root), "choose values"),
        (lambda t: t.add(["Peru", "Peru"], t.root), "twice"),
    ],
)
def test_what_cannot_be_meant_is_refused_without_the_labels(act, why):
    tree = document()
    before = tree.to_document()
    with pytest.raises(HierarchyError, match=why) as caught:
        act(tree)
    assert not any(name in str(caught.value) for name in ("Italy", "Spain", "Peru", "Japan"))
    assert tree.to_document() == before


def test_a_new_node_is_called_by_its_first_child_and_its_last():
    tree = document()
    patch = tree.split(numbers(tree, "France", "Spain"))
    assert tree.node(patch.chosen).label == "France … Spain"
    assert tree.node(tree.split(numbers(tree, "Japan")).chosen).label == "Japan +"


def test_the_last_value_stays():
    tree = TreeDocument.flat("x", ["a"])
    with pytest.raises(HierarchyError, match="last value"):
        tree.dissolve(numbers(tree, "a"))


def test_an_edit_of_ten_thousand_leaves_is_quick():
    rows = [(f"v{at}", f"g{at // 10}", f"h{at // 100}", "*") for at in range(10_000)]
    tree = TreeDocument.of(Hierarchy.from_rows("x", rows))
    began = time.process_time()
    for at in range(20):
        patch = tree.move(numbers(tree, f"g{at}", f"v{at * 10 + 500}"), tree.number_of("h90"))
        assert len(patch.nodes) < 10
    assert (time.process_time() - began) / 20 < 0.1
    began = time.process_time()
    tree.hierarchy()
    assert time.process_time() - began < 1.0
