"""Classes of different signatures get labels of their own, or wait."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from tests.methods.over_time.test_cuts import domains

from shoal.methods.clustering.space import space_of
from shoal.methods.over_time.apart import told_apart

BOX = st.tuples(st.integers(0, 5), st.integers(0, 5), st.integers(0, 4), st.integers(0, 4))


def boxes_of(found):
    ends = np.array(found, dtype=np.int32).reshape(-1, 2, 2)
    return ends.min(axis=2), ends.max(axis=2)


def labels(low, high):
    return tuple(d.label(int(a), int(b)) for d, a, b in zip(domains(), low, high, strict=True))


@given(st.lists(st.tuples(BOX, st.integers(0, 2), st.integers(1, 9)), min_size=1, max_size=12))
def test_no_label_is_left_to_two_buckets_and_every_record_stays_covered(classes):
    before = boxes_of([box for box, _, _ in classes])
    low, high = before[0].copy(), before[1].copy()
    bucket = np.array([number for _, number, _ in classes])
    sizes = np.array([size for _, _, size in classes])
    kept = told_apart(domains(), space_of(domains()), (low, high), bucket, sizes)
    assert kept.any()
    assert (low <= before[0]).all()
    assert (high >= before[1]).all()
    owner = {}
    for each in np.flatnonzero(kept).tolist():
        assert owner.setdefault(labels(low[each], high[each]), bucket[each]) == bucket[each]


def test_the_larger_class_keeps_its_labels():
    low, high = boxes_of([(1, 2, 0, 0), (1, 2, 0, 0)])
    kept = told_apart(
        domains(), space_of(domains()), (low, high), np.array([0, 1]), np.array([2, 5])
    )
    assert kept.all()
    assert (low[1].tolist(), high[1].tolist()) == ([1, 0], [2, 0])
    assert (low[0].tolist(), high[0].tolist()) != ([1, 0], [2, 0])


def test_what_is_released_as_the_root_already_has_no_other_label():
    low, high = boxes_of([(0, 5, 0, 4), (0, 5, 0, 4), (0, 5, 0, 4)])
    bucket, sizes = np.array([0, 1, 1]), np.array([3, 2, 2])
    kept = told_apart(domains(), space_of(domains()), (low, high), bucket, sizes)
    assert kept.tolist() == [True, False, False]
