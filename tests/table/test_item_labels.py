"""Labels of items: written so that they can be read again, whatever the items are called."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.core.errors import InputError
from shoal.hierarchies.read import told_apart
from shoal.hierarchies.tree import Hierarchy
from shoal.table.item_labels import (
    check_items,
    item_groups,
    joiner,
    nodes_of,
    read_label,
    write_label,
)

NAMES = st.text(alphabet='ab,;+()" ', min_size=1, max_size=6)
SEPARATORS = st.sampled_from(["|", ",", ";", ", ", " ", "+", "\t"])


@given(st.lists(NAMES, min_size=1, max_size=4, unique=True), SEPARATORS)
def test_a_label_is_read_as_it_was_written(items, separator):
    assert read_label(write_label(items, separator), separator) == tuple(items)


@given(st.lists(NAMES, min_size=1, max_size=4, unique=True), NAMES)
def test_different_labels_have_different_texts(items, other):
    if (other,) != tuple(items):
        assert write_label(items, "|") != write_label([other], "|")


@given(SEPARATORS)
def test_what_joins_the_items_of_a_label_never_separates_labels(separator):
    assert separator not in joiner(separator)
    assert separator not in write_label(["a", "b"], separator) or separator == " "


def test_a_label_is_written_as_in_the_seed():
    assert write_label(["a", "b"], "|") == "(a, b)"
    assert write_label(["a", "b"], ",") == "(a; b)"
    assert write_label(["cream cheese "], "|") == "cream cheese "
    assert write_label(["(none)"], "|") == '("(none)")'


@pytest.mark.parametrize("text", ["(a, ", '("a', '("a"b, c)', "()", "(", ")", "a, b"])
def test_what_is_no_label_of_ours_is_an_item(text):
    assert "".join(read_label(text, "|")) in (text, text[1:-1])


def test_items_that_hold_the_separator_are_counted_not_named():
    check_items(["a", "b"], "|", "table")
    with pytest.raises(InputError, match="2 items hold") as caught:
        check_items(["secret|x", "y\nz", "b"], "|", "table")
    assert "secret" not in str(caught.value)


ROWS = [("ham", "meat", "food", "*"), ("meat", "meat", "food", "*"), ("tea", "drinks", "food", "*"),
        ("soap", "soap", "home", "*"), ("mop", "home", "home", "*")]  # fmt: skip


def test_a_node_that_shares_a_name_gets_its_level():
    tree = Hierarchy.from_rows("items", told_apart(ROWS))
    items = ["ham", "meat", "mop", "soap", "tea"]
    nodes = nodes_of(tree, items)
    assert nodes[frozenset({"ham", "meat"})] == "meat (level 1)"
    assert nodes[frozenset({"ham", "meat", "tea"})] == "food"
    assert all(len(each) > 1 for each in nodes)
    assert len(set(nodes.values())) == len(nodes)
    assert nodes_of(None, items) == {}


def test_groups_rise_to_the_root_and_spaces_at_the_end_are_no_other_item():
    tree = Hierarchy.from_rows("items", told_apart(ROWS))
    levels = item_groups(tree, ["ham ", "meat", "tea"])
    assert len({*levels[0]}) == 2
    assert len({*levels[-1]}) == 1
    with pytest.raises(InputError, match="1 of 2 items are missing") as caught:
        item_groups(tree, ["ham", "secret"])
    assert "secret" not in str(caught.value)
