"""Measures of sets against their definitions, on every kind of recoding."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.methods.transactions.tables import baskets, records_of
from tests.naive import set_measures as naive

from shoal.measures.transactions import frequent_sets, measures_of, query_error
from shoal.table.baskets import Baskets, SetRecoding


@st.composite
def recodings(draw) -> SetRecoding:
    """Draw a table and a global recoding of it, some of whose items are suppressed."""
    table = draw(baskets(least=2))
    items = len(table.items)
    heads = draw(st.lists(st.integers(0, 2), min_size=items, max_size=items))
    first = {group: heads.index(group) for group in set(heads)}
    head = np.array([first[group] for group in heads], dtype=np.int32)
    found = SetRecoding.of_partition(table, head)
    gone = draw(st.sets(st.sampled_from(range(max(len(found.labels), 1))), max_size=1))
    choice = np.where(np.isin(found.choice, [*gone]), -1, found.choice).astype(np.int32)
    return SetRecoding(table, found.labels, choice)


def as_naive(recoding: SetRecoding) -> list[dict[str, frozenset[str] | None]]:
    table = recoding.baskets
    found, place = [], 0
    for record in records_of(table):
        row = {}
        for item in sorted(record):
            label = int(recoding.choice[place])
            names = None
            if label >= 0:
                names = frozenset(table.items[i] for i in recoding.labels[label])
            row[table.items[item]] = names
            place += 1
        found.append(row)
    return found


def as_release(recoding: SetRecoding) -> tuple[Baskets, list[frozenset[str]]]:
    """Return the labels that a reader of the release sees, and what each may stand for."""
    starts, codes = recoding.released()
    used, codes = np.unique(codes, return_inverse=True)
    names = recoding.baskets.items
    stands = [frozenset(names[i] for i in recoding.labels[label]) for label in used.tolist()]
    labels = tuple(map(str, range(used.size)))
    return Baskets(labels, starts, codes.astype(np.int32)), stands


@settings(deadline=None, max_examples=80)
@given(recodings())
def test_losses_of_a_global_recoding_are_those_of_each_occurrence(recoding):
    table = recoding.baskets
    rows = as_naive(recoding)
    found = measures_of(table, *as_release(recoding))
    lost = naive.losses(rows, len(table.items))
    total = max(len(lost), 1)
    assert found["occurrences"] == len(lost)
    assert found["ncp"] == pytest.approx(sum(lost) / total)
    assert found["ncp"] == pytest.approx(recoding.ncp())
    assert found["kept_occurrences"] == pytest.approx(naive.kept(rows) / total)
    assert found["suppressed_occurrences"] == pytest.approx(naive.suppressed(rows) / total)


@settings(deadline=None, max_examples=60)
@given(recodings())
def test_utility_loss_counts_every_subset(recoding):
    found = measures_of(recoding.baskets, *as_release(recoding))["utility_loss"]
    if recoding.baskets.items:
        assert found == pytest.approx(
            naive.utility_loss(as_naive(recoding), recoding.baskets.items)
        )


@settings(deadline=None, max_examples=60)
@given(recodings())
def test_items_are_kept_or_suppressed_as_their_labels_say(recoding):
    release, stands = as_release(recoding)
    found = measures_of(recoding.baskets, release, stands)
    alone = {item for label in stands if len(label) == 1 for item in label}
    anywhere = {item for label in stands for item in label}
    assert found["kept_items"] == len(alone)
    assert found["suppressed_items"] == len(recoding.baskets.items) - len(anywhere)
    assert found["labels"] == len(stands)


@settings(deadline=None, max_examples=50)
@given(recodings())
def test_frequent_sets_that_are_seen_are_true_and_counted_once(recoding):
    table = recoding.baskets
    release, stands = as_release(recoding)
    code = {item: n for n, item in enumerate(table.items)}
    item_of = [code[next(iter(label))] if len(label) == 1 else -1 for label in stands]
    found = frequent_sets(table, release, item_of)
    names = [frozenset(table.items[i] for i in record) for record in records_of(table)]
    seen_names = [
        frozenset(item for label in cell if len(label) == 1 for item in label)
        for cell in naive.cells(as_naive(recoding))
    ]
    true, seen = naive.frequent(names, 1), naive.frequent(seen_names, 1)
    both = len(true.keys() & seen.keys())
    assert found["frequent_recall"] == (both / len(true) if true else None)
    assert found["frequent_precision"] == (both / len(seen) if seen else None)
    assert found["frequent_precision"] in (None, 1.0)  # of a global recoding nothing is invented


def test_the_error_of_a_query_is_that_of_a_reader_who_knows_the_labels():
    table = Baskets.of([["a", "b"]] * 4 + [["a"]] * 2 + [["b"]] * 2)
    head = np.array([0, 0], dtype=np.int32)
    recoding = SetRecoding.of_partition(table, head)
    release, stands = as_release(recoding)
    seen = naive.estimate(naive.cells(as_naive(recoding)), "a", "b")
    assert seen == 8 / 4
    found = query_error(table, release, [[0, 1]])
    assert found == pytest.approx(abs(4 - seen) / 4)
    assert stands == [frozenset("ab")]


@settings(deadline=None, max_examples=25)
@given(recodings(), st.integers(0, 3))
def test_the_error_of_queries_is_the_same_for_the_same_seed_and_bounded(recoding, seed):
    table = recoding.baskets
    release, stands = as_release(recoding)
    code = {item: n for n, item in enumerate(table.items)}
    plain = [sorted(code[item] for item in label) for label in stands]
    one = query_error(table, release, plain, seed=seed)
    assert one == query_error(table, release, plain, seed=seed)
    if one is None:
        assert all(len(record) < 2 for record in records_of(table))
    else:
        assert 0 <= one <= table.records  # a count of 1 that is taken for all records
    if one is not None and not release.codes.size:
        assert one == 1  # nothing is seen: each count is off by itself


def test_records_that_are_not_released_are_told():
    table = Baskets.of([["a"], ["b"], ["a"]])
    found = measures_of(table, Baskets.of([["a"], ["a"]]), [frozenset("a")], suppressed=1)
    assert found["suppressed_records"] == 1
    assert found["suppressed_items"] == 1
    assert found["suppressed_occurrences"] == pytest.approx(1 / 3)


def test_no_occurrence_at_all_loses_nothing():
    nothing = Baskets.of([[], []])
    found = measures_of(nothing, nothing, [])
    assert found["ncp"] == found["utility_loss"] == found["suppressed_occurrences"] == 0
    assert found["query_error"] is None
    assert found["top_sets"] is None
