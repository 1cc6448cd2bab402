"""What labels print, what a node forces and what classes infer, on examples worked by hand."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.measures.attacks.closely import Cells, downcoding, ends_and_tuples, inference, printed
from shoal.measures.attacks.narrow import Meaning
from shoal.measures.attacks.register import Boxes, Crowd

AGES = [Meaning(20, 29, ((20, 20), (29, 29)), is_tight=True), Meaning(25, 25)]
TOWNS = [Meaning(-np.inf, np.inf, ((0, 1), (2, 3)), is_forced=True), Meaning(0, 0), Meaning(4, 9)]
CODES = np.array([[0, 1], [0, 0], [1, 2]])
SIZES = np.array([3, 2, 2])


def boxes():
    low = np.array([[AGES[a].low, TOWNS[t].low] for a, t in CODES])
    high = np.array([[AGES[a].high, TOWNS[t].high] for a, t in CODES])
    zones = [
        [(j, *zone) for j, each in enumerate((AGES[a], TOWNS[t])) for zone in each.zones]
        for a, t in CODES
    ]
    return Boxes(low, high, SIZES, zones)


def crowd(*people):
    return Crowd(np.array(people, dtype=float), np.arange(len(people)))


def test_ends_are_counted_and_tuples_where_an_interval_is_all_that_is_hidden():
    assert ends_and_tuples(CODES, [AGES, TOWNS]) == (4, 2)


def test_a_printed_value_names_whoever_has_it_alone():
    found = printed(boxes(), crowd((20, 0), (29, 0), (29, 0), (24, 1)), 4, 2, one_record=True)
    # 20 is held by one; of two with 29 nobody is named; (24, 1) alone has the first child.
    assert found.detail["people_alone_in_a_place"] == 1
    assert found.success == pytest.approx(0.25)
    assert found.detail["ends"] == 4


def test_both_children_of_a_node_are_claimed_and_scored():
    people = crowd((20, 0), (29, 2), (25, 5))
    found = downcoding(CODES, [AGES, TOWNS], [False, True], boxes(), people)
    assert (found.detail["forced_cells"], found.detail["coarse_cells"]) == (2, 4)
    assert found.success == 0.5
    assert (found.detail["child_claims"], found.detail["child_right"]) == (2, 1.0)
    alone = downcoding(CODES, [AGES, TOWNS], [False, True], boxes(), crowd((20, 0)))
    assert alone.detail["child_right"] == 0.5  # another table's release


def test_the_commonest_value_is_named_and_compared_with_somebody_outside():
    one = Boxes(np.array([[0.0], [5.0]]), np.array([[4.0], [9.0]]), np.array([3, 2]), [[], []])
    people = crowd((1,), (2,), (3,), (6,), (7,))
    true = np.array([0, 0, 1, 1, 1])
    cells = Cells(np.array([0, 0, 1]), np.array([0, 1, 1]), np.array([2, 1, 2]), 2)
    found = inference(one, people, true, cells)
    assert found.success == pytest.approx(4 / 5)
    assert found.baseline == pytest.approx(3 / 5)
    # Without the own record a class of two still names 1; of three it is a tie: 0 goes first.
    assert found.control == pytest.approx(4 / 5)
    assert (found.detail["likely_claims"], found.detail["likely_right"]) == (5, 4 / 5)
    assert (found.detail["sure_claims"], found.detail["sure_right"]) == (2, 1.0)
    assert found.detail["sure_recall"] == pytest.approx(2 / 5)
