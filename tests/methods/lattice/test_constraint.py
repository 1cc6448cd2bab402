"""The promise and the budget of a lattice search."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.methods.lattice.cases import people
from tests.methods.sensitive_tables import SECRET

from shoal.core.errors import MethodError
from shoal.methods.arrays import promise_of
from shoal.methods.lattice.constraint import Constraint, constraint_of, largest_distances
from shoal.privacy import AlphaKAnonymity, KAnonymity, LDiversity, TCloseness
from shoal.schema.schema import Kind
from shoal.table.domain import line_domain
from shoal.table.frequency import from_codes


def hundred():
    line = line_domain("q", Kind.NUMERIC, ["0"], [0.0])
    return from_codes((line,), np.zeros((1, 1), dtype=np.int32), np.array([100]))


@pytest.mark.parametrize(("limit", "budget"), [(0, 0), (0.29, 29), (0.295, 29), (1, 99)])
def test_the_budget_is_the_share_as_it_is_written_and_never_all(limit, budget):
    assert constraint_of([KAnonymity(5)], hundred(), limit=limit).budget == budget


@pytest.mark.parametrize("limit", [-0.1, 1.1, float("nan")])
def test_a_limit_that_is_no_share_is_refused(limit):
    with pytest.raises(MethodError, match="between 0 and 1"):
        constraint_of([KAnonymity(5)], hundred(), limit=limit)


def test_promises_are_bound_to_the_sensitive_columns():
    table = people([21, 22], "fm", ["flu", "gout"])
    found = constraint_of([KAnonymity(2), LDiversity(2)], table, limit=0.0)
    assert [model.column for model in found.models] == [None, "diagnosis"]
    assert found.records == 2


def test_the_smallest_class_is_the_largest_that_any_promise_asks_for():
    models = (KAnonymity(3), AlphaKAnonymity(0.5, 8, column="s"))
    assert Constraint(models, 0, 10).k == 8
    assert Constraint((), 0, 10).k == 1


@given(
    sizes=st.lists(st.integers(1, 9), min_size=1, max_size=12), k=st.integers(1, 5),
    budget=st.integers(0, 20),
)  # fmt: skip
def test_more_classes_than_the_most_would_suppress_too_much(sizes, k, budget):
    records = sum(sizes)
    constraint = Constraint((KAnonymity(k),), min(budget, records - 1), records)
    if len(sizes) > constraint.most_classes:
        assert sum(size for size in sizes if size < k) > constraint.budget


@given(
    whole=st.lists(st.integers(1, 9), min_size=4, max_size=4),
    mine=st.lists(st.integers(0, 9), min_size=4, max_size=4).filter(any),
    how=st.sampled_from(["equal", "ordered", "hierarchical", "chi2"]),
)
def test_no_class_is_further_from_the_table_than_the_largest_distance(whole, mine, how):
    line = line_domain("q", Kind.NUMERIC, ["0"], [0.0])
    table = from_codes(
        (line,), np.zeros((4, 1), dtype=np.int32), np.array(whole),
        sensitive_domains=(SECRET,), sensitive=np.arange(4, dtype=np.int32)[:, None],
    )  # fmt: skip
    (bound,) = largest_distances(promise_of([TCloseness(0.1, how, column="s")], table))
    shares, all_shares = np.array(mine) / sum(mine), np.array(whole) / sum(whole)
    if how == "equal":
        assert np.abs(shares - all_shares).sum() / 2 <= bound + 1e-12
    elif how == "ordered":
        assert np.abs(np.cumsum(shares - all_shares)).sum() / 3 <= bound + 1e-12
    else:
        assert bound == 1.0


def test_promises_that_compare_with_nothing_have_no_distance_to_bound():
    table = people([21, 22], "fm", ["flu", "gout"])
    arrays = promise_of([LDiversity(2, column="diagnosis")], table)
    assert largest_distances(arrays).tolist() == [1.0]
