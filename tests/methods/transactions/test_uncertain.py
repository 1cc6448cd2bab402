"""What is left out so that nothing tells a sensitive item: against the definition."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.methods.transactions.tables import TREE, baskets, released_of
from tests.naive.itemsets import confidence

from shoal.methods.method import Setting
from shoal.methods.transactions.catalogue import Apriori, ItemSets
from shoal.methods.transactions.classes import recode
from shoal.methods.transactions.goal import rare_sets
from shoal.methods.transactions.uncertain import bounded
from shoal.privacy import KmAnonymity
from shoal.privacy.rho_uncertainty import RhoUncertainty
from shoal.table.baskets import Baskets, SetRecoding


def worst(recoding, item, most):
    """How sure anybody can be, from the definition; a label that may be the item counts as it."""
    code = recoding.baskets.items.index(item)
    records = [
        frozenset(item if code in label else str(label) for label in record)
        for record in released_of(recoding)
    ]
    return confidence(records, item, most)


@settings(max_examples=40, deadline=None)
@given(baskets(least=4), st.sampled_from([0.3, 0.5, 0.8]), st.sampled_from([1, 2, None]))
def test_nothing_tells_more_than_was_promised_and_labels_are_only_left_out(found, rho, m):
    sensitive = tuple(item for item in found.items if item in "ae")
    if not sensitive:
        return
    model = RhoUncertainty(rho, sensitive, m)
    plain = SetRecoding.of_items(found)
    made = bounded(plain, [model])
    assert all(worst(made, item, m) <= rho + 1e-9 for item in sensitive)
    assert set(made.choice.tolist()) <= {-1, *plain.choice.tolist()}
    if all(worst(plain, item, m) <= rho for item in sensitive):
        assert made.suppressed() == 0


@settings(max_examples=20, deadline=None)
@given(baskets(least=6), st.sampled_from([ItemSets(effort="fast"), Apriori()]))
def test_both_promises_hold_of_what_was_merged_first(found, method):
    if "a" not in found.items:
        return
    promise = [KmAnonymity(2, 2), RhoUncertainty(0.5, ("a",), 2)]
    number = np.zeros(found.records, dtype=np.int64)
    made = recode(found, number, promise, method, Setting(), TREE)
    assert worst(made, "a", 2) <= 0.5 + 1e-9
    assert next(rare_sets(made, 2, 2), None) is None


def test_the_cheapest_label_is_left_out():
    # Whoever buys b has a; one of ten who buys c has: b, with two records, is left out.
    rows = [["a", "b"]] * 2 + [["a", "c"]] + [["c"]] * 9 + [["d"]] * 8
    made = bounded(SetRecoding.of_items(Baskets.of(rows)), [RhoUncertainty(0.4, ("a",), 2)])
    assert {label for record in released_of(made) for label in record} == {(0,), (2,), (3,)}


@pytest.mark.parametrize("rows", [[["a"]] * 5, [["a", "b"], ["b"]] * 3])
def test_an_item_that_too_many_hold_is_left_out_itself(rows):
    made = bounded(SetRecoding.of_items(Baskets.of(rows)), [RhoUncertainty(0.3, ("a",), 1)])
    assert all((0,) not in record for record in released_of(made))
