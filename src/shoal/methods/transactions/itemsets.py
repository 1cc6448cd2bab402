"""Our own search: sets of items within an aisle, merged as little as can be; then local choice."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.transactions.descending import descend_items
from shoal.kernels.transactions.merging import merge_items
from shoal.methods.method import Setting
from shoal.methods.transactions.constrained import meet_requirements
from shoal.methods.transactions.goal import SetGoal, reaches
from shoal.table.baskets import Baskets, SetRecoding
from shoal.table.item_labels import item_groups

Heads = NDArray[np.int32]

MOST_LABELS = 1500
"""Labels that are merged pair by pair; of more items, rare ones are put together first."""

ROUNDS = {"fast": 60, "normal": 1500, "best": 40_000}
WORK = 2e10
"""Steps that the rounds may take, about 30 s; large tables get fewer rounds."""


def search_itemsets(
    baskets: Baskets, goal: SetGoal, setting: Setting, *, effort: str, across: bool, local: bool
) -> SetRecoding:
    """Find sets of items, and where an item can be released as itself.

    Args:
        baskets: the records.
        goal: what must hold.
        setting: seed.
        effort: how often sets are taken apart and merged again.
        across: sets may hold items of several groups below the root of the hierarchy.
        local: an item is released as itself in the records where that is frequent enough.
    """
    here = np.unique(baskets.codes)  # of a part of a table: most items may be elsewhere
    if not here.size or (goal.m == 0 and not goal.required):
        return SetRecoding.of_partition(baskets, np.arange(len(baskets.items), dtype=np.int32))
    known = 2 if goal.m is None else min(goal.m, 3)
    groups = _groups(goal, baskets, across=across)[:, here]
    small = Baskets(
        tuple(baskets.items[item] for item in here),
        baskets.starts,
        np.searchsorted(here, baskets.codes).astype(np.int32),
    )
    head = np.arange(here.size, dtype=np.int32)
    if goal.m != 0:
        head = _partition(small, goal, known, groups, rounds=ROUNDS[effort], seed=setting.seed)
    whole = np.arange(len(baskets.items), dtype=np.int32)
    whole[here] = here[head]
    if goal.required:
        whole = meet_requirements(baskets, goal, whole, direct=True)
    is_exact = goal.m is not None and 1 <= goal.m <= 3 and not goal.required
    if not local or not is_exact or not reaches(SetRecoding.of_partition(baskets, whole), goal):
        return SetRecoding.of_partition(baskets, whole)
    size = np.bincount(whole, minlength=whole.size)
    rounds = _affordable(ROUNDS[effort] // 20, small)
    down = descend_items(
        baskets.starts, baskets.codes, whole, size, k=goal.k, m=known, rounds=rounds,
        seed=setting.seed,
    )  # fmt: skip
    return SetRecoding.local(baskets, whole, down)


def _groups(goal: SetGoal, baskets: Baskets, *, across: bool) -> NDArray[np.int32]:
    """Return the groups that sets stay within, the finest first, all items as the last."""
    items = len(baskets.items)
    found = np.zeros((1, items), dtype=np.int32)
    if goal.tree is not None and not across:
        levels = item_groups(goal.tree, baskets.items)
        if len(levels) > 1:
            found = np.vstack([np.array(levels[-2], dtype=np.int32), found])
    return found


def _partition(
    baskets: Baskets, goal: SetGoal, m: int, groups: NDArray[np.int32], *, rounds: int, seed: int
) -> Heads:
    """Return the set of each item: asking more of pairs, until all that must be is frequent."""
    k = goal.k
    while True:
        head = _merged(baskets, k, m, groups, rounds=rounds, seed=seed)
        done = SetRecoding.of_partition(baskets, head)
        is_exact = goal.m is not None and goal.m <= 3
        if is_exact or k > baskets.records or reaches(done, goal):
            return head
        k += k // 2 + 1


def _merged(
    baskets: Baskets, k: int, m: int, groups: NDArray[np.int32], *, rounds: int, seed: int
) -> Heads:
    items = len(baskets.items)
    packed = np.arange(items, dtype=np.int32)
    if items > MOST_LABELS:
        packed = _packed(baskets.support(), groups[0], MOST_LABELS)
    used, number = np.unique(packed, return_inverse=True)
    pairs = np.unique(baskets.record * used.size + number[baskets.codes])
    record, codes = np.divmod(pairs, used.size)
    starts = np.searchsorted(record, np.arange(baskets.records + 1)).astype(np.int64)
    small = Baskets(tuple(map(str, used)), starts, codes.astype(np.int32))
    first = np.bincount(number, minlength=used.size).astype(np.int32)
    head, _ = merge_items(
        starts, small.codes, first, k=k, m=m, within=np.ascontiguousarray(groups[:, used]),
        rounds=_affordable(rounds, small), seed=seed,
    )  # fmt: skip
    return used[head[number]].astype(np.int32)


def _affordable(rounds: int, baskets: Baskets) -> int:
    sizes = np.diff(baskets.starts).astype(np.float64)
    work = 3.0 * float((sizes**2).sum()) + float(len(baskets.items)) ** 2 * 20
    return int(min(rounds, WORK / max(work, 1.0)))


def _packed(support: NDArray[np.int64], group: NDArray[np.int32], most: int) -> Heads:
    """Put rare items of a group together, so that about `most` sets are left.

    Items are taken from the rarest on; a set is full when it has a support that is searched for
    by halving.
    """
    order = np.lexsort((support, group))
    low, high = 1, int(support.sum()) + 1
    best = _filled(support, group, order, high)
    while low < high:
        full = (low + high) // 2
        tried = _filled(support, group, order, full)
        if np.unique(tried).size <= most:
            best, high = tried, full
        else:
            low = full + 1
    return best


def _filled(
    support: NDArray[np.int64], group: NDArray[np.int32], order: NDArray[np.int64], full: int
) -> Heads:
    head = np.empty(support.size, dtype=np.int32)
    top, held, last = -1, 0, -1
    for item in order.tolist():
        if top < 0 or held >= full or group[item] != last or support[item] >= full:
            top, held, last = item, 0, int(group[item])
        head[item] = top
        held += int(support[item])
    return head
