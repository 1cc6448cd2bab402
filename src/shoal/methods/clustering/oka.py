"""One-pass k-means (OKA; [lin2008], Lin and Wei, 2008) and its planned extensions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from shoal.core.errors import MethodError
from shoal.kernels.clustering_oka import State, attach
from shoal.kernels.clustering_space import BRANCHES, FULL, KIND, MISSING, SIZE, START, TABLE, Space
from shoal.methods.clustering.clusters import Clusters, boxes_of, least_records
from shoal.methods.clustering.repair import recode
from shoal.methods.clustering.space import space_of
from shoal.methods.frequency import FrequencyTable
from shoal.methods.recoding import Recoding
from shoal.privacy import Promise


def oka(
    table: FrequencyTable,
    models: Sequence[Promise],
    *,
    iterations: int = 1,
    size_factor: bool = True,
    seed: int = 0,
    suppression_limit: float = 0.0,
) -> Recoding:
    """Attach every record to the nearest of n // k random seeds, then even the sizes out.

    Clustering stage: records come in the order of their quasi-identifiers; each goes to the
    cluster with the least size × distance to its centroid, which moves at once. Equal
    records go together, as the paper says they do (one by one, the growing size would drive
    them apart; on Adult at k = 10 that loses 0.37 instead of 0.34). Adjustment
    stage: clusters above k give up the records furthest from their centroid; in random
    order these go to the nearest cluster below k, and when there is none, to the nearest.

    Extensions that the paper plans: `iterations` above 1 begin again from the record of
    each cluster that is nearest to its centroid; small clusters are suppressed rather than
    filled where that loses less and `suppression_limit` allows it; and any other promise
    than k is kept by merging (see `repair`).

    `size_factor=False` leaves the cluster's size out of the distance: not the paper's method,
    but the switch that shows where its loss comes from (see the guide).

    Raises:
        MethodError: fewer than one iteration.
    """
    if iterations < 1:
        raise MethodError(problem="--iterations must be at least 1")
    k = least_records(models)
    space = space_of(table.domains)
    chance = np.random.default_rng(seed)
    row = np.repeat(np.arange(table.rows), table.counts)
    codes, places = table.codes[row], places_of(table, space)[row]
    seeds = np.sort(chance.choice(len(row), max(len(row) // k, 1), replace=False))
    ids = table.tuple_ids[row]
    before, state = _cluster(codes, places, ids, seeds, space, size_factor)
    for _ in range(iterations - 1):
        seeds = _nearest_to_centroid(codes, places, before, state, space)
        before, state = _cluster(codes, places, ids, seeds, space, size_factor)
    label = _adjust(codes, places, before, space, k=k, chance=chance, sized=size_factor)
    budget = int(suppression_limit * table.records)
    if budget:
        label = _suppress_small(codes, before, label, space, k=k, budget=budget)
    clusters = Clusters(row, label, np.ones(len(row), dtype=np.int64))
    return recode(table, models, clusters, space=space, suppression_limit=suppression_limit)


def stages(
    table: FrequencyTable, *, k: int, size_factor: bool = True, seed: int = 0
) -> dict[str, float]:
    """Return the NCP after each stage, and how many clusters the first one leaves below k."""
    space = space_of(table.domains)
    chance = np.random.default_rng(seed)
    row = np.repeat(np.arange(table.rows), table.counts)
    codes, places = table.codes[row], places_of(table, space)[row]
    seeds = np.sort(chance.choice(len(row), max(len(row) // k, 1), replace=False))
    first, _ = _cluster(codes, places, table.tuple_ids[row], seeds, space, size_factor)
    second = _adjust(codes, places, first, space, k=k, chance=chance, sized=size_factor)
    whole = len(row) * int(space.column[:, FULL].sum())
    number = int(first.max()) + 1
    losses = [
        sum(_loss(codes[members], space) for members in _members(label, number)) / whole
        for label in (first, second)
    ]
    return {
        "clusters": number,
        "below k": int((np.bincount(first) < k).sum()),
        "ncp after clustering": losses[0],
        "ncp after adjustment": losses[1],
    }


def places_of(table: FrequencyTable, space: Space) -> NDArray[np.int64]:
    """Return the scaled position of each row on the lines; 0 in trees."""
    places = np.zeros(table.codes.shape, dtype=np.int64)
    for j, facts in enumerate(space.column):
        if facts[BRANCHES]:
            continue
        start = facts[START]
        first = 1 if facts[MISSING] and facts[SIZE] > 1 else 0
        positions = space.flat[start : start + facts[SIZE]]
        if facts[KIND] == TABLE:  # the loss of a run that begins at the first value
            positions = space.flat[start + first * facts[SIZE] :][: facts[SIZE]]
        places[:, j] = positions[table.codes[:, j]]
    return places


def _state(
    codes: NDArray[np.int32], places: NDArray[np.int64], label: NDArray[np.int64], number: int
) -> State:
    sizes = np.bincount(label, minlength=number).astype(np.int64)
    sums = np.zeros((number, codes.shape[1]), dtype=np.int64)
    np.add.at(sums, label, places)
    low, high = boxes_of(codes, label)
    return sizes, sums, low.astype(np.int64), high.astype(np.int64)


def _cluster(
    codes: NDArray[np.int32],
    places: NDArray[np.int64],
    row: NDArray[np.int64],
    seeds: NDArray[np.int64],
    space: Space,
    sized: bool,
) -> tuple[NDArray[np.int64], State]:
    label = np.full(len(codes), -1)
    label[seeds] = np.arange(len(seeds))
    state = _state(codes[seeds], places[seeds], np.arange(len(seeds)), len(seeds))
    others = np.flatnonzero(label < 0)
    if not len(others):
        return label, state
    fresh = np.concatenate(([True], row[others][1:] != row[others][:-1]))
    heads = others[fresh]
    copies = np.diff(np.append(np.flatnonzero(fresh), len(others)))
    chosen = attach(codes[heads], copies, state, space=space, sized=sized)
    label[others] = np.repeat(chosen, copies)
    return label, state


def _gaps(
    codes: NDArray[np.int32],
    places: NDArray[np.int64],
    label: NDArray[np.int64],
    state: State,
    space: Space,
) -> NDArray[np.int64]:
    """Return size × distance of each record from its own cluster's centroid.

    In a tree the centroid is an ancestor of the record, so every member is equally far.
    """
    sizes, sums, low, high = state
    gap = np.zeros(len(codes), dtype=np.int64)
    for j, facts in enumerate(space.column):
        if facts[BRANCHES]:
            continue
        away = np.abs(sizes[label] * places[:, j] - sums[label, j])
        if facts[MISSING]:
            mixed = (low[label, j] == 0) & (high[label, j] > 0)
            away = np.where(mixed, sizes[label] * facts[FULL], away)
            away = np.where((low[label, j] == 0) & ~mixed, 0, away)
        gap += away
    return gap


def _nearest_to_centroid(
    codes: NDArray[np.int32],
    places: NDArray[np.int64],
    label: NDArray[np.int64],
    state: State,
    space: Space,
) -> NDArray[np.int64]:
    gap = _gaps(codes, places, label, state, space)
    order = np.lexsort((np.arange(len(label)), gap, label))
    ordered = label[order]
    first = np.concatenate(([True], ordered[1:] != ordered[:-1]))
    return np.sort(order[first])


def _adjust(
    codes: NDArray[np.int32],
    places: NDArray[np.int64],
    label: NDArray[np.int64],
    space: Space,
    *,
    k: int,
    chance: np.random.Generator,
    sized: bool,
) -> NDArray[np.int64]:
    """Return the labels after large clusters have filled small ones."""
    number = int(label.max()) + 1
    gap = _gaps(codes, places, label, _state(codes, places, label, number), space)
    order = np.lexsort((np.arange(len(label)), gap, label))  # nearest first, then table order
    starts = np.searchsorted(label[order], np.arange(number))
    rank = np.empty(len(label), dtype=np.int64)
    rank[order] = np.arange(len(label)) - starts[label[order]]
    free = np.flatnonzero(rank >= k)
    free = free[chance.permutation(len(free))]
    label = label.copy()
    stay = rank < k
    state = _state(codes[stay], places[stay], label[stay], number)
    if len(free):
        ones = np.ones(len(free), dtype=np.int64)
        label[free] = attach(codes[free], ones, state, space=space, fill=k, sized=sized)
    return label


def _suppress_small(
    codes: NDArray[np.int32],
    before: NDArray[np.int64],
    after: NDArray[np.int64],
    space: Space,
    *,
    k: int,
    budget: int,
) -> NDArray[np.int64]:
    """Suppress clusters that were small, and send their helpers home, where that loses less."""
    full = int(space.column[:, FULL].sum())
    number = int(before.max()) + 1
    sizes = np.bincount(before, minlength=number)
    label = after.copy()
    members = _members(after, number)
    for a in np.argsort(sizes, kind="stable"):
        if sizes[a] >= k or sizes[a] > budget:
            continue
        inside = members[a][label[members[a]] == a]
        own = inside[before[inside] == a]
        helpers = inside[before[inside] != a]
        homes = np.unique(before[helpers])
        now = _loss(codes[inside], space)
        later = len(own) * full
        for home in homes:
            there = members[home][label[members[home]] == home]
            back = np.concatenate((there, helpers[before[helpers] == home]))
            now += _loss(codes[there], space)
            later += _loss(codes[back], space)
        if later < now and len(own) <= budget:
            label[own] = -1
            label[helpers] = before[helpers]
            for home in homes:
                members[home] = np.concatenate((members[home], helpers[before[helpers] == home]))
            budget -= len(own)
    return label


def _members(label: NDArray[np.int64], number: int) -> list[NDArray[np.int64]]:
    order = np.argsort(label, kind="stable")
    return np.split(order, np.searchsorted(label[order], np.arange(1, number)))


def _loss(codes: NDArray[np.int32], space: Space) -> int:
    """Return the information loss of one class, in units."""
    if not len(codes):
        return 0
    low, high = codes.min(axis=0), codes.max(axis=0)
    return len(codes) * box_loss(low, high, space)


def box_loss(low: NDArray[np.int32], high: NDArray[np.int32], space: Space) -> int:
    """Return the loss of one box, in units, without compiled code."""
    total = 0
    for j, facts in enumerate(space.column):
        a, b, start, size = int(low[j]), int(high[j]), int(facts[START]), int(facts[SIZE])
        if facts[KIND] == TABLE:
            total += int(space.flat[start + a * size + b])
        elif not facts[BRANCHES]:
            whole = facts[MISSING] and a == 0 and b > 0
            width = int(space.flat[start + b] - space.flat[start + a])
            total += int(facts[FULL]) if whole else width
        elif a == b:
            total += int(space.flat[start + a])
        else:
            level = int(space.log[b - a])
            base = start + (level + 1) * size
            total += int(max(space.flat[base + a], space.flat[base + b - (1 << level)]))
    return total
