"""k-modes against the text, record by record."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.methods.calls import kmodes
from tests.methods.microaggregation.mixed import (
    by_tuple,
    classes_of,
    columns,
    tables,
    twins_of,
)
from tests.naive import semantic as naive

from shoal.core.errors import MethodError
from shoal.methods.catalogue import KModes
from shoal.privacy import KAnonymity
from shoal.table.frequency import from_codes

LAW = settings(max_examples=50, deadline=None)


@LAW
@given(table=tables(), k=st.integers(1, 6), rounds=st.integers(1, 4), groups=st.integers(1, 6),
       seed=st.integers(0, 5))  # fmt: skip
def test_kmodes_makes_the_clusters_of_the_text(table, k, rounds, groups, seed):
    twins, entries = twins_of(table, "equal")
    if table.records < k:
        return
    found = kmodes(table, [KAnonymity(k)], groups=groups, iterations=rounds, seed=seed)
    sizes = np.array([n for _, _, n in entries])
    number = min(groups, len(entries))
    first = np.random.default_rng(seed).choice(
        len(entries), number, replace=False, p=sizes / sizes.sum()
    )
    wanted = naive.kmodes(twins, entries, sorted(first.tolist()), k, rounds)
    assert classes_of(found) == by_tuple(wanted)


def test_kmodes_refuses_what_cannot_be_meant():
    table = from_codes((columns(False)["flat"],), np.zeros((1, 1), np.int32), np.array([3]))
    with pytest.raises(MethodError, match="1 or more"):
        kmodes(table, [KAnonymity(2)], iterations=0)


@pytest.mark.parametrize("groups", [0, -1])
def test_groups_must_be_some(groups):
    with pytest.raises(MethodError, match="groups and iterations must be 1 or more"):
        KModes(groups=groups)


def test_more_groups_than_tuples_are_as_many_as_there_are():
    table = from_codes((columns(False)["flat"],), np.zeros((1, 1), np.int32), np.array([3]))
    found = kmodes(table, [KAnonymity(2)], groups=50)
    assert found.sizes.tolist() == [3]
