"""Domains and promises as the flat arrays that compiled loops read."""

import numpy as np
import pytest
from tests.methods.clustering.tables import disease, domains
from tests.methods.sensitive_tables import PROMISES, SECRET

from shoal.kernels import axes as ax
from shoal.methods.arrays import axes_of, promise_of
from shoal.privacy import AlphaKAnonymity, BetaLikeness, KAnonymity, LDiversity, TCloseness
from shoal.table.frequency import from_codes


def table_of(*secrets, rows=((0, 0, 0),)):
    codes = np.array(rows, dtype=np.int32)
    sensitive = np.zeros((len(codes), len(secrets)), dtype=np.int32)
    counts = np.arange(1, len(codes) + 1)
    return from_codes(domains(), codes, counts, sensitive_domains=secrets, sensitive=sensitive)


@pytest.mark.parametrize("missing", [False, True])
def test_columns_stand_behind_each_other(missing):
    columns = domains(missing)
    axes = axes_of(columns)
    assert axes.is_tree.tolist() == [domain.tree is not None for domain in columns]
    assert axes.start.tolist() == np.cumsum([0, *map(len, columns)]).tolist()
    for j, domain in enumerate(columns):
        own = axes.position[axes.start[j] : axes.start[j + 1]]
        np.testing.assert_array_equal(own, domain.position)
        at = slice(axes.tree_start[j], axes.tree_start[j + 1])
        if domain.tree is None:
            assert not axes.parent[at].size
        else:
            assert axes.parent[at].tolist() == list(domain.tree.parents)
            assert axes.height[at].max() == 1.0


def test_no_columns_are_no_arrays():
    axes = axes_of(())
    assert axes.start.tolist() == [0]
    assert axes.position.size == axes.parent.size == 0


def test_the_smallest_class_is_that_of_the_strictest_promise():
    table = table_of(SECRET)
    assert promise_of([], table).k == 1
    models = [KAnonymity(3), AlphaKAnonymity(0.5, 7, column="s")]
    assert promise_of(models, table).k == 7


def test_only_promises_about_spread_have_a_row():
    table = table_of(SECRET, disease())
    models = [KAnonymity(3), LDiversity(2, column="disease"), TCloseness(0.2, column="s")]
    arrays = promise_of(models, table)
    assert arrays.column.tolist() == [1, 0]
    assert arrays.kind.tolist() == [ax.DISTINCT, ax.CLOSENESS]
    assert arrays.first_number.tolist() == [2.0, 0.2]
    assert arrays.start.tolist() == [0, 4, 7]


def test_the_reference_counts_the_whole_table():
    table = table_of(SECRET, rows=[(0, 0, 0), (1, 0, 0), (2, 0, 0)])
    assert promise_of([], table).reference.tolist() == [6, 0, 0, 0]


def test_named_values_are_marked_and_all_others_count():
    table = table_of(SECRET)
    models = [
        AlphaKAnonymity(0.5, 2, column="s", values=["a", "d"]), AlphaKAnonymity(0.5, 2, column="s")
    ]  # fmt: skip
    assert promise_of(models, table).marked.tolist() == [
        [True, False, False, True],
        [True, True, True, True],
    ]


def test_a_promise_without_a_compiled_form_brings_its_own_judge():
    table = table_of(SECRET)
    arrays = promise_of([BetaLikeness(0.7, column="s"), LDiversity(2, column="s")], table)
    is_plain = [kind == ax.PLAIN for kind in arrays.kind]
    assert [judge is not None for judge in arrays.plain] == is_plain


@pytest.mark.parametrize("promise", PROMISES, ids=repr)
def test_arrays_have_the_types_that_kernels_read(promise):
    arrays = promise_of([promise], table_of(SECRET))
    assert arrays.kind.dtype == arrays.column.dtype == arrays.distance.dtype == np.int32
    assert arrays.start.dtype == arrays.reference.dtype == np.int64
    assert arrays.first_number.dtype == arrays.tree_height.dtype == np.float64
    assert arrays.tree_parent.dtype == arrays.node.dtype == np.int32
