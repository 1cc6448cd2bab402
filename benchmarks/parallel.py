"""Why `kmember-parallel` loses more than `kmember`: one difference at a time, on Adult."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tests.methods.calls import kmember

from benchmarks.clustering import DATA, adult
from shoal.kernels.clustering.kmember import grow
from shoal.kernels.clustering.kmember_parallel import far_apart
from shoal.kernels.clustering.space import Space
from shoal.measures.utility import grouping_of, utility_of
from shoal.methods.clustering.clusters import Clusters, over_rows
from shoal.methods.clustering.parallel import (
    Tuples,
    grown,
    place_at_once,
    split,
    tuples_of,
)
from shoal.methods.clustering.repair import recode
from shoal.methods.clustering.space import space_of
from shoal.privacy import KAnonymity
from shoal.table.frequency import FrequencyTable
from shoal.table.recoding import Recoding

TITLE = "Clustering: why kmember-parallel loses more"
NOTE = """NCP on 5,000 records of Adult. All rows but the first begin with n // k seeds that are
chosen beforehand: far apart by the sum of distances with one candidate a group (Figure 3.1 of
[netshiunda2020], `kmember-parallel` itself) or with every record a candidate; the seeds that
`kmember` finds on its way; or records at random. From these, clusters grow at once, as in the
figure, or one after another. Random seeds lose less than far ones, and far ones without groups lose
most: the largest sum of distances belongs to outliers, and one candidate a group is what keeps the
seeds from being nothing else. With the same seeds, growing at once always loses more than growing
one after another: all clusters take from the same crowd, and each ends with what the others left.

"""
KS = (5, 10, 25)
RECORDS = 5_000
Seeds = tuple[NDArray[np.int64], NDArray[np.int64]]


def rows() -> list[dict[str, Any]]:
    """Return the loss of every pair of seeds and growth."""
    if not (DATA / "adult_arx").exists():
        return []
    table = adult(records=RECORDS)
    space = space_of(table.domains)
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for k in KS:
        plain = _ncp(kmember(table, [KAnonymity(k)]))
        losses = {("kmember", "one after another"): plain, **dict(_trial(table, space, k))}
        for (seeds, growth), ncp in losses.items():
            row = found.setdefault((seeds, growth), {"seeds": seeds, "clusters grow": growth})
            row[f"k={k}"] = ncp
    return list(found.values())


def _trial(table: FrequencyTable, space: Space, k: int) -> Iterator[tuple[tuple[str, str], float]]:
    tuples = tuples_of(table, None)
    for name, seeds in _seeds(table, tuples, space, k):
        for growth, grow_from in (("at once", _at_once), ("one after another", _in_turn)):
            pieces, boxes = grow_from(tuples, seeds, space, k)
            placed = place_at_once(tuples, pieces, boxes, space=space)
            made = recode(
                table,
                [KAnonymity(k)],
                over_rows(placed, rows=tuples.rows, ends=tuples.ends),
                space=space,
            )
            yield (name, growth), _ncp(made)


def _seeds(
    table: FrequencyTable, tuples: Tuples, space: Space, k: int
) -> Iterator[tuple[str, Seeds]]:
    """Yield seeds of four kinds, and the records that each takes."""
    number, chance = table.records // k, np.random.default_rng(0)
    group = split(table.domains, tuples.codes, groups=8, chance=chance)
    record = int(chance.integers(table.records))
    first = int(np.searchsorted(np.cumsum(tuples.counts), record, side="right"))
    each = np.arange(len(tuples.counts))
    for name, groups in (("far, one candidate a group", group), ("far, all candidates", each)):
        yield (
            name,
            far_apart(
                tuples.codes, tuples.counts, groups, space=space, number=number, k=k, first=first
            ),
        )
    pieces = grow(tuples.codes, tuples.counts, space=space, k=k, first=first)
    _, begins = np.unique(pieces.label[pieces.label >= 0], return_index=True)
    yield "those of kmember", _taken(tuples, pieces.row[begins], k)
    drawn = chance.permutation(np.repeat(each, tuples.counts))[:number]
    yield "random", _taken(tuples, drawn, k)


def _taken(tuples: Tuples, chosen: NDArray[np.int64], k: int) -> Seeds:
    """Let seeds take k copies where there are as many, one otherwise; drop those without any."""
    left, taken = tuples.counts.copy(), np.zeros(len(chosen), dtype=np.int64)
    for at, seed in enumerate(chosen):
        taken[at] = k if left[seed] >= k else min(left[seed], 1)
        left[seed] -= taken[at]
    return chosen[taken > 0], taken[taken > 0]


Grown = tuple[Clusters, tuple[NDArray[np.int64], NDArray[np.int64]]]


def _at_once(tuples: Tuples, seeds: Seeds, space: Space, k: int) -> Grown:
    return grown(tuples, *seeds, space=space, k=k)


def _in_turn(tuples: Tuples, seeds: Seeds, space: Space, k: int) -> Grown:
    """Grow one cluster after another; the seeds of all are taken before."""
    chosen, taken = seeds
    left = tuples.counts - np.bincount(chosen, weights=taken, minlength=len(tuples.counts))
    left = left.astype(np.int64)
    parts: list[Clusters] = []
    low, high = (tuples.codes[chosen].astype(np.int64) for _ in range(2))
    for number in range(len(chosen)):
        one = slice(number, number + 1)
        left[chosen[number]] += taken[number]
        pieces, (low[one], high[one]) = grown(
            tuples._replace(counts=left), chosen[one], taken[one], space=space, k=k
        )
        mine = pieces.label >= 0
        np.subtract.at(left, pieces.row[mine], pieces.records[mine])
        parts.append(Clusters(pieces.row[mine], pieces.label[mine] + number, pieces.records[mine]))
    rest = np.flatnonzero(left)
    parts.append(Clusters(rest, np.full(len(rest), -1), left[rest]))
    row, label, records = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    return Clusters(row, label, records), (low, high)


def _ncp(recoding: Recoding) -> float:
    found = utility_of(grouping_of(recoding))["ncp"]
    assert found is not None
    return found
