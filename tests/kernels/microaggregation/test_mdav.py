"""Four loops over blocks of points, against the plain text of their papers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.naive import microaggregation as naive

from shoal.core.errors import KernelInputError
from shoal.kernels.microaggregation.mdav import Blocks, mdav, neighbours, path, vmdav

POINTS = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=1, max_size=18)


def blocks(points, size):
    at = np.array(points, dtype=np.float64).T.copy()
    rows = len(points)
    start = np.array([*range(0, rows, size), rows])
    return Blocks(at, np.arange(rows), start), np.ones(rows, dtype=np.int64)


def groups(found):
    return sorted(found.row[found.label == g].tolist() for g in set(found.label.tolist()) - {-1})


@settings(max_examples=60, deadline=None)
@given(points=POINTS, k=st.integers(1, 4), size=st.integers(1, 7))
def test_mdav_is_the_plain_algorithm_whatever_the_blocks(points, k, size):
    found = mdav(*blocks(points, size), k=k)
    expected = sorted(sorted(group) for group in naive.mdav(points, k))
    assert sorted(sorted(group) for group in groups(found)) == expected


@settings(max_examples=40, deadline=None)
@given(points=POINTS, k=st.integers(1, 4), gamma=st.sampled_from([0.0, 0.5, 2.0]))
def test_vmdav_makes_groups_of_k_up_to_2k_minus_1(points, k, gamma):
    found = vmdav(*blocks(points, 4), k=k, gamma=gamma)
    sizes = np.bincount(found.label[found.label >= 0], minlength=1)
    if len(points) >= k:
        assert ((sizes >= k) & (sizes < 2 * k)).all()
    assert (found.label < 0).sum() < k
    assert sorted(found.row.tolist()) == list(range(len(points)))


@settings(max_examples=40, deadline=None)
@given(points=POINTS, number=st.integers(1, 4))
def test_paths_and_neighbours_are_the_plain_ones(points, number):
    laid, _ = blocks(points, 3)
    assert path(laid).tolist() == naive.path(points)
    for row, found in enumerate(neighbours(laid, number=number, rows=np.arange(len(points)))):
        others = naive.without(range(len(points)), [row])
        near = naive.nearest(points, others, points[row], number)
        assert found.tolist() == near + [row] * (number - len(near))


def test_what_compiled_code_must_not_see_is_refused():
    good, counts = blocks([(0, 0), (1, 1), (2, 2)], 2)
    for bad, numbers, k in (
        (good._replace(at=good.at.astype(np.float32)), counts, 1),
        (good._replace(row=np.array([0, 0, 1])), counts, 1),
        (good._replace(row=np.array([0, 1, -1])), counts, 1),
        (good._replace(start=np.array([0, 2])), counts, 1),
        (good, counts - 1, 1),
        (good, counts[:2], 1),
        (good, counts, 0),
    ):
        with pytest.raises(KernelInputError):
            mdav(bad, numbers, k=k)
    with pytest.raises(KernelInputError):
        neighbours(good, number=1, rows=np.array([3]))
