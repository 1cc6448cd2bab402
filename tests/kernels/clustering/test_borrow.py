"""Borrowing by one cluster: the cheapest step, what it costs, and taking it back."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.methods.clustering.tables import domains, of_persons
from tests.naive import borrow as naive
from tests.naive.cuts import Losses

from shoal.core.errors import KernelInputError
from shoal.kernels.clustering.borrow import BORROW, NEVER, SHARE_OUT, Line
from shoal.kernels.clustering.losses import packed
from shoal.methods.clustering.space import space_of
from shoal.table.frequency import join_rows


def line_of(table, seed, k):
    """Put every record of a table into one of four clusters; return it, and each record's row."""
    row = np.repeat(np.arange(table.rows), table.counts)
    label = np.random.default_rng(seed).integers(0, 4, len(row))
    label = np.unique(label, return_inverse=True)[1].astype(np.int64)
    line = Line.of(
        table.codes[row], np.ones(len(row), dtype=np.int64), label, table.persons[row],
        losses=packed(space_of(table.domains)), k=k, window=9,
    )  # fmt: skip
    return replace(line, lend=99), row


def clusters_of(table, row, label, number=None):
    """Return clusters as the naive twin has them."""
    found = [[] for _ in range(number or int(label.max()) + 1)]
    for i, (r, group) in enumerate(zip(row, label, strict=True)):
        who = int(table.persons[r])
        person = None if who == -2 else ("single", i) if who == -1 else who
        found[group].append((tuple(int(code) for code in table.codes[r]), person))
    return found


def total(losses, clusters):
    return sum(len(c) * losses.box([codes for codes, _ in c]) for c in clusters if c)


@settings(max_examples=150, deadline=None)
@given(table=of_persons(most=12), seed=st.integers(0, 99), k=st.integers(1, 4))
def test_one_missing_person_is_borrowed_at_the_least_cost(table, seed, k):
    line, row = line_of(table, seed, k)
    before = clusters_of(table, row, line.label)
    losses = Losses(table.domains)
    for a, mine in enumerate(before):
        if len(naive.people(mine)) != k - 1:
            continue
        cost, moves = line.change(a, BORROW)
        wanted = naive.cheapest_step(losses, before, a, k)
        assert cost == (NEVER if wanted is None else wanted)
        if wanted is not None:
            after = clusters_of(table, row, line.label)
            assert total(losses, after) - total(losses, before) == cost
            assert len(naive.people(after[a])) == k
        line.take_back(moves)
        assert clusters_of(table, row, line.label) == before


@settings(max_examples=80, deadline=None)
@given(table=of_persons(), seed=st.integers(0, 99), k=st.integers(1, 5))
def test_a_change_costs_what_it_says_and_can_be_made_again(table, seed, k):
    line, row = line_of(table, seed, k)
    before = clusters_of(table, row, line.label)
    losses = Losses(table.domains)
    for a, how in [(a, how) for a in range(len(before)) for how in (BORROW, SHARE_OUT)]:
        cost, moves = line.change(a, how)
        label = line.label.copy()
        if cost < NEVER:
            after = clusters_of(table, row, label, len(before))
            assert total(losses, after) - total(losses, before) == cost
            for b, mine in enumerate(after):
                had = len(naive.people(before[b]))
                assert b == a or len(naive.people(mine)) >= min(k, had)
            if how == SHARE_OUT:
                assert a not in label.tolist()
        touched = line.touched(a, moves)
        assert set(touched.tolist()) <= set(label.tolist())
        line.take_back(moves)
        assert clusters_of(table, row, line.label) == before
        line.make(moves)
        assert line.label.tolist() == label.tolist()
        line.take_back(moves)


def test_arrays_that_do_not_fit_are_refused():
    codes, label = np.zeros((6, 1), dtype=np.int32), np.zeros(6, dtype=np.int64)
    losses, singles = np.zeros(64, dtype=np.int32), np.full(6, -1, dtype=np.int32)
    for records, persons, words in (
        (np.ones(5, dtype=np.int64), singles, "fit each other"),
        (np.ones(6, dtype=np.int64), singles.astype(np.int64), "int32"),
        (np.ones(6), singles, "int64"),
    ):
        with pytest.raises(KernelInputError, match=words):
            Line.of(codes, records, label, persons, losses=losses, k=2, window=2)


def test_members_are_those_of_the_clusters_that_are_asked_for():
    table, _ = join_rows(
        (domains()[0],), np.arange(5, dtype=np.int32)[:, None], np.ones(5, dtype=np.int64),
        persons=np.full(5, -1, dtype=np.int32),
    )  # fmt: skip
    line = Line.of(
        table.codes, table.counts, np.array([0, 1, 1, 2, 2]), table.persons,
        losses=packed(space_of(table.domains)), k=2, window=2,
    )  # fmt: skip
    piece, label = line.members(np.array([2, 0]))
    assert sorted(zip(label.tolist(), piece.tolist(), strict=True)) == [(0, 3), (0, 4), (1, 0)]
