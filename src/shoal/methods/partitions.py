"""Coarse-grained learning (seed 003): divide the records, learn on each part, join the parts.

A part is learned like a table of its own, so parts can be learned side by side, on the
cores of one machine or on the executors of a cluster. Closeness is judged against the
whole table everywhere. A part that cannot keep the promise by itself (fewer than k records,
say) is joined with the part nearest to it, and both are learned together.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.core.errors import MethodError, NoSolutionError
from shoal.core.privacy import PrivacyModel
from shoal.methods.clustering.clusters import Clusters
from shoal.methods.clustering.repair import recode
from shoal.methods.clustering.space import space_of
from shoal.methods.domain import Domain
from shoal.methods.frequency import FrequencyTable
from shoal.methods.judging import failing_classes, one_class
from shoal.methods.recoding import SUPPRESSED, Recoding, recoding_of

HOWS = ("kmeans", "random")
Search = Callable[[FrequencyTable], Recoding]

_SAMPLE = 50_000  # tuples that the centres are found on
_ROUNDS = 25
_BLOCK = 1 << 18


class Part(NamedTuple):
    """Some records of a table: `counts` of each of its `rows`."""

    rows: NDArray[np.int64]
    counts: NDArray[np.int64]


class Learned(NamedTuple):
    """What was found for a part; the recoding's table is the part's own."""

    rows: NDArray[np.int64]
    recoding: Recoding


def split(table: FrequencyTable, parts: int, *, how: str = "kmeans", seed: int = 0) -> list[Part]:
    """Divide the records of a table into at most `parts` parts, none of them empty.

    `kmeans` puts like tuples together (k-means, seeded by k-means++; seed 003's CP);
    `random` draws a part for every record (its control, CP-R).

    Raises:
        MethodError: a number or a way that does not exist.
    """
    if parts < 1:
        raise MethodError(problem="--partitions must be at least 1")
    if how not in HOWS:
        raise MethodError(problem=f"--partition-by must be one of {', '.join(HOWS)}")
    chance = np.random.default_rng(seed)
    if how == "random":
        shares = np.full(parts, 1 / parts)
        dealt = chance.multinomial(table.counts, shares) if table.rows else np.zeros((0, parts))
        found = [(np.flatnonzero(dealt[:, i]), dealt[:, i]) for i in range(parts)]
        return [Part(rows, counts[rows].astype(np.int64)) for rows, counts in found if len(rows)]
    starts = np.flatnonzero(np.diff(table.tuple_ids, prepend=-1))
    points = features(table.domains, table.codes[starts])
    centres = _centres(points, table.tuple_sizes, parts, chance)
    home = nearest(points, centres)[table.tuple_ids]
    rows_of = [np.flatnonzero(home == i) for i in range(len(centres))]
    return [Part(rows, table.counts[rows]) for rows in rows_of if len(rows)]


def features(domains: Sequence[Domain], codes: NDArray[np.int32]) -> NDArray[np.float64]:
    """Return coded tuples as points in the unit cube: alike values lie side by side.

    A line keeps its proportions, a tree is laid out in post-order; a missing value on a
    line lies below the others.
    """
    points = np.empty(codes.shape)
    for j, domain in enumerate(domains):
        if domain.tree is not None:
            places = domain.position / max(len(domain.tree) - 1, 1)
        else:
            inner = domain.position[1:] if domain.has_missing else domain.position
            low = float(inner[0]) if len(inner) else 0.0
            places = (domain.position - low) / (domain.span or 1.0)
            if domain.has_missing:
                places[0] = -0.5
        points[:, j] = places[codes[:, j]] * domain.weight
    return points


def nearest(points: NDArray[np.float64], centres: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the nearest centre of each point; of equals the first."""
    home = np.empty(len(points), dtype=np.int64)
    half = (centres**2).sum(axis=1) / 2
    for start in range(0, len(points), _BLOCK):
        block = points[start : start + _BLOCK]
        home[start : start + _BLOCK] = np.argmax(block @ centres.T - half, axis=1)
    return home


def _centres(
    points: NDArray[np.float64],
    weights: NDArray[np.int64],
    parts: int,
    chance: np.random.Generator,
) -> NDArray[np.float64]:
    """Return the centres of k-means, seeded by k-means++."""
    if len(points) > _SAMPLE:
        drawn = np.sort(chance.choice(len(points), _SAMPLE, replace=False))
        points, weights = points[drawn], weights[drawn]
    mass = weights / weights.sum()
    centres = [points[chance.choice(len(points), p=mass)]]
    away = ((points - centres[0]) ** 2).sum(axis=1)
    while len(centres) < parts and (total := float((away * mass).sum())) > 0:
        centres.append(points[chance.choice(len(points), p=away * mass / total)])
        away = np.minimum(away, ((points - centres[-1]) ** 2).sum(axis=1))
    found = np.array(centres)
    for _ in range(_ROUNDS):
        home = nearest(points, found)
        heavy = np.bincount(home, weights=weights, minlength=len(found))
        moved = found.copy()
        for j in range(points.shape[1]):
            sums = np.bincount(home, weights=weights * points[:, j], minlength=len(found))
            moved[:, j] = np.where(heavy > 0, sums / np.maximum(heavy, 1), found[:, j])
        if np.allclose(moved, found, rtol=0, atol=1e-12):
            break
        found = moved
    return found


def subtable(table: FrequencyTable, part: Part) -> FrequencyTable:
    """Return a part as a table of its own that still knows the whole."""
    columns = range(len(table.sensitive_domains))
    return FrequencyTable(
        domains=table.domains,
        codes=np.ascontiguousarray(table.codes[part.rows]),
        counts=np.ascontiguousarray(part.counts),
        sensitive_domains=table.sensitive_domains,
        sensitive=np.ascontiguousarray(table.sensitive[part.rows]),
        whole=tuple(table.reference(column) for column in columns),
    )


@dataclass(frozen=True)
class Coarse:
    """How a table is divided: into how many parts, in which way, on how many threads."""

    parts: int
    how: str = "kmeans"
    seed: int = 0
    threads: int | None = None


def learn_parts(
    table: FrequencyTable,
    models: Sequence[PrivacyModel],
    search: Search,
    *,
    coarse: Coarse,
    suppression_limit: float = 0.0,
) -> Recoding:
    """Divide a table, learn on every part, and join what was found.

    Guarantee:
        The result does not depend on the number of threads.

    Raises:
        NoSolutionError: all records together do not keep the promise.
    """
    parts = split(table, coarse.parts, how=coarse.how, seed=coarse.seed)

    def one(part: Part) -> Learned | None:
        return learn_part(table, models, part, search)

    def several(group: Sequence[Part]) -> list[Learned | None]:
        with ThreadPoolExecutor(coarse.threads or os.cpu_count() or 1) as pool:
            return list(pool.map(one, group))

    try:
        learned = gather(table, parts, several)
    except NoSolutionError:  # all records together: the search itself says what is missing
        return search(table)
    facts = {"partitions": len(learned), "partition_by": coarse.how}
    return join_parts(table, models, learned, suppression_limit=suppression_limit, facts=facts)


def learn_part(
    table: FrequencyTable, models: Sequence[PrivacyModel], part: Part, search: Search
) -> Learned | None:
    """Learn on one part; None where it does not keep the promise by itself."""
    own = subtable(table, part)
    if failing_classes(one_class(own), models).any():
        return None
    try:
        return Learned(part.rows, search(own))
    except NoSolutionError:
        return None


def gather(
    table: FrequencyTable,
    parts: Sequence[Part],
    run: Callable[[Sequence[Part]], Sequence[Learned | None]],
) -> list[Learned]:
    """Learn on all parts; one that has no solution is joined with its nearest and tried again.

    Raises:
        NoSolutionError: not even all parts together have one.
    """
    waiting = list(parts)
    done: list[tuple[Part, Learned]] = []
    while waiting:
        found = run(waiting)
        left = []
        for part, learned in zip(waiting, found, strict=True):
            if learned is None:
                left.append(part)
            else:
                done.append((part, learned))
        waiting = []
        for part in left:
            others = [other for other, _ in done] + waiting
            if not others:
                if len(left) == 1:
                    raise NoSolutionError(problem="no part of the table keeps the promise")
                waiting.append(part)
                continue
            best = _closest(table, part, others)
            if best < len(done):
                done.pop(best)
            else:
                waiting.pop(best - len(done))
            waiting.append(_merged(part, others[best]))
    return [learned for _, learned in done]


def _closest(table: FrequencyTable, part: Part, others: Sequence[Part]) -> int:
    middle = [_middle(table, other) for other in others]
    own = _middle(table, part)
    return int(np.argmin([float(((own - other) ** 2).sum()) for other in middle]))


def _middle(table: FrequencyTable, part: Part) -> NDArray[np.float64]:
    points = features(table.domains, table.codes[part.rows])
    middle: NDArray[np.float64] = np.average(points, axis=0, weights=part.counts)
    return middle


def _merged(one: Part, other: Part) -> Part:
    rows, home = np.unique(np.concatenate((one.rows, other.rows)), return_inverse=True)
    counts = np.bincount(home, weights=np.concatenate((one.counts, other.counts)))
    return Part(rows, counts.astype(np.int64))


def join_parts(
    table: FrequencyTable,
    models: Sequence[PrivacyModel],
    learned: Sequence[Learned],
    *,
    suppression_limit: float = 0.0,
    facts: dict[str, Any] | None = None,
) -> Recoding:
    """Return the recodings of all parts as one recoding of the table.

    Classes with the same labels become one. A class that breaks the promise once the parts
    stand together is merged with others, across parts; a class of a full-domain recoding,
    whose labels are nodes, is suppressed.

    Guarantee:
        Every class keeps every model, judged on the whole.
    """
    learned = sorted(learned, key=lambda each: each.rows.tolist())
    offsets = np.cumsum([0, *(each.recoding.classes for each in learned)])
    row = [each.rows[each.recoding.row] for each in learned]
    label = [
        np.where(each.recoding.label < 0, SUPPRESSED, each.recoding.label + offset)
        for each, offset in zip(learned, offsets[:-1], strict=True)
    ]
    count = [each.recoding.count for each in learned]
    pieces = (np.concatenate(row), np.concatenate(label), np.concatenate(count))
    low = np.concatenate([each.recoding.low for each in learned])
    high = np.concatenate([each.recoding.high for each in learned])
    nodes = [each.recoding.node for each in learned if each.recoding.node is not None]
    node = np.concatenate(nodes) if len(nodes) == len(learned) else None
    if node is not None:  # a lattice search gives every column a ladder
        table = replace(table, domains=learned[0].recoding.table.domains)
    whole = recoding_of(table, low, high, pieces, node=node, facts=facts)
    wrong = failing_classes(whole, models)
    if not wrong.any():
        return whole
    if node is None:
        clusters = Clusters(whole.row, whole.label, whole.count)
        return recode(
            table, models, clusters, space=space_of(table.domains),
            suppression_limit=suppression_limit, facts=facts,
        )  # fmt: skip
    return _without_failing(whole, models)


def _without_failing(recoding: Recoding, models: Sequence[PrivacyModel]) -> Recoding:
    """Suppress the classes that break the promise until none of those left does."""
    table, found = recoding.table, recoding
    while (wrong := failing_classes(found, models)).any():
        label = np.where(np.append(wrong, True)[found.label], SUPPRESSED, found.label)
        rank = np.append(np.cumsum(~wrong) - 1, SUPPRESSED)
        assert found.node is not None
        found = recoding_of(
            table, found.low[~wrong], found.high[~wrong], (found.row, rank[label], found.count),
            node=found.node[~wrong], facts=found.facts,
        )  # fmt: skip
        if not found.classes:
            break
    return found
