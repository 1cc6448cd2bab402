"""Files and entries of a schema: separators, trees, builders, and faults without a value."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.hierarchies.trees import parent_maps

from shoal.core.errors import HierarchyError, InputError, SchemaError
from shoal.hierarchies.build import BUILDERS, Builder, Dates, Intervals, Mask, TopBottom
from shoal.hierarchies.read import (
    load_hierarchy,
    parse_csv,
    parse_tree,
    read_hierarchy,
    to_csv,
    to_text,
    write_hierarchy,
)
from shoal.hierarchies.tree import Hierarchy

SECRET = "Alice"
LABELS = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=6).filter(
    lambda text: text == text.strip() and text != "*"
)


@pytest.mark.parametrize("mark", [";", ",", "\t"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_the_separator_and_the_line_ends_are_found(mark, end):
    text = end.join(mark.join(row) for row in [("a", "B", "*"), ("c", "B", "*")]) + end
    assert parse_csv("x", text).labels == ("a", "c", "B", "*")


def test_a_byte_order_mark_is_no_part_of_a_label():
    assert parse_csv("x", "\ufeffa;*\n").labels == ("a", "*")


def test_separators_inside_values_do_not_mislead():
    text = "20;[20, 25);[20, 30);*\n26;[25, 30);[20, 30);*\n"
    assert parse_csv("age", text).levels == 4
    assert parse_csv("job", "a;b,X,*\nc,X,*\n").labels == ("a;b", "c", "X", "*")
    assert parse_csv("job", "a;b,*\nc;d,*\n").labels == ("a;b", "c;d", "*")


def test_quotes_protect_separators_quotes_and_line_breaks():
    text = '"a;b";"say ""x""";*\n"c\nd";"say ""x""";*\n'
    assert parse_csv("x", text).labels == ("a;b", "c\nd", 'say "x"', "*")


def test_a_quoted_separator_does_not_hide_the_real_one():
    assert parse_csv("x", '"a;b",X,*\nc,X,*\n').labels == ("a;b", "c", "X", "*")


def test_no_header_is_assumed():
    assert "value" in parse_csv("x", "value;*\na;*\n")


def test_empty_lines_and_empty_cells_at_the_end_are_left_out():
    assert parse_csv("x", "a;B;*\n\nc;*;\n;;\n").to_rows() == [("a", "B", "*"), ("c", "c", "*")]


def test_rows_of_different_length_are_read():
    assert parse_csv("x", "a;B;*\nc;*\n").to_rows()[1] == ("c", "c", "*")


def test_values_that_are_inner_nodes_are_read():
    tree = parse_csv("x", "ham,sausage,meat,*\nsausage,sausage,meat,*\nbeef,beef,meat,*\n")
    assert tree.labels == ("ham", "sausage", "beef", "meat", "*")
    assert tree.to_rows(inner=True)[1] == ("sausage", "sausage", "meat", "*")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "empty"),
        ("\ufeff\n\n", "empty"),
        (f"{SECRET};B;*\n{SECRET};C;*\n", "level 0: 1 value stands under two parents"),
        (f"{SECRET};B;{SECRET}\n", "cycle"),
        (f"{SECRET}\nb\n", "no single root"),
        (f"a;{SECRET}\nb;c\n", "level 1: 2 different labels"),
        (f"{SECRET};;*\n", "level 1: 1 value stands without a label"),
        (f'a;*\n"{SECRET};*\n', "line 2 cannot be read as CSV"),
    ],
)
def test_a_file_that_is_no_tree_is_refused_in_one_line_without_a_value(text, problem):
    with pytest.raises(HierarchyError, match=problem) as caught:
        parse_csv("place", text)
    assert SECRET not in str(caught.value)
    assert "\n" not in str(caught.value)


@given(st.lists(st.lists(LABELS, min_size=1, max_size=3), min_size=1, max_size=4))
def test_what_was_written_is_read_back(branches):
    seen: set[str] = set()
    tree: dict[str, list[str]] = {}
    for branch in branches:
        first, *rest = [label for label in dict.fromkeys(branch) if label not in seen] or [""]
        if first:
            tree[first] = rest
            seen |= {first, *rest}
    hierarchy = Hierarchy.from_tree("x", {"*": tree})
    assert parse_csv("x", to_csv(hierarchy)) == hierarchy


def test_documents_of_three_kinds_are_read():
    tree = Hierarchy.from_rows("x", [("a", "a", "*"), ("b", "C", "*")])
    assert parse_tree("x", tree.to_document()) == tree
    assert parse_tree("x", [["a", "a", "*"], ["b", "C", "*"]]) == tree
    assert parse_tree("x", {"*": ["a", {"C": ["b"]}]}).labels == tree.labels
    assert parse_tree("x", {"labels": ["a"]}).labels == ("a", "labels")


# --- files


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("t.csv", "a;B;*\nb;B;*\n"),
        ("t.txt", "a,B,*\nb,B,*\n"),
        ("t.yaml", "'*': {B: [a, b]}\n"),
        ("t.JSON", '{"*": {"B": ["a", "b"]}}'),
        ("t.yml", "labels: [a, b, B, '*']\nparents: [2, 2, 3, -1]\n"),
    ],
)
def test_the_ending_says_how_a_file_is_read(tmp_path, name, text):
    (tmp_path / name).write_text(text)
    tree = load_hierarchy("x", tmp_path / name)
    assert (tree.name, tree.labels) == ("x", ("a", "b", "B", "*"))


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(InputError, match=r"none\.csv: no such file"):
        load_hierarchy("x", tmp_path / "none.csv")


# --- entries of a schema


def test_an_entry_may_be_absent_a_path_a_tree_or_a_builder(tmp_path):
    (tmp_path / "t.csv").write_text("a;*\n")
    assert read_hierarchy("x", None, folder=tmp_path) is None
    flat = Hierarchy.flat("x", ["a"])
    assert read_hierarchy("x", "t.csv", folder=tmp_path) == flat
    assert read_hierarchy("x", {"tree": {"*": ["a"]}}, folder=tmp_path) == flat
    assert read_hierarchy("x", {"mask": None}, folder=tmp_path) == Mask()
    assert read_hierarchy("x", {"dates": {}}, folder=tmp_path) == Dates()


@pytest.mark.parametrize(
    ("entry", "problem"),
    [
        (5, "must be a file name or a mapping"),
        ({}, "must have one key: tree, intervals"),
        ({"mask": {}, "dates": {}}, "must have one key"),
        ({"masks": {}}, "must have one key"),
        ({"mask": {"char": "ab"}}, "hierarchy mask: char must be one character"),
    ],
)
def test_an_entry_that_says_nothing_is_refused(tmp_path, entry, problem):
    with pytest.raises(SchemaError, match=problem):
        read_hierarchy("x", entry, folder=tmp_path)


@pytest.mark.parametrize(
    "hierarchy",
    [
        Hierarchy.flat("x", ["a", "b"]),
        Hierarchy.from_rows("x", [("a", "b", "*"), ("c", "c", "*")]),
        Mask(char="#", length=4),
        Intervals(cuts=[[0, 10, 20], [0, 20]]),
        TopBottom(top=90, intervals=Intervals(width=5)),
    ],
)
def test_an_entry_that_was_written_is_read_back(tmp_path, hierarchy):
    entry = json.loads(json.dumps(write_hierarchy(hierarchy)))
    assert read_hierarchy("x", entry, folder=tmp_path) == hierarchy


def test_a_builder_of_another_package_is_written_under_its_own_name(tmp_path):
    class Colours(Builder):
        """Not one of ours."""

        def _faults(self):
            return []

    entry = write_hierarchy(Colours())
    assert entry == {"Colours": {}}
    with pytest.raises(SchemaError, match="must have one key"):
        read_hierarchy("x", entry, folder=tmp_path)
    assert "Colours" not in BUILDERS


@pytest.mark.parametrize(("name", "text"), [("x.csv", "a;*\nb;*\n"), ("x.yaml", "'*': [a, b]\n")])
def test_a_hierarchy_knows_the_file_it_came_from(tmp_path, monkeypatch, name, text):
    (tmp_path / name).write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert load_hierarchy("x", name).origin == name  # as it was given
    assert read_hierarchy("x", name, folder=tmp_path).origin == str(tmp_path / name)
    assert read_hierarchy("x", {"tree": {"*": ["a", "b"]}}, folder=tmp_path).origin is None


@pytest.mark.parametrize("ending", [".yaml", ".yml", ".json", ".JSON"])
@given(parents=parent_maps())
def test_a_file_holds_what_its_ending_says_and_is_read_back(tmp_path_factory, ending, parents):
    tree = Hierarchy.from_parents("place", {f"{k}: #": v and f"{v}: #" for k, v in parents.items()})
    path = tmp_path_factory.mktemp("out") / f"tree{ending}"
    path.write_text(to_text(tree, path), encoding="utf-8")
    found = load_hierarchy("place", path)
    assert found.labels == tree.labels
    assert found.parents == tree.parents


def test_other_endings_hold_the_common_layout():
    tree = Hierarchy.flat("sex", ["f", "m"])
    assert to_text(tree, "sex.csv") == to_text(tree, "sex.txt") == "f;*\nm;*\n"
