"""Sets of items, merged greedily until no pair of them is rare."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shoal.core.errors import KernelInputError
from shoal.kernels.helpers import inner, lean, outer


def merge_items(
    starts: NDArray[np.int64],
    codes: NDArray[np.int32],
    first: NDArray[np.int32],
    *,
    k: int,
    m: int = 2,
    within: NDArray[np.int32],
    rounds: int = 0,
    seed: int = 0,
) -> tuple[NDArray[np.int32], bool]:
    """Return the set of each label, and the merges: pairs (kept, gone), in their order.

    Every label is a set by itself at first. The set with most rare pairs (0 < support < k; of
    equals, the first) is merged with the one that removes most of them for each unit of loss,
    until none is rare. A set stays within one group of `within[0]`, as long as that is enough;
    then within `within[1]`, and so on; where even one set of all is rare, it stays so.

    Args:
        starts: where each record begins in `codes`, and the end.
        codes: the labels of each record, sorted and different.
        first: how many items each label stands for already.
        k: the least support.
        m: of how many labels, 2 or 3.
        within: int32[levels, labels], groups of labels, each level coarser than the one before.
        rounds: how often sets are taken apart and merged again.
        seed: of the choice of sets.
    """
    labels = first.size
    if codes.dtype != np.int32 or starts.dtype != np.int64 or within.shape[1] != labels:
        raise KernelInputError(problem="codes must be int32, starts int64, and fit the labels")
    if codes.size and not 0 <= codes.min() <= codes.max() < labels:
        raise KernelInputError(problem="a code has no label")
    where = np.argsort(codes, kind="stable")
    records = np.repeat(np.arange(starts.size - 1), np.diff(starts))[where].astype(np.int64)
    bounds = np.searchsorted(codes[where], np.arange(labels + 1)).astype(np.int64)
    head = np.arange(labels, dtype=np.int32)
    left = merge_rare(
        starts, codes, bounds, records, first.astype(np.int64), np.int64(k), np.int64(m),
        within, head, np.int64(rounds), seeded(seed),
    )  # fmt: skip
    return head, not left


def seeded(seed: int) -> NDArray[np.uint64]:
    """Return the state of a generator of random numbers; see `next_random`."""
    return np.array([(2 * seed + 0x9E3779B97F4A7C15) % 2**64], dtype=np.uint64)


@lean
def is_rare(support, k):
    """Say whether so many records make a set rare."""
    return 0 < support < k


@lean
def distinct(starts, codes, head, stamp, mark, record, found):
    """List the different sets of a record; return how many there are."""
    number = 0
    for at in range(starts[record], starts[record + 1]):
        label = head[codes[at]]
        if stamp[label] != mark:
            stamp[label] = mark
            found[number] = label
            number += 1
    return number


@inner
def count_pairs(starts, codes, head, pairs, stamp, mark, found):
    """Count the records that have each pair of sets; of a set with itself: its records."""
    pairs[:] = 0
    for record in range(starts.size - 1):
        mark += 1
        number = distinct(starts, codes, head, stamp, mark, record, found)
        for one in range(number):
            for two in range(number):
                pairs[found[one], found[two]] += 1
    return mark


@inner
def count_rare(pairs, k, rare):
    """Count the rare pairs of each label, itself included."""
    for a in range(rare.size):
        rare[a] = 0
        for b in range(rare.size):
            rare[a] += is_rare(pairs[a, b], k)


@inner
def count_triples(state, a, triples, stamp, mark, found):
    """Count, for the records that have set a, the pairs of their sets; return the last mark."""
    starts, codes, bounds, records, head, follower, seen = state
    triples[:] = 0
    item = a
    while item >= 0:
        for at in range(bounds[item], bounds[item + 1]):
            record = records[at]
            if seen[record] == a:
                continue
            seen[record] = a
            mark += 1
            number = distinct(starts, codes, head, stamp, mark, record, found)
            for one in range(number):
                for two in range(number):
                    triples[found[one], found[two]] += 1
        item = follower[item]
    item = a
    while item >= 0:  # a set may be asked about again
        for at in range(bounds[item], bounds[item + 1]):
            seen[records[at]] = -1
        item = follower[item]
    return mark


@inner
def rare_after(pairs, triples, live, number, a, b, k, most):
    """Count the rare pairs of the union of two sets; stop above `most`."""
    after = is_rare(pairs[a, a] + pairs[b, b] - pairs[a, b], k)
    for n in range(number):
        c = live[n]
        if c != a and c != b:
            after += is_rare(pairs[a, c] + pairs[b, c] - triples[b, c], k)
            if after > most:
                break
    return after


@inner
def best_partner(pairs, triples, live, number, a, size, held, rare, group, k):
    """Return the set that removes most rare pairs for each unit of loss, or loses least; -1: none.

    What loses least is taken where no partner removes any.
    """
    best, cheapest = -1, -1
    gain, least = 0.0, np.inf
    for n in range(number):
        b = live[n]
        if b == a or group[b] != group[a]:
            continue
        loss = float(held[a] * size[b] + held[b] * size[a])
        if loss < least:
            least, cheapest = loss, b
        before = rare[a] + rare[b] - is_rare(pairs[a, b], k)
        if before <= gain * loss:
            continue
        removed = before - rare_after(pairs, triples, live, number, a, b, k, before)
        if removed > gain * loss:
            gain, best = removed / loss, b
    return best if best >= 0 else cheapest


@inner
def join(pairs, triples, live, number, a, b, k, rare):
    """Let set a be the union of a and b in all counts."""
    both = pairs[a, a] + pairs[b, b] - pairs[a, b]
    for n in range(number):
        c = live[n]
        if c != a and c != b:
            joined = pairs[a, c] + pairs[b, c] - triples[b, c]
            rare[c] += is_rare(joined, k) - is_rare(pairs[a, c], k) - is_rare(pairs[b, c], k)
            pairs[a, c] = joined
            pairs[c, a] = joined
            pairs[b, c] = 0
            pairs[c, b] = 0
    pairs[a, a] = both
    pairs[a, b] = 0
    pairs[b, a] = 0
    pairs[b, b] = 0
    rare[b] = 0
    rare[a] = is_rare(both, k)
    for n in range(number):
        c = live[n]
        if c != a and c != b:
            rare[a] += is_rare(pairs[a, c], k)


@inner
def next_random(state):
    """Return the next number of a xorshift generator, in 0 … 1."""
    x = state[0]
    x ^= x << np.uint64(13)
    x ^= x >> np.uint64(7)
    x ^= x << np.uint64(17)
    state[0] = x
    return (x >> np.uint64(11)) * (1.0 / 9007199254740992.0)


@inner
def most_rare(live, number, rare, stuck, chance, noise):
    """Return the set with most rare pairs, each weighed by chance; -1: none is left."""
    best, most = -1, 0.0
    for n in range(number):
        c = live[n]
        if rare[c] > 0 and not stuck[c]:
            weight = rare[c] * (1.0 - noise * next_random(chance))
            if weight > most:
                best, most = c, weight
    return best


@inner
def absorb(head, follower, size, held, a, b):
    """Let set a have the items of set b."""
    size[a] += size[b]
    held[a] += held[b]
    item = a
    while follower[item] >= 0:
        item = follower[item]
    follower[item] = b
    item = b
    while item >= 0:
        head[item] = a
        item = follower[item]


@inner
def without(live, number, b):
    """Strike a set from the list; return how many are left."""
    left = 0
    for n in range(number):
        if live[n] != b:
            live[left] = live[n]
            left += 1
    return left


@inner
def merge_all(state, tables, size, held, within, chance, noise, k):
    """Merge until no pair is rare; say whether some pair still is."""
    starts, codes, head, follower = state[0], state[1], state[4], state[5]
    pairs, triples, rare, stamp, found, live, stuck, marks = tables
    number = 0
    for label in range(head.size):
        if head[label] == label:
            live[number] = label
            number += 1
        stuck[label] = False
    marks[0] = count_pairs(starts, codes, head, pairs, stamp, marks[0], found)
    count_rare(pairs, k, rare)
    level = 0
    while number > 1:
        a = most_rare(live, number, rare, stuck, chance, noise)
        if a < 0:
            if not np.any(rare > 0) or level + 1 == within.shape[0]:
                break
            level += 1
            stuck[:] = False
            continue
        marks[0] = count_triples(state, a, triples, stamp, marks[0], found)
        b = best_partner(pairs, triples, live, number, a, size, held, rare, within[level], k)
        if b < 0:
            stuck[a] = True
            continue
        join(pairs, triples, live, number, a, b, k, rare)
        absorb(head, follower, size, held, a, b)
        number = without(live, number, b)
    return np.any(rare > 0)


@inner
def dissolve(head, follower, first, size, bounds, held, chance, share):
    """Take some sets apart, each with the chance `share`."""
    for label in range(head.size):
        if head[label] == label and follower[label] >= 0 and next_random(chance) < share:
            item = label
            while item >= 0:
                after = follower[item]
                head[item] = item
                follower[item] = -1
                size[item] = first[item]
                held[item] = bounds[item + 1] - bounds[item]
                item = after


@inner
def loss_of(head, size, first, bounds):
    """Return how many other items the labels of all occurrences stand for."""
    total = 0
    for label in range(head.size):
        total += (size[head[label]] - first[label]) * (bounds[label + 1] - bounds[label])
    return total


@inner
def has_rare_triple(state, tables, k):
    """Say whether some three sets occur together in fewer than k records, but in some."""
    head, triples, stamp, found, marks = state[4], tables[1], tables[3], tables[4], tables[7]
    for a in range(head.size):
        if head[a] == a:
            marks[0] = count_triples(state, a, triples, stamp, marks[0], found)
            for b in range(head.size):
                for c in range(b):
                    if is_rare(triples[b, c], k):
                        return True
    return False


@inner
def keep(kept, head, follower, size, held):
    """Write down a partition."""
    kept[0][:], kept[1][:], kept[2][:], kept[3][:] = head, follower, size, held


@inner
def restore(kept, head, follower, size, held):
    """Take up a partition again."""
    head[:], follower[:], size[:], held[:] = kept[0], kept[1], kept[2], kept[3]


@outer
def merge_rare(starts, codes, bounds, records, first, k, m, within, head, rounds, chance):
    """Merge, then take sets apart and merge again so often; fill `head`; say what is still rare.

    Triples are made frequent by asking more of pairs: so many records that the triples follow.
    How many is tried out, and in each round anew.
    """
    labels = head.size
    follower = np.full(labels, -1, dtype=np.int64)
    size = first.copy()
    held = bounds[1:] - bounds[:-1]
    state = (starts, codes, bounds, records, head, follower,
             np.full(starts.size, -1, dtype=np.int64))  # fmt: skip
    tables = (
        np.zeros((labels, labels), dtype=np.int32), np.zeros((labels, labels), dtype=np.int32),
        np.zeros(labels, dtype=np.int64), np.full(labels, -1, dtype=np.int64),
        np.empty(labels, dtype=np.int64), np.arange(labels), np.zeros(labels, dtype=np.bool_),
        np.zeros(1, dtype=np.int64),
    )  # fmt: skip
    kept = (head.copy(), follower.copy(), size.copy(), held.copy())
    asked = k
    fails = merge_all(state, tables, size, held, within, chance, 0.0, asked)
    while m > 2 and asked < starts.size and has_rare_triple(state, tables, k):
        asked += asked // 2 + 1
        restore(kept, head, follower, size, held)
        fails = merge_all(state, tables, size, held, within, chance, 0.0, asked)
    best = loss_of(head, size, first, bounds)
    keep(kept, head, follower, size, held)
    for _turn in range(rounds):
        least = k if m == 2 else k + np.int64((asked - k) * next_random(chance))
        dissolve(
            head, follower, first, size, bounds, held, chance, 0.05 + 0.3 * next_random(chance)
        )
        left = merge_all(state, tables, size, held, within, chance, 0.8, least)
        loss = loss_of(head, size, first, bounds)
        better = left <= fails and loss <= best
        if better and not (m > 2 and has_rare_triple(state, tables, k)):
            best, fails = loss, left
            keep(kept, head, follower, size, held)
        else:
            restore(kept, head, follower, size, held)
    return fails
