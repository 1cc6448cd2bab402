"""Where somebody must stand, against a twin that tries every pair of values."""

from __future__ import annotations

import math
from datetime import date, timedelta
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.naive import rounding as naive

from shoal.core.grids import ClockGrid, DateGrid, NumberGrid, RankGrid
from shoal.hierarchies.tree import Hierarchy
from shoal.measures.attacks.narrow import MISSING, UNKNOWN, Meaning, reader_of
from shoal.schema.schema import Kind
from shoal.table.domain import line_domain, tree_domain

TREE = Hierarchy.from_tree(
    "place", {"*": {"north": ["oslo", "turku", "bergen"], "south": {"coast": ["rome", "nice"]}}}
)


def line(values, kind=Kind.NUMERIC):
    return line_domain("x", kind, [str(v) for v in values], [float(v) for v in values])


def places(tree, label):
    return tree.first[tree.index(label)], tree.index(label)


@settings(deadline=None, max_examples=6)
@given(low=st.integers(0, 60), width=st.integers(1, 14))
def test_zones_of_a_round_interval_are_what_no_shorter_one_reaches(low, width):
    """The twin writes every pair of numbers down and looks which have this label."""
    reader = reader_of(line(range(120)), NumberGrid(0), is_round=True)
    wanted = naive.number_interval((Fraction(low), Fraction(low + width)), 0)
    lows, highs = set(), set()
    for a in range(int(wanted[0]), int(wanted[1]) + 1):
        for b in range(a + 1, int(wanted[1]) + 1):
            if naive.number_interval((Fraction(a), Fraction(b)), 0) == wanted:
                lows.add(a)
                highs.add(b)
    (found,) = reader.meanings([f"{wanted[0]}–{wanted[1]}"])
    assert (found.low, found.high) == wanted
    assert found.zones == ((min(lows), max(lows)), (min(highs), max(highs)))
    assert max(lows) > min(lows)  # nobody's own number
    assert not found.is_tight


def test_zones_of_months_are_whole_days_of_them():
    days = [date(1947, 5, 20) + timedelta(days=30 * i) for i in range(60)]
    domain = line_domain(
        "x", Kind.DATE, [d.isoformat() for d in days], [float(d.toordinal()) for d in days]
    )
    reader = reader_of(domain, DateGrid("%d.%m.%Y"), is_round=True)
    one, year = reader.meanings(["1947-Q2–1948-Q2", "1948"])
    ends = [math.floor(end) for zone in one.zones for end in zone]
    assert [date.fromordinal(end).isoformat() for end in ends] == [
        "1947-04-01", "1947-06-30", "1948-04-01", "1948-06-30",
    ]  # fmt: skip
    assert year.zones[0][0] == date(1948, 1, 1).toordinal()
    assert reader.place("1948-02-01") == date(1948, 2, 1).toordinal()


def test_hours_and_ranks_have_zones_too():
    clock = line_domain("x", Kind.DATE, ["08:20:00", "11:05:00"], [500 / 1440, 665 / 1440])
    (found,) = reader_of(clock, ClockGrid(), is_round=True).meanings(["08:00–11:59"])
    assert found.zones[0][0] == pytest.approx(480 / 1440)
    assert found.zones[0][1] < 540 / 1440
    order = ("none", "school", "college", "master", "doctor", "chair")
    ranks = line_domain("x", Kind.ORDINAL, list(order), [float(i) for i in range(6)])
    (found,) = reader_of(ranks, RankGrid(order), is_round=True).meanings(["[none, master]"])
    assert found.zones == ((0, 1), (1, 3))  # none and school alone are written so, too
    (tight,) = reader_of(ranks, RankGrid(order), is_round=False).meanings(["[none, master]"])
    assert tight.zones == ((0, 0), (3, 3))


def test_a_tight_interval_has_its_ends_and_a_value_nothing():
    reader = reader_of(line([1, 5, 9]), None, is_round=False)
    one, two, root, missing, nonsense = reader.meanings(["[1, 9]", "5", "*", None, "x"])
    assert one == Meaning(1, 9, ((1, 1), (9, 9)), is_tight=True)
    assert two == Meaning(5, 5)
    assert root == Meaning(-math.inf, math.inf)
    assert missing == Meaning(MISSING, MISSING)
    assert math.isnan(nonsense.low)
    assert (reader.place(None), reader.place("?")) == (MISSING, UNKNOWN)


def test_a_node_with_two_children_forces_both_unless_one_may_have_given_way_to_it():
    values = ["oslo", "turku", "bergen", "rome", "nice"]
    domain = tree_domain("x", Kind.CATEGORICAL, values, TREE, missing=False, weight=1.0)
    coast, north, root, leaf = reader_of(domain, None, is_round=False).meanings(
        ["coast", "north", "*", "rome"]
    )
    assert coast.zones == tuple((p, p) for p in (TREE.index("rome"), TREE.index("nice")))
    assert coast.is_forced
    assert north.zones == leaf.zones == ()
    assert root.zones == (places(TREE, "north"), places(TREE, "south"))
    rounded = reader_of(domain, None, is_round=True).meanings(["*"])[0]
    assert rounded.zones == ((places(TREE, "north")), places(TREE, "south"))
    lifted = Hierarchy.from_tree("x", {"*": {"a": ["b", "c"], "d": ["e", "f", "g"]}})
    domain = tree_domain("x", Kind.CATEGORICAL, list("bcefg"), lifted, missing=False, weight=1.0)
    assert reader_of(domain, None, is_round=True).meanings(["*"])[0].zones == ()
    assert reader_of(domain, None, is_round=False).meanings(["nowhere"])[0].zones == ()
    assert reader_of(domain, None, is_round=False).place("nowhere") == UNKNOWN
