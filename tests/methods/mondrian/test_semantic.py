"""The three semantic Mondrians against their plain twin."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.methods.calls import mondrian_categorical, mondrian_unordered, sa_mondrian
from tests.methods.microaggregation.mixed import (
    by_tuple,
    classes_of,
    columns,
    tables,
    twin_of,
    twins_of,
)
from tests.naive import semantic as naive

from shoal.hierarchies.tree import Hierarchy
from shoal.methods.microaggregation.centroids import centroids
from shoal.methods.microaggregation.semantic import units_of
from shoal.methods.microaggregation.squared_error import sse_loss
from shoal.privacy import KAnonymity, LDiversity
from shoal.schema.schema import Kind
from shoal.table.domain import tree_domain
from shoal.table.frequency import from_codes

METHODS = (mondrian_categorical, mondrian_unordered, sa_mondrian)


def ranks_of(table, seed=None):
    """Return where each value stands in its column's order."""
    chance = None if seed is None else np.random.default_rng(seed)
    found = []
    for domain, unit in zip(table.domains, units_of(table.domains), strict=True):
        _, values = twin_of(domain, unit)
        order = np.arange(len(values))
        if chance is not None and domain.tree is not None:
            order = chance.permutation(len(values))
        found.append({value: int(rank) for value, rank in zip(values, order, strict=True)})
    return found


@pytest.mark.parametrize("method", METHODS)
@settings(max_examples=40, deadline=None)
@given(table=tables(), k=st.integers(1, 6), persist=st.booleans(), seed=st.integers(0, 3))
def test_the_classes_are_those_of_the_text(method, table, k, persist, seed):
    if table.records < k:
        return
    twins, entries = twins_of(table)
    extra = {"seed": seed} if method is mondrian_unordered else {}
    found = method(table, [KAnonymity(k)], persist=persist, **extra)
    wanted = naive.mondrian(
        twins, entries, ranks_of(table, extra.get("seed")), k,
        gaps=method is sa_mondrian, persist=persist,
    )  # fmt: skip
    assert classes_of(found) == by_tuple(wanted)


@settings(max_examples=40, deadline=None)
@given(table=tables(sensitive=True), k=st.integers(1, 4))
def test_a_promise_beyond_k_is_kept(table, k):
    secret = table.sensitive_domains[0].name
    found = sa_mondrian(table, [KAnonymity(k), LDiversity(2, column=secret)])
    for label in range(found.classes):
        inside = found.label == label
        assert found.count[inside].sum() >= k
        assert len(np.unique(table.sensitive[found.row[inside], 0])) >= 2


def test_the_example_of_the_text_is_cut_after_the_centroid():
    tree = Hierarchy.from_tree("pet", {"*": {"canine": ["wolf", "dog"], "cat": None}})
    domain = tree_domain("pet", Kind.CATEGORICAL, ["wolf", "dog", "cat"], tree, missing=False,
                         weight=1.0)  # fmt: skip
    codes = np.array([[0], [1], [2]], dtype=np.int32)  # wolf, dog, cat in post-order
    assert domain.labels == ("wolf", "dog", "cat")
    table = from_codes((domain,), codes, np.array([1, 3, 2]))
    found = mondrian_categorical(table, [KAnonymity(2)])
    assert classes_of(found) == [[(0, 1), (1, 3)], [(2, 2)]]


def test_a_hierarchy_of_200000_nodes_beside_a_column_of_one_value():
    leaves = 180_000
    rows = [(f"v{i}", f"g{i % 19_000}", f"h{i % 1_000}", "*") for i in range(leaves)]
    tree = Hierarchy.from_rows("big", rows)
    assert len(tree) >= 200_000
    wanted = [f"v{i}" for i in range(0, leaves, 100)] + [f"g{i}" for i in range(50)]
    big = tree_domain("big", Kind.CATEGORICAL, wanted, tree, missing=False, weight=1.0)
    codes = np.zeros((len(wanted), 2), dtype=np.int32)
    codes[:, 0] = np.arange(len(wanted))
    table = from_codes((big, columns(False)["flat"]), codes, np.full(len(wanted), 2))
    for method in METHODS:
        found = method(table, [KAnonymity(5)])
        assert found.sizes.min() >= 5
        assert found.sizes.sum() == table.records
    released = centroids(found)
    assert set(released[0]) <= set(tree.labels)
    assert 0 < sse_loss(found, released) < 100
