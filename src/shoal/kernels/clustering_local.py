"""Local search on clusters: move, swap and pull records, dissolve and found clusters.

Clusters stand in a line, and each one deals only with those around it: the caller puts
them in another order before every round, so that other neighbours meet. Pieces (records
of one row that move together) are taken up in a given order. For each one the best of
these changes is sought, and made if it loses less than the threshold:

    move      to a neighbour, if enough records stay behind
    swap      places with a piece of a neighbour
    pull      move, and let a neighbour with records to spare fill the place
    dissolve  the piece's whole cluster into its neighbours
    found     a cluster of pieces that their clusters can spare

A change after which a cluster breaks the promise is taken back. A cluster keeps the two
lowest and the two highest codes of each column, so that its box without one piece is known
at once, and each column's loss, so that only columns that widen are looked up.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.core.errors import KernelInputError
from shoal.kernels.axes import Promise
from shoal.kernels.clustering_losses import cost
from shoal.kernels.clustering_space import lean, lean_outer
from shoal.kernels.judge import judge, packed

PULLS = 12
"""Clusters to each side that a place is filled from."""

BEST = 3
"""Neighbours whose pieces are tried for a swap."""

RECORDS, LABEL, NEXT, BEFORE = range(4)  # of a piece
SIZE, LOSS, HEAD = range(3)  # of a cluster: records, loss of its box, first piece
LOW, LOW2, HIGH, HIGH2, PART = range(5)  # of a column of a cluster
MOVE, SWAP, PULL = 1, 2, 3


class Pieces(NamedTuple):
    """Pieces of rows: their codes, records and sensitive values.

    `secret` numbers the values of all sensitive columns through (`Promise.start` added).
    """

    codes: NDArray[np.int32]
    counts: NDArray[np.int64]
    secret: NDArray[np.int32]


def improve(
    pieces: Pieces,
    label: NDArray[np.int64],
    *,
    losses: NDArray[np.int32],
    promise: Promise,
    turns: NDArray[np.int64],
    slack: NDArray[np.int64],
    window: int,
) -> int:
    """Improve the clusters in place (`label`); return by how much the loss fell.

    Args:
        pieces: what is clustered.
        label: cluster of each piece, 0 … c-1 along the line.
        losses: as `clustering_losses.packed` returns them.
        promise: what every cluster keeps.
        turns: the pieces in the order in which they are taken up.
        slack: for each turn, how much a change may lose (0: it must gain).
        window: how many clusters to each side are neighbours.

    Guarantee:
        Every cluster keeps the promise, if it did so, or ends without any record. New
        clusters, with labels above the given ones, keep it too.
    """
    codes, counts, secret = pieces
    if codes.dtype != np.int32 or counts.dtype != np.int64 or label.dtype != np.int64:
        raise KernelInputError(problem="codes must be int32, counts and labels int64")
    if len(codes) != len(label) or len(secret) != len(label) or len(turns) != len(slack):
        raise KernelInputError(problem="pieces, labels and turns do not fit each other")
    if not len(label):
        return 0
    clusters = int(label.max()) + 1
    clusters += clusters // 8 + 8  # room for new ones
    if label.min() < 0 or (turns.size and (turns.min() < 0 or turns.max() >= len(label))):
        raise KernelInputError(problem="a label or a turn is outside its range")
    links = np.empty((len(label), 4), dtype=np.int64)
    links[:, RECORDS] = counts
    links[:, LABEL] = label
    numbers = _linked(links, clusters)
    hist = np.zeros((clusters, promise.reference.size), dtype=np.int64)
    np.add.at(hist, (label[:, None], secret), counts[:, None])
    near = min(window, max(2, 128 // max(int(promise.k), 1)))
    fallen = run(
        np.ascontiguousarray(codes), links, losses,
        np.empty((clusters, 5 * codes.shape[1]), dtype=np.int32),
        numbers,
        np.empty((4, len(label) + clusters + BEST), dtype=np.int64),
        np.stack((turns, slack), axis=1),
        np.array([promise.k, window, near], dtype=np.int64),
        *packed(promise),
        secret, hist,
    )  # fmt: skip
    label[:] = links[:, LABEL]
    return int(fallen)


def _linked(links: NDArray[np.int64], clusters: int) -> NDArray[np.int64]:
    """Link the pieces of each cluster, the last one first; return the clusters' numbers."""
    order = np.argsort(links[:, LABEL], kind="stable")
    is_same = links[order[1:], LABEL] == links[order[:-1], LABEL]
    links[:, NEXT] = -1
    links[:, BEFORE] = -1
    links[order[1:][is_same], NEXT] = order[:-1][is_same]
    links[order[:-1][is_same], BEFORE] = order[1:][is_same]
    numbers = np.zeros((clusters, 3), dtype=np.int64)
    numbers[:, HEAD] = -1
    last = order[np.append(~is_same, True)]
    numbers[links[last, LABEL], HEAD] = last
    return numbers


@lean
def renew(codes, pieces, losses, state, numbers, a):
    """Count a cluster's records and find its extreme codes and its loss anew."""
    size = np.int64(0)
    loss = np.int64(0)
    for c in range(codes.shape[1]):
        low = np.int32(2147483647)
        low2 = low
        high = np.int32(-1)
        high2 = high
        piece = numbers[a, HEAD]
        size = np.int64(0)
        while piece >= 0:
            size += pieces[piece, RECORDS]
            code = codes[piece, c]
            if code < low:
                low2 = low
                low = code
            elif code < low2:
                low2 = code
            if code > high:
                high2 = high
                high = code
            elif code > high2:
                high2 = code
            piece = pieces[piece, NEXT]
        state[a, 5 * c + LOW] = low
        state[a, 5 * c + LOW2] = low2
        state[a, 5 * c + HIGH] = high
        state[a, 5 * c + HIGH2] = high2
        if high >= 0:
            part = cost(losses, c, low, high)
            state[a, 5 * c + PART] = part
            loss += part
    numbers[a, SIZE] = size
    numbers[a, LOSS] = loss


@lean
def box_loss(codes, losses, state, a, joins, leaves, limit):
    """Return the loss of a cluster's box with one piece more, one less, or both.

    A number below 0 stands for no piece. Stops, with what it has, above the limit.
    """
    loss = np.int64(0)
    for c in range(codes.shape[1]):
        low = state[a, 5 * c + LOW]
        high = state[a, 5 * c + HIGH]
        part = np.int64(state[a, 5 * c + PART])
        is_old = True
        if leaves >= 0:
            code = codes[leaves, c]
            if code == low:
                low = state[a, 5 * c + LOW2]
                is_old = False
            if code == high:
                high = state[a, 5 * c + HIGH2]
                is_old = False
        if joins >= 0:
            code = codes[joins, c]
            if code < low:
                low = code
                is_old = False
            if code > high:
                high = code
                is_old = False
        loss += part if is_old else cost(losses, c, low, high)
        if loss > limit:
            break
    return loss


@lean
def shift(codes, pieces, losses, state, numbers, rules, secret, hist, room, first, last):
    """Carry out the moves first … last - 1: room[2] lists the pieces, room[3] where they go.

    room[3] then says where they came from: to do the same again takes them back.
    """
    for i in range(first, last):
        piece = room[2, i]
        to = room[3, i]
        a = pieces[piece, LABEL]
        room[3, i] = a
        after = pieces[piece, NEXT]
        before = pieces[piece, BEFORE]
        if before < 0:
            numbers[a, HEAD] = after
        else:
            pieces[before, NEXT] = after
        if after >= 0:
            pieces[after, BEFORE] = before
        head = numbers[to, HEAD]
        pieces[piece, NEXT] = head
        pieces[piece, BEFORE] = -1
        if head >= 0:
            pieces[head, BEFORE] = piece
        numbers[to, HEAD] = piece
        pieces[piece, LABEL] = to
        if rules is not None:
            for s in range(secret.shape[1]):
                hist[a, secret[piece, s]] -= pieces[piece, RECORDS]
                hist[to, secret[piece, s]] += pieces[piece, RECORDS]
        for end in range(2):  # one call in a loop: two would be compiled twice
            renew(codes, pieces, losses, state, numbers, a if end == 0 else to)


@lean
def nearest(codes, pieces, losses, state, numbers, piece, window, room):
    """List the clusters around that grow least by a piece: their growth and place."""
    found = 0
    a = pieces[piece, LABEL]
    count = pieces[piece, RECORDS]
    columns = codes.shape[1]
    limit = np.int64(1) << 60
    for b in range(a - window, a + window + 1):
        if b == a or b < 0 or b >= len(numbers) or numbers[b, SIZE] == 0:
            continue
        size = numbers[b, SIZE]
        growth = count * numbers[b, LOSS]
        for c in range(columns):
            if growth >= limit:
                break
            low = state[b, 5 * c + LOW]
            high = state[b, 5 * c + HIGH]
            code = codes[piece, c]
            if code < low:
                low = code
            elif code > high:
                high = code
            else:
                continue
            growth += (size + count) * (cost(losses, c, low, high) - state[b, 5 * c + PART])
        if growth >= limit:
            continue
        if found < BEST:
            found += 1
        at = found - 1
        while at > 0 and room[0, at - 1] > growth:
            room[0, at] = room[0, at - 1]
            room[1, at] = room[1, at - 1]
            at -= 1
        room[0, at] = growth
        room[1, at] = b
        if found == BEST:
            limit = room[0, BEST - 1]
    return found


@lean
def all_hold(rules, rare, numbers, hist, clusters, found):
    """Say whether each of some clusters keeps the promise, or has no records."""
    for i in range(found):
        a = clusters[i]
        if numbers[a, SIZE] > 0 and not judge(rules, rare, numbers[a, SIZE], hist, a):
            return False
    return True


@lean
def dissolve(codes, pieces, losses, state, numbers, room, a, window, rules, rare, secret, hist):
    """Give every piece of a cluster to the neighbour that grows least, if that loses less.

    Looks first what it would lose if each piece were the only one to come. Returns: the
    change of the loss; 0 and all as before, if it is not below 0.
    """
    old = numbers[a, SIZE] * numbers[a, LOSS]
    change = np.int64(0)
    done = np.int64(0)
    is_kept = True
    for look in range(2):
        if change > 0 or not is_kept:
            break
        change = -old
        piece = numbers[a, HEAD]
        while piece >= 0 and change < 0 and is_kept:
            after = pieces[piece, NEXT]
            is_kept = nearest(codes, pieces, losses, state, numbers, piece, window, room) > 0
            if is_kept:
                change += room[0, 0]
            if is_kept and look == 1:
                to = room[1, 0]
                room[2, done] = piece
                room[3, done] = to
                done += 1
                shift(
                    codes, pieces, losses, state, numbers, rules, secret, hist, room, done - 1, done
                )
                if rules is not None:
                    is_kept = judge(rules, rare, numbers[to, SIZE], hist, to)
            piece = after
        if change >= 0:
            is_kept = False
    if is_kept:
        return change
    shift(codes, pieces, losses, state, numbers, rules, secret, hist, room, np.int64(0), done)
    return np.int64(0)


@lean
def emerge(
    codes, pieces, losses, state, numbers, room, first, e, k, near, rules, rare, secret, hist
):
    """Found cluster e from pieces that their clusters can spare, if that loses less.

    It begins with one piece and takes, from the clusters around, the spare one that makes
    it grow least, until it has k records. Returns: the change of the loss; 0 and all as
    before, if it is not below 0.
    """
    change = np.int64(0)
    done = np.int64(0)
    piece = first
    home = pieces[first, LABEL]
    while piece >= 0:
        a = pieces[piece, LABEL]
        change -= numbers[a, SIZE] * numbers[a, LOSS]
        room[2, done] = piece
        room[3, done] = e
        done += 1
        shift(codes, pieces, losses, state, numbers, rules, secret, hist, room, done - 1, done)
        change += numbers[a, SIZE] * numbers[a, LOSS]
        piece = np.int64(-1)
        if numbers[e, SIZE] >= k:
            break
        least = np.int64(1) << 60
        for b in range(home - near, home + near + 1):
            if b == e or b < 0 or b >= len(numbers) or numbers[b, SIZE] <= k:
                continue
            q = numbers[b, HEAD]
            while q >= 0:
                count = pieces[q, RECORDS]
                if count < k and numbers[b, SIZE] - count >= k:
                    loss = box_loss(codes, losses, state, e, q, np.int64(-1), least)
                    if loss < least:
                        piece = q
                        least = loss
                q = pieces[q, NEXT]
    change += numbers[e, SIZE] * numbers[e, LOSS]
    is_kept = numbers[e, SIZE] >= k and change < 0
    if rules is not None and is_kept:
        room[3, done] = e
        is_kept = all_hold(rules, rare, numbers, hist, room[3], done + 1)
    if is_kept:
        return change
    shift(codes, pieces, losses, state, numbers, rules, secret, hist, room, np.int64(0), done)
    return np.int64(0)


@lean
def choose(
    codes, pieces, losses, state, numbers, piece, k, room, found, rules, secret, same, gain, least
):
    """Find the best move, swap or pull for a piece; return its kind (0: none) and the change.

    room: the nearest clusters; becomes the moves as `shift` takes them, and in room[1] the
    clusters that they touch.
    same: only swaps with a piece of the same sensitive values, which change no spread.
    """
    a = pieces[piece, LABEL]
    count = pieces[piece, RECORDS]
    size = numbers[a, SIZE]
    left = size - count
    old = size * numbers[a, LOSS]
    kind = 0
    other = np.int64(-1)
    if (left >= k or left == 0) and not same and room[0, 0] - gain < least:
        least = room[0, 0] - gain
        kind = MOVE
        room[2, 0] = room[1, 0]
    pulls = np.int64(0)
    if 0 < left < k and not same and room[0, 0] - old < least:
        pulls = np.int64(2 * PULLS + 1)
    for n in range(found + pulls if left > 0 else 0):
        is_swap = n < found
        b = room[1, n] if is_swap else a - PULLS + n - found
        if not is_swap:
            if b < 0 or b >= len(numbers) or b == a or b == room[1, 0] or numbers[b, SIZE] <= k:
                continue
        before = old + numbers[b, SIZE] * numbers[b, LOSS]
        before -= np.int64(0) if is_swap else room[0, 0]
        q = numbers[b, HEAD]
        while q >= 0:
            a_size = left + pieces[q, RECORDS]
            b_size = numbers[b, SIZE] - pieces[q, RECORDS]
            fits = a_size >= k and b_size > 0
            b_size += count if is_swap else np.int64(0)
            if rules is not None:
                for s in range(secret.shape[1] if same else 0):
                    fits = fits and secret[q, s] == secret[piece, s]
            if fits and b_size >= k:
                most = least + before
                loss = a_size * box_loss(codes, losses, state, a, q, piece, most // a_size)
                if loss < most:
                    most -= loss
                    joins = piece if is_swap else np.int64(-1)
                    loss = b_size * box_loss(codes, losses, state, b, joins, q, most // b_size)
                    if loss < most:
                        least -= most - loss
                        kind = SWAP if is_swap else PULL
                        room[2, 0] = b
                        other = q
            q = pieces[q, NEXT]
    b = room[2, 0]
    room[2, 0] = piece
    room[3, 0] = room[1, 0] if kind == PULL else b
    room[2, 1] = other
    room[3, 1] = a
    room[1, 0] = a
    room[1, 1] = b
    room[1, 2] = room[3, 0]
    return np.int64(kind), least


@lean_outer
def run(codes, pieces, losses, state, numbers, room, turns, settings, rules, rare, secret, hist):
    """Give every piece its turn; return by how much the loss fell.

    rules, rare: the promise, where it is more than k; otherwise None.
    """
    clusters = len(numbers)
    k, window, near = settings[0], settings[1], settings[2]
    for a in range(clusters):
        renew(codes, pieces, losses, state, numbers, a)
    fallen = np.int64(0)
    e = np.int64(clusters - 1)  # an empty cluster
    for turn in range(len(turns)):
        piece = turns[turn, 0]
        a = pieces[piece, LABEL]
        size = numbers[a, SIZE]
        count = pieces[piece, RECORDS]
        if numbers[a, LOSS] == 0 or (count >= k and size > count):
            continue  # a row that k records share is best left alone
        gain = size * numbers[a, LOSS]
        if size > count:
            rest = box_loss(codes, losses, state, a, np.int64(-1), piece, np.int64(1) << 60)
            gain -= (size - count) * rest
        if gain <= 0:
            continue
        is_first = numbers[a, HEAD] == piece  # once a round for each cluster, more or less
        gone = np.int64(0)
        if is_first:
            gone = dissolve(
                codes, pieces, losses, state, numbers, room, a, window, rules, rare, secret, hist
            )  # fmt: skip
        if gone == 0 and size - count >= k and is_first:
            for _ in range(clusters):
                if numbers[e, SIZE] == 0:
                    break
                e = e - 1 if e > 0 else np.int64(clusters - 1)
            if numbers[e, SIZE] == 0:
                gone = emerge(
                    codes, pieces, losses, state, numbers, room, piece, e, k, near, rules, rare,
                    secret, hist,
                )  # fmt: skip
        fallen -= gone
        if gone != 0:
            continue
        for attempt in range(1 if rules is None else 2):
            found = nearest(codes, pieces, losses, state, numbers, piece, window, room)
            if found == 0:
                break
            kind, least = choose(
                codes, pieces, losses, state, numbers, piece, k, room, found, rules, secret,
                attempt == 1, gain, turns[turn, 1],
            )  # fmt: skip
            if kind == 0:
                break
            moves = np.int64(1) if kind == MOVE else np.int64(2)
            is_kept = True
            for again in range(2):
                shift(
                    codes, pieces, losses, state, numbers, rules, secret, hist, room,
                    np.int64(0), moves,
                )  # fmt: skip
                if rules is not None:
                    is_kept = again == 0 and all_hold(
                        rules, rare, numbers, hist, room[1], 3 if kind == PULL else 2
                    )
                if is_kept or again == 1:
                    break
            if is_kept:
                fallen -= least
                break
    return fallen
