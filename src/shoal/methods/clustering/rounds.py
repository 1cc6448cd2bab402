"""Rounds of local search: how many an effort has, and what one of them does."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from itertools import pairwise
from math import ceil
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.clustering import refine as local_search
from shoal.kernels.clustering.refine import Pieces
from shoal.kernels.clustering.space import FULL
from shoal.methods.clustering.begin import Rows, Task
from shoal.methods.clustering.clusters import order_of
from shoal.methods.clustering.lines import line_up, places_on_lines
from shoal.methods.threads import in_threads

BLOCK = 4_000
"""Members that one local search looks at together; fixed, so that threads change nothing."""

EFFORTS = {"fast": (3.0, 0.0), "normal": (24.0, 0.3), "best": (80.0, 0.4)}
"""Rounds, and how much a step may lose at the beginning (on average, in whole columns)."""

LESS = {"fast": (), "normal": ("fast",), "best": ("fast", "normal")}
"""The efforts whose results an effort starts from at least."""

TURNS = {"fast": 200_000, "normal": 600_000, "best": 2_000_000}
"""Turns of members after which an effort ends, so that large tables take seconds too: fewer rounds
then, and where there are more members than turns, one round on a part of the clusters."""

LONG = 8
"""Up to this k a fast search dissolves and founds clusters in two rounds, above it in one: both
take longer in large clusters."""

COOLS = 10
"""With so many rounds every second one only moves, swaps and pulls: that takes a sixth less time
and loses the same. With fewer no step may lose (Adult, k = 50, 8 rounds: NCP 0.1701 instead of
0.1728; 300,000 hospital stays, k = 10, 2 rounds: 0.1290 instead of 0.1302)."""

WARM = 0.6
"""How much a step may lose at the beginning of a search by the clock (Adult, k = 10, 30 s: NCP
0.0785 with 0.15, 0.0778 with 0.3, 0.0765 with 0.6, 0.0775 with 1)."""

COLD = 0.8
"""After this part of the search no step may lose any more."""

WINDOW = 40
"""Clusters to each side that a cluster deals with (Adult, k = 5, in the same time: NCP 0.0524
with 16 and 30 rounds, 0.0518 with 64 and 16 rounds)."""

Block = TypeVar("Block")


@dataclass(frozen=True)
class Plan:
    """How long to search, and with what chances; share: of the blocks, in each round.

    stop, seconds: when to stop by the clock, and how long that is after the beginning.
    thorough: where a search is brief, the rounds that dissolve and found clusters too.
    """

    rounds: int
    loose: float
    share: float
    _: KW_ONLY
    seed: int
    stop: float | None
    seconds: float
    threads: int | None
    thorough: int | None = None

    def is_thorough(self, done: int) -> bool:
        """Say whether a round dissolves and founds clusters, too."""
        if self.thorough is not None:
            return done < self.thorough
        return self.rounds < COOLS or done % 2 == 0

    def goes_on(self, done: int) -> bool:
        """Say whether there is another round, after some."""
        if self.stop is None:
            return done < self.rounds
        return done == 0 or time.perf_counter() < self.stop

    def warmth(self, done: int) -> float:
        """Return what part of the first losses a step may still lose, after some rounds."""
        part = done / self.rounds
        if self.stop is not None:
            part = 1 - (self.stop - time.perf_counter()) / self.seconds
        return max(0.0, 1 - part / COLD)


def plan_of(
    effort: str, members: int, *, k: int, seed: int, stop: float | None, threads: int | None
) -> Plan:
    """Return how long an effort searches: a turn costs more in large clusters."""
    most, loose = EFFORTS[effort]
    brief = (2 if k <= LONG else 1) if loose == 0.0 and stop is None else None
    wanted = min(most, TURNS[effort] / max(members * max(1.0, k / 10), 1.0))
    rounds = max(1, int(wanted) if loose else ceil(wanted))
    if stop is not None:
        loose = WARM if loose else 0.0
        left = max(stop - time.perf_counter(), 1e-9)
        return Plan(rounds, loose, 1.0, seed=seed, stop=stop, seconds=left, threads=threads)
    loose = 0.0 if rounds < COOLS else loose
    share = min(1.0, wanted / rounds)
    return Plan(
        rounds, loose, share, seed=seed, stop=None, seconds=0.0, threads=threads, thorough=brief
    )


@dataclass(frozen=True)
class _Round:
    """What the blocks of one round share."""

    members: Pieces
    label: NDArray[np.int64]
    task: Task
    cool: int
    is_thorough: bool
    is_brief: bool
    chance: tuple[int, int]

    def improve(self, block: tuple[int, NDArray[np.int64]]) -> tuple[NDArray[np.int64], int]:
        """Return the labels of a block's members, and by how much the loss fell."""
        number, at = block
        chance = np.random.default_rng((*self.chance, number))
        label = self.label[at] - self.label[at[0]]
        turns = chance.permutation(len(at))
        slack = (chance.exponential(size=len(at)) * self.cool).astype(np.int64)
        fallen = local_search.improve(
            self.members.at(at),
            label,
            losses=self.task.losses,
            promise=self.task.promise,
            turns=turns,
            slack=slack,
            window=WINDOW,
            is_thorough=self.is_thorough,
            is_brief=self.is_brief,
        )
        return label, fallen


def improved(
    members: Pieces, label: NDArray[np.int64], *, task: Task, plan: Plan
) -> tuple[NDArray[np.int64], int]:
    """Improve the clusters round by round; return the best labels and the number of rounds."""
    done = 0
    fallen = most = 0
    best = label
    whole = int(task.space.column[:, FULL].max(initial=0))
    places = places_on_lines(task.space)
    while plan.goes_on(done):
        rank = line_up(members.codes, label, places, np.random.default_rng((plan.seed, done)))
        label = rank[label]
        order = order_of(label)
        blocks = [(i, order[a:b]) for i, (a, b) in enumerate(pairwise(_edges(label[order])))]
        if plan.share < 1:
            blocks = _some(blocks, plan.share, np.random.default_rng((plan.seed, done, 1)))
        cool = int(plan.loose * whole * plan.warmth(done))
        this = _Round(
            members, label, task, cool, plan.is_thorough(done), plan.thorough is not None,
            (plan.seed, done),
        )  # fmt: skip
        found = in_threads(this.improve, blocks, plan.threads)
        fallen += sum(less for _, less in found)
        label = _renumbered(
            label, [(at, labels) for (_, at), (labels, _) in zip(blocks, found, strict=True)]
        )
        if fallen >= most:  # rounds that accept losses may end above the start
            best, most = label, fallen
        done += 1
    return best, done


def _renumbered(
    label: NDArray[np.int64], blocks: Sequence[tuple[Rows, NDArray[np.int64]]]
) -> NDArray[np.int64]:
    """Return labels 0 … c-1: first those of the members in no block, then block by block."""
    is_left = np.ones(len(label), dtype=bool)
    for at, _ in blocks:
        is_left[at] = False
    left = label[is_left]
    is_used = np.zeros(int(label.max()) + 1, dtype=bool)
    is_used[left] = True
    fresh = np.empty_like(label)
    fresh[is_left] = (np.cumsum(is_used) - 1)[left]
    number = int(is_used.sum())
    for at, labels in blocks:
        some, where = np.unique(labels, return_inverse=True)
        fresh[at] = where + number
        number += len(some)
    return fresh


def _some(blocks: list[Block], share: float, chance: np.random.Generator) -> list[Block]:
    """Return a share of the blocks, at least one, in their order."""
    many = max(1, round(share * len(blocks)))
    return [blocks[i] for i in np.sort(chance.permutation(len(blocks))[:many])]


def _edges(label: NDArray[np.int64]) -> list[int]:
    """Return where blocks of about BLOCK members begin, each at the beginning of a cluster."""
    wanted = np.arange(0, len(label), BLOCK)
    edges = np.unique(np.searchsorted(label, label[wanted], side="left"))
    return [int(edge) for edge in edges] + [len(label)]
