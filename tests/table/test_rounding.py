from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.naive import rounding as naive

from shoal.core.grids import ClockGrid, DateGrid, NumberGrid, RankGrid
from shoal.hierarchies.build import Dates, Intervals, Mask
from shoal.hierarchies.tree import Hierarchy
from shoal.measures.utility import grouping_of, utility_of
from shoal.schema.schema import Attribute, Kind, Role, Schema
from shoal.table.domain import line_domain, tree_domain
from shoal.table.frequency import from_codes
from shoal.table.recoding import recoding_of
from shoal.table.rounding import grid_of, lifts, read_span, round_domain, round_table, rounded

EASY = settings(deadline=None, max_examples=60)
TREE = {"*": {"north": ["oslo", "turku", "bergen"],
              "south": {"coast": ["rome", "nice"], "hill": ["bern", "graz", "ulm"]}}}  # fmt: skip
PLACES = Hierarchy.from_tree("place", TREE)
CITIES = ("oslo", "turku", "bergen", "rome", "nice", "bern", "graz", "ulm")


def quasi(name, **about):
    return Attribute(name=name, role=Role.QUASI, **about)


def ages(*values, missing=False, bounds=None):
    texts = [str(v) for v in values]
    labels = [None, *texts] if missing else texts
    places = [float("nan"), *values] if missing else list(values)
    domain = line_domain("age", Kind.NUMERIC, labels, places)
    return round_domain(domain, quasi("age", bounds=bounds))


def test_intervals_of_numbers_end_at_round_numbers_and_single_values_stay():
    domain = ages(17, 23, 24, 58, 90)
    assert domain.label(1, 1) == "23"
    assert domain.label(1, 2) == "22–25"
    assert domain.label(0, 3) == "10–59"
    assert domain.label(0, 4) == "10–99"


def test_only_the_declared_domain_cuts_intervals_off():
    assert ages(17, 90).label(0, 1) == "10–99"
    assert ages(17, 90, bounds=(0, 95)).label(0, 1) == "10–95"
    assert ages(17, 90, bounds=(16, 91)).label(0, 1) == "16–91"


def test_the_loss_is_that_of_the_released_interval_and_never_more_than_all():
    domain = ages(17, 23, 24, 58, 90)
    assert domain.cost(1, 1) == 0
    assert domain.cost(1, 2) == pytest.approx(3 / 73)
    assert domain.cost(0, 4) == 1


def test_missing_values_stay_missing_and_with_others_all_is_lost():
    domain = ages(20, 30, missing=True)
    assert domain.label(0, 0) is None
    assert domain.label(0, 1) == "*"
    assert domain.label(1, 2) == "20–31"


def test_a_node_with_two_children_gives_way_to_the_one_above_it():
    domain = round_domain(
        tree_domain("place", Kind.CATEGORICAL, CITIES, PLACES, missing=False, weight=1.0),
        quasi("place", hierarchy=PLACES),
    )
    code = {label: i for i, label in enumerate(domain.labels)}
    assert domain.label(code["oslo"], code["bergen"]) == "north"
    assert domain.label(code["bern"], code["ulm"]) == "hill"
    assert domain.label(code["rome"], code["nice"]) == "*"  # so has what is above it
    assert domain.label(code["nice"], code["bern"]) == "*"
    assert domain.label(code["rome"], code["rome"]) == "rome"
    assert domain.cost(code["rome"], code["nice"]) == 1


@EASY
@given(data=st.data(), size=st.integers(1, 14))
def test_nodes_are_lifted_as_the_naive_twin_does(data, size):
    above = [data.draw(st.integers(0, i)) for i in range(size)]  # node 0 is the root
    names = [f"n{i}" for i in range(size + 1)]
    links = {names[i + 1]: names[at] for i, at in enumerate(above)}
    tree = Hierarchy.from_parents("x", links)
    parents = {**links, "n0": None}
    for node, lifted in enumerate(lifts(tree)):
        assert tree.labels[lifted] == naive.lifted(parents, tree.labels[node])


@pytest.mark.parametrize("rule", [Mask(), Dates()])
def test_what_a_mask_or_a_calendar_hides_is_more_than_two_values(rule):
    texts = ["2024-01-01", "2024-01-02"]
    tree = rule.build("day", texts)
    domain = tree_domain("day", Kind.CATEGORICAL, texts, tree, missing=False, weight=1.0)
    assert round_domain(domain, quasi("day", hierarchy=rule)) == domain


def test_each_kind_of_line_has_its_grid():
    def line(kind, *texts):
        return line_domain("x", kind, texts, list(map(float, range(len(texts)))))

    assert grid_of(line(Kind.NUMERIC, "1", "2.25"), quasi("x")) == NumberGrid(2)
    assert grid_of(line(Kind.NUMERIC, "1"), quasi("x", bounds=(0, 9))) == NumberGrid(0, (0.0, 9.0))
    assert grid_of(line(Kind.DATE, "2024-01-01"), quasi("x")) == DateGrid()
    assert grid_of(line(Kind.DATE, "08:30:00"), quasi("x")) == ClockGrid()
    assert grid_of(line(Kind.ORDINAL, "low", "high"), quasi("x")) is None
    steps = quasi("x", kind=Kind.ORDINAL, order=("low", "mid", "high"))
    assert grid_of(line(Kind.ORDINAL, "low", "high"), steps) == RankGrid(("low", "mid", "high"))
    assert grid_of(line_domain("x", Kind.DATE, [None], [float("nan")]), quasi("x")) is None
    same = quasi("x", kind=Kind.DATE, date_format="%d.%m.%Y", dates="same")
    assert grid_of(line(Kind.DATE, "13.09.1967"), same) == DateGrid("%d.%m.%Y")


def test_labels_are_read_by_the_kind_of_the_column():
    number = line_domain("x", Kind.NUMERIC, ["1"], [1.0])
    day = line_domain("x", Kind.DATE, ["2024-01-01"], [738886.0])
    rank = line_domain("x", Kind.ORDINAL, ["1"], [0.0])
    assert read_span(number, "1947–1961").end == 1961.0
    assert read_span(day, "1947–1961").high.startswith("1961-12-31")
    assert read_span(day, "08:00–11:59").low == "08:00"
    assert read_span(rank, "1947–1961") is None


SCHEMA = Schema(attributes=(quasi("age", kind=Kind.NUMERIC), quasi("place", hierarchy=PLACES)))


def table_of(rows):
    line = line_domain("age", Kind.NUMERIC, [str(v) for v in range(60)], list(range(60)))
    tree = tree_domain("place", Kind.CATEGORICAL, CITIES, PLACES, missing=False, weight=1.0)
    codes = np.array(rows, dtype=np.int32).reshape(-1, 2)
    return from_codes((line, tree), codes, np.ones(len(codes), dtype=np.int64))


def recoded(rows, label):
    table = table_of(rows)
    where = np.array([label[i % len(label)] for i in range(table.rows)], dtype=np.int64)
    where = np.unique(where, return_inverse=True)[1]
    low = np.array([table.codes[where == c].min(axis=0) for c in range(where.max() + 1)])
    high = np.array([table.codes[where == c].max(axis=0) for c in range(where.max() + 1)])
    members = (np.arange(table.rows), where, table.counts)
    return recoding_of(table, low, high, members)


@EASY
@given(
    rows=st.lists(st.tuples(st.integers(0, 59), st.integers(0, 7)), min_size=1, max_size=40),
    label=st.lists(st.integers(0, 6), min_size=1, max_size=40),
)
def test_classes_cover_their_members_differ_in_labels_and_lose_no_less(rows, label):
    before = recoded(rows, label)
    after = rounded(before, SCHEMA)
    tuples = list(zip(after.labels(0), after.labels(1), strict=True))
    assert len(set(tuples)) == len(tuples) == after.classes
    assert after.sizes.sum() == before.sizes.sum()
    for row, number in zip(after.row, after.label, strict=True):
        code = int(after.table.codes[row, 0])
        text = tuples[number][0]
        assert text == str(code) or naive.covers(text, str(code), "numeric")
    for number, (text, _) in enumerate(tuples):
        own = after.table.codes[after.row[after.label == number], 0]
        if "–" in text:
            wanted = naive.number_interval([int(code) for code in own], 0)
            assert naive.read_numbers(text) == wanted
    lost = [utility_of(grouping_of(each))["ncp"] for each in (before, after)]
    assert lost[1] >= lost[0] - 1e-12


def test_classes_whose_labels_become_equal_are_one():
    before = recoded([(20, 0), (21, 0), (22, 0), (23, 0)], [0, 1])
    assert before.labels(0) == ["[20, 22]", "[21, 23]"]
    after = rounded(before, SCHEMA)
    assert list(zip(after.labels(0), after.labels(1), strict=True)) == [("20–23", "oslo")]
    assert after.sizes.tolist() == [4]


def test_levels_of_a_hierarchy_and_centroids_stay_as_they_are():
    before = recoded([(21, 0), (24, 1)], [0])
    node = before.__class__(**{**vars(before), "node": np.zeros((1, 2), dtype=np.int32)})
    assert rounded(node, SCHEMA) is node
    centroid = before.__class__(**{**vars(before), "released": (("22",), ("oslo",))})
    assert rounded(centroid, SCHEMA) is centroid


def test_a_rounded_table_has_the_same_codes():
    table = table_of([(3, 1), (50, 7)])
    after = round_table(table, SCHEMA)
    assert (after.codes == table.codes).all()
    assert after.domains[0].grid == NumberGrid(0)


def test_intervals_of_a_rule_that_join_two_are_lifted():
    rule = Intervals(width=10, levels=3)
    texts = [str(n) for n in range(0, 80, 5)]
    tree = rule.build("age", texts)
    domain = tree_domain("age", Kind.CATEGORICAL, texts, tree, missing=False, weight=1.0)
    domain = round_domain(domain, quasi("age", hierarchy=rule))
    code = {label: i for i, label in enumerate(domain.labels)}
    assert domain.label(code["0"], code["5"]) == "*"
