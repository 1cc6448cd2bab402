"""Pruned trees are the best of their size, each inside the one before, and keep the promise."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.golden.generate import count, schema, table
from tests.methods.calls import mondrian
from tests.naive.prune import prunings

from shoal.methods.cut_model import model_of_cuts
from shoal.methods.cut_tree import cut_regions
from shoal.methods.judging import failing_classes
from shoal.methods.prune import loss_of, prune
from shoal.model.document import checked
from shoal.model.runtime import Encoder
from shoal.privacy import KAnonymity, LDiversity


def whole(k=4, *more):
    wanted = schema(levels=False, k=k)
    promise = [KAnonymity(k), *more]
    found = mondrian(count(table(), wanted), promise)
    return wanted, promise, cut_regions(found, wanted, promise)


@settings(deadline=None)
@given(records=st.lists(st.integers(0, 400), min_size=12, max_size=60), k=st.integers(2, 5))
def test_each_tree_loses_least_of_all_with_as_many_classes(records, k):
    wanted = schema(levels=False, k=k)
    some = table()[[record % 400 for record in records]]
    found = mondrian(count(some, wanted), [KAnonymity(k)])
    cutting = cut_regions(found, wanted, [KAnonymity(k)])
    if cutting is None or not 1 < len(cutting.low) <= 10:
        return
    pruning = prune(cutting)
    best = prunings(cutting)
    for classes in pruning.left:
        # The trees are compared by their regions; narrow labels come afterwards.
        tree = pruning.of(classes)
        wide = tree.recoding.__class__(
            table=tree.recoding.table, low=tree.low, high=tree.high, row=tree.recoding.row,
            label=tree.recoding.label, count=tree.recoding.count,
        )  # fmt: skip
        assert len(tree.low) == classes
        assert loss_of(wide) == pytest.approx(best[classes])


def test_each_tree_is_inside_the_one_before_and_has_its_records():
    _, _, cutting = whole()
    pruning = prune(cutting)
    before = cutting
    for classes in (*pruning.left, 1):
        tree = pruning.of(classes)
        assert tree.recoding.classes == classes
        ends = np.searchsorted(before.recoding.label, before.recoding.label)
        assert ends.size == tree.recoding.label.size
        # Records that were together stay together.
        pairs = set(zip(before.recoding.label.tolist(), tree.recoding.label.tolist(), strict=True))
        assert len(pairs) == before.recoding.classes
        assert tree.recoding.sizes.sum() == cutting.recoding.sizes.sum()
        before = tree


@pytest.mark.parametrize("classes", [1, 2, 5, 20, 60])
def test_devices_put_the_training_records_where_they_were_counted(classes):
    wanted, promise, cutting = whole()
    tree = prune(cutting).of(classes)
    model = model_of_cuts(tree, wanted, method="mondrian", utility={})
    encoder = Encoder(checked(model.to_document()))
    found = [encoder.find([row[name] for name in encoder.names]) for row in table().to_dicts()]
    assert np.bincount(found, minlength=len(model.counts)).tolist() == list(model.counts)
    assert not failing_classes(tree.recoding, promise).any()


def test_a_promise_about_values_is_kept_by_every_tree():
    plain = schema(levels=False, k=4)
    promise = [KAnonymity(4), LDiversity(2, column=plain.sensitive[0])]
    wanted = plain.with_promise(promise)
    found = mondrian(count(table(), wanted, sensitive=plain.sensitive), promise)
    pruning = prune(cut_regions(found, wanted, promise))
    for classes in pruning.left:
        assert not failing_classes(pruning.of(classes).recoding, promise).any()


def test_a_tree_of_one_class_has_nothing_to_prune():
    _, _, cutting = whole(k=400)
    pruning = prune(cutting)
    assert pruning.order == ()
    assert pruning.of(5).recoding.classes == 1
