"""Cuts are at public places: round numbers, months, hours, and beginnings that k share."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.core.grids import ClockGrid, DateGrid, NumberGrid, RankGrid
from shoal.hierarchies.build import Mask, Order
from shoal.hierarchies.tree import Hierarchy
from shoal.methods.cut_places import line_label, places_of
from shoal.schema.schema import Kind
from shoal.table.domain import line_domain, tree_domain


def line(kind, labels, grid=None):
    from dataclasses import replace

    made = line_domain("x", kind, labels, [float(i) for i in range(len(labels))])
    return replace(made, grid=grid)


def found(domain, rule=None, *, records=None, least=2, order=()):
    counts = np.ones(len(domain), np.int64) if records is None else np.array(records, np.int64)
    return places_of(domain, rule, counts, least=least, order=order)


def pairs(places):
    return list(zip(places.codes.tolist(), places.at, strict=True))


def test_whole_numbers_are_cut_at_the_roundest_between():
    places = found(line(Kind.NUMERIC, ["17", "18", "23", "61"], NumberGrid(digits=0)))
    assert pairs(places) == [(1, "18"), (2, "20"), (3, "50")]
    assert places.before("20") == "19"
    assert (float(places.first), float(places.last)) <= (17.0, 99.0)


def test_numbers_with_digits_share_the_place_where_they_meet():
    places = found(line(Kind.NUMERIC, ["-1.5", "0.25", "9.75"], NumberGrid(digits=2)))
    assert [at for _, at in pairs(places)] == ["0", "5"]
    assert places.before("5") == "5"


def test_a_cut_is_no_finer_than_a_part_of_the_whole_range():
    places = found(line(Kind.NUMERIC, ["0", "100001", "100002", "900000"], NumberGrid(digits=0)))
    assert [code for code, _ in pairs(places)] == [1, 3]


def test_days_are_cut_between_months():
    days = ["2024-01-05", "2024-01-31", "2024-02-01", "2025-07-03"]
    places = found(line(Kind.DATE, days, DateGrid()))
    assert pairs(places) == [(2, "2024-02-01"), (3, "2025-07-01")]
    assert places.before("2024-03-01") == "2024-02-29"


def test_hours_and_declared_orders():
    clock = found(line(Kind.DATE, ["08:05:00", "08:50:00", "09:10:00"], ClockGrid()))
    assert pairs(clock) == [(2, "09:00:00")]
    assert clock.before("09:00:00") == "08:59:59"
    order = ("low", "middle", "high")
    rank = found(line(Kind.ORDINAL, list(order), RankGrid(order)), order=order)
    assert pairs(rank) == [(1, "middle"), (2, "high")]
    assert rank.before("high") == "middle"
    assert found(line(Kind.ORDINAL, list(order))) is None  # an order that nobody declared


def test_tight_labels_are_cut_at_values():
    places = found(line(Kind.NUMERIC, [None, "1", "4"]))
    assert pairs(places) == [(2, "4")]
    assert (places.first, places.last, places.before("4")) == ("1", "4", "3")


def test_a_hierarchy_is_cut_between_nodes_where_siblings_part():
    tree = Hierarchy.from_rows(
        "x", [("a", "ab", "*"), ("b", "ab", "*"), ("c", "cd", "*"), ("d", "cd", "*")]
    )
    domain = tree_domain("x", Kind.CATEGORICAL, ["a", "d"], tree, missing=False, weight=1.0)
    [(code, node)] = pairs(found(domain, tree))
    assert code == 1
    # all of ab is on the left side, where a is
    assert tree.index("ab") < node <= tree.index("d")


def test_texts_are_cut_before_beginnings_that_enough_records_share():
    texts = ["1001", "1017", "2001", "2002"]
    tree = Mask().build("x", texts)
    domain = tree_domain("x", Kind.CATEGORICAL, texts, tree, missing=False, weight=1.0)
    assert pairs(found(domain, Mask(), records=[3, 1, 1, 1])) == [(2, "2")]
    assert pairs(found(domain, Mask(), records=[1, 2, 1, 3])) == [(1, "101"), (2, "2"), (3, "2002")]


def test_other_rules_have_no_cuts():
    tree = Order(groups=(2,)).build("x", ["a", "b"])
    domain = tree_domain("x", Kind.CATEGORICAL, ["a", "b"], tree, missing=False, weight=1.0)
    assert found(domain, Order(groups=(2,))) is None


@pytest.mark.parametrize(
    ("grid", "low", "high", "label"),
    [
        (None, "1", "1", "1"),
        (None, "1", "3", "[1, 3]"),
        (NumberGrid(digits=0), "20", "29", "20–29"),
    ],
)
def test_the_label_of_a_region(grid, low, high, label):
    assert line_label(line(Kind.NUMERIC, ["1", "3"], grid), low, high) == {"label": label}
