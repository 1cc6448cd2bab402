"""Clusters with boxes: what moves and swaps are said to gain, against boxes drawn anew.

`refine.improve` is the loop that draws them. With three clusters every other one is among the
nearest, so when it finds nothing more, no move and no swap may gain anything.
"""

from __future__ import annotations

import numpy as np
import pytest
from tests.methods.clustering.tables import disease, domains
from tests.naive.cuts import total_loss

from shoal.kernels.clustering.cluster_boxes import BEST
from shoal.kernels.clustering.losses import packed
from shoal.kernels.clustering.refine import Pieces, improve
from shoal.methods.arrays import promise_of
from shoal.methods.clustering.space import space_of
from shoal.privacy import KAnonymity, LDiversity
from shoal.table.frequency import from_codes


class Clusters:
    """Pieces with labels that the search improves, and their loss counted anew."""

    def __init__(self, codes, label, *, missing=False, counts=None, values=None):
        self.domains = domains(missing)
        codes = np.array(codes, dtype=np.int32).reshape(-1, 3)
        rows = len(codes)
        counts = np.ones(rows, np.int64) if counts is None else np.array(counts)
        secret = np.zeros((rows, 1), np.int32)
        if values is not None:
            secret[:, 0] = values
        self.pieces = Pieces(codes, counts, secret)
        self.label = np.array(label, dtype=np.int64)
        self.table = from_codes(
            self.domains, codes, counts, sensitive_domains=(disease(),), sensitive=secret
        )

    def improve(self, k, *, models=(), slack=0, window=9, seed=0, turns=1, **options):
        chance = np.random.default_rng(seed)
        order = np.concatenate([chance.permutation(len(self.label)) for _ in range(turns)])
        return improve(
            self.pieces, self.label, losses=packed(space_of(self.domains)),
            promise=promise_of([KAnonymity(k), *models], self.table), turns=order,
            slack=np.full(len(order), slack), window=window, **options,
        )  # fmt: skip

    def loss(self, label=None):
        data = [tuple(map(int, row)) for row in self.pieces.codes]
        label = self.label if label is None else label
        return total_loss(data, self.pieces.counts.tolist(), label.tolist(), domains=self.domains)

    def sizes(self):
        return np.bincount(self.label, weights=self.pieces.counts)


def random_clusters(seed, rows, clusters, *, missing=False, most=1):
    chance = np.random.default_rng(seed)
    codes = np.stack([chance.integers(0, len(d), rows) for d in domains(missing)], axis=1)
    return Clusters(
        codes, np.arange(rows) % clusters, missing=missing,
        counts=chance.integers(1, most + 1, rows), values=chance.integers(0, 3, rows),
    )  # fmt: skip


def neighbours_of(found, k):
    """Yield the labels after each move and each swap that leaves k records everywhere."""
    label, sizes = found.label, found.sizes()
    for i in range(len(label)):
        for b in set(label.tolist()) - {int(label[i])}:
            if sizes[label[i]] > k:
                moved = label.copy()
                moved[i] = b
                yield moved
        for q in range(i):
            if label[q] != label[i]:
                swapped = label.copy()
                swapped[[i, q]] = label[[q, i]]
                yield swapped


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_when_nothing_is_found_no_move_and_no_swap_gains(seed, missing):
    k = 3
    found = random_clusters(seed, 12, BEST + 1, missing=missing)
    for turn in range(50):
        if not found.improve(k, seed=turn, is_thorough=False):
            break
    assert turn < 49
    best = found.loss()
    assert all(found.loss(label) >= best for label in neighbours_of(found, k))


@pytest.mark.parametrize("slack", [0, 10**5, 10**7])
@pytest.mark.parametrize("seed", range(4))
def test_after_many_changes_the_boxes_are_those_of_the_members(seed, slack):
    found = random_clusters(seed, 24, 5, missing=seed % 2 == 1, most=3)
    before = found.loss()
    fallen = found.improve(3, slack=slack, turns=6, seed=seed)
    assert before - found.loss() == fallen
    sizes = found.sizes()
    assert sizes[sizes > 0].min() >= 3
    assert slack or fallen > 0


@pytest.mark.parametrize("seed", range(4))
def test_values_move_with_their_pieces(seed):
    found = random_clusters(seed, 24, 4)
    found.pieces.secret[:, 0] = np.arange(24) // 4 % 3  # every cluster has each value twice
    models = [LDiversity(3, column="disease")]
    before = found.loss()
    fallen = found.improve(4, models=models, slack=10**6, turns=4, seed=seed)
    assert before - found.loss() == fallen
    for group in np.unique(found.label):
        assert len(set(found.pieces.secret[found.label == group, 0])) == 3


def test_only_clusters_in_the_window_are_near():
    # Piece 2 belongs to the last cluster, two places further on; its neighbour suits it less.
    codes = [[0, 0, 0], [0, 0, 0], [5, 5, 2], [1, 1, 1], [1, 1, 1], [5, 5, 2], [5, 5, 2]]
    label = [0, 0, 0, 1, 1, 2, 2]
    far = Clusters(codes, label)
    before = far.loss()
    assert far.improve(2, window=2, is_thorough=False) == before
    assert far.label.tolist() == [0, 0, 2, 1, 1, 2, 2]
    near = Clusters(codes, label)
    near.improve(2, window=1, is_thorough=False)
    assert near.label[2] != 2


@pytest.mark.parametrize("k", [1, 2, 3])
def test_one_piece_and_up_to_2k_minus_1_distinct_ones_stay(k):
    for rows in (1, k, 2 * k - 1):
        found = Clusters([[i, 5 - i, i % 3] for i in range(rows)], [0] * rows)
        assert found.improve(k, slack=10**9) == 0
        assert found.label.tolist() == [0] * rows


def test_equal_pieces_lose_nothing_and_stay():
    found = Clusters([[2, 1, 1]] * 8, np.arange(8) % 3)
    before = found.label.copy()
    assert found.improve(2, slack=10**9, turns=3) == 0
    assert (found.label == before).all()


def test_the_second_extreme_counts_only_where_one_piece_stands_alone():
    # The first of two pieces at the end to leave gains its own loss only, the last one all.
    codes = [[0, 0, 0], [0, 0, 0], [0, 0, 0], [5, 0, 0], [5, 0, 0], [5, 0, 0], [5, 0, 0]]
    pair = Clusters(codes, [0, 0, 0, 0, 0, 1, 1])
    before = pair.loss()
    assert pair.improve(2, turns=3, is_thorough=False) == before
    assert pair.loss() == 0
