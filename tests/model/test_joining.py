"""Classes that fail are joined with a neighbour, and all hold together in the end."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from tests.methods.test_cut_tree import made

from shoal.model.batch import Judge
from shoal.model.document import checked
from shoal.model.joining import extents_of, join_failing, order_of
from shoal.model.runtime import Encoder

_, MODEL = made(4)
COLUMNS = extents_of(MODEL, Encoder(checked(MODEL.to_document())))
JUDGE = Judge.of(MODEL.schema, MODEL.privacy)


def batch(seed, classes=30):
    chance = random.Random(seed)
    some = chance.sample(sorted(set(MODEL.tuples()), key=str), classes)
    return {key: Counter({(): chance.choice([1, 1, 2, 5, 9])}) for key in some}


@pytest.mark.parametrize("seed", range(4))
def test_all_classes_hold_and_none_is_lost(seed):
    given = batch(seed)
    answer = join_failing(given, COLUMNS, order_of(MODEL), JUDGE)
    assert set(answer) == set(given)
    sizes = Counter()
    for key, label in answer.items():
        sizes[label] += given[key].total()
    assert None not in sizes
    assert min(sizes.values()) >= 4


def test_classes_that_hold_are_left_alone_where_nobody_needs_them():
    given = {key: Counter({(): 9}) for key in batch(1)}
    assert join_failing(given, COLUMNS, order_of(MODEL), JUDGE) == {key: key for key in given}


def test_what_nobody_can_help_is_suppressed():
    key = MODEL.tuples()[0]
    assert join_failing({key: Counter({(): 3})}, COLUMNS, order_of(MODEL), JUDGE) == {key: None}
    assert join_failing({}, COLUMNS, order_of(MODEL), JUDGE) == {}


def test_the_same_batch_gives_the_same_classes():
    given = batch(2)
    again = dict(reversed(list(given.items())))
    order = order_of(MODEL)
    assert join_failing(given, COLUMNS, order, JUDGE) == join_failing(again, COLUMNS, order, JUDGE)
