import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.methods.clustering.tables import records, tables
from tests.naive import clustering_more as naive
from tests.naive.clustering import SCALE

from shoal.kernels.clustering_space import BRANCHES
from shoal.kernels.clustering_together import far_apart, grow_together
from shoal.methods.clustering.parallel import split
from shoal.methods.clustering.space import space_of


@settings(max_examples=40, deadline=None)
@given(table=tables(missing=True), k=st.integers(1, 5), seed=st.integers(0, 9),
       groups=st.integers(1, 4), short=st.sampled_from([0, 256]))  # fmt: skip
def test_seeds_and_clusters_are_the_papers(table, k, seed, groups, short):
    data, rows = records(table)
    if len(data) < k:
        return
    space = space_of(table.domains, short=short)
    chance = np.random.default_rng(seed)
    group = split(table, space.column[:, BRANCHES] == 1, groups=groups, chance=chance)[rows]
    order = np.argsort(group, kind="stable")
    data, group = [data[r] for r in order], group[order]
    codes = np.array(data, dtype=np.int32)
    first, number = int(chance.integers(len(data))), len(data) // k
    parts = [list(np.flatnonzero(group == g)) for g in range(int(group.max()) + 1)]
    seeds = far_apart(codes, group, space=space, number=number, first=first)
    expected = naive.far_apart(data, parts, number, first, domains=table.domains)
    assert list(seeds) == expected
    label = grow_together(codes, seeds, space=space, k=k)
    clusters, left = naive.together(data, expected, k, domains=table.domains)
    assert [list(np.flatnonzero(label == c)) for c in range(number)] == [
        sorted(cluster) for cluster in clusters
    ]
    assert list(np.flatnonzero(label < 0)) == left


@settings(max_examples=20, deadline=None)
@given(table=tables(sensitive=True, most=14), k=st.integers(1, 4))
def test_clusters_with_the_classification_penalty_are_the_papers(table, k):
    data, rows = records(table)
    if len(data) < k:
        return
    target = table.sensitive[rows, 0].astype(np.int64)
    seeds = np.arange(len(data) // k)
    label = grow_together(
        np.array(data, dtype=np.int32), seeds, space=space_of(table.domains), k=k, target=target,
        penalty=SCALE,
    )  # fmt: skip
    clusters, _ = naive.together(
        data, list(seeds), k, domains=table.domains, target=list(target), penalty=SCALE
    )
    for number, cluster in enumerate(clusters):
        assert list(np.flatnonzero(label == number)) == sorted(cluster)


@pytest.mark.parametrize("groups", [1, 3])
@settings(max_examples=15, deadline=None)
@given(table=tables())
def test_equal_rows_are_in_the_same_group(groups, table):
    tree = np.array([domain.tree is not None for domain in table.domains])
    group = split(table, tree, groups=groups, chance=np.random.default_rng(0))
    assert sorted(set(group)) == list(range(int(group.max()) + 1))
    assert group.max() < groups * groups
