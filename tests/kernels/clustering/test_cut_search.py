"""Where a partition is cut: the best of all positions and subtrees, recounted from the rows.

A table of 2k to 3k - 1 records is cut once at most, so `bestcut.cut` shows what one search found.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.methods.clustering.tables import disease, domains
from tests.naive.clustering import Losses
from tests.naive.cuts import bestcut

from shoal.hierarchies.tree import Hierarchy
from shoal.kernels.clustering.bestcut import cut
from shoal.kernels.clustering.cut_search import CLASSES, GROUPS
from shoal.kernels.clustering.losses import packed
from shoal.methods.arrays import promise_of
from shoal.methods.clustering.space import space_of
from shoal.privacy import KAnonymity, LDiversity
from shoal.schema.schema import Kind
from shoal.table.domain import tree_domain
from shoal.table.frequency import from_codes

LINE, PLACE, SEX = domains()


def table_of(columns, codes, counts=None, values=None):
    codes = np.array(codes, dtype=np.int32).reshape(-1, len(columns))
    rows = len(codes)
    counts = np.ones(rows, np.int64) if counts is None else np.array(counts)
    values = np.zeros(rows) if values is None else np.array(values)
    return from_codes(
        columns, codes, counts, sensitive_domains=(disease(),),
        sensitive=values.astype(np.int32).reshape(-1, 1),
    )  # fmt: skip


def classes_of(table, k, values=1, short=256):
    """Return the classes as lists of rows."""
    models = [KAnonymity(k), *([LDiversity(values, column="disease")] if values > 1 else [])]
    found = cut(
        table.codes, table.counts, table.sensitive,
        losses=packed(space_of(table.domains, short=short)), promise=promise_of(models, table),
    )  # fmt: skip
    return [np.flatnonzero(found.label == c).tolist() for c in range(len(found.low))]


def loss_of(table, classes):
    losses = Losses(table.domains)
    boxes = [losses.box([tuple(map(int, table.codes[r])) for r in rows]) for rows in classes]
    return sum(
        int(table.counts[rows].sum()) * box for rows, box in zip(classes, boxes, strict=True)
    )


def under(domain, node):
    """Return the codes of a tree's column at or below a node."""
    return {
        code
        for code, at in enumerate(domain.position.astype(int))
        if domain.tree.lca((int(at), node)) == node
    }


def sides(table):
    """Yield one side of every cut: up to a code of a column, or the rows of a node.

    Where no column has the same code twice, no cut falls between rows of equal code.
    """
    for j, domain in enumerate(table.domains):
        codes = table.codes[:, j]
        for code in sorted(set(codes.tolist()))[:-1]:
            yield np.flatnonzero(codes <= code)
        for node in range(0 if domain.tree is None else len(domain.tree)):
            yield np.flatnonzero(np.isin(codes, sorted(under(domain, node))))


def least_loss(table, k, values):
    """Return the least loss of all cuts that both sides allow, None if there is none."""
    best = None
    for side in sides(table):
        both = [side, np.setdiff1d(np.arange(table.rows), side)]
        if all(
            table.counts[rows].sum() >= k and len(set(table.sensitive[rows, 0])) >= values
            for rows in both
        ):
            loss = loss_of(table, both)
            best = loss if best is None else min(best, loss)
    return best


@st.composite
def cut_once(draw):
    """Draw a table of 2k to 3k - 1 records in which no column has the same code twice."""
    rows = draw(st.integers(2, 6))
    counts = draw(st.lists(st.integers(1, 4), min_size=rows, max_size=rows))
    codes = np.stack([draw(st.permutations(range(6)))[:rows] for _ in range(2)], axis=1)
    values = draw(st.lists(st.integers(0, 2), min_size=rows, max_size=rows))
    k = sum(counts) // draw(st.sampled_from([2, 2.5]))
    return table_of((LINE, PLACE), codes, counts, values), max(int(k), 1)


@settings(max_examples=60, deadline=None)
@given(drawn=cut_once(), values=st.integers(1, 2), short=st.sampled_from([0, 256]))
def test_the_cut_is_the_best_of_all_that_both_sides_allow(drawn, values, short):
    table, k = drawn
    if not 2 * k <= table.records < 3 * k:
        return
    classes = classes_of(table, k, values, short)
    best = least_loss(table, k, values)
    assert len(classes) == (1 if best is None else 2)
    if best is not None:
        assert loss_of(table, classes) == best


def test_a_subtree_is_cut_out_of_the_middle():
    # Every position leaves two whole columns; without c and d, below q, only one is left.
    tree = Hierarchy.from_rows(
        "x", [("a", "p", "*"), ("c", "q", "*"), ("d", "q", "*"), ("f", "r", "*")]
    )
    column = tree_domain("x", Kind.CATEGORICAL, list("acdf"), tree, missing=False, weight=1.0)
    table = table_of((column,), [[0], [1], [2], [3]])
    assert sorted(classes_of(table, 2)) == [[0, 3], [1, 2]]


def test_both_sides_keep_the_promise():
    table = table_of((LINE,), [[0], [1], [4], [5]], values=[0, 0, 1, 1])
    assert sorted(classes_of(table, 2)) == [[0, 1], [2, 3]]
    assert classes_of(table, 2, values=2) == [[0, 1, 2, 3]]
    mixed = table_of((LINE,), [[0], [1], [4], [5]], values=[0, 1, 0, 1])
    assert sorted(classes_of(mixed, 2, values=2)) == [[0, 1], [2, 3]]


def test_more_changes_of_code_than_are_kept_leave_every_position_open():
    rows = GROUPS + 44
    names = [f"{i:03}" for i in range(rows)]
    tree = Hierarchy.from_rows("x", [(n, n[:2], n[:1], "*") for n in names])
    column = tree_domain("x", Kind.CATEGORICAL, names, tree, missing=False, weight=1.0)
    table = table_of((column,), np.arange(rows))
    k = rows // 3 + 1  # 101: one cut, and no subtree of 100 values is large enough
    classes = classes_of(table, k)
    positions = [[np.arange(i), np.arange(i, rows)] for i in range(k, rows - k + 1)]
    assert loss_of(table, classes) == min(loss_of(table, each) for each in positions)


def test_a_large_part_that_gains_little_is_cut_between_most_pairs():
    # One cut ahead a long hierarchy shows nothing: its loss falls only deep down in it.
    names = [f"{i:06b}" for i in range(64)]
    tree = Hierarchy.from_rows("x", [tuple(n[: 6 - i] + "*" * i for i in range(7)) for n in names])
    columns = [
        tree_domain(name, Kind.CATEGORICAL, names, tree, missing=False, weight=1.0)
        for name in ("x", "y", "z")
    ]
    table = table_of(columns, np.random.default_rng(2).integers(0, 64, (10 * CLASSES, 3)))
    data, counts = [tuple(map(int, row)) for row in table.codes], table.counts.tolist()
    by_pairs, by_loss = (
        bestcut(data, counts, 4, domains=columns, with_pairs=pairs) for pairs in (True, False)
    )
    assert classes_of(table, 4) == by_pairs != by_loss


@pytest.mark.parametrize("k", [1, 2, 3])
def test_one_row_equal_rows_and_up_to_2k_minus_1_records_are_not_cut(k):
    assert classes_of(table_of((LINE, PLACE), [[1, 2]], [3 * k]), k) == [[0]]
    for rows in (k, 2 * k - 1):
        codes = [[i, 5 - i] for i in range(rows)]
        assert classes_of(table_of((LINE, PLACE), codes), k) == [list(range(rows))]
    equal = table_of((LINE, PLACE), [[1, 2]] * 2, [2 * k, 2 * k], [0, 1])
    assert classes_of(equal, k) == [[0, 1]]
