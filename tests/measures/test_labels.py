"""Diversity of what labels cover, beside the diversity of the classes they stand for."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.hierarchies.tree import Hierarchy
from shoal.measures.labels import label_diversity
from shoal.measures.utility import column_diversity
from shoal.schema.schema import Kind
from shoal.table.domain import line_domain, tree_domain

AGE = line_domain("age", Kind.NUMERIC, ["20", "25", "40"], [20, 25, 40])
PAY = line_domain("pay", Kind.NUMERIC, [None, "1", "2", "9"], [math.nan, 1, 2, 9])
TREE = Hierarchy.from_tree("place", {"*": {"Italy": ["Rome", "Bari"], "France": ["Nice", "Lyon"]}})
PLACE = tree_domain(
    "place", Kind.CATEGORICAL, ["Rome", "Bari", "Nice"], TREE, missing=True, weight=1.0
)


@pytest.mark.parametrize(
    ("domain", "label", "diversity"),
    [
        (AGE, "20", 0), (AGE, "[20, 25]", 5 / 20), (AGE, "*", 1),
        (PAY, None, 1 / 4), (PAY, "", 1 / 4), (PAY, "2", 1 / 4), (PAY, "[1, 9]", 3 / 4),
        (PAY, "*", 1),
        (PLACE, "Rome", 1 / 4), (PLACE, "Italy", 2 / 4), (PLACE, "Lyon", 0), (PLACE, "*", 1),
        (PLACE, None, 1 / 4),
    ],
)  # fmt: skip
def test_a_label_counts_all_the_values_that_it_covers(domain, label, diversity):
    assert label_diversity(domain, [label]).tolist() == [pytest.approx(diversity)]


def test_a_rung_of_a_hierarchy_covers_its_range_and_an_empty_one_nothing():
    rows = [("20", "20s", "*"), ("25", "20s", "*"), ("40", "40s", "*"), ("90", "90s", "*")]
    domain = line_domain(
        "age",
        Kind.NUMERIC,
        ["20", "25", "40"],
        [20, 25, 40],
        ladder=Hierarchy.from_rows("age", rows),
    )
    assert label_diversity(domain, ["20s", "40s", "90s"]).tolist() == [0.25, 0, 0]


@settings(deadline=None)
@given(st.lists(st.integers(0, 3), min_size=1, max_size=6))
def test_never_below_the_diversity_of_a_class_and_equal_for_its_own_interval(codes):
    label = PAY.label(min(codes), max(codes))
    labels = np.zeros(len(codes), dtype=np.int64)
    own = column_diversity(labels, np.array(codes), PAY, classes=1)[0]
    assert label_diversity(PAY, [label])[0] >= own
    ages = [min(code, 2) for code in codes]
    own = column_diversity(labels, np.array(ages), AGE, classes=1)[0]
    assert label_diversity(AGE, [AGE.label(min(ages), max(ages))])[0] == pytest.approx(own)


def test_no_label_is_no_class():
    assert label_diversity(AGE, []).tolist() == []
