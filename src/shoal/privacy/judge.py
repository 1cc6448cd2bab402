"""The judge: the one loop over equivalence classes that every room uses.

Searches have a compiled twin (`kernels.judge`) and one over arrays (`methods.verdicts`); both
are held to this one by tests. What is published is always judged here.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import repeat

from shoal.core.documents import Document
from shoal.privacy.promise import Better, EquivalenceClass, Needs, Promise


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """How classes stand against one promise.

    Attributes:
        value: The measure of the worst class; None when there is no class.
        failing: The positions of the classes that break it, in the order they came.

    Law:
        `merge` is associative and commutative in all but `failing`, which it leaves out, so
        chunks and Spark tasks may be joined in any order.
    """

    model: Promise
    holds: bool
    value: float | None
    violating_records: int = 0
    failing: tuple[int, ...] = field(default=(), compare=False, repr=False)

    def merge(self, other: Verdict) -> Verdict:
        """Return the verdict on the classes of both."""
        values = [value for value in (self.value, other.value) if value is not None]
        worst = self.model.better.worse(*values) if len(values) == 2 else next(iter(values), None)
        return Verdict(
            model=self.model,
            holds=self.holds and other.holds,
            value=worst,
            violating_records=self.violating_records + other.violating_records,
        )

    def to_document(self) -> Document:
        """Return the verdict as a `privacy` entry of a report, without values of the data."""
        return {
            "model": self.model.name,
            "parameters": self.model.shown(),
            "holds": self.holds,
            # JSON has no infinite number.
            "value": "infinite" if self.value == math.inf else self.value,
        }


def judge_classes(
    promise: Promise,
    classes: Iterable[EquivalenceClass],
    *,
    times: Iterable[int] | None = None,
    widen: Callable[[int], EquivalenceClass] | None = None,
) -> Verdict:
    """Judge classes: do they hold, what is the worst measure, how many records fail?

    Args:
        promise: bound to its column (see `expand`).
        classes: each with what the promise needs of it.
        times: how many classes are alike, for each of `classes`; one each if None.
        widen: returns a class, by its position, with the sets of records around it. Asked
            only for classes that fail without them, because there are many such sets.

    Example:
        >>> from shoal.privacy import KAnonymity
        >>> verdict = judge_classes(KAnonymity(3), [EquivalenceClass(5), EquivalenceClass(2)])
        >>> verdict.holds, verdict.value, verdict.violating_records, verdict.failing
        (False, 2, 2, (1,))
    """
    worst: float | None = None
    violating = 0
    failing = []
    may_widen = widen is not None and Needs.SUPERSETS in promise.needs
    for position, (seen, alike) in enumerate(zip(classes, times or repeat(1), strict=False)):
        if seen.records:
            value, holds = promise.judge(seen)
        else:  # records of nobody protect nobody
            value, holds = (0.0 if promise.better is Better.HIGH else math.inf), False
        if seen.records and not holds and may_widen and widen is not None:
            value, holds = promise.judge(widen(position))
        worst = value if worst is None else promise.better.worse(worst, value)
        if not holds:
            failing.append(position)
            violating += promise.violating(seen) * alike
    return Verdict(
        model=promise,
        holds=not failing,
        value=worst,
        violating_records=violating,
        failing=tuple(failing),
    )


def judge_sizes(
    promise: Promise, sizes: Sequence[int], *, held: Sequence[int] | None = None
) -> Verdict:
    """Judge classes of which nothing but the size is asked: those of one size are alike.

    held: the records of each class, where the sizes are numbers of persons.

    Example:
        >>> from shoal.privacy import KAnonymity
        >>> judge_sizes(KAnonymity(3), [2, 5, 2]).failing
        (0, 2)
    """
    alike = Counter(sizes)
    several = None if held is None else ()
    seen = (EquivalenceClass(size, several=several) for size in alike)
    verdict = judge_classes(promise, seen, times=alike.values())
    if verdict.holds:
        return verdict
    distinct = list(alike)
    wrong = {distinct[position] for position in verdict.failing}
    failing = tuple(place for place, size in enumerate(sizes) if size in wrong)
    violating = verdict.violating_records
    if held is not None:
        violating = sum(held[place] for place in failing)
    return replace(verdict, failing=failing, violating_records=violating)


def judge_counts(promise: Promise, classes: Sequence[Mapping[int, int]]) -> Verdict:
    """Judge classes of which only matters how many records have each value, not which one."""
    counts = [tuple(sorted(each.values())) for each in classes]
    alike = Counter(counts)
    kinds = (EquivalenceClass(sum(each), list(each)) for each in alike)
    verdict = judge_classes(promise, kinds, times=alike.values())
    if verdict.holds:
        return verdict
    known = list(alike)
    wrong = {known[kind] for kind in verdict.failing}
    failing = tuple(place for place, each in enumerate(counts) if each in wrong)
    return replace(verdict, failing=failing)
