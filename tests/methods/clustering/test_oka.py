from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.methods.calls import oka
from tests.methods.clustering.tables import check_release, groups_of, records, tables
from tests.naive import clustering as naive

from shoal.core.errors import MethodError
from shoal.kernels.clustering import oka as kernel
from shoal.methods.clustering.clusters import box_losses
from shoal.methods.clustering.oka import adjust, cluster, first_seeds, loss_of, records_of
from shoal.methods.clustering.space import space_of
from shoal.privacy import KAnonymity, LDiversity


@settings(max_examples=60, deadline=None)
@given(table=tables(missing=True), k=st.integers(1, 6), seed=st.integers(0, 9),
       short=st.sampled_from([0, 256]), ratio=st.sampled_from([1, 4, 1000]))  # fmt: skip
def test_both_stages_are_the_papers_stages(table, k, seed, short, ratio):
    data, rows = records(table)
    expected = naive.oka(data, rows, k, domains=table.domains, seed=seed)
    coded = records_of(table, space_of(table.domains, short=short))
    chance = np.random.default_rng(seed)
    seeds = first_seeds(coded, k, chance)
    with mock.patch.object(kernel, "_RATIO", ratio):
        label, _ = cluster(coded, seeds, sized=True)
        label = adjust(coded, label, k=k, chance=chance, sized=True)
    found = [np.flatnonzero(label == c) for c in np.unique(label)]
    assert groups_of(found, rows) == groups_of(expected, rows)


@settings(max_examples=30, deadline=None)
@given(table=tables(sensitive=True), k=st.integers(1, 5), limit=st.sampled_from([0.0, 0.3]),
       iterations=st.integers(1, 3))  # fmt: skip
def test_the_extensions_keep_the_promise(table, k, limit, iterations):
    models = [KAnonymity(k), LDiversity(2, column="disease")]
    release = oka(table, models, iterations=iterations, suppression_limit=limit)
    check_release(release, k, values=2)


def test_no_iteration_is_refused():
    with pytest.raises(MethodError, match="iterations must be at least 1"):
        oka(None, [KAnonymity(2)], iterations=0)


@settings(max_examples=40, deadline=None)
@given(table=tables(missing=True), short=st.sampled_from([0, 256]))
def test_the_loss_of_one_class_is_that_of_its_box(table, short):
    space = space_of(table.domains, short=short)
    low, high = table.codes.min(axis=0)[None], table.codes.max(axis=0)[None]
    assert loss_of(table.codes, space) == table.rows * box_losses(space, low, high)[0]
    assert loss_of(table.codes[:0], space) == 0
