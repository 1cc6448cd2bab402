from __future__ import annotations

import copy
import pickle
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.naive import hierarchy as naive

from shoal.core.errors import HierarchyError, UnknownValueError
from shoal.hierarchies.tree import Hierarchy, number_text

SECRET = "Alice"  # stands where a label is at fault, and must never be printed


@st.composite
def parent_maps(draw: st.DrawFn) -> dict[str, str | None]:
    """Draw a tree: each label hangs below an earlier one; sometimes a chain, sometimes a bush."""
    size = draw(st.integers(1, 14))
    parents: dict[str, str | None] = {"n0": None}
    for node in range(1, size):
        parents[f"n{node}"] = f"n{draw(st.integers(0, node - 1))}"
    shuffled = draw(st.permutations(list(parents)))
    return {label: parents[label] for label in shuffled}


@st.composite
def row_tables(draw: st.DrawFn) -> list[tuple[str, ...]]:
    """Draw rows of one length whose levels nest, with labels repeated at random.

    Each level joins groups of the level below; a group of one may keep its label.
    """
    values = [f"v{i}" for i in range(draw(st.integers(1, 8)))]
    columns, current = [values], values
    for level in range(1, draw(st.integers(1, 4))):
        below = list(dict.fromkeys(current))
        fresh = {label: f"l{level}.{draw(st.integers(0, len(below) - 1))}" for label in below}
        for label in below:
            alone = sum(other == fresh[label] for other in fresh.values()) == 1
            if alone and draw(st.booleans()):
                fresh[label] = label
        current = [fresh[label] for label in current]
        columns.append(current)
    columns.append(["*"] * len(values))
    return list(zip(*columns, strict=True))


def refusal(call, *arguments) -> str:
    with pytest.raises(HierarchyError) as caught:
        call("place", *arguments)
    text = str(caught.value)
    assert SECRET not in text
    assert "\n" not in text
    assert "'place'" in text
    return text


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


@pytest.mark.parametrize(
    ("number", "text"),
    [(34, "34"), (34.0, "34"), (0.1, "0.1"), (-0.0, "0"), (1e17, "1" + "0" * 17), (-2.5, "-2.5")],
)
def test_a_number_has_one_text(number, text):
    assert number_text(number) == text


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
