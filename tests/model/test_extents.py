"""What a label stands for, and what covers two of them."""

from __future__ import annotations

import pytest

from shoal.model.extents import Extents, joined
from shoal.model.model import ModelColumn

TREE = {"labels": ["a", "b", "ab", "c", "*"], "parents": [2, 2, 4, 4, -1]}
MASK = {"char": "*", "length": 4, "direction": "right", "pad": "right", "fill": "*"}
PLAN = {"absent": {"": 1}, "index": {}, "parents": [], "labels": [], "form": None}


def extents(scale, cells, *, is_round=True, mask=None, tree=None):
    plan = PLAN
    if tree:
        index = {label: node for node, label in enumerate(tree["labels"])}
        plan = {**PLAN, **tree, "index": index}
    column = ModelColumn(name="x", scale=scale, root="*", cells=tuple(cells), mask=mask)
    return Extents(column, plan, is_round=is_round)


NUMBERS = extents("number", [{"low": "0", "high": "99", "label": "0–99"}])
TIGHT = extents("number", [{"low": "1", "high": "9"}], is_round=False)
DATES = extents("date", [{"low": "2020-01-01", "high": "2020-03-31", "label": "2020-Q1"}])
NODES = extents("text", [{"node": 0}], tree=TREE)
MASKED = extents("text", [{"value": "1001"}], mask=MASK)
LEFT = extents("text", [{"value": "1001"}], mask={**MASK, "direction": "left"})


@pytest.mark.parametrize(
    ("column", "one", "other", "both"),
    [
        (NUMBERS, "20–24", "27", "20–27"),
        (NUMBERS, "20–24", "20–24", "20–24"),
        (NUMBERS, "20–24", "*", "*"),
        (NUMBERS, "20–24", None, "*"),
        (NUMBERS, "?", "1", "*"),
        (TIGHT, "[1, 3]", "7", "[1, 7]"),
        (TIGHT, "[-5, -3]", "[1, 2]", "[-5, 2]"),
        (DATES, "2020-01", "2020-Q2", "2020-01–2020-06"),
        (DATES, "2019", "2020-03-15", "2019-Q1–2020-Q1"),
        (NODES, "a", "b", "ab"),
        (NODES, "ab", "c", "*"),
        (NODES, "a", "nowhere", "*"),
        (MASKED, "1001", "1002", "100*"),
        (MASKED, "10**", "1002", "10**"),
        (MASKED, "2***", "1001", "*"),
        (MASKED, "1001", "100", "*"),
        (LEFT, "1001", "2001", "*001"),
    ],
)
def test_two_labels_together(column, one, other, both):
    found = column.join(column.read(one), column.read(other))
    assert column.join(column.read(other), column.read(one)).label == found.label
    if both in ("20–27", "2020-01–2020-06"):  # on the grid, never narrower
        low, high = (found.low, found.high)
        assert column.line.key(low) <= column.line.key(str(column.read(one).low))
        assert column.line.key(str(column.read(other).high)) <= column.line.key(high)
    else:
        assert found.label == both


def test_what_is_coarser_costs_more():
    assert NUMBERS.cost(NUMBERS.read("*")) == 1.0
    assert NUMBERS.cost(NUMBERS.read("20–29")) == pytest.approx(9 / 99)
    assert NUMBERS.cost(NUMBERS.read("20")) == 0.0
    assert [NODES.cost(NODES.read(label)) for label in ("a", "ab", "*")] == [0.0, 0.5, 1.0]
    assert MASKED.cost(MASKED.read("10**")) == 0.5
    assert 0 < DATES.cost(DATES.read("2020-01")) < DATES.cost(DATES.read("2020-Q1")) <= 1


def test_boxes_are_joined_column_by_column():
    one = (NUMBERS.read("20"), NODES.read("a"))
    other = (NUMBERS.read("20"), NODES.read("b"))
    assert [each.label for each in joined([NUMBERS, NODES], one, other)] == ["20", "ab"]
