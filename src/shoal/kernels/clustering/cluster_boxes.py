"""Clusters as linked pieces with boxes, for local search: draw, measure, move, look around.

A box is the two lowest and the two highest codes of each column, so that the box without one
piece is known at once, and each column's loss, so that only columns that change are looked up.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.clustering.losses import FACTS, cost
from shoal.kernels.clustering.space import FULL
from shoal.kernels.helpers import lean

BEST = 2
"""Neighbours whose pieces are tried for a swap. (Adult, normal effort: with 1 NCP is 1 % more at
k = 50, with 3 it is the same, and a fast search takes a tenth longer.)"""

RECORDS, LABEL, NEXT, BEFORE = range(4)  # of a piece
# Of a cluster: records, loss of its box, the least that it can lose without one piece, first
# piece; behind them the records of each sensitive value.
SIZE, LOSS, FLOOR, HEAD, SPREAD = range(5)
# Of a column of a cluster; behind all columns a row for sums.
LOW, LOW2, HIGH, HIGH2, PART = range(5)
COMES, GOES = np.int64(1), np.int64(0)  # a plain 0 or True would be compiled for itself
REST, MORE = 0, 1  # boxes behind the clusters': one without the piece, one with it


def sums_fit(losses: NDArray[np.int32], columns: int) -> bool:
    """Say whether what a box loses in all columns is counted in 32 bits: up to 2,047 alike."""
    return bool(losses[FULL : FACTS * columns : FACTS].sum(dtype=np.int64) <= 2**31 - 1)


@lean
def floor_of(losses, state, box):
    """Return what a box loses at least, whichever one piece goes."""
    loss = np.int64(0)
    for c in range(state.shape[0] // 5):
        low = state[5 * c + LOW, box]
        high = state[5 * c + HIGH, box]
        least = np.int64(state[5 * c + PART, box])
        for end in range(2):
            first = state[5 * c + LOW2, box] if end == 0 else low
            last = high if end == 0 else state[5 * c + HIGH2, box]
            # Only a piece that stands alone at an end makes the box smaller when it goes.
            if (first > low or last < high) and first <= last:
                part = cost(losses, c, first, last)
                if part < least:
                    least = part
        loss += least
    return loss


@lean
def renew(cells, pieces, losses, state, numbers, a):
    """Count a cluster's records and find its extreme codes and its loss anew."""
    size = np.int64(0)
    loss = np.int64(0)
    for c in range(state.shape[0] // 5):
        low = np.int32(2147483647)
        low2 = low
        high = np.int32(-1)
        high2 = high
        piece = numbers[a, HEAD]
        size = np.int64(0)
        while piece >= 0:
            size += pieces[piece, RECORDS]
            code = cells[piece, c]
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
        state[5 * c + LOW, a] = low
        state[5 * c + LOW2, a] = low2
        state[5 * c + HIGH, a] = high
        state[5 * c + HIGH2, a] = high2
        if high >= 0:
            part = cost(losses, c, low, high)
            state[5 * c + PART, a] = part
            loss += part
    numbers[a, SIZE] = size
    numbers[a, LOSS] = loss
    numbers[a, FLOOR] = floor_of(losses, state, a)


@lean
def persons_after(pieces, numbers, people, a, goes, comes):
    """Return the persons of a cluster once a piece has left it and another has come (-1: none).

    people: who each piece is about (-1: each record another person, who has no other; -2: nobody),
    and below it room for a stamp a person and, at its end, the last stamp.
    """
    stamps = people[1]
    turn = stamps[stamps.size - 1] + 1
    stamps[stamps.size - 1] = turn
    seen = np.int64(0)
    piece = comes if comes >= 0 else numbers[a, HEAD]
    while piece >= 0:
        who = people[0, piece]
        if piece != goes:
            if who == -1:
                seen += pieces[piece, RECORDS]
            elif who >= 0 and stamps[who] != turn:
                stamps[who] = turn
                seen += 1
        piece = numbers[a, HEAD] if piece == comes else pieces[piece, NEXT]
    return seen


@lean
def draw(cells, losses, state, box, a, piece, way):
    """Write a cluster's box with a piece that comes, or without one that goes; return its loss."""
    loss = np.int64(0)
    for c in range(state.shape[0] // 5):
        low = state[5 * c + LOW, a]
        low2 = state[5 * c + LOW2, a]
        high = state[5 * c + HIGH, a]
        high2 = state[5 * c + HIGH2, a]
        part = np.int64(state[5 * c + PART, a])
        code = cells[piece, c]
        if way == COMES:
            is_old = low <= code and code <= high
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
        else:
            is_old = low < code and code < high
            if code == low:
                low = low2
            if code == high:
                high = high2
        if not is_old:
            part = cost(losses, c, low, high)
        state[5 * c + LOW, box] = low
        state[5 * c + LOW2, box] = low2
        state[5 * c + HIGH, box] = high
        state[5 * c + HIGH2, box] = high2
        state[5 * c + PART, box] = part
        loss += part
    return loss


@lean
def box_loss(cells, losses, state, box, piece, way, limit):
    """Return the loss of a box with a piece that comes, or without one that goes.

    Stops, with what it has, above the limit.
    """
    loss = np.int64(0)
    for c in range(state.shape[0] // 5):
        low = state[5 * c + LOW, box]
        high = state[5 * c + HIGH, box]
        code = cells[piece, c]
        is_old = low < code and code < high
        if not is_old:
            if way == COMES:
                is_old = code == low or code == high
                if code < low:
                    low = code
                else:
                    high = code
            else:
                if code == low:
                    low = state[5 * c + LOW2, box]
                if code == high:
                    high = state[5 * c + HIGH2, box]
        loss += np.int64(state[5 * c + PART, box]) if is_old else cost(losses, c, low, high)
        if loss > limit:
            break
    return loss


@lean
def shift(cells, pieces, losses, state, numbers, room, rules, first, last):
    """Carry out the moves first … last - 1: room[2] lists the pieces, room[3] where they go.

    room[3] then says where they came from: to do the same again takes them back.
    """
    for i in range(first, last):
        piece = room[2, i]
        to = room[3, i]
        a = pieces[piece, LABEL]
        room[3, i] = a
        # Out of the one list, to the head of the other.
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
            for s in range(state.shape[0] // 5, cells.shape[1]):
                value = SPREAD + cells[piece, s]
                numbers[a, value] -= pieces[piece, RECORDS]
                numbers[to, value] += pieces[piece, RECORDS]
        for end in range(2):  # one call in a loop: two would be compiled twice
            renew(cells, pieces, losses, state, numbers, a if end == 0 else to)


@lean
def nearest(cells, pieces, losses, state, numbers, piece, window, room):
    """List the clusters around that grow least by a piece: their growth and place.

    Column by column, without a branch that depends on the codes: that takes a third of the
    time of looking at fewer columns.
    """
    # The line's neighbours only: the caller puts clusters in another order before each round.
    a = pieces[piece, LABEL]
    count = pieces[piece, RECORDS]
    begin = a - window if a > window else np.int64(0)
    end = a + window + 1 if a + window < len(numbers) else np.int64(len(numbers))
    sums = state.shape[0] - 1
    for b in range(begin, end):
        state[sums, b] = 0
    for c in range(sums // 5):
        code = cells[piece, c]
        for b in range(begin, end):
            low = state[5 * c + LOW, b]
            high = state[5 * c + HIGH, b]
            low = code if code < low else low
            high = code if code > high else high
            state[sums, b] += np.int32(cost(losses, c, low, high))
    # The BEST of them by insertion: there are two.
    found = 0
    limit = np.int64(1) << 60
    for b in range(begin, end):
        size = numbers[b, SIZE]
        growth = (size + count) * np.int64(state[sums, b]) - size * numbers[b, LOSS]
        if growth >= limit or b == a or size == 0:
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
