"""A drawing keeps to its lines, counts what it cuts off, and lets no label move the cursor."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from shoal.hierarchies.draw import draw
from shoal.hierarchies.tree import Hierarchy


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
