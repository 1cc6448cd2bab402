"""Every method for sets does what it promises, is described, and is the same for the same seed."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.methods.transactions.tables import (
    TREE,
    baskets,
    covers_everything,
    records_of,
    released_of,
    skewed,
)
from tests.naive import constrained as naive_constrained
from tests.naive import transactions as naive

from shoal.core.errors import MethodError
from shoal.methods.method import Setting
from shoal.methods.registry import method_named
from shoal.methods.transactions.catalogue import SET_METHODS, Coat, ItemSets, Pcta, SetMethod
from shoal.methods.transactions.constrained import search_constrained
from shoal.methods.transactions.goal import SetGoal
from shoal.table.baskets import Baskets

LABELS = [name for name in SET_METHODS if name != "disassociation"]  # it has no labels
EVERY = st.sampled_from(LABELS)


def made(name: str) -> SetMethod:
    return ItemSets(effort="fast") if name == "itemsets" else SET_METHODS[name]()


@settings(max_examples=60, deadline=None)
@given(EVERY, baskets(least=4), st.integers(1, 3), st.integers(1, 2))
def test_any_method_keeps_km_where_it_can_be_kept(name, table, k, m):
    found = made(name).search_sets(table, SetGoal(k=k, m=m, tree=TREE), Setting())
    assert covers_everything(found)
    assert len(found.choice) == table.codes.size
    assert len(set(found.labels)) == len(found.labels)
    held = [record for record in records_of(table) if record]
    if name == "lra":  # each part must have k records with items
        possible = len(held) == table.records
    else:
        possible = len(held) >= k
    if possible:
        assert naive.is_frequent(released_of(found), k, m)


@pytest.mark.parametrize("name", LABELS)
def test_with_k_1_hardly_anything_is_asked_and_nothing_lost(name):
    takes_any = name in ("itemsets", "pcta", "coat")
    table = skewed(60, 8, 1) if takes_any else Baskets.of([list("abc")])
    goal = SetGoal(k=1, m=2, tree=None if takes_any else TREE)
    found = made(name).search_sets(table, goal, Setting())
    assert found.ncp() == 0
    assert found.kept() == 1


@pytest.mark.parametrize("name", LABELS)
def test_a_search_leaves_the_table_as_it_was_and_repeats_itself(name):
    rows = [list("abd"), list("ac"), list("bd"), list("efg"), list("gh"), list("ag"), []] * 3
    table = Baskets.of(rows)
    before = (table.starts.copy(), table.codes.copy())
    goal = SetGoal(k=4, m=2, tree=TREE)
    one, other = (made(name).search_sets(table, goal, Setting(seed=5)) for _ in range(2))
    assert (table.starts == before[0]).all()
    assert (table.codes == before[1]).all()
    assert released_of(one) == released_of(other)


@pytest.mark.parametrize("name", ["itemsets", "apriori", "pcta", "coat"])
def test_a_table_that_holds_already_is_released_as_it_is(name):
    table = Baskets.of([list("ab")] * 4 + [list("c")] * 4 + [[]])
    found = made(name).search_sets(table, SetGoal(k=4, m=2, tree=TREE), Setting())
    assert found.ncp() == 0
    assert found.suppressed() == 0


def test_each_is_described_and_can_be_written_down():
    for name, kind in SET_METHODS.items():
        assert kind.name == name
        assert kind.family == "transactions"
        assert kind.summary
        assert method_named(name, {}).to_document() == {"name": name}
        assert all(each.help for each in kind.parameters())
    assert [kind.name for kind in SET_METHODS.values() if kind.constrained] == ["pcta", "coat"]
    with pytest.raises(MethodError, match="no parameter"):
        method_named("pcta", {"effort": "fast"})


@settings(max_examples=60, deadline=None)
@given(baskets(least=3, most=10), st.integers(1, 4), st.data())
def test_pcta_meets_what_its_twin_meets(table, k, data):
    items = len(table.items)
    if not items:
        return
    one = st.lists(st.integers(0, items - 1), min_size=1, max_size=2, unique=True).map(tuple)
    required = tuple(data.draw(st.lists(one, min_size=1, max_size=2, unique=True)))
    records = records_of(table)
    twin = naive_constrained.pcta(records, items, k, required)
    found = search_constrained(table, SetGoal(k=k, m=0, required=required), rarest=False)
    for each in required:
        number = naive_constrained.fitting(records, twin, each)
        assert number == 0 or number >= k
    changed = any(len(label) > 1 for label in found.labels) or found.suppressed() > 0
    assert changed == any(len(each) != 1 for each in twin) or len(twin) != items


@settings(max_examples=40, deadline=None)
@given(baskets(least=3, most=12), st.integers(2, 4))
def test_one_requirement_over_two_items_costs_pcta_what_it_costs_its_twin(table, k):
    items = len(table.items)
    if items < 2:
        return
    records, required = records_of(table), ((0, 1),)
    twin = naive_constrained.pcta(records, items, k, required)
    found = search_constrained(table, SetGoal(k=k, m=0, required=required), rarest=False)
    sets = [frozenset(label) for label in found.labels]
    if sum(map(len, sets)) == items == sum(map(len, twin)):  # nothing was suppressed
        ours = naive_constrained.total_loss(records, sets, items)
        merges = (items - len(sets), items - len(twin))
        assert merges[0] == merges[1] or max(merges) > 1  # ties may be broken otherwise
        if max(merges) <= 1:
            assert ours == pytest.approx(naive_constrained.total_loss(records, twin, items))


def test_coat_and_pcta_never_touch_what_no_constraint_names_while_suppression_stays_within():
    table = Baskets.of([list("ab"), list("cd"), list("cd"), list("e"), list("e")])
    goal = SetGoal(k=2, m=0, required=((0, 1),), utility=((0,), (1,), (2, 3), (4,)))
    for method in (Coat(), Pcta()):
        released = released_of(method.search_sets(table, goal, Setting()))
        assert released[1:] == [frozenset({(2,), (3,)})] * 2 + [frozenset({(4,)})] * 2
        assert len(released[0]) == 1  # one of the two was suppressed, the other stays
