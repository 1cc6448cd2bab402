"""Clusters in a line: like ones stand near each other, and every round has another order."""

from __future__ import annotations

import numpy as np
from tests.methods.clustering.tables import domains

from shoal.methods.clustering.lines import line_up, places_on_lines
from shoal.methods.clustering.space import space_of

PLACES = places_on_lines(space_of(domains(missing=True)))


def test_places_go_from_nought_to_one_and_never_back():
    for at in PLACES:
        assert (at[0], at[-1]) == (0.0, 1.0)
        assert (np.diff(at) >= 0).all()


def test_each_cluster_has_a_place_and_another_seed_another_order():
    chance = np.random.default_rng(0)
    codes = np.stack([chance.integers(0, n, 90) for n in (7, 6, 4)], axis=1).astype(np.int32)
    label = np.arange(90) // 3
    orders = [line_up(codes, label, PLACES, np.random.default_rng(seed)) for seed in (1, 1, 2)]
    assert sorted(orders[0].tolist()) == list(range(30))
    assert orders[0].tolist() == orders[1].tolist() != orders[2].tolist()


def test_clusters_that_are_alike_stand_beside_each_other():
    codes = np.array([[0, 0, 0], [6, 5, 3], [0, 0, 0], [6, 5, 3]], dtype=np.int32)
    rank = line_up(codes, np.arange(4), PLACES, np.random.default_rng(3))
    assert abs(int(rank[0] - rank[2])) == 1
    assert abs(int(rank[1] - rank[3])) == 1
