"""Apriori anonymization, and two ways to cut a large table into parts [terrovitis2008, 2011]."""

from __future__ import annotations

from itertools import product

import numpy as np
from numpy.typing import NDArray

from shoal.core.errors import MethodError
from shoal.methods.transactions.goal import SetGoal, rare_sets
from shoal.table.baskets import Baskets, SetRecoding
from shoal.table.item_labels import item_groups

Levels = NDArray[np.int32]


def ladder_of(baskets: Baskets, goal: SetGoal, name: str) -> Levels:
    """Return the group of each item at each level, the item itself first, the root last.

    Raises:
        MethodError: there is no hierarchy of items.
    """
    if goal.tree is None:
        raise MethodError(
            problem=f"--method {name} generalizes along a hierarchy of the items; give one"
        )
    above = np.array(item_groups(goal.tree, baskets.items), dtype=np.int64)
    rows = [np.arange(len(baskets.items), dtype=np.int32)]
    for level in above:
        _, first, number = np.unique(level, return_index=True, return_inverse=True)
        rows.append(first[number].astype(np.int32))  # a group is named by its first item
    return np.array(rows, dtype=np.int32)


def search_apriori(baskets: Baskets, goal: SetGoal, name: str = "apriori") -> SetRecoding:
    """Find a cut of the hierarchy so that any m labels are frequent.

    Sets of one item are looked at first, then of two, and so on to m. Where one is rare, that
    generalization of its items which makes it frequent (or absent) and loses least is applied
    everywhere, with whole subtrees, as in the paper; the next ones see it.
    """
    ladder = ladder_of(baskets, goal, name)
    return _recoded(baskets, ladder, cut_of(baskets, goal, ladder))


def _recoded(baskets: Baskets, ladder: Levels, cut: Levels) -> SetRecoding:
    return SetRecoding.of_partition(baskets, ladder[cut, np.arange(len(baskets.items))])


def cut_of(baskets: Baskets, goal: SetGoal, ladder: Levels) -> Levels:
    """Return the level that each item is released at."""
    items = len(baskets.items)
    cut = np.zeros(items, dtype=np.int32)
    support = baskets.support()
    sizes = np.array([np.bincount(row, minlength=items)[row] for row in ladder])
    holding = _holding(baskets, ladder)
    longest = int(np.diff(baskets.starts).max(initial=0))
    for size in range(1, (longest if goal.m is None else min(goal.m, longest)) + 1):
        while True:
            done = _recoded(baskets, ladder, cut)
            rare = next((s for s in rare_sets(done, goal.k, size) if len(s) <= size), None)
            if rare is None:
                break
            chosen = [done.labels[label][0] for label in rare]
            if all(cut[item] == len(ladder) - 1 for item in chosen):
                break  # too few records hold any item at all
            _generalize(chosen, cut, ladder, sizes, holding, support, goal.k)
    return cut


def _holding(baskets: Baskets, ladder: Levels) -> list[dict[int, int]]:
    """Return, for each level, the records of each of its groups, as the bits of a number."""
    found = []
    record = baskets.record
    for row in ladder:
        groups = {}
        tops = row[baskets.codes]
        for top in np.unique(row).tolist():
            mask = np.zeros(baskets.records, dtype=np.bool_)
            mask[record[tops == top]] = True
            packed = np.packbits(mask, bitorder="little").tobytes()
            groups[top] = int.from_bytes(packed, "little")
        found.append(groups)
    return found


def _generalize(
    chosen: list[int], cut: Levels, ladder: Levels, sizes: NDArray[np.int64],
    holding: list[dict[int, int]], support: NDArray[np.int64], k: int,
) -> None:  # fmt: skip
    """Raise the cut over some items as little as makes them frequent together, in place."""
    top = len(ladder) - 1
    best: tuple[float, tuple[int, ...]] | None = None
    for levels in product(*(range(int(cut[item]), top + 1) for item in chosen)):
        together = -1
        for item, level in zip(chosen, levels, strict=True):
            together &= holding[level][int(ladder[level, item])]
        if not together.bit_count() or together.bit_count() >= k:
            loss = _loss(chosen, levels, cut, ladder, sizes, support)
            if loss > 0 and (best is None or (loss, levels) < best):
                best = (loss, levels)
    levels = best[1] if best is not None else tuple(top for _ in chosen)
    for item, level in zip(chosen, levels, strict=True):
        below = ladder[level] == ladder[level, item]
        cut[below] = np.maximum(cut[below], level)


def _loss(
    chosen: list[int], levels: tuple[int, ...], cut: Levels, ladder: Levels,
    sizes: NDArray[np.int64], support: NDArray[np.int64],
) -> float:  # fmt: skip
    raised = cut.copy()
    for item, level in zip(chosen, levels, strict=True):
        below = ladder[level] == ladder[level, item]
        raised[below] = np.maximum(raised[below], level)
    every = np.arange(cut.size)
    return float(((sizes[raised, every] - sizes[cut, every]) * support).sum())


def search_lra(baskets: Baskets, goal: SetGoal, *, parts: int) -> SetRecoding:
    """Cut the records into parts of like ones, and each part by itself (local recoding, LRA).

    Records are ordered by the Gray code of what groups below the root they hold, and cut into
    parts of about one size. A label is frequent in its part, and so in the table.
    """
    ladder = ladder_of(baskets, goal, "lra")
    if not baskets.codes.size:
        return SetRecoding.of_items(baskets)
    level = max(len(ladder) - 2, 0)
    groups = np.unique(ladder[level])
    held = np.zeros((baskets.records, groups.size), dtype=np.uint8)
    held[baskets.record, np.searchsorted(groups, ladder[level, baskets.codes])] = 1
    gray = np.bitwise_xor.accumulate(held, axis=1)
    order = np.lexsort(gray.T[::-1])
    most = max(baskets.records // max(goal.k, 1), 1)
    cuts = []
    for rows in np.array_split(order, min(parts, most)):
        part, places = baskets.part(np.sort(rows))
        cuts.append((places, cut_of(part, goal, ladder)[part.codes]))
    chosen = np.zeros(baskets.codes.size, dtype=np.int32)
    for places, levels in cuts:
        chosen[places] = levels
    return recoded_by_level(baskets, ladder, chosen)


def recoded_by_level(baskets: Baskets, ladder: Levels, level: Levels) -> SetRecoding:
    """Return the recoding of each occurrence as its group at a level."""
    items = len(baskets.items)
    top = ladder[level, baskets.codes]
    used, choice = np.unique(level.astype(np.int64) * items + top, return_inverse=True)
    labels = []
    for each in used.tolist():
        at, group = divmod(each, items)
        labels.append(tuple(np.flatnonzero(ladder[at] == group).tolist()))
    known = {label: n for n, label in enumerate(dict.fromkeys(labels))}
    number = np.array([known[label] for label in labels], dtype=np.int32)
    return SetRecoding(
        baskets, tuple(known), number[choice] if used.size else choice.astype(np.int32)
    )


def search_vpa(baskets: Baskets, goal: SetGoal, *, parts: int) -> SetRecoding:
    """Cut the items into parts, each by itself first, and then the whole (VPA).

    What is rare within a part is generalized there, among few items; what is rare across parts
    is left to a last pass over all of them, which begins with that cut.
    """
    ladder = ladder_of(baskets, goal, "vpa")
    level = max(len(ladder) - 2, 0)
    groups = np.unique(ladder[level])
    cut = np.zeros(len(baskets.items), dtype=np.int32)
    for chosen in np.array_split(groups, min(parts, max(groups.size, 1))):
        inside = np.isin(ladder[level], chosen)
        kept = inside[baskets.codes] if inside.size else np.zeros(0, dtype=np.bool_)
        starts = np.concatenate([[0], np.cumsum(kept)])[baskets.starts].astype(np.int64)
        part = Baskets(baskets.items, starts, baskets.codes[kept])
        cut = np.maximum(cut, np.where(inside, cut_of(part, goal, ladder), 0)).astype(np.int32)
    return _recoded(baskets, ladder, _finished(baskets, goal, ladder, cut))


def _finished(baskets: Baskets, goal: SetGoal, ladder: Levels, cut: Levels) -> Levels:
    """Return the cut of all items that goes on from one that holds in parts."""
    every = np.arange(cut.size)
    above = ladder.copy()
    for level in range(len(ladder)):
        above[level] = np.where(cut > level, ladder[cut, every], ladder[level])
    return np.maximum(cut, cut_of(baskets, goal, above)).astype(np.int32)
