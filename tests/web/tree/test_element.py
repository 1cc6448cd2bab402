"""The tree as an element: what a browser may ask for, and that all tabs hear of it."""

from __future__ import annotations

import copy

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.core.errors import HierarchyError
from shoal.hierarchies.tree import Hierarchy
from shoal.web.texts import Texts
from shoal.web.tree import element as room
from shoal.web.tree.document import TreeDocument
from shoal.web.tree.element import SHOWN, Editor, done

TREE = Hierarchy.from_tree("x", {"*": {"A": ["a", "b", "c"], "B": ["d", "e"]}})
ANY = st.one_of(
    st.none(), st.booleans(), st.integers(-3, 12), st.text(max_size=4), st.floats(),
    st.lists(st.one_of(st.integers(-3, 12), st.text(max_size=3), st.none()), max_size=4),
)  # fmt: skip


def number(tree, label):
    return tree.number_of(label)


def test_every_edit_that_the_tree_asks_for_is_done():
    tree = TreeDocument.of(TREE)
    a, b, d = (number(tree, name) for name in "abd")
    done(tree, {"what": "rename", "ids": [a], "target": None, "label": "alpha"})
    done(tree, {"what": "move", "ids": [a, b], "target": number(tree, "B")})
    patch = done(tree, {"what": "split", "ids": [d]})
    assert tree.node(patch.chosen).label == "d +"
    done(tree, {"what": "merge", "ids": [number(tree, "A"), number(tree, "B")]})
    done(tree, {"what": "dissolve", "ids": [patch.chosen]})
    rows = [("c", "A"), ("e", "A"), ("alpha", "A"), ("b", "A"), ("d", "d")]
    assert tree.hierarchy().to_rows() == [(*row, "*") for row in rows]
    for _ in range(5):
        assert done(tree, {"what": "undo"}) is not None
    assert done(tree, {"what": "undo"}) is None
    assert tree.hierarchy() == TREE
    assert done(tree, {"what": "redo"}) is not None


@given(
    st.fixed_dictionaries(
        {
            "what": st.sampled_from(["rename", "move", "split", "merge", "dissolve", "drop", None]),
            "ids": ANY,
            "target": ANY,
            "label": ANY,
        }
    )
)
def test_whatever_a_browser_sends_the_tree_stays_one(asked):
    tree = TreeDocument.of(TREE)
    before = copy.deepcopy(tree.to_document())
    try:
        done(tree, asked)
    except HierarchyError:
        assert tree.to_document() == before
    assert len(tree.hierarchy()) == len(tree)


def test_too_many_nodes_are_refused(monkeypatch):
    monkeypatch.setattr(room, "MOST_CHOSEN", 2)
    with pytest.raises(HierarchyError, match="no such edit"):
        done(TreeDocument.of(TREE), {"what": "dissolve", "ids": [0, 1, 2]})


class Shown:
    is_deleted = False

    def __init__(self):
        self.heard = []

    def run_method(self, name, words):
        self.heard.append((name, words))


def test_all_tabs_hear_of_an_edit_and_a_closed_one_does_not():
    editor, one, other = Editor(TreeDocument.of(TREE)), Shown(), Shown()
    told = []
    stop = editor.on_edit(lambda: told.append(1))
    editor.show(one)
    editor.show(other)
    assert not editor.is_edited
    editor.edit({"what": "rename", "ids": [0], "label": "alpha"})
    assert one.heard == other.heard
    assert one.heard[0][1]["nodes"] == {"0": ["alpha", 3, []]}
    assert editor.is_edited
    other.is_deleted = True
    stop()
    editor.edit({"what": "undo"})
    assert len(one.heard) == 2
    assert len(other.heard) == len(told) == 1
    assert not editor.is_edited


def test_a_tree_is_fetched_by_a_key_that_nobody_guesses():
    editor = Editor(TreeDocument.of(TREE))
    SHOWN[editor.key] = editor
    found = room._answer(editor.key)
    assert found["nodes"][str(TREE.root)][0] == "*"
    del SHOWN[editor.key]
    assert room._answer(editor.key) == {"problem": "no such tree"}
    assert len(editor.key) >= 16


def test_every_word_of_the_tree_is_there_in_both_languages():
    for language in ("en", "de"):
        assert all(Texts(language).has(f"tree.{name}") for name in room._WORDS)
