"""Releases laid over each other: the meet, certain values, and what a release tells of classes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.naive.composition import certain, fillings, meet_sizes

from shoal.core.errors import KernelInputError
from shoal.measures.composition import ABSENT, UNKNOWN, Candidates, Meet, certain_values

ROWS = st.integers(1, 3).flatmap(
    lambda releases: st.lists(st.tuples(*[st.integers(-1, 3)] * releases), min_size=1, max_size=25)
)


@given(ROWS, st.data())
@settings(max_examples=150, deadline=None)
def test_the_meet_and_certain_values_are_those_of_the_naive_twin(rows, data):
    values = data.draw(st.lists(st.integers(0, 4), min_size=len(rows), max_size=len(rows)))
    classes = np.array(rows, dtype=np.int64)
    meet = Meet.of(classes)
    sizes = [None if c == ABSENT else int(meet.sizes[c]) for c in meet.cell]
    assert sizes == meet_sizes(rows)
    for k in (1, 2, 3, 5):
        assert meet.below(k) == sum(size is not None and size < k for size in sizes)
    found = certain_values(classes, np.array(values, dtype=np.int64))
    assert found.tolist() == certain(rows, values)


def test_a_person_counts_once_in_a_cell_and_nobody_not_at_all():
    classes = np.zeros((6, 2), dtype=np.int64)
    classes[4:] = 1
    meet = Meet.of(classes, np.array([7, 7, 8, -1, 7, -1], dtype=np.int64))
    assert meet.sizes.tolist() == [4, 2]
    assert meet.people.tolist() == [2, 1]
    assert [meet.below(k) for k in (1, 2, 3)] == [0, 2, 6]


def test_a_class_that_cannot_be_told_is_in_no_cell():
    classes = np.array([[1, 1], [1, UNKNOWN], [1, 1], [ABSENT, ABSENT]], dtype=np.int64)
    meet = Meet.of(classes)
    assert meet.unknown == 1
    assert meet.cell.tolist() == [0, UNKNOWN, 0, ABSENT]
    assert meet.sizes.tolist() == [2]
    values = np.zeros(4, dtype=np.int64)
    assert certain_values(classes, values).tolist() == [True, False, True, False]


def test_many_cells_are_compared_block_by_block(monkeypatch):
    rng = np.random.default_rng(0)
    classes, values = rng.integers(-1, 6, (300, 2)), rng.integers(0, 5, 300)
    whole = certain_values(classes, values)
    monkeypatch.setattr("shoal.measures.composition._BLOCK", 7)
    assert certain_values(classes, values).tolist() == whole.tolist()
    assert whole.tolist() == certain([tuple(row) for row in classes.tolist()], values.tolist())


def candidates_of(records, fits, sizes, may_be_absent, is_cut=None):
    starts = np.concatenate(([0], np.cumsum([len(each) for each in fits]))).astype(np.int64)
    return Candidates(
        records=np.array(records, dtype=np.int64),
        starts=starts,
        cells=np.array([cell for each in fits for cell in each], dtype=np.int64),
        sizes=np.array(sizes, dtype=np.int64),
        may_be_absent=may_be_absent,
        is_cut=np.zeros(len(records), dtype=bool) if is_cut is None else np.array(is_cut),
    )


@st.composite
def filled(draw):
    """Draw a true filling, and what somebody sees of it: which cells each group fits.

    The records of a group look alike, but need not be in the same cell.
    """
    cells = draw(st.integers(1, 4))
    groups = draw(st.lists(st.sets(st.integers(0, cells - 1), max_size=3), min_size=1, max_size=4))
    fits = [sorted(group) for group in groups]
    may_be_absent = draw(st.booleans()) or any(not each for each in fits)
    records, true = [], []
    for each in fits:
        records.append(draw(st.integers(1, 2)))
        places = st.sampled_from([*each, -1] if may_be_absent else each)
        true += [draw(places) for _ in range(records[-1])]
    sizes = [true.count(cell) for cell in range(cells)]
    return records, fits, sizes, -1 in true


@given(filled(), st.booleans())
@settings(max_examples=300, deadline=None)
def test_what_is_told_is_so_in_every_filling(drawn, some_are_cut):
    records, fits, sizes, may_be_absent = drawn
    is_cut = [some_are_cut and len(each) > 1 for each in fits]
    # Of a group that is cut, the last cell that it fits is not named.
    shown = [each[:-1] if cut else each for each, cut in zip(fits, is_cut, strict=True)]
    told = candidates_of(records, shown, sizes, may_be_absent, is_cut).told().tolist()
    single = [each for each, number in zip(fits, records, strict=True) for _ in range(number)]
    group_of = np.repeat(np.arange(len(records)), records).tolist()
    possible = list(fillings(single, sizes, may_be_absent))
    assert possible
    for record, group in enumerate(group_of):
        if told[group] != UNKNOWN:
            assert {filling[record] for filling in possible} == {told[group]}


def test_a_group_that_fits_one_cell_is_in_it_and_frees_the_others():
    told = candidates_of([2, 1], [[0], [0, 1]], [2, 1], may_be_absent=False).told()
    assert told.tolist() == [0, 1]


def test_where_records_are_left_out_only_full_cells_tell():
    # The first cell has room for both that fit it; the second for one of two, nobody knows which.
    told = candidates_of([2, 1, 1, 1], [[0], [0], [1], [1]], [3, 1], may_be_absent=True).told()
    assert told.tolist() == [0, 0, UNKNOWN, UNKNOWN]


@pytest.mark.parametrize(
    ("records", "fits", "sizes", "may_be_absent"),
    [
        ([2], [[0]], [3], False),  # a cell that nothing can fill
        ([1, 1], [[0], []], [1], False),  # a record that fits nowhere, though all are released
        ([3], [[0]], [2], False),  # more than the cell has
    ],
)
def test_a_release_of_another_table_is_noticed(records, fits, sizes, may_be_absent):
    with pytest.raises(KernelInputError, match="cannot hold just what fits"):
        candidates_of(records, fits, sizes, may_be_absent).told()
