"""The local search as a kernel: what it refuses, how it numbers persons, and what it never does."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.methods.clustering.tables import domains

from shoal.core.errors import KernelInputError
from shoal.kernels.clustering.losses import packed
from shoal.kernels.clustering.refine import Pieces, improve, linked, stamped
from shoal.methods.arrays import promise_of
from shoal.methods.clustering.space import space_of
from shoal.privacy import KAnonymity
from shoal.table.frequency import from_codes

COLUMNS = domains()
TABLE = from_codes(COLUMNS, np.zeros((1, 3), dtype=np.int32), np.ones(1, dtype=np.int64))
LOSSES = packed(space_of(COLUMNS))


def pieces_of(codes, persons=None):
    cells = np.array(codes, dtype=np.int32).reshape(-1, 3)
    return Pieces(
        cells, np.ones(len(cells), dtype=np.int64), np.zeros((len(cells), 0), dtype=np.int32),
        None if persons is None else np.array(persons, dtype=np.int32),
    )  # fmt: skip


def improved(pieces, label, k, **words):
    turns = np.tile(np.arange(len(label)), 2)
    return improve(
        pieces, label, losses=LOSSES, promise=promise_of([KAnonymity(k)], TABLE), turns=turns,
        slack=np.zeros(len(turns), dtype=np.int64), window=9, **words,
    )  # fmt: skip


def test_two_records_change_places_and_two_of_one_person_do_not():
    codes = [(0, 0, 0), (5, 5, 2), (0, 0, 0), (5, 5, 2)]
    label = np.array([0, 0, 1, 1])
    assert improved(pieces_of(codes), label, 2) > 0
    assert label[0] == label[2] != label[1] == label[3]
    label = np.array([0, 0, 1, 1])
    assert improved(pieces_of(codes, [0, 1, 0, 1]), label, 2) == 0
    assert label.tolist() == [0, 0, 1, 1]


def test_a_record_of_nobody_is_no_person():
    codes = [(0, 0, 0), (0, 0, 0), (5, 5, 2), (5, 5, 2), (0, 0, 0)]
    label = np.array([0, 0, 1, 1, 1])
    improved(pieces_of(codes, [-1, -1, -1, -2, -1]), label, 2)
    assert len({(a, i) for i, a in enumerate(label.tolist()) if i in (0, 1, 2, 4)}) == 4
    for group in set(label.tolist()):
        assert sum(a == group for i, a in enumerate(label.tolist()) if i != 3) >= 2


def test_persons_are_numbered_anew_and_what_is_no_person_stays():
    people = stamped(np.array([7, -1, 7, 900, -2], dtype=np.int32))
    assert people[0, :-1].tolist() == [0, -1, 0, 1, -2]
    assert people[1].tolist() == [0] * 6


def test_some_pieces_keep_their_persons():
    some = pieces_of([(0, 0, 0), (1, 1, 1)], [3, -1]).at(np.array([1]))
    assert (some.codes.tolist(), some.persons.tolist()) == ([[1, 1, 1]], [-1])
    assert pieces_of([(0, 0, 0)]).at(np.array([0])).persons is None


@settings(max_examples=50, deadline=None)
@given(label=st.lists(st.integers(0, 3), min_size=1, max_size=9))
def test_every_piece_is_linked_to_those_of_its_cluster(label):
    links = np.zeros((len(label), 4), dtype=np.int64)
    links[:, 1] = label
    heads = linked(links, 5)
    for group in range(5):
        found, piece = [], int(heads[group])
        while piece >= 0:
            found.append(piece)
            piece = int(links[piece, 2])
        assert sorted(found) == [i for i, mine in enumerate(label) if mine == group]


def test_arrays_that_do_not_fit_are_refused():
    pieces = pieces_of([(0, 0, 0), (1, 1, 1)])
    with pytest.raises(KernelInputError, match="outside its range"):
        improved(pieces, np.array([0, -1]), 1)
    with pytest.raises(KernelInputError, match="int64"):
        improved(pieces, np.array([0, 0], dtype=np.int32), 1)
    with pytest.raises(KernelInputError, match="fit each other"):
        improved(pieces, np.array([0, 0, 0]), 1)
