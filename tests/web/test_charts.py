"""Charts as plain options: what they show, for whom, and that texts of the data stay texts."""

from __future__ import annotations

import json

import pytest

from shoal.web import charts
from shoal.web.charts import LatticeNode, Look, Point
from shoal.web.texts import Texts

LIGHT, DARK = Look(Texts("en")), Look(Texts("de"), is_dark=True)
POINTS = [
    Point("flash", "flash", 0.3, 0.02),
    Point("refine k=5", "refine", 0.1, 0.05, is_front=True),
    Point("refine k=9", "refine", 0.2, 0.01, is_front=True),
]
NODES = [
    LatticeNode((0, 0), 0.0, 0.4, False),
    LatticeNode((1, 0), 0.2, 0.1, False),
    LatticeNode((0, 1), 0.3, 0.0, True),
    LatticeNode((1, 1), 1.0, 0.0, True),
]


def every(look: Look) -> dict[str, charts.Document]:
    return {
        "points": charts.points(POINTS, look, chosen="flash"),
        "lattice": charts.lattice(NODES, ["age", "zip"], look, chosen=(0, 1)),
        "histograms": charts.histograms(["20", "30"], [5, 6], [4.5, 6.5], look),
        "heat": charts.heat(["age", "zip"], [[1, 0.2], [0.2, 1]], look),
        "sizes": charts.sizes(["1", "2 to 4"], [10, 5], [0, 15], look),
        "bars": charts.bars(["age", "zip"], [0.2, 0.9], look, limit=0.5),
        "steps": charts.steps([0.0, 0.3, None, 1.0], look, chosen=1),
    }


@pytest.mark.parametrize("name", every(LIGHT))
def test_a_chart_is_plain_data_with_words_for_a_screen_reader(name):
    for look in (LIGHT, DARK):
        found = every(look)[name]
        assert json.loads(json.dumps(found)) == found
        assert found["aria"]["label"]["description"].endswith(".")
        assert found["tooltip"]["renderMode"] == "richText"  # never HTML


@pytest.mark.parametrize("name", every(LIGHT))
def test_a_dark_page_has_other_colours(name):
    assert LIGHT.ink in json.dumps(every(LIGHT)[name])
    dark = json.dumps(every(DARK)[name])
    assert DARK.ink in dark
    assert LIGHT.ink not in dark


def luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("look", [LIGHT, DARK], ids=["light", "dark"])
def test_texts_can_be_read_on_what_is_behind_them(look):
    # 4.5 is the contrast that WCAG 2 asks of text, 3 that of what must be seen.
    assert contrast(look.ink, look.paper) >= 4.5
    assert contrast(look.soft, look.paper) >= 4.5
    for mark in (look.after, look.unsafe):
        assert contrast(mark, look.paper) >= 3


def test_the_front_is_a_line_through_what_none_beats_in_the_order_of_loss():
    *methods, line = charts.points(POINTS, LIGHT)["series"]
    assert line["data"] == [[0.1, 0.05], [0.2, 0.01]]
    assert [each["name"] for each in methods] == ["flash", "refine"]
    assert len({each["symbol"] for each in methods}) == 2  # told apart without colour


def test_a_chosen_point_stands_out():
    flash = charts.points(POINTS, LIGHT, chosen="flash")["series"][0]["data"][0]
    other = charts.points(POINTS, LIGHT)["series"][0]["data"][0]
    assert flash["symbolSize"] > other["symbolSize"]
    assert flash["itemStyle"]["borderColor"] == LIGHT.ink


def test_links_of_a_lattice_lead_one_level_up_in_one_column():
    (series,) = charts.lattice(NODES, ["age", "zip"], LIGHT)["series"]
    links = {(each["source"], each["target"]) for each in series["links"]}
    assert links == {("0-0", "1-0"), ("0-0", "0-1"), ("1-0", "1-1"), ("0-1", "1-1")}
    shapes = {each["name"]: each["symbol"] for each in series["data"]}
    assert shapes["0-0"] == "diamond"
    assert shapes["1-1"] == "circle"
    heights = {each["name"]: each["y"] for each in series["data"]}
    assert heights["1-1"] < heights["0-1"] == heights["1-0"] < heights["0-0"]


def test_a_column_that_nobody_counted_before_has_one_series():
    found = charts.histograms(["a"], None, [3], LIGHT)
    assert [each["name"] for each in found["series"]] == ["after"]


def test_long_labels_at_the_ends_stay_inside_the_chart():
    def label(*names):
        return charts.histograms(names, None, [1] * len(names), LIGHT)["xAxis"][0]["axisLabel"]

    assert label("2022-01-01 – 2022-04-02", "X")["alignMinLabel"] == "left"
    assert "alignMinLabel" not in label("F", "M")


def test_values_never_become_keys_or_fields_of_a_template():
    # Keys that begin with a colon are run as scripts by the page; braces are fields of ECharts.
    evil = ":formatter"
    found = charts.bars([evil, "{a|b}"], [0.1, 0.2], LIGHT)
    (series,) = found["series"]
    assert [each["name"] for each in series["data"]] == [evil, "{a|b}"]
    assert "{" not in series["data"][1]["tooltip"]["formatter"]
    assert scripts(found) <= set(charts._PERCENT.values()) | set(charts._COUNT.values())


def scripts(value: object) -> set[str]:
    if isinstance(value, dict):
        own = {str(each) for key, each in value.items() if key.startswith(":")}
        return own.union(*map(scripts, value.values()))
    return set().union(*map(scripts, value)) if isinstance(value, list) else set()


def test_a_long_list_of_bars_is_cut():
    names = [f"column {number}" for number in range(500)]
    (series,) = charts.bars(names, [0.1] * 500, LIGHT)["series"]
    assert len(series["data"]) == charts.MOST_BARS
