"""The search for groups that are too cheap, against a list of all groups."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.methods.clustering.tables import tables
from tests.naive.optimum import groups_of

from shoal.core.errors import KernelInputError
from shoal.kernels.bounds.groups import cheap_groups
from shoal.measures.optimum import _Boxes, _Squares, _tuples

LAW = settings(max_examples=40, deadline=None)
KINDS = pytest.mark.parametrize("kind", [_Boxes, _Squares], ids=["boxes", "squares"])


def case(kind, table, k, seed):
    """Return the rows, what each group costs less its prices by first row, and the prices."""
    pairs = kind(_tuples(table))
    chance = np.random.default_rng(seed)
    records = np.repeat(np.arange(table.rows), pairs.table.counts).tolist()
    whole = pairs.cost(tuple(Counter(records).items())) / len(records)
    prices = chance.uniform(0, 1.5 * whole + 1e-3, table.rows)
    short = {}
    for group in groups_of(range(len(records)), k):
        rows = tuple(sorted(Counter(records[i] for i in group).items()))
        first = min((row for row, _ in rows), key=lambda row: pairs.rank[row])
        paid = sum(prices[row] * n for row, n in rows)
        short[rows] = (first, pairs.cost(rows) - paid)
    return pairs, prices, short


@KINDS
@LAW
@given(table=tables(most=6, missing=True), k=st.integers(2, 3), seed=st.integers(0, 99))
def test_what_was_looked_at_to_the_end_is_exact(kind, table, k, seed):
    assume(k <= table.records <= 10)
    pairs, prices, short = case(kind, table, k, seed)
    found = cheap_groups(pairs.rows(k), prices, k=k, most_nodes=10**6)
    assert not found.is_cut
    gap = 1e-6 * (1 + prices.max())
    for row in range(table.rows):
        own = [less for first, less in short.values() if first == row]
        assert found.short[row] == pytest.approx(min([0.0, *own]), abs=gap, rel=1e-6)
    for rows, size in zip(found.members, found.sizes, strict=True):
        group = tuple(sorted(Counter(rows[:size].tolist()).items()))
        assert k <= size <= 2 * k - 1
        assert all(n <= pairs.table.counts[row] for row, n in group)
        assert short[group][1] < 0


@KINDS
@LAW
@given(table=tables(most=6), k=st.integers(2, 3), seed=st.integers(0, 99), nodes=st.integers(1, 6))
def test_what_was_cut_off_is_known_from_below(kind, table, k, seed, nodes):
    assume(k <= table.records <= 10)
    pairs, prices, short = case(kind, table, k, seed)
    found = cheap_groups(pairs.rows(k), prices, k=k, most_nodes=nodes)
    gap = 1e-6 * (1 + prices.max())
    for first, less in short.values():
        assert found.short[first] <= less + gap


def test_arrays_that_do_not_fit_are_refused():
    table = tables_of_two()
    pairs = _Boxes(_tuples(table))
    with pytest.raises(KernelInputError, match="do not fit"):
        cheap_groups(pairs.rows(2), np.zeros(5), k=2, most_nodes=9)


def tables_of_two():
    from tests.methods.clustering.test_laws import numbers

    return numbers(2, 1, 9)
