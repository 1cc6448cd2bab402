import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.methods.calls import kmember
from tests.methods.clustering.tables import (
    check_release,
    disease,
    domains,
    groups_of,
    groups_of_members,
    records,
    tables,
)
from tests.methods.clustering.test_laws import numbers
from tests.naive import clustering as naive

from shoal.core.errors import MethodError
from shoal.methods.clustering.clusters import place_by_class, place_leftovers
from shoal.methods.clustering.kmember import grown, row_of_record
from shoal.methods.clustering.space import space_of
from shoal.privacy import KAnonymity
from shoal.table.frequency import from_codes


def fast(table, k, seed, short, classes=None, penalty=0):
    space = space_of(table.domains, short=short)
    chance = np.random.default_rng(seed)
    first = row_of_record(table, int(chance.integers(table.records)))
    clusters = grown(table, space, k=k, first=first, classes=classes, penalty=penalty)
    turns = chance.permutation(int(clusters.records[clusters.label < 0].sum()))
    if classes is None:
        return place_leftovers(clusters, table.codes, space, turns=turns)
    return place_by_class(
        clusters, table.codes, space, turns=turns, classes=classes, penalty=penalty
    )


@settings(max_examples=60, deadline=None)
@given(table=tables(missing=True), k=st.integers(1, 6), seed=st.integers(0, 9),
       short=st.sampled_from([0, 256]))  # fmt: skip
def test_fast_clusters_are_the_papers_clusters(table, k, seed, short):
    data, rows = records(table)
    expected = naive.kmember(data, rows, k, domains=table.domains, seed=seed)
    assert groups_of_members(*fast(table, k, seed, short)) == groups_of(expected, rows)


@settings(max_examples=60, deadline=None)
@given(table=tables(sensitive=True), k=st.integers(1, 5), seed=st.integers(0, 9))
def test_classification_penalty_gives_the_papers_clusters(table, k, seed):
    data, rows = records(table)
    classes = table.sensitive[:, 0]
    expected = naive.kmember(
        data, rows, k, domains=table.domains, seed=seed,
        target=[int(classes[r]) for r in rows], penalty=naive.SCALE,
    )  # fmt: skip
    found = fast(table, k, seed, 256, classes=classes, penalty=naive.SCALE)
    assert groups_of_members(*found) == groups_of(expected, rows)


def test_the_cm_penalty_is_for_records_that_would_cause_suppression_too():
    line, place, sex = domains()
    # Seed: (0, a, m). One record of another class differs in all but one column; one of the
    # same class in all of them, so that with it every cell of the cluster would be the root.
    codes = np.array([[0, 0, 0], [5, 0, 2], [5, 5, 2]], dtype=np.int32)
    table = from_codes(
        (line, place, sex), codes, np.array([1, 1, 1]), sensitive_domains=(disease(),),
        sensitive=np.array([[0], [1], [0]], dtype=np.int32),
    )  # fmt: skip
    space = space_of(table.domains)
    first = int(np.flatnonzero((table.codes == codes[2]).all(axis=1))[0])
    found = grown(table, space, k=2, first=first, classes=table.sensitive[:, 0],
                  penalty=3 * naive.SCALE)  # fmt: skip
    cluster = table.codes[found.row[found.label == 0]].tolist()
    assert sorted(cluster) == [[0, 0, 0], [5, 0, 2]]


@settings(max_examples=30, deadline=None)
@given(table=tables(), k=st.integers(1, 6))
def test_every_class_has_k_records(table, k):
    check_release(kmember(table, [KAnonymity(k)]), k if table.records >= k else 0)


def test_classification_penalty_needs_a_target():
    nothing = np.zeros((1, 3), dtype=np.int32)
    table = from_codes(domains(), nothing, np.array([4], dtype=np.int64))
    with pytest.raises(MethodError, match="--target"):
        kmember(table, [KAnonymity(2)], cm=True)


def test_the_penalty_needs_no_memory_for_pairs_of_rows_and_clusters():
    for size, distinct in ((61, 50), (6_001, 3_000)):  # the first one compiles
        table = numbers(size, 2, distinct)
        classes = (np.arange(table.rows) % 2).astype(np.int32)
        tracemalloc.start()
        found = fast(table, 2, 0, 256, classes=classes, penalty=naive.SCALE)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert np.bincount(found.label, weights=found.records).min() >= 2
    assert peak < 40_000_000  # a number for each pair takes 144 MB
