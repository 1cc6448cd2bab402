"""What a search sees of its goal: rare sets by their definition."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.methods.transactions.tables import baskets, records_of
from tests.naive import itemsets as naive

from shoal.methods.transactions.goal import SetGoal, bits_of, fits, item_bits, rare_sets, reaches
from shoal.table.baskets import Baskets, SetRecoding


def names(records):
    return [frozenset(map(str, record)) for record in records]


@settings(max_examples=100, deadline=None)
@given(baskets(), st.integers(1, 5), st.sampled_from([1, 2, 3, None]))
def test_there_is_a_rare_set_where_there_is_one(table, k, m):
    found = list(rare_sets(SetRecoding.of_items(table), k, m))
    records = names(records_of(table))
    least = naive.rarest(records, m)
    assert bool(found) == (0 < least < k)
    for each in found:
        assert 0 < naive.support(records, frozenset(map(str, each))) < k


@settings(max_examples=60, deadline=None)
@given(baskets(), st.integers(1, 5))
def test_the_smallest_rare_sets_are_yielded_once_each(table, k):
    found = list(rare_sets(SetRecoding.of_items(table), k, 3))
    assert len(set(found)) == len(found)
    kept = [frozenset(each) for each in found]
    assert not any(one < other for one in kept for other in kept if one != other and len(one) == 1)


def test_bits_are_the_records():
    table = Baskets.of([["a"], ["b"], ["a", "b"], []])
    bits, held = bits_of(SetRecoding.of_items(table))
    assert bits == [0b101, 0b110] == item_bits(table)
    assert held == [[0], [1], [0, 1], []]


def test_m_0_asks_for_nothing_but_the_requirements():
    table = Baskets.of([["a"], ["b"], ["a", "b"]])
    whole = SetRecoding.of_items(table)
    assert fits(whole, (0, 1)) == 1
    assert reaches(whole, SetGoal(k=2, m=0))
    assert not reaches(whole, SetGoal(k=2, m=0, required=((0, 1),)))
    assert reaches(whole, SetGoal(k=2, m=0, required=((0,),)))
    assert not reaches(whole, SetGoal(k=2, m=2))


def test_no_record_at_all_reaches_every_goal():
    nothing = SetRecoding.of_items(Baskets.of([]))
    assert list(rare_sets(nothing, 5, None)) == list(rare_sets(nothing, 5, 2)) == []
    assert reaches(nothing, SetGoal(k=5, m=None))
