"""Clusters, chunks and what is left over: against the definition, set by set."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.methods.transactions.tables import baskets, records_of
from tests.naive import itemsets as naive

from shoal.core.errors import NoSolutionError
from shoal.methods.transactions.disassociation import alike, disassociated
from shoal.table.baskets import Baskets


def shown(found: Baskets, cluster) -> list[list[frozenset[str]]]:
    """Return the sub-records of each chunk of a cluster."""
    records = records_of(found)
    return [
        [frozenset(found.items[i] for i in records[row] & set(chunk)) for row in cluster.rows]
        for chunk in cluster.chunks
    ]


@settings(max_examples=60, deadline=None)
@given(baskets(least=6), st.integers(2, 4), st.sampled_from([1, 2, 3, None]), st.integers(4, 12))
def test_every_cluster_keeps_the_promise_and_loses_no_item(found, k, m, most):
    clusters = disassociated(found, k=k, m=m, most=most)
    assert sorted(row for c in clusters for row in c.rows) == list(range(found.records))
    longest = max(map(len, records_of(found)), default=1)
    for cluster in clusters:
        assert cluster.rows.size >= k
        parts = [*cluster.chunks, cluster.rest]
        there = set().union(*(records_of(found)[row] for row in cluster.rows))
        assert sorted(item for part in parts for item in part) == sorted(there)
        chunks = shown(found, cluster)
        for chunk in chunks:
            least = naive.rarest(chunk, m)
            assert least == 0 or least >= k
        if len(chunks) > 1 and not cluster.rest:
            known = min(longest if m is None else m, len(chunks))
            told = sum(bool(record) for chunk in chunks for record in chunk)
            assert told >= cluster.rows.size + k * (known - 1)


@settings(max_examples=40, deadline=None)
@given(baskets(least=6), st.integers(2, 4))
def test_whatever_is_known_fits_k_records_of_some_reconstruction(found, k):
    """Any two items of a record can be put together in k records, by what is told."""
    for cluster in disassociated(found, k=k, m=2, most=8):
        chunks = shown(found, cluster)
        held = {
            found.items[i]: {i in records_of(found)[row] for row in cluster.rows}
            for i in cluster.rest
        }
        records = [records_of(found)[row] for row in cluster.rows]
        for record in records:
            names = [found.items[item] for item in record]
            for one, two in combinations(names, 2):
                if one in held or two in held:
                    continue  # which record has it is not told: any of the cluster, k at least
                own = [next(c for c in chunks if any(i in r for r in c)) for i in (one, two)]
                if own[0] is own[1]:
                    assert sum({one, two} <= r for r in own[0]) >= k
                else:  # sub-records can be lined up freely
                    assert (
                        min(sum(i in r for r in c) for i, c in zip((one, two), own, strict=True))
                        >= k
                    )


def test_clusters_are_cut_by_the_commonest_item_and_never_below_k():
    rows = [["a", "b"]] * 6 + [["a"]] * 6 + [["c"]] * 3
    found = Baskets.of(rows)
    assert sorted(map(len, alike(found, k=3, most=6))) == [3, 6, 6]
    assert [len(c) for c in alike(found, k=8, most=2)] == [15]


def test_rare_combinations_are_not_linked():
    rows = [["a", "b"]] * 2 + [["a"]] * 4 + [["b"]] * 4
    (cluster,) = disassociated(Baskets.of(rows), k=3, m=2, most=100)
    assert len(cluster.chunks) == 1  # a and b cannot stand in one chunk, and one is left over
    assert len(cluster.rest) == 1
    assert np.array_equal(cluster.rows, np.arange(10))


def test_fewer_records_than_k():
    with pytest.raises(NoSolutionError, match="1 records are fewer"):
        disassociated(Baskets.of([["a"]]), k=2, m=2, most=10)
