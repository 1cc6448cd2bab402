from __future__ import annotations

import copy
import pickle
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.hierarchies.trees import SECRET, parent_maps, refusal, row_tables
from tests.naive import hierarchy as naive

from shoal.core.errors import UnknownValueError
from shoal.hierarchies.tree import Hierarchy

# --- laws


@given(parent_maps())
def test_numbers_agree_with_the_naive_twin(parents):
    tree = Hierarchy.from_parents("x", parents)
    assert set(tree.labels) == set(parents)
    assert tree.height == max(naive.depth(parents, label) for label in parents)
    for node, label in enumerate(tree.labels):
        above = tree.parents[node]
        assert (None if above < 0 else tree.labels[above]) == parents[label]
        assert tree.heights[node] == naive.height(parents, label)
        assert tree.depths[node] == naive.depth(parents, label)
        assert tree.leaf_counts[node] == len(naive.leaves_below(parents, label))
        assert (node in tree.leaves) == (label in naive.leaves(parents))


@given(parent_maps())
def test_a_subtree_is_a_run_of_post_order(parents):
    tree = Hierarchy.from_parents("x", parents)
    assert tree.root == len(tree) - 1
    assert tree.parents[tree.root] == -1
    for u in range(len(tree)):
        for v in range(len(tree)):
            below = tree.labels[u] in naive.ancestors(parents, tree.labels[v])
            assert (tree.first[u] <= v <= u) == below


@given(parent_maps(), st.data())
def test_the_common_ancestor_agrees_with_the_naive_twin(parents, data):
    tree = Hierarchy.from_parents("x", parents)
    some = data.draw(st.lists(st.sampled_from(tree.labels), min_size=1, max_size=5))
    assert tree.labels[tree.lca(map(tree.index, some))] == naive.lca(parents, some)


@given(parent_maps())
def test_levels_agree_with_the_naive_twin(parents):
    tree = Hierarchy.from_parents("x", parents)
    table = tree.level_table()
    assert tree.levels == len(table) == tree.height + 1
    for node, label in enumerate(tree.labels):
        found = [tree.labels[level[node]] for level in table]
        assert found == naive.levels(parents, label)
        assert [tree.ancestor(node, level) for level in range(tree.levels)] == [
            level[node] for level in table
        ]


def assert_levels_only_join(tree: Hierarchy) -> None:
    table = tree.level_table()
    assert table[0] == tuple(range(len(tree)))
    assert set(table[-1]) == {tree.root}
    for low, high in pairwise(table):
        becomes: dict[int, int] = {}
        for before, after in zip(low, high, strict=True):
            assert becomes.setdefault(before, after) == after
            assert tree.first[after] <= before <= after


@given(parent_maps())
def test_values_equal_at_one_level_stay_equal_in_any_tree(parents):
    assert_levels_only_join(Hierarchy.from_parents("x", parents))


@given(row_tables())
def test_rows_define_the_levels_exactly(rows):
    tree = Hierarchy.from_rows("x", rows)
    assert tree.levels == len(rows[0])
    assert_levels_only_join(tree)
    for value, levels in naive.row_levels(rows).items():
        node = tree.index(value)
        assert [tree.labels[tree.ancestor(node, i)] for i in range(tree.levels)] == levels


@given(row_tables(), st.booleans())
def test_rows_documents_and_pickles_lead_back_to_the_same_hierarchy(rows, inner):
    tree = Hierarchy.from_rows("x", rows)
    for again in (
        Hierarchy.from_rows("x", tree.to_rows()),
        Hierarchy.from_document("x", tree.to_document()),
        pickle.loads(pickle.dumps(tree)),
        copy.deepcopy(tree),
    ):
        assert again == tree
        assert hash(again) == hash(tree)
        assert again.level_table() == tree.level_table()
    assert Hierarchy.from_rows("x", tree.to_rows(inner=inner)).level_table() == tree.level_table()


@given(parent_maps())
def test_a_tree_survives_rows_and_documents(parents):
    tree = Hierarchy.from_parents("x", parents)
    assert Hierarchy.from_rows("x", tree.to_rows()) == tree
    assert Hierarchy.from_document("x", tree.to_document()) == tree
    assert "levels" not in tree.to_document()


@given(row_tables(), st.data())
def test_ragged_paths_are_the_tree_they_spell(rows, data):
    tree = Hierarchy.from_rows("x", rows)
    paths = [tuple(dict.fromkeys(row)) for row in rows]
    ragged = Hierarchy.from_rows("x", data.draw(st.permutations(paths)))
    assert ragged.levels == ragged.height + 1
    assert {x: ragged.labels[ragged.parents[ragged.index(x)]] for x in ragged.labels[:-1]} == {
        x: tree.labels[tree.parents[tree.index(x)]] for x in tree.labels[:-1]
    }
    assert_levels_only_join(ragged)


@given(st.one_of(parent_maps().map(lambda p: Hierarchy.from_parents("x", p)),
                 row_tables().map(lambda r: Hierarchy.from_rows("x", r))))  # fmt: skip
def test_missing_is_one_more_leaf_and_changes_nothing_else(tree):
    wider = tree.with_missing("(missing)")
    assert wider.labels == ("(missing)", *tree.labels)
    assert wider.parents[0] == wider.root
    assert_levels_only_join(wider)
    if len(tree) > 1:
        assert wider.levels == tree.levels
        for before, after in zip(tree.level_table(), wider.level_table(), strict=True):
            assert tuple(node + 1 for node in before) == after[1:]
    lasts = [wider.ancestor(0, level) for level in range(wider.levels)]
    assert lasts == [0] * (wider.levels - 1) + [wider.root]


# --- examples


def test_children_stand_in_order_of_first_appearance():
    rows = [("b", "B", "*"), ("a", "A", "*"), ("c", "B", "*")]
    assert Hierarchy.from_rows("x", rows).labels == ("b", "c", "B", "a", "A", "*")


def test_a_short_branch_repeats_its_top():
    tree = Hierarchy.from_tree("x", {"*": ["a", {"B": {"C": ["d"]}}]})
    rows = {row[0]: row for row in tree.to_rows()}
    assert rows["a"] == ("a", "a", "a", "*")
    assert rows["d"] == ("d", "C", "B", "*")


def test_an_inner_node_is_a_value_that_waits_for_its_leaves():
    tree = Hierarchy.from_tree("x", {"*": {"Europe": {"France": ["Paris"]}}})
    rows = {row[0]: row for row in tree.to_rows(inner=True)}
    assert rows["France"] == ("France", "France", "Europe", "*")
    assert rows["Europe"] == ("Europe", "Europe", "Europe", "*")
    assert rows["*"] == ("*", "*", "*", "*")


def test_a_short_row_of_an_inner_value_follows_the_rows_through_it():
    rows = [("France", "Europe", "*"), ("Paris", "France", "Europe", "*")]
    tree = Hierarchy.from_rows("x", rows)
    assert ("France", "France", "Europe", "*") in tree.to_rows(inner=True)


def test_a_short_row_goes_the_way_of_the_full_rows_it_meets():
    rows = [("x", "P", "R", "*"), ("y", "P", "P", "R", "*")]
    tree = Hierarchy.from_rows("x", rows)
    assert tree.to_rows()[0] == ("x", "P", "P", "R", "*")
    assert_levels_only_join(tree)


def test_a_value_row_of_an_inner_node_keeps_its_own_levels():
    rows = [("v", "v", "u", "*"), ("u", "*", "*", "*")]
    tree = Hierarchy.from_rows("x", rows)
    assert set(tree.to_rows()) == set(rows)
    assert tree.to_document()["levels"] == [list(level) for level in tree.level_table()]


def test_white_space_empty_rows_and_equal_rows_do_not_matter():
    rows = [(" a", "B ", "*"), (), ("", ""), ("a", "B", "*"), ("c", "B", "*")]
    assert Hierarchy.from_rows("x", rows).labels == ("a", "c", "B", "*")


def test_builders_keep_white_space_when_they_ask_to():
    assert Hierarchy.from_rows("x", [(" a", "*")], strip=False).labels == (" a", "*")


def test_a_root_alone_is_a_hierarchy_of_one_level():
    tree = Hierarchy.from_rows("x", [("*",)])
    assert (tree.levels, tree.height, tree.leaves, tree.level_table()) == (1, 0, (0,), [(0,)])


def test_a_nested_tree_may_mix_lists_mappings_numbers_and_single_labels():
    tree = {"*": [{"1": [2, 3.0]}, {"A": "b", "C": None}, "d", {"E": []}]}
    assert Hierarchy.from_tree("x", tree).labels == (
        *("2", "3", "1", "b", "A", "C", "d", "E", "*"),
    )


def test_a_root_may_be_named_only_as_a_parent():
    assert Hierarchy.from_parents("x", {"a": "B", "B": "*"}).labels == ("a", "B", "*")


def test_flat_takes_equal_values_once_and_the_root_for_itself():
    assert Hierarchy.flat("x", ["b", "a", "b", "*"]).labels == ("b", "a", "*")
    assert Hierarchy.flat("x", ["a"], root="any").labels == ("a", "any")


def test_labels_are_found_or_counted_as_unknown_but_never_shown():
    tree = Hierarchy.flat("sex", ["f", "m"])
    assert (tree.get("m"), tree.get(SECRET), tree.index("f")) == (1, None, 0)
    assert "m" in tree
    assert SECRET not in tree
    with pytest.raises(UnknownValueError, match="1 of 1") as caught:
        tree.index(SECRET)
    assert SECRET not in str(caught.value)
    assert repr(tree) == "<Hierarchy 'sex': 3 nodes, 2 levels>"


def test_the_same_tree_may_belong_to_another_column():
    for rows in ([("a", "B", "*"), ("c", "B", "*")], [("a", "a", "*"), ("b", "C", "*")]):
        tree = Hierarchy.from_rows("x", rows)
        assert tree.named("y") == Hierarchy.from_rows("y", rows)
        assert tree.named("y").named("x") == tree


def test_a_hierarchy_cannot_be_changed():
    tree = Hierarchy.flat("x", ["a"])
    for change in (lambda: setattr(tree, "name", "y"), lambda: delattr(tree, "name")):
        with pytest.raises(AttributeError, match="cannot be changed"):
            change()
    with pytest.raises(AttributeError):
        tree.other = 1


def test_hierarchies_differ_by_levels_and_by_name():
    rows = [("a", "*")]
    assert Hierarchy.from_rows("x", rows) != Hierarchy.from_rows("y", rows)
    assert Hierarchy.from_rows("x", rows) != Hierarchy.from_rows("x", [("a", "a", "*")])
    assert Hierarchy.from_rows("x", rows) != "x"


# --- refusals


def test_levels_and_nodes_outside_the_tree_are_refused():
    tree = Hierarchy.flat("place", ["a", "b"])
    assert "level 2 is outside 0 … 1" in refusal(lambda _: tree.ancestor(0, 2))
    assert "level -1" in refusal(lambda _: tree.ancestor(0, -1))
    assert "nothing" in refusal(lambda _: tree.lca([]))
    for nodes in ([-1], [0, 3]):
        with pytest.raises(IndexError):
            tree.lca(nodes)
    with pytest.raises(IndexError):
        tree.ancestor(-1, 0)


@pytest.mark.parametrize("label", ["", SECRET])
def test_a_label_for_missing_values_must_be_new(label):
    refusal(lambda _: Hierarchy.flat("place", [SECRET]).with_missing(label))


@pytest.mark.parametrize(
    "document",
    [
        *(None, [], "x", {}, {"labels": ["a"]}),
        {"labels": [SECRET, "*"], "parents": [1, -1], "extra": 1},
        {"labels": "ab", "parents": [1, -1]},
        {"labels": [], "parents": []},
        {"labels": [SECRET, 1], "parents": [1, -1]},
        {"labels": [SECRET, ""], "parents": [1, -1]},
        {"labels": [SECRET, SECRET], "parents": [1, -1]},
        {"labels": [SECRET, "*"], "parents": [1]},
        {"labels": [SECRET, "*"], "parents": "1"},
        {"labels": [SECRET, "*"], "parents": [1, 0]},
        {"labels": [SECRET, "*"], "parents": [0, -1]},
        {"labels": [SECRET, "*"], "parents": [-1, -1]},
        {"labels": [SECRET, "*"], "parents": [2, -1]},
        {"labels": [SECRET, "*"], "parents": [True, -1]},
        {"labels": [SECRET, "*"], "parents": [1.0, -1]},
        {"labels": [SECRET, "b", "c", "d", "*"], "parents": [2, 3, 4, 4, -1]},
        {"labels": [SECRET, "*"], "parents": [1, -1], "levels": None},
        {"labels": [SECRET, "*"], "parents": [1, -1], "levels": []},
        {"labels": [SECRET, "*"], "parents": [1, -1], "levels": [[0, 1]]},
        {"labels": [SECRET, "*"], "parents": [1, -1], "levels": [[1, 1]]},
        {"labels": [SECRET, "*"], "parents": [1, -1], "levels": [[0, 1], [1]]},
        {"labels": [SECRET, "*"], "parents": [1, -1], "levels": [[0, 1], [1, True]]},
        {"labels": [SECRET, "*"], "parents": [1, -1], "levels": [[0, 1], [1, -1]]},
        {"labels": [SECRET, "b", "*"], "parents": [1, 2, -1], "levels": [[0, 1, 2], [2, 2, 2]]},
        {
            "labels": [SECRET, "b", "*"],
            "parents": [1, 2, -1],
            "levels": [[0, 1, 2], [1, 1, 2], [1, 2, 2], [2, 2, 2]],
        },
    ],
)
def test_a_damaged_document_is_refused(document):
    refusal(Hierarchy.from_document, document)


# --- size


def test_two_hundred_thousand_nodes_are_no_burden():
    rows = [(f"{i}", f"a{i // 10}", f"b{i // 1000}", "*") for i in range(180_000)]
    tree = Hierarchy.from_rows("x", rows)
    assert len(tree) == 198_181


def test_a_very_deep_chain_does_not_break_anything():
    size = 100_000
    tree = Hierarchy.from_parents("x", {str(i): str(i - 1) if i else None for i in range(size)})
    assert tree.lca([0, 5]) == 5
    assert tree.ancestor(0, size // 2) == size // 2
    assert tree.with_missing("?").levels == tree.levels
    assert Hierarchy.from_rows("x", tree.to_rows()) == tree
    assert pickle.loads(pickle.dumps(tree)) == tree
    nested: object = None
    for i in range(size):
        nested = {str(i): nested}
    assert Hierarchy.from_tree("x", nested).height == size - 1


def test_the_file_a_tree_was_read_from_is_no_part_of_what_it_is():
    tree = Hierarchy.from_rows("x", [("a", "b", "*"), ("c", "c", "*")])
    read = tree.read_from("trees/x.csv")
    assert (tree.origin, read.origin) == (None, "trees/x.csv")
    assert read == tree
    assert hash(read) == hash(tree)
    assert repr(read) == repr(tree)
    assert read.to_document() == tree.to_document()
    assert read.named("y").origin == copy.deepcopy(read).origin == "trees/x.csv"
    assert read.named("y") == tree.named("y") != tree
    assert read.with_missing("?").origin is None  # no longer what the file says
