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

A change after which a cluster breaks the promise is taken back. A box is the two lowest and
the two highest codes of each column, so that the box without one piece is known at once, and
each column's loss, so that only columns that change are looked up.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.core.errors import KernelInputError
from shoal.kernels.axes import PromiseArrays
from shoal.kernels.clustering.cluster_boxes import (
    BEFORE,
    BEST,
    COMES,
    FLOOR,
    GOES,
    HEAD,
    LABEL,
    LOSS,
    MORE,
    NEXT,
    RECORDS,
    REST,
    SIZE,
    SPREAD,
    box_loss,
    draw,
    floor_of,
    nearest,
    persons_after,
    renew,
    shift,
    sums_fit,
)
from shoal.kernels.helpers import lean, lean_outer
from shoal.kernels.judge import judge, packed

PULLS = 12
"""Clusters to each side that a place is filled from."""

MOVE, SWAP, PULL = 1, 2, 3
DISSOLVE, FOUND, CHANGE, ALIKE = range(4)  # what is tried, one after the other


class Pieces(NamedTuple):
    """Pieces of rows: their codes, records and sensitive values.

    `secret` numbers the values of all sensitive columns through (`PromiseArrays.start` added).
    `persons` says who each one is about, as `FrequencyTable.persons` does; None: each record is a
    person.
    """

    codes: NDArray[np.int32]
    counts: NDArray[np.int64]
    secret: NDArray[np.int32]
    persons: NDArray[np.int32] | None = None

    def at(self, some: NDArray[np.int64]) -> Pieces:
        """Return some of the pieces."""
        persons = None if self.persons is None else self.persons[some]
        return Pieces(self.codes[some], self.counts[some], self.secret[some], persons)


def improve(
    pieces: Pieces,
    label: NDArray[np.int64],
    *,
    losses: NDArray[np.int32],
    promise: PromiseArrays,
    turns: NDArray[np.int64],
    slack: NDArray[np.int64],
    window: int,
    is_thorough: bool = True,
    is_brief: bool = False,
) -> int:
    """Improve the clusters in place (`label`); return by how much the loss fell.

    Args:
        pieces: what is clustered.
        label: cluster of each piece, 0 … c-1 along the line.
        losses: as `losses.packed` returns them.
        promise: what every cluster keeps.
        turns: the pieces in the order in which they are taken up.
        slack: for each turn, how much a change may lose (0: it must gain).
        window: how many clusters to each side are neighbours.
        is_thorough: dissolve and found clusters too, not only change them.
        is_brief: only pieces at the rim of their cluster, without which its box is smaller, seek
            a change for themselves, and only clusters that lose more than most are dissolved:
            most of what can be gained, in half the time or less.

    Guarantee:
        Every cluster keeps the promise, if it did so, or ends without any record. New
        clusters, with labels above the given ones, keep it too. Where persons are counted, each
        has k of them; what else is promised is judged by records.
    """
    codes, counts, secret, persons = pieces
    if codes.dtype != np.int32 or counts.dtype != np.int64 or label.dtype != np.int64:
        raise KernelInputError(problem="codes must be int32, counts and labels int64")
    if len(codes) != len(label) or len(secret) != len(label) or len(turns) != len(slack):
        raise KernelInputError(problem="pieces, labels and turns do not fit each other")
    if not sums_fit(losses, codes.shape[1]):
        raise KernelInputError(problem="refine takes up to 2,047 columns of equal weight")
    if not len(label):
        return 0
    known = int(label.max()) + 1
    clusters = known + known // 8 + 8  # room for new ones
    if label.min() < 0 or (turns.size and (turns.min() < 0 or turns.max() >= len(label))):
        raise KernelInputError(problem="a label or a turn is outside its range")
    links = np.empty((len(label), 4), dtype=np.int64)
    links[:, RECORDS] = counts
    links[:, LABEL] = label
    numbers = np.zeros((clusters, SPREAD + promise.reference.size), dtype=np.int64)
    numbers[:, HEAD] = linked(links, clusters)
    np.add.at(numbers, (label[:, None], SPREAD + secret), counts[:, None])
    near = min(window, max(2, 128 // max(int(promise.k), 1))) if is_thorough else 0
    fallen = local_search(
        np.concatenate((codes, secret), axis=1), links, losses,
        np.empty((5 * codes.shape[1] + 1, clusters + 2), dtype=np.int32),
        numbers,
        np.empty((4, len(label) + clusters + BEST), dtype=np.int64),
        np.stack((turns, slack), axis=1),
        np.array([promise.k, window, near, known * is_brief], dtype=np.int64),
        *packed(promise, SPREAD),
        None if persons is None else stamped(persons),
    )  # fmt: skip
    label[:] = links[:, LABEL]
    return int(fallen)


def stamped(persons: NDArray[np.int32]) -> NDArray[np.int64]:
    """Return who each piece is about, numbered anew, and below it room for stamps."""
    known, who = np.unique(persons, return_inverse=True)
    special = int((known < 0).sum())
    people = np.zeros((2, len(persons) + 1), dtype=np.int64)
    people[0, :-1] = np.where(persons < 0, persons, who - special)
    return people


def linked(links: NDArray[np.int64], clusters: int) -> NDArray[np.int64]:
    """Link the pieces of each cluster, the last one first; return the first of each."""
    order = np.argsort(links[:, LABEL], kind="stable")
    is_same = links[order[1:], LABEL] == links[order[:-1], LABEL]
    links[:, NEXT] = -1
    links[:, BEFORE] = -1
    links[order[1:][is_same], NEXT] = order[:-1][is_same]
    links[order[:-1][is_same], BEFORE] = order[1:][is_same]
    heads = np.full(clusters, -1)
    last = order[np.append(~is_same, True)]
    heads[links[last, LABEL]] = last
    return heads


@lean
def all_hold(pieces, numbers, room, moves, rules, rare):
    """Say whether each cluster that moves touched keeps the promise, or has no records."""
    for i in range(2 * moves):
        a = room[3, i // 2] if i % 2 else pieces[room[2, i // 2], LABEL]
        if numbers[a, SIZE] > 0 and not judge(rules, rare, numbers[a, SIZE], numbers, a):
            return False
    return True


@lean
def dissolve(cells, pieces, losses, state, numbers, room, rules, a, window):
    """Give every piece of a cluster to the neighbour that grows least, if that loses less.

    Looks first what it would lose if each piece were the only one to come. Returns: the
    change of the loss, and how many moves were made; if it is not below 0, they are to be
    taken back.
    """
    change = np.int64(-1)
    done = np.int64(0)
    for look in range(2):
        if change >= 0:
            break
        change = -numbers[a, SIZE] * numbers[a, LOSS]
        piece = numbers[a, HEAD]
        while piece >= 0 and change < 0:
            after = pieces[piece, NEXT]
            if nearest(cells, pieces, losses, state, numbers, piece, window, room) == 0:
                change = np.int64(0)
                break
            change += room[0, 0]
            if look == 1:
                room[2, done] = piece
                room[3, done] = room[1, 0]
                done += 1
                shift(cells, pieces, losses, state, numbers, room, rules, done - 1, done)
            piece = after
    return change, done


@lean
def emerge(cells, pieces, losses, state, numbers, room, rules, people, first, e, k, near):
    """Found cluster e from pieces that their clusters can spare.

    It begins with one piece and takes, from the clusters around, the spare one that makes
    it grow least, until it has k records, or k persons. A box that grows never loses less with
    a piece than before, so a piece is looked at again only where its last answer was less than
    the best.

    Returns: the change of the loss (0: there are not enough, or it does not pay), and how many
    moves were made; if it is not below 0, they are to be taken back.
    """
    change = np.int64(0)
    done = np.int64(0)
    has = np.int64(0)
    home = pieces[first, LABEL]
    listed = np.int64(0)
    for b in range(home - near, home + near + 1):
        if b < 0 or b >= len(numbers) or numbers[b, SIZE] <= k:
            continue
        q = numbers[b, HEAD]
        while q >= 0:
            room[0, listed] = 0  # what the new box loses with it at least
            room[1, listed] = q
            listed += 1
            q = pieces[q, NEXT]
    piece = first
    while piece >= 0:
        a = pieces[piece, LABEL]
        change -= numbers[a, SIZE] * numbers[a, LOSS]
        room[2, done] = piece
        room[3, done] = e
        done += 1
        shift(cells, pieces, losses, state, numbers, room, rules, done - 1, done)
        change += numbers[a, SIZE] * numbers[a, LOSS]
        piece = np.int64(-1)
        has = numbers[e, SIZE]
        if people is not None:
            has = persons_after(pieces, numbers, people, e, piece, piece)
        if has >= k or change + numbers[e, SIZE] * numbers[e, LOSS] >= 0:
            break  # it is whole, or has already lost more than others gained
        least = np.int64(1) << 60
        for i in range(listed):
            if room[0, i] >= least:
                continue
            q = room[1, i]
            a = pieces[q, LABEL]
            count = pieces[q, RECORDS]
            if a == e or count >= k or numbers[a, SIZE] - count < k:
                room[0, i] = np.int64(1) << 60
                continue
            loss = box_loss(cells, losses, state, e, q, COMES, least)
            room[0, i] = loss
            if loss < least:
                if people is not None:
                    none = np.int64(-1)
                    more = persons_after(pieces, numbers, people, e, none, q)
                    if more == has or persons_after(pieces, numbers, people, a, q, none) < k:
                        room[0, i] = np.int64(1) << 60
                        continue
                least = loss
                piece = q
    change += numbers[e, SIZE] * numbers[e, LOSS]
    return change if has >= k else np.int64(0), done


@lean
def choose(
    cells, pieces, losses, state, numbers, room, rules, people, piece, k, found, same, gain, least
):  # fmt: skip
    """Find the best move, swap or pull for a piece; return the change and how many moves (0: none).

    room: the nearest clusters; becomes the moves as `shift` takes them.
    same: only swaps with a piece of the same sensitive values, which change no spread.
    """
    a = pieces[piece, LABEL]
    count = pieces[piece, RECORDS]
    size = numbers[a, SIZE]
    left = size - count
    old = size * numbers[a, LOSS]
    kind = 0
    other = np.int64(-1)
    goal = room[1, 0]
    none = np.int64(-1)
    stay = left
    if people is not None and left >= k:
        stay = persons_after(pieces, numbers, people, a, piece, none)
    if (stay >= k or left == 0) and not same and room[0, 0] - gain < least:
        least = room[0, 0] - gain
        kind = MOVE
    # A pull pays only where the move alone would leave too few behind.
    pulls = np.int64(0)
    if left > 0 and stay < k and not same and room[0, 0] - old < least:
        pulls = np.int64(2 * PULLS + 1)
    rest = state.shape[1] - 2 + REST
    least_a = np.int64(0)
    if left > 0:
        least_a = (old - gain) // left
    for n in range(found + pulls if left > 0 else 0):
        is_swap = n < found
        b = room[1, n] if is_swap else a - PULLS + n - found
        if not is_swap:
            if b < 0 or b >= len(numbers) or b == a or b == room[1, 0] or numbers[b, SIZE] <= k:
                continue
        before = old + numbers[b, SIZE] * numbers[b, LOSS]
        before -= np.int64(0) if is_swap else room[0, 0]
        box = b
        least_b = numbers[b, FLOOR]
        if is_swap:
            box = np.int64(state.shape[1] - 2 + MORE)
            draw(cells, losses, state, box, b, piece, COMES)
            least_b = floor_of(losses, state, box)
        elif k * (least_a + least_b) >= least + before:
            continue
        q = numbers[b, HEAD]
        while q >= 0:
            a_size = left + pieces[q, RECORDS]
            b_size = numbers[b, SIZE] - pieces[q, RECORDS]
            fits = a_size >= k and b_size > 0
            b_size += count if is_swap else np.int64(0)
            if rules is not None:
                for s in range(state.shape[0] // 5, cells.shape[1] if same else 0):
                    fits = fits and cells[q, s] == cells[piece, s]
            # Bounds first: most pairs are refused before any box is looked up.
            most = least + before - b_size * least_b
            if fits and b_size >= k and a_size * least_a < most:
                loss = a_size * box_loss(cells, losses, state, rest, q, COMES, most // a_size)
                if loss < most:
                    most = least + before - loss
                    loss = b_size * box_loss(cells, losses, state, box, q, GOES, most // b_size)
                    if people is not None and loss < most:
                        came = piece if is_swap else none
                        stay = persons_after(pieces, numbers, people, a, piece, q)
                        if stay < k or persons_after(pieces, numbers, people, b, q, came) < k:
                            loss = most
                    if loss < most:
                        least -= most - loss
                        kind = SWAP if is_swap else PULL
                        goal = b if is_swap else room[1, 0]
                        other = q
            q = pieces[q, NEXT]
    room[2, 0] = piece
    room[3, 0] = goal
    room[2, 1] = other
    room[3, 1] = a
    return least, np.int64(2 if kind > MOVE else kind)


@lean_outer
def local_search(
    cells, pieces, losses, state, numbers, room, turns, settings, rules, rare, people
):  # fmt: skip
    """Give every piece its turn; return by how much the loss fell.

    cells: codes and, behind them, sensitive values. rules, rare: the promise, where it is more
    than k; otherwise None. people: see `persons_after`; None: each record is a person.
    """
    clusters = len(numbers)
    k, window, near = settings[0], settings[1], settings[2]
    bad = np.int64(0)  # a cluster that loses more than this is dissolved
    for a in range(clusters):
        renew(cells, pieces, losses, state, numbers, a)
        bad += numbers[a, LOSS]
    bad = bad * 5 // (4 * settings[3]) if settings[3] > 0 else np.int64(0)
    fallen = np.int64(0)
    e = np.int64(clusters - 1)  # an empty cluster
    for turn in range(len(turns)):
        piece = turns[turn, 0]
        a = pieces[piece, LABEL]
        size = numbers[a, SIZE]
        count = pieces[piece, RECORDS]
        is_heavy = count >= k and size > count
        if people is not None:
            is_heavy = is_heavy and people[0, piece] == -1
        if numbers[a, LOSS] == 0 or is_heavy:
            continue  # a row that k records share is best left alone
        gain = size * numbers[a, LOSS]
        if size > count:
            box = clusters + REST
            gain -= (size - count) * draw(cells, losses, state, box, a, piece, GOES)
        if gain <= 0:
            continue
        is_first = numbers[a, HEAD] == piece  # once a round for each cluster, more or less
        start = DISSOLVE if is_first and near > 0 else CHANGE
        end = ALIKE if rules is None else ALIKE + 1
        if settings[3] > 0 and gain <= count * numbers[a, LOSS]:  # inside, not at the rim
            end = CHANGE
        for plan in range(start, end):
            change = np.int64(0)
            moves = np.int64(0)
            if plan == DISSOLVE:
                if numbers[a, LOSS] <= bad:
                    continue
                change, moves = dissolve(
                    cells, pieces, losses, state, numbers, room, rules, a, window
                )
            elif plan == FOUND:
                stay = size - count
                if people is not None:
                    stay = persons_after(pieces, numbers, people, a, piece, np.int64(-1))
                if stay < k:
                    continue
                for _ in range(clusters):
                    if numbers[e, SIZE] == 0:
                        break
                    e = e - 1 if e > 0 else np.int64(clusters - 1)
                if numbers[e, SIZE] > 0:
                    continue
                change, moves = emerge(
                    cells, pieces, losses, state, numbers, room, rules, people, piece, e, k, near
                )
            else:
                found = nearest(cells, pieces, losses, state, numbers, piece, window, room)
                if found == 0:
                    break
                change, moves = choose(
                    cells, pieces, losses, state, numbers, room, rules, people, piece, k, found,
                    plan == ALIKE, gain, turns[turn, 1],
                )  # fmt: skip
                if moves == 0:
                    break
            # Made, judged, and taken back if a promise breaks: one call of `shift` serves both.
            is_kept = False
            for again in range(2):
                if again == 1 or plan >= CHANGE:
                    shift(cells, pieces, losses, state, numbers, room, rules, np.int64(0), moves)
                if again == 0:
                    is_kept = change < 0 or plan >= CHANGE
                    if rules is not None and is_kept:
                        is_kept = all_hold(pieces, numbers, room, moves, rules, rare)
                if is_kept:
                    break
            if is_kept:
                fallen -= change
                break
    return fallen
