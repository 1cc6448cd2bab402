import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.methods.calls import bestcut
from tests.methods.clustering.tables import check_release, disease, records, tables
from tests.methods.clustering.test_laws import numbers
from tests.naive import cuts as naive

from shoal.core.errors import KernelInputError
from shoal.hierarchies.tree import Hierarchy
from shoal.kernels.clustering import bestcut as kernel
from shoal.kernels.clustering.losses import packed
from shoal.methods.arrays import promise_of
from shoal.methods.clustering.space import space_of
from shoal.privacy import KAnonymity, LDiversity
from shoal.schema.schema import Kind
from shoal.table.domain import tree_domain
from shoal.table.frequency import from_codes


def cut(table, models, **options):
    losses = packed(space_of(table.domains))
    promise = promise_of(models, table)
    return kernel.cut(
        table.codes, table.counts, table.sensitive, losses=losses, promise=promise, **options
    )


def classes(found):
    return [np.flatnonzero(found.label == c).tolist() for c in range(len(found.low))]


def plain(table):
    return [tuple(int(c) for c in row) for row in table.codes], table.counts.tolist()


@settings(max_examples=60, deadline=None)
@given(table=tables(missing=True), k=st.integers(1, 6))
def test_the_naive_twin_makes_the_same_cuts(table, k):
    data, counts = plain(table)
    twin = naive.bestcut(data, counts, k, domains=table.domains)
    assert classes(cut(table, [KAnonymity(k)], sample=10**6)) == twin


@settings(max_examples=30, deadline=None)
@given(table=tables(sensitive=True), k=st.integers(1, 4), values=st.integers(2, 3))
def test_the_twin_makes_the_same_cuts_under_a_promise(table, k, values):
    data, counts = plain(table)

    def holds(rows):
        return len({int(table.sensitive[r, 0]) for r in rows}) >= values

    twin = naive.bestcut(data, counts, k, domains=table.domains, holds=holds)
    models = [KAnonymity(k), LDiversity(values, column="disease")]
    assert classes(cut(table, models, sample=10**6)) == twin


@st.composite
def deep_tables(draw, most=40):
    """Draw tables whose columns lose nothing until a class is deep down in a hierarchy."""
    texts = [f"{i:05b}" for i in range(32)]
    rows = [tuple(t[: 5 - cut] + "*" * cut for cut in range(6)) for t in texts]
    tree = Hierarchy.from_rows("zip", rows)
    columns = [
        tree_domain(name, Kind.CATEGORICAL, texts, tree, missing=False, weight=1.0)
        for name in ("zip", "birth")
    ]
    n = draw(st.integers(16, most))
    cells = draw(st.lists(st.integers(0, 31), min_size=2 * n, max_size=2 * n))
    values = draw(st.lists(st.integers(0, 2), min_size=n, max_size=n))
    return from_codes(
        columns, np.array(cells, dtype=np.int32).reshape(n, 2), np.ones(n, dtype=np.int64),
        sensitive_domains=(disease(),), sensitive=np.array(values, dtype=np.int32).reshape(n, 1),
    )  # fmt: skip


@settings(max_examples=40, deadline=None)
@given(table=deep_tables(), k=st.integers(1, 4), values=st.integers(1, 3))
def test_where_no_cut_gains_much_the_twin_separates_the_same_pairs(table, k, values):
    data, counts = plain(table)

    def holds(rows):
        return len({int(table.sensitive[r, 0]) for r in rows}) >= values

    models = [KAnonymity(k), *([LDiversity(values, column="disease")] if values > 1 else [])]
    twin = naive.bestcut(data, counts, k, domains=table.domains, holds=holds)
    assert classes(cut(table, models, sample=10**6)) == twin


def test_separating_pairs_makes_a_difference():
    chance = np.random.default_rng(0)
    texts = [f"{i:06b}" for i in range(64)]
    tree = Hierarchy.from_rows(
        "zip", [tuple(t[: 6 - cut] + "*" * cut for cut in range(7)) for t in texts]
    )
    columns = [
        tree_domain(name, Kind.CATEGORICAL, texts, tree, missing=False, weight=1.0)
        for name in ("zip", "birth", "town")
    ]
    codes = chance.integers(0, 64, (120, 3)).astype(np.int32)
    table = from_codes(columns, codes, np.ones(120, dtype=np.int64))
    data, counts = plain(table)
    one_ahead = naive.bestcut(data, counts, 2, domains=columns, with_pairs=False)
    found = classes(cut(table, [KAnonymity(2)], sample=10**6))
    assert found == naive.bestcut(data, counts, 2, domains=columns)
    assert found != one_ahead


@settings(max_examples=40, deadline=None)
@given(table=tables(most=40), k=st.integers(1, 3), sample=st.integers(2, 8))
def test_a_sample_decides_where_to_cut_never_whether_it_may(table, k, sample):
    found = cut(table, [KAnonymity(k)], sample=sample)
    assert sorted(found.row.tolist()) == list(range(table.rows))
    for rows in classes(found):
        assert table.records < k or table.counts[rows].sum() >= k
        if table.counts[rows].sum() >= 2 * k:  # as far as it can be cut, it is
            assert len(naive.bestcut(*plain_rows(table, rows), k, domains=table.domains)) == 1


def plain_rows(table, rows):
    data, counts = plain(table)
    return [data[r] for r in rows], [counts[r] for r in rows]


def test_the_boxes_of_a_large_table_hold_its_rows():
    table = numbers(kernel.NEAR + 9_000, 3, 400)
    found = cut(table, [KAnonymity(4)])
    assert np.sort(found.row).tolist() == list(range(table.rows))
    label = found.label[found.row]
    starts = np.flatnonzero(np.diff(label, prepend=-1))
    assert label[starts].tolist() == list(range(len(found.low)))  # each class is a run
    assert np.add.reduceat(table.counts[found.row], starts).min() >= 4
    ordered = table.codes[found.row]
    assert np.array_equal(np.minimum.reduceat(ordered, starts, axis=0), found.low)
    assert np.array_equal(np.maximum.reduceat(ordered, starts, axis=0), found.high)
    assert len(found.low) > table.records // 8  # no class can be halved, and few nearly so


def test_where_the_whole_table_breaks_the_promise_all_is_suppressed():
    table = numbers(6, 2, 9)
    assert bestcut(table, [KAnonymity(7)]).suppressed == 6
    release = bestcut(table, [KAnonymity(3)])
    check_release(release, 3)
    assert len(records(table)[0]) == release.sizes.sum()


def test_without_quasi_identifiers_there_is_one_class():
    bare = from_codes(
        (), np.empty((5, 0), dtype=np.int32), np.ones(5, dtype=np.int64),
        sensitive_domains=(disease(),), sensitive=np.array([[0, 1, 1, 0, 1]], dtype=np.int32).T,
    )  # fmt: skip
    for models in ([KAnonymity(2)], [KAnonymity(2), LDiversity(2, column="disease")]):
        assert bestcut(bare, models).sizes.tolist() == [5]


def test_a_table_without_rows_is_refused():
    table = numbers(5, 2, 9)
    with pytest.raises(KernelInputError, match="rows"):
        kernel.cut(
            table.codes[:0], table.counts[:0], table.sensitive[:0],
            losses=packed(space_of(table.domains)), promise=promise_of([], table),
        )  # fmt: skip
