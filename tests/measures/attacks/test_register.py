"""Whom a register proves, against a twin that tries every person."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.measures.attacks.register import Boxes, Crowd, claims, members_of, membership


@st.composite
def cases(draw):
    people = draw(st.integers(1, 12))
    places = draw(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 3)), min_size=people,
                           max_size=people))  # fmt: skip
    who = draw(st.lists(st.integers(0, 6), min_size=people, max_size=people))
    number = {each: i for i, each in enumerate(sorted(set(who)))}
    crowd = Crowd(np.array(places, dtype=float), np.array([number[each] for each in who]))
    low, high, zones, sizes = [], [], [], []
    for _ in range(draw(st.integers(1, 4))):
        ends = [sorted(draw(st.lists(st.integers(0, 5), min_size=2, max_size=2))) for _ in range(2)]
        low.append([a for a, _ in ends])
        high.append([b for _, b in ends])
        zones.append([(j, float(e), float(e)) for j, pair in enumerate(ends) for e in pair])
        sizes.append(draw(st.integers(1, 5)))
    return crowd, Boxes(np.array(low, float), np.array(high, float), np.array(sizes), zones)


def fits(crowd, boxes, row, c):
    return all(boxes.low[c][j] <= crowd.places[row][j] <= boxes.high[c][j] for j in range(2))


@settings(deadline=None, max_examples=100)
@given(case=cases(), one_record=st.booleans())
def test_claims_are_those_of_whoever_tries_every_person(case, one_record):
    crowd, boxes = case
    proven, chance = set(), dict.fromkeys(range(crowd.people), 0.0)
    for c in range(len(boxes.sizes)):
        there = [row for row in range(len(crowd.who)) if fits(crowd, boxes, row, c)]
        people = {int(crowd.who[row]) for row in there}
        for one in people:
            chance[one] = max(chance[one], min(boxes.sizes[c] / len(people), 1))
        if one_record and 0 < len(people) <= boxes.sizes[c]:
            proven |= people
        for j, low, high in boxes.zones[c]:
            inside = {int(crowd.who[r]) for r in there if low <= crowd.places[r][j] <= high}
            proven |= inside if len(inside) == 1 else set()
    found = claims(boxes, crowd, one_record=one_record)
    assert set(np.flatnonzero(found.proven).tolist()) == proven
    assert found.chance.tolist() == pytest.approx(
        [1.0 if one in proven else chance[one] for one in range(crowd.people)]
    )
    for c, rows in enumerate(members_of(boxes, crowd)):
        assert sorted(rows.tolist()) == [
            row for row in range(len(crowd.who)) if fits(crowd, boxes, row, c)
        ]


def test_claims_are_scored_by_who_is_there():
    crowd = Crowd(np.array([[1.0], [2.0], [3.0], [9.0]]), np.arange(4))
    boxes = Boxes(np.array([[1.0]]), np.array([[3.0]]), np.array([2]), [[(0, 1.0, 1.0)]])
    found = membership(claims(boxes, crowd), np.array([True, True, False, False]))
    assert (found.success, found.control) == (0.5, 0.0)
    assert found.detail["proven_right"] == 1.0
    assert found.detail["proven_of_the_register"] == 0.25
    assert found.detail["people_in_the_register"] == 4
    everybody = membership(claims(boxes, crowd), np.ones(4, dtype=bool))
    assert everybody.control is None


def test_who_has_no_number_stands_in_no_class():
    crowd = Crowd(np.array([[1.0], [np.inf]]), np.arange(2))
    boxes = Boxes(np.array([[np.nan]]), np.array([[np.nan]]), np.array([2]), [[]])
    assert not claims(boxes, crowd).proven.any()
