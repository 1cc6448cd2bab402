"""Local search on clusters: move, swap and pull records, dissolve clusters.

Clusters stand in a line, and each one deals only with those around it: the caller puts
them in another order before every round, so that other neighbours meet. Pieces (records
of one row that move together) are taken up in a given order. For each one the best of
these changes is sought, and made if it loses less than the threshold:

    move      to a neighbour, if enough records stay behind
    swap      places with a piece of a neighbour
    pull      move, and let a neighbour with records to spare fill the place
    dissolve  the piece's whole cluster into its neighbours

A cluster keeps the two lowest and the two highest codes of each column, so that its box
without one piece is known at once.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from shoal.core.errors import KernelInputError
from shoal.kernels.clustering_space import (
    FULL,
    KIND,
    LEAN,
    LINE,
    MISSING,
    SIZE,
    START,
    TABLE,
    Space,
)

BEST = 3


def improve(
    codes: NDArray[np.int32],
    counts: NDArray[np.int64],
    label: NDArray[np.int64],
    *,
    space: Space,
    k: int,
    turns: NDArray[np.int64],
    slack: NDArray[np.int64],
    window: int,
) -> int:
    """Improve the clusters in place (`label`); return by how much the loss fell.

    Args:
        codes: int32[pieces, columns].
        counts: records per piece.
        label: cluster of each piece, 0 … c-1 along the line.
        space: the losses.
        k: least records of a cluster.
        turns: the pieces in the order in which they are taken up.
        slack: for each turn, how much a change may lose (0: it must gain).
        window: how many clusters to each side are neighbours.

    Guarantee:
        Every cluster keeps at least k records, if it had them, or ends without any. New
        clusters, with labels above the given ones, have at least k records.
    """
    if codes.dtype != np.int32 or counts.dtype != np.int64 or label.dtype != np.int64:
        raise KernelInputError(problem="codes must be int32, counts and labels int64")
    if codes.shape != (len(label), len(space.column)) or len(turns) != len(slack):
        raise KernelInputError(problem="pieces, columns and turns do not fit each other")
    if not len(label):
        return 0
    clusters = int(label.max()) + 1
    clusters += clusters // 8 + 8  # room for new ones
    if label.min() < 0 or (turns.size and (turns.min() < 0 or turns.max() >= len(label))):
        raise KernelInputError(problem="a label or a turn is outside its range")
    columns = codes.shape[1]
    state = np.empty((clusters, 4 * columns), dtype=np.int32)
    numbers = np.zeros((clusters, 3), dtype=np.int64)  # records, loss of the box, first piece
    links = np.empty((len(label), 2), dtype=np.int64)  # next and previous piece
    return int(
        run(
            codes, counts, label, space.column, space.flat, space.log, k, turns, slack, window,
            state, numbers, links, np.empty((2, columns), dtype=np.int64),
            np.empty((2, BEST), dtype=np.int64), np.empty(4 * k, dtype=np.int64),
            np.empty(4 * k, dtype=np.int64), np.empty(clusters, dtype=np.int64),
        )
    )  # fmt: skip


@njit(**LEAN)
def cost(column, flat, log, j, low, high):
    """Return the loss of codes low … high of column j."""
    kind = column[j, KIND]
    start = column[j, START]
    if kind == TABLE:
        return np.int64(flat[start + low * column[j, SIZE] + high])
    if kind == LINE:
        if low == 0 and high > 0 and column[j, MISSING] == 1:
            return column[j, FULL]
        return np.int64(flat[start + high]) - flat[start + low]
    if low == high:
        return np.int64(flat[start + low])
    level = log[high - low]
    base = start + (level + 1) * column[j, SIZE]
    return np.int64(max(flat[base + low], flat[base + high - (1 << level)]))


@njit(**LEAN)
def renew(column, flat, log, codes, counts, a, state, numbers, links):
    """Count a cluster's records and find its extreme codes anew."""
    columns = codes.shape[1]
    size = np.int64(0)
    piece = numbers[a, 2]
    for c in range(columns):
        state[a, 4 * c] = 2147483647
        state[a, 4 * c + 1] = 2147483647
        state[a, 4 * c + 2] = -1
        state[a, 4 * c + 3] = -1
    while piece >= 0:
        size += counts[piece]
        for c in range(columns):
            code = codes[piece, c]
            if code < state[a, 4 * c + 1]:
                state[a, 4 * c + 1] = max(code, state[a, 4 * c])
                state[a, 4 * c] = min(code, state[a, 4 * c])
            if code > state[a, 4 * c + 3]:
                state[a, 4 * c + 3] = min(code, state[a, 4 * c + 2])
                if code > state[a, 4 * c + 2]:
                    state[a, 4 * c + 3] = state[a, 4 * c + 2]
                    state[a, 4 * c + 2] = code
                else:
                    state[a, 4 * c + 3] = code
        piece = links[piece, 0]
    loss = np.int64(0)
    if size > 0:
        for c in range(columns):
            low = np.int64(state[a, 4 * c])
            loss += cost(column, flat, log, c, low, np.int64(state[a, 4 * c + 2]))
    numbers[a, 0] = size
    numbers[a, 1] = loss


@njit(**LEAN)
def without(codes, piece, a, state, box):
    """Write the box of a cluster without one of its pieces; return whether any is left."""
    for c in range(codes.shape[1]):
        code = codes[piece, c]
        low = state[a, 4 * c + 1] if code == state[a, 4 * c] else state[a, 4 * c]
        high = state[a, 4 * c + 3] if code == state[a, 4 * c + 2] else state[a, 4 * c + 2]
        if high < 0:
            return False
        box[0, c] = low
        box[1, c] = high
    return True


@njit(**LEAN)
def box_loss(column, flat, log, box):
    """Return the loss of a box."""
    loss = np.int64(0)
    for c in range(box.shape[1]):
        loss += cost(column, flat, log, c, box[0, c], box[1, c])
    return loss


@njit(**LEAN)
def joined(column, flat, log, box, codes, piece):
    """Return the loss of a box with a piece in it."""
    loss = np.int64(0)
    for c in range(box.shape[1]):
        code = np.int64(codes[piece, c])
        loss += cost(column, flat, log, c, min(box[0, c], code), max(box[1, c], code))
    return loss


@njit(**LEAN)
def joined_cluster(column, flat, log, state, b, codes, piece):
    """Return the loss of a cluster's box with a piece in it."""
    loss = np.int64(0)
    for c in range(codes.shape[1]):
        code = np.int64(codes[piece, c])
        low = min(np.int64(state[b, 4 * c]), code)
        loss += cost(column, flat, log, c, low, max(np.int64(state[b, 4 * c + 2]), code))
    return loss


@njit(**LEAN)
def swapped(column, flat, log, state, b, codes, leaves, joins):
    """Return the loss of a cluster's box when one piece leaves and another joins."""
    loss = np.int64(0)
    for c in range(codes.shape[1]):
        code = codes[leaves, c]
        other = np.int64(codes[joins, c])
        low = state[b, 4 * c + 1] if code == state[b, 4 * c] else state[b, 4 * c]
        high = state[b, 4 * c + 3] if code == state[b, 4 * c + 2] else state[b, 4 * c + 2]
        loss += cost(column, flat, log, c, min(np.int64(low), other), max(np.int64(high), other))
    return loss


@njit(**LEAN)
def hand_over(piece, a, b, label, numbers, links):
    """Take a piece out of one cluster's list and put it into another's."""
    after = links[piece, 0]
    before = links[piece, 1]
    if before < 0:
        numbers[a, 2] = after
    else:
        links[before, 0] = after
    if after >= 0:
        links[after, 1] = before
    links[piece, 0] = numbers[b, 2]
    links[piece, 1] = -1
    if numbers[b, 2] >= 0:
        links[numbers[b, 2], 1] = piece
    numbers[b, 2] = piece
    label[piece] = b


@njit(**LEAN)
def nearest_clusters(column, flat, log, codes, counts, piece, a, begin, end, state, numbers, best):
    """List the clusters that grow least by a piece: their growth, place, and new loss."""
    found = 0
    count = counts[piece]
    for b in range(begin, end):
        if b == a or numbers[b, 0] == 0:
            continue
        loss = joined_cluster(column, flat, log, state, b, codes, piece)
        growth = (numbers[b, 0] + count) * loss - numbers[b, 0] * numbers[b, 1]
        if found == BEST and growth >= best[0, BEST - 1]:
            continue
        at = found if found < BEST else BEST - 1
        found = min(found + 1, BEST)
        while at > 0 and best[0, at - 1] > growth:
            best[0, at] = best[0, at - 1]
            best[1, at] = best[1, at - 1]
            at -= 1
        best[0, at] = growth
        best[1, at] = b
    return found


@njit(**LEAN)
def dissolve(
    column, flat, log, codes, counts, label, a, begin, end, state, numbers, links, best, limit,
    moved,
):  # fmt: skip
    """Give every piece of a cluster to the neighbour that grows least, if that loses less.

    Returns: the change of the loss; 0 and all as before, if it is not below `limit`.
    """
    old = numbers[a, 0] * numbers[a, 1]
    change = -old
    piece = numbers[a, 2]
    pieces = 0
    while piece >= 0:  # a first look, as if each piece were the only one to come
        if (
            pieces == moved.size
            or nearest_clusters(
                column, flat, log, codes, counts, piece, a, begin, end, state, numbers, best
            )
            == 0
        ):
            return np.int64(0)
        change += best[0, 0]
        if change >= limit:
            return np.int64(0)
        moved[pieces] = piece
        pieces += 1
        piece = links[piece, 0]
    change = -old
    done = 0
    while done < pieces and change < limit:
        piece = moved[done]
        nearest_clusters(
            column, flat, log, codes, counts, piece, a, begin, end, state, numbers, best
        )
        change += best[0, 0]
        hand_over(piece, a, best[1, 0], label, numbers, links)
        renew(column, flat, log, codes, counts, best[1, 0], state, numbers, links)
        done += 1
    if change < limit:
        renew(column, flat, log, codes, counts, a, state, numbers, links)
        return change
    for i in range(done):
        b = label[moved[i]]
        hand_over(moved[i], b, a, label, numbers, links)
        renew(column, flat, log, codes, counts, b, state, numbers, links)
    renew(column, flat, log, codes, counts, a, state, numbers, links)
    return np.int64(0)


@njit(**LEAN)
def emerge(
    column, flat, log, codes, counts, label, k, first, begin, end, e, state, numbers, links, box,
    moved, origin,
):  # fmt: skip
    """Found a cluster from pieces that their clusters can spare, if that loses less.

    It begins with one piece and takes, from the clusters around, the spare one that makes
    it grow least, until it has k records. Returns: the change of the loss; 0 and all as
    before, if it is not below 0.
    """
    change = np.int64(0)
    size = np.int64(0)
    pieces = 0
    piece = first
    while True:
        a = label[piece]
        change -= numbers[a, 0] * numbers[a, 1]
        hand_over(piece, a, e, label, numbers, links)
        renew(column, flat, log, codes, counts, a, state, numbers, links)
        change += numbers[a, 0] * numbers[a, 1]
        for c in range(codes.shape[1]):
            code = np.int64(codes[piece, c])
            box[0, c] = code if pieces == 0 else min(box[0, c], code)
            box[1, c] = code if pieces == 0 else max(box[1, c], code)
        size += counts[piece]
        moved[pieces] = piece
        origin[pieces] = a
        pieces += 1
        if size >= k or pieces == moved.size:
            break
        piece = np.int64(-1)
        least = np.int64(0)
        for b in range(begin, end):
            if b == e or numbers[b, 0] <= k:
                continue
            q = numbers[b, 2]
            while q >= 0:
                if numbers[b, 0] - counts[q] >= k and counts[q] < k:
                    loss = joined(column, flat, log, box, codes, q)
                    if piece < 0 or loss < least:
                        piece = q
                        least = loss
                q = links[q, 0]
        if piece < 0:
            break
    renew(column, flat, log, codes, counts, e, state, numbers, links)
    change += numbers[e, 0] * numbers[e, 1]
    if size >= k and change < 0:
        return change
    for i in range(pieces):
        hand_over(moved[i], e, origin[i], label, numbers, links)
        renew(column, flat, log, codes, counts, origin[i], state, numbers, links)
    numbers[e, 0] = 0
    return np.int64(0)


@njit(**LEAN)
def run(
    codes, counts, label, column, flat, log, k, turns, slack, window, state, numbers, links,
    box, best, moved, origin, free,
):  # fmt: skip
    """Give every piece its turn; return by how much the loss fell."""
    clusters = numbers.shape[0]
    for a in range(clusters):
        numbers[a, 2] = -1
    for piece in range(label.size):
        a = label[piece]
        links[piece, 0] = numbers[a, 2]
        links[piece, 1] = -1
        if numbers[a, 2] >= 0:
            links[numbers[a, 2], 1] = piece
        numbers[a, 2] = piece
    for a in range(clusters):
        renew(column, flat, log, codes, counts, a, state, numbers, links)
    fallen = np.int64(0)
    empty = 0
    for a in range(clusters):
        if numbers[a, 0] == 0:
            free[empty] = a
            empty += 1
    for turn in range(turns.size):
        piece = turns[turn]
        a = label[piece]
        count = counts[piece]
        size = numbers[a, 0]
        any_left = without(codes, piece, a, state, box)
        old = size * numbers[a, 1]
        if any_left and count >= k:
            continue  # a row that k records share is best left alone
        rest_loss = box_loss(column, flat, log, box) if any_left else np.int64(0)
        gain = old - (size - count) * rest_loss
        if gain <= 0:
            continue
        begin = max(a - window, 0)
        end = min(a + window + 1, clusters)
        if numbers[a, 2] == piece:  # once a round for each cluster, more or less
            change = dissolve(
                column, flat, log, codes, counts, label, a, begin, end, state, numbers, links,
                best, np.int64(0), moved,
            )  # fmt: skip
            if change != 0:
                fallen -= change
                free[empty] = a
                empty += 1
                continue
        if size - count >= k and empty > 0 and any_left and (k < 16 or numbers[a, 2] == piece):
            # Dear where clusters are large: then once a round for each, and only near by.
            near = min(window, max(2, 128 // k))
            change = emerge(
                column, flat, log, codes, counts, label, k, piece, max(a - near, 0),
                min(a + near + 1, clusters), free[empty - 1],
                state, numbers, links, box, moved, origin,
            )  # fmt: skip
            if change != 0:
                fallen -= change
                empty -= 1
                continue
            without(codes, piece, a, state, box)
        found = nearest_clusters(
            column, flat, log, codes, counts, piece, a, begin, end, state, numbers, best
        )
        if found == 0:
            continue
        least = slack[turn]
        kind = 0
        to = np.int64(-1)
        other = np.int64(-1)
        if size - count >= k or not any_left:
            delta = best[0, 0] - gain
            if delta < least:
                least = delta
                kind = 1
                to = best[1, 0]
        for n in range(found):
            b = best[1, n]
            if not any_left:
                break
            b_old = numbers[b, 0] * numbers[b, 1]
            q = numbers[b, 2]
            while q >= 0:
                a_size = size - count + counts[q]
                b_size = numbers[b, 0] - counts[q] + count
                if a_size >= k and b_size >= k and links[numbers[b, 2], 0] >= 0:
                    delta = a_size * joined(column, flat, log, box, codes, q) - old - b_old
                    if delta < least:
                        delta += b_size * swapped(column, flat, log, state, b, codes, q, piece)
                        if delta < least:
                            least = delta
                            kind = 2
                            to = b
                            other = q
                q = links[q, 0]
        if size - count < k and any_left and best[0, 0] - old < least:
            for b in range(begin, end):
                if b == a or b == best[1, 0] or numbers[b, 0] <= k:
                    continue
                q = numbers[b, 2]
                while q >= 0:
                    if numbers[b, 0] - counts[q] >= k and size - count + counts[q] >= k:
                        delta = best[0, 0] - old
                        delta += (size - count + counts[q]) * joined(
                            column, flat, log, box, codes, q
                        )
                        if delta - numbers[b, 0] * numbers[b, 1] < least:
                            rest = np.int64(0)
                            for c in range(codes.shape[1]):
                                code = codes[q, c]
                                low = state[b, 4 * c]
                                if code == low:
                                    low = state[b, 4 * c + 1]
                                high = state[b, 4 * c + 2]
                                if code == high:
                                    high = state[b, 4 * c + 3]
                                rest += cost(column, flat, log, c, np.int64(low), np.int64(high))
                            delta += (numbers[b, 0] - counts[q]) * rest
                            delta -= numbers[b, 0] * numbers[b, 1]
                            if delta < least:
                                least = delta
                                kind = 3
                                to = b
                                other = q
                    q = links[q, 0]
        if kind == 0:
            continue
        fallen -= least
        if kind == 3:
            goal = best[1, 0]
            hand_over(piece, a, goal, label, numbers, links)
            hand_over(other, to, a, label, numbers, links)
            renew(column, flat, log, codes, counts, goal, state, numbers, links)
        else:
            hand_over(piece, a, to, label, numbers, links)
            if kind == 2:
                hand_over(other, to, a, label, numbers, links)
        renew(column, flat, log, codes, counts, a, state, numbers, links)
        renew(column, flat, log, codes, counts, to, state, numbers, links)
    return fallen
