"""Reconstruction by row order."""

import numpy as np
import pytest

from shoal.core.errors import KernelInputError
from shoal.measures.attacks.order import order


def rows(*numbers):
    return np.array(numbers, dtype=np.int64)[:, None]


def test_a_kept_order_is_walked_through_and_a_sorted_release_is_not():
    random = np.random.default_rng(3)
    original = random.integers(0, 20, (300, 1))
    same = [np.eye(20, dtype=bool)]
    kept = order(original, original[::2], same)
    assert kept.success == 1.0
    assert kept.advantage == pytest.approx(1)
    by_value = np.sort(original, axis=0)
    assert order(original, by_value, same).success < 0.2


def test_a_release_of_one_label_fits_anywhere_so_order_says_nothing():
    everything = [np.ones((20, 1), dtype=bool)]
    found = order(rows(*range(20)), np.zeros((20, 1), np.int64), everything)
    assert found.advantage == 0


def naive_share(original, release, fits):
    """Pair record by record, in order."""
    at = paired = 0
    for row in release:
        while at < len(original) and not all(
            fit[value, label] for fit, value, label in zip(fits, original[at], row, strict=True)
        ):
            at += 1
        if at < len(original):
            paired += 1
            at += 1
    return paired / len(release)


@pytest.mark.parametrize("seed", range(4))
def test_the_walk_is_that_of_a_person_with_a_ruler(seed):
    random = np.random.default_rng(seed)
    fits = [random.random((4, 3)) < 0.5, random.random((5, 2)) < 0.7]
    original = np.stack([random.integers(0, 4, 400), random.integers(0, 5, 400)], axis=1)
    release = np.stack([random.integers(0, 3, 250), random.integers(0, 2, 250)], axis=1)
    assert order(original, release, fits).success == naive_share(original, release, fits)


def test_an_empty_release_says_nothing():
    found = order(rows(1), np.zeros((0, 1), np.int64), [np.ones((2, 2), bool)])
    assert (found.targets, found.success, found.baseline) == (0, 0.0, 0.0)


def test_the_same_seed_gives_the_same_baseline():
    original = np.random.default_rng(1).integers(0, 9, (100, 1))
    same = [np.eye(9, dtype=bool)]
    assert order(original, original, same, seed=5) == order(original, original, same, seed=5)


def test_tables_that_do_not_fit_are_refused():
    with pytest.raises(KernelInputError):
        order(np.zeros((2, 2), np.int64), np.zeros((2, 1), np.int64), [np.ones((1, 1), bool)])
