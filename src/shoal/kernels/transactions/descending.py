"""Local choice: an occurrence is released as its item where that is frequent, else as its set."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shoal.core.errors import KernelInputError
from shoal.kernels.helpers import inner, outer
from shoal.kernels.transactions.merging import is_rare, next_random, seeded


def descend_items(
    starts: NDArray[np.int64],
    codes: NDArray[np.int32],
    head: NDArray[np.int32],
    size: NDArray[np.int64],
    *,
    k: int,
    m: int,
    rounds: int = 0,
    seed: int = 0,
) -> NDArray[np.bool_]:
    """Return which occurrences are released as their item; the others are, as their set.

    All occurrences of an item are released as the item at first; those in records where it is rare
    (with another label, or two of them where m is 3) go back to the set, and so do as many as the
    set needs so as not to be rare itself, the ones in the smallest records first. Then, `rounds`
    times, the items of some sets go back to them altogether and try again, in another order.

    Args:
        starts: where each record begins in `codes`, and the end.
        codes: the items of each record, sorted and different.
        head: the set of each item, so that no m sets are rare.
        size: how many items each set stands for, by its head.
        k: the least support.
        m: 1, 2 or 3.
        rounds: how often some items try again.
        seed: of their choice.
    """
    if codes.dtype != np.int32 or starts.dtype != np.int64 or not 1 <= m <= 3:
        raise KernelInputError(problem="codes must be int32, starts int64, and m from 1 to 3")
    order = np.argsort(codes, kind="stable").astype(np.int64)
    bounds = np.searchsorted(codes[order], np.arange(head.size + 1)).astype(np.int64)
    record = np.repeat(np.arange(starts.size - 1), np.diff(starts)).astype(np.int64)
    members = np.argsort(head, kind="stable").astype(np.int64)
    first = np.searchsorted(head[members], np.arange(head.size + 1)).astype(np.int64)
    down = size[head[codes]] == 1
    descend_all(
        (starts, codes, head.astype(np.int64), order, bounds, record, members, first),
        size.astype(np.int64), np.int64(k), np.int64(m), down, np.int64(rounds), seeded(seed),
    )  # fmt: skip
    return down


@inner
def labels_of(data, down, record, stamp, mark, found):
    """List the different labels of a record (sets are numbered behind items); return how many."""
    starts, codes, head = data[0], data[1], data[2]
    number = 0
    for at in range(starts[record], starts[record + 1]):
        item = codes[at]
        label = item if down[at] else head.size + head[item]
        if stamp[label] != mark:
            stamp[label] = mark
            found[number] = label
            number += 1
    return number


@inner
def count_record(work, number, step, m):
    """Count the labels of a record, and the pairs of them where m is 3."""
    ones, twos, found = work[0], work[1], work[2]
    for one in range(number):
        ones[found[one]] += step
        if m == 3:
            for two in range(number):
                twos[found[one], found[two]] += step


@inner
def count_item(data, down, item, work, m):
    """Count the labels in the records that are released with an item."""
    order, bounds, record = data[3], data[4], data[5]
    work[0][:] = 0
    if m == 3:
        work[1][:] = 0
    for place in range(bounds[item], bounds[item + 1]):
        at = order[place]
        if down[at]:
            work[4][0] += 1
            number = labels_of(data, down, record[at], work[3], work[4][0], work[2])
            count_record(work, number, 1, m)


@inner
def count_set(data, down, top, work, m):
    """Count the labels in the records that are released with a set."""
    order, bounds, record, members, first = data[3], data[4], data[5], data[6], data[7]
    seen = work[5]
    work[0][:] = 0
    if m == 3:
        work[1][:] = 0
    work[4][1] += 1
    for member in range(first[top], first[top + 1]):
        item = members[member]
        for place in range(bounds[item], bounds[item + 1]):
            at = order[place]
            if not down[at] and seen[record[at]] != work[4][1]:
                seen[record[at]] = work[4][1]
                work[4][0] += 1
                number = labels_of(data, down, record[at], work[3], work[4][0], work[2])
                count_record(work, number, 1, m)


@inner
def has_rare(work, number, k, m):
    """Say whether a record has a label, or where m is 3 two, that are rare in what was counted."""
    ones, twos, found = work[0], work[1], work[2]
    for one in range(number):
        if (m > 1 or ones[found[one]] == 0) and is_rare(ones[found[one]], k):
            return True
        if m == 3:
            for two in range(one):
                if is_rare(twos[found[one], found[two]], k):
                    return True
    return False


@inner
def peel(data, down, item, trial, trials, work, k, m):
    """Send occurrences that were tried back, as long as a record has something rare with the item.

    Return how many are left.
    """
    order, bounds, record = data[3], data[4], data[5]
    changed = True
    while changed and trials > 0:
        changed = False
        count_item(data, down, item, work, m)
        total = 0
        for place in range(bounds[item], bounds[item + 1]):
            total += down[order[place]]
        left = 0
        for n in range(trials):
            at = trial[n]
            work[4][0] += 1
            number = labels_of(data, down, record[at], work[3], work[4][0], work[2])
            if total < k or has_rare(work, number, k, m):
                if total >= k:
                    count_record(work, number, -1, m)
                down[at] = False
                changed = True
            else:
                trial[left] = at
                left += 1
        trials = left
    return trials


@inner
def refill(data, down, top, trial, trials, work, k, m):
    """Send occurrences that were tried back where their set has become rare; return those left.

    They come in the order of their records' sizes, so the smallest records go first.
    """
    record = data[5]
    count_set(data, down, top, work, m)
    own = data[2].size + top
    left = 0
    for n in range(trials):
        at = trial[n]
        down[at] = False
        work[4][0] += 1
        number = labels_of(data, down, record[at], work[3], work[4][0], work[2])
        down[at] = True
        has_set = False
        for other in range(data[0][record[at]], data[0][record[at] + 1]):
            same = data[2][data[1][other]] == top
            has_set = has_set or (same and not down[other])
        if has_rare(work, number, k, m) or is_rare(work[0][own], k):
            if not has_set:
                count_record(work, number, 1, m)
            down[at] = False
        else:
            trial[left] = at
            left += 1
    return left


@inner
def descend(data, down, item, trial, work, k, m):
    """Release as many occurrences of an item as the item as can be."""
    starts, order, bounds, record, head = data[0], data[3], data[4], data[5], data[2]
    trials = 0
    for place in range(bounds[item], bounds[item + 1]):
        at = order[place]
        if not down[at]:
            down[at] = True
            trial[trials] = at
            trials += 1
    for n in range(1, trials):  # by the sizes of their records
        at = trial[n]
        size = starts[record[at] + 1] - starts[record[at]]
        before = n - 1
        while before >= 0:
            other = trial[before]
            if starts[record[other] + 1] - starts[record[other]] <= size:
                break
            trial[before + 1] = other
            before -= 1
        trial[before + 1] = at
    while trials > 0:
        trials = peel(data, down, item, trial, trials, work, k, m)
        left = refill(data, down, head[item], trial, trials, work, k, m)
        if left == trials:
            break
        trials = left


@inner
def shuffle(items, number, chance):
    """Bring a list into another order."""
    for n in range(number - 1, 0, -1):
        other = np.int64(next_random(chance) * (n + 1))
        items[n], items[other] = items[other], items[n]


@inner
def loss_of_choice(data, size, down):
    """Return how many other items the labels of all occurrences stand for."""
    codes, head = data[1], data[2]
    total = 0
    for at in range(codes.size):
        if not down[at]:
            total += size[head[codes[at]]] - 1
    return total


@outer
def descend_all(data, size, k, m, down, rounds, chance):
    """Descend with every item, then take some sets back so often; fill `down`."""
    starts, codes, head, order, bounds = data[0], data[1], data[2], data[3], data[4]
    labels = 2 * head.size
    side = labels if m == 3 else 1
    work = (
        np.zeros(labels, dtype=np.int32), np.zeros((side, side), dtype=np.int32),
        np.empty(labels, dtype=np.int64), np.full(labels, -1, dtype=np.int64),
        np.zeros(2, dtype=np.int64), np.full(starts.size, -1, dtype=np.int64),
    )  # fmt: skip
    trial = np.empty(codes.size, dtype=np.int64)
    items = np.empty(head.size, dtype=np.int64)
    number = 0
    for item in range(head.size):
        if size[head[item]] > 1:
            items[number] = item
            number += 1
    for n in range(number):
        descend(data, down, items[n], trial, work, k, m)
    best = loss_of_choice(data, size, down)
    kept = down.copy()
    for _turn in range(rounds):
        share = 0.02 + 0.2 * next_random(chance)
        for top in range(head.size):
            if size[top] > 1 and next_random(chance) < share:
                for member in range(data[7][top], data[7][top + 1]):
                    item = data[6][member]
                    if next_random(chance) < 0.7:
                        for place in range(bounds[item], bounds[item + 1]):
                            down[order[place]] = False
        shuffle(items, number, chance)
        for n in range(number):
            descend(data, down, items[n], trial, work, k, m)
        loss = loss_of_choice(data, size, down)
        if loss <= best:
            best = loss
            kept[:] = down
        else:
            down[:] = kept
