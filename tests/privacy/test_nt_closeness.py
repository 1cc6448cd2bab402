"""(n,t)-closeness: any set of n records around a class may serve, and merging may break it."""

from __future__ import annotations

from tests.privacy.classes import TREE, class_of

from shoal.privacy import (
    NTCloseness,
    Reference,
    TCloseness,
)


def test_nt_closeness_of_a_large_class_always_holds():
    assert NTCloseness(3, 0).holds(class_of([3, 0], Reference([3, 9])))


def test_nt_closeness_tries_the_whole_table_and_every_superset_of_n_records():
    table = Reference([10, 10])
    assert not NTCloseness(5, 0.3).holds(class_of([2, 0], table))
    assert NTCloseness(5, 0.3).holds(class_of([2, 0], table, [(5, [4, 1])]))
    # A closer set that is too small does not count.
    assert not NTCloseness(5, 0.3).holds(class_of([2, 0], table, [(3, [3, 0])]))
    assert NTCloseness(5, 0.5).holds(class_of([2, 0], table))


def test_nt_closeness_fails_in_a_table_of_fewer_than_n_records():
    summary = class_of([1, 1], Reference([2, 2]))
    assert NTCloseness(5, 1).measure(summary) == 1
    assert not NTCloseness(5, 1).holds(summary)


def test_nt_closeness_with_n_of_the_whole_table_is_t_closeness():
    table = Reference([4, 3, 3], **TREE)
    for histogram in ([1, 1, 0], [0, 0, 2], [3, 0, 1]):
        summary = class_of(histogram, table)
        for distance in ("equal", "ordered", "hierarchical", "chi2"):
            expected = TCloseness(0.2, distance).measure(summary)
            assert NTCloseness(10, 0.2, distance=distance).measure(summary) == expected


def test_merging_can_break_nt_closeness_so_it_is_not_called_monotone():
    # Each class is like its own neighbourhood; their union is like neither, nor the table.
    table, model = Reference([101, 1001]), NTCloseness(100, 0.3)
    assert model.holds(class_of([1, 0], table, [(101, [101, 0])]))
    assert model.holds(class_of([0, 1], table, [(1001, [0, 1001])]))
    both = class_of([1, 1], table, [(102, [101, 1]), (1002, [1, 1001])])
    assert not model.holds(both)
    assert not model.monotone
