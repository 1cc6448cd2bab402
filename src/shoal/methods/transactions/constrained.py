"""COAT and PCTA: items are merged only for what a data owner asks [loukides2011, gkoulalas2012].

The papers' own text could not be had whole; this is built from what they and their surveys say.
Both look at privacy constraints one by one and merge items until each fits k records or none:

* PCTA takes the constraint that fits most records first, the one nearest to being met, and merges
  the set of one of its items with the set, of all items, that costs the least utility (UL).
* COAT takes the constraint of most records, too, and its rarest item; it merges that only within a
  utility constraint, the sets of items that a data owner allows, and suppresses it where none is
  left to merge with.

Without constraints of an owner, the rare sets of up to m items are the constraints: k^m-anonymity.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal.methods.transactions.goal import SetGoal, item_bits, rare_beside
from shoal.table.baskets import Baskets, SetRecoding

Heads = NDArray[np.int32]
SUPPRESSED = -1


def utility_loss(size: int, support: int, items: int, records: int) -> float:
    """Return what a label of so many items costs (UL): its subsets, of all, in its records.

    Example:
        >>> utility_loss(2, 5, 3, 10)
        0.21428571428571427
    """
    return (2.0 ** (size - items) - 2.0**-items) / (1 - 2.0**-items) * support / max(records, 1)


def recoded(baskets: Baskets, head: Heads) -> SetRecoding:
    """Return the recoding of each item as its set; -1: the item is suppressed."""
    items = len(baskets.items)
    plain = np.where(head < 0, np.arange(items), head).astype(np.int32)
    found = SetRecoding.of_partition(baskets, plain)
    gone = (head < 0)[baskets.codes] if items else np.zeros(0, dtype=np.bool_)
    choice = np.where(gone, -1, found.choice).astype(np.int32)
    return SetRecoding(baskets, found.labels, choice)


@dataclass(slots=True)
class _Merging:
    """The sets of items so far, and the records of each as the bits of a number."""

    goal: SetGoal
    head: Heads
    bits: list[int]  # by the head of a set
    records: int
    rarest: bool
    direct: bool = False

    @classmethod
    def of(
        cls, baskets: Baskets, goal: SetGoal, head: Heads, *, rarest: bool, direct: bool = False
    ) -> _Merging:
        """Begin with some sets; see `meet_requirements`."""
        own = item_bits(baskets)
        bits = [0] * len(own)
        for item, top in enumerate(head.tolist()):
            if top >= 0:
                bits[top] |= own[item]
        return cls(goal, head.copy(), bits, baskets.records, rarest, direct)

    def support(self, items: Iterable[int]) -> int:
        """Count the records that may hold all these items."""
        together = -1
        for item in items:
            top = int(self.head[item])
            together &= self.bits[top] if top >= 0 else 0
        return together.bit_count()

    def loss(self, size: int, support: int) -> float:
        """Return the utility loss of a set."""
        if self.direct:
            return (size - 1.0) * support
        return utility_loss(size, support, self.head.size, self.records)

    def _is_met(self, required: Sequence[int], top: int, other: int) -> bool:
        """Say whether a constraint would be met if two sets were one."""
        both, together = self.bits[top] | self.bits[other], -1
        for item in required:
            own = int(self.head[item])
            together &= both if own in (top, other) else self.bits[own] if own >= 0 else 0
        return not 0 < together.bit_count() < self.goal.k

    def meet(self, required: Sequence[int]) -> None:
        """Merge until a constraint fits k records, or none."""
        while 0 < self.support(required) < self.goal.k:
            self._merge_for(required)

    def _merge_for(self, required: Sequence[int]) -> None:
        kept = [item for item in dict.fromkeys(required) if self.head[item] >= 0]
        kept.sort(key=lambda item: (self.bits[int(self.head[item])].bit_count(), item))
        size = np.bincount(self.head[self.head >= 0], minlength=self.head.size).tolist()
        best: tuple[bool, float, int, int] | None = None
        for item in kept[:1] if self.rarest else kept:
            top = int(self.head[item])
            for other in self._allowed(item):
                both = (self.bits[top] | self.bits[other]).bit_count()
                more = self.loss(size[top] + size[other], both) - sum(
                    self.loss(size[each], self.bits[each].bit_count()) for each in (top, other)
                )
                key = (self.direct and not self._is_met(required, top, other), more, top, other)
                if best is None or key < best:
                    best = key
        if best is None:  # nothing is left to merge with
            self.bits[int(self.head[kept[0]])] = 0
            self.head[self.head == self.head[kept[0]]] = SUPPRESSED
            return
        _, _, top, other = best
        self.bits[top] |= self.bits[other]
        self.bits[other] = 0
        self.head[self.head == other] = top

    def _allowed(self, item: int) -> list[int]:
        """Return the sets that an item may be merged with, by its utility constraint."""
        within: Iterable[int] = range(self.head.size)
        if self.goal.utility:
            within = next((each for each in self.goal.utility if item in each), ())
        found = {int(self.head[other]) for other in within} - {int(self.head[item]), SUPPRESSED}
        return sorted(found)

    def nearest_rare(self) -> tuple[int, ...] | None:
        """Return the items of the rare set of up to m labels that is held by most records."""
        live = [(top, mask) for top, mask in enumerate(self.bits) if mask]
        best: tuple[int, tuple[int, ...]] = (0, ())
        for each in rare_beside((), -1, live, self.goal.k, self.goal.m or len(live)):
            support = self.support(each)
            if support > best[0]:
                best = (support, each)
        return best[1] or None


def meet_requirements(
    baskets: Baskets, goal: SetGoal, head: Heads, *, rarest: bool = False, direct: bool = False
) -> Heads:
    """Return the sets that items must be merged to so that every requirement is met.

    The requirement that fits most records, of those that fit too few, comes first.

    Args:
        baskets: the records.
        goal: k, the requirements, and what labels must not cross.
        head: the set of each item so far.
        rarest: only the rarest item of a requirement is merged (COAT).
        direct: two sets that meet a requirement as one come before all others, and what is lost
            is weighed by items, not by their subsets (ours).
    """
    merging = _Merging.of(baskets, goal, head, rarest=rarest, direct=direct)
    while True:
        found = [(merging.support(each), each) for each in goal.required if each]
        open_ = [each for each in found if 0 < each[0] < goal.k]
        if not open_:
            return merging.head
        merging.meet(max(open_, key=lambda each: each[0])[1])


def search_constrained(baskets: Baskets, goal: SetGoal, *, rarest: bool) -> SetRecoding:
    """Find sets as PCTA does, or with `rarest` as COAT; see the head of this file."""
    head = meet_requirements(
        baskets, goal, np.arange(len(baskets.items), dtype=np.int32), rarest=rarest
    )
    merging = _Merging.of(baskets, goal, head, rarest=rarest)
    while goal.m != 0:
        rare = merging.nearest_rare()
        if rare is None:
            break
        merging.meet(rare)
    return recoded(baskets, merging.head)
