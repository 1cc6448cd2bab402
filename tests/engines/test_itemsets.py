from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.naive import itemsets as naive

from shoal.engines.itemsets import CountedSets
from shoal.table.baskets import Baskets

RECORDS = st.lists(st.frozensets(st.sampled_from("abcdef"), max_size=5), min_size=1, max_size=12)
SIZES = st.sampled_from([1, 2, 3, 7, None])


def counted(records):
    found = Baskets.of([sorted(record) for record in records])
    covers = {item: (code,) for code, item in enumerate(found.items)}
    return CountedSets(found.starts, found.codes, len(found.items), covers)


@settings(max_examples=150)
@given(RECORDS, SIZES)
def test_the_rarest_set_is_the_rarest_of_all(records, most):
    support, size = counted(records).rarest(most)
    assert support == naive.rarest(records, most)
    assert (size == 0) == (not any(records))


@settings(max_examples=150)
@given(RECORDS, SIZES, st.integers(1, 5))
def test_records_with_rare_sets_are_counted_once(records, most, k):
    assert counted(records).rare_records(k, most) == naive.rare_records(records, k, most)


@settings(max_examples=100)
@given(RECORDS, SIZES)
def test_nobody_is_surer_of_an_item_than_the_confidence(records, most):
    for item in "ab":
        assert counted(records).confidence(item, most) == naive.confidence(records, item, most)


def test_a_label_covers_every_item_that_it_stands_for():
    sets = CountedSets(
        np.array([0, 1, 2, 4]), np.array([0, 1, 0, 1], dtype=np.int32), 2, {"a": (0, 1), "b": (1,)}
    )
    assert (sets.covering(("a",)), sets.covering(("a", "b")), sets.covering(("c",))) == (3, 2, 0)


def test_no_record_with_items_has_no_rarest_set():
    sets = counted([frozenset(), frozenset()])
    assert sets.rarest(2) == sets.rarest(None) == (0, 0)
    assert sets.rare_records(5, 2) == sets.rare_records(5, None) == 0
    assert sets.confidence("a", 2) == 0


@settings(max_examples=80)
@given(RECORDS, SIZES)
def test_the_least_support_of_each_record_is_that_of_its_own_sets(records, most):
    low, (support, _) = counted(records).lowest(most)
    for row, record in enumerate(records):
        own = [naive.support(records, each) for each in naive.subsets(record, most)]
        assert low[row] == min(own, default=len(records))
    assert support == (min((low[n] for n, r in enumerate(records) if r), default=0))


@settings(max_examples=60)
@given(RECORDS, SIZES)
def test_who_knows_more_items_finds_no_more_records(records, most):
    sets = counted(records)
    known = [1, 2, 3, None] if most is None else [1, most, None]
    lows = [sets.lowest(each)[0] for each in known]
    for fewer, more in pairwise(lows):
        assert (more <= fewer).all()
    assert all(sets.rare_records(k, None) >= sets.rare_records(k, 1) for k in (1, 2, 3))
    assert sets.rare_records(1, most) == 0


@settings(max_examples=60)
@given(RECORDS, st.lists(st.sampled_from("abcdefz"), min_size=1, max_size=3, unique=True))
def test_a_requirement_fits_who_holds_all_its_items(records, items):
    assert counted(records).covering(items) == naive.support(records, frozenset(items))


@settings(max_examples=60)
@given(RECORDS, SIZES)
def test_a_question_that_is_asked_again_has_the_same_answer(records, most):
    sets = counted(records)
    first = (sets.rarest(most), sets.rare_records(2, most), sets.confidence("a", most))
    assert first == (sets.rarest(most), sets.rare_records(2, most), sets.confidence("a", most))
    assert sets.lowest(most)[0] is sets.lowest(most)[0]  # counted once


def test_a_repr_shows_no_item():
    assert "secret" not in repr(counted([frozenset({"secret"})]))
