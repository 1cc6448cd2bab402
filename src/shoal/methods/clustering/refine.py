"""Refine: begin well, then improve by moving, swapping and pulling records, for seconds."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import KW_ONLY, dataclass
from itertools import pairwise
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from shoal.core.errors import MethodError
from shoal.core.privacy import KAnonymity, PrivacyModel
from shoal.kernels import clustering_cut, clustering_local, clustering_member
from shoal.kernels.axes import Promise
from shoal.kernels.clustering_order import alike_order, hardness
from shoal.kernels.clustering_space import FULL, START, Space
from shoal.methods.arrays import promise_of
from shoal.methods.clustering.clusters import Clusters, boxes_of, least_records, place_leftovers
from shoal.methods.clustering.repair import recode
from shoal.methods.clustering.space import space_of
from shoal.methods.frequency import FrequencyTable
from shoal.methods.recoding import Recoding

BLOCK = 4_000
"""Rows that the start looks at together; half of them in tables above MANY rows. Larger blocks
lose a little less (Adult, k = 10: 0.0882 with 10,000, 0.0889 with 4,000) but take longer."""

MANY = 50_000

PART = 4_000
"""Pieces that one local search looks at together; fixed, so that threads change nothing."""

EASY = 20
"""Below this k the start begins with easy records; from here on, best cut is the better start."""

PRICE = 0.07
"""What a record's hardness is worth (Adult, k = 5, NCP of the start: 0.0587 with 0, 0.0578 with
0.07, 0.0581 with 0.2)."""

EFFORTS = {"fast": (1, 0.0), "normal": (30, 0.3), "best": (100, 0.3)}
"""Rounds, and how much a step may lose at the beginning (on average, in whole columns)."""

TURNS = {"fast": 0, "normal": 1_000_000, "best": 5_000_000}
"""Turns of pieces after which an effort ends, so that large tables take seconds too."""

WINDOW = 16
"""Clusters to each side that a cluster deals with; 40 of them and fewer rounds do the same."""

SPREAD = 1.5
"""How much the columns' weights differ (as powers of e) when clusters line up for a round."""

Part = TypeVar("Part")
Found = TypeVar("Found")
Pieces = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]


@dataclass(frozen=True)
class _Plan:
    """How long to search, and with what chances."""

    rounds: int
    loose: float
    _: KW_ONLY
    seed: int
    stop: float | None
    threads: int | None

    def goes_on(self, done: int) -> bool:
        if self.stop is None:
            return done < self.rounds
        return done == 0 or time.perf_counter() < self.stop


def refine(
    table: FrequencyTable,
    models: Sequence[PrivacyModel],
    *,
    effort: str = "normal",
    seconds: float | None = None,
    seed: int = 0,
    threads: int | None = None,
    suppression_limit: float = 0.0,
) -> Recoding:
    """Lose less than the other methods by improving clusters step by step.

    1. A row that k or more records share is a class of its own; what it has to spare may
       fill others.
    2. The other rows are put in an order in which neighbours are alike.
    3. For small k they are clustered as k-member does it, but beginning with the easy ones
       (those whose k-th nearest record is near), and hard ones are taken along while it is
       cheap. For larger k they are cut by `bestcut`.
    4. Rounds of local search on the true loss, each with the clusters in another order.

    Args:
        table: the distinct rows.
        models: the promise.
        effort: fast (one round), normal or best (many rounds, the first of which also
            accept small losses, to leave dead ends).
        seconds: stop after this time instead of after the effort's rounds. The result then
            depends on the speed of the machine.
        seed: decides the orders.
        threads: how many blocks are improved at once; never changes the result.
        suppression_limit: share of records that may be suppressed.

    Raises:
        MethodError: there is no such effort, or no time at all.
    """
    if effort not in EFFORTS:
        raise MethodError(problem=f"--effort {effort}: must be one of {', '.join(EFFORTS)}")
    if seconds is not None and not seconds > 0:
        raise MethodError(problem="--seconds must be above 0")
    stop = None if seconds is None else time.perf_counter() + seconds
    space = space_of(table.domains)
    k = least_records(models)
    row, label, count = _start(table, space, k, threads=threads)
    rounds, loose = EFFORTS[effort]
    turns = len(row) * max(1.0, k / 10)  # a turn costs more where clusters are large
    rounds = max(1, min(rounds, int(TURNS[effort] / max(turns, 1.0))))
    plan = _Plan(rounds, loose, seed=seed, stop=stop, threads=threads)
    label, done = _improve(table.codes[row], count, label, space=space, k=k, plan=plan)
    clusters = Clusters(row, label, count)
    return recode(
        table, models, clusters, space=space, suppression_limit=suppression_limit,
        facts={"effort": effort, "rounds": done},
    )  # fmt: skip


def _start(table: FrequencyTable, space: Space, k: int, *, threads: int | None) -> Pieces:
    """Return clusters of at least k records: rows that suffice for themselves, and the others."""
    heavy = np.flatnonzero(table.counts >= k)
    light = np.flatnonzero(table.counts < k)
    spare = np.minimum(table.counts[heavy] - k, k - 1)  # nobody needs more
    own = np.arange(len(heavy))
    pieces = (
        np.concatenate((heavy, np.repeat(heavy, spare))),
        np.concatenate((own, np.repeat(own, spare))),
        np.concatenate((table.counts[heavy] - spare, np.ones(spare.sum(), dtype=np.int64))),
    )
    if not len(light):
        return pieces
    order = light[alike_order(table.codes[light], space)]
    block = BLOCK if len(order) <= MANY else BLOCK // 2
    blocks = max(1, round(len(order) / block))
    begin = _begin_easy if k < EASY else _begin_cut
    for part in _each(
        lambda rows: begin(table, rows, space, k), np.array_split(order, blocks), threads
    ):
        pieces = _append(pieces, part)
    row, label, count = pieces
    return place_leftovers(Clusters(row, label, count), table.codes, space)


def _append(pieces: Pieces, part: Pieces) -> Pieces:
    shift = int(pieces[1].max(initial=-1)) + 1
    label = np.where(part[1] < 0, -1, part[1] + shift)
    row, count = np.concatenate((pieces[0], part[0])), np.concatenate((pieces[2], part[2]))
    return row, np.concatenate((pieces[1], label)), count


def _begin_easy(table: FrequencyTable, rows: NDArray[np.int64], space: Space, k: int) -> Pieces:
    codes, counts = table.codes[rows], table.counts[rows]
    hard = hardness(codes, counts, space, k=k)
    found = clustering_member.grow(
        codes,
        counts,
        np.arange(len(rows)),
        space=space,
        k=k,
        first=0,
        seeds=np.argsort(hard, kind="stable"),
        price=(hard * PRICE).astype(np.int64),
    )
    return rows[found.row], found.label, found.records


def _begin_cut(table: FrequencyTable, rows: NDArray[np.int64], space: Space, k: int) -> Pieces:
    counts = table.counts[rows]
    if counts.sum() < k:
        return rows, np.full(len(rows), -1), counts
    nothing = np.zeros((len(rows), 0), dtype=np.int32)
    found = clustering_cut.cut(
        table.codes[rows], counts, nothing, space=space, promise=_only_k(table, k)
    )
    return rows[found.row], found.label, counts[found.row]


def _only_k(table: FrequencyTable, k: int) -> Promise:
    bare = FrequencyTable(
        table.domains, table.codes[:0], table.counts[:0], (), np.zeros((0, 0), dtype=np.int32)
    )
    return promise_of([KAnonymity(k)], bare)


def _each(work: Callable[[Part], Found], parts: Sequence[Part], threads: int | None) -> list[Found]:
    if len(parts) == 1 or threads == 1:
        return [work(part) for part in parts]
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(work, parts))


@dataclass(frozen=True)
class _Round:
    """What the blocks of one round share."""

    codes: NDArray[np.int32]
    counts: NDArray[np.int64]
    label: NDArray[np.int64]
    space: Space
    k: int
    cool: int
    chance: tuple[int, int]

    def improve(self, block: tuple[int, NDArray[np.int64]]) -> NDArray[np.int64]:
        """Return the labels of a block's pieces, different from those of any other block."""
        number, pieces = block
        chance = np.random.default_rng((*self.chance, number))
        label = self.label[pieces] - self.label[pieces[0]]
        turns = chance.permutation(len(pieces))
        slack = (chance.exponential(size=len(pieces)) * self.cool).astype(np.int64)
        clustering_local.improve(
            self.codes[pieces],
            self.counts[pieces],
            label,
            space=self.space,
            k=self.k,
            turns=turns,
            slack=slack,
            window=WINDOW,
        )
        shifted: NDArray[np.int64] = label + number * 2 * (len(self.label) + 8)
        return shifted


def _improve(
    codes: NDArray[np.int32],
    counts: NDArray[np.int64],
    label: NDArray[np.int64],
    *,
    space: Space,
    k: int,
    plan: _Plan,
) -> tuple[NDArray[np.int64], int]:
    """Improve the clusters round by round; return the labels and the number of rounds."""
    done = 0
    whole = int(space.column[:, FULL].max())
    while plan.goes_on(done):
        rank = _line_up(codes, label, space, np.random.default_rng((plan.seed, done)))
        label = rank[label]
        order = np.argsort(label, kind="stable")
        edges = _edges(label[order])
        blocks = [(i, order[a:b]) for i, (a, b) in enumerate(pairwise(edges))]
        cool = int(plan.loose * whole * max(0.0, 1 - done / (0.8 * plan.rounds)))
        this = _Round(codes, counts, label, space, k, cool, (plan.seed, done))
        fresh = np.empty_like(label)
        found = _each(this.improve, blocks, plan.threads)
        for (_, pieces), labels in zip(blocks, found, strict=True):
            fresh[pieces] = labels
        _, label = np.unique(fresh, return_inverse=True)
        done += 1
    return label, done


def _line_up(
    codes: NDArray[np.int32],
    label: NDArray[np.int64],
    space: Space,
    chance: np.random.Generator,
) -> NDArray[np.int64]:
    """Return the place of each cluster in a line of neighbours, another one each time."""
    low, high = boxes_of(codes, label)
    middle = ((low.astype(np.int64) + high) // 2).astype(np.int32)
    weights = np.exp(chance.uniform(-SPREAD, SPREAD, len(space.column)))
    flat = space.flat.copy()
    ends = [*space.column[1:, START], len(flat)]
    for column, weight, end in zip(space.column, weights, ends, strict=True):
        flat[column[START] : end] = flat[column[START] : end] * weight
    order = alike_order(middle, Space(space.column, flat, space.log), leaf=2)
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    return rank


def _edges(label: NDArray[np.int64]) -> list[int]:
    """Return where blocks of about PART pieces begin, each at the beginning of a cluster."""
    wanted = np.arange(0, len(label), PART)
    edges = np.unique(np.searchsorted(label, label[wanted], side="left"))
    return [int(edge) for edge in edges] + [len(label)]
