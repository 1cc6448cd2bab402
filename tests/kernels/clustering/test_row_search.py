"""The row nearest to a cluster or furthest from a seed: every step against all rows.

`kmember.grow` is the loop that searches; each of its steps is searched here once more, without
a tree of rows.
"""

from __future__ import annotations

import numpy as np
import pytest
from tests.methods.clustering.tables import domains
from tests.naive.clustering import SCALE, Losses, majority

from shoal.kernels.clustering.kmember import grow
from shoal.methods.clustering.space import space_of


class AllRows:
    """Greedy k-member that looks at every row at every step."""

    def __init__(self, columns, codes, target=None, penalty=0):
        losses = Losses(columns)
        self.tables = [
            np.array([[losses.column(j, (a, b)) for b in range(len(d))] for a in range(len(d))])
            for j, d in enumerate(columns)
        ]
        self.codes, self.target, self.penalty = codes, target, penalty

    def losses_with_each_row(self, members):
        box = self.codes[members]
        low = np.minimum(self.codes, box.min(axis=0))
        high = np.maximum(self.codes, box.max(axis=0))
        return sum(table[low[:, j], high[:, j]] for j, table in enumerate(self.tables))

    def next_row(self, members, left):
        keys = self.losses_with_each_row(members) * (len(members) + 1)
        if self.target is not None:
            full = len(self.tables) * SCALE * (len(members) + 1)
            major = majority(self.target[members].tolist())
            keys = keys + np.where((self.target != major) | (keys == full), self.penalty, 0)
        is_other = np.arange(len(keys)) != members[-1]
        order = np.lexsort((is_other, keys))  # stable: of equals the first row
        return int(next(r for r in order if left[r]))

    def clusters(self, counts, k, first):
        left = counts.copy()
        point, found = first, []
        while left.sum() >= k:
            gaps = np.where(left > 0, self.losses_with_each_row([point]), -1)
            point = int(gaps.argmax())
            members = [point]
            left[point] -= 1
            while len(members) < k:
                members.append(self.next_row(members, left))
                left[members[-1]] -= 1
            found.append(sorted(members))
        return found


def clusters_of(found):
    clusters = {}
    for row, label, records in zip(*(part.tolist() for part in found), strict=True):
        clusters.setdefault(label, []).extend([row] * records)
    clusters.pop(-1, None)
    return [sorted(clusters[label]) for label in sorted(clusters)]


def random_rows(seed, rows, *, missing=False):
    chance = np.random.default_rng(seed)
    columns = domains(missing)
    codes = np.stack([chance.integers(0, len(d), rows) for d in columns], axis=1)
    return columns, codes.astype(np.int32), chance.integers(1, 4, rows)


# One block; two levels of nodes; three, planted anew when a third of the rows is left.
@pytest.mark.parametrize("rows", [7, 60, 200, 700])
@pytest.mark.parametrize(("missing", "short"), [(False, 256), (True, 256), (True, 0)])
def test_every_step_finds_the_first_of_the_best_rows(rows, missing, short):
    columns, codes, counts = random_rows(rows, rows, missing=missing)
    for k in (2, 5):
        found = grow(codes, counts, space=space_of(columns, short=short), k=k, first=rows // 2)
        assert clusters_of(found) == AllRows(columns, codes).clusters(counts, k, rows // 2)


@pytest.mark.parametrize("rows", [7, 60, 200])
@pytest.mark.parametrize("penalty", [0, SCALE, 9 * SCALE])
def test_with_classes_the_key_is_the_loss_with_its_penalty(rows, penalty):
    columns, codes, counts = random_rows(rows + 1, rows)
    target = np.random.default_rng(rows).integers(0, 3, rows).astype(np.int32)
    found = grow(
        codes, counts, space=space_of(columns), k=4, first=0, target=target, penalty=penalty
    )
    twin = AllRows(columns, codes, target, penalty)
    assert clusters_of(found) == twin.clusters(counts, 4, 0)


@pytest.mark.parametrize("k", [1, 2, 5])
def test_rows_that_are_all_equal_are_taken_in_the_order_of_the_table(k):
    columns, codes, _ = random_rows(0, 20)
    codes[:] = codes[0]
    found = grow(codes, np.ones(20, np.int64), space=space_of(columns), k=k, first=19)
    assert clusters_of(found) == [list(range(i, i + k)) for i in range(0, 20 - k + 1, k)]


@pytest.mark.parametrize("k", [1, 3, 6])
def test_k_and_2k_minus_1_distinct_rows_are_one_cluster(k):
    columns = domains()
    whole = np.stack(np.unravel_index(np.arange(108), (6, 6, 3)), axis=1).astype(np.int32)
    for rows in (k, 2 * k - 1):
        codes = whole[:: 108 // rows][:rows].copy()
        found = grow(codes, np.ones(rows, np.int64), space=space_of(columns), k=k, first=0)
        clusters = clusters_of(found)
        assert clusters == AllRows(columns, codes).clusters(np.ones(rows, np.int64), k, 0)
        assert len(clusters) == 1
        assert (found.label < 0).sum() == rows - k


def test_one_row_is_its_own_nearest_and_furthest():
    columns, codes, _ = random_rows(3, 1)
    found = grow(codes, np.array([7]), space=space_of(columns), k=3, first=0)
    assert clusters_of(found) == [[0] * 3, [0] * 3]
    assert found.records[found.label < 0].tolist() == [1]
