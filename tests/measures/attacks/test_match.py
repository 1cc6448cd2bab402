"""Labels cover what they say, on lines and in trees."""

import math
from datetime import datetime

import numpy as np
import pytest

from shoal.hierarchies.tree import Hierarchy
from shoal.measures.attacks.match import label_distances, label_ends
from shoal.schema.schema import Kind
from shoal.table.domain import line_domain, tree_domain

AGE = line_domain("age", Kind.NUMERIC, [None, "20", "30", "40"], [np.nan, 20, 30, 40])
PLACE = tree_domain(
    "place", Kind.CATEGORICAL, ["Rome", "Bari", "Nice"],
    Hierarchy.from_tree("place", {"*": {"Italy": ["Rome", "Bari"], "France": ["Nice", "Lyon"]}}),
    missing=True, weight=1.0,
)  # fmt: skip


def test_labels_on_a_line_cover_what_they_say():
    found = label_distances(
        AGE, ["20", "25", "40", None], ["20", "[20, 30]", "*", None, "37.5", "nonsense"]
    )
    expected = [
        [0, 0, 0, 1, 0.875, 1],
        [0.25, 0, 0, 1, 0.625, 1],
        [1, 0.5, 0, 1, 0.125, 1],
        [1, 1, 0, 0, 1, 1],
    ]
    assert found == pytest.approx(np.array(expected))


def test_labels_of_a_tree_cover_their_leaves():
    found = label_distances(
        PLACE, ["Rome", "Nice", "Lyon", "Oslo", None], ["Rome", "Italy", "France", "*", None]
    )
    assert found.tolist() == [
        [0, 0, 1, 0, 1],
        [1, 1, 0, 0, 1],
        [1, 1, 0, 0, 1],
        [1, 1, 1, 0, 1],
        [1, 1, 1, 0, 0],
    ]


def test_labels_of_a_ladder_cover_their_range():
    ladder = Hierarchy.from_rows(
        "age", [("20", "[20, 40)", "*"), ("30", "[20, 40)", "*"), ("40", "[40, 60)", "*")]
    )
    domain = line_domain("age", Kind.NUMERIC, ["20", "30", "40"], [20, 30, 40], ladder=ladder)
    found = label_distances(domain, ["20", "25", "40"], ["[20, 40)", "[40, 60)"])
    assert (found == 0).tolist() == [[True, False], [True, False], [False, True]]


def ends(domain, label):
    known = dict(zip(domain.labels, map(float, domain.position), strict=True))
    return label_ends(domain, known, label)


@pytest.mark.parametrize(
    ("label", "covered"),
    [("30", (30, 30)), ("[20, 40]", (20, 40)), ("[22.5, 23]", (22.5, 23)), ("37", (37, 37))],
)
def test_a_label_covers_a_range(label, covered):
    assert ends(AGE, label) == covered


@pytest.mark.parametrize("label", ["nonsense", "[20, x]", "1_0", "inf"])
def test_a_label_that_nobody_knows_covers_nothing(label):
    assert label_distances(AGE, ["20", "30", None], [label]).tolist() == [[1], [1], [1]]
    assert math.isnan(ends(AGE, label)[1])


def test_an_empty_label_covers_missing_values_alone():
    assert all(map(math.isnan, ends(AGE, None)))
    assert label_distances(AGE, ["20", None, ""], [""]).tolist() == [[1], [0], [0]]


def test_dates_that_did_not_occur_stand_between_those_that_did():
    days = ["2024-01-01", "2024-01-11"]
    places = [datetime.fromisoformat(day).toordinal() for day in days]
    domain = line_domain("day", Kind.DATE, days, places)
    found = label_distances(
        domain, ["2024-01-06", "not a day"], ["[2024-01-01, 2024-01-11]", *days]
    )
    assert found.tolist() == [[0, 0.5, 0.5], [1, 1, 1]]


def test_spaces_around_a_value_of_a_tree_do_not_matter():
    assert label_distances(PLACE, [" Rome "], ["Italy"]).tolist() == [[0]]
