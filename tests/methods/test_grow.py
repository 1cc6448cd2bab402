"""Grown trees: the cut that saves most first, and classes that are large enough."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.golden.generate import count, schema, table
from tests.naive import grow as naive

from shoal.methods.cut_tree import Tree, cut_regions
from shoal.methods.grow import _Column, grow
from shoal.methods.prune import loss_of
from shoal.privacy import KAnonymity
from shoal.table.recoding import Recoding

PEOPLE = table()
WANTED = schema(levels=False, k=4)


def every_code(found):
    return [np.arange(1, len(domain), dtype=np.int32) for domain in found.domains]


def one_class(found):
    return Recoding(
        table=found,
        low=np.zeros((1, len(found.domains)), np.int32),
        high=np.array([[len(domain) - 1 for domain in found.domains]], np.int32),
        row=np.arange(found.rows),
        label=np.zeros(found.rows, np.int64),
        count=found.counts,
    )


@settings(deadline=None)
@given(
    records=st.lists(st.integers(0, 399), min_size=2, max_size=30),
    least=st.integers(1, 6),
    some=st.lists(st.booleans(), min_size=6, max_size=6),
)
def test_the_first_cut_saves_as_much_as_any(records, least, some):
    found = count(PEOPLE[records], WANTED)
    allowed = [
        codes if each else codes[::3] for codes, each in zip(every_code(found), some, strict=False)
    ]
    column, code = grow(found, allowed, least=least, most=2)
    best = naive.best_gain(found, allowed, least)
    if len(column) == 1:
        assert best == pytest.approx(0.0, abs=1e-9)
        return
    j, behind = int(column[0]), int(code[0])
    assert behind in allowed[j]
    only = [codes[:0] for codes in allowed]
    only[j] = np.array([behind], np.int32)
    # What this cut saves, with the costs of all bins of its column.
    domain, last = found.domains[j], len(allowed[j])
    at = int(np.searchsorted(allowed[j], behind)) + 1
    right = int(found.counts[found.codes[:, j] >= behind].sum())
    left = int(found.counts.sum()) - right
    saved = (left + right) * naive.cost(domain, allowed[j], 0, last)
    saved -= left * naive.cost(domain, allowed[j], 0, at - 1)
    saved -= right * naive.cost(domain, allowed[j], at, last)
    assert min(left, right) >= least
    assert saved * domain.weight == pytest.approx(best)


@settings(deadline=None)
@given(records=st.lists(st.integers(0, 399), min_size=2, max_size=60))
def test_the_costs_of_all_sides_are_those_of_each_run(records):
    found = count(PEOPLE[records], WANTED)
    for j, domain in enumerate(found.domains):
        column = _Column(domain, found.codes[:, j], every_code(found)[j])
        for low in range(min(column.many - 1, 5)):
            high = column.many - 1
            left, right = column.sides(low, high)
            for at in range(low, high):
                assert left[at - low] == pytest.approx(column.cost(low, at))
                assert right[at - low] == pytest.approx(column.cost(at + 1, high))


@pytest.mark.parametrize("most", [1, 2, 7, 30, 10_000])
def test_classes_are_large_enough_and_not_too_many(most):
    found = one_class(count(PEOPLE, WANTED))
    cutting = cut_regions(found, WANTED, [KAnonymity(4)], most=most)
    assert cutting.recoding.classes <= most
    assert cutting.recoding.sizes.min() >= 4
    assert cutting.recoding.sizes.sum() == 400


def test_more_classes_lose_less():
    found = one_class(count(PEOPLE, WANTED))
    losses = [
        loss_of(cut_regions(found, WANTED, [KAnonymity(4)], most=most).recoding)
        for most in (1, 5, 20, 80)
    ]
    assert losses == sorted(losses, reverse=True)
    assert losses[0] > losses[-1]


def test_a_column_that_may_not_be_cut_is_not():
    found = count(PEOPLE, WANTED)
    allowed = every_code(found)
    allowed[0] = allowed[0][:0]
    column, code = grow(found, allowed, least=4, most=50)
    assert 0 not in column
    assert Tree.of(column, code).in_order()[0][0] == 0
