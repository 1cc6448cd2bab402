"""ρ-uncertainty by suppression: labels are left out until nothing tells a sensitive item [cao2010].

The paper's SuppressControl, built from what is known of it: of the rules that tell too much (some
labels that are known, and a sensitive item beside them), each label that takes part in one is
weighed by how many it ends for each occurrence that is lost; the best one is left out everywhere.
Labels that are left out everywhere change no support of the others, so k^m-anonymity stays.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice

import numpy as np

from shoal.methods.transactions.goal import bits_of
from shoal.privacy.rho_uncertainty import RhoUncertainty
from shoal.table.baskets import SetRecoding

MOST_RULES = 5000
"""Rules of a sensitive item that are weighed at once."""

Rule = tuple[int, ...]


def bounded(recoding: SetRecoding, models: Sequence[RhoUncertainty]) -> SetRecoding:
    """Return a recoding in which no sensitive item is likelier than its promise allows.

    Guarantee:
        Labels are only left out, each everywhere. Where nothing told too much, nothing is.
    """
    if not models or not recoding.labels:
        return recoding
    bits, _ = bits_of(recoding)
    while gone := _left_out(recoding, bits, models):
        for label in gone:
            bits[label] = 0
    left = np.array([bool(mask) for mask in bits], dtype=np.bool_)
    choice = np.where((recoding.choice >= 0) & left[recoding.choice], recoding.choice, -1)
    return SetRecoding(recoding.baskets, recoding.labels, choice.astype(np.int32))


def _left_out(
    recoding: SetRecoding, bits: Sequence[int], models: Sequence[RhoUncertainty]
) -> set[int]:
    """Return labels to leave out, so that the rules that were found tell nothing any more."""
    code = {item: n for n, item in enumerate(recoding.baskets.items)}
    found: list[tuple[tuple[int, ...], Rule]] = []  # the labels that may be an item, and a rule
    for model in models:
        for item in model.items:
            own = tuple(n for n, label in enumerate(recoding.labels) if code.get(item) in label)
            own = tuple(label for label in own if bits[label])
            rules = telling(bits, own, recoding.baskets.records, model)
            found += [(own, rule) for rule in islice(rules, MOST_RULES)]
    gone: set[int] = set()
    while found:
        ended: Counter[tuple[int, ...]] = Counter()
        for own, rule in found:
            ended[own] += 1
            ended.update((label,) for label in rule)
        lost = {each: sum(bits[label].bit_count() for label in each) for each in ended}
        best = min(ended, key=lambda each: (-ended[each] / max(lost[each], 1), each))
        gone |= set(best)
        found = [(own, r) for own, r in found if not gone >= set(own) and gone.isdisjoint(r)]
    return gone


def telling(
    bits: Sequence[int], own: Sequence[int], records: int, model: RhoUncertainty
) -> Iterator[Rule]:
    """Yield the smallest sets of labels beside which an item is likelier than is allowed.

    own: the labels that may stand for the item; nobody counts as knowing these.
    """
    held = 0
    for label in own:
        held |= bits[label]
    if not held:
        return
    if not model.accepts(held.bit_count() / max(records, 1)):
        yield ()
        return
    others = [(label, mask) for label, mask in enumerate(bits) if mask and label not in own]
    yield from _beside((), (1 << records) - 1, others, held, model)


def _beside(
    chosen: Rule, together: int, later: Sequence[tuple[int, int]], held: int, model: RhoUncertainty
) -> Iterator[Rule]:
    for place, (label, mask) in enumerate(later):
        both = together & mask
        inside = both & held
        if not inside:
            continue
        rule = (*chosen, label)
        if not model.accepts(inside.bit_count() / both.bit_count()):
            yield rule
        elif model.m is None or len(rule) < model.m:
            yield from _beside(rule, both, later[place + 1 :], held, model)
