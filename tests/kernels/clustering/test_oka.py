"""Attaching rows to clusters, against a twin that measures every distance anew."""

from __future__ import annotations

from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.methods.clustering.tables import domains, tables
from tests.naive.clustering import SCALE, Losses, places

from shoal.core.errors import KernelInputError
from shoal.kernels.clustering import oka as kernel
from shoal.kernels.clustering.oka import attach
from shoal.methods.clustering.oka import places_of_rows, state_of
from shoal.methods.clustering.space import space_of
from shoal.table.frequency import from_codes


def distance(record, cluster, domains, *, sized):
    """Distance from the centroid of a cluster, a list of records, times its size or not."""
    losses = Losses(domains)
    size = len(cluster) if sized else 1
    total = 0
    at = places(domains, [record, *cluster])
    for j, domain in enumerate(domains):
        here, inside = at[0][j], [row[j] for row in at[1:]]
        if domain.tree is not None:
            total += size * losses.column(j, [record[j], *(member[j] for member in cluster)])
        elif here is None or None in inside:
            alike = here is None and all(place is None for place in inside)
            total += 0 if alike else size * SCALE
        else:
            away = abs(len(cluster) * here - sum(inside))
            total += away if sized else away // len(cluster)
    return total


def attach_naively(rows, weights, clusters, domains, *, fill, sized):
    chosen = []
    for row, weight in zip(rows, weights, strict=True):
        allowed = [c for c, members in enumerate(clusters) if len(members) < fill]
        allowed = allowed or list(range(len(clusters)))
        best = min(allowed, key=lambda c: (distance(row, clusters[c], domains, sized=sized), c))
        clusters[best] += [row] * weight
        chosen.append(best)
    return chosen


@settings(max_examples=80, deadline=None)
@given(
    data=st.data(), table=tables(missing=True), fill=st.integers(0, 5), sized=st.booleans(),
    short=st.sampled_from([0, 256]), ratio=st.sampled_from([1, 2, 1000]),
    room=st.sampled_from([1, 30, 1 << 23]),
)  # fmt: skip
def test_every_row_goes_to_the_nearest_cluster(
    data, table, fill, sized, short, ratio, room
):  # fmt: skip
    space = space_of(table.domains, short=short)
    number = data.draw(st.integers(1, table.rows))
    order = np.array(data.draw(st.lists(st.integers(0, table.rows - 1), min_size=1, max_size=30)))
    weights = np.array(data.draw(st.lists(st.integers(1, 3), min_size=len(order),
                                          max_size=len(order))))  # fmt: skip
    begun = np.arange(number)
    spots = places_of_rows(table, space)
    state = state_of(table.codes[begun], spots[begun], begun, number)
    clusters = [[tuple(table.codes[b].tolist())] for b in begun]
    rows = [tuple(row) for row in table.codes[order].tolist()]
    wanted = attach_naively(rows, weights, clusters, table.domains, fill=fill, sized=sized)
    with mock.patch.multiple(kernel, _RATIO=ratio, _ROOM=room):
        found = attach(table.codes[order], weights, state, space=space, fill=fill, sized=sized)
    assert found.tolist() == wanted
    # The clusters that were handed in are changed as their members say.
    label = np.concatenate((begun, np.repeat(found, weights)))
    members = np.concatenate((begun, np.repeat(order, weights)))
    after = state_of(table.codes[members], spots[members], label, number)
    assert all(np.array_equal(a, b) for a, b in zip(state, after, strict=True))


def many_rows(seed):
    """Return a table of more rows than a block of clusters has."""
    chance = np.random.default_rng(seed)
    columns = domains(missing=True)
    codes = np.stack([chance.integers(0, len(d), 400) for d in columns], axis=1)
    return from_codes(columns, codes.astype(np.int32), np.ones(400, dtype=np.int64))


def test_more_clusters_than_a_block_holds():
    table, number = many_rows(0), 90
    space = space_of(table.domains)
    begun = np.arange(number)
    spots = places_of_rows(table, space)
    state = state_of(table.codes[begun], spots[begun], begun, number)
    clusters = [[tuple(table.codes[b].tolist())] for b in begun]
    order = np.random.default_rng(1).integers(0, table.rows, 60)
    weights = np.ones(60, dtype=np.int64)
    rows = [tuple(row) for row in table.codes[order].tolist()]
    wanted = attach_naively(rows, weights, clusters, table.domains, fill=0, sized=True)
    assert attach(table.codes[order], weights, state, space=space).tolist() == wanted


def test_what_does_not_fit_is_refused():
    table = many_rows(1)
    space = space_of(table.domains)
    weights = np.ones(table.rows, dtype=np.int64)
    none = np.zeros(0, dtype=np.int64)
    empty = np.zeros((0, 3), dtype=np.int64)
    with pytest.raises(KernelInputError, match="no cluster"):
        attach(table.codes, weights, (none, empty, empty, empty), space=space)
    with pytest.raises(KernelInputError, match="fit"):
        attach(table.codes[:, :2], weights, (none, empty, empty, empty), space=space)
