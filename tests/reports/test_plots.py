"""Plots: round numbers, every point inside its axes, medians and spreads, text inside."""

from __future__ import annotations

from statistics import median
from xml.etree import ElementTree

from hypothesis import given
from hypothesis import strategies as st
from tests.reports.test_charts import SVG, TEXTS, assert_texts_are_inside

from shoal.reports.charts import WIDTH
from shoal.reports.plots import COLOURS, Point, over, scatter, ticks

FIGURES = st.floats(0, 1e6)


def circles(chart):
    root = ElementTree.fromstring(chart.svg)
    return [
        (float(each.get("cx")), float(each.get("cy")), each.get("fill"), each.get("fill-opacity"))
        for each in root.iter(f"{SVG}circle")
    ]


def lines(chart):
    root = ElementTree.fromstring(chart.svg)
    return [each.get("points").split() for each in root.iter(f"{SVG}polyline")]


@given(st.floats(-1e6, 1e6), st.floats(1e-6, 1e6))
def test_ticks_are_few_round_and_between(low, room):
    found = ticks(low, low + room)
    assert len(found) <= 8
    assert found == sorted(found)
    slack = 1e-4 * max(abs(low), room)
    assert all(low - slack <= each <= low + room + slack for each in found)


@given(st.lists(st.tuples(TEXTS, TEXTS, FIGURES, FIGURES, st.booleans()), min_size=1, max_size=8))
def test_every_point_is_drawn_inside(rows):
    points = [
        Point(name=name, group=group, x=x, y=y, is_front=front, is_pale=not front)
        for name, group, x, y, front in rows
    ]
    groups = {point.group for point in points}
    for chart, drawn in (
        (scatter(points, "loss", "risk"), len(points)),
        (over(points, "k", "loss"), len({(point.group, point.x) for point in points})),
    ):
        found = circles(chart)
        assert len(found) == drawn + len(groups)  # and one for each in the legend
        assert all(0 <= x <= WIDTH and y >= 0 for x, y, _, _ in found)
        assert_texts_are_inside(chart)


def test_the_front_of_each_table_is_joined_and_the_rest_is_pale():
    points = [
        Point(name=name, group="m", x=x, y=y, is_front=front, is_pale=not front, table=table)
        for name, x, y, front, table in (
            ("a", 0.1, 0.3, True, "t"), ("b", 0.2, 0.2, True, "t"), ("c", 0.3, 0.3, False, "t"),
            ("d", 0.1, 0.4, True, "u"), ("e", 0.4, 0.1, True, "u"),
        )
    ]  # fmt: skip
    chart = scatter(points, "loss", "risk")
    assert [len(each) for each in lines(chart)] == [2, 2]
    assert [pale for *_, pale in circles(chart)].count("0.3") == 1
    assert chart.lines[0] == "a: loss 0.1, risk 0.3, no other one beats it"
    assert chart.lines[2] == "c: loss 0.3, risk 0.3"


@given(st.lists(st.tuples(st.sampled_from([2, 5, 10]), FIGURES), min_size=1, max_size=12))
def test_a_line_runs_through_the_medians_in_order(rows):
    chart = over([Point(name="r", group="m", x=x, y=y) for x, y in rows], "k", "loss")
    by_k = {k: median([y for x, y in rows if x == k]) for k in sorted({x for x, _ in rows})}
    assert chart.lines == ("m: " + ", ".join(f"{y:.4g} at {k}" for k, y in by_k.items()),)
    for line in lines(chart):
        xs = [float(each.split(",")[0]) for each in line]
        assert xs == sorted(xs)


def test_colours_begin_anew_where_there_are_more_groups():
    points = [Point(name=str(i), group=str(i), x=i, y=i) for i in range(len(COLOURS) + 1)]
    colours = [colour for _, _, colour, _ in circles(scatter(points, "x", "y"))]
    assert set(colours) == set(COLOURS)
