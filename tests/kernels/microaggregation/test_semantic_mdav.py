"""MDAV for values with a meaning: the clusters of the text, piece by piece; guards."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.methods.microaggregation.mixed import as_records, by_tuple, columns, tables, twins_of
from tests.naive import semantic as naive

from shoal.core.errors import KernelInputError
from shoal.kernels.microaggregation.semantic_mdav import grow
from shoal.methods.microaggregation.semantic import semantics_of
from shoal.methods.microaggregation.smdav import distinct_tuples
from shoal.table.frequency import from_codes

LAW = settings(max_examples=30, deadline=None)
WAYS = [
    {"whole": True, "moving": True},
    {"whole": True, "moving": False},
    {"whole": True, "moving": True, "absorb": True},
    {"whole": False, "moving": True},
    {"whole": False, "moving": False, "generic": True},
]


def clusters_of(pieces):
    """Return sorted lists of (tuple, records); a tuple may stand twice in a cluster."""
    found = {}
    for row, label, records in pieces.tolist():
        sizes = found.setdefault(label, {})
        sizes[row] = sizes.get(row, 0) + records
    return sorted(sorted(sizes.items()) for sizes in found.values())


def ages(*records):
    """Return a table of one column of numbers (1, 2.5, 4, 9) with so many records each."""
    codes = np.flatnonzero(records).astype(np.int32).reshape(-1, 1)
    return from_codes((columns(False)["number"],), codes, np.array(records)[codes[:, 0]])


def grown(table, k, way):
    codes, counts = distinct_tuples(table)
    return grow(codes, counts, k=k, semantics=semantics_of(table.domains), **way)


@LAW
@given(table=tables(), k=st.integers(1, 6), moving=st.booleans(), absorb=st.booleans())
def test_whole_tuples_make_the_clusters_of_the_text(table, k, moving, absorb):
    twins, entries = twins_of(table)
    found = grown(table, k, {"whole": True, "moving": moving, "absorb": absorb})
    assert clusters_of(found) == by_tuple(
        naive.mdav(twins, entries, k, moving=moving, absorb=absorb)
    )


@LAW
@given(table=tables(), k=st.integers(1, 6), moving=st.booleans(), generic=st.booleans())
def test_divided_tuples_make_the_clusters_of_their_records(table, k, moving, generic):
    twins, entries = twins_of(table)
    moving = moving and not generic
    found = grown(table, k, {"whole": False, "moving": moving, "generic": generic})
    singles = as_records(entries)
    if generic:
        wanted = naive.mdav_generic(twins, singles, k)
    else:
        wanted = naive.mdav(twins, singles, k, moving=moving)
    assert clusters_of(found) == by_tuple(wanted)


@pytest.mark.parametrize("way", WAYS, ids=str)
@settings(max_examples=12, deadline=None)
@given(table=tables(), k=st.integers(1, 5))
def test_every_record_is_in_one_piece_and_every_cluster_has_k(way, table, k):
    codes, counts = distinct_tuples(table)
    before = counts.copy()
    pieces = grow(codes, counts, k=k, semantics=semantics_of(table.domains), **way)
    given_out = np.bincount(pieces[:, 0], weights=pieces[:, 2], minlength=len(counts))
    assert given_out.tolist() == counts.tolist() == before.tolist()
    assert (pieces[:, 2] > 0).all()
    if table.records >= k:
        sizes = np.bincount(pieces[:, 1], weights=pieces[:, 2])
        assert sizes[sizes > 0].min() >= k
    if way["whole"]:
        assert sorted(pieces[:, 0].tolist()) == list(range(len(counts)))


@pytest.mark.parametrize("way", WAYS, ids=str)
@pytest.mark.parametrize("k", [2, 3, 4])
def test_fewer_than_k_exactly_k_and_2k_minus_1_records_are_one_cluster(way, k):
    for records in (k - 1, k, 2 * k - 1):
        equal = grown(ages(records), k, way)
        assert set(equal[:, 1]) == {0}
        assert equal[:, 2].sum() == records
    distinct = grown(ages(*[1] * k), k, way)
    assert clusters_of(distinct) == [[(t, 1) for t in range(k)]]
    assert len(distinct) == k


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_with_k_1_every_tuple_is_alone_and_none_is_no_cluster(way):
    found = grown(ages(1, 1, 1, 1), 1, way)
    assert clusters_of(found) == [[(t, 1)] for t in range(4)]
    semantics = semantics_of((columns(False)["number"],))
    nothing = np.zeros((0, 1), np.int32), np.zeros(0, np.int64)
    assert grow(*nothing, k=1, semantics=semantics, **way).shape == (0, 3)


def test_equal_records_are_divided_only_where_tuples_may_be():
    table = ages(7)
    assert clusters_of(grown(table, 3, WAYS[0])) == [[(0, 7)]]
    assert clusters_of(grown(table, 3, WAYS[3])) == [[(0, 3)], [(0, 4)]]
    assert clusters_of(grown(table, 3, WAYS[4])) == [[(0, 3)], [(0, 4)]]


def test_small_clusters_are_dissolved_only_into_large_ones():
    split = ages(9, 1, 1, 9)  # 1, 2.5, 4 and 9: between two large tuples lies a small cluster
    apart, together = grown(split, 2, WAYS[0]), grown(split, 2, WAYS[2])
    assert clusters_of(apart) == [[(0, 9)], [(1, 1), (2, 1)], [(3, 9)]]
    assert clusters_of(together) == clusters_of(apart)  # they are nearer to each other
    small = ages(1, 1, 1, 1)
    assert clusters_of(grown(small, 2, WAYS[0])) == clusters_of(grown(small, 2, WAYS[2]))


def test_what_compiled_code_must_not_see_is_refused():
    codes, counts = np.zeros((2, 1), np.int32), np.ones(2, np.int64)
    semantics = semantics_of((columns(False)["number"],))
    for bad, records in (
        (codes, counts[:1]),
        (np.zeros((2, 2), np.int32), counts),
        (codes, counts * 2**31),
    ):
        with pytest.raises(KernelInputError):
            grow(bad, records, k=1, semantics=semantics, whole=True, moving=True)
