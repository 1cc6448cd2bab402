from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.core.errors import HierarchyError
from shoal.hierarchies.text import draw, parse_csv, parse_tree, to_csv
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


def test_a_drawing_shows_every_branch():
    tree = Hierarchy.from_tree("x", {"*": {"A": {"B": ["c", "d"]}, "E": None}})
    assert draw(tree).splitlines() == [
        "*",
        "├── A",
        "│   └── B",
        "│       ├── c",
        "│       └── d",
        "└── E",
    ]


def test_a_drawing_says_how_many_leaves_were_cut_off():
    tree = Hierarchy.from_tree("x", {"*": {"A": list("abc"), "D": ["d"], "E": None}})
    assert draw(tree, max_lines=4).splitlines() == [
        "*",
        "├── A (3 leaves)",
        "├── D (1 leaf)",
        "└── E",
    ]
    wide = Hierarchy.flat("x", map(str, range(100)))
    assert draw(wide, max_lines=4).splitlines() == [
        "*",
        "├── 0",
        "├── 1",
        "└── … 98 more (98 leaves)",
    ]


@given(st.integers(0, 12), st.integers(1, 30), st.integers(1, 5))
def test_a_drawing_keeps_to_its_lines(max_lines, leaves, width):
    rows = [(f"v{i}", f"g{i // width}", "*") for i in range(leaves)]
    tree = Hierarchy.from_rows("x", rows)
    lines = draw(tree, max_lines=max_lines).splitlines()
    assert len(lines) <= max(3, max_lines)
    if len(tree) <= max_lines:
        assert len(lines) == len(tree)


def test_a_drawing_does_not_let_a_label_move_the_cursor():
    assert draw(Hierarchy.flat("x", ["a\x1b[2J\nb"])) == "*\n└── a\\x1b[2J\\nb"


def test_a_deep_chain_is_drawn_within_its_lines():
    tree = Hierarchy.from_parents("x", {str(i): str(i - 1) if i else None for i in range(50_000)})
    assert draw(tree).splitlines()[-1].endswith("199 (1 leaf)")
