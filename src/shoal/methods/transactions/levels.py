"""Local choice along a hierarchy: a label goes down a level wherever it is frequent there."""

from __future__ import annotations

import numpy as np

from shoal.kernels.transactions.descending import descend_items
from shoal.methods.method import Setting
from shoal.methods.transactions.apriori import Levels, cut_of, ladder_of, recoded_by_level
from shoal.methods.transactions.goal import SetGoal, reaches
from shoal.table.baskets import Baskets, SetRecoding

MOST_KNOWN = 3
"""Items that somebody may know, for which descending is exact."""


ROUNDS = 40
"""How often some labels of a level try again."""


def search_levels(baskets: Baskets, goal: SetGoal, setting: Setting) -> SetRecoding:
    """Find a cut as Apriori anonymization does, and go down from it wherever that can be.

    Of more items than are exact here, or where sets must fit that an owner names, the cut stays.
    """
    ladder = ladder_of(baskets, goal, "apriori")
    cut = cut_of(baskets, goal, ladder)
    whole = recoded_by_level(baskets, ladder, cut[baskets.codes])
    is_exact = goal.m is not None and 1 <= goal.m <= MOST_KNOWN and not goal.required
    if not baskets.codes.size or not is_exact or not reaches(whole, goal):
        return whole
    assert goal.m is not None
    return descend_levels(
        baskets, ladder, cut, k=goal.k, m=goal.m, rounds=ROUNDS, seed=setting.seed
    )


def descend_levels(
    baskets: Baskets, ladder: Levels, cut: Levels, *, k: int, m: int, rounds: int, seed: int
) -> SetRecoding:
    """Return a recoding whose labels are nodes of the hierarchy, as low as each record allows.

    Level by level from the top, each occurrence goes down where that is frequent. A label that is
    reached from two others is counted for each by itself: what is frequent then, or absent, is so
    for both together.

    Args:
        baskets: the records.
        ladder: the group of each item at each level.
        cut: the level of each item at which no m labels are rare.
        k: the least support.
        m: 1, 2 or 3.
        rounds: how often some labels try again, on each level.
        seed: of their choice.
    """
    items = max(len(baskets.items), 1)
    level = cut[baskets.codes].astype(np.int32)
    for step in range(int(level.max(initial=0)) - 1, -1, -1):
        below = np.minimum(level, step).astype(np.int32)
        parent = level.astype(np.int64) * items + ladder[level, baskets.codes]
        child = below.astype(np.int64) * items + ladder[below, baskets.codes]
        pairs, virtual = np.unique(parent * len(ladder) * items + child, return_inverse=True)
        held, place = np.unique(baskets.record * pairs.size + virtual, return_inverse=True)
        record, codes = np.divmod(held, max(pairs.size, 1))
        starts = np.searchsorted(record, np.arange(baskets.records + 1)).astype(np.int64)
        _, first, above = np.unique(
            pairs // (len(ladder) * items), return_index=True, return_inverse=True
        )
        head = first[above].astype(np.int32)
        size = np.bincount(head, minlength=pairs.size)
        down = descend_items(
            starts, codes.astype(np.int32), head, size, k=k, m=m, rounds=rounds, seed=seed
        )
        level = np.where(down[place], below, level).astype(np.int32)
    return recoded_by_level(baskets, ladder, level)
