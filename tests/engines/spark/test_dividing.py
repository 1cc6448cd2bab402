"""Dividing tuples: what decides is the tuple, not who holds it; no Spark is started."""

from __future__ import annotations

import numpy as np
import pytest
from tests.engines.spark.tables import counted
from tests.engines.spark.tasks import shuffled

pytest.importorskip("pyspark", reason="the package pyspark is not installed (shoal[spark])")

from shoal.engines.spark.chunks import ROWS, Shuffle, chunk_of, decode_chunks
from shoal.engines.spark.coding import Packing
from shoal.engines.spark.dividing import NearestCentre, RandomDraw, _points, _thinner
from shoal.methods.partition import features, nearest
from shoal.privacy import KAnonymity


def test_a_point_has_the_same_centre_whoever_stands_beside_it():
    chance = np.random.default_rng(5)
    points, centres = chance.integers(0, 9, (500, 6)) / 8, chance.integers(0, 9, (7, 6)) / 8
    whole = nearest(points, centres)
    assert [int(nearest(points[i : i + 1], centres)[0]) for i in range(500)] == whole.tolist()
    away = ((points[:, None] - centres) ** 2).sum(axis=2)
    assert (away[np.arange(500), whole] <= away.min(axis=1) + 1e-12).all()


def divided(divider, codes, counts, slices):
    """Return the records of each tuple in each partition, where so many tasks hold the rows."""
    found = {}
    for some in np.array_split(np.arange(len(codes)), slices):
        for part, rows, records in divider(codes[some], counts[some]):
            for row, n in zip(some[rows].tolist(), records.tolist(), strict=True):
                found[row, part] = found.get((row, part), 0) + n
    return found


@pytest.mark.parametrize("kind", ["nearest", "random"])
def test_every_record_is_in_one_partition_whoever_divides(kind):
    table = counted()
    codes = np.concatenate((table.codes, table.sensitive), axis=1)
    counts = table.counts * 3
    divider = RandomDraw(4, seed=9)
    if kind == "nearest":
        points = features(table.domains, table.codes)
        divider = NearestCentre(table.domains, points[[0, 7, 19]])
    found = divided(divider, codes, counts, 1)
    assert divided(divider, codes, counts, 5) == found
    for row, n in enumerate(counts.tolist()):
        assert sum(found.get((row, part), 0) for part in range(4)) == n
    assert len({part for _, part in found}) == (3 if kind == "nearest" else 4)
    if kind == "random":
        assert divided(RandomDraw(4, seed=10), codes, counts, 1) != found


def chunked(table):
    packing = Packing(tuple(len(d) for d in (*table.domains, *table.sensitive_domains)))
    rows = np.concatenate((table.codes, table.sensitive), axis=1)
    return packing, chunk_of({**packing.named(packing.pack(rows)), ROWS: table.counts})


@pytest.mark.parametrize("share", [1, 3])
def test_centres_are_found_on_tuples_without_sensitive_values(share):
    table = counted()
    packing, chunk = chunked(table)
    width = len(table.domains)
    shuffle = Shuffle(Packing(packing.sizes[:width]), width, 2)
    sent = shuffled(_thinner(packing, shuffle, share)(iter([chunk])))
    gathered = [made for part in sent.values() for made in shuffle._gathered(iter(part))]
    found = {}
    for codes, counts in decode_chunks(shuffle.packing, gathered):
        found |= dict(zip(map(tuple, codes.tolist()), counts.tolist(), strict=True))
    wanted = {}
    for row, n in zip(map(tuple, table.codes.tolist()), table.counts.tolist(), strict=True):
        wanted[row] = wanted.get(row, 0) + n
    assert found.items() <= wanted.items()
    assert len(found) == len(wanted) if share == 1 else 0 < len(found) < len(wanted)


def test_points_are_the_features_of_tuples_with_their_records():
    table = counted(models=[KAnonymity(2)])
    packing, chunk = chunked(table)
    (batch,) = _points(packing, table.domains)(iter([chunk]))
    assert np.allclose(np.array(batch.column("point").to_pylist()),
                       features(table.domains, table.codes))  # fmt: skip
    assert batch.column("weight").to_pylist() == table.counts.tolist()
