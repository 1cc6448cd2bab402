"""Balanced cuts: the best one against trying all, and what every class has."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from shoal.hierarchies.tree import Hierarchy
from shoal.kernels.clustering.losses import cost, packed
from shoal.methods.clustering.space import space_of
from shoal.methods.over_time.cuts import Layers, _halves, cut, losses
from shoal.schema.schema import Kind
from shoal.table.domain import Domain

TREE = Hierarchy.from_tree("job", {"*": {"a": ["b", "c"], "d": ["e", "f", "g"]}})
LEAVES = [TREE.labels.index(name) for name in "bcefg"]


def domains():
    age = Domain(
        name="age", kind=Kind.NUMERIC, labels=(None, *map(str, (20, 21, 35, 60, 61))),
        position=np.array([0.0, 20, 21, 35, 60, 61]),
    )  # fmt: skip
    job = Domain(
        name="job", kind=Kind.CATEGORICAL, labels=tuple("bcefg"),
        position=np.array(LEAVES, dtype=np.float64), tree=TREE,
    )  # fmt: skip
    return age, job


@st.composite
def buckets(draw):
    values, layers = draw(st.integers(1, 3)), draw(st.integers(1, 6))
    cell = st.tuples(st.integers(0, 5), st.integers(0, 4))
    size = values * layers
    codes = draw(st.lists(cell, min_size=size, max_size=size))
    real = draw(st.lists(st.booleans(), min_size=size, max_size=size))
    places = np.arange(size).reshape(values, layers)
    return Layers(places, np.array(codes, dtype=np.int32), np.array(real))


def loss(bucket, records):
    """Return the loss of one box, by the domains' own words."""
    found = 0.0
    for j, domain in enumerate(domains()):
        own = bucket.codes[records, j]
        found += domain.cost(int(own.min()), int(own.max()))
    return found


def tried(bucket, k):
    """Return the smallest loss that any allowed cut leaves, or that there is without one."""
    layers = bucket.places.shape[1]
    best = loss(bucket, bucket.places.ravel()) * layers
    for column in range(2):
        rows = [
            sorted(row.tolist(), key=lambda r: bucket.codes[r, column]) for row in bucket.places
        ]
        for at in range(1, layers):
            parts = [r for row in rows for r in row[:at]], [r for row in rows for r in row[at:]]
            if all(bucket.is_real[part].sum() >= k for part in parts):
                lost = loss(bucket, parts[0]) * at + loss(bucket, parts[1]) * (layers - at)
                best = min(best, lost)
    return best


@given(buckets(), st.integers(1, 3))
def test_the_best_cut_is_as_good_as_any(bucket, k):
    halves = _halves(bucket.places, bucket, space_of(domains()), k=k)
    found = [bucket.places] if halves is None else halves
    lost = sum(loss(bucket, part.ravel()) * part.shape[1] for part in found)
    assert abs(lost - tried(bucket, k)) < 1e-4


@given(buckets(), st.integers(1, 3))
def test_every_class_is_balanced_and_all_records_are_there(bucket, k):
    values, _ = bucket.places.shape
    classes = cut(bucket, space_of(domains()), k=k)
    assert sorted(np.concatenate(classes).tolist()) == list(range(bucket.places.size))
    value_of = np.repeat(np.arange(values), bucket.places.shape[1])
    for records in classes:
        assert len(set(np.bincount(value_of[records], minlength=values).tolist())) == 1
        assert len(classes) == 1 or bucket.is_real[records].sum() >= k


@given(st.integers(0, 2**32), st.sampled_from([1, 256]))
def test_losses_are_those_of_the_kernels(seed, short):
    chance = np.random.default_rng(seed)
    space = space_of(domains(), short=short)
    table = packed(space)
    ends = np.sort(np.stack((chance.integers(0, 6, 9), chance.integers(0, 6, 9))), axis=0)
    more = np.sort(np.stack((chance.integers(0, 5, 9), chance.integers(0, 5, 9))), axis=0)
    low = np.stack((ends[0], more[0]), axis=1).astype(np.int32)
    high = np.stack((ends[1], more[1]), axis=1).astype(np.int32)
    expected = [
        sum(cost.py_func(table, j, int(low[i, j]), int(high[i, j])) for j in range(2))
        for i in range(9)
    ]
    assert losses(space, low, high).tolist() == expected
