"""Charts: well-formed, escaped, the same bytes twice, and said in words beside the picture."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.reports import charts
from shoal.reports.document import Attack, Attacker, Bars

TEXTS = st.text(st.characters(exclude_categories=("Cs",)), max_size=40)
NUMBERS = st.floats(0, 1e9)
SVG = "{http://www.w3.org/2000/svg}"


def parsed(chart):
    """Return the picture; it must be well-formed, and nothing may stand left or right of it."""
    root = ElementTree.fromstring(chart.svg)
    for each in root.iter(f"{SVG}rect"):
        x, width = float(each.get("x")), float(each.get("width"))
        assert x >= 0
        assert width >= 0
        assert x + width <= chart.width + 0.1
    return root


@given(TEXTS, st.lists(st.tuples(TEXTS, NUMBERS, NUMBERS), min_size=1, max_size=8))
def test_any_name_and_any_number_can_be_drawn(title, rows):
    names, before, after = zip(*rows, strict=True)
    for found in (
        Bars(names=names, before=before, after=after),
        Bars(names=names, before=None, after=after),
        Bars(names=names, before=before, after=None),
    ):
        chart = charts.bars(title, found)
        assert parsed(chart).get("aria-label") == chart.alt
        assert len(chart.lines) == len(rows)
        assert charts.bars(title, found) == chart


def test_a_hostile_name_is_text():
    chart = charts.bars('"><script>', Bars(names=("<script>&\"'",), before=None, after=(1.0,)))
    assert "<script" not in chart.svg
    assert "<script>&" in next(parsed(chart).iter(f"{SVG}text")).text


def test_a_long_name_is_shortened_and_control_characters_are_escaped():
    assert charts.shortened("x" * 99) == "x" * 23 + "…"
    assert charts.shortened("a\nb\x00") == "a\\nb\\x00"


def assert_texts_are_inside(chart):
    """Hold every text to the picture, by how wide it is at most."""
    for each in ElementTree.fromstring(chart.svg).findall(f"{SVG}text"):  # none that is turned
        wide = charts.width_of(each.text or "", int(each.get("font-size")))
        x, anchor = float(each.get("x")), each.get("text-anchor")
        left = x - {"start": 0.0, "middle": wide / 2, "end": wide}[anchor]
        assert left >= -0.1, each.text
        assert left + wide <= chart.width + 0.1, each.text


@given(st.lists(st.tuples(TEXTS, st.floats(0, 1e9), st.floats(0, 1e9)), min_size=1, max_size=5))
def test_no_text_of_a_picture_is_cut_off(rows):
    names, before, after = zip(*rows, strict=True)
    assert_texts_are_inside(charts.bars("t", Bars(names=names, before=before, after=after)))
    assert_texts_are_inside(charts.shares("t", [(name, 1.0) for name in names]))
    change = [[0.5] * len(names)] * len(names)
    title = "change (red: lost; darkest: 0.000012)"
    assert_texts_are_inside(charts.heat_map(title, names, change))


def test_what_changed_little_is_drawn_on_its_own_scale():
    drawn = charts.heat_map("change", ["a", "b"], [[0.0, -0.02], [-0.02, 0.0]], darkest=0.02)
    shades = [each.get("fill-opacity") for each in parsed(drawn).iter(f"{SVG}rect")]
    assert shades == ["0.000", "1.000", "1.000", "0.000"]


def test_an_attack_on_nobody_is_not_drawn():
    attack = Attack(
        name="minimality", question="inference", targets=0, before=None, after=0.0, low=0.0,
        high=1.0, guessing=0.0,
    )  # fmt: skip
    assert charts.attack_chart([attack]).lines == ()


@pytest.mark.parametrize("limit", [None, 0.0, 0.09, 0.5, 0.95, 1.0])
def test_a_gauge_has_its_limit(limit):
    chart = charts.gauge("risk", 0.2, limit)
    assert ("limit" in chart.alt) == (limit is not None)
    assert len(list(parsed(chart).iter(f"{SVG}line"))) == (limit is not None)


def test_attackers_and_attacks_are_drawn_with_what_is_known():
    rows = [
        Attacker(name="prosecutor", knows="", measure="maximum", before=1.0, after=0.2, limit=0.09),
        Attacker(name="journalist", knows="", measure="average", before=None, after=0.1),
    ]
    chart = charts.attacker_chart(rows)
    assert chart.lines == (
        "prosecutor, maximum: 100 % → 20 %, limit 9 %", "journalist, average: 10 %",
    )  # fmt: skip
    parsed(chart)
    attack = Attack(
        name="linkage", question="linkability", targets=100, before=0.9, after=0.1, low=0.05,
        high=0.17, guessing=0.01,
    )  # fmt: skip
    drawn = charts.attack_chart([attack])
    assert len(list(parsed(drawn).iter(f"{SVG}circle"))) == 2
    assert drawn.lines == ("linkage: 10 % (5 % to 17 %), guessing 1 %",)


def test_a_heat_map_has_a_cell_for_each_pair_and_losses_are_red():
    chart = charts.heat_map("lost", ("a", "b"), ((1.0, -0.5), (-0.5, 1.0)))
    cells = list(parsed(chart).iter(f"{SVG}rect"))
    assert len(cells) == 4
    assert [cell.get("fill") for cell in cells].count(charts.LIMIT) == 2
    assert chart.lines == ("b and a: -0.50",)


def test_shares_outside_of_their_scale_stay_on_the_picture():
    parsed(charts.shares("x", [("a", 1.7), ("b", -0.2)]))
