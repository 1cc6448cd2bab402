"""What every clustering method must keep, whatever the table and the promise."""

import tracemalloc
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.methods.calls import (
    bestcut,
    kaca,
    kmember,
    kmember_parallel,
    oka,
    refine,
    threshold,
    wfcm,
)
from tests.methods.clustering.tables import check_release, tables

from shoal.hierarchies.tree import Hierarchy
from shoal.privacy import AlphaKAnonymity, KAnonymity, LDiversity, TCloseness
from shoal.schema.schema import Kind
from shoal.table.domain import line_domain, tree_domain
from shoal.table.frequency import from_codes

METHODS = [bestcut, kaca, kmember, kmember_parallel, oka, refine, threshold, wfcm]
every_method = pytest.mark.parametrize("method", METHODS, ids=lambda m: m.__name__)


@every_method
@settings(max_examples=25, deadline=None)
@given(table=tables(missing=True), k=st.integers(1, 6))
def test_every_class_has_k_records(method, table, k):
    if table.records >= k:
        check_release(method(table, [KAnonymity(k)]), k)


@every_method
@settings(max_examples=15, deadline=None)
@given(table=tables(sensitive=True), k=st.integers(1, 4))
def test_every_class_is_diverse_if_the_whole_table_is(method, table, k):
    if table.records >= k and len(np.unique(table.sensitive)) >= 2:
        release = method(table, [KAnonymity(k), LDiversity(2, column="disease")])
        check_release(release, k, values=2)
        assert release.suppressed == 0


@every_method
@settings(max_examples=8, deadline=None)
@given(table=tables(sensitive=True))
def test_other_promises_are_kept_too(method, table):
    for model in (
        TCloseness(0.3, column="disease"), AlphaKAnonymity(0.8, 2, column="disease")
    ):  # fmt: skip
        release = method(table, [model])
        whole = np.bincount(table.sensitive[:, 0], weights=table.counts, minlength=3)
        kept = release.label >= 0
        for group in range(release.classes):
            mine = kept & (release.label == group)
            values = table.sensitive[release.row[mine], 0]
            shares = np.bincount(values, weights=release.count[mine], minlength=3)
            shares = shares / shares.sum()
            if isinstance(model, TCloseness):
                assert abs(shares - whole / whole.sum()).sum() / 2 <= 0.3 + 1e-9
            else:
                assert shares.max() <= 0.8


def numbers(rows, columns, distinct, seed=0):
    """Return a table of numeric columns."""
    chance = np.random.default_rng(seed)
    places = [float(x) for x in range(distinct)]
    labels = [str(x) for x in range(distinct)]
    domains = tuple(line_domain(f"c{j}", Kind.NUMERIC, labels, places) for j in range(columns))
    codes = chance.integers(0, distinct, (rows, columns)).astype(np.int32)
    return from_codes(domains, codes, np.ones(rows, dtype=np.int64))


@every_method
def test_equal_records_lose_nothing(method):
    table = numbers(12, 2, 1)
    release = method(table, [KAnonymity(5)])
    assert (release.low == release.high).all()
    assert release.suppressed == 0


@every_method
@pytest.mark.parametrize("n", [5, 9, 10, 11])
def test_around_k_records(method, n):
    release = method(numbers(n, 2, 50), [KAnonymity(5)])
    check_release(release, 5)
    assert release.suppressed == 0


@every_method
@pytest.mark.parametrize("columns", [1, 40])
def test_one_column_and_forty(method, columns):
    check_release(method(numbers(120, columns, 30), [KAnonymity(4)]), 4)


@cache
def very_many_values():
    """Return a tree of 100,000 leaves and a line of as many numbers."""
    labels = [f"{x:06d}" for x in range(100_000)]
    tree = Hierarchy.from_rows("zip", [(x, x[:4], x[:2], "*") for x in labels])
    zips = tree_domain("zip", Kind.CATEGORICAL, labels, tree, missing=False, weight=1.0)
    return zips, line_domain("age", Kind.NUMERIC, labels, [float(x) for x in labels])


def drawn_from_very_many(rows):
    codes = np.random.default_rng(0).integers(0, 100_000, (rows, 2)).astype(np.int32)
    return from_codes(very_many_values(), codes, np.ones(rows, dtype=np.int64))


@every_method
def test_a_column_with_very_many_values(method):
    check_release(method(drawn_from_very_many(300), [KAnonymity(5)]), 5)


@every_method
def test_memory_does_not_grow_with_the_square_of_the_rows(method):
    table = drawn_from_very_many(3_000)
    method(numbers(60, 2, 50), [KAnonymity(5)])  # compiles
    tracemalloc.start()
    check_release(method(table, [KAnonymity(50)]), 50)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 60_000_000  # a square of the rows is 72 MB


@every_method
def test_records_that_are_all_distinct_in_every_column(method):
    table = numbers(1, 3, 60)
    codes = np.stack([np.random.default_rng(j).permutation(60) for j in range(3)], axis=1)
    table = from_codes(table.domains, codes.astype(np.int32), np.ones(60, dtype=np.int64))
    check_release(method(table, [KAnonymity(7)]), 7)


@pytest.mark.parametrize("method", [kmember, kmember_parallel, oka, refine, threshold, wfcm])
def test_same_seed_same_classes(method):
    table = numbers(400, 3, 40)
    first, second = (method(table, [KAnonymity(4)], seed=7) for _ in range(2))
    for name in ("low", "high", "row", "label", "count"):
        assert (getattr(first, name) == getattr(second, name)).all()
